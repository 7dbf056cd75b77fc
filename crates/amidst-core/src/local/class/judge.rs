//! Whether a class under construction satisfies the policy: the requirements, tested on running counts.

use rustc_hash::FxHashMap;

use crate::class::{Class, Headcount, Sizes};
use crate::exact::Rational;
use crate::frequency::{self, Entry, FrequencySet, NOBODY, add_up};
use crate::hierarchy::Cell;
use crate::ids::SensitiveId;
use crate::local::index::PopulationIndex;
use crate::local::shape::Space;
use crate::model::Needs;
use crate::requirement::{Evaluator, Requirement};
use crate::search::{Search, SearchError, feasibility};

/// Rows per sensitive tuple and person, in ascending order.
pub type Counts = Vec<((SensitiveId, u32), u64)>;

/// Rows per value of a sensitive column, in ascending order.
pub(crate) type Histogram = Vec<(u32, u64)>;

/// What a class holds so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// The number of rows.
    pub rows: u64,
    /// Rows per sensitive tuple (and person, where persons repeat), in ascending order. Empty when the policy looks at
    /// sizes only.
    pub counts: Counts,
}

impl Tally {
    /// The counts that are not zero.
    fn present(&self) -> impl Iterator<Item = ((SensitiveId, u32), u64)> {
        self.counts.iter().copied().filter(|c| c.1 > 0)
    }

    /// The same keys, with nothing counted.
    pub fn emptied(&self) -> Tally {
        Tally { rows: 0, counts: self.counts.iter().map(|c| (c.0, 0)).collect() }
    }

    /// Moves rows from this tally to another with the same keys.
    pub fn shift(&mut self, to: &mut Tally, entry: Entry, rows: u64) {
        self.rows -= rows;
        to.rows += rows;
        let key = (entry.sensitive, entry.person);
        // Most classes of any size hold every value: then the value is the position.
        let at = match self.counts.get(entry.sensitive.index()) {
            Some(c) if c.0 == key => Some(entry.sensitive.index()),
            _ => self.counts.binary_search_by_key(&key, |c| c.0).ok(),
        };
        if let Some(at) = at {
            self.counts[at].1 -= rows;
            to.counts[at].1 += rows;
        }
    }
}

/// The people whom a requirement looks at.
fn population_index(search: &Search<'_>, requirement: &Requirement) -> Option<PopulationIndex> {
    let population = requirement.population.as_deref().filter(|_| requirement.needs() == Needs::Tuples)?;
    Some(PopulationIndex::new(search.set, search.generalizations, population))
}

/// How a requirement is tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Test {
    /// By the number of rows alone.
    Size,
    /// By the size that every class must have for the release as a whole to pass.
    Release,
    /// By the histogram of one sensitive column.
    Histogram(usize),
    /// As the evaluator does, on entries.
    Entries,
    /// By the people of a population whom the cells match.
    People,
}

/// Tests tallies against every requirement.
#[derive(Debug)]
pub struct Judge<'a> {
    set: &'a FrequencySet,
    evaluator: Evaluator<'a>,
    tests: Vec<Test>,
    /// The population of each requirement that looks at one.
    populations: Vec<Option<PopulationIndex>>,
    /// Whether the policy looks at nothing but the number of rows.
    pub size_only: bool,
    /// No class with fewer rows can satisfy the policy.
    pub least: u64,
    /// Whether merging satisfying classes always gives a satisfying class.
    pub monotone: bool,
    /// The largest share of any value, where more is asked than the policy does.
    most: Option<Rational>,
    /// For each sensitive tuple the first with the same values in the columns that the policy looks at; none where it
    /// looks at all of them.
    alike: Option<Vec<SensitiveId>>,
    /// How many counts were looked at so far.
    #[cfg(test)]
    pub(crate) looked: std::sync::atomic::AtomicU64,
}

