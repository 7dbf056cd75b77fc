//! Mondrian on a table that cannot be gathered: cut where it is, finished here.
//!
//! A part with more combinations than can be gathered is summed up by its engine, and the summary tells where Mondrian
//! cuts it ([`Pieces`]); the engine then divides it. Parts that can be gathered are finished in this process. What becomes
//! of each tuple stays with the engine too: here are the classes, each with its cells and its sensitive values, which is
//! what the report and the checker hold of any release.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use amidst_core::algorithm::{Found, SearchError};
use amidst_core::frequency::FrequencySet;
use amidst_core::pieces::{Assembled, Division, Piece, Pieces, Summary};

use super::Remote;
use crate::Failure;
use crate::anonymize::task;
use crate::policy::Policy;
use crate::prepare::Prepared;

/// A table that stays with its engine and can be divided there.
pub trait Parted: Remote {
    /// Puts all combinations into part 0.
    ///
    /// # Errors
    /// Like all that follow: whatever keeps the engine from doing it.
    fn begin(&self, pieces: &Pieces<'_>) -> Result<(), Failure>;

    /// What each of some parts holds.
    ///
    /// # Errors
    /// See [`Parted::begin`].
    fn summaries(&self, pieces: &Pieces<'_>, parts: &[u32]) -> Result<Vec<Summary>, Failure>;

    /// Divides parts. What is in no part that is divided is not asked for again.
    ///
    /// # Errors
    /// See [`Parted::begin`].
    fn divide(&self, pieces: &Pieces<'_>, divided: &[Divided]) -> Result<(), Failure>;

    /// Some parts as they are, in their order.
    ///
    /// # Errors
    /// See [`Parted::begin`].
    fn gather_parts(&self, pieces: &Pieces<'_>, parts: &[u32]) -> Result<Vec<FrequencySet>, Failure>;

    /// Remembers the class of each tuple of some parts.
    ///
    /// # Errors
    /// See [`Parted::begin`].
    fn place(&self, pieces: &Pieces<'_>, placed: &[(FrequencySet, Vec<u32>)]) -> Result<(), Failure>;

    /// Remembers that all of a part is one class; returns a tuple of it, and its rows by sensitive tuple.
    ///
    /// # Errors
    /// See [`Parted::begin`].
    fn place_whole(&self, pieces: &Pieces<'_>, part: u32, class: u32) -> Result<(Vec<u32>, Counts), Failure>;

    /// The table in which each class is one tuple. All tuples have been placed.
    ///
    /// # Errors
    /// See [`Parted::begin`].
    fn settle(&self, pieces: &Pieces<'_>, classes: &[Piece], assembled: &Assembled) -> Result<Prepared, Failure>;
}

/// Rows by sensitive tuple.
pub type Counts = Vec<(u32, u64)>;

/// A part and what it is divided into: the parts from `first` on, one for each side.
#[derive(Debug, Clone)]
pub struct Divided {
    /// The part.
    pub part: u32,
    /// How it is divided.
    pub division: Division,
    /// The first of the new parts.
    pub first: u32,
}

/// A part that nothing was decided about yet.
struct Open {
    part: u32,
    path: Arc<[u32]>,
    combinations: u64,
}

/// Runs Mondrian; at most `most` combinations are gathered at a time. `top` is the table rolled up to one tuple.
pub(super) fn cut(
    remote: &dyn Parted,
    policy: &Policy,
    top: &Prepared,
    most: u64,
    cancel: &AtomicBool,
    refused: impl Fn(String) -> Failure,
) -> Result<Prepared, Failure> {
    let unsupported = |error: SearchError| match error {
        SearchError::Unsupported(why) => refused(why),
        other => other.into(),
    };
    let search = task(policy, top, cancel, &|_| {})?;
    let pieces = Pieces::new(&search).map_err(unsupported)?;
    remote.begin(&pieces)?;
    let mut open = vec![Open { part: 0, path: Arc::from([]), combinations: u64::MAX }];
    let mut next = 1;
    let mut classes: Vec<Piece> = Vec::new();
    while !open.is_empty() {
        stopped(cancel)?;
        let parts: Vec<u32> = open.iter().map(|o| o.part).collect();
        let summaries = remote.summaries(&pieces, &parts)?;
        let (mut divided, mut small, mut large) = (Vec::new(), Vec::new(), Vec::new());
        for (of, summary) in open.iter().zip(&summaries) {
            let Some(division) = pieces.cut(summary) else {
                let (first, counts) = remote.place_whole(&pieces, of.part, classes.len() as u32)?;
                classes.push(pieces.leaf(summary, &of.path, first, counts).map_err(unsupported)?);
                continue;
            };
            let first = next;
            for (side, &combinations) in (0..).zip(&division.combinations) {
                let path = of.path.iter().copied().chain([side]).collect();
                let to = if combinations <= most { &mut small } else { &mut large };
                to.push(Open { part: next, path, combinations });
                next += 1;
            }
            divided.push(Divided { part: of.part, division, first });
        }
        if !divided.is_empty() {
            remote.divide(&pieces, &divided)?;
        }
        for batch in batches(&small, most) {
            stopped(cancel)?;
            let parts: Vec<u32> = batch.iter().map(|o| o.part).collect();
            let mut placed = Vec::with_capacity(parts.len());
            for (of, set) in batch.iter().zip(remote.gather_parts(&pieces, &parts)?) {
                let finished = pieces.finish(&set, &of.path)?;
                let before = classes.len() as u32;
                placed.push((set, finished.of_tuple.into_iter().map(|class| before + class).collect()));
                classes.extend(finished.pieces);
            }
            remote.place(&pieces, &placed)?;
        }
        open = large;
    }
    let assembled = pieces.assemble(&classes)?;
    let mut prepared = remote.settle(&pieces, &classes, &assembled)?;
    let recoding = assembled.recoding(&prepared.set, &classes);
    prepared.found = Some(Found { recoding, optimal: false, gap: None, notes: assembled.notes });
    Ok(prepared)
}

fn stopped(cancel: &AtomicBool) -> Result<(), Failure> {
    if cancel.load(Ordering::Relaxed) { Err(Failure::Cancelled) } else { Ok(()) }
}

/// Neighbours that can be gathered together.
fn batches(parts: &[Open], most: u64) -> Vec<&[Open]> {
    let mut batches = Vec::new();
    let (mut start, mut sum) = (0, 0);
    for (i, part) in parts.iter().enumerate() {
        if i > start && sum + part.combinations > most {
            batches.push(&parts[start..i]);
            (start, sum) = (i, 0);
        }
        sum += part.combinations;
    }
    if start < parts.len() {
        batches.push(&parts[start..]);
    }
    batches
}
