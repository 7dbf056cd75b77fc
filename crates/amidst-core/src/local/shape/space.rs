//! The space of generalized tuples: how far the cells of a class must stretch, and what that costs.
//!
//! A *shape* is the tightest generalized tuple over some rows, in a few machine words: a range of codes, a node of the
//! hierarchy, or a set of codes per column, as the column asks. Shapes grow row by row and merge; what a shape costs a
//! row is the information loss of the specification (§3): ranges by coordinate, nodes of a numeric column by the
//! interval they cover, other nodes by their height, sets by their number of values; weighted.

use super::axis::{Axis, Measure, span};
use super::word::{Shape, ShapeWord};
use crate::hierarchy::{Cell, Generalization, Generalize};
use crate::metric::{self, CellCost};

/// The cost of every shape over some quasi columns.
#[derive(Debug, Clone)]
pub struct Space {
    pub(super) axes: Vec<Axis>,
    /// The top of each column's hierarchy.
    tops: Vec<Cell>,
    words: usize,
    /// For each column, where each code lies, scaled so that the whole column spans its weight. For neighbourhoods
    /// only: costs come from the shape.
    pub places: Vec<Vec<f64>>,
}

/// Farther than any place.
const BEYOND: f64 = 1e6;

/// How a column may be cut.
#[derive(Debug, Clone, Copy)]
pub enum Cuts<'a> {
    /// All rows have the same value.
    None,
    /// Between any two codes.
    Ordered {
        /// The lowest code.
        low: u32,
        /// The highest code.
        high: u32,
    },
    /// Into the nodes below the present one.
    Grouped {
        /// The node of each code.
        group: &'a [u32],
        /// The place of each code's node among those below the present one.
        rank: &'a [u32],
        /// How many nodes are below the present one.
        nodes: usize,
    },
}

/// Where each code lies for the sake of neighbourhoods: its coordinate, or its turn in a walk through the hierarchy.
fn places(g: &Generalization, weight: f64) -> Vec<f64> {
    let ranges = g.generalize == Generalize::Ranges;
    if ranges && !g.coordinates.is_sorted() {
        return (0..g.active()).map(|c| c as f64 / (g.active().max(2) - 1) as f64 * weight).collect();
    }
    if g.numeric || ranges || !g.has_hierarchy {
        let span = span(&g.coordinates);
        let low = g.coordinates.iter().copied().fold(f64::INFINITY, f64::min);
        return g.coordinates.iter().map(|x| if span > 0.0 { (x - low) / span * weight } else { 0.0 }).collect();
    }
    let mut order: Vec<u32> = (0..g.active() as u32).collect();
    order.sort_by_cached_key(|&c| g.levels.iter().rev().map(|l| l.of[c as usize]).collect::<Vec<u32>>());
    let mut places = vec![0.0; order.len()];
    for (turn, &code) in order.iter().enumerate() {
        places[code as usize] = turn as f64 / (order.len().max(2) - 1) as f64 * weight;
    }
    places
}

impl Space {
    /// The space of these columns. Weights are scaled so that their mean is 1.
    pub fn new(generalizations: &[Generalization]) -> Self {
        let weights = metric::column_weights(generalizations);
        let places: Vec<Vec<f64>> =
            generalizations.iter().zip(&weights).map(|(g, &weight)| places(g, weight)).collect();
        let mut axes: Vec<Axis> = Vec::with_capacity(generalizations.len());
        for ((g, &weight), places) in generalizations.iter().zip(&weights).zip(&places) {
            axes.push(Axis::new(g, weight, places, axes.last()));
        }
        let tops = generalizations.iter().map(|g| Cell::Node { level: g.height() as u32, value: 0 }).collect();
        Space { words: axes.last().map_or(0, |a| a.words.1), places, axes, tops }
    }

    /// The space of these columns with cells that cost what `cell` says; `None` where ranges or sets cost what no sum
    /// over their values tells.
    pub fn priced(generalizations: &[Generalization], cell: &CellCost<'_>) -> Option<Self> {
        let plain = Space::new(generalizations);
        let mut axes: Vec<Axis> = Vec::with_capacity(generalizations.len());
        for (column, (g, axis)) in generalizations.iter().zip(plain.axes).enumerate() {
            axes.push(axis.priced(g, &plain.places[column], |of| cell(column, g, of))?);
        }
        Some(Space { axes, ..plain })
    }

