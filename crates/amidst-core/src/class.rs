//! A class of a release, as a privacy model sees it, and the table it came from.

use std::sync::Arc;

use crate::table::Dictionary;

/// Sensitive value codes with their counts, by code, without zeros.
pub type Histogram = [(u32, u64)];

/// The rows of a release that share one generalized tuple, through the eyes of one requirement.
#[derive(Debug, Clone, Copy)]
pub struct Class<'a> {
    /// The number of persons (rows, when the table has no key).
    pub size: u64,
    /// The requirement's sensitive column in this class; empty when the requirement has none.
    pub histogram: &'a Histogram,
    /// The distinct original tuples, of the table and of the population, that the class's generalized tuple covers, by
    /// id. Filled only for models that need them.
    pub tuples: &'a [u32],
}

impl<'a> Class<'a> {
    /// A class made of a histogram alone, one person a count.
    pub fn of(histogram: &'a Histogram) -> Self {
        Class { size: histogram.iter().map(|&(_, n)| n).sum(), histogram, tuples: &[] }
    }

    /// How often a sensitive value occurs in the class.
    #[inline]
    pub fn count(&self, code: u32) -> u64 {
        self.histogram.binary_search_by_key(&code, |&(c, _)| c).map_or(0, |i| self.histogram[i].1)
    }
}

/// The table as a whole, through the eyes of one requirement.
#[derive(Debug, Clone, Default)]
pub struct TableStats {
    /// The number of persons (rows, when the table has no key).
    pub size: u64,
    /// The requirement's sensitive column over the whole table.
    pub histogram: Vec<(u32, u64)>,
    /// Counts of a larger population, where the policy names one.
    pub population: Option<Arc<Population>>,
    /// For each tuple id, the table's own persons with that tuple: 0 for a tuple that only the population has. Filled
    /// only for models that need tuples.
    pub tuple_sizes: Vec<u64>,
}

impl TableStats {
    /// The least number of different values that have this share of the table together, a hair less against rounding.
    pub fn values_covering(&self, share: f64) -> u64 {
        let total = self.histogram.iter().map(|c| c.1).sum::<u64>() as f64;
        let mut counts: Vec<u64> = self.histogram.iter().map(|c| c.1).collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let mut covered = 0;
        let short = counts.iter().take_while(|&&n| {
            let short = (covered as f64) < (share - 1e-9) * total;
            covered += n;
            short
        });
        (short.count() as u64).max(1)
    }

    /// The people of the population who have one of these tuples; `None` without a population.
    pub fn people(&self, tuples: &[u32]) -> Option<Headcount> {
        let population = self.population.as_deref()?;
        let parts = tuples.iter().filter_map(|&t| population.totals.get(t as usize)).sum();
        Some(Headcount { parts, scale: population.scale })
    }

    /// How often a value occurs in the table.
    #[inline]
    pub fn count(&self, code: u32) -> u64 {
        // Codes are usually 0, 1, 2, … without gaps: the entry then stands at its code.
        match self.histogram.get(code as usize) {
            Some(&(c, n)) if c == code => n,
            _ => self.histogram.binary_search_by_key(&code, |&(c, _)| c).map_or(0, |i| self.histogram[i].1),
        }
    }
}

/// A set of sensitive codes, tested by one bit each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CodeSet {
    words: Vec<u64>,
    len: usize,
}

impl CodeSet {
    /// The codes of `values`. A value that the column does not contain can be in no class, so it has no code.
    pub fn of(values: &[String], dictionary: &Dictionary) -> Self {
        let mut set = CodeSet { words: vec![0; dictionary.len().div_ceil(64)], len: 0 };
        for code in values.iter().filter_map(|v| dictionary.code(v)) {
            let (word, bit) = (code as usize / 64, 1u64 << (code % 64));
            if set.words[word] & bit == 0 {
                set.words[word] |= bit;
                set.len += 1;
            }
        }
        set
    }

    /// Whether `code` is in the set.
    #[inline]
    pub fn contains(&self, code: u32) -> bool {
        self.words.get(code as usize / 64).is_some_and(|w| w >> (code % 64) & 1 == 1)
    }

    /// The number of codes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no code.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// Counts of (quasi tuple, sensitive value) in a population larger than the table, by tuple id.
///
/// The ids are those of the table's distinct tuples, followed by the tuples that only the population has. Counts need
/// not be whole, as those of weighted surveys are not: they are kept as multiples of 1/`scale`, so that sums stay
/// exact. All of them together are less than the largest number.
#[derive(Debug, Clone)]
pub struct Population {
    /// People per tuple.
    pub totals: Vec<u128>,
    /// People per tuple and sensitive code, by code; empty lists when the population has no sensitive column.
    pub histograms: Vec<Vec<(u32, u128)>>,
    /// How many parts make a person; at least 1.
    pub scale: u128,
}

impl Default for Population {
    fn default() -> Self {
        Population { totals: Vec::new(), histograms: Vec::new(), scale: 1 }
    }
}

#[cfg(test)]
impl Population {
    /// Figure 5 of the ℓ-diversity article, f in hundredths.
    pub(crate) fn of_figure_5() -> Self {
        Population { totals: vec![50, 50], histograms: vec![vec![(0, 15), (1, 35)], vec![(0, 25), (1, 25)]], scale: 1 }
    }
}

/// A number of people that need not be whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Headcount {
    /// How many parts they are.
    pub parts: u128,
    /// How many parts make a person.
    pub scale: u128,
}

impl Headcount {
    /// Nobody.
    pub const NOBODY: Headcount = Headcount { parts: 0, scale: 1 };

    /// Whether they are `k` people or more.
    pub fn is_at_least(self, k: u64) -> bool {
        // There are fewer parts than the largest number, so one that does not fit is not reached.
        u128::from(k).checked_mul(self.scale).is_some_and(|parts| self.parts >= parts)
    }
}

/// The ranks of values in an order that lists more of them than a table may have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ranking {
    /// The rank of each code that the order lists; those come first. Other values follow, one rank each where they
    /// occur.
    pub listed: Vec<u32>,
    /// How many values the order lists.
    pub ranks: u32,
}

/// The sizes of all classes of a release: all that a requirement on the whole release may look at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sizes {
    /// (class size, number of classes of that size), by size.
    pub counts: Vec<(u64, u64)>,
}

impl Sizes {
    /// Collects class sizes.
    pub fn collect(sizes: impl IntoIterator<Item = u64>) -> Self {
        // Of millions of classes nearly all are small.
        const SMALL: usize = 1 << 10;
        let mut small = vec![0u64; SMALL];
        let mut large = std::collections::BTreeMap::new();
        for size in sizes {
            match small.get_mut(usize::try_from(size).unwrap_or(SMALL)) {
                Some(count) => *count += 1,
                None => *large.entry(size).or_insert(0) += 1,
            }
        }
        Sizes { counts: (0u64..).zip(small).filter(|&(_, count)| count > 0).chain(large).collect() }
    }

    /// The number of classes.
    pub fn classes(&self) -> u64 {
        self.counts.iter().map(|&(_, c)| c).sum()
    }

    /// The number of persons.
    pub fn persons(&self) -> u64 {
        self.counts.iter().map(|&(s, c)| s * c).sum()
    }

    /// The smallest class.
    pub fn smallest(&self) -> Option<u64> {
        self.counts.first().map(|&(s, _)| s)
    }
}
