//! Terminal output: results on standard output, everything else on standard error, colours only on terminals.

pub use amidst::words::grouped as thousands;
use std::borrow::Cow;
use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use amidst::Failure;
use amidst::check::{printable, printable_json, printable_lines};
use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The outcome of a command that ran to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Done, or the policy holds.
    Done,
    /// The policy is violated.
    Violated,
}

/// What a subcommand returns.
pub type CommandResult = Result<Outcome, Failure>;

/// Set once by Ctrl-C; long-running work polls it.
static STOP: AtomicBool = AtomicBool::new(false);

/// Whether a search has a result and is improving it.
static IMPROVING: AtomicBool = AtomicBool::new(false);

/// Set by the first Ctrl-C while a search is improving its result.
static ENOUGH: AtomicBool = AtomicBool::new(false);

/// The two output streams and the verbosity.
#[derive(Debug)]
pub struct Terminal {
    quiet: bool,
    verbose: bool,
}

/// The styles of this program's texts, each with the character that starts it in a text. These are noncharacters; where
/// they occur in data they are escaped like everything else that affects a terminal.
const STYLES: [(char, Style); 5] = [
    (BOLD, Style::new().bold()),
    (DIM, Style::new().dimmed()),
    (RED, AnsiColor::Red.on_default().bold()),
    (GREEN, AnsiColor::Green.on_default()),
    (YELLOW, AnsiColor::Yellow.on_default()),
];
const BOLD: char = '\u{fdd0}';
const DIM: char = '\u{fdd1}';
const RED: char = '\u{fdd2}';
const GREEN: char = '\u{fdd3}';
const YELLOW: char = '\u{fdd4}';
/// Ends every style.
const PLAIN: char = '\u{fdd5}';

/// The text in a style.
fn styled(style: char, text: impl Display) -> String {
    format!("{style}{text}{PLAIN}")
}

/// A text as it is written to a terminal: style characters become escape sequences, and everything else that would
/// affect a terminal is escaped. With `lines`, line breaks stay. All texts are written through this function.
fn clean(text: &str, lines: bool) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(at) = rest.find(|c| c == PLAIN || STYLES.iter().any(|&(mark, _)| mark == c)) {
        let (before, after) = rest.split_at(at);
        out.push_str(&escaped(before, lines));
        let mut after = after.chars();
        let style = after.next().and_then(|c| STYLES.iter().find(|&&(mark, _)| mark == c));
        out.push_str(&match style {
            Some((_, style)) => style.render().to_string(),
            None => anstyle::Reset.render().to_string(),
        });
        rest = after.as_str();
    }
    out.push_str(&escaped(rest, lines));
    out
}

fn escaped(text: &str, lines: bool) -> Cow<'_, str> {
    if lines { printable_lines(text) } else { printable(text) }
}

impl Terminal {
    /// A terminal with low, normal or high verbosity.
    pub fn new(quiet: bool, verbose: bool) -> Self {
        Terminal { quiet, verbose }
    }

