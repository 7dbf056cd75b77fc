//! Exchanging rows between classes, to lose less information.
//!
//! A class has one row of each value of its signature. So the rows of one value may be dealt out anew among classes
//! that have the value, and signatures, counterfeits and the sizes of classes stay what they are; only the cells
//! change. Rows that were published before stay with their signature; rows that never were may go to any class that has
//! their value.
//!
//! With all other rows in their places, the cheapest way to deal out the rows of a value is an assignment, which is
//! solved exactly (see `assignment`). It is solved for value after value, among neighbouring classes: as many as can be
//! afforded. Neighbourhoods are drawn otherwise in every pass, so that no border lasts. No step raises the sum of the
//! losses. Deterministic: neighbourhoods come from a fixed seed and lie apart, so that threads do not matter.

use rayon::prelude::*;

use super::assignment::cheapest;
use crate::local::shape::{Shape, ShapeWord, Space};
use crate::random::Random;

/// A row; `None` for a counterfeit.
pub(super) type Member = Option<u32>;

/// A class of an m-invariant version.
#[derive(Debug, Clone, Default)]
pub(super) struct SignedClass {
    /// Its signature, by number.
    pub signature: usize,
    /// The row of each value of the signature.
    pub members: Vec<Member>,
}

/// The fewest and the most classes among which the rows of a value are dealt out.
const GROUP: (usize, usize) = (12, 48);

/// About as many rows are tried in classes in one pass.
const TRIALS: usize = 1 << 21;

/// The most passes over all classes.
const PASSES: usize = 10;

/// A pass that gains less than this share of the loss is the last.
const LEAST_GAIN: f64 = 0.002;

/// Where the drawing of neighbourhoods starts.
const DRAWING: u64 = 2023;

/// What classes consist of.
pub(super) struct Regroup<'a, C, B> {
    pub space: &'a Space,
    /// All signatures.
    pub signatures: &'a [Vec<u32>],
    /// The quasi codes of a row.
    pub codes: C,
    /// Whether a row was published before.
    pub bound: B,
}

