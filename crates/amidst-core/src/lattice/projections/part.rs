//! The classes of a projection on some of the columns, as far as a bound needs them: sizes and costs.
//!
//! Classes that are too small are dropped with all their tuples: whatever else is fixed, they stay too small.

use crate::hierarchy::Generalization;

/// One column of a projection.
#[derive(Debug, Clone)]
pub(super) struct Field<'a> {
    generalization: &'a Generalization,
    /// Its lowest level.
    pub bottom: usize,
    /// Its highest level.
    pub top: usize,
    /// What a row costs by its value: by level and value.
    costs: &'a [Vec<f64>],
    /// What all rows cost together at each level with nothing suppressed.
    pub whole: &'a [f64],
    /// The share of this column in what a suppressed row costs; no value costs more.
    pub lost: f64,
    /// The code of each tuple.
    codes: Vec<u32>,
    /// Its value at each level, where values are few enough for bytes.
    values: Vec<Option<Vec<u8>>>,
}

/// The tuples of some columns, each distinct one once.
#[derive(Debug, Clone)]
pub(super) struct Fields<'a> {
    /// The columns.
    pub fields: Vec<Field<'a>>,
    /// The rows of each tuple.
    rows: Vec<u32>,
    /// Classes of fewer rows fail.
    pub least: u32,
}

/// The classes when some columns are fixed and the others left out.
#[derive(Debug, Clone)]
pub(super) struct Part {
    /// The tuples of classes that are large enough; one for several that differ no more.
    tuples: Vec<u32>,
    /// Their rows.
    rows: Vec<u32>,
    /// The class of each of them.
    class_of: Vec<u32>,
    /// The rows of each class.
    sizes: Vec<u32>,
    /// What a row of each class costs in the fixed columns.
    costs: Vec<f64>,
    /// The rows of all classes that were dropped.
    pub lost: u64,
    /// What dropped rows cost each in the fixed columns.
    lost_cost: f64,
}

/// Tables that are kept between uses: rows by class and value, and the class of each.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    counts: Vec<u32>,
    classes: Vec<u32>,
}

/// What every column of a table costs: what fields are made of.
#[derive(Debug)]
pub(super) struct ColumnCosts {
    pub cells: Vec<Vec<f64>>,
    pub whole: Vec<f64>,
    pub lost: f64,
}

impl<'a> Field<'a> {
    pub fn new(generalization: &'a Generalization, bottom: usize, costs: &'a ColumnCosts, codes: Vec<u32>) -> Self {
        let top = generalization.height();
        let values = Vec::new();
        Field { values, generalization, bottom, top, costs: &costs.cells, whole: &costs.whole, lost: costs.lost, codes }
    }

    fn values(&self, level: usize) -> usize {
        self.generalization.levels[level].labels.len()
    }

    /// The same column for some of its tuples, with their values.
    fn of_tuples(&self, tuples: &[u32]) -> Self {
        let codes: Vec<u32> = tuples.iter().map(|&t| self.codes[t as usize]).collect();
        let bytes = |level: usize| {
            let of = &self.generalization.levels[level].of;
            (self.values(level) <= 256).then(|| codes.iter().map(|&code| of[code as usize] as u8).collect())
        };
        Field { values: (0..=self.top).map(bytes).collect(), codes, ..self.clone() }
    }

    /// Calls `visit` with the value at a level of each of some tuples.
    #[inline]
    fn each(&self, level: usize, tuples: &[u32], mut visit: impl FnMut(usize, usize)) {
        match self.values.get(level) {
            Some(Some(values)) => {
                tuples.iter().enumerate().for_each(|(i, &tuple)| visit(i, values[tuple as usize] as usize));
            }
            _ => {
                let of = &self.generalization.levels[level].of;
                let value = |tuple: u32| of[self.codes[tuple as usize] as usize] as usize;
                tuples.iter().enumerate().for_each(|(i, &tuple)| visit(i, value(tuple)));
            }
        }
    }
}

impl<'a> Fields<'a> {
    /// The tuples of some columns.
    pub fn new(fields: Vec<Field<'a>>, rows: Vec<u32>, least: u32) -> Self {
        Fields { fields, rows, least }
    }

    /// The tuples of fewer columns, each distinct one once.
    pub fn project(&self, chosen: &[usize]) -> Self {
        let mut order: Vec<u32> = (0..self.rows.len() as u32).collect();
        let key = |tuple: u32| chosen.iter().map(move |&f| self.fields[f].codes[tuple as usize]);
        order.sort_unstable_by(|&a, &b| key(a).cmp(key(b)));
        let mut rows: Vec<u32> = Vec::new();
        let mut first: Vec<u32> = Vec::new();
        for tuple in order {
            match (rows.last_mut(), first.last()) {
                (Some(rows), Some(&last)) if key(last).eq(key(tuple)) => *rows += self.rows[tuple as usize],
                _ => {
                    rows.push(self.rows[tuple as usize]);
                    first.push(tuple);
                }
            }
        }
        Fields { fields: chosen.iter().map(|&f| self.fields[f].of_tuples(&first)).collect(), rows, least: self.least }
    }

    /// No column fixed.
    pub fn whole(&self) -> Part {
        Part {
            tuples: (0..self.rows.len() as u32).collect(),
            rows: self.rows.clone(),
            class_of: vec![0; self.rows.len()],
            sizes: vec![self.rows.iter().sum()],
            costs: vec![0.0],
            lost: 0,
            lost_cost: 0.0,
        }
    }

