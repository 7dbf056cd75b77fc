//! One value for every class and column that stands for all of its rows.
//!
//! A value that few people of the table have would tell that one of them is here, so only values count that at least k
//! rows of the table have as the policy's k says. Of those a class offers what is typical of it: in a column that has
//! an order the values between its quartiles, elsewhere the values that at least two of its rows have, or the most
//! frequent one. Where it offers none, a round number or day near its median stands for it that nobody has (`middle`),
//! and where there is none of those either the cell stays as it is generalized.
//!
//! Which of several typical values a class gets is chosen so that pairs of columns stay as frequent as they were:
//! always the most frequent value would make frequent values more frequent than they are. Sweeps over the classes
//! change one cell at a time for as long as Σ|difference| over all pairs falls.

use std::ops::RangeInclusive;

use amidst_core::hierarchy::{Generalization, Generalize};
use amidst_core::recoding::Recoding;
use amidst_core::table::ValueType;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::middle::Values;
use crate::prepare::Prepared;

/// Sweeps over all classes.
const SWEEPS: usize = 4;

/// Pairs of cells up to which sweeps are made; above, the first choice stays.
const MOST_PAIRS: u64 = 400_000_000;

/// A class in one column: the members' codes in ascending order with their rows.
type Class<'a> = &'a [(u32, u32, u64)];

/// The rows of every value of a column, and of every value of a class: class, code and rows, in ascending order.
struct Members {
    counts: Vec<u64>,
    members: Vec<(u32, u32, u64)>,
}

impl Members {
    fn of(prepared: &Prepared, recoding: &Recoding, column: usize) -> Self {
        let set = &prepared.set;
        let mut counts = vec![0u64; prepared.generalizations[column].levels[0].of.len()];
        let mut members: Vec<(u32, u32, u64)> = Vec::new();
        recoding.for_each_part(set, |part| {
            let code = set.tuple(part.tuple.index())[column];
            counts[code as usize] += part.entry.rows;
            if let Some(class) = part.class {
                members.push((class.0, code, part.entry.rows));
            }
        });
        members.sort_unstable();
        Members { counts, members }
    }
}

/// What a class offers in a column, its first choice first; nothing where the cell stays generalized.
type Offers = Vec<u32>;

/// The representative of every class, column by column; nothing where the cell stays as it is. `least` rows of the
/// table must have a value.
pub(super) fn representatives(prepared: &Prepared, recoding: &Recoding, least: u64) -> Vec<Vec<Option<String>>> {
    let columns: Vec<Vec<Offers>> = (0..prepared.generalizations.len())
        .into_par_iter()
        .map(|column| offers(prepared, recoding, column, least))
        .collect();
    let mut chosen: Vec<Vec<Option<u32>>> =
        columns.iter().map(|offers| offers.iter().map(|offer| offer.first().copied()).collect()).collect();
    balance(prepared, recoding, &columns, &mut chosen);
    (chosen.into_par_iter().enumerate())
        .map(|(column, chosen)| {
            let g = &prepared.generalizations[column];
            let mut texts: Vec<Option<String>> =
                chosen.iter().map(|code| code.map(|code| value(g, code).to_string())).collect();
            if texts.iter().any(Option::is_none) {
                stand_ins(prepared, recoding, column, least, &mut texts);
            }
            texts
        })
        .collect()
}

/// The value of a code, as it is at the lowest level.
fn value(g: &Generalization, code: u32) -> &str {
    let level = &g.levels[0];
    level.of.get(code as usize).and_then(|&at| level.labels.get(at as usize)).map_or("", String::as_str)
}

/// Gives classes without a representative a round number or day in their middle, or else a value of theirs that enough
/// rows have, though it be far from their median.
fn stand_ins(prepared: &Prepared, recoding: &Recoding, column: usize, least: u64, texts: &mut [Option<String>]) {
    let g = &prepared.generalizations[column];
    if !ordered(g) {
        return;
    }
    let Members { counts, members } = Members::of(prepared, recoding, column);
    let rows = (0..).zip(&counts).map(|(code, &rows)| (value(g, code), rows)).filter(|(_, rows)| *rows > 0);
    let values = Values::of(g.kind, rows);
    for class in members.chunk_by(|a, b| a.0 == b.0) {
        let at = class[0].0;
        let text = &mut texts[at as usize];
        if text.is_none() && recoding.masked != Some(at) {
            let of_class = class.iter().map(|&(_, code, rows)| (value(g, code), rows));
            let round = values.as_ref().and_then(|values| values.middle(of_class, least));
            *text = round.or_else(|| median(class, &counts, least).map(|code| value(g, code).to_string()));
        }
    }
}

