//! A table at a node of the lattice: its distinct generalized tuples, packed so that a pattern of stars is one mask.

use rustc_hash::FxHashMap;

use crate::frequency::FrequencySet;
use crate::hierarchy::{Cell, Generalization};
use crate::local::class::{Judge, Tally};
use crate::metric::{self, column_weights};
use crate::recoding::{Assignment, Recoding, SUPPRESSED};

/// The codes of a generalized tuple, packed. A field of ones is the top.
pub(super) type Key = [u64; WORDS];

const WORDS: usize = 4;

/// A set of columns, one bit each.
pub(super) type Pattern = u64;

/// The most columns that a pattern holds.
pub(super) const MOST_COLUMNS: usize = 64;

/// What a row loses by its cells, for every column, level and value; and what a suppressed row loses.
#[derive(Debug)]
pub(super) struct Prices {
    /// By column, level and value.
    cells: Vec<Vec<Vec<f64>>>,
    /// By column and level: what all rows lose together.
    base: Vec<Vec<f64>>,
    /// What a suppressed row loses.
    pub row: f64,
}

impl Prices {
    /// The prices by what a metric says of single cells, times the weights of the columns.
    pub fn new(set: &FrequencySet, generalizations: &[Generalization], loss: metric::CellLoss) -> Self {
        let weights = column_weights(generalizations);
        let of_column = |(g, &weight): (&Generalization, &f64)| -> Vec<Vec<f64>> {
            let price = |level: usize, value: usize| weight * loss(g, &published(g, level, value as u32));
            (g.levels.iter().enumerate())
                .map(|(l, level)| (0..level.labels.len()).map(|v| price(l, v)).collect())
                .collect()
        };
        let cells: Vec<Vec<Vec<f64>>> = generalizations.iter().zip(&weights).map(of_column).collect();
        let mut rows: Vec<Vec<u64>> = generalizations.iter().map(|g| vec![0; g.levels[0].of.len()]).collect();
        for tuple in 0..set.len() {
            let count: u64 = set.groups.get(tuple).iter().map(|e| e.rows).sum();
            set.tuple(tuple).iter().zip(&mut rows).for_each(|(&code, rows)| rows[code as usize] += count);
        }
        let base = (generalizations.iter().zip(&cells).zip(&rows))
            .map(|((g, cells), rows)| {
                let at = |(level, prices): (&crate::hierarchy::GeneralizedLevel, &Vec<f64>)| -> f64 {
                    rows.iter().zip(&level.of).map(|(&n, &value)| n as f64 * prices[value as usize]).sum()
                };
                g.levels.iter().zip(cells).map(at).collect()
            })
            .collect();
        Prices { cells, base, row: weights.iter().sum() }
    }

    /// What all rows lose at a node before any cell is suppressed: no placement at the node, nor at a coarser one,
    /// costs less.
    pub fn base(&self, levels: &[usize]) -> f64 {
        self.base.iter().zip(levels).map(|(base, &level)| base[level]).sum()
    }
}

/// The cell of a value at a level. What is called like the top is the top, whichever level it is of: no reader can tell
/// them apart.
pub(crate) fn published(g: &Generalization, level: usize, value: u32) -> Cell {
    match g.is_top(level, value) {
        true => Cell::Node { level: g.height() as u32, value: 0 },
        false => Cell::Node { level: level as u32, value },
    }
}

/// Where the code of a column lies in a key.
#[derive(Debug, Clone, Copy)]
struct Field {
    word: usize,
    shift: u32,
    mask: u64,
}

/// A distinct generalized tuple.
#[derive(Debug, Clone)]
pub(super) struct Unit {
    /// Its codes.
    pub key: Key,
    /// Its rows.
    pub rows: u64,
    /// A tuple of the table that is generalized to it.
    first: u32,
}

/// The table at a node.
#[derive(Debug)]
pub(super) struct Coded<'a> {
    pub set: &'a FrequencySet,
    pub generalizations: &'a [Generalization],
    pub prices: &'a Prices,
    pub levels: Vec<usize>,
    /// The distinct generalized tuples, in the order of the table.
    pub units: Vec<Unit>,
    pub unit_of_tuple: Vec<u32>,
    /// The tuples of each unit: those of unit `u` from `offsets[u]` to `offsets[u + 1]`.
    offsets: Vec<u32>,
    members: Vec<u32>,
    fields: Vec<Field>,
    /// The columns in which a star changes anything.
    pub columns: Vec<usize>,
}