    /// Installs a handler for Ctrl-C, so that work stops cleanly and leaves nothing incomplete. A second Ctrl-C ends
    /// the process. While a search is improving its result, the first one sets [`Terminal::enough_flag`] instead.
    pub fn stop_flag(&self) -> &'static AtomicBool {
        // A second call fails because the same handler is installed already.
        let _ = ctrlc::set_handler(|| {
            if IMPROVING.load(Ordering::SeqCst) && !ENOUGH.swap(true, Ordering::SeqCst) {
                let _ = writeln!(anstream::stderr(), "finishing with the best found so far; Ctrl-C again stops");
                return;
            }
            if STOP.swap(true, Ordering::SeqCst) {
                std::process::exit(130);
            }
        });
        &STOP
    }

    /// Set by the first Ctrl-C while a search is improving its result: the best result so far is then used.
    pub fn enough_flag(&self) -> &'static AtomicBool {
        &ENOUGH
    }

    /// Sets whether a search is improving its result.
    pub fn improving(&self, improving: bool) {
        IMPROVING.store(improving, Ordering::SeqCst);
    }

    /// Prints a result. A closed pipe (`| head`) is not a failure.
    pub fn result(&self, text: impl Display) -> Result<(), Failure> {
        let mut out = anstream::stdout().lock();
        match writeln!(out, "{}", clean(&text.to_string(), true)).and_then(|()| out.flush()) {
            Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
                Err(Failure::Io(format!("cannot write to standard output: {e}")))
            }
            _ => Ok(()),
        }
    }

    /// Writes a result that is a whole file.
    pub fn bytes(&self, bytes: &[u8]) -> Result<(), Failure> {
        let mut out = std::io::stdout().lock();
        match out.write_all(bytes).and_then(|()| out.flush()) {
            Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
                Err(Failure::Io(format!("cannot write to standard output: {e}")))
            }
            _ => Ok(()),
        }
    }

    /// The outcome of a command whose work is done and cannot be undone: a failure to print its result is only a
    /// warning.
    pub fn told(&self, done: &str, result: Result<(), Failure>) -> CommandResult {
        if let Err(failure) = result {
            let _ = writeln!(anstream::stderr(), "{YELLOW}warning{YELLOW:#}: {done}, but {failure}");
        }
        Ok(Outcome::Done)
    }

    /// Prints one JSON object as the result.
    pub fn json(&self, value: &serde_json::Value) -> Result<(), Failure> {
        self.result(printable_json(&serde_json::to_string(value).unwrap_or_default()))
    }

    /// Whether only results and errors are wanted, in few words.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Prints a line about what was done, unless quiet.
    pub fn note(&self, text: impl Display) {
        if !self.quiet {
            self.tell(&text.to_string(), true);
        }
    }

    /// Prints a line about details, if verbose.
    pub fn detail(&self, text: impl Display) {
        if self.verbose {
            self.tell(&styled(DIM, text), true);
        }
    }

    /// Prints a warning.
    pub fn warning(&self, text: impl Display) {
        if !self.quiet {
            self.tell(&format!("{}: {text}", styled(YELLOW, "warning")), false);
        }
    }

    /// Prints the failure that ended the command.
    pub fn error(&self, failure: &Failure) {
        match failure {
            // A policy error formats its own header and carets, and is already escaped.
            Failure::Policy(errors) => {
                let _ = writeln!(anstream::stderr(), "{}", errors.render(std::io::stderr().is_terminal()));
            }
            other => self.tell(&format!("{}: {other}", styled(RED, "error")), false),
        }
    }

    /// Prints the failure as a JSON object on standard output, for callers that requested JSON.
    pub fn failed(&self, failure: &Failure) {
        let kind = match failure {
            Failure::Policy(_) => "policy",
            Failure::Read(_) => "input",
            Failure::Usage(_) => "usage",
            Failure::Impossible(_) => "impossible",
            Failure::Cancelled => "stopped",
            Failure::Io(_) => "io",
            Failure::TooLarge(_) => "too large",
            Failure::Refused(_) => "refused",
            _ => "other",
        };
        let (message, problems) = match failure {
            Failure::Policy(errors) => {
                let problem = |e: &amidst::policy::Diagnostic| serde_json::json!({"message": e.message, "line": errors.line(e), "help": e.help});
                let first = errors.list.first().map(|e| e.message.clone()).unwrap_or_default();
                (first, errors.list.iter().map(problem).collect())
            }
            other => (other.to_string(), Vec::new()),
        };
        self.failure_object(kind, &message, problems, failure.exit_code());
    }

    /// As [`Terminal::failed`], for an invalid command line.
    pub fn failed_usage(&self, message: &str, exit: u8) {
        self.failure_object("usage", message.trim_start_matches("error: "), Vec::new(), exit);
    }

    fn failure_object(&self, kind: &str, message: &str, problems: Vec<serde_json::Value>, exit: u8) {
        let error = serde_json::json!({"kind": kind, "message": message, "problems": problems});
        // The failure has already been printed on standard error.
        let _ = self.json(&serde_json::json!({"error": error, "exit": exit}));
    }

    /// A line on standard error.
    fn tell(&self, text: &str, lines: bool) {
        let _ = writeln!(anstream::stderr(), "{}", clean(text, lines));
    }

    /// A progress bar that appears on a terminal after one second.
    pub fn progress(&self, what: &'static str) -> Progress {
        let show = !self.quiet && std::io::stderr().is_terminal();
        let bar: Arc<OnceLock<ProgressBar>> = Arc::default();
        if show {
            // The bar is redrawn every second, also where the work reports no progress. The thread ends with the bar.
            let watched = Arc::downgrade(&bar);
            std::thread::spawn(move || {
                std::thread::sleep(DELAY);
                if let Some(bar) = watched.upgrade() {
                    shown(&bar, what);
                }
            });
        }
        Progress { show, what, since: Instant::now(), bar }
    }
}

