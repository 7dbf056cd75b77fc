//! Searches in a table that stays with its engine because it is too large to be gathered: [`search_remote`].
//!
//! Full-domain algorithms cover the lattice with nodes that can be gathered (`by_lattice`). Mondrian and top-down
//! specialization cut the table where it is (`by_cuts`); what follows is about them.
//!
//! May use: everything below it, `algorithm` and `lattice` included.
//!
//! A cut is chosen by what each value of each column holds: its rows, their sensitive values, and how far they reach in
//! every column. All of that can be counted where the table is and added up: a [`Summary`]. [`PartialSearch::divide`]
//! chooses by it what the algorithm chooses with the rows at hand, by the same code, so the tree of cuts is the same.
//! Parts that can be gathered are [finished](PartialSearch::finish) here by the algorithm itself. In the end the
//! classes are brought together, and rows that are better left out are found as in a table that was gathered: only
//! classes that have such rows are kept with them.
//!
//! Top-down specialization pulls single rows back out of a child. How many of which sensitive value follows from the
//! same sums; which ones, from an order that every table has ([`Pulled`]). They are few, and travel with the searching
//! process from then on: [`DisplacedRows`].

mod assemble;
mod by_cuts;
mod by_lattice;
mod displaced;
mod divide;
mod remote;
mod summary;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::algorithm::{self, InParts, mondrian_options, supports_top_down};
use crate::control::Control;
use crate::frequency::{Entry, FrequencySet, Groups, NOBODY};
use crate::hierarchy::Generalize;
use crate::ids::SensitiveId;
use crate::local::class::Judge;
use crate::local::shape::Space;
use crate::requirement::Evaluator;
use crate::search::{Found, Search, SearchError, Suppressed};

pub use assemble::{Assembled, Finished, Omitted, PartialClass};
pub use displaced::{DisplacedRows, SplitRows};
pub use divide::{Division, Pulled};
pub use remote::{
    Combinations, Counts, Divided, DivisibleTable, MinimumClass, RemoteTable, Removed, TailQuery, TooLarge,
};
pub use summary::{Line, Summary};

/// Searches a table that stays with its engine; at most `most` combinations are gathered at a time, and `top` is the
/// table rolled up to one tuple. Returns a table with what was found in it; or, where nothing is said to be found, a
/// table in which the algorithm finds what it would find in the whole.
///
/// # Errors
/// When no recoding satisfies the policy, or when that cannot be found out, and whatever the engine fails with.
pub fn search_remote<R: DivisibleTable>(
    remote: &R,
    algorithm: &algorithm::Entry,
    top: R::Gathered,
    most: u64,
    control: &Control<'_>,
) -> Result<(R::Gathered, Option<Found>), R::Error> {
    let bottom = vec![0; remote.generalizations().len()];
    let combinations = remote.combinations(&bottom)?;
    let refused = |why: String| TooLarge {
        combinations,
        message: format!(
            "the table has {combinations} distinct combinations of quasi and sensitive values, more than the {most} that \
             are gathered, and {why}"
        ),
    };
    match algorithm.algorithm.in_parts() {
        InParts::Never => Err(refused(format!(
            "`{}` looks at all of them (`optimal`, `mondrian` and `top-down` need not)",
            algorithm.id
        ))
        .into()),
        InParts::Lattice(choice) => {
            by_lattice::search(remote, choice, top, most, control, refused).map(|gathered| (gathered, None))
        }
        cuts => {
            by_cuts::search(remote, cuts, &top, most, control, refused).map(|(gathered, found)| (gathered, Some(found)))
        }
    }
}

/// How parts are divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DivisionRule {
    Mondrian { median: bool },
    TopDown,
}

/// Where a part hangs in the tree of cuts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The sides taken.
    sides: Vec<u32>,
    /// The columns on which its rows are no longer specialized.
    stuck: Vec<bool>,
}

/// An algorithm on a table in parts.
pub struct PartialSearch<'a> {
    search: Search<'a>,
    space: Space,
    judge: Judge<'a>,
    way: DivisionRule,
    /// How many rows may be left out.
    limit: u64,
    turns: Vec<Vec<u32>>,
}

