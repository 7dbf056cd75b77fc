//! `amidst explore`: lists what the lattice or the local algorithms offer, and why a node cannot be published.

use std::path::PathBuf;

use amidst::Failure;
use amidst::core::internal::lattice::Explored;
use amidst::explore::local::Compared;
use amidst::explore::{self, NodeVerdict, explore};
use amidst::job::{Job, Stage};
use amidst::json_output::explored as explored_json;
use amidst::plan::{algorithm_of, ignored_settings, metric_of, stated_algorithm};
use amidst::policy::Policy;
use amidst::prepare::{LoadOptions, Prepared};
use amidst::words::counted;
use clap::Args;

use crate::terminal::{CommandResult, Outcome, Terminal, heading, table, thousands};
use crate::verdicts::requirements;

/// Show every minimal generalization and the front of risk against utility
///
/// Where the policy names a local algorithm, or a column has no hierarchy, compares what the local algorithms make of
/// the table instead.
///
/// With --node, tells why that combination of levels cannot be published: which requirement fails in which classes, and
/// how many rows it would cost.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  amidst explore policy.toml\n  amidst explore policy.toml --node age=2,sex=0,zip=3"
)]
pub struct Explore {
    /// The policy
    policy: PathBuf,

    /// The table, instead of the one that the policy names
    #[arg(long, value_name = "DATA")]
    input: Option<String>,

    /// Levels of every quasi column, such as age=2,sex=0
    #[arg(long, value_name = "LEVELS", value_delimiter = ',')]
    node: Vec<String>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// How many threads to use; all cores when absent
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    threads: usize,
}

impl Explore {
    /// Explores the lattice, or explains one node of it.
    pub fn run(&self, terminal: &Terminal) -> CommandResult {
        let policy = Policy::read(&self.policy)?;
        let (reading, searching) = (terminal.progress("reading"), terminal.progress("searching"));
        let told = |_: Stage, share: f64| reading.at(share);
        let control = Job { cancel: terminal.stop_flag(), progress: &told, threads: self.threads, ..Job::default() };
        let load = LoadOptions { input: self.input.clone(), control };
        let prepared = Prepared::load(&policy, &load)?;
        drop(reading);
        for remark in &prepared.remarks {
            terminal.warning(remark);
        }
        let progress = |_: Stage, share: f64| searching.at(share);
        let job = Job { cancel: terminal.stop_flag(), progress: &progress, threads: self.threads, ..Job::default() };
        if !self.node.is_empty() {
            let levels = self.node.iter().map(|text| level(text)).collect::<Result<Vec<_>, _>>()?;
            let why = explore::why_not(&policy, &prepared, &levels, &job)?;
            let told = NodeVerdict::of(&policy, &prepared, &why);
            if self.json {
                terminal.json(&amidst::json::of(&told))?;
            } else {
                terminal.result(why_text(&told))?;
            }
            return Ok(if why.valid { Outcome::Done } else { Outcome::Violated });
        }
        // The lattice is shown if there is one, unless the policy names a local algorithm.
        let lattice = policy.search.algorithm.is_none() && prepared.generalizations.iter().all(|g| g.has_hierarchy);
        if !lattice && !algorithm_of(&policy, &prepared)?.full_domain() {
            let compared = explore::local::compare(&policy, &prepared, &job)?;
            drop(searching);
            if self.json {
                terminal.json(&compared.to_json())?;
            } else {
                terminal.result(comparison(metric_of(&policy)?.id, &compared))?;
            }
            let found = compared.algorithms.iter().any(|t| t.judged.is_ok());
            return Ok(if found { Outcome::Done } else { Outcome::Violated });
        }
        let explored = explore(&policy, &prepared, &job)?;
        drop(searching);
        for warning in ignored_settings(&policy, stated_algorithm(&policy)?) {
            terminal.warning(warning);
        }
        if self.json {
            terminal.json(&explored_json(&prepared, &explored))?;
        } else {
            terminal.result(summary(metric_of(&policy)?.id, &prepared, &explored))?;
        }
        if explored.minimal.is_empty()
            && let Some(why) = explore::obstacle(&policy, &prepared)?
        {
            terminal.warning(why);
        }
        Ok(if explored.minimal.is_empty() { Outcome::Violated } else { Outcome::Done })
    }
}

fn level(text: &str) -> Result<(String, usize), Failure> {
    let parsed =
        text.rsplit_once('=').and_then(|(name, level)| Some((name.trim().to_string(), level.trim().parse().ok()?)));
    parsed.ok_or_else(|| Failure::Usage(format!("`{text}` is not a level; write --node age=2,sex=0")))
}

/// Maximum number of lines of each table.
const SHOWN: usize = 20;

