//! One column of the space: how the cells of a class stretch over its values, and what that costs.

use super::ancestors::Nodes;
use super::word::{Shape, ShapeWord};
use crate::hierarchy::{Cell, Generalization, Generalize};

/// How the shape of one column grows and what it costs.
#[derive(Debug, Clone)]
pub(super) enum Measure {
    /// `lowest << 32 | highest` code.
    Range {
        /// The coordinate of each code, scaled so that the whole column costs its weight.
        place: Vec<f64>,
    },
    /// `level << 32 | any code below the node`.
    Node(Box<Nodes>),
    /// One bit per code.
    Set {
        /// What each value after the first costs.
        step: f64,
    },
}

/// One column of the space.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    pub(super) measure: Measure,
    /// The first word of this column in a shape, and the word after its last.
    pub(super) words: (usize, usize),
    /// The same in a hull.
    pub(super) hull: (usize, usize),
}

/// The words of a column in a hull, given those in a shape.
fn hull_words(measure: &Measure, of_shape: usize) -> usize {
    match measure {
        // Costs, marks and, where marks stand for nodes, the node over everything.
        Measure::Node(nodes) => 1 + nodes.mark_words() + usize::from(!nodes.exact()),
        Measure::Range { .. } | Measure::Set { .. } => of_shape,
    }
}

impl Axis {
    pub(super) fn new(g: &Generalization, weight: f64, places: &[f64], before: Option<&Axis>) -> Self {
        let span = span(&g.coordinates);
        let measure = match g.generalize {
            Generalize::Ranges => Measure::Range {
                // A stated order may run against the number line: then ranks decide.
                place: match g.coordinates.is_sorted() {
                    true => g.coordinates.iter().map(|x| if span > 0.0 { x / span * weight } else { 0.0 }).collect(),
                    false => (0..g.active()).map(|c| c as f64 / (g.active().max(2) - 1) as f64 * weight).collect(),
                },
            },
            Generalize::Sets => {
                Measure::Set { step: if g.active() > 1 { weight / (g.active() - 1) as f64 } else { 0.0 } }
            }
            Generalize::Hierarchy => Measure::Node(Box::new(Nodes::new(g, places, |level, node| {
                let by_extent = |(low, high): (f64, f64)| if span > 0.0 { (high - low) / span } else { 0.0 };
                let by_height = f64::from(g.level_said(level as u32, node as u32)) / g.height().max(1) as f64;
                weight * if g.numeric { by_extent(g.levels[level].extent[node]) } else { by_height }
            }))),
        };
        let words = match &measure {
            Measure::Set { .. } => g.active().div_ceil(64).max(1),
            _ => 1,
        };
        Axis::placed(measure, words, before)
    }

    /// An axis of so many words of a shape, behind those of another.
    pub(super) fn placed(measure: Measure, words: usize, before: Option<&Axis>) -> Self {
        let (first, first_of_hull) = before.map_or((0, 0), |axis| (axis.words.1, axis.hull.1));
        let hull = (first_of_hull, first_of_hull + hull_words(&measure, words));
        Axis { measure, words: (first, first + words), hull }
    }

    /// The same column with cells that cost something else; `None` where ranges or sets cost what no sum tells.
    pub(super) fn priced(self, g: &Generalization, places: &[f64], cell: impl Fn(&Cell) -> f64) -> Option<Self> {
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-9;
        let last = (g.active() as u32).checked_sub(1)?;
        let measure = match self.measure {
            Measure::Range { .. } => {
                let range = |low, high| cell(&Cell::Range { low, high });
                let mut place = vec![0.0];
                for high in 1..=last {
                    place.push(place[high as usize - 1] + range(high - 1, high));
                }
                let sums =
                    (0..=last).all(|code| range(code, code) == 0.0) && near(place[last as usize], range(0, last));
                sums.then_some(Measure::Range { place })?
            }
            Measure::Set { .. } => {
                let first = |n: u32| cell(&Cell::Set((0..n).collect()));
                let step = if last > 0 { first(2) } else { 0.0 };
                let sums = (0..=last).all(|code| cell(&Cell::Set([code].into())) == 0.0)
                    && near(first(last + 1), step * f64::from(last));
                sums.then_some(Measure::Set { step })?
            }
            Measure::Node(_) => Measure::Node(Box::new(Nodes::new(g, places, |level, node| {
                cell(&Cell::Node { level: level as u32, value: node as u32 })
            }))),
        };
        Some(Axis { measure, ..self })
    }

    #[inline]
    pub(super) fn start(&self, shape: &mut Shape, code: u32) {
        let shape = &mut shape[self.words.0..self.words.1];
        match &self.measure {
            Measure::Range { .. } => shape[0] = ShapeWord::pair(code, code),
            Measure::Node(_) => shape[0] = ShapeWord::pair(0, code),
            Measure::Set { .. } => {
                shape.fill(ShapeWord::default());
                shape[code as usize / 64].insert(code);
            }
        }
    }

    #[inline]
    pub(super) fn add(&self, shape: &mut Shape, code: u32) {
        let shape = &mut shape[self.words.0..self.words.1];
        match &self.measure {
            Measure::Range { .. } => {
                let (low, high) = shape[0].unpair();
                shape[0] = ShapeWord::pair(low.min(code), high.max(code));
            }
            Measure::Node(nodes) => {
                let node = shape[0].unpair();
                shape[0] = ShapeWord::pair(nodes.meet(node, (0, code)), node.1);
            }
            Measure::Set { .. } => shape[code as usize / 64].insert(code),
        }
    }

