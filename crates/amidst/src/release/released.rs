//! Applying a recoding: the table of generalized labels that is published.

use std::borrow::Cow;
use std::sync::Arc;

use amidst_core::hierarchy::Generalization;
use amidst_core::recoding::{Recoding, SUPPRESSED};
use amidst_core::table::{Codes, Column, Dictionary, Table, ValueType};
use amidst_io::Bundle;
use rayon::prelude::*;

use super::bounds;
use super::classes::{AS_IS, class_of_rows};
use super::join::Joined;
use super::shuffle::shuffle;
use crate::policy::{OutputOrder, OutputValues, Policy, Ranges, Role};
use crate::prepare::Prepared;

/// The published table, before it is a file.
#[derive(Default)]
pub struct Released {
    /// Its columns, in the order of the input; rows that are left out are still in it.
    pub table: Table,
    /// Which rows of it appear, in which order.
    pub order: Vec<u32>,
    /// The places in `order` of rows that are published as they are.
    pub waived: Vec<u64>,
    /// How many of the rows stand for nobody, where a series needs such rows.
    pub counterfeits: Option<u64>,
    /// The rows that are left out, ascending.
    pub left_out: Vec<u32>,
    /// The class of each row, where the quasi cells of a row follow from it.
    pub(crate) class_of_row: Option<Vec<u32>>,
    /// The first of the longest run of quasi columns that stand side by side, and their number.
    pub(crate) run: (usize, usize),
    /// The number of classes.
    pub(crate) classes: usize,
    /// The columns that are published as two, a lower and an upper bound each.
    pub(crate) parted: Vec<String>,
    /// How many published rows each row of `table` stands for, where another engine published them; each for itself
    /// when absent.
    pub weights: Option<Vec<u64>>,
    /// The person behind each published row, in the order of the files, where another engine published them.
    pub people: Option<Arc<Vec<u64>>>,
}

impl Released {
    /// What `recoding` makes of the prepared table.
    pub fn of(policy: &Policy, prepared: &Prepared, recoding: &Recoding, joined: Option<&Joined>) -> Self {
        let classes = match joined {
            Some(joined) => joined.class_of_row.clone(),
            None => class_of_rows(&prepared.set, &recoding.assignment, &prepared.entry_of_row),
        };
        Released::with_classes(policy, prepared, recoding, classes)
    }

    /// The same where it is known which class each row is in: rows that agree in quasi and sensitive cells may still
    /// differ in others, and a series has written down who is where.
    pub fn with_classes(policy: &Policy, prepared: &Prepared, recoding: &Recoding, classes: Vec<u32>) -> Self {
        let appears = |&row: &u32| classes[row as usize] != SUPPRESSED;
        let (mut order, left_out): (Vec<u32>, Vec<u32>) =
            (0..prepared.table.rows as u32).into_par_iter().with_min_len(1 << 16).partition(appears);
        let mut columns: Vec<Column> = (0..prepared.table.columns.len())
            .into_par_iter()
            .filter(|&position| prepared.roles[position].published())
            .map(|position| {
                let column = &prepared.table.columns[position];
                match prepared.quasi.iter().position(|&c| c == position) {
                    Some(q) => generalized(column, q, &prepared.generalizations[q], recoding, &classes),
                    None => column.clone(),
                }
            })
            .collect();
        columns
            .par_iter_mut()
            .for_each(|column| column.kind = published_kind(policy, column, || counts(column, &left_out)));
        let parted = match policy.output.ranges {
            Ranges::Bounds => {
                let quasi = |column: &&Column| policy.column(&column.name).is_some_and(|c| c.role == Role::Quasi);
                let ranges = |column: &&Column| bounds::has_ranges(column, &counts(column, &left_out));
                columns.iter().filter(quasi).filter(ranges).map(|column| column.name.clone()).collect()
            }
            _ => Vec::new(),
        };
        let as_is = |row: u32| classes[row as usize] == AS_IS;
        if policy.output.order == OutputOrder::Shuffled {
            shuffle(&mut order, policy.search.seed, &columns, as_is);
        }
        let waived = if prepared.waived.is_some() {
            order.iter().zip(0u64..).filter(|&(&row, _)| as_is(row)).map(|(_, place)| place).collect()
        } else {
            Vec::new()
        };
        Released {
            table: Table { columns, rows: prepared.table.rows },
            order,
            waived,
            left_out,
            run: longest_run(prepared),
            parted,
            classes: recoding.classes.len(),
            class_of_row: prepared.waived.is_none().then_some(classes),
            ..Released::default()
        }
    }