/// The progress of a long job.
#[derive(Debug)]
pub struct Progress {
    show: bool,
    what: &'static str,
    since: Instant,
    bar: Arc<OnceLock<ProgressBar>>,
}

/// Shorter jobs have no bar.
const DELAY: Duration = Duration::from_secs(1);

/// Shows the bar from now on.
fn shown<'a>(bar: &'a OnceLock<ProgressBar>, what: &'static str) -> &'a ProgressBar {
    bar.get_or_init(|| {
        let bar = ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr());
        let template = "{msg:>18} {spinner} {wide_bar} {percent:>3} % {elapsed:>4}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(what);
        bar.enable_steady_tick(Duration::from_millis(250));
        bar
    })
}

impl Progress {
    /// Shows that `share` (0 to 1) of the job is done.
    pub fn at(&self, share: f64) {
        if !self.show || self.since.elapsed() < DELAY {
            return;
        }
        shown(&self.bar, self.what).set_position((share.clamp(0.0, 1.0) * 1000.0) as u64);
    }

    /// Shows a text next to the bar.
    pub fn says(&self, text: String) {
        if let Some(bar) = self.bar.get() {
            bar.set_message(format!("{}: {text}", self.what));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

/// Prints what is wrong with the command line.
pub fn usage(text: &str) {
    let _ = writeln!(anstream::stderr(), "{}", clean(text.trim_end(), true));
}

/// A heading.
pub fn heading(text: impl Display) -> String {
    styled(BOLD, text)
}

/// Text of lower importance.
pub fn dim(text: impl Display) -> String {
    styled(DIM, text)
}

/// "holds" or "fails", coloured.
pub fn verdict(holds: bool) -> String {
    if holds { styled(GREEN, "holds") } else { styled(RED, "fails") }
}

/// "proven", coloured.
pub fn proven() -> String {
    styled(GREEN, "proven")
}

/// A figure for people: integers with grouped digits, others to four decimals.
pub fn figure(x: f64) -> String {
    if x.fract() == 0.0 && (0.0..9e15).contains(&x) { thousands(x as u64) } else { format!("{x:.4}") }
}

/// A cell on one line, with control characters escaped.
fn one_line(cell: &str) -> String {
    let marked = |c: char| c == PLAIN || STYLES.iter().any(|&(mark, _)| mark == c);
    cell.split_inclusive(marked)
        .map(|part| match part.strip_suffix(marked) {
            Some(text) => format!("{}{}", printable(text), &part[text.len()..]),
            None => printable(part).into_owned(),
        })
        .collect()
}

/// Rows of text in aligned columns; the first row is the header. Widths count displayed characters.
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(|cell| one_line(cell)).collect()).collect();
    let marks = |c: &char| *c != PLAIN && STYLES.iter().all(|(mark, _)| mark != c);
    let width = |cell: &str| cell.chars().filter(marks).count();
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
        assert_eq!(anstream::adapter::strip_str(&clean(&text, true)).to_string(), "  a     b\n  long  x");
    }

    #[test]
    fn nothing_acts_on_a_terminal_but_this_programs_styles() {
        let text = format!("{} \u{1b}[2K\u{202e}\r\u{9b}", styled(RED, "error\u{7}"));
        let shown = clean(&text, true);
        assert_eq!(anstream::adapter::strip_str(&shown).to_string(), "error\\u{7} \\u{1b}[2K\\u{202e}\\r\\u{9b}");
        assert!(shown.contains("\u{1b}[1m") || shown.contains("\u{1b}[31m"), "{shown:?}");
        assert_eq!(clean("a\nb\tc", true), "a\nb\tc");
        assert_eq!(clean("a\nb", false), "a\\nb");
        let cell = table(&[vec!["head".into()], vec![format!("x\ny {}", verdict(true))]]);
        assert_eq!(anstream::adapter::strip_str(&clean(&cell, true)).to_string(), "  head\n  x\\ny holds");
    }
}
