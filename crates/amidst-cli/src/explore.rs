//! `amidst explore`: what the lattice offers, and why a node is not on offer.

use std::path::PathBuf;

use amidst::Failure;
use amidst::anonymize::{Job, Stage};
use amidst::core::lattice::{Explored, WhyNot};
use amidst::explore::{self, explore};
use amidst::policy::Policy;
use amidst::prepare::{LoadOptions, Prepared};
use clap::Args;

use crate::terminal::{CommandResult, Outcome, Terminal, heading, requirements, table, thousands};

/// Show every minimal generalization and the front of risk against utility
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
        let load = LoadOptions {
            input: self.input.clone(),
            threads: self.threads,
            cancel: Some(terminal.stop_flag()),
            progress: Some(&|share| reading.at(share)),
        };
        let prepared = Prepared::load(&policy, &load)?;
        drop(reading);
        let progress = |_: Stage, share: f64| searching.at(share);
        let job = Job { cancel: terminal.stop_flag(), progress: &progress, threads: self.threads };
        if !self.node.is_empty() {
            let levels = self.node.iter().map(|text| level(text)).collect::<Result<Vec<_>, _>>()?;
            let why = explore::why_not(&policy, &prepared, &levels, &job)?;
            let json = explore::why_not_json(&policy, &prepared, &why);
            if self.json {
                terminal.json(&json)?;
            } else {
                terminal.result(why_text(&why, &json))?;
            }
            return Ok(if why.valid { Outcome::Done } else { Outcome::Violated });
        }
        let explored = explore(&policy, &prepared, &job)?;
        drop(searching);
        if self.json {
            terminal.json(&explore::to_json(&prepared, &explored))?;
        } else {
            terminal.result(summary(&policy, &prepared, &explored))?;
        }
        Ok(if explored.minimal.is_empty() { Outcome::Violated } else { Outcome::Done })
    }
}

fn level(text: &str) -> Result<(String, usize), Failure> {
    let parsed =
        text.rsplit_once('=').and_then(|(name, level)| Some((name.trim().to_string(), level.trim().parse().ok()?)));
    parsed.ok_or_else(|| Failure::Usage(format!("`{text}` is not a level; write --node age=2,sex=0")))
}

/// How many lines of each table people see.
const SHOWN: usize = 20;

fn summary(policy: &Policy, prepared: &Prepared, explored: &Explored) -> String {
    let names: Vec<String> = prepared.generalizations.iter().map(|g| g.name.clone()).collect();
    let metric = policy.search.metric.clone().unwrap_or_else(|| amidst::anonymize::DEFAULT_METRIC.to_string());
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

fn more(count: usize) -> String {
    if count > SHOWN { format!("  … and {} more; --json lists them all\n", count - SHOWN) } else { String::new() }
}

fn why_text(why: &WhyNot, json: &serde_json::Value) -> String {
    let title = match (why.valid, why.rows) {
        (true, 0) => "this node satisfies the policy".to_string(),
        (true, rows) => format!("this node satisfies the policy with {} rows suppressed", thousands(rows)),
        (false, rows) => format!(
            "this node cannot be published: {} rows would have to be suppressed, {} may be",
            thousands(rows),
            thousands(why.limit)
        ),
    };
    let stated = json["requirements"].as_array().cloned().unwrap_or_default();
    let mut lines = vec![heading(title), requirements(&stated)];
    for r in stated.iter().filter(|r| r["holds"] == false) {
        let model = r["model"].as_str().unwrap_or_default();
        lines.push(format!(
            "\n  {model} fails in {} classes with {} rows; the worst:",
            thousands(r["failing_classes"].as_u64().unwrap_or(0)),
            thousands(r["failing_rows"].as_u64().unwrap_or(0))
        ));
        for class in r["worst"].as_array().into_iter().flatten() {
            let cells = class["cells"].as_object().into_iter().flatten();
            let cells: Vec<String> = cells.map(|(_, v)| v.as_str().unwrap_or_default().to_string()).collect();
            lines.push(format!("    {} ({} rows)", cells.join(", "), class["rows"]));
        }
    }
    lines.join("\n")
}
