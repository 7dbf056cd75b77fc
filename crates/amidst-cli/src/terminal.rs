//! What people see: results on standard output, everything else on standard error, colours only where they help.

pub use amidst::report::grouped as thousands;
use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use amidst::Failure;
use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How a command that ran to its end ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Done, or the policy holds.
    Done,
    /// The policy is violated.
    Violated,
}

/// What a subcommand returns.
pub type CommandResult = Result<Outcome, Failure>;

/// Set once by Ctrl-C, watched by everything that takes long.
static STOP: AtomicBool = AtomicBool::new(false);

/// The two output streams, and how much to say on them.
#[derive(Debug)]
pub struct Terminal {
    quiet: bool,
    verbose: bool,
}

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const RED: Style = AnsiColor::Red.on_default().bold();
const GREEN: Style = AnsiColor::Green.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();

impl Terminal {
    /// A terminal that says little, the usual, or more.
    pub fn new(quiet: bool, verbose: bool) -> Self {
        Terminal { quiet, verbose }
    }

    /// Catches Ctrl-C, so that work stops cleanly and nothing half-done stays. A second Ctrl-C ends the process.
    pub fn stop_flag(&self) -> &'static AtomicBool {
        // A handler that is there already does the same, so a second call has nothing to add.
        let _ = ctrlc::set_handler(|| {
            if STOP.swap(true, Ordering::SeqCst) {
                std::process::exit(130);
            }
        });
        &STOP
    }

    /// Prints a result. A reader that went away (`| head`) is no failure.
    pub fn result(&self, text: impl Display) -> Result<(), Failure> {
        let mut out = anstream::stdout().lock();
        match writeln!(out, "{text}").and_then(|()| out.flush()) {
            Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
                Err(Failure::Io(format!("cannot write to standard output: {e}")))
            }
            _ => Ok(()),
        }
    }

    /// Prints one JSON object as the result.
    pub fn json(&self, value: &serde_json::Value) -> Result<(), Failure> {
        self.result(serde_json::to_string(value).unwrap_or_default())
    }

    /// A line about what was done.
    pub fn note(&self, text: impl Display) {
        if !self.quiet {
            let _ = writeln!(anstream::stderr(), "{text}");
        }
    }

    /// A line about details.
    pub fn detail(&self, text: impl Display) {
        if self.verbose {
            let _ = writeln!(anstream::stderr(), "{DIM}{text}{DIM:#}");
        }
    }

    /// Something that did not stop the work but should be known.
    pub fn warning(&self, text: impl Display) {
        if !self.quiet {
            let _ = writeln!(anstream::stderr(), "{YELLOW}warning{YELLOW:#}: {text}");
        }
    }

    /// What stopped the work.
    pub fn error(&self, failure: &Failure) {
        let _ = writeln!(anstream::stderr(), "{}", failure_text(failure));
    }

    /// A progress bar that appears when something takes more than a second on a terminal.
    pub fn progress(&self, what: &'static str) -> Progress {
        let show = !self.quiet && std::io::stderr().is_terminal();
        Progress { show, what, since: Instant::now(), bar: std::sync::OnceLock::new() }
    }
}

fn failure_text(failure: &Failure) -> String {
    match failure {
        // A policy error draws its own header and carets.
        Failure::Policy(errors) => errors.render(std::io::stderr().is_terminal()),
        other => format!("{RED}error{RED:#}: {other}"),
    }
}

/// How far a long job is.
#[derive(Debug)]
pub struct Progress {
    show: bool,
    what: &'static str,
    since: Instant,
    bar: std::sync::OnceLock<ProgressBar>,
}

