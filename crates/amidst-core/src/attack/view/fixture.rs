//! Small published tables for tests: each row is (class, sensitive value).

use super::{Published, Target};
use crate::frequency::FrequencySet;
use crate::sensitive::SensitiveDomain;
use crate::table::{Column, Table};
use crate::worlds::{Version, VersionClass};

/// The article's 4-anonymous inpatients (Figure 2): class, condition.
pub(in crate::attack) const INPATIENTS: [(&str, &str); 12] = [
    ("a", "heart"),
    ("a", "heart"),
    ("a", "viral"),
    ("a", "viral"),
    ("b", "cancer"),
    ("b", "heart"),
    ("b", "viral"),
    ("b", "viral"),
    ("c", "cancer"),
    ("c", "cancer"),
    ("c", "cancer"),
    ("c", "cancer"),
];

/// A table whose classes are its distinct quasi tuples, with what attacks borrow from it.
pub(in crate::attack) struct Fixture {
    pub set: FrequencySet,
    pub domains: Vec<SensitiveDomain>,
    pub labels: Table,
}

impl Fixture {
    /// Rows (class, sensitive value); classes are numbered in the order of their names.
    pub fn new(rows: &[(&str, &str)]) -> Self {
        let class = Column::from_values("class", rows.iter().map(|r| r.0));
        Self::of(vec![class], Column::from_values("disease", rows.iter().map(|r| r.1)), None)
    }

    /// A table of published quasi columns, a sensitive column and perhaps a key.
    pub fn of(quasi: Vec<Column>, sensitive: Column, key: Option<Column>) -> Self {
        let (width, rows) = (quasi.len(), quasi[0].codes.len());
        let domain = SensitiveDomain {
            name: sensitive.name.clone(),
            dictionary: sensitive.dictionary.clone(),
            ..SensitiveDomain::default()
        };
        let mut columns = quasi;
        columns.push(sensitive);
        let keyed = key.is_some().then_some(width + 1);
        columns.extend(key);
        let table = Table { columns, rows };
        let quasi: Vec<usize> = (0..width).collect();
        let (set, _) = FrequencySet::count(&table, &quasi, &[width], keyed);
        let mut labels = Table { columns: Vec::new(), rows: set.len() };
        for &c in &quasi {
            let values = (0..set.len()).map(|t| table.columns[c].dictionary.value(set.tuple(t)[c]));
            labels.columns.push(Column::from_values(&table.columns[c].name, values));
        }
        Fixture { set, domains: vec![domain], labels }
    }

    pub fn published(&self) -> Published<'_> {
        Published::new(&self.set, &self.set.groups, &self.domains).with_labels(&self.labels)
    }

    pub fn target(&self) -> Target<'_> {
        Target::new(self.published(), 0)
    }

    /// The code of a sensitive value.
    pub fn code(&self, value: &str) -> u32 {
        self.domains[0].dictionary.code(value).unwrap()
    }
}

/// Persons and counts.
type Class<'a> = (&'a [u32], &'a [(u32, u64)]);

/// A version of a series.
pub(in crate::attack) fn version(classes: &[Class<'_>]) -> Version {
    let class = |c: &Class<'_>| VersionClass { persons: c.0.to_vec(), histogram: c.1.to_vec() };
    Version { classes: classes.iter().map(class).collect() }
}

/// The figure called `name`.
pub(in crate::attack) fn figure(findings: &crate::attack::Findings, name: &str) -> f64 {
    findings.figures.iter().find(|f| f.0 == name).unwrap_or_else(|| panic!("no figure {name}")).1
}
