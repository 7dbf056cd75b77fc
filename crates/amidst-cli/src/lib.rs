//! The `amidst` command: one file per subcommand. It is a library so that the Python package can include the command.
//!
//! Standard output carries the result only; progress, warnings and errors go to standard error. Exit codes: 0 done or
//! holds, 1 the policy cannot be satisfied or is violated, 2 bad input, policy or usage, 3 an internal or I/O failure.
//!
//! ```
//! let run = |arguments: &[&str]| amidst_cli::main(arguments.iter().map(Into::into));
//! assert_eq!(run(&["amidst", "explain", "k-anonymity"]), 0);
//! assert_eq!(run(&["amidst", "check", "there-is-no-such-policy.toml"]), 2);
//! ```

mod anonymize;
mod attack;
mod audit;
mod check;
mod columns;
mod completions;
mod defect;
mod explain;
mod explore;
mod init;
mod open;
mod reference;
mod registry;
mod remedy;
mod reproduce;
mod sample;
mod series;
mod sign;
mod studio;
mod survey;
mod terminal;
mod verdicts;
mod verify;

use std::ffi::OsString;

use amidst_arguments::Verbosity;
use clap::{Parser, Subcommand};

use terminal::{Outcome, Terminal};

/// Publishes tables about people without publishing anyone.
///
/// Give it microdata and a policy; get back a release in which every person stands amidst others, with a certificate
/// that anyone can check. Start with `amidst sample --rows 1000 --out patients.csv` or, on your own table, with
/// `amidst audit` and `amidst init`.
#[derive(Debug, Parser)]
#[command(
    name = "amidst",
    version,
    max_term_width = 100,
    after_help = "Exit codes: 0 done or holds · 1 the policy cannot \
be satisfied, or is violated · 2 bad input, policy or usage · 3 an internal or I/O failure.\n`amidst help COMMAND` tells \
more, with examples."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,

    #[command(flatten)]
    verbosity: Verbosity,
}

#[derive(Debug, Subcommand)]
enum Command {
    Init(init::Init),
    Check(check::Check),
    Anonymize(anonymize::Anonymize),
    Explore(explore::Explore),
    Audit(audit::Audit),
    Attack(attack::Attack),
    Verify(verify::Verify),
    Sign(sign::Sign),
    Open(open::Open),
    Series(series::Series),
    Studio(studio::Studio),
    /// List the privacy models a policy may require
    Models(registry::List),
    /// List the algorithms that search for a release
    Algorithms(registry::List),
    /// List the metrics that say what a release costs
    Metrics(registry::List),
    /// List the attacks that a release must withstand
    Attacks(registry::List),
    /// List the ways to make a hierarchy, with an example of each
    Hierarchies(registry::List),
    Explain(explain::Explain),
    Schema(reference::Schema),
    #[command(hide = true)]
    Man(reference::Man),
    Sample(sample::Sample),
    Reproduce(reproduce::Reproduce),
    Completions(completions::Completions),
}

/// Runs the command line `arguments`, the program name first; returns the exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments = arguments.into_iter().collect();
    defect::contained(move || run(arguments))
}

fn run(arguments: Vec<OsString>) -> u8 {
    let json = arguments.iter().take_while(|a| *a != "--").any(|a| a == "--json");
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        // Help and version are fixed texts; errors quote arguments, which may contain control characters.
        Err(error) if !error.use_stderr() => error.exit(),
        Err(error) => {
            let code = u8::try_from(error.exit_code()).unwrap_or(2);
            let text = error.render().to_string();
            terminal::usage(&text);
            if json {
                // What is missing stands on lines of its own, up to an empty one.
                let told: Vec<&str> = text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
                Terminal::new(true, false).failed_usage(&told.join(" "), code);
            }
            return code;
        }
    };
    let terminal = Terminal::new(cli.verbosity.quiet, cli.verbosity.verbose);
    // The JSON of `check` already contains failures.
    let json = json && !matches!(cli.command, Command::Check(_));
    let result = match cli.command {
        Command::Init(c) => c.run(&terminal),
        Command::Check(c) => c.run(&terminal),
        Command::Anonymize(c) => c.run(&terminal),
        Command::Explore(c) => c.run(&terminal),
        Command::Audit(c) => c.run(&terminal),
        Command::Attack(c) => c.run(&terminal),
        Command::Verify(c) => c.run(&terminal),
        Command::Sign(c) => c.run(&terminal),
        Command::Open(c) => c.run(&terminal),
        Command::Series(c) => c.run(&terminal),
        Command::Studio(c) => c.run(&terminal),
        Command::Models(c) => c.models(&terminal),
        Command::Algorithms(c) => c.algorithms(&terminal),
        Command::Metrics(c) => c.metrics(&terminal),
        Command::Attacks(c) => c.attacks(&terminal),
        Command::Hierarchies(c) => c.hierarchies(&terminal),
        Command::Explain(c) => c.run(&terminal),
        Command::Schema(c) => c.run(&terminal),
        Command::Man(c) => c.run::<Cli>(&terminal),
        Command::Sample(c) => c.run(&terminal),
        Command::Reproduce(c) => c.run(&terminal),
        Command::Completions(c) => c.run::<Cli>(&terminal),
    };
    match result {
        Ok(Outcome::Done) => 0,
        Ok(Outcome::Violated) => 1,
        Err(failure) => {
            let failure = failure.worded(remedy::words);
            terminal.error(&failure);
            if json {
                terminal.failed(&failure);
            }
            failure.exit_code()
        }
    }
}