/// For each sensitive tuple the first with the same values in the columns that the requirements look at.
fn alike(set: &FrequencySet, requirements: &[Requirement]) -> Option<Vec<SensitiveId>> {
    let looked: Vec<usize> =
        (0..set.sensitive_width).filter(|c| requirements.iter().any(|r| r.on.contains(c))).collect();
    if looked.len() == set.sensitive_width {
        return None;
    }
    let mut first: FxHashMap<Vec<u32>, SensitiveId> = FxHashMap::default();
    let ids = (0..set.sensitive_count() as u32).map(SensitiveId);
    let codes = |id: SensitiveId| looked.iter().map(|&c| set.sensitive_code(id, c)).collect();
    Some(ids.map(|id| *first.entry(codes(id)).or_insert(id)).collect())
}

impl<'a> Judge<'a> {
    /// A judge for the search's policy. Fails when not even the whole table as one class satisfies it.
    pub fn new(search: &Search<'a>) -> Result<Self, SearchError> {
        let (set, requirements) = (search.set, search.requirements);
        if let Some(r) = requirements.iter().find(|r| r.needs() == Needs::Tuples && !r.counts_people()) {
            return Err(SearchError::Unsupported(format!(
                "{} looks at each tuple that a class covers and can be lost when a class grows; choose a full-domain \
                 algorithm, such as optimal",
                r.model.id
            )));
        }
        let evaluator = Evaluator::new(set, requirements);
        let tests: Vec<Test> = (requirements.iter())
            .map(|r| match (r.needs(), &r.on[..]) {
                (Needs::Release, _) => Test::Release,
                (Needs::Tuples, _) => Test::People,
                _ if set.persons => Test::Entries,
                (Needs::Size, _) => Test::Size,
                (Needs::Histogram, &[column]) => Test::Histogram(column),
                _ => Test::Entries,
            })
            .collect();
        let mut judge = Judge {
            size_only: !set.persons && tests.iter().all(|&t| matches!(t, Test::Size | Test::Release)),
            monotone: requirements.iter().all(|r| r.monotone_overlapping(set)),
            populations: requirements.iter().map(|r| population_index(search, r)).collect(),
            set,
            evaluator,
            tests,
            least: 1,
            most: None,
            alike: alike(set, requirements),
            #[cfg(test)]
            looked: std::sync::atomic::AtomicU64::new(0),
        };
        let everything = judge.tally(set.groups.entries.iter().copied());
        if let Some(impossible) = feasibility::impossible(search) {
            return Err(SearchError::Impossible(impossible));
        }
        if set.rows > 0
            && let Some(r) = (0..requirements.len()).find(|&r| !judge.holds_one(r, &everything))
        {
            let words = feasibility::words(&requirements[r]);
            return Err(SearchError::Impossible(
                format!("not even all rows together as one class satisfy {words}").into(),
            ));
        }
        if set.rows > 0 && judge.needs_population() {
            judge.all_rows_match(search, &everything)?;
        }
        judge.least = judge.least_rows(&everything);
        Ok(judge)
    }

    /// Fails when not even the cells over all rows match as many people as a requirement wants.
    fn all_rows_match(&self, search: &Search<'a>, everything: &Tally) -> Result<(), SearchError> {
        let space = Space::new(search.generalizations);
        let present = (0..self.set.len()).filter(|&tuple| !self.set.groups.get(tuple).is_empty());
        let codes: Vec<u32> = present.flat_map(|tuple| self.set.tuple(tuple)).copied().collect();
        let cells = space.cells(&space.over(&codes, None));
        let Some(r) = (0..self.tests.len()).find(|&r| !self.matches(r, everything, Some(&cells))) else {
            return Ok(());
        };
        let words = feasibility::words(&search.requirements[r]);
        let people = self.populations[r].as_ref().map_or(Headcount::NOBODY, |population| population.people(&cells));
        let message = format!(
            "not even all rows together as one class satisfy {words}: their values match {} people of the population; a \
             full-domain algorithm, such as optimal, may publish labels that match more",
            people.parts / people.scale.max(1)
        );
        Err(SearchError::Impossible(message.into()))
    }

