//! Rows that were never published, dealt out to the classes of several signatures at once.
//!
//! How many classes of each signature there are follows from numbers alone (see `m_invariant`); which of the new rows
//! of a value goes to which of them is open. Rows are therefore cut together: in halves along the column that leaves
//! the least loss, each half with half of the classes of every signature, until a class is left. So a class takes its
//! rows from one neighbourhood, where cutting each signature's rows by themselves would take them from everywhere.

use crate::local::shape::Space;

use super::regroup::{Member, SignedClass};

/// Classes of a signature that are to be made.
#[derive(Debug, Clone)]
pub(super) struct SignatureDemand {
    /// The values of the signature, ascending.
    pub signature: usize,
    /// How many classes.
    pub classes: usize,
    /// For each value of the signature, how many of the classes have a counterfeit in its place.
    pub counterfeits: Vec<usize>,
}

/// Rows with the classes that they are for.
struct DemandedRows {
    wanted: Vec<SignatureDemand>,
    /// The rows of each value.
    rows: Vec<Vec<u32>>,
}

/// Deals rows out.
pub(super) struct SignatureAssigner<'a, F> {
    pub space: &'a Space,
    /// The quasi codes of a row.
    pub codes: F,
    /// All signatures.
    pub signatures: &'a [Vec<u32>],
}

impl<'r, F: Fn(u32) -> &'r [u32]> SignatureAssigner<'_, F> {
    /// The classes that are wanted, of rows by value, of which there are as many as the classes have places.
    pub fn deal(&self, wanted: Vec<SignatureDemand>, rows: Vec<Vec<u32>>) -> Vec<SignedClass> {
        let mut classes = Vec::new();
        self.divide(DemandedRows { wanted, rows }, &mut classes);
        classes
    }

    fn divide(&self, part: DemandedRows, classes: &mut Vec<SignedClass>) {
        let total: usize = part.wanted.iter().map(|w| w.classes).sum();
        if total <= 1 {
            for wanted in part.wanted.iter().filter(|w| w.classes > 0) {
                let member = |value: &u32| part.rows[*value as usize].first().copied();
                let members: Vec<Member> = self.signatures[wanted.signature].iter().map(member).collect();
                classes.push(SignedClass { signature: wanted.signature, members });
            }
            return;
        }
        let (low, high) = halves(&part.wanted);
        let mut places = vec![0; part.rows.len()];
        for wanted in &low {
            for (&value, counterfeits) in self.signatures[wanted.signature].iter().zip(&wanted.counterfeits) {
                places[value as usize] += wanted.classes - counterfeits;
            }
        }
        let mut best: Option<(f64, [Vec<Vec<u32>>; 2])> = None;
        for column in 0..self.space.width().max(1) {
            let cut = self.cut(&part.rows, &places, column);
            let loss: f64 = cut.iter().map(|rows| self.loss(rows)).sum();
            if best.as_ref().is_none_or(|(least, _)| loss < *least) {
                best = Some((loss, cut));
            }
        }
        drop(part);
        if let Some((_, [below, above])) = best {
            self.divide(DemandedRows { wanted: low, rows: below }, classes);
            self.divide(DemandedRows { wanted: high, rows: above }, classes);
        }
    }

    /// Of each value the first rows in the order of a column, as many as there are places, and the others.
    fn cut(&self, rows: &[Vec<u32>], places: &[usize], column: usize) -> [Vec<Vec<u32>>; 2] {
        let place = |row: u32| {
            let code = (self.codes)(row).get(column).copied();
            let place = code.and_then(|code| self.space.places.get(column)?.get(code as usize).copied());
            place.unwrap_or(f64::INFINITY)
        };
        let (mut low, mut high) = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
        for (rows, &places) in rows.iter().zip(places) {
            let mut sorted = rows.clone();
            sorted.sort_by(|&a, &b| place(a).total_cmp(&place(b)).then(a.cmp(&b)));
            high.push(sorted.split_off(places.min(sorted.len())));
            low.push(sorted);
        }
        [low, high]
    }

    fn loss(&self, rows: &[Vec<u32>]) -> f64 {
        let mut shape = self.space.empty();
        let mut count = 0usize;
        for &row in rows.iter().flatten() {
            match count {
                0 => self.space.start(&mut shape, (self.codes)(row)),
                _ => self.space.add(&mut shape, (self.codes)(row)),
            }
            count += 1;
        }
        if count == 0 { 0.0 } else { self.space.cost(&shape) * count as f64 }
    }
}

/// Half of the classes of every signature, and the others; odd ones take turns.
fn halves(wanted: &[SignatureDemand]) -> (Vec<SignatureDemand>, Vec<SignatureDemand>) {
    let (mut low, mut high) = (Vec::new(), Vec::new());
    let mut seen = 0;
    for all in wanted {
        let below = (seen + all.classes) / 2 - seen / 2;
        seen += all.classes;
        let above = all.classes - below;
        // A half has no more counterfeits than classes, and leaves no more than the other has classes.
        let counterfeits = |n: &usize| (n * below / all.classes.max(1)).max(n.saturating_sub(above)).min(below);
        let own: Vec<usize> = all.counterfeits.iter().map(counterfeits).collect();
        let others = all.counterfeits.iter().zip(&own).map(|(all, own)| all - own).collect();
        low.push(SignatureDemand { signature: all.signature, classes: below, counterfeits: own });
        high.push(SignatureDemand { signature: all.signature, classes: above, counterfeits: others });
    }
    low.retain(|w| w.classes > 0);
    high.retain(|w| w.classes > 0);
    (low, high)
}
