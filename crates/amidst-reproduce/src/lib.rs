//! The papers' worked examples, tables and figures, run again and held against what is printed.
//!
//! [`EXPERIMENTS`] is the only list of experiments: one experiment, one file in `experiments/`. [`run`] runs some of
//! them, keeps what each found in a folder, and writes one page. An experiment gives a table, charts, the numbers that
//! a paper prints beside those found, and its claims with a verdict.

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
