//! Hulls: what a branch of the index knows about the shapes below it, so that it can say what they cost at the least.
//!
//! A shape over many shapes says little where columns are generalized along a hierarchy: two values of different
//! branches meet at the top, and then nothing can be told apart any more. A hull therefore marks the values that occur
//! below it: how far up a value meets the nearest of them is then known exactly. It also holds the least and the most
//! that any of the shapes costs, column by column. Ranges and sets are their own hulls.

use super::ancestors::{Node, Nodes};
use super::axis::{Axis, Measure};
use super::minimum::{MinimumClass, clearly_above};
use super::space::Space;
use super::word::{Hull, HullWord, Shape};

/// What a node costs at the least once it covers anything within a hull as well.
#[inline(always)]
fn met(nodes: &Nodes, node: Node, hull: &Hull) -> f64 {
    let (first, second) = (hull[1].0, if nodes.mark_words() > 1 { hull[2].0 } else { 0 });
    let mut cost = 0.0;
    for ring in nodes.rings(node) {
        cost = ring.cost;
        if ring.marks[0] & first != 0 || ring.marks[1] & second != 0 {
            break;
        }
    }
    if !nodes.exact() {
        let over = hull[hull.len() - 1].unpair();
        let level = nodes.meet(over, node);
        // Whatever lies below the node over everything meets this one where that does.
        if level > over.0 {
            cost = cost.max(nodes.cost((level, node.1)));
        }
    }
    cost
}

/// The least and the most that anything within a hull costs.
#[inline]
fn costs(nodes: &Nodes, hull: &Hull) -> (f64, f64) {
    let (least, most) = hull[0].unpair();
    (nodes.graded(least), nodes.graded(most))
}

impl Axis {
    fn hull(&self, shape: &Shape, hull: &mut Hull) {
        let (shape, hull) = (&shape[self.words.0..self.words.1], &mut hull[self.hull.0..self.hull.1]);
        match &self.measure {
            Measure::Node(nodes) => {
                let node = shape[0].unpair();
                hull[0] = HullWord::pair(nodes.grade(node), nodes.grade(node));
                let marks = nodes.rings(node)[0].marks;
                hull[1..]
                    .iter_mut()
                    .zip(&marks[..nodes.mark_words()])
                    .for_each(|(word, &marks)| *word = HullWord(marks));
                if let Some(over) = hull.get_mut(1 + nodes.mark_words()) {
                    *over = HullWord(shape[0].0);
                }
            }
            Measure::Range { .. } | Measure::Set { .. } => {
                hull.iter_mut().zip(shape).for_each(|(hull, shape)| *hull = HullWord(shape.0));
            }
        }
    }

    fn widen(&self, hull: &mut Hull, other: &Hull) {
        let (hull, other) = (&mut hull[self.hull.0..self.hull.1], &other[self.hull.0..self.hull.1]);
        match &self.measure {
            Measure::Range { .. } => {
                let (a, b) = (hull[0].unpair(), other[0].unpair());
                hull[0] = HullWord::pair(a.0.min(b.0), a.1.max(b.1));
            }
            Measure::Set { .. } => hull.iter_mut().zip(other).for_each(|(a, b)| a.0 |= b.0),
            Measure::Node(nodes) => {
                let (a, b) = (hull[0].unpair(), other[0].unpair());
                hull[0] = HullWord::pair(a.0.min(b.0), a.1.max(b.1));
                let marks = 1..=nodes.mark_words();
                hull[marks.clone()].iter_mut().zip(&other[marks]).for_each(|(a, b)| a.0 |= b.0);
                if let (Some(a), Some(&b)) = (hull.get_mut(1 + nodes.mark_words()), other.get(1 + nodes.mark_words())) {
                    let (over, b) = (a.unpair(), b.unpair());
                    *a = HullWord::pair(nodes.meet(over, b), over.1);
                }
            }
        }
    }

