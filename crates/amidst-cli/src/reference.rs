//! `amidst explain policy | search | …`, `amidst schema`, `amidst man`: references generated from the tables that parse
//! policies and the command line.

use std::path::PathBuf;

use amidst::Failure;
use amidst::core::hierarchy::BUILDERS;
use amidst::json_output::policy_schema;
use amidst::policy::ROLES;
use amidst::policy::keys::{SECTIONS, section};
use amidst::policy::reference::{role_meaning, text};
use clap::{Args, CommandFactory};

use crate::terminal::{CommandResult, Outcome, Terminal, dim, heading, table};

/// Topics in addition to the sections of a policy.
pub const TOPICS: [&str; 3] = ["policy", "roles", "hierarchies"];

/// The text on a topic: the whole policy, one of its sections, roles or hierarchies; `None` for other names.
pub fn topic(name: &str) -> Option<String> {
    match name {
        "policy" => {
            let all: Vec<String> = SECTIONS.iter().map(text).collect();
            let about = "A policy is a TOML file with these sections; paths in it are relative to its folder.";
            Some(format!("{}\n\n{}\n\n{}", heading("The policy"), dim(about), all.join("\n")))
        }
        "roles" => {
            let mut rows = vec![vec!["role".to_string(), "meaning".to_string()]];
            rows.extend(ROLES.iter().map(|(name, role)| vec![name.to_string(), role_meaning(*role).to_string()]));
            Some(format!("{}\n\n{}", heading("Roles of columns"), table(&rows)))
        }
        "hierarchies" => {
            let mut lines = vec![heading("Hierarchies"), String::new()];
            for builder in BUILDERS {
                lines.push(format!("hierarchy = {}\n    {}", builder.example, builder.definition));
            }
            Some(lines.join("\n"))
        }
        name => section(name).map(text),
    }
}

/// Print a JSON schema of policies, for editors
#[derive(Debug, Args)]
#[command(
    after_help = "Example: amidst schema > policy.schema.json, and in the first line of a policy:\n  #:schema ./policy.schema.json"
)]
pub struct Schema {}

impl Schema {
    /// Prints the schema.
    pub fn run(&self, terminal: &Terminal) -> CommandResult {
        terminal.result(serde_json::to_string_pretty(&policy_schema()).unwrap_or_default())?;
        Ok(Outcome::Done)
    }
}

/// Write the manual pages
#[derive(Debug, Args)]
pub struct Man {
    /// The folder for the pages, one for each command
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
}

impl Man {
    /// Writes a page for every command.
    pub fn run<C: CommandFactory>(&self, terminal: &Terminal) -> CommandResult {
        let failed = |e: std::io::Error| Failure::Io(format!("cannot write into {}: {e}", self.out.display()));
        std::fs::create_dir_all(&self.out).map_err(failed)?;
        clap_mangen::generate_to(C::command(), &self.out).map_err(failed)?;
        terminal.result(format!(
            "{} holds the pages; man {}/amidst.1 shows the first",
            self.out.display(),
            self.out.display()
        ))?;
        Ok(Outcome::Done)
    }
}