    /// The same columns measured in another way.
    pub(super) fn with_axes(&self, axes: Vec<Axis>) -> Self {
        let words = axes.last().map_or(0, |a| a.words.1);
        Space { axes, words, places: self.places.clone(), tops: self.tops.clone() }
    }

    /// The words of a shape.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Room for one shape, which [`Space::start`] or [`Space::import`] fills.
    pub fn empty(&self) -> Vec<ShapeWord> {
        vec![ShapeWord::default(); self.words]
    }

    /// The number of columns.
    pub fn width(&self) -> usize {
        self.axes.len()
    }

    /// The shape of one tuple.
    pub fn start(&self, shape: &mut Shape, codes: &[u32]) {
        self.axes.iter().zip(codes).for_each(|(a, &c)| a.start(shape, c));
    }

    /// Stretches a shape over one more tuple.
    pub fn add(&self, shape: &mut Shape, codes: &[u32]) {
        self.axes.iter().zip(codes).for_each(|(a, &c)| a.add(shape, c));
    }

    /// Stretches a shape over one more code of a column.
    pub fn stretch_column(&self, shape: &mut Shape, column: usize, code: u32) {
        self.axes[column].add(shape, code);
    }

    /// Stretches a shape over another.
    pub fn merge(&self, shape: &mut Shape, other: &Shape) {
        self.axes.iter().for_each(|a| a.merge(shape, other));
    }

    /// What a shape costs each row: the sum over the columns.
    pub fn cost(&self, shape: &Shape) -> f64 {
        self.axes.iter().map(|a| a.cost(shape)).sum()
    }

    /// What one column of a shape costs each row.
    pub fn column_cost(&self, shape: &Shape, column: usize) -> f64 {
        self.axes[column].cost(shape)
    }

    /// What the shape stretched over one more tuple costs each row.
    #[inline]
    pub fn cost_with(&self, shape: &Shape, codes: &[u32]) -> f64 {
        self.axes.iter().zip(codes).map(|(a, &c)| a.cost_with(shape, c)).sum()
    }

    /// As [`Space::cost_with`], or `None` when it is more than `most`: costs are not negative, so some columns may
    /// tell.
    #[inline]
    pub fn cost_with_up_to(&self, shape: &Shape, codes: &[u32], most: f64) -> Option<f64> {
        let mut with = 0.0;
        for (axis, &code) in self.axes.iter().zip(codes) {
            with += axis.cost_with(shape, code);
            if with > most {
                return None;
            }
        }
        Some(with)
    }

    /// How far a tuple is from the centre of some rows: from the mean of a column generalized to ranges, and by what
    /// the shape over all would cost in any other. `sums` are the sums of the rows' places.
    pub fn distance(&self, shape: &Shape, sums: &[f64], rows: f64, codes: &[u32]) -> f64 {
        let columns = self.axes.iter().zip(codes).zip(sums).zip(&self.places);
        columns
            .map(|(((axis, &code), sum), places)| match axis.measure {
                Measure::Range { .. } => (places[code as usize] - sum / rows).abs(),
                _ => axis.cost_with(shape, code),
            })
            .sum()
    }

    /// Shrinks a shape around the centre of its rows: a range to the values on both sides of the mean. Nothing within
    /// it is farther from a tuple than [`Space::distance`] says.
    pub fn centred(&self, shape: &mut Shape, sums: &[f64], rows: f64) {
        for ((axis, sum), places) in self.axes.iter().zip(sums).zip(&self.places) {
            if let Measure::Range { .. } = axis.measure {
                let mean = sum / rows;
                let above = places.partition_point(|&p| p < mean).min(places.len() - 1);
                let below = places.partition_point(|&p| p <= mean).saturating_sub(1);
                shape[axis.words.0] = ShapeWord::pair(below.min(above) as u32, above.max(below) as u32);
            }
        }
    }

