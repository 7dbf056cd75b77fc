//! Runs experiments one after the other, keeps what each found, and writes the page.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use amidst::Failure;

use crate::data::Adult;
use crate::experiment::{Context, Experiment};
use crate::page;
use crate::reproduced::Reproduced;
use crate::results::{Finished, Settings, write};

/// What to run, with what, and where it goes.
#[derive(Debug, Clone)]
pub struct Options {
    /// The experiments.
    pub experiments: Vec<&'static Experiment>,
    /// The folder with Adult; a stand-in is used without one.
    pub data: Option<PathBuf>,
    /// The folder for tables, charts and the page; nothing is written without one.
    pub out: Option<PathBuf>,
    /// Whether smaller versions will do.
    pub quick: bool,
}

/// Who is told how far a run is.
pub trait Progress: Sync {
    /// An experiment begins; `at` of `all` came before it.
    fn begins(&self, experiment: &Experiment, at: usize, all: usize);
    /// The experiment is so far done.
    fn at(&self, share: f64);
    /// The experiment is done, `again` where what an earlier run found was used.
    fn done(&self, experiment: &Experiment, finished: &Finished, again: bool);
}

/// Runs the experiments. Those that an earlier run finished with the same settings in the same folder are not run
/// again.
///
/// # Errors
/// When the data are not there or not the right ones, when a file cannot be written, or when the run was stopped: what
/// is finished by then is kept.
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