    #[inline]
    pub(super) fn merge(&self, shape: &mut Shape, other: &Shape) {
        let (shape, other) = (&mut shape[self.words.0..self.words.1], &other[self.words.0..self.words.1]);
        match &self.measure {
            Measure::Range { .. } => {
                let (a, b) = (shape[0].unpair(), other[0].unpair());
                shape[0] = ShapeWord::pair(a.0.min(b.0), a.1.max(b.1));
            }
            Measure::Node(nodes) => {
                let (a, b) = (shape[0].unpair(), other[0].unpair());
                shape[0] = ShapeWord::pair(nodes.meet(a, b), a.1);
            }
            Measure::Set { .. } => shape.iter_mut().zip(other).for_each(|(a, b)| a.0 |= b.0),
        }
    }

    #[inline]
    pub(super) fn cost(&self, shape: &Shape) -> f64 {
        let shape = &shape[self.words.0..self.words.1];
        match &self.measure {
            Measure::Range { place } => {
                let (low, high) = shape[0].unpair();
                place[high as usize] - place[low as usize]
            }
            Measure::Node(nodes) => nodes.cost(shape[0].unpair()),
            Measure::Set { step } => {
                f64::from(shape.iter().map(|w| w.0.count_ones()).sum::<u32>().saturating_sub(1)) * step
            }
        }
    }

    /// The cost after adding one code.
    #[inline]
    pub(super) fn cost_with(&self, shape: &Shape, code: u32) -> f64 {
        let shape = &shape[self.words.0..self.words.1];
        match &self.measure {
            Measure::Range { place } => {
                let (low, high) = shape[0].unpair();
                place[high.max(code) as usize] - place[low.min(code) as usize]
            }
            Measure::Node(nodes) => nodes.cost((nodes.meet(shape[0].unpair(), (0, code)), code)),
            Measure::Set { step } => {
                let held = u32::from(shape[code as usize / 64].holds(code));
                f64::from(shape.iter().map(|w| w.0.count_ones()).sum::<u32>() - held) * step
            }
        }
    }

    /// The cost of two shapes together.
    #[inline]
    pub(super) fn cost_merged(&self, a: &Shape, b: &Shape) -> f64 {
        let (a, b) = (&a[self.words.0..self.words.1], &b[self.words.0..self.words.1]);
        match &self.measure {
            Measure::Range { place } => {
                let (a, b) = (a[0].unpair(), b[0].unpair());
                place[a.1.max(b.1) as usize] - place[a.0.min(b.0) as usize]
            }
            Measure::Node(nodes) => {
                let (a, b) = (a[0].unpair(), b[0].unpair());
                nodes.cost((nodes.meet(a, b), a.1))
            }
            Measure::Set { step } => {
                let values: u32 = a.iter().zip(b).map(|(a, b)| (a.0 | b.0).count_ones()).sum();
                f64::from(values.saturating_sub(1)) * step
            }
        }
    }

    pub(super) fn contains(&self, a: &Shape, b: &Shape) -> bool {
        let (a, b) = (&a[self.words.0..self.words.1], &b[self.words.0..self.words.1]);
        match &self.measure {
            Measure::Range { .. } => {
                let (a, b) = (a[0].unpair(), b[0].unpair());
                a.0 <= b.0 && a.1 >= b.1
            }
            Measure::Node(nodes) => {
                let (a, b) = (a[0].unpair(), b[0].unpair());
                nodes.meet(a, b) == a.0
            }
            Measure::Set { .. } => a.iter().zip(b).all(|(a, b)| b.0 & !a.0 == 0),
        }
    }

    /// For any shape within `merged` that costs between `least` and `most`: what it costs at the least after adding one
    /// code, and by how much it grows at the least.
    pub(super) fn bound_with(&self, merged: &Shape, least: f64, most: f64, code: u32) -> (f64, f64) {
        let merged = &merged[self.words.0..self.words.1];
        match &self.measure {
            Measure::Range { place } => {
                let (low, high) = merged[0].unpair();
                let at = place[code as usize];
                let outside = (place[low as usize] - at).max(at - place[high as usize]).max(0.0);
                (least + outside, outside)
            }
            Measure::Node(nodes) => {
                let node = merged[0].unpair();
                let level = nodes.meet(node, (0, code));
                if level == node.0 {
                    return (least, 0.0);
                }
                // Whatever lies below the merged node meets the code where the merged node does.
                let met = nodes.cost((level, code));
                (met, (met - most).max(0.0))
            }
            Measure::Set { .. } if merged[code as usize / 64].holds(code) => (least, 0.0),
            Measure::Set { step } => (least + step, *step),
        }
    }

    pub(super) fn cell(&self, shape: &Shape) -> Cell {
        let shape = &shape[self.words.0..self.words.1];
        match &self.measure {
            Measure::Range { .. } => {
                let (low, high) = shape[0].unpair();
                Cell::Range { low, high }
            }
            Measure::Node(nodes) => {
                let node = shape[0].unpair();
                Cell::Node { level: node.0, value: nodes.value(node) }
            }
            Measure::Set { .. } => {
                let bits = |(i, &word): (usize, &ShapeWord)| {
                    (0..64u32).filter(move |&b| word.holds(b)).map(move |b| i as u32 * 64 + b)
                };
                Cell::Set(shape.iter().enumerate().flat_map(bits).collect())
            }
        }
    }
}

pub(super) fn span(coordinates: &[f64]) -> f64 {
    let low = coordinates.iter().copied().fold(f64::INFINITY, f64::min);
    let high = coordinates.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if high > low { high - low } else { 0.0 }
}
