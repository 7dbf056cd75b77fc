//! `amidst sample`: writes synthetic patients, or a random sample of a table.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use amidst::core::parameter::Rational;
use amidst::sample::drawn;
use amidst::scratch::Scratch;
use amidst::words::counted;
use amidst::{Failure, files, sample, saved};
use clap::Args;

use crate::terminal::{CommandResult, Outcome, Terminal};

/// Write synthetic patients to try things on
///
/// The table has realistic correlations (age with diagnosis, education with occupation, district with nationality …)
/// and holds nobody real. The same seed gives the same bytes.
///
/// With --from, writes a random part of that table instead: every row is in it with the chance --share, independently.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  amidst sample --rows 10000 --out patients.csv --policy policy.toml\n  \
amidst sample --from adult.csv --share 0.05 --seed 7 --out some.csv")]
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

    /// Draw rows from this table instead of making people up
    #[arg(long, value_name = "DATA", requires = "share", conflicts_with_all = ["rows", "policy"])]
    from: Option<String>,

    /// The chance of each row of --from to be in the sample, such as 0.05 or 1/20
    #[arg(long, value_name = "SHARE", requires = "from")]
    share: Option<Rational>,

    /// Replace files that are there already
    #[arg(long)]
    force: bool,
}

impl Sample {
    /// Writes the table, and the policy if requested.
    pub fn run(&self, terminal: &Terminal) -> CommandResult {
        if let (Some(from), Some(share)) = (&self.from, &self.share) {
            return self.draw(from, share, terminal);
        }
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
        for path in [Some(out), self.policy.as_ref()].into_iter().flatten() {
            saved::vacant(path, self.force)?;
        }
        self.save(out)?;
        terminal.note(format!("{} in {}", counted(self.rows, "row"), out.display()));
        if let Some(policy) = &self.policy {
            let input = relative(out, policy);
            let text = sample::policy(&input);
            saved::save(policy, &text, self.force)?;
            terminal.note(format!("a policy for it in {}", policy.display()));
        }
        Ok(Outcome::Done)
    }

    /// Writes a random sample of a table.
    fn draw(&self, from: &str, share: &Rational, terminal: &Terminal) -> CommandResult {
        if let Some(out) = &self.out {
            saved::vacant(out, self.force)?;
        }
        let table = drawn::drawn(from, share, self.seed)?;
        let Some(out) = &self.out else {
            drawn::write(&table, None, &mut std::io::stdout())?;
            return Ok(Outcome::Done);
        };
        if saved::is_stream(out) {
            drawn::write(&table, Some(out), &mut std::io::sink())?;
        } else {
            let failed = |e| Failure::Io(format!("cannot write {}: {e}", out.display()));
            let scratch = Scratch::new_in(files::parent(out)).map_err(failed)?;
            let made = scratch.path().join(out.file_name().unwrap_or_default());
            drawn::write(&table, Some(&made), &mut std::io::sink())?;
            saved::move_to(&made, out, self.force)?;
        }
        terminal.note(format!("{} in {}", counted(table.rows as u64, "row"), out.display()));
        Ok(Outcome::Done)
    }

    /// Writes the table; it appears complete or not at all.
    fn save(&self, out: &Path) -> Result<(), Failure> {
        if saved::is_stream(out) {
            return sample::save(self.rows, self.seed, out);
        }
        let failed = |e| Failure::Io(format!("cannot write {}: {e}", out.display()));
        let scratch = Scratch::new_in(files::parent(out)).map_err(failed)?;
        let made = scratch.path().join(out.file_name().unwrap_or_default());
        sample::save(self.rows, self.seed, &made).map_err(|failure| match failure {
            // The error names the staging folder; the user knows the destination.
            Failure::Io(reason) => Failure::Io(reason.replace(&made.display().to_string(), &out.display().to_string())),
            other => other,
        })?;
        saved::move_to(&made, out, self.force)
    }
}

/// The name of the table at `table` in a policy at `policy`: the file name if both are in the same folder.
fn relative(table: &Path, policy: &Path) -> String {
    let same = table.parent() == policy.parent();
    let name = table.file_name().filter(|_| same).map(Path::new);
    let whole = std::path::absolute(table).unwrap_or_else(|_| table.to_path_buf());
    name.unwrap_or(&whole).display().to_string()
}