    /// For any shape within `merged` whose columns cost between `least` and `most`: what it costs each row at the least
    /// when stretched over one more tuple, and by how much that is more than before, at the least.
    pub fn bound_with(&self, merged: &Shape, least: &[f64], most: &[f64], codes: &[u32]) -> (f64, f64) {
        let columns = self.axes.iter().zip(least.iter().zip(most)).zip(codes);
        columns.fold((0.0, 0.0), |(cost, growth), ((axis, (&least, &most)), &code)| {
            let (c, g) = axis.bound_with(merged, least, most, code);
            (cost + c, growth + g)
        })
    }

    /// What the shape over both costs each row.
    #[inline]
    pub fn cost_merged(&self, a: &Shape, b: &Shape) -> f64 {
        self.axes.iter().map(|axis| axis.cost_merged(a, b)).sum()
    }

    /// Words that agree exactly for shapes that stand for the same cells.
    pub fn canonical(&self, shape: &Shape) -> Vec<ShapeWord> {
        let mut words = shape.to_vec();
        for axis in &self.axes {
            if let Measure::Node(nodes) = &axis.measure {
                let node = shape[axis.words.0].unpair();
                words[axis.words.0] = ShapeWord::pair(node.0, nodes.value(node));
            }
        }
        words
    }

    /// A shape in numbers that outlive a renumbering of the codes, one after the other: `name` is the lasting name of a
    /// code of a column.
    pub fn export(&self, shape: &Shape, name: impl Fn(usize, u32) -> u32, mut put: impl FnMut(u32)) {
        for (column, axis) in self.axes.iter().enumerate() {
            match axis.cell(shape) {
                Cell::Range { low, high } => [low, high].into_iter().for_each(|code| put(name(column, code))),
                Cell::Node { level, .. } => {
                    put(level);
                    put(name(column, shape[axis.words.0].unpair().1));
                }
                Cell::Set(codes) => {
                    put(codes.len() as u32);
                    codes.iter().for_each(|&code| put(name(column, code)));
                }
            }
        }
    }

    /// Makes of an empty shape the one that [`Space::export`] wrote down, with `code` for a lasting name; `None` when
    /// it is of another space.
    pub fn import(
        &self,
        shape: &mut Shape,
        mut marks: impl Iterator<Item = u32>,
        code: impl Fn(usize, u32) -> Option<u32>,
    ) -> Option<()> {
        for (column, axis) in self.axes.iter().enumerate() {
            let first = marks.next()?;
            match &axis.measure {
                Measure::Range { .. } => {
                    shape[axis.words.0] = ShapeWord::pair(code(column, first)?, code(column, marks.next()?)?);
                }
                Measure::Node(nodes) => {
                    let code = code(column, marks.next()?)?;
                    shape[axis.words.0] = ShapeWord::pair(Some(first).filter(|&level| level < nodes.levels())?, code);
                }
                Measure::Set { .. } => {
                    for _ in 0..first {
                        let code = code(column, marks.next()?)?;
                        shape.get_mut(axis.words.0 + code as usize / 64)?.insert(code);
                    }
                }
            }
        }
        Some(())
    }

    /// Where the middle of a column of a shape lies, for neighbourhoods: nodes of a higher level lie beyond those
    /// below.
    pub fn middle(&self, shape: &Shape, column: usize) -> f64 {
        let (axis, places) = (&self.axes[column], &self.places[column]);
        let words = &shape[axis.words.0..axis.words.1];
        match &axis.measure {
            Measure::Range { .. } => {
                let (low, high) = words[0].unpair();
                (places[low as usize] + places[high as usize]) / 2.0
            }
            Measure::Node(nodes) => {
                let node = words[0].unpair();
                f64::from(node.0) * BEYOND + nodes.middle(node)
            }
            Measure::Set { .. } => {
                let first = words.iter().position(|w| w.0 != 0).unwrap_or(0);
                // A shape over nothing lies anywhere.
                let code = first as u32 * 64 + words[first].0.trailing_zeros();
                places.get(code as usize).copied().unwrap_or(0.0)
            }
        }
    }

