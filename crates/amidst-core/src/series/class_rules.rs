//! Cost, validity and split rule of a maintained class.

use super::rows::Rows;
use crate::frequency::{Entry, FrequencySet, Groups, NOBODY};
use crate::ids::SensitiveId;
use crate::local::class::{Judge, Tally};
use crate::local::shape::{Shape, ShapeWord, Space};
use crate::requirement::Requirement;
use crate::search::{Search, SearchError};

/// A class with its rows.
#[derive(Debug, Clone)]
pub(super) struct MaintainedClass {
    /// Its rows.
    pub rows: Vec<u32>,
    /// Its tightest shape, and what that costs a row.
    pub shape: Vec<ShapeWord>,
    pub cost: f64,
    pub tally: Tally,
}

/// The space of the table, and its policy.
#[derive(Debug)]
pub(super) struct ClassRules<'a> {
    set: &'a FrequencySet,
    pub space: Space,
    pub judge: Judge<'a>,
    /// A class may split when it has more than twice as many rows …
    pub k: u64,
    /// … and in each of these sensitive columns at least twice as many values.
    values: Vec<(usize, u64)>,
    /// Whether no further row, and no change elsewhere, can make a valid class invalid.
    pub grows_safely: bool,
}

fn one(sensitive: SensitiveId) -> Entry {
    Entry { sensitive, person: NOBODY, rows: 1 }
}

impl<'a> ClassRules<'a> {
    pub fn new(search: &Search<'a>) -> Result<Self, SearchError> {
        if search.set.persons {
            let message = "classes can only be maintained where everybody has one row, but a key repeats";
            return Err(SearchError::Unsupported(message.into()));
        }
        let judge = Judge::new(search)?;
        if judge.needs_population() {
            let message = "classes cannot be maintained against a population, which a series does not keep";
            return Err(SearchError::Unsupported(message.into()));
        }
        if let Some(r) = search.requirements.iter().find(|r| !r.monotone(search.set)) {
            let id = r.model.id;
            return Err(SearchError::Unsupported(format!(
                "{id} may fail once valid classes merge, so classes cannot be maintained for it; leave it out, or use a \
                 model that stays satisfied"
            )));
        }
        let stated = |key: &'static str| {
            search.requirements.iter().filter_map(move |r| {
                let number = r.parameters.get(key)?.number()?.to_f64();
                Some((r.on.first().copied(), (number - 1e-9).ceil().max(0.0) as u64))
            })
        };
        let k = stated("k").map(|(_, k)| k).max().unwrap_or(0).max(judge.least);
        let values = stated("l").chain(stated("p")).chain(stated("m")).filter_map(|(c, l)| Some((c?, l))).collect();
        Ok(ClassRules {
            set: search.set,
            space: Space::new(search.generalizations),
            k,
            values,
            grows_safely: judge.size_only || search.requirements.iter().all(Requirement::preserved_by_insertion),
            judge,
        })
    }

    /// A class of these rows.
    pub fn class(&self, rows: &Rows, members: Vec<u32>) -> MaintainedClass {
        let mut shape = self.space.empty();
        let mut tally = Tally::default();
        for (i, &row) in members.iter().enumerate() {
            if i == 0 {
                self.space.start(&mut shape, rows.codes(row));
            } else {
                self.space.add(&mut shape, rows.codes(row));
            }
            self.count(&mut tally, rows.sensitive(row));
        }
        let cost = if members.is_empty() { 0.0 } else { self.space.cost(&shape) };
        MaintainedClass { rows: members, shape, cost, tally }
    }

    /// By how much the total information loss grows when `codes` join a class of `rows` rows.
    #[inline]
    pub fn growth(&self, rows: f64, cost: f64, shape: &Shape, codes: &[u32]) -> f64 {
        let with = self.space.cost_with(shape, codes);
        rows * (with - cost) + with
    }

    /// As [`ClassRules::growth`]; `None` when it is sure to be more than `limit`.
    #[inline]
    pub fn growth_up_to(&self, rows: f64, cost: f64, shape: &Shape, codes: &[u32], limit: f64) -> Option<f64> {
        // Solved for the cost a row at which the growth equals `limit`; a little more, because of roundings.
        let most = (limit + rows * cost) / (rows + 1.0) * (1.0 + 1e-9) + 1e-9;
        let with = self.space.cost_with_up_to(shape, codes, most)?;
        Some(rows * (with - cost) + with)
    }

    /// Counts one more row.
    pub fn count(&self, tally: &mut Tally, sensitive: SensitiveId) {
        self.judge.add(tally, one(sensitive), 1);
    }

    /// Whether a class stays valid when a row with this sensitive tuple joins.
    pub fn accepts(&self, mut tally: Tally, sensitive: SensitiveId) -> bool {
        self.count(&mut tally, sensitive);
        self.judge.holds(&tally)
    }

    pub fn join(&self, class: &mut MaintainedClass, rows: &Rows, row: u32) {
        self.space.add(&mut class.shape, rows.codes(row));
        class.cost = self.space.cost(&class.shape);
        self.count(&mut class.tally, rows.sensitive(row));
        class.rows.push(row);
    }

    /// Whether a class is large and varied enough to become two.
    pub fn may_split(&self, rows: usize, tally: &Tally) -> bool {
        rows as u64 > 2 * self.k && self.values.iter().all(|&(column, l)| self.distinct(tally, column) >= 2 * l)
    }

    /// The number of values of a sensitive column in a class.
    fn distinct(&self, tally: &Tally, column: usize) -> u64 {
        let present = tally.counts.iter().filter(|c| c.1 > 0);
        if self.set.sensitive_width == 1 {
            return present.count() as u64;
        }
        let mut codes: Vec<u32> = present.map(|c| self.set.sensitive_code(c.0.0, column)).collect();
        codes.sort_unstable();
        codes.dedup();
        codes.len() as u64
    }
}

/// What a policy needs to know of a table to judge its classes: the sensitive tuples and how often each occurs.
pub fn marginal(set: &FrequencySet) -> FrequencySet {
    let all = set.groups.entries.iter().map(|e| (0, Entry { person: NOBODY, ..*e })).collect();
    FrequencySet {
        width: 0,
        tuples: Vec::new(),
        domains: Vec::new(),
        groups: Groups::collect(1, all),
        persons: false,
        floor: Vec::new(),
        sensitive: set.sensitive.clone(),
        sensitive_domains: set.sensitive_domains.clone(),
        ..*set
    }
}
