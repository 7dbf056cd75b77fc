//! Why a version is not published, and what can be done about it.

use std::path::Path;

use super::Mode;
use super::draft::Draft;
use super::log::held_back;
use super::plan::Planned;
use super::store::Work;
use crate::{Failure, Remedy};

/// There is nothing to publish since version `last`; rows may be waiting all the same.
pub(super) fn unchanged(work: &Work<'_>, last: u64) -> Result<Failure, Failure> {
    let waiting = work.meta(&held_back(last))?.and_then(|n| n.parse::<u64>().ok()).unwrap_or(0);
    let waiting = match waiting {
        0 => String::new(),
        1 => " (1 row is held back until others come with which it can join)".to_string(),
        n => format!(" ({n} rows are held back until others come with which they can join)"),
    };
    Ok(Failure::Usage(format!(
        "nothing has changed since version {last}{waiting}; insert or delete rows before publishing again"
    )))
}

/// A version would expose somebody. The mode that the series is in is no way out.
pub(super) fn refusal(folder: &Path, number: u64, mode: Mode, draft: &Draft, mended: Option<&Draft>) -> Failure {
    let found = &draft.audit;
    let (safe, plain) = (mended.map(Planned::of), Planned::of(draft));
    let folder = folder.to_path_buf();
    if let Some(names) = draft.composed.judged.failing() {
        let problem = format!(
            "the rows that are left satisfy {names} in no way, not even as one class, so version {number} cannot be made of them \
             until others come"
        );
        return match safe {
            Some(safe) => {
                let (exposed, cost) = (safe.audit.finds_leaks(), safe.cost(&plain));
                Failure::impossible(problem, Remedy::PublishSafe { folder, exposed, cost })
            }
            None => Failure::Impossible(problem.into()),
        };
    }
    let remedy = match (mode, &safe) {
        (_, Some(safe)) => Remedy::PublishSafe { folder, exposed: safe.audit.finds_leaks(), cost: safe.cost(&plain) },
        (Mode::Maintain, None) if found.newly.is_empty() => Remedy::AllowLeak,
        (mode, None) => Remedy::UndoOrAllowLeak { folder, searched: mode == Mode::Maintain },
    };
    let (told, method) = (found.sentence(), found.method());
    let problem = format!(
        "version {number} together with those before it would leave less than the policy promises: {told} ({method})"
    );
    Failure::impossible(problem, remedy)
}
