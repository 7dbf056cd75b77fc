//! `amidst check`: is the policy right, and does it fit the data?

use std::path::PathBuf;

use amidst::Failure;
use amidst::policy::Policy;
use amidst::prepare::{Finding, LoadOptions, Summary, check};
use clap::Args;

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
}

impl Check {
    /// Prints what is wrong, or a summary of what was found right.
    pub fn run(&self, terminal: &Terminal) -> CommandResult {
        let policy = Policy::read(&self.policy)?;
        let bar = terminal.progress("reading");
        let options = LoadOptions {
            input: self.input.clone(),
            cancel: Some(terminal.stop_flag()),
            progress: Some(&|share| bar.at(share)),
            ..LoadOptions::default()
        };
        let findings = check(&policy, &options);
        drop(bar);
        for finding in findings {
            match finding {
                Finding::Fits(summary) => terminal.result(text(&summary))?,
                Finding::Remark(remark) => terminal.warning(remark),
                Finding::Impossible(message) => return Err(Failure::Impossible(message)),
                Finding::Wrong(errors) => return Err(Failure::Policy(errors)),
                Finding::Unreadable(error) => return Err(Failure::from(error)),
            }
        }
        Ok(Outcome::Done)
    }
}

fn text(summary: &Summary) -> String {
    let mut title = format!("the policy fits: {} rows", thousands(summary.rows));
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
    [heading(title), table(&rows)].join("\n")
}