    /// The same for a policy that asks for more: classes of at least `k` rows, and, of the columns whose values have
    /// bounds on their shares, no value with more than the share `most`. `None` where not even all rows together have
    /// that.
    pub fn stricter(mut self, k: u64, most: Option<Rational>) -> Option<Self> {
        (self.least, self.most) = (self.least.max(k), most);
        let everything = self.tally(self.set.groups.entries.iter().copied());
        self.counts_hold(&everything).then_some(self)
    }

    /// The strictest share that the policy states for a value, where it bounds shares.
    pub fn strictest_share(&self) -> Option<Rational> {
        self.evaluator.requirements().iter().filter_map(|r| r.models[0].strictest_share()).min()
    }

    /// The least number of rows with which a class can satisfy the requirements on sizes, for quick rejection.
    fn least_rows(&self, everything: &Tally) -> u64 {
        if self.set.persons {
            return 1;
        }
        // Sizes are monotone, so the least size is found by halving.
        let (mut low, mut high) = (1, everything.rows.max(1));
        while low < high {
            let middle = low + (high - low) / 2;
            let holds = (0..self.tests.len())
                .filter(|&r| matches!(self.tests[r], Test::Size | Test::Release))
                .all(|r| self.holds_one(r, &Tally { rows: middle, counts: Vec::new() }));
            if holds { high = middle } else { low = middle + 1 }
        }
        let of = |(r, requirement): (usize, &Requirement)| {
            let models = requirement.models.iter().enumerate();
            models.map(|(m, model)| model.least_rows(self.evaluator.table(r, m))).max().unwrap_or(1)
        };
        let models = self.evaluator.requirements().iter().enumerate().map(of);
        models.fold(low, u64::max).min(everything.rows.max(1))
    }

    /// A sensitive tuple that the policy cannot tell from this one, the same for all that it cannot tell apart. Tallies
    /// that count by it are judged the same and may be much shorter.
    #[inline]
    pub(crate) fn alike(&self, sensitive: SensitiveId) -> SensitiveId {
        self.alike.as_ref().map_or(sensitive, |alike| alike[sensitive.index()])
    }

    /// A tally of some entries.
    pub fn tally(&self, entries: impl IntoIterator<Item = Entry>) -> Tally {
        let mut tally = Tally::default();
        if self.size_only {
            tally.rows = entries.into_iter().map(|e| e.rows).sum();
            return tally;
        }
        let entries = entries.into_iter();
        let tuples = self.set.sensitive_count();
        let mut counts: Counts;
        if !self.set.persons && entries.size_hint().0 > tuples {
            // Many entries: adding up by value beats sorting them.
            counts = (0..tuples as u32).map(|id| ((SensitiveId(id), NOBODY), 0)).collect();
            entries.for_each(|e| counts[e.sensitive.index()].1 += e.rows);
            counts.retain(|c| c.1 > 0);
        } else {
            counts = entries.map(|e| ((e.sensitive, e.person), e.rows)).collect();
            add_up(&mut counts);
        }
        tally.rows = counts.iter().map(|c| c.1).sum();
        tally.counts = counts;
        tally
    }

    /// Adds rows of an entry.
    pub fn add(&self, tally: &mut Tally, entry: Entry, rows: u64) {
        tally.rows += rows;
        if !self.size_only {
            let key = (entry.sensitive, entry.person);
            match tally.counts.binary_search_by_key(&key, |c| c.0) {
                Ok(i) => tally.counts[i].1 += rows,
                Err(i) => tally.counts.insert(i, (key, rows)),
            }
        }
    }

    /// Takes rows of an entry away.
    pub fn remove(&self, tally: &mut Tally, entry: Entry, rows: u64) {
        tally.rows -= rows;
        if !self.size_only {
            let key = (entry.sensitive, entry.person);
            if let Ok(i) = tally.counts.binary_search_by_key(&key, |c| c.0) {
                tally.counts[i].1 -= rows;
                if tally.counts[i].1 == 0 {
                    tally.counts.remove(i);
                }
            }
        }
    }

    /// Adds one tally to another.
    pub fn merge(&self, tally: &mut Tally, other: &Tally) {
        tally.rows += other.rows;
        for &(key, rows) in &other.counts {
            match tally.counts.binary_search_by_key(&key, |c| c.0) {
                Ok(i) => tally.counts[i].1 += rows,
                Err(i) => tally.counts.insert(i, (key, rows)),
            }
        }
    }

