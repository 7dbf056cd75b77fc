//! Exchanging rows between classes of one signature, to lose less information.
//!
//! Classes of one signature have one row of each of its values, so two of them may exchange their rows of a value and
//! stay what they are: signatures, counterfeits and the sizes of classes do not change, only the cells. Cutting a bucket
//! in halves looks at one column at a time; exchanging looks at whole rows.
//!
//! Classes that were cut from each other last are neighbours, so each class is compared with those that follow it within
//! a window. Every exchange lowers the sum of the losses, so the passes end; [`PASSES`] bounds them. Deterministic: the
//! order of classes decides, not chance.

use crate::local::shape::Space;

/// A row, or nobody.
pub(super) type Member = Option<u32>;

/// The most following classes that a class is compared with, and the fewest.
const WINDOW: (usize, usize) = (4, 32);

/// About as many comparisons are made in a pass over many classes.
const COMPARISONS: usize = 1 << 20;

/// The most passes over all classes.
const PASSES: usize = 16;

/// A pass that gains less than this share of the loss is the last.
const LEAST_GAIN: f64 = 0.001;

/// Exchanges members between the classes of one signature, each of which has one member of every value. `codes` tells the
/// quasi codes of a row.
pub(super) fn regroup<'r>(space: &Space, codes: impl Fn(u32) -> &'r [u32], classes: &mut [Vec<Member>]) {
    let window = (COMPARISONS / classes.len().max(1)).clamp(WINDOW.0, WINDOW.1);
    let mut exchange = Exchange { space, codes, shape: vec![0; space.words()] };
    let mut losses: Vec<f64> = classes.iter().map(|class| exchange.loss(class)).collect();
    for _ in 0..PASSES {
        let before: f64 = losses.iter().sum();
        for a in 0..classes.len() {
            for b in a + 1..classes.len().min(a + 1 + window) {
                let (head, tail) = classes.split_at_mut(b);
                (losses[a], losses[b]) = exchange.improve(&mut head[a], &mut tail[0], (losses[a], losses[b]));
            }
        }
        if before - losses.iter().sum::<f64>() <= before * LEAST_GAIN {
            return;
        }
    }
}

struct Exchange<'s, F> {
    space: &'s Space,
    codes: F,
    shape: Vec<u64>,
}

impl<'r, F: Fn(u32) -> &'r [u32]> Exchange<'_, F> {
    /// What a class costs its rows together.
    fn loss(&mut self, class: &[Member]) -> f64 {
        self.loss_with(class, usize::MAX, None)
    }

    /// The same with another member of the value at `place`.
    fn loss_with(&mut self, class: &[Member], place: usize, other: Member) -> f64 {
        let mut rows = 0u32;
        for (at, member) in class.iter().enumerate() {
            let Some(row) = (if at == place { other } else { *member }) else { continue };
            let codes = (self.codes)(row);
            match rows {
                0 => self.space.start(&mut self.shape, codes),
                _ => self.space.add(&mut self.shape, codes),
            }
            rows += 1;
        }
        if rows == 0 { 0.0 } else { self.space.cost(&self.shape) * f64::from(rows) }
    }

    /// Exchanges members of two classes, value by value, where that lowers their losses. Returns the losses.
    fn improve(&mut self, a: &mut [Member], b: &mut [Member], losses: (f64, f64)) -> (f64, f64) {
        let (mut left, mut right) = losses;
        for place in 0..a.len().min(b.len()) {
            if left + right <= 0.0 {
                break;
            }
            let with_a = self.loss_with(a, place, b[place]);
            // A sum that is already as large cannot become smaller.
            if with_a >= left + right {
                continue;
            }
            let with_b = self.loss_with(b, place, a[place]);
            if with_a + with_b < (left + right) * (1.0 - 1e-9) {
                std::mem::swap(&mut a[place], &mut b[place]);
                (left, right) = (with_a, with_b);
            }
        }
        (left, right)
    }
}
