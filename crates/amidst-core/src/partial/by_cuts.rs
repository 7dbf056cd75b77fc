//! Mondrian and top-down specialization on a table that cannot be gathered: cut where it is, finished here.
//!
//! A part with more combinations than can be gathered is summed up by its engine, and the summary tells how it is
//! divided ([`PartialSearch`]); the engine then divides it. Parts that can be gathered are finished in this process.
//! What becomes of each tuple stays with the engine too: here are the classes, each with its cells and its sensitive
//! values, which is what the report and the checker hold of any release.
//!
//! Combinations that top-down specialization pulls rows from leave the engine and stay here from then on
//! ([`DisplacedRows`]).

use std::sync::Arc;

use super::{
    Counts, DisplacedRows, Divided, DivisibleTable, Division, PartialClass, PartialSearch, Place, Removed, SplitRows,
    TailQuery, TooLarge,
};
use crate::algorithm::InParts;
use crate::control::Control;
use crate::search::{Found, SearchError};

/// A part that nothing was decided about yet.
struct Open {
    part: u32,
    place: Arc<Place>,
    combinations: u64,
    displaced: Vec<DisplacedRows>,
}

/// What became of a part that was divided.
struct Sides {
    divided: Divided,
    opens: Vec<Open>,
}

/// Runs an algorithm that knows parts; at most `most` combinations are gathered at a time. `top` is the table rolled up
/// to one tuple.
pub(super) fn search<R: DivisibleTable>(
    remote: &R,
    algorithm: InParts,
    top: &R::Gathered,
    most: u64,
    control: &Control<'_>,
    refused: impl Fn(String) -> TooLarge,
) -> Result<(R::Gathered, Found), R::Error> {
    let unsupported = |error: SearchError| -> R::Error {
        match error {
            SearchError::Unsupported(why) => refused(why).into(),
            other => other.into(),
        }
    };
    let search = remote.search(top)?;
    let pieces = PartialSearch::new(&search, algorithm).map_err(unsupported)?;
    remote.begin(&pieces)?;
    let mut open = vec![Open { part: 0, place: pieces.root(), combinations: u64::MAX, displaced: Vec::new() }];
    let mut next = 1;
    let mut classes: Vec<PartialClass> = Vec::new();
    let mut dealt: Vec<SplitRows> = Vec::new();
    while !open.is_empty() {
        control.checkpoint()?;
        let parts: Vec<u32> = open.iter().map(|o| o.part).collect();
        let summaries = remote.summaries(&pieces, &parts)?;
        let mut sides = Vec::new();
        for (of, mut summary) in open.into_iter().zip(summaries) {
            of.displaced.iter().for_each(|moved| pieces.add_displaced(&mut summary, moved));
            let Some(division) = pieces.divide(&summary, &of.place) else {
                let class = classes.len() as u32;
                let (first, counts) = with_displaced(remote.place_whole(&pieces, of.part, class)?, &of.displaced);
                classes.push(pieces.leaf(&summary, &of.place, first, counts).map_err(unsupported)?);
                dealt.extend(of.displaced.into_iter().map(|DisplacedRows { codes, sensitive, rows }| SplitRows {
                    codes,
                    sensitive,
                    runs: vec![(class, rows)],
                }));
                continue;
            };
            sides.push(divided(of, division, &mut next));
        }
        let gone = pulled(remote, &pieces, &mut sides)?;
        let (divided, opens): (Vec<Divided>, Vec<Vec<Open>>) =
            sides.into_iter().map(|side| (side.divided, side.opens)).unzip();
        if !divided.is_empty() {
            remote.divide(&pieces, &divided, &gone)?;
        }
        let (small, large): (Vec<Open>, Vec<Open>) = opens.into_iter().flatten().partition(|o| o.combinations <= most);
        for batch in batches(&small, most) {
            control.checkpoint()?;
            let parts: Vec<u32> = batch.iter().map(|o| o.part).collect();
            let (mut tuples, mut of_tuple) = (Vec::new(), Vec::new());
            for (of, set) in batch.iter().zip(remote.gather_parts(&pieces, &parts)?) {
                let finished = pieces.finish(&set, &of.displaced, &of.place)?;
                let before = classes.len() as u32;
                tuples.extend(finished.tuples);
                of_tuple.extend(finished.of_tuple.into_iter().map(|class| before + class));
                dealt.extend(finished.dealt.into_iter().map(|mut of| {
                    of.runs.iter_mut().for_each(|run| run.0 += before);
                    of
                }));
                classes.extend(finished.pieces);
            }
            remote.place(&pieces, &tuples, &of_tuple)?;
        }
        open = large;
    }
    let assembled = pieces.assemble(&classes)?;
    let dealt = assembled.dealt(&SplitRows::combined(dealt));
    let gathered = remote.gather_classes(&pieces, &classes, &assembled, dealt)?;
    let recoding = assembled.recoding(remote.search(&gathered)?.set, &classes);
    Ok((
        gathered,
        Found { recoding, coding: None, optimal: false, gap: None, least_loss: None, notes: assembled.notes },
    ))
}