impl Progress {
    /// Shows that `share` of the job is done.
    pub fn at(&self, share: f64) {
        if !self.show || self.since.elapsed() < Duration::from_secs(1) {
            return;
        }
        let bar = self.bar.get_or_init(|| {
            let bar = ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{msg:>12} {wide_bar} {percent:>3} % {eta:>4}") {
                bar.set_style(style);
            }
            bar.set_message(self.what);
            bar
        });
        bar.set_position((share.clamp(0.0, 1.0) * 1000.0) as u64);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

/// A heading.
pub fn heading(text: impl Display) -> String {
    format!("{BOLD}{text}{BOLD:#}")
}

/// Something that is less important.
pub fn dim(text: impl Display) -> String {
    format!("{DIM}{text}{DIM:#}")
}

/// "holds" or "fails", in words and in colour.
pub fn verdict(holds: bool) -> String {
    if holds { format!("{GREEN}holds{GREEN:#}") } else { format!("{RED}fails{RED:#}") }
}

/// A figure as people read it: whole numbers grouped, others to four decimals.
pub fn figure(x: f64) -> String {
    if x.fract() == 0.0 && (0.0..9e15).contains(&x) { thousands(x as u64) } else { format!("{x:.4}") }
}

/// Rows of text in aligned columns, the first line being the header. Widths count characters as they appear.
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |cell: &str| anstream::adapter::strip_str(cell).to_string().chars().count();
    let widths: Vec<usize> =
        (0..columns).map(|c| rows.iter().filter_map(|r| r.get(c)).map(|t| width(t)).max().unwrap_or(0)).collect();
    let mut lines = Vec::with_capacity(rows.len());
    for (i, row) in rows.iter().enumerate() {
        let mut line = String::new();
        for (c, cell) in row.iter().enumerate() {
            let pad = " ".repeat(widths[c] - width(cell) + 2);
            let text = if i == 0 { dim(cell) } else { cell.clone() };
            line.push_str(&text);
            if c + 1 < row.len() {
                line.push_str(&pad);
            }
        }
        lines.push(format!("  {line}"));
    }
    lines.join("\n")
}

/// Requirements with their verdicts, as the JSON of every command holds them.
pub fn requirements(requirements: &[serde_json::Value]) -> String {
    let mut rows = vec![["requirement", "on", "verdict", "measured"].map(String::from).to_vec()];
    for r in requirements {
        let text = |v: &serde_json::Value| match v {
            serde_json::Value::String(text) => printable(text),
            serde_json::Value::Number(n) => n.as_f64().map_or_else(|| n.to_string(), figure),
            serde_json::Value::Null => "none".to_string(),
            other => other.to_string(),
        };
        let pairs = |v: &serde_json::Value| match v.as_object() {
            Some(map) => map.iter().map(|(k, v)| format!("{k} = {}", text(v))).collect::<Vec<_>>().join(", "),
            None => String::new(),
        };
        let on = match &r["on"] {
            serde_json::Value::Null => String::new(),
            serde_json::Value::Array(names) => names.iter().map(text).collect::<Vec<_>>().join(", "),
            name => text(name),
        };
        let stated = format!("{} {}", text(&r["model"]), pairs(&r["parameters"]));
        let word = match (r["holds"] == true, r["verdict"].as_str()) {
            (true, Some("proven")) => format!("{GREEN}proven{GREEN:#}"),
            (true, Some(other)) => other.replace('-', " "),
            (holds, _) => verdict(holds),
        };
        rows.push(vec![stated, on, word, pairs(&r["measured"])]);
    }
    table(&rows)
}

/// A text without what would move the cursor, change colours or turn the direction of writing: labels are data.
pub fn printable(text: &str) -> String {
    let special = |c: char| {
        c.is_control() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    match text.contains(special) {
        false => text.to_string(),
        true => text.chars().map(|c| if special(c) { c.escape_unicode().to_string() } else { c.to_string() }).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(
            [thousands(0), thousands(999), thousands(1000), thousands(1234567)],
            ["0", "999", "1,000", "1,234,567"]
        );
    }

    #[test]
    fn columns_align() {
        let text = table(&[vec!["a".into(), "b".into()], vec!["long".into(), "x".into()]]);
        assert_eq!(anstream::adapter::strip_str(&text).to_string(), "  a     b\n  long  x");
    }
}
