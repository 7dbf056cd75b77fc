//! `amidst init`: drafts a policy for a table.

use std::path::PathBuf;

use amidst::{init, saved};
use clap::Args;

use crate::terminal::{CommandResult, Outcome, Terminal};

/// Look at a table, guess roles and hierarchies, write a commented policy
///
/// Every guess is explained in a comment. Read it through: only you know what your columns mean.
#[derive(Debug, Args)]
#[command(after_help = "Example: amidst init patients.csv --out policy.toml && amidst check policy.toml")]
pub struct Init {
    /// The table: a file, a folder or a pattern
    data: String,

    /// The policy to write; standard output when it is -
    #[arg(long, value_name = "FILE", default_value = "policy.toml")]
    out: PathBuf,

    /// Replace the policy when it exists
    #[arg(long)]
    force: bool,
}

impl Init {
    /// Writes the policy.
    pub fn run(&self, terminal: &Terminal) -> CommandResult {
        if self.out.as_os_str() == "-" {
            terminal.result(init::draft(&self.data, None)?.trim_end())?;
            return Ok(Outcome::Done);
        }
        saved::vacant(&self.out, self.force)?;
        let text = init::draft(&self.data, self.out.parent())?;
        saved::save(&self.out, &text, self.force)?;
        terminal.note(format!("wrote {}", self.out.display()));
        terminal.note(format!("Read it through, then: amidst check {}", self.out.display()));
        Ok(Outcome::Done)
    }
}