    /// For anything within a hull: what it costs at the least after adding one code, and by how much it grows.
    #[inline]
    fn reach(&self, hull: &Hull, code: u32) -> (f64, f64) {
        let hull = &hull[self.hull.0..self.hull.1];
        match &self.measure {
            Measure::Range { place } => {
                let (low, high) = hull[0].unpair();
                let at = place[code as usize];
                let outside = (place[low as usize] - at).max(at - place[high as usize]).max(0.0);
                (outside, outside)
            }
            Measure::Node(nodes) => {
                let (met, (least, most)) = (met(nodes, (0, code), hull), costs(nodes, hull));
                (met.max(least), (met - most).max(0.0))
            }
            Measure::Set { step } => match hull[code as usize / 64].0 >> (code % 64) & 1 {
                0 => (*step, *step),
                _ => (0.0, 0.0),
            },
        }
    }

    /// What `shape` and anything within a hull gain at the least by joining each other.
    #[inline]
    fn gains(&self, shape: &Shape, hull: &Hull) -> (f64, f64) {
        let (shape, hull) = (&shape[self.words.0..self.words.1], &hull[self.hull.0..self.hull.1]);
        match &self.measure {
            Measure::Range { place } => {
                let (a, b) = (shape[0].unpair(), hull[0].unpair());
                let place = |code: u32| place[code as usize];
                let between = (place(b.0) - place(a.1)).max(place(a.0) - place(b.1)).max(0.0);
                (between, (place(a.1) - place(b.1)).max(0.0) + (place(b.0) - place(a.0)).max(0.0))
            }
            Measure::Node(nodes) => {
                let node = shape[0].unpair();
                let (met, (least, most)) = (met(nodes, node, hull), costs(nodes, hull));
                (met.max(least) - nodes.cost(node), (met - most).max(0.0))
            }
            Measure::Set { step } => {
                let pairs = || shape.iter().zip(hull);
                let forth = if pairs().any(|(a, b)| a.0 & b.0 != 0) { 0.0 } else { *step };
                (forth, f64::from(pairs().map(|(a, b)| (a.0 & !b.0).count_ones()).sum::<u32>()) * step)
            }
        }
    }

    /// What `shape` and the costliest within a hull cost together, at the most.
    fn farthest(&self, shape: &Shape, hull: &Hull) -> f64 {
        let (shape, hull) = (&shape[self.words.0..self.words.1], &hull[self.hull.0..self.hull.1]);
        match &self.measure {
            Measure::Range { place } => {
                let (a, b) = (shape[0].unpair(), hull[0].unpair());
                place[a.1.max(b.1) as usize] - place[a.0.min(b.0) as usize]
            }
            Measure::Node(nodes) => {
                let node = shape[0].unpair();
                if let Some(&over) = hull.get(1 + nodes.mark_words()) {
                    return nodes.cost((nodes.meet(over.unpair(), node), node.1));
                }
                let (first, second) = (hull[1].0, if nodes.mark_words() > 1 { hull[2].0 } else { 0 });
                let over = nodes.rings(node).iter().find(|r| first & !r.marks[0] == 0 && second & !r.marks[1] == 0);
                over.map_or(0.0, |ring| ring.cost)
            }
            Measure::Set { step } => {
                let values: u32 = shape.iter().zip(hull).map(|(a, b)| (a.0 | b.0).count_ones()).sum();
                f64::from(values.saturating_sub(1)) * step
            }
        }
    }
}

impl Space {
    /// The words of a hull.
    pub fn hull_words(&self) -> usize {
        self.axes.last().map_or(0, |a| a.hull.1)
    }

    /// The hull of one shape.
    pub fn hull(&self, shape: &Shape, hull: &mut Hull) {
        self.axes.iter().for_each(|a| a.hull(shape, hull));
    }

    /// Stretches a hull over another.
    pub fn widen(&self, hull: &mut Hull, other: &Hull) {
        self.axes.iter().for_each(|a| a.widen(hull, other));
    }