impl<'a> PartialSearch<'a> {
    /// A search in pieces by an algorithm that knows them. The set of `search` is the table rolled up
    /// to a single tuple: sensitive values with their counts.
    ///
    /// # Errors
    /// When no class can satisfy the policy, or the policy asks for what takes all rows at once.
    pub fn new(search: &Search<'a>, algorithm: InParts) -> Result<Self, SearchError> {
        let unsupported = |why: &str| Err(SearchError::Unsupported(why.to_string()));
        if search.set.persons {
            return unsupported("persons with several rows are told apart by all of them");
        }
        let way = match algorithm {
            InParts::Mondrian => {
                let (relaxed, median) = mondrian_options(search);
                if relaxed {
                    return unsupported("with `relaxed = true` rows that agree may part, so each of them is looked at");
                }
                DivisionRule::Mondrian { median }
            }
            InParts::TopDown => {
                supports_top_down(search)?;
                DivisionRule::TopDown
            }
            _ => return unsupported("the algorithm looks at all rows at once"),
        };
        let limit = search.suppression_limit();
        if limit > 0 && search.suppressed == Suppressed::Drop {
            let whole = Groups::collect(1, search.set.groups.entries.iter().map(|&e| (0, e)).collect()).entries;
            if !Evaluator::new(search.set, search.requirements).holds_all(&whole) {
                return unsupported(
                    "the table satisfies the policy only without some rows, which are chosen among all",
                );
            }
        }
        let space = Space::new(search.generalizations);
        let turns = search.generalizations.iter().zip(&space.places).map(|(g, places)| {
            let mut order: Vec<u32> = (0..places.len() as u32).collect();
            if g.generalize == Generalize::Hierarchy {
                order.sort_by_cached_key(|&c| g.levels.iter().rev().map(|l| l.of[c as usize]).collect::<Vec<u32>>());
            }
            order
        });
        let judge = Judge::new(search)?;
        if judge.needs_population() {
            return unsupported("the policy looks at a population, which pieces of a table do not know");
        }
        Ok(PartialSearch { turns: turns.collect(), judge, search: search.clone(), space, way, limit })
    }

    /// The codes of a column in the order in which the first and the last of some tell the cell over all of them.
    pub fn turns(&self, column: usize) -> &[u32] {
        self.turns.get(column).map_or(&[], Vec::as_slice)
    }

    /// Whether first and last tell the cell of a column; otherwise all codes are needed.
    pub fn spans(&self, column: usize) -> bool {
        self.search.generalizations.get(column).is_none_or(|g| g.generalize != Generalize::Sets)
    }

    /// Whether cuts depend on sensitive values.
    pub fn looks_at_sensitive(&self) -> bool {
        // Rows are pulled out of children by their sensitive values even if sizes alone are required.
        self.way == DivisionRule::TopDown || !self.judge.size_only
    }

    /// The place of the whole table.
    pub fn root(&self) -> Arc<Place> {
        Arc::new(Place { sides: Vec::new(), stuck: vec![false; self.space.width()] })
    }

    /// The table, rolled up to a single tuple.
    pub fn whole(&self) -> &'a FrequencySet {
        self.search.set
    }

    /// A frequency set of some rows of the table: `width` codes a row, and its sensitive tuple and count.
    pub fn part(&self, codes: &[u32], counts: &[(SensitiveId, u64)]) -> FrequencySet {
        let whole = self.whole();
        let width = whole.width;
        let row = |i: u32| &codes[i as usize * width..(i as usize + 1) * width];
        let mut order: Vec<u32> = (0..counts.len() as u32).collect();
        order.sort_by(|&a, &b| row(a).cmp(row(b)).then(counts[a as usize].0.cmp(&counts[b as usize].0)));
        let mut set = FrequencySet {
            tuples: Vec::new(),
            groups: Groups::default(),
            rows: counts.iter().map(|c| c.1).sum(),
            floor: Vec::new(),
            ..whole.clone()
        };
        for same in order.chunk_by(|&a, &b| row(a) == row(b)) {
            set.groups.offsets.push(set.groups.entries.len());
            set.tuples.extend_from_slice(row(same[0]));
            for &i in same {
                let (sensitive, rows) = counts[i as usize];
                set.groups.entries.push(Entry { sensitive, person: NOBODY, rows });
            }
        }
        set.groups.offsets.push(set.groups.entries.len());
        set
    }

    /// The number of a sensitive tuple of the table, given its codes.
    pub fn sensitive(&self, codes: &[u32]) -> Option<SensitiveId> {
        let whole = self.whole();
        let width = whole.sensitive_width;
        let count = whole.sensitive_count();
        let tuple = |i: usize| &whole.sensitive[i * width..(i + 1) * width];
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = low + (high - low) / 2;
            if tuple(middle) < codes { low = middle + 1 } else { high = middle }
        }
        (low < count && tuple(low) == codes).then_some(SensitiveId(low as u32))
    }
}
