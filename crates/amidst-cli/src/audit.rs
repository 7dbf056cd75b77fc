//! `amidst audit`: measures what a table protects and what it leaks.

use std::path::{Path, PathBuf};

use amidst::Failure;
use amidst::audit::{self, Measured, level_text};
use amidst::core::model::Bound;
use amidst::core::parameter::Rational;
use amidst::folder;
use amidst::job::{Job, Stage};
use amidst::policy::Policy;
use amidst::prepare::LoadOptions;
use amidst::words::counted;
use amidst::{report, saved};
use clap::Args;

use crate::columns::Columns;
use crate::survey;
use crate::terminal::{CommandResult, Outcome, Terminal, heading, table, thousands};
use crate::verdicts::requirements;

/// Tell what a table satisfies, raw or already published: strongest parameters, risk, attacks
///
/// With a policy, also whether its requirements hold: exit code 1 when they do not. Without a policy and without
/// columns: what singles people out in a table that nobody has described, column by column and in sets, and what to do
/// next.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  amidst audit patients.csv\n  amidst audit patients.csv --qi age,sex,zip --sensitive disease\n  amidst audit \
release.csv --policy policy.toml --report audit.html"
)]
pub struct Audit {
    /// The table: a file, a folder or a pattern; - for standard input. Or the folder of a release
    data: String,

    /// The policy that says which columns are which, and what must hold
    #[arg(long, value_name = "FILE", conflicts_with_all = ["qi", "sensitive"])]
    policy: Option<PathBuf>,

    #[command(flatten)]
    columns: Columns,

    /// Without roles: the largest sets of columns among which minimal sample uniques are looked for
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=5),
          conflicts_with_all = ["qi", "policy"])]
    max_set: u8,

    /// A table of the population: the quasi columns, and perhaps a column `count`; tells the journalist's risk
    #[arg(long, value_name = "DATA")]
    population: Option<String>,

    /// The share of the population that is in the table, such as 0.05 or 1/20; tells who is unique in the population
    #[arg(long, value_name = "SHARE")]
    sampling_fraction: Option<String>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Also write a report for people; the ending .html, .json or .md decides what it is
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// Replace the report when it exists
    #[arg(long, requires = "report")]
    force: bool,

    /// How many threads to use; all cores when absent
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    threads: usize,
}

impl Audit {
    /// Audits the table.
    pub fn run(&self, terminal: &Terminal) -> CommandResult {
        if let Some(path) = &self.report {
            saved::vacant(path, self.force)?;
        }
        let release = folder::table_in(Path::new(&self.data));
        // A release comes with its policy.
        let own = release.as_ref().filter(|_| self.columns.qi.is_empty()).map(|release| &release.policy);
        let given = self.policy.as_ref().or(own).map(|path| Policy::read(path)).transpose()?;
        if given.is_none() && self.columns.qi.is_empty() {
            return self.survey(terminal);
        }
        let data = match &release {
            Some(release) => release.table.to_string_lossy().into_owned(),
            None => self.data.clone(),
        };
        let mut stated = match &given {
            None => Policy::for_audit(&data, &self.columns.qi, &self.columns.sensitive),
            Some(policy) => policy.clone(),
        };
        if let Some(file) = &self.population {
            stated.risk.population = Some(from_here(file)?);
        }
        if let Some(share) = &self.sampling_fraction {
            stated.risk.sampling_fraction = Some(fraction(share)?);
        }
        let bar = terminal.progress("reading");
        let told = |_: Stage, share: f64| bar.at(share);
        let control = Job { cancel: terminal.stop_flag(), progress: &told, threads: self.threads, ..Job::default() };
        let options = LoadOptions { control, ..LoadOptions::default() };
        let (policy, prepared) = audit::load(&stated, &data, &options)?;
        drop(bar);
        let mut found = audit::audit(&stated, &policy, &prepared)?;
        for remark in &found.remarks {
            terminal.warning(remark);
        }
        found.add_population(&stated, &prepared)?;
        if let Some(path) = &self.report {
            let written = report::of_audit(&policy, &prepared, &found, given.as_ref()).written_as(path)?;
            saved::save(path, &written, self.force)?;
            terminal.note(format!("wrote {}", path.display()));
        }
        if self.json {
            terminal.json(&found.to_json())?;
        } else {
            terminal.result(summary(&found))?;
        }
        Ok(if found.holds { Outcome::Done } else { Outcome::Violated })
    }
}

impl Audit {
    /// Finds what singles people out, for a table without stated roles.
    fn survey(&self, terminal: &Terminal) -> CommandResult {
        let needs = [
            ("--report", self.report.is_some()),
            ("--population", self.population.is_some()),
            ("--sampling-fraction", self.sampling_fraction.is_some()),
        ];
        if let Some((option, _)) = needs.iter().find(|(_, given)| *given) {
            let message = format!("{option} needs to know the columns: add --qi COLUMNS or --policy FILE");
            return Err(Failure::Usage(message));
        }
        let bar = terminal.progress("looking");
        let found = audit::survey(&self.data, usize::from(self.max_set))?;
        drop(bar);
        match self.json {
            true => terminal.json(&found.to_json())?,
            false => terminal.result(survey::text(&found))?,
        }
        Ok(Outcome::Done)
    }
}

