//! Shapes without their large sets, whose values are counted instead.
//!
//! A set takes a bit of a shape for each value of its column, so that a shape for each value of another column takes
//! room in proportion to the product of the two. What a set costs follows from how many values it has, and that can be
//! counted for many shapes in one pass over the rows.

use super::axis::{Axis, Measure};
use super::space::Space;
use super::word::{Shape, ShapeWord};

/// Sets of more words than this are counted.
const LARGE: usize = 8;

/// A space that has a word that means nothing in place of each large set, with what the values of the sets cost.
#[derive(Debug)]
pub struct CountedSets {
    /// The space.
    pub space: Space,
    /// The columns of the large sets.
    pub columns: Vec<usize>,
    /// For each column that is counted, its place among them and what each value after the first costs.
    steps: Vec<Option<(usize, f64)>>,
}

impl CountedSets {
    /// None where no set is large.
    pub fn of(space: &Space) -> Option<Self> {
        CountedSets::above(space, LARGE)
    }

    /// The same for sets of more than so many words.
    pub(crate) fn above(space: &Space, words: usize) -> Option<Self> {
        let mut axes: Vec<Axis> = Vec::with_capacity(space.axes.len());
        let (mut columns, mut steps) = (Vec::new(), Vec::new());
        for (column, axis) in space.axes.iter().enumerate() {
            let own = axis.words.1 - axis.words.0;
            let (measure, own) = match &axis.measure {
                Measure::Set { step } if own > words => {
                    steps.push(Some((columns.len(), *step)));
                    columns.push(column);
                    (Measure::Range { place: Vec::new() }, 1)
                }
                measure => {
                    steps.push(None);
                    (measure.clone(), own)
                }
            };
            axes.push(Axis::placed(measure, own, axes.last()));
        }
        (!columns.is_empty()).then(|| CountedSets { space: space.with_axes(axes), columns, steps })
    }

    /// What a shape costs each row when the large sets, by their place among them, have so many values.
    pub fn cost(&self, shape: &Shape, values: impl Fn(usize) -> u32) -> f64 {
        self.sum(|axis| axis.cost(shape), values)
    }

    /// The same for two shapes together.
    pub fn cost_merged(&self, a: &Shape, b: &Shape, values: impl Fn(usize) -> u32) -> f64 {
        self.sum(|axis| axis.cost_merged(a, b), values)
    }

    /// Column by column as [`Space::cost`] does, so that the sums agree to the last bit.
    fn sum(&self, cost: impl Fn(&Axis) -> f64, values: impl Fn(usize) -> u32) -> f64 {
        let columns = self.space.axes.iter().zip(&self.steps);
        columns
            .map(|(axis, counted)| match *counted {
                Some((set, step)) => f64::from(values(set).saturating_sub(1)) * step,
                None => cost(axis),
            })
            .sum()
    }

    /// A shape of the whole space without its large sets.
    pub fn without_sets(&self, whole: &Space, shape: &Shape) -> Vec<ShapeWord> {
        let mut left = self.space.empty();
        for ((axis, own), counted) in whole.axes.iter().zip(&self.space.axes).zip(&self.steps) {
            if counted.is_none() {
                left[own.words.0..own.words.1].copy_from_slice(&shape[axis.words.0..axis.words.1]);
            }
        }
        left
    }
}
