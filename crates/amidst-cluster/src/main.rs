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
mod scheduler;
mod stores;

use std::process::ExitCode;

use amidst::{Failure, Remedy};
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

    /// Say nothing but the result and errors
    #[arg(long, short, global = true)]
    quiet: bool,

    /// Say more about what is being done
    #[arg(long, short, global = true, conflicts_with = "quiet")]
    verbose: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    Scheduler(scheduler::Scheduler),
    Executor(executor::Executor),
    Anonymize(anonymize::Anonymize),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    logging::start(cli.verbose, cli.quiet);
    // The engine creates files with whatever mode the process allows, and what it writes is raw until it is published.
    #[cfg(unix)]
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    let result = match cli.command {
        Command::Scheduler(c) => c.run(),
        Command::Executor(c) => c.run(),
        Command::Anonymize(c) => c.run(cli.quiet),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let failure = failure.worded(words);
            logging::say(&format!("error: {failure}"));
            ExitCode::from(failure.exit_code())
        }
    }
}

/// What can be done about a failure, with the flags of this command.
fn words(remedy: &Remedy) -> String {
    match remedy {
        Remedy::NameDestination => "give it with --out FOLDER, or as `file` under [output] in the policy".into(),
        Remedy::AnotherDestination => "choose another --out".into(),
        Remedy::ReplaceRelease => "remove it, choose another --out, or replace it with --force".into(),
        Remedy::RemoveOrMove => "--force replaces releases only; remove it yourself, or choose another --out".into(),
        other => other.to_string(),
    }
}

/// A runtime with the deep stacks that planning wants.
fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_stack_size(32 << 20)
        .build()
        .map_err(|e| Failure::Io(format!("cannot start threads: {e}")))
}
