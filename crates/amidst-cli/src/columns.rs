//! Command-line arguments for the columns of a table without a policy.

use clap::Args;

/// What is quasi and what is sensitive.
#[derive(Debug, Args)]
pub struct Columns {
    /// The quasi columns
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub qi: Vec<String>,

    /// The sensitive columns
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', requires = "qi")]
    pub sensitive: Vec<String>,
}