/// Whether the values of a column stand in an order.
fn ordered(g: &Generalization) -> bool {
    g.numeric || g.kind == ValueType::Date || g.generalize == Generalize::Ranges
}

/// What each class offers in a column.
fn offers(prepared: &Prepared, recoding: &Recoding, column: usize, least: u64) -> Vec<Offers> {
    let g = &prepared.generalizations[column];
    let Members { counts, members } = Members::of(prepared, recoding, column);
    let mut offers = vec![Offers::new(); recoding.classes.len()];
    for class in members.chunk_by(|a, b| a.0 == b.0) {
        let at = class[0].0;
        if recoding.masked != Some(at) {
            offers[at as usize] = offered(class, &counts, least, ordered(g));
        }
    }
    offers
}

/// The first choice of a class, and what else is typical of it.
fn offered(class: Class<'_>, counts: &[u64], least: u64, ordered: bool) -> Offers {
    let inner = inner(class);
    let first = match (ordered, inner.first(), inner.last()) {
        (true, Some(&low), Some(&high)) => nearest_to_median(class, low..=high, counts, least),
        (true, ..) => None,
        (false, ..) => mode(class, counts, least),
    };
    let Some(first) = first else { return Offers::new() };
    let mut offers = vec![first];
    for same in class.chunk_by(|a, b| a.1 == b.1) {
        let (code, held) = (same[0].1, same.iter().map(|m| m.2).sum::<u64>());
        let common = counts.get(code as usize).is_some_and(|&n| n >= least);
        if code != first && common && if ordered { inner.contains(&code) } else { held >= 2 } {
            offers.push(code);
        }
    }
    offers
}

/// The codes of a class between its quartiles, in ascending order.
fn inner(class: Class<'_>) -> Vec<u32> {
    let rows: u64 = class.iter().map(|m| m.2).sum();
    let mut below = 0;
    let mut inner = Vec::new();
    for same in class.chunk_by(|a, b| a.1 == b.1) {
        let held = same.iter().map(|m| m.2).sum::<u64>();
        if (below + held) * 4 > rows && below * 4 < rows * 3 {
            inner.push(same[0].1);
        }
        below += held;
    }
    inner
}

/// The value nearest to the median of a class that enough rows of the table have, from its least to its greatest value.
fn median(class: Class<'_>, counts: &[u64], least: u64) -> Option<u32> {
    nearest_to_median(class, class.first()?.1..=class.last()?.1, counts, least)
}

/// The same, from among some codes.
fn nearest_to_median(class: Class<'_>, codes: RangeInclusive<u32>, counts: &[u64], least: u64) -> Option<u32> {
    let rows: u64 = class.iter().map(|m| m.2).sum();
    let mut below = 0;
    let middle = class.iter().find(|m| {
        below += m.2;
        below * 2 >= rows
    })?;
    let common = |code: &u32| counts.get(*code as usize).is_some_and(|&n| n >= least);
    codes.filter(common).min_by_key(|&code| (code.abs_diff(middle.1), code))
}

/// The most frequent value of a class among those that enough rows of the table have; of several the most frequent
/// there.
fn mode(class: Class<'_>, counts: &[u64], least: u64) -> Option<u32> {
    let values = class.chunk_by(|a, b| a.1 == b.1).map(|same| (same[0].1, same.iter().map(|m| m.2).sum::<u64>()));
    let common = values.filter(|&(code, _)| counts.get(code as usize).is_some_and(|&n| n >= least));
    let best = common.max_by_key(|&(code, rows)| (rows, counts.get(code as usize).copied(), std::cmp::Reverse(code)));
    best.map(|(code, _)| code)
}

/// How many rows too few have each pair of values: columns and codes.
struct Missing {
    width: usize,
    rows: FxHashMap<(u32, u32, u32), i64>,
}

impl Missing {
    /// The place of a pair, the column that comes first first.
    fn key(&self, (a, u): (usize, u32), (b, v): (usize, u32)) -> (u32, u32, u32) {
        if a < b { ((a * self.width + b) as u32, u, v) } else { ((b * self.width + a) as u32, v, u) }
    }

    fn add(&mut self, one: (usize, u32), other: (usize, u32), rows: i64) {
        let key = self.key(one, other);
        *self.rows.entry(key).or_default() += rows;
    }

    /// By how much the difference shrinks when this number of rows gets a pair that they lack.
    fn gain(&self, one: (usize, u32), other: (usize, u32), rows: i64) -> i64 {
        let missing = self.rows.get(&self.key(one, other)).copied().unwrap_or_default();
        missing.abs() - (missing - rows).abs()
    }
}