    /// The released columns whose cells follow from the class of a row.
    pub fn bundle(&self) -> Option<Bundle<'_>> {
        let of_row = self.class_of_row.as_deref().filter(|_| self.parted.is_empty())?;
        Some(Bundle { first: self.run.0, count: self.run.1, of_row, distinct: self.classes })
    }

    /// The table as it is written: ranges as two columns, where the policy asks for it.
    pub fn written(&self, policy: &Policy) -> Cow<'_, Table> {
        match self.parted.is_empty() {
            true => Cow::Borrowed(&self.table),
            false => Cow::Owned(bounds::written(policy, &self.table, &self.parted, |column| self.counts(column))),
        }
    }

    /// The names that columns have in the release.
    pub fn names(&self, columns: &[String]) -> Vec<String> {
        bounds::names(columns, &self.parted)
    }

    /// How many of the published rows have each label of a column.
    pub fn counts(&self, column: &Column) -> Vec<u64> {
        if let Some(weights) = &self.weights {
            let mut counts = vec![0; column.dictionary.len()];
            for (row, weight) in weights.iter().enumerate() {
                if let Some(count) = counts.get_mut(column.codes.get(row) as usize) {
                    *count += weight;
                }
            }
            return counts;
        }
        counts(column, &self.left_out)
    }

    /// How many rows are published.
    pub fn rows(&self) -> u64 {
        match &self.weights {
            None => self.order.len() as u64,
            Some(weights) => self.order.iter().filter_map(|&row| weights.get(row as usize)).sum(),
        }
    }

    /// The person behind each row of the release, in its order.
    pub fn persons(&self, prepared: &Prepared) -> Arc<Vec<u64>> {
        if let Some(people) = &self.people {
            return Arc::clone(people);
        }
        let key = prepared.key.map(|k| &prepared.table.columns[k].codes);
        let person = |&row: &u32| key.map_or(u64::from(row), |codes| u64::from(codes.get(row as usize)));
        Arc::new(self.order.iter().map(person).collect())
    }
}

/// How many rows have each value of a column, those that are left out not counted.
fn counts(column: &Column, left_out: &[u32]) -> Vec<u64> {
    let mut counts = column.counts();
    for &row in left_out {
        if let Some(count) = counts.get_mut(column.codes.get(row as usize) as usize) {
            *count -= 1;
        }
    }
    counts
}

/// The type of a released column: as the policy states it, or as its published labels look, those with a count. What
/// rows that are left out have must not show in the type of a file's column.
pub(crate) fn published_kind(policy: &Policy, column: &Column, counts: impl FnOnce() -> Vec<u64>) -> ValueType {
    let stated = policy.column(&column.name);
    let plain = (policy.output.ranges, policy.output.values) == (Ranges::Label, OutputValues::Generalized);
    if !plain && stated.is_some_and(|c| c.role == Role::Quasi) {
        // Texts that are not those of the input have a type of their own: the middle of a range need not be a whole
        // number.
    } else if let Some(kind) = stated.and_then(|c| c.kind) {
        return kind;
    }
    if stated.is_none_or(|c| c.role == Role::Insensitive) {
        // The writer looks at the labels of these itself.
        return ValueType::Text;
    }
    let counts = counts();
    let unknown = |label: &str| label.is_empty() || policy.data.missing.iter().any(|token| token == label);
    let published = column.dictionary.iter().zip(&counts).filter(|&(_, &count)| count > 0).map(|(label, _)| label);
    ValueType::guess(published.filter(|label| !unknown(label)))
}

/// The longest run of quasi columns among the published ones: where it starts and how long it is.
fn longest_run(prepared: &Prepared) -> (usize, usize) {
    let published: Vec<usize> = (0..prepared.table.columns.len()).filter(|&c| prepared.roles[c].published()).collect();
    let (mut longest, mut length) = ((0, 0), 0);
    for (at, column) in published.iter().enumerate() {
        length = if prepared.quasi.contains(column) { length + 1 } else { 0 };
        if length > longest.1 {
            longest = (at + 1 - length, length);
        }
    }
    longest
}

/// The published column of a quasi column: labels of classes, `*` for the masked class, values for rows published as
/// they are.
fn generalized(
    column: &Column,
    position: usize,
    generalization: &Generalization,
    recoding: &Recoding,
    classes: &[u32],
) -> Column {
    let mut dictionary = Dictionary::default();
    let label = |class: usize| dictionary.intern(&recoding.label(class, position, generalization));
    let code_of_class: Vec<u32> = (0..recoding.classes.len()).map(label).collect();
    let as_is: Vec<u32> = if classes.par_iter().any(|&c| c == AS_IS) {
        column.dictionary.iter().map(|value| dictionary.intern(value)).collect()
    } else {
        Vec::new()
    };
    let code = |(row, &class): (usize, &u32)| match class {
        // Rows that are left out need a code all the same; it is never read.
        SUPPRESSED => 0,
        AS_IS => as_is[column.codes.get(row) as usize],
        class => code_of_class[class as usize],
    };
    let rows = classes.par_iter().enumerate();
    let codes = match Codes::for_distinct(dictionary.len(), 0) {
        Codes::U8(_) => Codes::U8(rows.map(|r| code(r) as u8).collect()),
        Codes::U16(_) => Codes::U16(rows.map(|r| code(r) as u16).collect()),
        Codes::U32(_) => Codes::U32(rows.map(code).collect()),
    };
    Column { name: column.name.clone(), kind: ValueType::Text, dictionary, codes }
}
