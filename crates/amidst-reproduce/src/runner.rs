//! Runs experiments one after the other, stores each outcome, and writes the page.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use amidst::Failure;

use crate::data::Adult;
use crate::experiment::{Context, Experiment};
use crate::page;
use crate::reproduced::Reproduced;
use crate::results::{Finished, Settings, write};

/// What to run, on which data, and where results are written.
#[derive(Debug, Clone)]
pub struct Options {
    /// The experiments.
    pub experiments: Vec<&'static Experiment>,
    /// The folder with Adult; `None`: the stand-in is used.
    pub data: Option<PathBuf>,
    /// The folder for tables, charts and the page; `None`: nothing is written.
    pub out: Option<PathBuf>,
    /// Whether to run the smaller versions.
    pub quick: bool,
}

/// Receives the progress of a run.
pub trait Progress: Sync {
    /// An experiment begins; `at` of `all` precede it.
    fn begins(&self, experiment: &Experiment, at: usize, all: usize);
    /// This share of the experiment is done, from 0 to 1.
    fn at(&self, share: f64);
    /// The experiment is done; `again`: the stored outcome of an earlier run was used.
    fn done(&self, experiment: &Experiment, finished: &Finished, again: bool);
}

/// Runs the experiments. Outcomes that an earlier run stored in the same folder with the same settings are reused.
///
/// # Errors
/// When the data are missing or not the expected ones, when a file cannot be written, or when the run was stopped.
/// Outcomes that are finished by then stay stored.
pub fn run(options: &Options, progress: &dyn Progress, cancel: &AtomicBool) -> Result<Reproduced, Failure> {
    let adult = match &options.data {
        Some(folder) => Adult::read(folder)?,
        None => Adult::stand_in()?,
    };
    if let Some(out) = &options.out {
        std::fs::create_dir_all(out).map_err(|e| Failure::Io(format!("cannot make {}: {e}", out.display())))?;
    }
    let settings = Settings::new(options.quick, &adult.words);
    let mut done: Vec<(&'static Experiment, Finished)> = Vec::new();
    for (at, &experiment) in options.experiments.iter().enumerate() {
        progress.begins(experiment, at, options.experiments.len());
        let kept = options.out.as_deref().and_then(|out| Finished::read(out, experiment, &settings));
        let again = kept.is_some();
        let finished = match kept {
            Some(finished) => finished,
            None => {
                let told = |share: f64| progress.at(share);
                let context = Context { adult: &adult, quick: options.quick, cancel, progress: &told };
                let start = Instant::now();
                let mut outcome = (experiment.run)(&context)?;
                let table = if experiment.adult { adult.words.clone() } else { "the paper's own".to_string() };
                outcome.settings.insert(0, ("table".to_string(), table));
                let seconds = start.elapsed().as_secs_f64();
                Finished { id: experiment.id.to_string(), settings: settings.clone(), seconds, outcome }
            }
        };
        if let Some(out) = &options.out {
            finished.write(out)?;
        }
        progress.done(experiment, &finished, again);
        done.push((experiment, finished));
    }
    let mut reproduced = Reproduced { data: adult.words, stand_in: adult.stand_in, experiments: done, page: None };
    if let Some(out) = &options.out {
        write(out, "reproduce.html", &page::html(&reproduced))?;
        let text = serde_json::to_string_pretty(&reproduced.to_json()).map_err(|e| Failure::Io(e.to_string()))?;
        write(out, "reproduce.json", &text)?;
        reproduced.page = Some(out.join("reproduce.html"));
    }
    Ok(reproduced)
}
