//! Which people of a population the published cells of a class cover.

use amidst_core::attack::{External, Published, fit};
use amidst_core::requirement::Requirement;
use amidst_core::table::{Column, Table, ValueType};

use crate::Failure;
use crate::external::covers;
use crate::policy::Policy;
use crate::prepare::Prepared;

/// For each class of `published`, the tuples of the requirement's population that its cells cover; `None` for a
/// requirement without one. `stated` is the policy as it was written: its hierarchies tell what labels mean.
pub(super) fn covered(
    stated: &Policy,
    prepared: &Prepared,
    published: &Published<'_>,
    requirement: &Requirement,
) -> Result<Option<Vec<Vec<u32>>>, Failure> {
    let Some(population) = &requirement.population else { return Ok(None) };
    let set = &prepared.set;
    let tuples: Vec<u32> = (0u32..).zip(&population.totals).filter(|(_, n)| **n > 0).map(|(t, _)| t).collect();
    // The people's own values, as the table that they were read from has them.
    let columns = prepared.generalizations.iter().enumerate().map(|(at, generalization)| {
        let mut column = Column::new(generalization.name.clone());
        if let Some(values) = generalization.levels.first() {
            for &tuple in &tuples {
                let code = set.tuple(tuple as usize)[at] as usize;
                let label = values.of.get(code).and_then(|&group| values.labels.get(group as usize));
                column.push(label.map_or("", String::as_str));
            }
        }
        column.kind = ValueType::guess(column.dictionary.iter());
        column
    });
    let table = Table { columns: columns.collect(), rows: tuples.len() };
    let covers = covers(stated, &table)?;
    let fits =
        fit(published, &External { table: &table, covers: &covers }, &[]).map_err(|e| Failure::Usage(e.to_string()))?;
    let mut covered = vec![Vec::new(); published.classes.len()];
    for (&tuple, fitting) in tuples.iter().zip(&fits.of_row) {
        for &class in fits.classes(fitting.index()) {
            covered[class as usize].push(tuple);
        }
    }
    Ok(Some(covered))
}
