//! `amidst check`: validates a policy, alone and against the data.

use std::path::PathBuf;

use amidst::Failure;
use amidst::check::printable;
use amidst::job::{Job, Stage};
use amidst::policy::{Policy, Role};
use amidst::policy_check::{ColumnSummary, Finding, Summary, check};
use amidst::prepare::LoadOptions;
use amidst::words::{counted, named, percent};
use clap::Args;
use serde_json::{Value, json};

use crate::terminal::{CommandResult, Outcome, Terminal, heading, table, thousands};

/// Validate a policy and its hierarchies against the data; do nothing else
///
/// Tells everything that is wrong at once, with file and line.
#[derive(Debug, Args)]
pub struct Check {
    /// The policy
    policy: PathBuf,

    /// The table, instead of the one that the policy names
    #[arg(long, value_name = "DATA")]
    input: Option<String>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Show the values that do not fit. They are people's: for the owner's eyes, on this terminal
    #[arg(long)]
    show_values: bool,
}

/// A summary of what fits, warnings, and the failure, if any.
type Found = (Option<Summary>, Vec<String>, Option<Failure>);

impl Check {
    /// Prints what is wrong, or a summary.
    pub fn run(&self, terminal: &Terminal) -> CommandResult {
        let (summary, warnings, failure) = match self.findings(terminal) {
            Ok(found) => found,
            Err(failure) => (None, Vec::new(), Some(failure)),
        };
        if self.json {
            terminal.json(&json(summary.as_ref(), &warnings, failure.as_ref()))?;
        } else if let Some(summary) = &summary {
            terminal.result(text(summary))?;
        }
        for warning in warnings {
            terminal.warning(warning);
        }
        failure.map_or(Ok(Outcome::Done), Err)
    }

    /// Reads the policy and checks it against the data.
    fn findings(&self, terminal: &Terminal) -> Result<Found, Failure> {
        let mut policy = Policy::read(&self.policy)?;
        policy.origin.quote_values = self.show_values;
        let started = std::time::Instant::now();
        let bar = terminal.progress("reading");
        let told = |_: Stage, share: f64| bar.at(share);
        let control = Job { cancel: terminal.stop_flag(), progress: &told, ..Job::default() };
        let options = LoadOptions { input: self.input.clone(), control };
        let findings = check(&policy, &options);
        drop(bar);
        let (mut summary, mut warnings, mut failure) = (None, Vec::new(), None);
        for finding in findings {
            match finding {
                Finding::Fits(found) => {
                    terminal.detail(format!("read in {:.2} s", started.elapsed().as_secs_f64()));
                    summary = Some(found);
                }
                Finding::Remark(remark) => warnings.push(remark),
                Finding::Impossible(why) => failure = Some(Failure::Impossible(why)),
                Finding::Wrong(errors) => failure = Some(Failure::Policy(errors)),
                Finding::Unreadable(error) => failure = Some(Failure::from(error)),
            }
        }
        Ok((summary, warnings, failure))
    }
}

/// The output of `amidst check --json`.
fn json(summary: Option<&Summary>, warnings: &[String], failure: Option<&Failure>) -> Value {
    let columns = summary.map(|s| {
        let column = |c: &ColumnSummary| {
            json!({"name": c.name, "role": c.role.name(), "type": c.kind.map(|k| k.name()), "distinct": c.distinct,
                   "height": c.height})
        };
        s.columns.iter().map(column).collect::<Vec<_>>()
    });
    let problems: Vec<Value> = match failure {
        None => Vec::new(),
        Some(Failure::Policy(errors)) => (errors.list.iter())
            .map(|e| {
                let line = e.span.as_ref().and_then(|span| errors.text.get(..span.start));
                let line = line.map(|before| before.matches('\n').count() + 1);
                json!({"message": e.message, "line": line, "help": e.help})
            })
            .collect(),
        Some(other) => vec![json!({"message": other.to_string(), "line": null, "help": null})],
    };
    json!({
        "fits": failure.is_none(),
        "rows": summary.map(|s| s.rows),
        "rows_dropped_missing": summary.map(|s| s.rows_dropped_missing),
        "columns": columns,
        "requirements": summary.map(|s| s.requirements),
        "waived": summary.map(|s| s.waived),
        "unique_rows": summary.map(|s| {
            let rows = s.rows - s.rows_dropped_missing;
            let share = if rows == 0 { 0.0 } else { s.unique_insensitive as f64 / rows as f64 };
            json!({"insensitive": s.unique_insensitive, "insensitive_share": amidst::json::number(share)})
        }),
        "accepted": summary.map(|s| &s.accepted),
        "notes": warnings,
        "problems": problems,
    })
}

fn text(summary: &Summary) -> String {
    let mut title = format!("the policy fits: {}", counted(summary.rows, "row"));
    if summary.rows_dropped_missing > 0 {
        title.push_str(&format!(", {} of them dropped for unknown values", thousands(summary.rows_dropped_missing)));
    }
    let mut rows = vec![["column", "role", "type", "distinct values", "levels above"].map(String::from).to_vec()];
    for c in &summary.columns {
        rows.push(vec![
            c.name.clone(),
            c.role.name().to_string(),
            c.kind.map_or(String::new(), |k| k.name().to_string()),
            c.distinct.map_or(String::new(), thousands),
            c.height.map_or(String::new(), |h| h.to_string()),
        ]);
    }
    let mut lines = vec![heading(title), table(&rows)];
    let raw = summary.columns.iter().filter(|c| c.role == Role::Insensitive);
    let raw: Vec<String> = raw.map(|c| printable(&c.name).into_owned()).collect();
    if !raw.is_empty() {
        let rows = summary.rows - summary.rows_dropped_missing;
        lines.push(format!(
            "  {} of {} rows ({}) are unique on what is published as it is: {}",
            thousands(summary.unique_insensitive),
            thousands(rows),
            percent(summary.unique_insensitive, rows),
            named(&raw)
        ));
    }
    for accepted in &summary.accepted {
        let (column, reason) = (printable(&accepted.column), printable(&accepted.reason));
        lines.push(format!("  {column} may single people out; the reason given: {reason}"));
    }
    if summary.waived > 0 {
        lines.push(format!("  the owners of {} waived protection", counted(summary.waived, "row")));
    }
    lines.join("\n")
}