/// The parts that a part becomes, before rows are pulled out of some. Displaced rows go where their code goes.
fn divided(of: Open, division: Division, next: &mut u32) -> Sides {
    let first = *next;
    *next += division.combinations.len() as u32;
    let open = |(side, &combinations): (u32, &u64)| {
        let place = division.place(&of.place, side);
        Open { part: first + side, place, combinations, displaced: Vec::new() }
    };
    let mut opens: Vec<Open> = (0..).zip(&division.combinations).map(open).collect();
    for moved in of.displaced {
        let side = moved.codes.get(division.column).and_then(|&code| division.side(code)).unwrap_or_default();
        opens[side as usize].displaced.push(moved);
    }
    Sides { divided: Divided { part: of.part, division, first }, opens }
}

/// Pulls rows out of the sides of parts; what leaves the engine for that.
fn pulled<R: DivisibleTable>(
    remote: &R,
    pieces: &PartialSearch<'_>,
    sides: &mut [Sides],
) -> Result<Vec<Removed>, R::Error> {
    let mut asked = Vec::new();
    for Divided { part, division, .. } in sides.iter().map(|s| &s.divided) {
        for pulled in &division.pulled {
            let codes = division.sides.iter().filter(|(_, side)| *side == pulled.side).map(|(code, _)| *code);
            asked.push(TailQuery {
                part: *part,
                column: division.column,
                codes: codes.collect(),
                sensitive: pulled.sensitive,
                most: pulled.looked_at(),
            });
        }
    }
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    let mut found = remote.last(pieces, &asked)?.into_iter();
    let mut gone = Vec::new();
    for Sides { divided: Divided { part, division, .. }, opens } in sides {
        let Some(rest) = division.rest() else { continue };
        for pulled in &division.pulled {
            let sensitive = pulled.sensitive;
            let displaced = std::mem::take(&mut opens[pulled.side as usize].displaced);
            let (own, others): (Vec<DisplacedRows>, Vec<DisplacedRows>) =
                displaced.into_iter().partition(|s| s.sensitive == sensitive);
            // Codes, rows, and whether they are here already.
            let mut last: Vec<(Vec<u32>, u64, bool)> = own.into_iter().map(|s| (s.codes, s.rows, true)).collect();
            last.extend(found.next().unwrap_or_default().into_iter().map(|(codes, rows)| (codes, rows, false)));
            last.sort_unstable_by(|a, b| b.0.cmp(&a.0));
            let taken = pulled.taken(last.iter().map(|l| l.1)).into_iter().chain(std::iter::repeat(0));
            let (mut stay, mut leave) = (others, Vec::new());
            for ((codes, rows, here), taken) in last.into_iter().zip(taken) {
                if taken > 0 && !here {
                    gone.push(Removed { part: *part, codes: codes.clone(), sensitive });
                }
                if rows > taken && (here || taken > 0) {
                    stay.push(DisplacedRows { codes: codes.clone(), sensitive, rows: rows - taken });
                }
                if taken > 0 {
                    leave.push(DisplacedRows { codes, sensitive, rows: taken });
                }
            }
            opens[pulled.side as usize].displaced = stay;
            opens[rest as usize].displaced.extend(leave);
        }
    }
    Ok(gone)
}

/// A tuple of a class and its counts, with the rows that were not with the others.
fn with_displaced((mut first, mut counts): (Vec<u32>, Counts), displaced: &[DisplacedRows]) -> (Vec<u32>, Counts) {
    for moved in displaced {
        match counts.binary_search_by_key(&moved.sensitive, |c| c.0) {
            Ok(at) => counts[at].1 += moved.rows,
            Err(at) => counts.insert(at, (moved.sensitive, moved.rows)),
        }
        if first.is_empty() {
            first.clone_from(&moved.codes);
        }
    }
    (first, counts)
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