impl<'a> Coded<'a> {
    /// The table at `levels`; nothing where its values do not fit a key.
    pub fn new(
        set: &'a FrequencySet,
        generalizations: &'a [Generalization],
        prices: &'a Prices,
        levels: &[usize],
    ) -> Option<Self> {
        let fields = fields(generalizations, levels)?;
        // What is published as the top already is one value with it, whichever level it is of.
        let codes: Vec<Vec<u64>> = (generalizations.iter().zip(levels).zip(&fields))
            .map(|((g, &level), field)| {
                let code = |&value: &u32| match g.is_top(level, value) {
                    true => field.mask,
                    false => u64::from(value),
                };
                g.levels[level].of.iter().map(code).collect()
            })
            .collect();
        let mut index: FxHashMap<Key, u32> = FxHashMap::default();
        let mut units: Vec<Unit> = Vec::new();
        let mut unit_of_tuple = Vec::with_capacity(set.len());
        for tuple in 0..set.len() {
            let rows: u64 = set.groups.get(tuple).iter().map(|e| e.rows).sum();
            let mut key: Key = [0; WORDS];
            for ((&code, codes), field) in set.tuple(tuple).iter().zip(&codes).zip(&fields) {
                key[field.word] |= codes[code as usize] << field.shift;
            }
            let unit = *index.entry(key).or_insert_with(|| {
                units.push(Unit { key, rows: 0, first: tuple as u32 });
                units.len() as u32 - 1
            });
            units[unit as usize].rows += rows;
            unit_of_tuple.push(unit);
        }
        let mut offsets = vec![0u32; units.len() + 1];
        unit_of_tuple.iter().for_each(|&u| offsets[u as usize + 1] += 1);
        (0..units.len()).for_each(|u| offsets[u + 1] += offsets[u]);
        let mut next = offsets.clone();
        let mut members = vec![0u32; unit_of_tuple.len()];
        for (tuple, &unit) in unit_of_tuple.iter().enumerate() {
            members[next[unit as usize] as usize] = tuple as u32;
            next[unit as usize] += 1;
        }
        let columns = (0..levels.len()).filter(|&c| levels[c] < generalizations[c].height()).collect();
        let levels = levels.to_vec();
        Some(Coded { set, generalizations, prices, levels, units, unit_of_tuple, offsets, members, fields, columns })
    }

    /// The tuples of a unit.
    pub fn tuples(&self, unit: u32) -> &[u32] {
        &self.members[self.offsets[unit as usize] as usize..self.offsets[unit as usize + 1] as usize]
    }

    /// What a unit holds.
    pub fn tally(&self, judge: &Judge<'_>, unit: u32) -> Tally {
        if judge.size_only {
            return Tally { rows: self.units[unit as usize].rows, counts: Vec::new() };
        }
        judge.tally(self.tuples(unit).iter().flat_map(|&t| self.set.groups.get(t as usize)).copied())
    }

    /// The stars of a pattern, to be laid over keys.
    pub fn stars(&self, pattern: Pattern) -> Key {
        let mut stars = [0; WORDS];
        for (c, field) in self.fields.iter().enumerate().filter(|(c, _)| pattern >> c & 1 == 1) {
            debug_assert!(c < MOST_COLUMNS);
            stars[field.word] |= field.mask << field.shift;
        }
        stars
    }

    /// The key of a unit's rows when they are given the stars.
    pub fn starred(&self, unit: u32, stars: &Key) -> Key {
        let mut key = self.units[unit as usize].key;
        key.iter_mut().zip(stars).for_each(|(word, stars)| *word |= stars);
        key
    }

    /// What a row of the unit loses more when the cell of a column becomes the top.
    pub fn extra(&self, unit: u32, column: usize) -> f64 {
        let code = self.set.tuple(self.units[unit as usize].first as usize)[column] as usize;
        let (level, g) = (self.levels[column], &self.generalizations[column]);
        let prices = &self.prices.cells[column];
        (prices[g.height()][0] - prices[level][g.levels[level].of[code] as usize]).max(0.0)
    }

    /// The same for all columns of a pattern.
    pub fn extra_of(&self, unit: u32, pattern: Pattern) -> f64 {
        self.columns.iter().filter(|&&c| pattern >> c & 1 == 1).map(|&c| self.extra(unit, c)).sum()
    }