fn summary(metric: &str, prepared: &Prepared, explored: &Explored) -> String {
    let names: Vec<String> = prepared.generalizations.iter().map(|g| g.name.clone()).collect();
    let metric = metric.to_string();
    let mut lines = vec![heading(format!(
        "{} minimal generalizations among {} nodes",
        thousands(explored.minimal.len() as u64),
        thousands(explored.nodes as u64)
    ))];
    let mut rows = vec![[names.clone(), vec!["classes".into(), "suppressed".into(), metric.clone()]].concat()];
    for node in explored.minimal.iter().take(SHOWN) {
        let cost = node.metrics.iter().find(|(id, _)| *id == metric).and_then(|(_, v)| *v);
        let mut row: Vec<String> = node.levels.iter().map(ToString::to_string).collect();
        row.extend([
            thousands(node.classes),
            thousands(node.suppressed),
            cost.map_or("–".into(), |c| format!("{c:.4}")),
        ]);
        rows.push(row);
    }
    lines.push(table(&rows));
    lines.push(more(explored.minimal.len()));
    let part = if explored.complete { "" } else { " (the time limit cut it short)" };
    lines.push(heading(format!("the front of risk against {metric}, whatever the policy says{part}")));
    let mut rows = vec![[names, vec!["smallest class".into(), "maximum risk".into(), metric]].concat()];
    for point in explored.front.iter().take(SHOWN) {
        let mut row: Vec<String> = point.levels.iter().map(ToString::to_string).collect();
        row.extend([thousands(point.smallest), format!("{:.4}", point.max_risk), format!("{:.4}", point.cost)]);
        rows.push(row);
    }
    lines.push(table(&rows));
    lines.push(more(explored.front.len()));
    lines.join("\n")
}

/// The results of the local algorithms.
fn comparison(metric: &str, compared: &Compared) -> String {
    let share = |x: Option<f64>| x.map_or("–".into(), |x| format!("{x:.4}"));
    let suited = compared.algorithms.iter().filter_map(|t| Some((t, t.judged.as_ref().ok()?)));
    let head = ["algorithm", "classes", "suppressed", "smallest class", "maximum risk", metric, "seconds"];
    let mut rows = vec![head.map(String::from).to_vec()];
    rows.extend(suited.map(|(tried, judged)| {
        vec![
            tried.algorithm.to_string(),
            thousands(judged.class_count()),
            thousands(judged.suppressed),
            thousands(judged.risk.smallest.unwrap_or(0)),
            format!("{:.4}", judged.risk.prosecutor_max),
            share(tried.cost(metric)),
            format!("{:.2}", tried.seconds),
        ]
    }));
    let mut lines = vec![heading("what each local algorithm makes of the table".to_string()), table(&rows)];
    for tried in &compared.algorithms {
        if let Err(reason) = &tried.judged {
            lines.push(format!("  {} does not suit: {reason}", tried.algorithm));
        }
    }
    lines.push(heading(format!("risk against {metric}: mondrian for k alone, whatever the policy says")));
    let mut rows = vec![["k", "classes", "smallest class", "maximum risk", metric].map(String::from).to_vec()];
    rows.extend(compared.front.iter().map(|point| {
        let risk = &point.risk;
        let numbers = [point.k, point.classes, risk.smallest.unwrap_or(0)].map(thousands);
        [numbers.to_vec(), vec![format!("{:.4}", risk.prosecutor_max), format!("{:.4}", point.cost)]].concat()
    }));
    lines.push(table(&rows));
    lines.join("\n")
}

fn more(count: usize) -> String {
    if count > SHOWN { format!("  … and {} more; --json lists them all\n", count - SHOWN) } else { String::new() }
}

fn why_text(why: &NodeVerdict) -> String {
    let title = match (why.valid, why.rows_to_suppress) {
        (true, 0) => "this node satisfies the policy".to_string(),
        (true, rows) => format!("this node satisfies the policy with {} suppressed", counted(rows, "row")),
        (false, rows) => format!(
            "this node cannot be published: {} would have to be suppressed, {} may be",
            counted(rows, "row"),
            thousands(why.suppression_limit)
        ),
    };
    let mut lines = vec![heading(title), requirements(why.requirements.iter().map(|r| &r.verdict))];
    for r in why.requirements.iter().filter(|r| !r.verdict.holds) {
        lines.push(format!(
            "\n  {} fails in {} with {}; the worst:",
            r.verdict.model,
            counted(r.failing_classes, "class"),
            counted(r.failing_rows, "row")
        ));
        for class in &r.worst {
            lines.push(format!("    {} ({})", class.labels().join(", "), counted(class.rows, "row")));
        }
    }
    lines.join("\n")
}
