//! How many people of a population a class matches: all those whose tuples its cells cover.
//!
//! The values of every column are ranked so that those that one cell covers stand side by side: along the hierarchy, or
//! by size where cells are ranges. The cells of a class are then a box of ranks, and a tree over the distinct tuples of
//! the population, those included that the table lacks, tells how many people lie in it without a look at each of them.
//!
//! A range over numbers or dates covers whatever lies between its ends. Ranges over an order of texts, and sets, cover
//! no value outside the table, so no person is counted whom the class may not match.

use crate::class::{Headcount, Population};
use crate::frequency::FrequencySet;
use crate::hierarchy::{Cell, Generalization, Generalize};

/// Tuples that a leaf of the tree holds at the most.
const LEAF: usize = 16;

/// The people of a population by tuple.
#[derive(Debug, Clone, Default)]
pub struct PopulationIndex {
    columns: Vec<Ranks>,
    /// The ranks of each tuple, in the order of the tree.
    points: Vec<u32>,
    /// The people of each tuple, and which it is, in the same order.
    people: Vec<u128>,
    /// How many parts of these make a person.
    scale: u128,
    tuples: Vec<u32>,
    nodes: Vec<Node>,
    /// For each node the lowest and the highest rank in every column.
    bounds: Vec<(u32, u32)>,
}

#[derive(Debug, Clone)]
struct Node {
    people: u128,
    first: usize,
    end: usize,
    /// The second half; the first one is the next node. Zero for a leaf.
    second: usize,
}

/// The values of a column, ranked.
#[derive(Debug, Clone)]
struct Ranks {
    /// The rank of each code.
    of: Vec<u32>,
    /// For every level and value: the lowest and the highest rank that it covers, and how many.
    levels: Vec<Vec<(u32, u32, u32)>>,
    /// The value of each code at every level, by rank.
    values: Vec<Vec<u32>>,
    /// How many values the table has: a cell that covers all of them covers everything.
    active: usize,
}

/// What a cell covers in one column.
struct Side {
    low: u32,
    high: u32,
    /// Which ranks in between, where not all are.
    only: Option<Vec<bool>>,
}

impl Side {
    fn covers(&self, rank: u32) -> bool {
        let only = |only: &Vec<bool>| only.get((rank - self.low) as usize).copied().unwrap_or(false);
        (self.low..=self.high).contains(&rank) && self.only.as_ref().is_none_or(only)
    }
}

impl Ranks {
    fn new(g: &Generalization) -> Ranks {
        let count = g.levels.first().map_or(0, |l| l.of.len());
        let mut order: Vec<u32> = (0..count as u32).collect();
        if g.generalize == Generalize::Ranges {
            let sorted = g.coordinates.is_sorted();
            let place = |&code: &u32| match g.coordinates.get(code as usize) {
                Some(x) if sorted && g.kind.is_numeric() => *x,
                Some(_) => f64::from(code),
                // A value that the table lacks has its place only on a number line.
                None if sorted && g.kind.is_numeric() => {
                    let level = &g.levels[0];
                    let label = level.labels.get(level.of[code as usize] as usize);
                    label.and_then(|l| g.kind.coordinate(l)).unwrap_or(f64::INFINITY)
                }
                None => f64::INFINITY,
            };
            order.sort_by(|a, b| place(a).total_cmp(&place(b)).then(a.cmp(b)));
        } else {
            order.sort_by_cached_key(|&c| g.levels.iter().rev().map(|l| l.of[c as usize]).collect::<Vec<u32>>());
        }
        let mut of = vec![0; count];
        (0u32..).zip(&order).for_each(|(rank, &code)| of[code as usize] = rank);
        let mut ranks = Ranks { of, levels: Vec::new(), values: Vec::new(), active: g.active() };
        for level in &g.levels {
            let values: Vec<u32> = order.iter().map(|&code| level.of[code as usize]).collect();
            let mut covered = vec![(u32::MAX, 0, 0); level.labels.len()];
            for (rank, &value) in (0u32..).zip(&values) {
                let (low, high, count) = &mut covered[value as usize];
                (*low, *high, *count) = ((*low).min(rank), (*high).max(rank), *count + 1);
            }
            ranks.levels.push(covered);
            ranks.values.push(values);
        }
        ranks
    }

    fn everything(&self) -> Side {
        Side { low: 0, high: (self.of.len() as u32).saturating_sub(1), only: None }
    }

    fn side(&self, cell: &Cell) -> Side {
        match cell {
            Cell::Node { level, value } => {
                let known = self.levels.get(*level as usize).and_then(|l| l.get(*value as usize));
                let Some(&(low, high, count)) = known.filter(|k| k.2 > 0) else { return self.everything() };
                let values = &self.values[*level as usize];
                let gaps = high - low + 1 > count;
                let only = || values[low as usize..=high as usize].iter().map(|v| v == value).collect();
                Side { low, high, only: gaps.then(only) }
            }
            // A single value is published as it is, also where the table has no other.
            Cell::Range { low: 0, high } if *high > 0 && *high as usize + 1 == self.active => self.everything(),
            Cell::Range { low, high } => {
                Side { low: self.of[*low as usize], high: self.of[*high as usize], only: None }
            }
            Cell::Set(codes) if codes.len() > 1 && codes.len() == self.active => self.everything(),
            Cell::Set(codes) => {
                let ranks: Vec<u32> = codes.iter().map(|&c| self.of[c as usize]).collect();
                let low = ranks.iter().copied().min().unwrap_or(1);
                let high = ranks.iter().copied().max().unwrap_or(0);
                let mut only = vec![false; (high + 1).saturating_sub(low) as usize];
                ranks.iter().for_each(|&rank| only[(rank - low) as usize] = true);
                Side { low, high, only: Some(only) }
            }
        }
    }
}

