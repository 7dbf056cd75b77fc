//! `amidst attack NAME`: attacks a table as one adversary would.

use std::path::{Path, PathBuf};

use amidst::Failure;
use amidst::attack::{AdversaryTables, Attacked, attack, attack_series, is_series, parameter};
use amidst::audit;
use amidst::core::attack::{ATTACKS, Knowledge, find};
use amidst::core::parameter::Parameters;
use amidst::folder;
use amidst::job::{Job, Stage};
use amidst::policy::Policy;
use amidst::prepare::LoadOptions;
use clap::Args;

use crate::columns::Columns;
use crate::terminal::{CommandResult, Outcome, Terminal, dim, heading, table, thousands};

/// Attack a table as one adversary would, and tell what is learned
///
/// `amidst attacks` lists the attacks, `amidst explain NAME` tells what an adversary is assumed to know.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  amidst attack homogeneity release.csv --policy policy.toml\n  amidst attack linkage \
release.csv --qi age,sex,zip --sensitive disease --external voters.csv\n  amidst attack similarity release.csv --policy \
policy.toml --set share=0.75\n  amidst attack minimality release --original patients.csv\n  amidst attack difference \
may.csv --earlier april.csv --external people.csv --policy policy.toml\n  amidst attack intersection SERIES_FOLDER"
)]
pub struct Attack {
    /// The attack
    name: String,

    /// The table: a file, a folder or a pattern; - for standard input. Or the folder of a release, or of a series
    data: String,

    /// The policy that says which columns are which; the folder of a release holds its own
    #[arg(long, value_name = "FILE", conflicts_with_all = ["qi", "sensitive"])]
    policy: Option<PathBuf>,

    #[command(flatten)]
    columns: Columns,

    /// For linkage, intersection and difference: a table of persons with some of the quasi columns. May be repeated,
    /// for several versions once for each, the oldest first
    #[arg(long, value_name = "DATA")]
    external: Vec<String>,

    /// The column of these tables that tells who is who, where there are several
    #[arg(long, value_name = "COLUMN")]
    person: Option<String>,

    /// For intersection and difference: an earlier version of the table. May be repeated, the oldest first
    #[arg(long, value_name = "DATA")]
    earlier: Vec<String>,

    /// For belief: a population with the quasi columns, the sensitive column and perhaps a column `count`
    #[arg(long, value_name = "DATA")]
    population: Option<String>,

    /// For minimality: the table that the release was made from; the policy's input when absent
    #[arg(long, value_name = "DATA")]
    original: Option<String>,

    /// A parameter of the attack; may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE")]
    parameters: Vec<String>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Attack {
    /// Runs the attack.
    pub fn run(&self, terminal: &Terminal) -> CommandResult {
        let Some(entry) = find(&self.name) else {
            let hint = amidst::nearest(&self.name, ATTACKS.iter().map(|a| a.id));
            let hint = hint.map_or(String::new(), |n| format!("did you mean `{n}`? "));
            return Err(Failure::Usage(format!(
                "there is no attack `{}`; {hint}`amidst attacks` lists them",
                self.name
            )));
        };
        let mut parameters = Parameters::default();
        for stated in &self.parameters {
            let Some((name, value)) = stated.split_once('=') else {
                return Err(Failure::Usage(format!("--set takes NAME=VALUE, not `{stated}`")));
            };
            parameters.set(name.trim(), parameter(value.trim()));
        }
        if entry.needs == Knowledge::Versions && is_series(&self.data) {
            return self.tell(terminal, &attack_series(entry, &self.data, &parameters)?);
        }
        let (data, beside_it) = match folder::table_in(Path::new(&self.data)) {
            Some(found) => (found.table.to_string_lossy().into_owned(), Some(found.policy)),
            None => (self.data.clone(), None),
        };
        let stated = match (&self.policy, beside_it) {
            (Some(path), _) => Policy::read(path)?,
            (None, Some(own)) if self.columns.qi.is_empty() => Policy::read(&own)?,
            (None, _) if self.columns.qi.is_empty() => {
                let message = "say which columns are which, with --policy or with --qi and --sensitive";
                return Err(Failure::Usage(message.to_string()));
            }
            (None, _) => Policy::for_audit(&data, &self.columns.qi, &self.columns.sensitive),
        };
        let bar = terminal.progress("reading");
        let told = |_: Stage, share: f64| bar.at(share);
        let control = Job { cancel: terminal.stop_flag(), progress: &told, ..Job::default() };
        let options = LoadOptions { control, ..LoadOptions::default() };
        let (_, prepared) = audit::load(&stated, &data, &options)?;
        drop(bar);
        let beside = AdversaryTables {
            external: self.external.clone(),
            person: self.person.clone(),
            earlier: self.earlier.clone(),
            population: self.population.clone(),
            original: self.original.clone(),
            threads: 0,
        };
        self.tell(terminal, &attack(entry, &stated, &prepared, &beside, &parameters)?)
    }

    fn tell(&self, terminal: &Terminal, attacked: &Attacked) -> CommandResult {
        if self.json {
            terminal.json(&attacked.to_json())?;
        } else {
            terminal.result(summary(attacked))?;
        }
        Ok(Outcome::Done)
    }
}

/// The result as text.
fn summary(attacked: &Attacked) -> String {
    let entry = attacked.entry;
    let mut lines = vec![
        heading(entry.title),
        format!("  the adversary knows {}", entry.assumes),
        format!("  and succeeds when {}", entry.definition),
    ];
    for (column, findings, worst) in &attacked.columns {
        lines.push(String::new());
        let mut rows = vec![vec![format!("about {column}"), String::new()]];
        for (name, n) in
            [("classes hit", findings.classes), ("rows hit", findings.rows), ("persons hit", findings.persons)]
        {
            rows.push(vec![name.to_string(), thousands(n)]);
        }
        for (name, figure) in &findings.figures {
            let text = if figure.fract() == 0.0 { format!("{figure}") } else { format!("{figure:.4}") };
            rows.push(vec![name.replace('_', " "), text]);
        }
        lines.push(table(&rows));
        for class in worst.iter().take(5) {
            let cells = match &class.cells {
                Some(cells) => cells.iter().map(|(n, v)| format!("{n} = {v}")).collect::<Vec<_>>().join(", "),
                None => "too small to show".to_string(),
            };
            lines.push(dim(format!("  class of {}: {cells}", thousands(class.size))));
        }
    }
    for (column, why) in &attacked.skipped {
        lines.push(dim(format!("  {column}: {why}")));
    }
    lines.join("\n")
}
