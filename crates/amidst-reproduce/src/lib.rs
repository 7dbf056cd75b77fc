//! Runs the papers' worked examples, tables and figures again and compares them with what is printed.
//!
//! [`EXPERIMENTS`] is the only list of experiments: one experiment, one file in `experiments/`. [`run`] runs some of
//! them, stores each outcome in a folder and writes one page. An experiment yields a table, charts, the numbers printed
//! in the paper with those found, and its claims with verdicts.
//!
//! ```
//! use amidst_reproduce::{EXPERIMENTS, chosen};
//!
//! let figure = chosen(&["update-figure-1".to_string()])?;
//! assert_eq!((figure.len(), figure[0].place), (1, "Figure 1"));
//! assert!(EXPERIMENTS.iter().all(|experiment| !experiment.claim.is_empty()));
//! assert!(chosen(&["update-figure-9".to_string()]).is_err());
//! # Ok::<(), amidst::Failure>(())
//! ```
//!
//! # The main types
//!
//! - [`Experiment`]: what a paper claims, how it is measured here, and the differences from the paper.
//! - [`Outcome`]: the tables and charts of an experiment, and its claims, each with a [`Verdict`].
//! - [`Reproduced`]: the outcomes of a [`run`], which [`html`] renders as one page.

mod data;
mod experiment;
mod experiments;
mod page;
mod reproduced;
mod results;
mod runner;
mod trial;

pub use data::{Adult, WHERE_TO_GET_IT};
pub use experiment::{Chart, Claim, Context, Experiment, Outcome, Paper, Printed, Series, Sheet, Verdict};
pub use experiments::{EXPERIMENTS, chosen};
pub use page::html;
pub use reproduced::Reproduced;
pub use results::{Finished, Settings};
pub use runner::{Options, Progress, run};
