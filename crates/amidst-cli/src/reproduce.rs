//! `amidst reproduce`: runs the papers' worked examples, tables and figures again.

use std::path::PathBuf;
use std::sync::Mutex;

use amidst_reproduce::{Experiment, Finished, Options, Progress, Reproduced, Verdict, chosen};
use clap::Args;

use crate::terminal::{self, CommandResult, Outcome, Terminal, dim, heading, table};

/// Run the papers' worked examples, tables and figures again
///
/// Every experiment gives a table, charts, the numbers that its paper prints beside those found, and its claims with a
/// verdict: holds, does not hold, or impossible, and why. --out gets a page with all of it; what is there already from
/// an earlier run with the same settings is not run again.
#[derive(Debug, Args)]
#[command(
    after_help = "Papers: article, survey, l-alpha, update, clustering. --list shows the experiments.\nExamples:\n  \
amidst reproduce --quick --data adult --out reproduced\n  amidst reproduce article-figures-9-11 --data adult"
)]
pub struct Reproduce {
    /// Papers or experiments; all of them when absent
    #[arg(value_name = "PAPER|FIGURE")]
    names: Vec<String>,

    /// The folder with Adult (adult.data and adult.test of UCI, or adult.csv); made-up people stand in without it
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// The folder for the page, the tables and the charts
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Smaller versions: minutes instead of half an hour
    #[arg(long)]
    quick: bool,

    /// List the experiments and run none
    #[arg(long)]
    list: bool,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Reproduce {
    /// Runs the experiments and prints the results.
    pub fn run(&self, terminal: &Terminal) -> CommandResult {
        let experiments = chosen(&self.names)?;
        if self.list {
            let rows = experiments.iter().map(|e| [e.id, e.place, e.title].map(String::from).to_vec());
            terminal.result(table(&rows.collect::<Vec<_>>()))?;
            return Ok(Outcome::Done);
        }
        if self.data.is_none() && experiments.iter().any(|e| e.adult) {
            terminal.warning(format!(
                "made-up people stand in for Adult: printed numbers cannot come out. {}",
                amidst_reproduce::WHERE_TO_GET_IT
            ));
        }
        let options = Options { experiments, data: self.data.clone(), out: self.out.clone(), quick: self.quick };
        let display = ProgressDisplay { terminal, bar: Mutex::new(None) };
        let reproduced = amidst_reproduce::run(&options, &display, terminal.stop_flag())?;
        drop(display);
        if self.json {
            terminal.json(&reproduced.to_json())?;
        } else {
            terminal.result(summary(&reproduced))?;
        }
        Ok(Outcome::Done)
    }
}

/// Shows the progress of a run on the terminal.
struct ProgressDisplay<'a> {
    terminal: &'a Terminal,
    bar: Mutex<Option<terminal::Progress>>,
}

impl ProgressDisplay<'_> {
    fn with(&self, act: impl FnOnce(&mut Option<terminal::Progress>)) {
        act(&mut self.bar.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
    }
}

impl Progress for ProgressDisplay<'_> {
    fn begins(&self, experiment: &Experiment, at: usize, all: usize) {
        self.terminal.detail(format!("{} ({} of {all})", experiment.id, at + 1));
        self.with(|bar| *bar = Some(self.terminal.progress(experiment.id)));
    }

    fn at(&self, share: f64) {
        self.with(|bar| {
            if let Some(bar) = bar {
                bar.at(share);
            }
        });
    }

    fn done(&self, experiment: &Experiment, finished: &Finished, again: bool) {
        self.with(|bar| *bar = None);
        let how = if again { "found by an earlier run".to_string() } else { format!("{:.1} s", finished.seconds) };
        self.terminal.note(format!("{}: {how}", experiment.id));
    }
}

/// The verdicts as text.
fn summary(reproduced: &Reproduced) -> String {
    let mut lines = Vec::new();
    for (experiment, finished) in &reproduced.experiments {
        lines.push(heading(format!("{}: {}, {}", experiment.id, experiment.place, experiment.title)));
        let printed = &finished.outcome.printed;
        if !printed.is_empty() {
            let agreeing = printed.iter().filter(|p| p.agrees).count();
            lines.push(format!("  {agreeing} of {} printed numbers come out", printed.len()));
            for number in printed.iter().filter(|p| !p.agrees) {
                let remark = if number.remark.is_empty() { String::new() } else { format!(" ({})", number.remark) };
                lines.push(format!(
                    "  differs: {}: printed {}, found {}{remark}",
                    number.what, number.printed, number.found
                ));
            }
        }
        for claim in &finished.outcome.claims {
            let verdict = match claim.verdict {
                Verdict::Holds => terminal::verdict(true),
                Verdict::DoesNotHold => terminal::verdict(false),
                Verdict::Impossible => "impossible".to_string(),
            };
            lines.push(format!("  {verdict} {}", claim.sentence));
            if !claim.why.is_empty() {
                lines.push(dim(format!("    {}", claim.why)));
            }
        }
    }
    let ([holds, fails, impossible], agreeing, printed) = reproduced.tally();
    lines.push(heading(format!(
        "{holds} claims hold, {fails} do not, {impossible} are impossible; {agreeing} of {printed} printed numbers come out"
    )));
    lines.push(format!("table: {}", reproduced.data));
    if let Some(page) = &reproduced.page {
        lines.push(format!("page: {}", page.display()));
    }
    lines.join("\n")
}