/// A source from the command line: relative to the working directory, not to the policy.
fn from_here(source: &str) -> Result<String, Failure> {
    let here = std::env::current_dir().map_err(|e| Failure::Io(format!("cannot tell where this is: {e}")))?;
    Ok(amidst::io::relative_to(&here, source))
}

fn fraction(share: &str) -> Result<Rational, Failure> {
    let read: Option<Rational> = share.parse().ok();
    read.filter(|f| !f.is_negative() && !f.is_zero() && *f <= Rational::from(1)).ok_or_else(|| {
        Failure::Usage(format!(
            "--sampling-fraction is a share above 0 and up to 1, such as 0.05 or 1/20, not `{share}`"
        ))
    })
}

/// The result as text.
fn summary(found: &audit::Audit) -> String {
    let mut lines = vec![heading(format!(
        "{} in {} by {}",
        counted(found.rows, "row"),
        counted(found.classes, "class"),
        found.quasi.join(", ")
    ))];
    if !found.requirements.is_empty() {
        lines.push(String::new());
        lines.push(requirements(&found.requirements));
    }
    let mut columns: Vec<Option<&str>> = Vec::new();
    for m in &found.measured {
        if !columns.contains(&m.column.as_deref()) {
            columns.push(m.column.as_deref());
        }
    }
    for column in columns {
        let title = column.map_or("strongest parameters that hold".to_string(), |c| format!("for {c}"));
        let mut rows = vec![vec![title, "strongest".to_string()]];
        let of_column: Vec<&Measured> = found.measured.iter().filter(|m| m.column.as_deref() == column).collect();
        for run in of_column.chunk_by(|a, b| a.key == b.key) {
            let first = run[0];
            // If no c suffices for some l, none does for a larger l.
            let useful = run.iter().position(|m| m.level.bound == Bound::Never).map_or(run.len(), |first| first + 1);
            let values: Vec<String> = run[..useful]
                .iter()
                .map(|m| match m.at {
                    None => format!("{} {}", m.level.sign(), level_text(&m.level)),
                    Some(at) => format!("{} {} at l = {at}", m.level.sign(), level_text(&m.level)),
                })
                .collect();
            rows.push(vec![first.model.id.to_string(), format!("{} {}", first.key, values.join(", "))]);
        }
        lines.push(String::new());
        lines.push(table(&rows));
    }
    lines.push(String::new());
    let risk = &found.risk;
    let [strict, lenient] = amidst::core::risk::thresholds().map(|t| risk.above(&t));
    let mut rows = vec![
        vec!["risk".to_string(), String::new()],
        vec!["prosecutor, maximum".to_string(), format!("{:.4}", risk.prosecutor_max)],
        vec!["prosecutor, average".to_string(), format!("{:.4}", risk.prosecutor_avg)],
        vec!["marketer".to_string(), format!("{:.4}", risk.marketer)],
        vec!["persons above 0.09 (classes up to 11)".to_string(), thousands(strict.persons)],
        vec!["persons above 1/11 (classes up to 10)".to_string(), thousands(lenient.persons)],
        vec!["alone in their class".to_string(), thousands(risk.sample_uniques)],
    ];
    if let Some(journalist) = &found.population.journalist {
        rows.push(vec!["journalist, maximum".to_string(), format!("{:.4}", journalist.max)]);
        rows.push(vec!["journalist, average".to_string(), format!("{:.4}", journalist.avg)]);
    }
    for u in &found.population.uniques {
        let if_so = if u.assumed { "if the table were" } else { "the table being" };
        let name = format!("unique in the population, {if_so} {:.4} of it ({})", u.sampling_fraction, u.model);
        rows.push(vec![name, format!("{:.4} of all", u.share)]);
    }
    lines.push(table(&rows));
    lines.push(String::new());
    let mut rows = vec![["attack", "column", "classes", "rows"].map(String::from).to_vec()];
    for (id, columns) in &found.attacks {
        for (column, f) in columns {
            rows.push(vec![id.to_string(), column.clone(), thousands(f.classes), thousands(f.rows)]);
        }
    }
    if rows.len() > 1 {
        lines.push(table(&rows));
        lines.push(String::new());
    }
    lines.push(class_sizes(found));
    lines.join("\n")
}

/// The histogram of class sizes, as text bars.
fn class_sizes(found: &audit::Audit) -> String {
    const BINS: [(u64, u64); 9] =
        [(1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, 49), (50, 99), (100, 999), (1000, u64::MAX)];
    let total = found.classes.max(1);
    let mut rows = vec![["class size", "classes", ""].map(String::from).to_vec()];
    for (low, high) in BINS {
        let classes: u64 =
            found.sizes.counts.iter().filter(|&&(s, _)| (low..=high).contains(&s)).map(|&(_, n)| n).sum();
        if classes == 0 {
            continue;
        }
        let name = match (low, high) {
            (_, u64::MAX) => format!("{low} or more"),
            _ if low == high => low.to_string(),
            _ => format!("{low}–{high}"),
        };
        let bar = "█".repeat(((classes * 40).div_ceil(total)) as usize);
        rows.push(vec![name, thousands(classes), bar]);
    }
    table(&rows)
}