    /// Rule 2 of the (α,k) clustering: whether a class that will be filled up to k rows keeps every bound on the share
    /// of a sensitive value. Models that bound no share have no say.
    pub fn compatible(&self, tally: &Tally, k: u64) -> bool {
        self.within_most(tally, k)
            && self.evaluator.requirements().iter().enumerate().all(|(r, requirement)| match self.tests[r] {
                Test::Histogram(column) if requirement.models[0].bounds_shares() => {
                    let histogram = self.histogram(tally, column);
                    let class = Class { size: tally.rows.max(k), histogram: &histogram, tuples: &[] };
                    requirement.models[0].holds(&class, self.evaluator.table(r, 0))
                }
                _ => true,
            })
    }

    /// The same as if every value had to keep the strictest share that is stated for any.
    pub fn varied(&self, tally: &Tally, k: u64) -> bool {
        self.evaluator.requirements().iter().enumerate().all(|(r, requirement)| {
            let (Test::Histogram(column), Some(share)) = (self.tests[r], requirement.models[0].strictest_share())
            else {
                return true;
            };
            let most = self.histogram(tally, column).iter().map(|c| c.1).max().unwrap_or(0);
            share.compare_count(most, tally.rows.max(k)).is_le()
        })
    }

    /// Whether no value has more than the share that is asked for beyond the policy, of at least k rows.
    fn within_most(&self, tally: &Tally, k: u64) -> bool {
        let Some(share) = &self.most else { return true };
        self.evaluator.requirements().iter().enumerate().all(|(r, requirement)| match self.tests[r] {
            Test::Histogram(column) if requirement.models[0].bounds_shares() => {
                let most = self.histogram(tally, column).iter().map(|c| c.1).max().unwrap_or(0);
                share.compare_count(most, tally.rows.max(k)).is_le()
            }
            _ => true,
        })
    }

    /// The histogram of one sensitive column.
    fn histogram(&self, tally: &Tally, column: usize) -> Vec<(u32, u64)> {
        #[cfg(test)]
        self.looked.fetch_add(tally.counts.len() as u64, std::sync::atomic::Ordering::Relaxed);
        let mut histogram: Vec<(u32, u64)> =
            tally.present().map(|((s, _), rows)| (self.set.sensitive_code(s, column), rows)).collect();
        self.add_up(&mut histogram, column);
        histogram
    }

    /// Rows of the same value of a column together, in ascending order.
    fn add_up(&self, histogram: &mut Histogram, column: usize) {
        let values = self.set.sensitive_domains.get(column).copied().unwrap_or(usize::MAX);
        if self.set.sensitive_width < 2 {
            return;
        }
        // Many counts: adding up by value beats sorting them.
        if histogram.len() < values {
            return add_up(histogram);
        }
        let mut rows = vec![0; values];
        histogram.iter().for_each(|&(value, more)| rows[value as usize] += more);
        histogram.clear();
        histogram.extend((0..).zip(rows).filter(|c| c.1 > 0));
    }

    /// The number of persons in a class: rows, where no person has two.
    fn size(&self, tally: &Tally) -> u64 {
        if !self.set.persons {
            return tally.rows;
        }
        let entries: Vec<Entry> =
            tally.present().map(|((sensitive, person), rows)| Entry { sensitive, person, rows }).collect();
        frequency::size(&entries)
    }

    /// Whether the policy looks at the people of a population, so that the cells of a class matter.
    pub fn needs_population(&self) -> bool {
        self.tests.contains(&Test::People)
    }

    /// Whether a class with this tally and these cells satisfies every requirement; none are the cells of a class that
    /// covers everything.
    pub fn holds_over(&self, tally: &Tally, cells: impl FnOnce() -> Option<Vec<Cell>>) -> bool {
        self.counts_hold(tally)
            && (!self.needs_population() || {
                let cells = cells();
                (0..self.tests.len()).all(|r| self.matches(r, tally, cells.as_deref()))
            })
    }