    /// Counts rows by class and value.
    fn count(&self, part: &Part, field: &Field<'_>, level: usize, counts: &mut Vec<u32>) {
        let values = field.values(level);
        counts.clear();
        counts.resize(part.sizes.len() * values, 0);
        let (class_of, rows) = (&part.class_of[..part.tuples.len()], &part.rows[..part.tuples.len()]);
        field.each(level, &part.tuples, |i, value| counts[class_of[i] as usize * values + value] += rows[i]);
    }

    /// The rows that fail at least, and what the column costs alone, when it is fixed at a level beside others.
    pub fn probe(&self, part: &Part, field: usize, level: usize, scratch: &mut Scratch) -> (u64, f64) {
        let field = &self.fields[field];
        let costs = &field.costs[level];
        let (mut failing, mut sum) = (part.lost, 0.0);
        if let [cost] = costs[..] {
            sum = part.sizes.iter().map(|&n| f64::from(n)).sum::<f64>() * cost;
        } else {
            self.count(part, field, level, &mut scratch.counts);
            for class in scratch.counts.chunks_exact(costs.len()) {
                for (&n, &cost) in class.iter().zip(costs) {
                    if n >= self.least {
                        sum += f64::from(n) * cost;
                    } else {
                        failing += u64::from(n);
                    }
                }
            }
        }
        (failing, sum + failing as f64 * field.lost)
    }

    /// The classes when a further column is fixed.
    pub fn split(&self, part: &Part, field: usize, level: usize, scratch: &mut Scratch) -> Part {
        let field = &self.fields[field];
        let costs = &field.costs[level];
        let lost_cost = part.lost_cost + field.lost;
        if let [cost] = costs[..] {
            let costs = part.costs.iter().map(|c| c + cost).collect();
            return Part { costs, lost_cost, ..part.clone() };
        }
        self.count(part, field, level, &mut scratch.counts);
        scratch.classes.clear();
        scratch.classes.resize(scratch.counts.len(), u32::MAX);
        let (mut sizes, mut row_costs, mut lost) = (Vec::new(), Vec::new(), part.lost);
        for (pair, &n) in scratch.counts.iter().enumerate() {
            if n >= self.least {
                scratch.classes[pair] = sizes.len() as u32;
                sizes.push(n);
                row_costs.push(part.costs[pair / costs.len()] + costs[pair % costs.len()]);
            } else {
                lost += u64::from(n);
            }
        }
        let room = || Vec::with_capacity(part.tuples.len());
        let (mut tuples, mut rows, mut class_of) = (room(), room(), room());
        field.each(level, &part.tuples, |i, value| {
            let own = scratch.classes[part.class_of[i] as usize * costs.len() + value];
            if own != u32::MAX {
                tuples.push(part.tuples[i]);
                rows.push(part.rows[i]);
                class_of.push(own);
            }
        });
        Part { tuples, rows, class_of, sizes, costs: row_costs, lost, lost_cost }
    }

    /// Takes those tuples of a class together that no column tells apart any more, when each stays at its level of
    /// `lowest` or above; `None` for columns that are fixed. Does nothing where that saves little.
    pub fn compact(&self, part: &mut Part, lowest: &[Option<usize>], scratch: &mut Scratch) {
        let levels = || self.fields.iter().zip(lowest).filter_map(|(f, level)| Some((f, (*level)?)));
        let mut open: Vec<(&Field<'_>, usize)> = levels().filter(|(f, level)| f.values(*level) > 1).collect();
        open.sort_by_key(|(f, level)| std::cmp::Reverse(f.values(*level)));
        let worth = part.tuples.len() * 3 / 4;
        let mut count = part.sizes.len();
        let mut group_of = part.class_of.clone();
        let groups = &mut scratch.classes;
        for (field, level) in open {
            let values = field.values(level);
            if count > worth || count * values > MOST_PAIRS {
                return;
            }
            groups.clear();
            groups.resize(count * values, u32::MAX);
            count = 0;
            field.each(level, &part.tuples, |i, value| {
                let slot = &mut groups[group_of[i] as usize * values + value];
                if *slot == u32::MAX {
                    *slot = count as u32;
                    count += 1;
                }
                group_of[i] = *slot;
            });
        }
        if count > worth {
            return;
        }
        let (mut tuples, mut rows, mut class_of) = (vec![0; count], vec![0; count], vec![0; count]);
        for (i, &group) in group_of.iter().enumerate() {
            tuples[group as usize] = part.tuples[i];
            rows[group as usize] += part.rows[i];
            class_of[group as usize] = part.class_of[i];
        }
        (part.tuples, part.rows, part.class_of) = (tuples, rows, class_of);
    }
}

/// Up to this many pairs of group and value are looked up in an array.
const MOST_PAIRS: usize = 1 << 20;

impl Part {
    /// The number of classes that are large enough.
    pub fn classes(&self) -> usize {
        self.sizes.len()
    }

    /// What all rows cost at least in the fixed columns.
    pub fn cost(&self) -> f64 {
        let published: f64 = self.sizes.iter().zip(&self.costs).map(|(&n, cost)| f64::from(n) * cost).sum();
        published + self.lost as f64 * self.lost_cost
    }
}
