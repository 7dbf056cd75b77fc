//! The `amidst-cluster` command: the same policy on more than one machine.
//!
//! One binary is everything a cluster needs: `scheduler` and `executor` are Apache DataFusion Ballista's, `anonymize`
//! is the driver. Exit codes are those of `amidst`: 0 done, 1 the policy cannot be satisfied, 2 bad input, policy or
//! usage, 3 an internal or I/O failure, 130 stopped.

mod address;
mod anonymize;
mod cluster;
mod executor;
mod logging;
mod runtime;
mod scheduler;
mod stores;

use std::process::ExitCode;

use amidst_arguments::Verbosity;
use clap::{Parser, Subcommand};

/// Runs an Amidst policy on a cluster.
///
/// Start one scheduler, any number of executors, and then `amidst-cluster anonymize`. All of them must see the same
/// storage under the same paths. docs/cluster.md tells the whole way.
#[derive(Debug, Parser)]
#[command(name = "amidst-cluster", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,

    #[command(flatten)]
    verbosity: Verbosity,
}

#[derive(Debug, Subcommand)]
enum Command {
    Scheduler(scheduler::Scheduler),
    Executor(executor::Executor),
    Anonymize(anonymize::Anonymize),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    logging::start(cli.verbosity.verbose, cli.verbosity.quiet);
    // The engine creates files with whatever mode the process allows, and what it writes is raw until it is published.
    #[cfg(unix)]
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    let result = match cli.command {
        Command::Scheduler(c) => c.run(),
        Command::Executor(c) => c.run(),
        Command::Anonymize(c) => c.run(cli.verbosity.quiet),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let failure = failure.worded(amidst_arguments::words);
            logging::say(&format!("error: {failure}"));
            ExitCode::from(failure.exit_code())
        }
    }
}
