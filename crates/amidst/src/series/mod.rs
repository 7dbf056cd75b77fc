//! A table that changes, published version by version.
//!
//! A series is a folder. `private/` holds the state (the rows, their keys, their classes, what was published so far),
//! for its owner's eyes only; `versions/1`, `versions/2` … are what was published, each with its certificate. The state
//! is a SQLite database: a batch is one transaction, so it happens whole or not at all, whatever happens to the
//! process.
//!
//! In the mode `maintain` classes are kept valid as rows come and go (the update paper); several versions together may
//! reveal more than each, and publishing one that does is refused unless it is asked for. In the mode `m-invariant`
//! they do not, at the price of a few counterfeit rows.
//!
//! May use: `commit`, `files`, `folder`, `job`, `open`, `plan`, `policy`, `prepare`, `publish`, `raw`, `release`,
//! `report`, `search`, `unique`, `words`, and what those use.

mod applied;
mod audit;
mod batch;
mod chain;
mod choose;
mod committed;
mod compose;
mod domain;
mod draft;
mod explain;
mod exposure;
mod extend;
mod files;
mod forecast;
mod init;
mod lacking;
mod links;
mod log;
mod own_policy;
mod packed;
mod past;
mod places;
mod plan;
mod publish;
mod record;
mod refuse;
mod replaced;
mod rows;
mod safe;
mod seal;
mod snapshot;
mod state;
mod state_files;
mod stated;
mod store;
#[cfg(test)]
mod tests;
mod trigger;
mod undo;

use std::path::{Path, PathBuf};

pub use applied::Applied;
pub use audit::{ColumnAudit, SeriesAudit};
pub use batch::Batch;
pub use chain::Chain;
pub use draft::Repair;
pub use exposure::{ColumnExposure, RequirementAudit};
pub use extend::Extended;
pub use init::{First, init};
pub use links::Links;
pub use log::{LogBatch, LogVersion, SeriesLog};
pub use plan::{Plan, Planned};
pub use publish::Published;
pub use undo::Undone;

use crate::policy::Policy;
use crate::{Failure, Remedy};
use store::Store;

/// How versions are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Classes are kept valid as rows come and go.
    #[default]
    Maintain,
    /// Everybody keeps the set of values they are published with.
    MInvariant,
}

/// All modes with their names.
pub const MODES: &[(&str, Mode)] = &[("maintain", Mode::Maintain), ("m-invariant", Mode::MInvariant)];

impl Mode {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        MODES.iter().find(|(_, m)| *m == self).map_or("maintain", |(name, _)| name)
    }

    /// The mode called `name`.
    pub fn find(name: &str) -> Option<Mode> {
        MODES.iter().find(|(n, _)| *n == name).map(|(_, mode)| *mode)
    }
}

/// A series in its folder.
#[derive(Debug)]
pub struct Series {
    folder: PathBuf,
    policy: Policy,
    mode: Mode,
    header: Vec<String>,
    store: Store,
    /// Whether the next versions commit to their rows.
    commit: bool,
}

impl Series {
    /// Opens the series in `folder`. State that an older version of Amidst wrote is brought up to date.
    ///
    /// # Errors
    /// When there is no series, or its state cannot be read.
    pub fn open(folder: &Path) -> Result<Series, Failure> {
        let private = private(folder);
        let file = private.join(store::FILE);
        match file.metadata() {
            Ok(found) if found.is_file() => {}
            Err(e) if e.kind() == std::io::ErrorKind::PermissionDenied => {
                let place = private.display();
                let message = "the private part of a series is for the eyes of its owner only";
                return Err(Failure::Io(format!("cannot look into {place}: {e}; {message}")));
            }
            _ => {
                let problem = format!("there is no series in {}", folder.display());
                return Err(Failure::usage(problem, Remedy::BeginSeries(folder.to_path_buf())));
            }
        }
        Series::over(folder, Store::open(&file)?)
    }

    /// The series in `folder`, whose state is open.
    fn over(folder: &Path, mut store: Store) -> Result<Series, Failure> {
        let private = private(folder);
        let mode = store.meta("mode")?;
        let policy = Policy::read(&private.join("policy.toml"))?;
        let mode = Mode::find(&mode).ok_or_else(|| {
            Failure::Usage(format!("the series in {} has the unknown mode `{mode}`", folder.display()))
        })?;
        let header: Vec<String> = serde_json::from_str(&store.meta("header")?)
            .map_err(|e| Failure::Usage(format!("the state of {} is damaged: {e}", folder.display())))?;
        // Signatures and the versions published so far name sensitive values, which must keep their meaning.
        let names = state::kept(&policy, &header);
        store.erase_but(domain::with_role(&policy, &names, crate::policy::Role::Sensitive));
        Ok(Series { folder: folder.to_path_buf(), policy, mode, header, store, commit: false })
    }

    /// Reads all of the state, and makes sure that it is what was written.
    ///
    /// # Errors
    /// When it is not.
    pub fn check(&self) -> Result<(), Failure> {
        self.store.read_whole().map(drop)
    }

    /// How its versions are made.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The policy that every version satisfies.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Where version `number` is.
    pub fn version_folder(&self, number: u64) -> PathBuf {
        versions(&self.folder).join(number.to_string())
    }
}

/// Whether a folder holds a series.
pub fn is_series(folder: &Path) -> bool {
    private(folder).join(store::FILE).is_file()
}

/// The series that a folder is a version of, with the number of the version.
pub fn version_at(folder: &Path) -> Option<(PathBuf, u64)> {
    let folder = folder.canonicalize().ok()?;
    let number = folder.file_name()?.to_str()?.parse().ok()?;
    let series = folder.parent().filter(|parent| parent.ends_with("versions"))?.parent()?;
    is_series(series).then(|| (series.to_path_buf(), number))
}

fn private(folder: &Path) -> PathBuf {
    folder.join("private")
}

fn versions(folder: &Path) -> PathBuf {
    folder.join("versions")
}

/// What only the owner of a version may read.
fn internal(folder: &Path, number: u64) -> PathBuf {
    private(folder).join("reports").join(number.to_string())
}

/// The largest number of different values that the policy promises for a sensitive column; at least 1.
fn promised(policy: &Policy, column: &str) -> usize {
    let named = policy.requirements.iter().filter(|r| r.on.iter().any(|name| name == column));
    let numbers = named.flat_map(|r| ["l", "p", "m"].map(|key| r.parameters.get(key).and_then(|v| v.number())));
    numbers.flatten().map(|n| (n.to_f64() - 1e-9).ceil().max(1.0) as usize).max().unwrap_or(1)
}
