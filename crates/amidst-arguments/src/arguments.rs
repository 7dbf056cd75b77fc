//! The arguments, as structures that a command flattens into its own.

use std::path::PathBuf;

use amidst::anonymize::Options;
use clap::Args;

/// How much a command says.
#[derive(Debug, Args)]
pub struct Verbosity {
    /// Say nothing but errors and the result, in few words
    #[arg(long, short, global = true)]
    pub quiet: bool,

    /// Say more about what is being done
    #[arg(long, short, global = true, conflicts_with = "quiet")]
    pub verbose: bool,
}

/// What somebody decides about one run of a policy.
#[derive(Debug, Args)]
pub struct Run {
    /// The table, instead of the one that the policy names
    #[arg(long, value_name = "DATA")]
    pub input: Option<String>,

    /// Replace a release that is there already
    #[arg(long)]
    pub force: bool,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,

    /// Where randomness starts, instead of the policy's seed
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// How many threads this process uses; all cores when absent
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub threads: usize,
}

impl Run {
    /// The same for the library, with the place where the release goes.
    pub fn options(&self, out: Option<PathBuf>) -> Options {
        Options { input: self.input.clone(), out, force: self.force, seed: self.seed, ..Options::default() }
    }
}