impl<'r, C: Fn(u32) -> &'r [u32] + Sync, B: Fn(u32) -> bool + Sync> Regroup<'_, C, B> {
    /// Exchanges rows between classes.
    pub fn improve(&self, classes: &mut [SignedClass]) {
        let rows: usize = classes.iter().map(|class| class.members.len()).sum();
        let group = (TRIALS / rows.max(1)).clamp(GROUP.0, GROUP.1);
        let mut random = Random::new(DRAWING);
        let is_free = |class: &SignedClass| class.members.iter().flatten().any(|&row| !(self.bound)(row));
        let free = classes.iter().any(is_free);
        let bound = classes.iter().any(|class| class.members.iter().flatten().any(|&row| (self.bound)(row)));
        let mut loss = self.loss(classes);
        for _ in 0..PASSES {
            if bound || classes.iter().any(|class| class.members.contains(&None)) {
                self.within(classes, group, &mut random);
            }
            if free {
                self.across(classes, group, &mut random);
            }
            let now = self.loss(classes);
            if loss - now <= loss * LEAST_GAIN {
                return;
            }
            loss = now;
        }
    }

    fn loss(&self, classes: &[SignedClass]) -> f64 {
        classes.par_iter().map(|class| self.loss_of(class)).collect::<Vec<f64>>().into_iter().sum()
    }

    /// What a class costs its rows together.
    fn loss_of(&self, class: &SignedClass) -> f64 {
        let mut shape = self.space.empty();
        let rows = self.shape_without(class, usize::MAX, &mut shape);
        if rows == 0 { 0.0 } else { self.space.cost(&shape) * rows as f64 }
    }

    /// The shape of all members but one, and how many they are.
    fn shape_without(&self, class: &SignedClass, place: usize, shape: &mut Shape) -> usize {
        let mut rows = 0;
        for (at, member) in class.members.iter().enumerate() {
            let Some(row) = member.filter(|_| at != place) else { continue };
            match rows {
                0 => {
                    shape.fill(ShapeWord::default());
                    self.space.start(shape, (self.codes)(row));
                }
                _ => self.space.add(shape, (self.codes)(row)),
            }
            rows += 1;
        }
        rows
    }

    /// All members of a value, among classes of one signature.
    fn within(&self, classes: &mut [SignedClass], group: usize, random: &mut Random) {
        let mut of_signature: Vec<Vec<usize>> = vec![Vec::new(); self.signatures.len()];
        for (at, class) in classes.iter().enumerate() {
            of_signature[class.signature].push(at);
        }
        let centres = self.centres(classes);
        let mut blocks = Vec::new();
        for own in of_signature.into_iter().filter(|own| own.len() > 1) {
            draw(own, group, &centres, random, &mut blocks);
        }
        let width = |class: &SignedClass| class.members.len();
        self.in_blocks(classes, blocks, |block| {
            for place in 0..block.first().map_or(0, width) {
                // The only row of a class stays: a class must not consist of counterfeits alone.
                let others = |class: &SignedClass| {
                    class.members.iter().enumerate().any(|(at, member)| at != place && member.is_some())
                };
                let own: Vec<(usize, usize)> =
                    (0..block.len()).filter(|&at| others(&block[at])).map(|at| (at, place)).collect();
                self.deal(block, &own);
            }
        });
    }

    /// Rows that were never published, among classes of any signature that has their value.
    fn across(&self, classes: &mut [SignedClass], group: usize, random: &mut Random) {
        let mut values: Vec<u32> = self.signatures.iter().flatten().copied().collect();
        values.sort_unstable();
        values.dedup();
        let places: usize = classes.iter().map(|class| class.members.len()).sum();
        // A value is in this share of the classes.
        let size = group * values.len() * classes.len() / places.max(1);
        let mut blocks = Vec::new();
        draw((0..classes.len()).collect(), size.max(2), &self.centres(classes), random, &mut blocks);
        self.in_blocks(classes, blocks, |block| {
            for value in &values {
                let mut own = Vec::new();
                for (at, class) in block.iter().enumerate() {
                    let Ok(place) = self.signatures[class.signature].binary_search(value) else { continue };
                    if class.members[place].is_some_and(|row| !(self.bound)(row)) {
                        own.push((at, place));
                    }
                }
                own.chunks(2 * group).for_each(|own| self.deal(block, own));
            }
        });
    }

    /// Does something to blocks of classes, which have no class in common.
    fn in_blocks(
        &self,
        classes: &mut [SignedClass],
        blocks: Vec<Vec<usize>>,
        work: impl Fn(&mut [SignedClass]) + Sync,
    ) {
        let mut taken: Vec<Vec<SignedClass>> =
            blocks.iter().map(|block| block.iter().map(|&at| std::mem::take(&mut classes[at])).collect()).collect();
        taken.par_iter_mut().for_each(|block| work(block));
        for (block, own) in blocks.iter().zip(taken) {
            block.iter().zip(own).for_each(|(&at, class)| classes[at] = class);
        }
    }

    /// Deals the members at these places (class, place) out anew, where that lowers the loss.
    fn deal(&self, classes: &mut [SignedClass], places: &[(usize, usize)]) {
        if places.len() < 2 {
            return;
        }
        let members: Vec<Member> = places.iter().map(|&(class, place)| classes[class].members[place]).collect();
        let many = places.len();
        let mut costs = vec![0.0; many * many];
        let mut shape = self.space.empty();
        for (own, &(class, place)) in costs.chunks_mut(many).zip(places) {
            let others = self.shape_without(&classes[class], place, &mut shape);
            for (cost, member) in own.iter_mut().zip(&members) {
                *cost = match (member, others) {
                    (_, 0) => 0.0,
                    (None, others) => self.space.cost(&shape) * others as f64,
                    (Some(row), others) => self.space.cost_with(&shape, (self.codes)(*row)) * (others + 1) as f64,
                };
            }
        }
        let before: f64 = (0..many).map(|at| costs[at * many + at]).sum();
        // No way to deal them out costs less than what each class would pay for the member that it likes best.
        let least: f64 = costs.chunks(many).map(|own| own.iter().copied().fold(f64::INFINITY, f64::min)).sum();
        if before <= least * (1.0 + 1e-9) {
            return;
        }
        let (chosen, sum) = cheapest(many, many, |at, own| own.copy_from_slice(&costs[at * many..][..many]));
        if sum < before * (1.0 - 1e-9) {
            for (&(class, place), &from) in places.iter().zip(&chosen) {
                classes[class].members[place] = members[from];
            }
        }
    }

    /// Where the middle of each class lies, column by column.
    fn centres(&self, classes: &[SignedClass]) -> Vec<Vec<f64>> {
        let centre = |class: &SignedClass| {
            let mut sums = vec![0.0; self.space.width()];
            let rows = class.members.iter().flatten();
            let mut many = 0.0;
            for &row in rows {
                many += 1.0;
                for ((sum, &code), places) in sums.iter_mut().zip((self.codes)(row)).zip(&self.space.places) {
                    *sum += places.get(code as usize).copied().unwrap_or(0.0);
                }
            }
            sums.iter_mut().for_each(|sum| *sum /= f64::max(many, 1.0));
            sums
        };
        classes.par_iter().map(centre).collect()
    }
}

/// Cuts classes into neighbourhoods of at most `size`: in halves, each time along the column in which they lie farthest
/// apart, by a measure that is drawn anew for every pass.
fn draw(classes: Vec<usize>, size: usize, centres: &[Vec<f64>], random: &mut Random, blocks: &mut Vec<Vec<usize>>) {
    let width = centres.first().map_or(0, Vec::len);
    let weights: Vec<f64> = (0..width).map(|_| 0.25 + random.share()).collect();
    let mut open = vec![classes];
    while let Some(mut own) = open.pop() {
        if own.len() <= size || width == 0 {
            // Without columns every class is like every other.
            blocks.extend(own.chunks(size.max(1)).map(<[usize]>::to_vec));
            continue;
        }
        let spread = |column: usize| {
            let places = || own.iter().map(|&at| centres[at][column]);
            (places().fold(f64::NEG_INFINITY, f64::max) - places().fold(f64::INFINITY, f64::min)) * weights[column]
        };
        let column = (0..width).max_by(|&a, &b| spread(a).total_cmp(&spread(b))).unwrap_or(0);
        own.sort_by(|&a, &b| centres[a][column].total_cmp(&centres[b][column]).then(a.cmp(&b)));
        let rest = own.split_off(own.len() / 2);
        open.push(rest);
        open.push(own);
    }
}