    /// What a row of the unit loses more when it is suppressed.
    pub fn dropped_extra(&self, unit: u32) -> f64 {
        let codes = self.set.tuple(self.units[unit as usize].first as usize);
        let now: f64 = (codes.iter().zip(self.generalizations).enumerate())
            .map(|(c, (&code, g))| {
                let level = self.levels[c];
                self.prices.cells[c][level][g.levels[level].of[code as usize] as usize]
            })
            .sum();
        (self.prices.row - now).max(0.0)
    }

    /// The cells of a unit's rows under a pattern.
    fn cells(&self, unit: u32, pattern: Pattern) -> Vec<Cell> {
        let codes = self.set.tuple(self.units[unit as usize].first as usize);
        let cell = |(c, (&code, g)): (usize, (&u32, &Generalization))| {
            let level = if pattern >> c & 1 == 1 { g.height() } else { self.levels[c] };
            published(g, level, g.levels[level].of[code as usize])
        };
        codes.iter().zip(self.generalizations).enumerate().map(cell).collect()
    }

    /// The recoding in which `rows` of each entry go under a pattern, or are suppressed. Every row of the table is
    /// named once.
    pub fn recoding(&self, runs: &[Run]) -> Recoding {
        let mut index: FxHashMap<Key, u32> = FxHashMap::default();
        let mut classes: Vec<Vec<Cell>> = Vec::new();
        let mut stars: FxHashMap<Pattern, Key> = FxHashMap::default();
        let mut of_entry: Vec<Vec<(u32, u64)>> = vec![Vec::new(); self.set.groups.entries.len()];
        let mut plain = true;
        for run in runs {
            let class = match run.pattern {
                None => SUPPRESSED,
                Some(pattern) => {
                    plain &= pattern == 0;
                    let key = self.starred(run.unit, stars.entry(pattern).or_insert_with(|| self.stars(pattern)));
                    *index.entry(key).or_insert_with(|| {
                        classes.push(self.cells(run.unit, pattern));
                        classes.len() as u32 - 1
                    })
                }
            };
            match of_entry[run.entry as usize].iter_mut().find(|r| r.0 == class) {
                Some(known) => known.1 += run.rows,
                None => of_entry[run.entry as usize].push((class, run.rows)),
            }
        }
        let mut offsets = vec![0];
        let mut merged = Vec::with_capacity(of_entry.len());
        for runs in of_entry {
            merged.extend(runs);
            offsets.push(merged.len());
        }
        let assignment = self.by_tuples(&offsets, &merged).unwrap_or(Assignment::Entries { offsets, runs: merged });
        let levels = plain.then(|| self.levels.clone()).filter(|_| matches!(assignment, Assignment::Tuples(_)));
        Recoding { classes, assignment, levels, masked: None, shown: None }
    }

    /// The class of each tuple, where none is divided.
    fn by_tuples(&self, offsets: &[usize], runs: &[(u32, u64)]) -> Option<Assignment> {
        let class = |tuple: usize| {
            let entries = self.set.groups.offsets[tuple]..self.set.groups.offsets[tuple + 1];
            let mut classes = entries.map(|e| match runs[offsets[e]..offsets[e + 1]] {
                [(class, _)] => Some(class),
                _ => None,
            });
            let Some(first) = classes.next() else { return Some(SUPPRESSED) };
            if classes.all(|class| class == first) { first } else { None }
        };
        (0..self.set.len()).map(class).collect::<Option<Vec<u32>>>().map(Assignment::Tuples)
    }
}

/// Rows of one entry under a pattern; suppressed without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    pub entry: u32,
    pub unit: u32,
    pub rows: u64,
    pub pattern: Option<Pattern>,
}

/// Packs the columns, none across two words.
fn fields(generalizations: &[Generalization], levels: &[usize]) -> Option<Vec<Field>> {
    let (mut word, mut shift) = (0, 0);
    let mut fields = Vec::with_capacity(levels.len());
    for (g, &level) in generalizations.iter().zip(levels) {
        // The largest number of that width is left for the top.
        let bits = 64 - (g.levels[level].labels.len() as u64).leading_zeros();
        if shift + bits > 64 {
            (word, shift) = (word + 1, 0);
        }
        fields.push(Field { word, shift, mask: (1 << bits) - 1 });
        shift += bits;
    }
    (word < WORDS && levels.len() <= MOST_COLUMNS).then_some(fields)
}
