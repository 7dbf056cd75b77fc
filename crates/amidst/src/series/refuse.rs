//! Why a version is not published, and what can be done about it.

use std::path::Path;

use super::Mode;
use super::draft::Draft;
use super::log::held_back;
use super::plan::{Planned, safe_command};
use super::store::Work;
use crate::Failure;

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
    let advice = match (mode, &safe) {
        (_, Some(safe)) => {
            let command = safe_command(folder, safe.audit.condemns());
            let else_ = if safe.audit.condemns() { "exposes nobody else" } else { "publishes one that does not" };
            format!("`{command}` {else_}: {}; --allow-leak alone publishes this one and says so", safe.cost(&plain))
        }
        (Mode::Maintain, None) if found.newly.is_empty() => {
            "it exposes nobody who was not exposed before, and --allow-leak publishes it and says so".into()
        }
        (Mode::Maintain, None) => {
            let undo = format!("`amidst series undo {}` takes back the last batch", folder.display());
            format!("no safe version was found; {undo}, --allow-leak publishes this one and says so")
        }
        (Mode::MInvariant, None) => {
            let undo = format!("`amidst series undo {}` takes back the last batch", folder.display());
            format!("{undo}; --allow-leak publishes it all the same and says so")
        }
    };
    let (told, method) = (found.sentence(), found.method());
    let message = format!(
        "version {number} together with those before it would leave less than the policy promises: {told} ({method}); {advice}"
    );
    Failure::Impossible(message.into())
}