    /// For any shape within a hull: what it costs each row at the least when stretched over one more tuple, and by how
    /// much that is more than before, at the least.
    #[inline]
    pub fn reach(&self, hull: &Hull, codes: &[u32]) -> (f64, f64) {
        self.axes.iter().zip(codes).fold((0.0, 0.0), |(cost, growth), (axis, &code)| {
            let (c, g) = axis.reach(hull, code);
            (cost + c, growth + g)
        })
    }

    /// A lower bound of how much the loss of any class within a hull grows with a number of rows of a tuple: all rows
    /// pay for the stretch, the newcomers also for what the class costs already. Above `enough` it need not be tight.
    #[inline]
    pub fn growth(&self, hull: &Hull, least: MinimumClass, codes: &[u32], rows: f64, enough: f64) -> f64 {
        let (mut cost, mut growth) = (0.0, 0.0);
        let mut bound = 0.0;
        for (axis, &code) in self.axes.iter().zip(codes) {
            let (c, g) = axis.reach(hull, code);
            (cost, growth) = (cost + c, growth + g);
            bound = growth * least.rows + f64::max(cost, growth + least.cost) * rows;
            // Clearly above, so that rounding neither makes nor breaks a tie.
            if clearly_above(bound, enough) {
                break;
            }
        }
        bound
    }

    /// A lower bound of [`Space::distance`] for every centre within a hull. What is not a range counts by the shape
    /// over all.
    pub fn away(&self, hull: &Hull, codes: &[u32]) -> f64 {
        self.reach(hull, codes).0
    }

    /// Lower bounds of how much more a row costs once a shape and another within a hull are stretched over each other:
    /// a row of the shape, and a row of the other.
    #[inline]
    pub fn gains(&self, shape: &Shape, hull: &Hull) -> (f64, f64) {
        self.axes.iter().fold((0.0, 0.0), |(forth, back), axis| {
            let (f, b) = axis.gains(shape, hull);
            (forth + f, back + b)
        })
    }

    /// A lower bound of how much more a shape costs a row once it is stretched over anything within a hull.
    #[inline]
    pub fn stretch(&self, shape: &Shape, hull: &Hull) -> f64 {
        self.gains(shape, hull).0
    }

    /// An upper bound of what a shape and a tuple within a hull cost together.
    pub fn farthest(&self, shape: &Shape, hull: &Hull) -> f64 {
        self.axes.iter().map(|axis| axis.farthest(shape, hull)).sum()
    }

    /// Where a column of a shape lies, for neighbourhoods: the middle of a range, the turn of a node, the first value
    /// of a set.
    pub fn centre(&self, shape: &Shape, column: usize) -> f64 {
        let (axis, places) = (&self.axes[column], &self.places[column]);
        let shape = &shape[axis.words.0..axis.words.1];
        match &axis.measure {
            Measure::Range { .. } => {
                let (low, high) = shape[0].unpair();
                (places[low as usize] + places[high as usize]) / 2.0
            }
            Measure::Node(nodes) => f64::from(nodes.turn(shape[0].unpair())),
            Measure::Set { .. } => {
                let first =
                    shape.iter().position(|w| w.0 != 0).map_or(0, |i| i * 64 + shape[i].0.trailing_zeros() as usize);
                places.get(first).copied().unwrap_or(0.0)
            }
        }
    }

    /// How much two centres of a column lie apart, in terms of cost.
    pub fn apart(&self, column: usize, low: f64, high: f64) -> f64 {
        match &self.axes[column].measure {
            // Nodes one within the other are still told apart, after everything else.
            Measure::Node(nodes) if low < high => nodes.between(low as u32, high as u32).max(NESTED),
            _ => high - low,
        }
    }

    /// Whether a column is generalized along a hierarchy.
    pub fn hierarchical(&self, column: usize) -> bool {
        matches!(self.axes[column].measure, Measure::Node(_))
    }
}

/// How much nodes lie apart one of which is within the other.
const NESTED: f64 = 1e-9;
