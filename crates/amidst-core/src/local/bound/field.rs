//! The tuples of a table as points with rows and sensitive values, and an index over them.

use crate::local::index::Tree;
use crate::local::shape::{Shape, ShapeWord, Space};
use crate::metric::CellCosts;
use crate::search::Search;
use crate::search::need::Need;

/// Shapes of more words than this are not held: sets of very many values in very many tuples.
const WORDS: usize = 1 << 25;

/// The tuples that have rows.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) space: Space,
    pub(super) need: Need,
    /// The rows of each tuple.
    pub(super) rows: Vec<u64>,
    /// The shape of each tuple, `space.words()` each.
    shapes: Vec<ShapeWord>,
    /// Where the different sensitive values of each tuple begin, and where those of the last end. Empty where one is
    /// enough.
    offsets: Vec<usize>,
    values: Vec<u32>,
    pub(super) tree: Tree,
}

impl Field {
    /// `None` where the cells of the metric cannot be priced one by one.
    pub(super) fn new(search: &Search<'_>, costs: &CellCosts<'_>, need: Need) -> Option<Field> {
        let set = search.set;
        let space = Space::priced(search.generalizations, &costs.cell)?;
        let tuples: Vec<usize> = (0..set.len()).filter(|&t| !set.groups.get(t).is_empty()).collect();
        let codes: Vec<u32> = tuples.iter().flat_map(|&t| set.tuple(t)).copied().collect();
        let words = space.words();
        if words == 0 || words.saturating_mul(tuples.len()) > WORDS {
            return None;
        }
        let mut shapes = vec![ShapeWord::default(); tuples.len() * words];
        for (shape, tuple) in shapes.chunks_exact_mut(words.max(1)).zip(codes.chunks_exact(space.width().max(1))) {
            space.start(shape, tuple);
        }
        let (mut offsets, mut values) = (vec![0], Vec::new());
        if need.different > 1 {
            for &tuple in &tuples {
                let first = values.len();
                values.extend(set.groups.get(tuple).iter().map(|e| set.sensitive_code(e.sensitive, need.column)));
                values[first..].sort_unstable();
                let mut kept = first;
                for at in first..values.len() {
                    if at == first || values[at] != values[kept - 1] {
                        values[kept] = values[at];
                        kept += 1;
                    }
                }
                values.truncate(kept);
                offsets.push(kept);
            }
        }
        let rows = tuples.iter().map(|&t| set.groups.get(t).iter().map(|e| e.rows).sum()).collect();
        let tree = Tree::new(&space, &codes, tuples.len());
        Some(Field { space, need, rows, shapes, offsets, values, tree })
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The shape of a tuple.
    pub(super) fn shape(&self, tuple: u32) -> &Shape {
        let words = self.space.words();
        &self.shapes[tuple as usize * words..(tuple as usize + 1) * words]
    }

    /// The different sensitive values of a tuple; none where the policy does not need them.
    pub(super) fn values(&self, tuple: u32) -> &[u32] {
        match self.offsets.get(tuple as usize..tuple as usize + 2) {
            Some(&[from, to]) => &self.values[from..to],
            _ => &[],
        }
    }

    /// What all rows cost as they are.
    pub(super) fn untouched(&self) -> f64 {
        (0..self.len() as u32).map(|t| self.space.cost(self.shape(t)) * self.rows[t as usize] as f64).sum()
    }
}
