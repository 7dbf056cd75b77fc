//! Rows whose owners waived protection and agreed to join the classes of others.
//!
//! They are placed after the search, generalized with their class and counted in it. What the release costs is measured
//! on the protected rows alone.

use amidst_core::algorithm::{Found, Search};
use amidst_core::frequency::{Entry, FrequencySet, Groups};
use amidst_core::local::join::join;
use amidst_core::own_distribution;
use amidst_core::recoding::SUPPRESSED;
use amidst_core::requirement::Evaluator;

use super::apply::{AS_IS, class_of_rows};
use crate::Failure;
use crate::policy::ConsentMode;
use crate::prepare::{NO_ENTRY, Prepared};

/// A release that waived rows have joined.
pub struct Joined {
    /// The class of every row of the table.
    pub class_of_row: Vec<u32>,
    /// All rows counted, protected and joined.
    pub set: FrequencySet,
    /// The entry of every row in `set`.
    entry_of_row: Vec<u32>,
    /// Rows that no class could take without breaking the policy.
    pub refused: u64,
}

/// Places the rows that asked to join, stretching the cells of `found`. `None` when there are none.
pub fn place(prepared: &Prepared, search: &Search<'_>, found: &mut Found) -> Result<Option<Joined>, Failure> {
    let waived = match &prepared.waived {
        Some(waived) if waived.mode == ConsentMode::Join && !waived.rows.is_empty() => waived,
        _ => return Ok(None),
    };
    if found.recoding.levels.is_some() {
        return Err(Failure::Usage(
            "rows that waived protection can join only a local recoding; write `algorithm = \"portfolio\"` under \
             [search], or `mode = \"publish\"` on the consent column"
                .to_string(),
        ));
    }
    let (joiners, joiner_of_row) = prepared.count_waived();
    let joined = join(search, &found.recoding, &joiners)?;
    let mut class_of_row = class_of_rows(&prepared.set, &found.recoding.assignment, &prepared.entry_of_row);
    let theirs = class_of_rows(&joiners, &joined.joiners, &joiner_of_row);
    for &row in &waived.rows {
        class_of_row[row as usize] = match theirs[row as usize] {
            AS_IS => SUPPRESSED,
            class => class,
        };
    }
    found.recoding = joined.recoding;
    let (set, entry_of_row) = FrequencySet::count(&prepared.table, &prepared.quasi, &prepared.sensitive, prepared.key);
    Ok(Some(Joined { class_of_row, set, entry_of_row, refused: joined.refused }))
}

impl Joined {
    /// Leaves out the classes that break a requirement now that others have joined: against all rows, or against what is
    /// published. False where more protected rows would have to go than may.
    pub fn settle(&mut self, prepared: &Prepared, search: &Search<'_>, found: &mut Found) -> bool {
        let requirements = search.requirements;
        if !requirements.iter().any(own_distribution::compares) {
            return true;
        }
        let classes = found.recoding.classes.len();
        let groups = self.groups(classes);
        let evaluator = Evaluator::new(&self.set, requirements);
        let (kept, mut gone): (Vec<u32>, Vec<u32>) =
            (0..classes as u32).partition(|&class| evaluator.holds_compared(groups.get(class as usize)));
        let pairs = kept.iter().flat_map(|&class| groups.get(class as usize).iter().map(move |&entry| (class, entry)));
        let groups = Groups::collect(classes, pairs.collect());
        let Some((more, _)) = own_distribution::failing(&self.set, requirements, groups, u64::MAX) else {
            return false;
        };
        gone.extend(more);
        gone.sort_unstable();
        own_distribution::leave_out(&mut found.recoding, &gone);
        for (class, &entry) in self.class_of_row.iter_mut().zip(&prepared.entry_of_row) {
            if gone.binary_search(class).is_ok() {
                *class = SUPPRESSED;
                self.refused += u64::from(entry == NO_ENTRY);
            }
        }
        found.recoding.groups(&prepared.set).1 <= search.suppression_limit()
    }

    /// The entries of each class, joined rows included.
    pub fn groups(&self, classes: usize) -> Groups {
        let entry = |&e: &u32| Entry { rows: 1, ..self.set.groups.entries[e as usize] };
        let rows = self.class_of_row.iter().zip(&self.entry_of_row).filter(|(class, _)| (**class as usize) < classes);
        Groups::collect(classes, rows.map(|(&class, e)| (class, entry(e))).collect())
    }
}
