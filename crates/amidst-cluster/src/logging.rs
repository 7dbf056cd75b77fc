//! What is said on standard error.
//!
//! Logs carry what the engine says of jobs and stages. Nothing here formats a configuration: credentials come from the
//! environment of each process and are in no plan, no setting and no log.

use std::io::Write;

use log::{LevelFilter, Log, Metadata, Record};

struct Stderr;

impl Log for Stderr {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= log::max_level()
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            say(&format!("{}: {}: {}", record.level().as_str().to_lowercase(), record.target(), record.args()));
        }
    }

    fn flush(&self) {}
}

/// Starts logging: warnings, or more when `verbose`, or errors alone when `quiet`.
pub fn start(verbose: bool, quiet: bool) {
    let level = match (verbose, quiet) {
        (true, _) => LevelFilter::Info,
        (_, true) => LevelFilter::Error,
        _ => LevelFilter::Warn,
    };
    // Only a second logger in one process would be refused, and there is none.
    if log::set_logger(&Stderr).is_ok() {
        log::set_max_level(level);
    }
}

/// Says a line on standard error.
pub fn say(line: &str) {
    // With standard error closed there is nowhere to report it.
    let _ = writeln!(std::io::stderr().lock(), "{}", amidst::check::printable_lines(line));
}