/// Chooses among what classes offer so that pairs of columns stay as frequent as they were.
fn balance(prepared: &Prepared, recoding: &Recoding, columns: &[Vec<Offers>], chosen: &mut [Vec<Option<u32>>]) {
    let (set, width) = (&prepared.set, columns.len());
    if (set.len() as u64).saturating_mul((width * width) as u64) > MOST_PAIRS {
        return;
    }
    let mut missing = Missing { width, rows: FxHashMap::default() };
    let mut size = vec![0i64; recoding.classes.len()];
    recoding.for_each_part(set, |part| {
        let Some(size) = part.class.and_then(|class| size.get_mut(class.index())) else { return };
        let (codes, rows) = (set.tuple(part.tuple.index()), part.entry.rows as i64);
        *size += rows;
        for a in 0..width {
            (0..a).for_each(|b| missing.add((a, codes[a]), (b, codes[b]), rows));
        }
    });
    let of = |chosen: &[Vec<Option<u32>>], class: usize| -> Vec<(usize, u32)> {
        chosen.iter().enumerate().filter_map(|(c, codes)| Some((c, codes[class]?))).collect()
    };
    for (class, &rows) in size.iter().enumerate() {
        let cells = of(chosen, class);
        for (i, &one) in cells.iter().enumerate() {
            cells[..i].iter().for_each(|&other| missing.add(one, other, -rows));
        }
    }
    for _ in 0..SWEEPS {
        let mut changed = false;
        for (class, &rows) in size.iter().enumerate() {
            for (column, offers) in columns.iter().enumerate().filter(|(_, offers)| offers[class].len() > 1) {
                let Some(now) = chosen[column][class] else { continue };
                let others: Vec<(usize, u32)> = of(chosen, class).into_iter().filter(|o| o.0 != column).collect();
                others.iter().for_each(|&other| missing.add((column, now), other, rows));
                let gain =
                    |code: u32| others.iter().map(|&other| missing.gain((column, code), other, rows)).sum::<i64>();
                let mut best = (gain(now), now);
                for &code in offers[class].iter().filter(|&&code| code != now) {
                    let gain = gain(code);
                    if gain > best.0 {
                        best = (gain, code);
                    }
                }
                others.iter().for_each(|&other| missing.add((column, best.1), other, -rows));
                changed |= best.1 != now;
                chosen[column][class] = Some(best.1);
            }
        }
        if !changed {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_values_that_many_have() {
        // Class 0 has codes 1, 4 and 9; of the table 4 is held by one row alone.
        let class = [(0, 1, 1), (0, 4, 1), (0, 9, 1)];
        let mut counts = vec![10; 10];
        assert_eq!(median(&class, &counts, 3), Some(4));
        counts[4] = 1;
        assert_eq!(median(&class, &counts, 3), Some(3));
        assert_eq!(median(&class, &[1; 10], 3), None);
        // Never beyond the class.
        let mut rare = vec![1; 10];
        rare[0] = 10;
        assert_eq!(median(&class, &rare, 3), None);
    }

    #[test]
    fn a_frequent_value_at_the_edge_of_a_class_is_not_typical_of_it() {
        let class = [(0, 10, 1), (0, 20, 1), (0, 21, 1), (0, 22, 1), (0, 23, 1), (0, 24, 1), (0, 90, 1)];
        let mut counts = vec![1; 100];
        counts[89] = 10;
        assert!(offered(&class, &counts, 3, true).is_empty());
        assert_eq!(median(&class, &counts, 3), Some(89));
        counts[23] = 10;
        assert_eq!(offered(&class, &counts, 3, true), [23]);
    }

    #[test]
    fn modes_are_values_that_many_have() {
        let class = [(0, 1, 2), (0, 4, 1), (0, 4, 3), (0, 9, 3)];
        let mut counts = vec![10; 10];
        assert_eq!(mode(&class, &counts, 3), Some(4));
        counts[4] = 2;
        assert_eq!(mode(&class, &counts, 3), Some(9));
        assert_eq!(mode(&class, &[2; 10], 3), None);
    }

    #[test]
    fn offers_are_typical_and_never_rare() {
        let class = [(0, 1, 2), (0, 4, 4), (0, 6, 1), (0, 9, 2)];
        assert_eq!(offered(&class, &[10; 10], 3, false), [4, 1, 9]);
        let mut counts = vec![10; 10];
        counts[9] = 2;
        assert_eq!(offered(&class, &counts, 3, false), [4, 1]);
        // Between the quartiles: of nine rows those from the third to the seventh.
        assert_eq!(offered(&class, &[10; 10], 3, true), [4, 6]);
    }
}
