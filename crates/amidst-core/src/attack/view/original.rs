//! The original quasi tuples of each class, as far as they are known.

use super::members::Members;
use super::tuples::{TupleTotals, Tuples};

/// The original quasi tuples of each class.
#[derive(Debug, Clone, Copy)]
pub enum Original<'a> {
    /// Told, with the persons of the class who have each.
    Told(&'a Tuples),
    /// As far as the numbers of rows tell who is in which class.
    Members(&'a Members<'a>),
}

impl Original<'_> {
    /// What the tuples of a class come to.
    pub(in crate::attack) fn whole(self, class: usize) -> TupleTotals {
        match self {
            Original::Members(members) => members.whole(class),
            Original::Told(tuples) => {
                let mut whole = TupleTotals::default();
                tuples.class(class).iter().for_each(|&(_, rows)| whole.add(rows));
                whole
            }
        }
    }

    /// The rows of every tuple of these classes, ascending, a list for each class.
    pub(in crate::attack) fn parts(self, classes: &[usize]) -> Vec<Vec<u64>> {
        let mut parts: Vec<Vec<u64>> = match self {
            Original::Told(tuples) => classes.iter().map(|&c| tuples.class(c).iter().map(|t| t.1).collect()).collect(),
            Original::Members(members) => {
                let mut place = vec![usize::MAX; classes.iter().max().map_or(0, |last| last + 1)];
                classes.iter().enumerate().for_each(|(at, &class)| place[class] = at);
                let mut parts = vec![Vec::new(); classes.len()];
                for (class, rows) in
                    members.of_classes(|class| place.get(class as usize).is_some_and(|&at| at != usize::MAX))
                {
                    parts[place[class as usize]].push(rows);
                }
                parts
            }
        };
        for own in &mut parts {
            own.retain(|&rows| rows > 0);
            own.sort_unstable();
        }
        parts
    }
}
