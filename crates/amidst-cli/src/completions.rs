//! `amidst completions SHELL`: tab completion.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::terminal::{CommandResult, Outcome, Terminal};

/// Write a completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = "Example: amidst completions bash > ~/.local/share/bash-completion/completions/amidst")]
pub struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    /// Prints the script.
    pub fn run<C: CommandFactory>(&self, terminal: &Terminal) -> CommandResult {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut C::command(), "amidst", &mut script);
        terminal.result(String::from_utf8_lossy(&script).trim_end())?;
        Ok(Outcome::Done)
    }
}