impl PopulationIndex {
    /// The people of `population`, whose tuples are those of `set`.
    pub fn new(set: &FrequencySet, generalizations: &[Generalization], population: &Population) -> PopulationIndex {
        let columns: Vec<Ranks> = generalizations.iter().map(Ranks::new).collect();
        let there = |tuple: &u32| population.totals.get(*tuple as usize).is_some_and(|&n| n > 0);
        let mut order: Vec<u32> = (0..set.len() as u32).filter(there).collect();
        let mut index = PopulationIndex { columns, scale: population.scale, ..PopulationIndex::default() };
        let rank = |tuple: u32, column: usize| index.columns[column].of[set.tuple(tuple as usize)[column] as usize];
        let (mut nodes, mut bounds) = (Vec::new(), Vec::new());
        if !order.is_empty() {
            build(&mut order, 0, set.width, &rank, &mut nodes, &mut bounds);
        }
        index.points =
            order.iter().flat_map(|&t| (0..set.width).map(move |c| (t, c))).map(|(t, c)| rank(t, c)).collect();
        index.people = order.iter().map(|&tuple| population.totals[tuple as usize]).collect();
        for node in &mut nodes {
            node.people = index.people[node.first..node.end].iter().sum();
        }
        PopulationIndex { tuples: order, nodes, bounds, ..index }
    }

    /// Everyone.
    pub fn everyone(&self) -> Headcount {
        Headcount { parts: self.nodes.first().map_or(0, |n| n.people), scale: self.scale }
    }

    /// The people whose tuples these cells cover.
    pub fn people(&self, cells: &[Cell]) -> Headcount {
        let mut parts = 0;
        self.visit(cells, |range, whole| {
            parts += match whole {
                Some(node) => self.nodes[node].people,
                None => self.people[range].iter().sum(),
            }
        });
        Headcount { parts, scale: self.scale }
    }

    /// The tuples of these people, by their number in the frequency set.
    pub fn covered(&self, cells: &[Cell]) -> Vec<u32> {
        let mut tuples = Vec::new();
        self.visit(cells, |range, _| tuples.extend_from_slice(&self.tuples[range]));
        tuples.sort_unstable();
        tuples
    }

    /// Shows all that the cells cover: ranges of tuples, with the node where they are one.
    fn visit(&self, cells: &[Cell], mut see: impl FnMut(std::ops::Range<usize>, Option<usize>)) {
        let sides: Vec<Side> = self.columns.iter().zip(cells).map(|(column, cell)| column.side(cell)).collect();
        let width = self.columns.len();
        let mut waiting: Vec<usize> = (0..self.nodes.len().min(1)).collect();
        while let Some(at) = waiting.pop() {
            let node = &self.nodes[at];
            let bounds = &self.bounds[at * width..(at + 1) * width];
            if bounds.iter().zip(&sides).any(|(&(low, high), side)| high < side.low || low > side.high) {
                continue;
            }
            let within = |(&(low, high), side): (&(u32, u32), &Side)| {
                side.low <= low && high <= side.high && (side.only.is_none() || low == high && side.covers(low))
            };
            if bounds.iter().zip(&sides).all(within) {
                see(node.first..node.end, Some(at));
            } else if node.second > 0 {
                waiting.push(node.second);
                waiting.push(at + 1);
            } else {
                for tuple in node.first..node.end {
                    let point = &self.points[tuple * width..(tuple + 1) * width];
                    if point.iter().zip(&sides).all(|(&rank, side)| side.covers(rank)) {
                        see(tuple..tuple + 1, None);
                    }
                }
            }
        }
    }
}

