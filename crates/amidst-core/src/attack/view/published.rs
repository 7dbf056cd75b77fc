//! A published table, as everyone sees it.

use rayon::prelude::*;

use crate::frequency::{FrequencySet, Groups};
use crate::hierarchy::Generalization;
use crate::recoding::Recoding;
use crate::sensitive::SensitiveDomain;
use crate::table::{Codes, Column, Table};

/// A published table, as everyone sees it.
#[derive(Debug, Clone, Copy)]
pub struct Published<'a> {
    /// The combinations of sensitive values that entries refer to.
    pub set: &'a FrequencySet,
    /// The entries of each class.
    pub classes: &'a Groups,
    /// The sensitive columns.
    pub sensitive: &'a [SensitiveDomain],
    /// The published quasi cells: one row a class, one column a quasi column. Attacks that read labels need it.
    pub labels: Option<&'a Table>,
}

impl<'a> Published<'a> {
    /// A published table whose quasi labels are not at hand.
    pub fn new(set: &'a FrequencySet, classes: &'a Groups, sensitive: &'a [SensitiveDomain]) -> Self {
        Published { set, classes, sensitive, labels: None }
    }

    /// The same table with its quasi labels: one row a class, in the order of the classes.
    #[must_use]
    pub fn with_labels(self, labels: &'a Table) -> Self {
        Published { labels: Some(labels), ..self }
    }
}

/// The labels of a table that is published as it stands: its classes are the tuples of `set`, which was counted from
/// the columns `quasi` of `table`.
pub fn labels_of_table(set: &FrequencySet, table: &Table, quasi: &[usize]) -> Table {
    let columns = quasi.par_iter().enumerate().filter_map(|(at, &c)| {
        let column = table.columns.get(c)?;
        let mut labels = Column { kind: column.kind, ..Column::new(column.name.clone()) };
        labels.dictionary = column.dictionary.clone();
        labels.codes = Codes::for_distinct(labels.dictionary.len(), set.len());
        (0..set.len()).for_each(|tuple| labels.codes.push(set.tuple(tuple)[at]));
        Some(labels)
    });
    Table { columns: columns.collect(), rows: set.len() }
}

/// The labels that `recoding` publishes, one row a class.
pub fn labels_of_recoding(recoding: &Recoding, generalizations: &[Generalization]) -> Table {
    let columns = generalizations.iter().enumerate().map(|(at, generalization)| {
        let mut labels = Column::new(generalization.name.clone());
        recoding.classes.iter().filter_map(|cells| cells.get(at)).for_each(|c| labels.push(&generalization.label(c)));
        labels
    });
    Table { columns: columns.collect(), rows: recoding.classes.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_stand_in_the_order_of_the_classes() {
        let table = Table {
            columns: vec![
                Column::from_values("age", ["30", "20", "30"]),
                Column::from_values("d", ["x", "y", "x"]),
                Column::from_values("zip", ["1", "2", "1"]),
            ],
            rows: 3,
        };
        let (set, _) = FrequencySet::count(&table, &[0, 2], &[1], None);
        let labels = labels_of_table(&set, &table, &[0, 2]);
        let row = |r: usize| labels.columns.iter().map(|c| c.value(r)).collect::<Vec<_>>();
        assert_eq!((labels.rows, row(0), row(1)), (2, vec!["20", "2"], vec!["30", "1"]));
        let generalizations = [0, 2].map(|c| Generalization::bind(&table.columns[c], None).unwrap());
        let recoding = Recoding::full_domain(&set, &generalizations, &[1, 0]);
        let labels = labels_of_recoding(&recoding, &generalizations);
        let row = |r: usize| labels.columns.iter().map(|c| c.value(r)).collect::<Vec<_>>();
        assert_eq!((labels.rows, row(0), row(1)), (2, vec!["*", "2"], vec!["*", "1"]));
    }
}
