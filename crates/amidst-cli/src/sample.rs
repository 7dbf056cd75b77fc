//! `amidst sample`: synthetic patients to try things on.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use amidst::{Failure, sample};
use clap::Args;

use crate::terminal::{CommandResult, Outcome, Terminal, thousands};

/// Write synthetic patients to try things on
///
/// The table has realistic correlations (age with diagnosis, education with occupation, district with nationality …)
/// and holds nobody real. The same seed gives the same bytes.
#[derive(Debug, Args)]
#[command(after_help = "Example: amidst sample --rows 10000 --out patients.csv --policy policy.toml")]
pub struct Sample {
    /// How many rows
    #[arg(long, default_value_t = 1000)]
    rows: u64,

    /// Where randomness starts
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// The file to write, in the format of its ending (CSV, Parquet …); standard output when absent
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Also write a policy that fits the table
    #[arg(long, value_name = "FILE", requires = "out")]
    policy: Option<PathBuf>,
}

impl Sample {
    /// Writes the table, and the policy when asked.
    pub fn run(&self, terminal: &Terminal) -> CommandResult {
        let Some(out) = &self.out else {
            let mut stdout = BufWriter::with_capacity(1 << 20, std::io::stdout().lock());
            let result = sample::write(self.rows, self.seed, &mut stdout).and_then(|()| stdout.flush());
            return match result {
                Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
                    Err(Failure::Io(format!("cannot write to standard output: {e}")))
                }
                _ => Ok(Outcome::Done),
            };
        };
        sample::save(self.rows, self.seed, out)?;
        terminal.note(format!("{} rows in {}", thousands(self.rows), out.display()));
        if let Some(policy) = &self.policy {
            let input = relative(out, policy);
            let text = sample::policy(&input);
            let failed = |e| Failure::Io(format!("cannot write {}: {e}", policy.display()));
            std::fs::write(policy, text).map_err(failed)?;
            terminal.note(format!("a policy for it in {}", policy.display()));
        }
        Ok(Outcome::Done)
    }
}

/// How a policy at `policy` names the table at `table`: by file name when they share a folder.
fn relative(table: &Path, policy: &Path) -> String {
    let same = table.parent() == policy.parent();
    let name = table.file_name().filter(|_| same).map(Path::new);
    let whole = std::path::absolute(table).unwrap_or_else(|_| table.to_path_buf());
    name.unwrap_or(&whole).display().to_string()
}