/// Builds the tree over some tuples, which stand from `first` on; halves are cut at the middle of the widest column.
fn build(
    tuples: &mut [u32],
    first: usize,
    width: usize,
    rank: &impl Fn(u32, usize) -> u32,
    nodes: &mut Vec<Node>,
    bounds: &mut Vec<(u32, u32)>,
) {
    let own = nodes.len();
    nodes.push(Node { people: 0, first, end: first + tuples.len(), second: 0 });
    let mut widest = (0, 0);
    for column in 0..width {
        let ranks = tuples.iter().map(|&tuple| rank(tuple, column));
        let (low, high) = ranks.fold((u32::MAX, 0), |(low, high), r| (low.min(r), high.max(r)));
        bounds.push((low, high));
        widest = widest.max((high.saturating_sub(low), column));
    }
    if tuples.len() <= LEAF || widest.0 == 0 {
        return;
    }
    let middle = tuples.len() / 2;
    tuples.select_nth_unstable_by_key(middle, |&tuple| (rank(tuple, widest.1), tuple));
    let (left, right) = tuples.split_at_mut(middle);
    build(left, first, width, rank, nodes, bounds);
    nodes[own].second = nodes.len();
    build(right, first + middle, width, rank, nodes, bounds);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::fixture::Fixture;
    use crate::random::Random;
    use crate::table::{Column, Table, ValueType};

    /// Every cell that a column may get, for random pairs of its values.
    fn cell(g: &Generalization, random: &mut Random) -> Cell {
        let codes = [random.below(g.active()) as u32, random.below(g.active()) as u32];
        match random.below(3) {
            0 => g.lowest_common_node(codes),
            1 if g.generalize == Generalize::Ranges => {
                Cell::Range { low: codes[0].min(codes[1]), high: codes[0].max(codes[1]) }
            }
            1 if g.generalize == Generalize::Sets => {
                let mut codes = codes.to_vec();
                codes.sort_unstable();
                codes.dedup();
                Cell::Set(codes.into())
            }
            _ => Cell::Node { level: g.height() as u32, value: 0 },
        }
    }

    #[test]
    fn the_tree_counts_whom_a_look_at_everyone_counts() {
        for seed in 0..4 {
            let fixture = Fixture::random(seed, 60 + 100 * seed as usize, false);
            let totals = (0..fixture.set.len() as u128).map(|t| t * 7 % 5).collect();
            let population = Population { totals, ..Population::default() };
            let index = PopulationIndex::new(&fixture.set, &fixture.generalizations, &population);
            assert_eq!(index.everyone().parts, population.totals.iter().sum::<u128>());
            let mut random = Random::new(seed);
            for _ in 0..300 {
                let cells: Vec<Cell> = fixture.generalizations.iter().map(|g| cell(g, &mut random)).collect();
                let inside = |tuple: &u32| {
                    let codes = fixture.set.tuple(*tuple as usize);
                    let sides = fixture.generalizations.iter().zip(&cells).zip(codes);
                    population.totals[*tuple as usize] > 0 && sides.into_iter().all(|((g, cell), &c)| g.covers(cell, c))
                };
                let expected: Vec<u32> = (0..fixture.set.len() as u32).filter(inside).collect();
                assert_eq!(index.covered(&cells), expected);
                let expected: u128 = expected.iter().map(|&t| population.totals[t as usize]).sum();
                assert_eq!(index.people(&cells).parts, expected);
            }
        }
    }

    #[test]
    fn the_only_value_of_a_table_covers_nobody_else() {
        let mut g = Generalization::bind(&Column::from_values("town", ["Ulm"]), None).unwrap();
        let (mut set, _) = FrequencySet::count(
            &Table { columns: vec![Column::from_values("town", ["Ulm"])], rows: 1 },
            &[0],
            &[],
            None,
        );
        // A town that only the population has.
        g.levels[0].labels.push("Bonn".to_string());
        g.levels[0].of.push(1);
        g.levels[1].of.push(0);
        set.tuples.push(1);
        set.groups.offsets.push(1);
        let population = Population { totals: vec![5, 28], ..Population::default() };
        for (way, cell) in
            [(Generalize::Ranges, Cell::Range { low: 0, high: 0 }), (Generalize::Sets, Cell::Set([0].into()))]
        {
            g.generalize = way;
            assert_eq!(g.label(&cell), "Ulm");
            let index = PopulationIndex::new(&set, std::slice::from_ref(&g), &population);
            assert_eq!((index.people(&[cell]).parts, index.everyone().parts), (5, 33));
        }
    }

    #[test]
    fn whom_the_table_lacks_lies_between_the_ends_of_a_range() {
        let mut column = Column::from_values("age", ["20", "25", "30", "35"]);
        column.kind = ValueType::Integer;
        let mut g = Generalization::bind(&column, None).unwrap();
        g.generalize = Generalize::Ranges;
        let (mut set, _) = FrequencySet::count(&Table { columns: vec![column], rows: 4 }, &[0], &[], None);
        // Two ages that only a population has: behind the others by code, among them or above them by size.
        for (code, label) in [(4, "27"), (5, "99")] {
            g.levels[0].labels.push(label.to_string());
            g.levels[0].of.push(code);
            g.levels[1].of.push(0);
            set.tuples.push(code);
            set.groups.offsets.push(4);
        }
        let population = Population { totals: vec![1, 1, 1, 1, 10, 20], ..Population::default() };
        let over = |g: &Generalization, low, high| {
            PopulationIndex::new(&set, std::slice::from_ref(g), &population).people(&[Cell::Range { low, high }]).parts
        };
        assert_eq!([over(&g, 1, 2), over(&g, 1, 1), over(&g, 2, 3)], [12, 1, 2]);
        // What covers every value of the table is published as `*`.
        assert_eq!(over(&g, 0, 3), 34);
        // The place of a text that an order does not name is unknown.
        g.kind = ValueType::Text;
        assert_eq!([over(&g, 1, 2), over(&g, 0, 3)], [2, 34]);
    }
}
