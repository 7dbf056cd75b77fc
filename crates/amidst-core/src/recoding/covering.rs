//! Which classes cover a tuple, where they may overlap.
//!
//! Classes are kept in a tree by their cells, column by column: those that agree in the first columns share a path. A
//! tuple follows every branch whose cell covers its code. Tuples that come in order share most of their way, and only
//! the rest of it is walked again.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::hierarchy::{Cell, Generalization};

/// Classes by their cells.
#[derive(Debug)]
pub(crate) struct Covering<'a> {
    generalizations: &'a [Generalization],
    /// `cell[c]`: the cell in column c of each node below the first c columns.
    cell: Vec<Vec<&'a Cell>>,
    /// `first[c][i]..first[c][i + 1]`: the nodes below node i, or the places in `classes` where it is the last.
    first: Vec<Vec<u32>>,
    /// The classes, in the order of the leaves.
    classes: Vec<u32>,
}

/// The way of a tuple through the tree.
#[derive(Debug, Default)]
pub(crate) struct CoverPath {
    /// The nodes that cover the first columns.
    nodes: Vec<Vec<u32>>,
    codes: Vec<u32>,
    classes: Vec<u32>,
}

impl<'a> Covering<'a> {
    /// The classes with these cells.
    pub(crate) fn new(generalizations: &'a [Generalization], cells: &[&'a [Cell]]) -> Self {
        let width = generalizations.len();
        // Cells by number, because numbers are compared faster.
        let numbered = |column: usize| -> Vec<u32> {
            let mut numbers: FxHashMap<&Cell, u32> = FxHashMap::default();
            let mut number = |cell: &'a Cell| {
                let next = numbers.len() as u32;
                *numbers.entry(cell).or_insert(next)
            };
            cells.iter().map(|cells| number(&cells[column])).collect()
        };
        let columns: Vec<Vec<u32>> = (0..width).into_par_iter().map(numbered).collect();
        let keys: Vec<u32> = (0..cells.len()).flat_map(|i| columns.iter().map(move |column| column[i])).collect();
        let key = |class: u32| &keys[class as usize * width..(class as usize + 1) * width];
        let mut classes: Vec<u32> = (0..cells.len() as u32).collect();
        classes.par_sort_unstable_by(|&a, &b| key(a).cmp(key(b)).then(a.cmp(&b)));
        let mut covering =
            Covering { generalizations, cell: vec![Vec::new(); width], first: vec![Vec::new(); width + 1], classes };
        covering.first[0].push(0);
        let mut previous: Option<&[u32]> = None;
        for (place, &class) in covering.classes.iter().enumerate() {
            let own = key(class);
            let shared = previous.map_or(0, |p| p.iter().zip(own).take_while(|(a, b)| a == b).count());
            for (column, cell) in cells[class as usize].iter().enumerate().take(width).skip(shared) {
                covering.cell[column].push(cell);
                let below = covering.cell.get(column + 1).map_or(place, Vec::len);
                covering.first[column + 1].push(below as u32);
            }
            previous = Some(own);
        }
        for depth in 0..=width {
            let end = covering.cell.get(depth).map_or(covering.classes.len(), Vec::len);
            covering.first[depth].push(end as u32);
        }
        covering
    }

    /// The classes that cover a tuple, ascending. `way` is that of the tuple before.
    pub(crate) fn of<'w>(&self, way: &'w mut CoverPath, codes: &[u32]) -> &'w [u32] {
        let width = self.generalizations.len();
        let shared = match way.nodes.is_empty() {
            true => {
                way.nodes = vec![Vec::new(); width + 1];
                way.nodes[0].push(0);
                way.codes = vec![0; width];
                0
            }
            false => way.codes.iter().zip(codes).take_while(|(a, b)| a == b).count(),
        };
        for column in shared..width {
            let (known, rest) = way.nodes.split_at_mut(column + 1);
            let (g, code) = (&self.generalizations[column], codes[column]);
            let (cell, first) = (&self.cell[column], &self.first[column]);
            rest[0].clear();
            for &node in &known[column] {
                let below = first[node as usize]..first[node as usize + 1];
                rest[0].extend(below.filter(|&n| g.covers(cell[n as usize], code)));
            }
        }
        way.codes.copy_from_slice(codes);
        way.classes.clear();
        for &node in &way.nodes[width] {
            let leaves = self.first[width][node as usize] as usize..self.first[width][node as usize + 1] as usize;
            way.classes.extend_from_slice(&self.classes[leaves]);
        }
        way.classes.sort_unstable();
        &way.classes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::fixture::Fixture;
    use crate::parameter::Parameters;

    #[test]
    fn the_tree_finds_what_a_look_at_every_class_finds() {
        let mut ever = 0;
        for (seed, id) in [(0, "k-member"), (1, "systematic"), (2, "mondrian")] {
            let fixture = Fixture::random(seed, 150, false);
            let (set, generalizations) = (&fixture.set, &fixture.generalizations[..]);
            let found = fixture.find(id, &fixture.policies()[0], &Parameters::default()).unwrap();
            let classes: Vec<&[Cell]> = found.recoding.classes.iter().map(Vec::as_slice).collect();
            // Each twice, and tuples in one order and the other.
            let classes = [&classes[..], &classes[..]].concat();
            let covering = Covering::new(generalizations, &classes);
            let mut way = CoverPath::default();
            for tuple in (0..set.len()).chain((0..set.len()).rev()) {
                let codes = set.tuple(tuple);
                let covers = |&c: &u32| {
                    let columns = generalizations.iter().zip(classes[c as usize]).zip(codes);
                    columns.into_iter().all(|((g, cell), &code)| g.covers(cell, code))
                };
                let expected: Vec<u32> = (0..classes.len() as u32).filter(covers).collect();
                assert_eq!(covering.of(&mut way, codes), expected);
                ever = ever.max(expected.len());
            }
        }
        assert!(ever > 2, "classes never overlapped");
    }
}
