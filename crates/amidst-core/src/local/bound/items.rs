//! Rows that agree in everything that sets of rows are made by: their tuple and, where values must differ, their value.

use super::sets::Sets;
use crate::local::index::Tree;
use crate::local::shape::{Shape, ShapeWord, Space};
use crate::search::Search;

/// Shapes of more words than this are not held.
const WORDS: usize = 1 << 24;

/// The rows of a table, those that agree together.
#[derive(Debug)]
pub(super) struct Items<'a> {
    pub(super) space: &'a Space,
    /// The rows of each item.
    pub(super) rows: Vec<u64>,
    /// The place of its tuple among those that have rows.
    pub(super) tuple: Vec<u32>,
    /// Its sensitive value; 0 where values do not count.
    pub(super) values: Vec<u32>,
    shapes: Vec<ShapeWord>,
    pub(super) tree: Tree,
}

impl<'a> Items<'a> {
    /// `None` where there are too many.
    pub(super) fn new(search: &Search<'_>, space: &'a Space, sets: Sets, most: usize) -> Option<Self> {
        let set = search.set;
        let (mut rows, mut tuple, mut values, mut codes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let present = (0..set.len()).filter(|&t| !set.groups.get(t).is_empty());
        for (place, t) in present.enumerate() {
            let value = |sensitive| sets.column.map_or(0, |column| set.sensitive_code(sensitive, column));
            let mut counts: Vec<(u32, u64)> = set.groups.get(t).iter().map(|e| (value(e.sensitive), e.rows)).collect();
            counts.sort_unstable();
            for same in counts.chunk_by(|a, b| a.0 == b.0) {
                rows.push(same.iter().map(|c| c.1).sum());
                tuple.push(place as u32);
                values.push(same[0].0);
                codes.extend_from_slice(set.tuple(t));
            }
        }
        if rows.len() > most || space.words().saturating_mul(rows.len()) > WORDS {
            return None;
        }
        let mut shapes = vec![ShapeWord::default(); rows.len() * space.words()];
        for (shape, tuple) in
            shapes.chunks_exact_mut(space.words().max(1)).zip(codes.chunks_exact(space.width().max(1)))
        {
            space.start(shape, tuple);
        }
        let tree = Tree::new(space, &codes, rows.len());
        Some(Items { space, rows, tuple, values, shapes, tree })
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The shape of an item.
    pub(super) fn shape(&self, item: u32) -> &Shape {
        let words = self.space.words();
        &self.shapes[item as usize * words..(item as usize + 1) * words]
    }

    /// The highest of some numbers below each node of the tree.
    pub(super) fn highest(&self, of: &[f64]) -> Vec<f64> {
        let mut highest = Vec::new();
        self.below(0, of, &mut highest);
        highest
    }

    fn below(&self, node: u32, of: &[f64], highest: &mut Vec<f64>) -> f64 {
        let (mut halves, mut most) = (Vec::new(), f64::NEG_INFINITY);
        self.tree.open(node, |half, _| halves.push(half), |item| most = most.max(of[item as usize]));
        for half in halves {
            most = most.max(self.below(half, of, highest));
        }
        if highest.len() <= node as usize {
            highest.resize(node as usize + 1, f64::NEG_INFINITY);
        }
        highest[node as usize] = most;
        most
    }
}