    /// How a column may be cut, given the shape of the rows to cut.
    pub fn cuts(&self, shape: &Shape, column: usize) -> Cuts<'_> {
        let axis = &self.axes[column];
        match &axis.measure {
            Measure::Range { .. } => {
                let (low, high) = shape[axis.words.0].unpair();
                if low == high { Cuts::None } else { Cuts::Ordered { low, high } }
            }
            Measure::Node(nodes) => match shape[axis.words.0].unpair() {
                (0, _) => Cuts::None,
                (level, code) => Cuts::Grouped {
                    group: nodes.level(level - 1),
                    rank: nodes.ranks(level - 1),
                    nodes: nodes.below((level, code)),
                },
            },
            Measure::Set { .. } => {
                let words = &shape[axis.words.0..axis.words.1];
                let first =
                    words.iter().position(|w| w.0 != 0).map_or(0, |i| i as u32 * 64 + words[i].0.trailing_zeros());
                let last =
                    words.iter().rposition(|w| w.0 != 0).map_or(0, |i| i as u32 * 64 + 63 - words[i].0.leading_zeros());
                if first == last { Cuts::None } else { Cuts::Ordered { low: first, high: last } }
            }
        }
    }

    /// Whether `a` covers all of `b`.
    pub fn contains(&self, a: &Shape, b: &Shape) -> bool {
        self.axes.iter().all(|axis| axis.contains(a, b))
    }

    /// The top of every column: the cells of masked rows.
    pub fn tops(&self) -> Vec<Cell> {
        self.tops.clone()
    }

    /// Whether a shape covers every value of every column.
    pub fn covers_all(&self, shape: &Shape) -> bool {
        self.axes.iter().zip(&self.places).all(|(axis, places)| match axis.cell(shape) {
            Cell::Range { low, high } => low == 0 && high as usize + 1 == places.len(),
            Cell::Node { level, value } => match &axis.measure {
                Measure::Node(nodes) => nodes.level(level).iter().all(|&v| v == value),
                _ => false,
            },
            Cell::Set(codes) => codes.len() == places.len(),
        })
    }

    /// The cells that a shape stands for.
    pub fn cells(&self, shape: &Shape) -> Vec<Cell> {
        self.axes.iter().map(|a| a.cell(shape)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::class::{Judge, Partition, World, cluster};
    use crate::local::fixture::Fixture;
    use crate::metric::Release;
    use crate::parameter::Parameters;
    use crate::random::Random;

    /// Random partitions cost what the metric says, and growing, merging and bounding agree with it.
    #[test]
    fn costs_are_those_of_the_metric() {
        let fixture = Fixture::random(11, 120, false);
        let mut random = Random::new(3);
        fixture.search(&[], &Parameters::default(), |search| {
            let space = Space::new(search.generalizations);
            let judge = Judge::new(search).unwrap();
            let tuple_of = search.set.tuple_of_entry();
            let world = World { set: search.set, tuple_of: &tuple_of, space: &space, judge: &judge };
            for _ in 0..20 {
                let mut partition = Partition { classes: vec![Vec::new(); 1 + random.below(30)] };
                for (e, entry) in search.set.groups.entries.iter().enumerate() {
                    for _ in 0..entry.rows {
                        let class = random.below(partition.classes.len());
                        cluster::put(&mut partition.classes[class], e as u32, 1);
                    }
                }
                let recoding = partition.recoding(search.set, &tuple_of, &space, &judge).unwrap();
                fixture.check(&recoding, &[]);
                let (groups, suppressed) = recoding.groups(search.set);
                let release = Release {
                    set: search.set,
                    generalizations: search.generalizations,
                    recoding: &recoding,
                    groups: &groups,
                    suppressed,
                    k: 1,
                };
                let metric = metric::find("information-loss").unwrap().metric.loss(&release).unwrap();
                let clusters = world.clusters(&partition);
                assert!((cluster::total(&clusters) - metric).abs() < 1e-9);
                for pair in clusters.windows(2) {
                    let [a, b] = pair else { continue };
                    let mut both = a.shape.clone();
                    space.merge(&mut both, &b.shape);
                    assert!((space.cost(&both) - space.cost_merged(&a.shape, &b.shape)).abs() < 1e-12);
                    assert!(space.contains(&both, &a.shape) && space.contains(&both, &b.shape));
                }
            }
        });
    }
}
