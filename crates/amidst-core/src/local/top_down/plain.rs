//! Top-down specialization of one column, exactly as the paper describes it.
//!
//! [`specialize`](super::specialize) chooses which rows are pulled back, greedily; sometimes rows in the order of the
//! table lose less. For one quasi column, the case of the paper, that is tried as well where it costs little: children
//! that fail go back to their parent; if those rows together fail, rows follow one by one out of children that stay
//! valid without them, and then whole children, the smallest first.

use crate::frequency::{Entry, add_up};
use crate::local::class::{Judge, Part, Partition, Tally};
use crate::search::{Search, SearchError};

/// With more rows it would cost more than it brings.
const MOST_ROWS: u64 = 20_000;

/// The order in which rows of a child are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Ascending,
    Descending,
}

/// The classes of the plain reading; none where it is not defined or not cheap.
pub(crate) fn plain(
    search: &Search<'_>,
    judge: &Judge<'_>,
    tuple_of: &[u32],
    order: Order,
) -> Result<Option<Partition>, SearchError> {
    let set = search.set;
    let [column] = search.generalizations else { return Ok(None) };
    if set.persons || set.rows > MOST_ROWS || judge.needs_population() {
        return Ok(None);
    }
    let mut run = Run { search, judge, tuple_of, order, classes: Vec::new() };
    let parts: Vec<Part> = set.groups.entries.iter().enumerate().map(|(e, x)| (e as u32, x.rows)).collect();
    if !parts.is_empty() {
        run.grow(parts, column.levels.len())?;
    }
    Ok(Some(Partition { classes: run.classes }))
}

struct Run<'a> {
    search: &'a Search<'a>,
    judge: &'a Judge<'a>,
    tuple_of: &'a [u32],
    order: Order,
    classes: Vec<Vec<Part>>,
}

/// Rows, and what they amount to.
struct Node {
    parts: Vec<Part>,
    tally: Tally,
}

impl Run<'_> {
    fn entry(&self, entry: u32, rows: u64) -> Entry {
        Entry { rows, ..self.search.set.groups.entries[entry as usize] }
    }

    fn node(&self, parts: Vec<Part>) -> Node {
        let tally = self.judge.tally(parts.iter().map(|&(entry, rows)| self.entry(entry, rows)));
        Node { parts, tally }
    }

    fn holds(&self, node: &Node) -> bool {
        node.tally.rows > 0 && self.judge.holds(&node.tally)
    }

    /// Divides rows that agree at a level by the level below.
    fn grow(&mut self, parts: Vec<Part>, level: usize) -> Result<(), SearchError> {
        self.search.checkpoint()?;
        let Some(below) = level.checked_sub(1) else {
            self.classes.push(parts);
            return Ok(());
        };
        let of = &self.search.generalizations[0].levels[below].of;
        let group = |part: &Part| of[self.search.set.tuple(self.tuple_of[part.0 as usize] as usize)[0] as usize];
        let mut sorted: Vec<(u32, Part)> = parts.iter().map(|part| (group(part), *part)).collect();
        sorted.sort_by_key(|s| s.0);
        let children = sorted.chunk_by(|a, b| a.0 == b.0).map(|child| self.node(child.iter().map(|c| c.1).collect()));
        let (mut valid, failing): (Vec<Node>, Vec<Node>) = children.partition(|child| self.holds(child));
        let mut rest = self.node(failing.into_iter().flat_map(|child| child.parts).collect());
        if rest.tally.rows > 0 && !self.holds(&rest) {
            valid.iter_mut().for_each(|child| self.pull(child, &mut rest));
            valid.sort_by_key(|child| std::cmp::Reverse(child.tally.rows));
            while !self.holds(&rest) {
                let Some(child) = valid.pop() else { break };
                rest = self.node(rest.parts.into_iter().chain(child.parts).collect());
            }
        }
        for child in valid {
            self.grow(child.parts, below)?;
        }
        if !rest.parts.is_empty() {
            add_up(&mut rest.parts);
            self.classes.push(rest.parts);
        }
        Ok(())
    }

    /// Moves rows of a child that holds without them, until what they go to holds.
    fn pull(&self, child: &mut Node, rest: &mut Node) {
        let mut places: Vec<usize> = (0..child.parts.len()).collect();
        if self.order == Order::Descending {
            places.reverse();
        }
        for at in places {
            let entry = child.parts[at].0;
            while child.parts[at].1 > 0 && !self.holds(rest) {
                self.judge.remove(&mut child.tally, self.entry(entry, 1), 1);
                if !self.holds(child) {
                    // As little can be done without any other row that is like it.
                    self.judge.add(&mut child.tally, self.entry(entry, 1), 1);
                    break;
                }
                child.parts[at].1 -= 1;
                self.judge.add(&mut rest.tally, self.entry(entry, 1), 1);
                rest.parts.push((entry, 1));
            }
        }
        child.parts.retain(|part| part.1 > 0);
    }
}