    /// Whether a class with these cells matches as many people as the requirement wants.
    fn matches(&self, r: usize, tally: &Tally, cells: Option<&[Cell]>) -> bool {
        if self.tests[r] != Test::People {
            return true;
        }
        let Some(population) = &self.populations[r] else { return false };
        let people = cells.map_or_else(|| population.everyone(), |cells| population.people(cells));
        let size = self.size(tally);
        self.evaluator.requirements()[r].models.iter().all(|m| m.holds_among(size, people) == Some(true))
    }

    /// Whether rows that count this may be two classes, as far as the different values tell that each class needs: a
    /// value that occurs once is in one of them only.
    pub fn divisible(&self, tally: &Tally) -> bool {
        let enough = |(r, test): (usize, &Test)| match *test {
            Test::Histogram(column) => {
                let least = self.evaluator.requirements()[r].models[0].least_different(self.evaluator.table(r, 0));
                let different: u64 = self.histogram(tally, column).iter().map(|c| c.1.min(2)).sum();
                different >= least.saturating_mul(2)
            }
            _ => true,
        };
        self.tests.iter().enumerate().all(enough)
    }

    /// Whether a class with this tally satisfies every requirement. Never where a population counts: that takes the
    /// cells of the class ([`Judge::holds_over`]).
    pub fn holds(&self, tally: &Tally) -> bool {
        self.counts_hold(tally) && !self.needs_population()
    }

    /// The same for a number of rows of each sensitive tuple, in ascending order, where no person has several rows.
    /// `spare` is memory that is used again and again.
    pub(crate) fn holds_counted(
        &self,
        rows: u64,
        counts: impl Iterator<Item = (SensitiveId, u64)> + Clone,
        spare: &mut Histogram,
    ) -> bool {
        let counts = counts.filter(|c| c.1 > 0);
        let holds = |(r, test): (usize, &Test)| match *test {
            // This number of rows is enough for these.
            Test::Size | Test::Release | Test::People => true,
            Test::Histogram(column) => {
                spare.clear();
                spare.extend(counts.clone().map(|(s, rows)| (self.set.sensitive_code(s, column), rows)));
                self.add_up(spare, column);
                let class = Class { size: rows, histogram: spare, tuples: &[] };
                self.evaluator.requirements()[r].models[0].holds(&class, self.evaluator.table(r, 0))
            }
            Test::Entries => {
                let entry = |(sensitive, rows)| Entry { sensitive, person: NOBODY, rows };
                self.evaluator.holds(r, &counts.clone().map(entry).collect::<Vec<Entry>>())
            }
        };
        rows >= self.least && (self.size_only || self.tests.iter().enumerate().all(holds))
    }

    /// Whether a class with this tally satisfies every requirement that does not ask for its cells.
    pub(crate) fn counts_hold(&self, tally: &Tally) -> bool {
        tally.rows >= self.least
            && (self.size_only || (0..self.tests.len()).all(|r| self.holds_one(r, tally)))
            && self.within_most(tally, 0)
    }

    fn holds_one(&self, r: usize, tally: &Tally) -> bool {
        let requirement = &self.evaluator.requirements()[r];
        let model = requirement.models[0].as_ref();
        match self.tests[r] {
            // If a release made of nothing but classes of this size passes, one of larger classes does.
            Test::Release => model.holds_release(&Sizes { counts: vec![(self.size(tally), 1)] }),
            Test::People => true,
            Test::Size => {
                let class = Class { size: tally.rows, histogram: &[], tuples: &[] };
                model.holds(&class, self.evaluator.table(r, 0))
            }
            Test::Histogram(column) => {
                let histogram = self.histogram(tally, column);
                let class = Class { size: tally.rows, histogram: &histogram, tuples: &[] };
                model.holds(&class, self.evaluator.table(r, 0))
            }
            Test::Entries => {
                let entries: Vec<Entry> =
                    tally.present().map(|((sensitive, person), rows)| Entry { sensitive, person, rows }).collect();
                self.evaluator.holds(r, &entries)
            }
        }
    }
}
