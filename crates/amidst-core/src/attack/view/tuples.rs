//! The original quasi tuples of each class, with the persons who have them.

use crate::frequency::FrequencySet;
use crate::recoding::Recoding;

/// The original quasi tuples of each class.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tuples {
    offsets: Vec<usize>,
    tuples: Vec<(u32, u64)>,
}

impl Tuples {
    /// Collects (class, tuple, persons) for `classes` classes, adding up persons of the same class and tuple. What lies
    /// outside the classes is left out.
    pub fn collect(classes: usize, parts: Vec<(u32, u32, u64)>) -> Self {
        // Counting puts the tuples of a class side by side; only within a class is anything sorted.
        let inside = || parts.iter().filter(|p| (p.0 as usize) < classes);
        let mut offsets = vec![0usize; classes + 1];
        inside().for_each(|p| offsets[p.0 as usize + 1] += 1);
        (0..classes).for_each(|class| offsets[class + 1] += offsets[class]);
        let mut next = offsets.clone();
        let mut tuples = vec![(0u32, 0u64); offsets[classes]];
        for &(class, tuple, persons) in inside() {
            let at = &mut next[class as usize];
            tuples[*at] = (tuple, persons);
            *at += 1;
        }
        let mut kept = 0;
        for class in 0..classes {
            let (start, end) = (offsets[class], offsets[class + 1]);
            let own = &mut tuples[start..end];
            if !own.is_sorted_by_key(|t| t.0) {
                own.sort_unstable_by_key(|t| t.0);
            }
            // What stands here moves towards the front as equal tuples fall together.
            offsets[class] = kept;
            for at in start..end {
                let (tuple, persons) = tuples[at];
                if kept > offsets[class] && tuples[kept - 1].0 == tuple {
                    tuples[kept - 1].1 += persons;
                } else {
                    tuples[kept] = (tuple, persons);
                    kept += 1;
                }
            }
        }
        offsets[classes] = kept;
        tuples.truncate(kept);
        Tuples { offsets, tuples }
    }

    /// The table's own tuples in the classes of `recoding`. Rows count as persons.
    pub fn of(set: &FrequencySet, recoding: &Recoding) -> Self {
        let mut parts = Vec::new();
        recoding.for_each_part(set, |part| {
            if let Some(class) = part.class {
                parts.push((class.0, part.tuple.0, part.entry.rows));
            }
        });
        Self::collect(recoding.classes.len(), parts)
    }

    /// How many classes there are.
    pub(super) fn classes(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// The (tuple, persons) of a class.
    pub fn class(&self, class: usize) -> &[(u32, u64)] {
        match (self.offsets.get(class), self.offsets.get(class + 1)) {
            (Some(&start), Some(&end)) => &self.tuples[start..end],
            _ => &[],
        }
    }
}

/// What the original tuples of a class come to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::attack) struct TupleTotals {
    /// How many tuples someone has.
    pub tuples: u64,
    /// The rows of all of them, and of the one that has the fewest.
    pub rows: u64,
    pub fewest: u64,
}

impl TupleTotals {
    /// Adds a tuple.
    pub fn add(&mut self, rows: u64) {
        if rows > 0 {
            self.fewest = if self.tuples == 0 { rows } else { self.fewest.min(rows) };
            self.tuples += 1;
            self.rows += rows;
        }
    }

    /// Adds other tuples.
    pub fn join(&mut self, more: &TupleTotals) {
        if more.tuples > 0 {
            self.fewest = if self.tuples == 0 { more.fewest } else { self.fewest.min(more.fewest) };
            self.tuples += more.tuples;
            self.rows += more.rows;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tuples_are_collected_by_class() {
        let tuples = Tuples::collect(4, vec![(2, 5, 1), (0, 7, 2), (2, 5, 3), (2, 4, 1), (9, 1, 1)]);
        assert_eq!(tuples.class(0), [(7, 2)]);
        assert_eq!(tuples.class(1), []);
        assert_eq!(tuples.class(2), [(4, 1), (5, 4)]);
        assert_eq!((tuples.class(3), tuples.class(4)), ([].as_slice(), [].as_slice()));
    }
}
