//! Rows whose owners waived protection and agreed to be generalized: with the classes of others, or in their own.
//!
//! They are placed after the search and counted where they are (systematic clustering paper §3.2). What the release
//! costs is measured on the protected rows alone.

use std::collections::HashMap;

use amidst_core::algorithm;
use amidst_core::frequency::{Entry, FrequencySet, Groups};
use amidst_core::ids::EntryId;
use amidst_core::internal::local::build::join::join;
use amidst_core::model::Needs;
use amidst_core::recoding::SUPPRESSED;
use amidst_core::requirement::Evaluator;
use amidst_core::search::{Found, MaxSuppression, Search, SearchError, Suppressed, feasibility, own_distribution};

use super::classes::{AS_IS, class_of_rows};
use crate::Failure;
use crate::policy::ConsentMode;
use crate::prepare::{NO_ENTRY, Prepared, Waived};

/// A release that waived rows have joined.
pub struct Joined {
    /// The class of every row of the table.
    pub class_of_row: Vec<u32>,
    /// All rows counted, protected and joined.
    pub set: FrequencySet,
    /// The entry of every row in `set`.
    entry_of_row: Vec<EntryId>,
    /// Rows that no class could take without breaking the policy.
    pub refused: u64,
    /// Whether they are in classes of their own.
    pub separate: bool,
}

/// Places the rows that asked for it, stretching the cells of `found` or adding classes to it. `None` when there are
/// none.
pub fn place(
    prepared: &Prepared,
    search: &Search<'_>,
    entry: &algorithm::Entry,
    found: &mut Found,
) -> Result<Option<Joined>, Failure> {
    let waived = match &prepared.waived {
        Some(waived) if waived.mode != ConsentMode::Publish && !waived.rows.is_empty() => waived,
        _ => return Ok(None),
    };
    if found.recoding.levels.is_some() {
        return Err(Failure::Usage(
            "rows that waived protection have a place in a local recoding only; write `algorithm = \"portfolio\"` under \
             [search], or `mode = \"publish\"` on the consent column"
                .to_string(),
        ));
    }
    let counted = prepared.count_waived();
    if waived.mode == ConsentMode::Separate
        && let Some(joined) = separate(prepared, search, entry, waived, &counted, found)?
    {
        return Ok(Some(joined));
    }
    if prepared.set.rows == 0 {
        return Err(Failure::Impossible("every row waived protection, so there is no class to join".into()));
    }
    let (joiners, joiner_of_row) = counted;
    if search.set.persons != joiners.persons && !joiners.is_empty() {
        let what =
            "somebody has several rows among those who waived protection or among the others, but not among both";
        return Err(Failure::Impossible(what.into()));
    }
    let placed = join(search, &found.recoding, &joiners)?;
    let theirs = class_of_rows(&joiners, &placed.joiners, &joiner_of_row);
    let class = |class| if class == AS_IS { SUPPRESSED } else { class };
    let joined = Joined::of(prepared, waived, found, |row| class(theirs[row as usize]), placed.refused, false);
    found.recoding = placed.recoding;
    match joined.failing(prepared, found.recoding.classes.len()) {
        None => Ok(Some(joined)),
        Some(model) => {
            let message = format!("with the rows that waived protection counted, {model} does not hold in every class");
            Err(Failure::Impossible(message.into()))
        }
    }
}

/// Gives the waived rows classes of their own, found by the same algorithm. `None` when no such classes satisfy the
/// policy.
fn separate(
    prepared: &Prepared,
    search: &Search<'_>,
    entry: &algorithm::Entry,
    waived: &Waived,
    (set, entry_of_row): &(FrequencySet, Vec<EntryId>),
    found: &mut Found,
) -> Result<Option<Joined>, Failure> {
    // Whom a class of the population matches is known by the tuples of the protected rows.
    if search.requirements.iter().any(|r| r.needs() == Needs::Tuples) {
        return Ok(None);
    }
    let max_suppression = MaxSuppression::Rows(0);
    let suppressed = Suppressed::Drop;
    let alone = Search { set, max_suppression, suppressed, entry_of_row: Some(entry_of_row), ..search.clone() };
    let apart = match entry.algorithm.supports(&alone).and_then(|()| entry.algorithm.search(&alone)) {
        Ok(apart) => apart.recoding,
        Err(SearchError::Cancelled) => return Err(Failure::Cancelled),
        Err(_) => return Ok(None),
    };
    let masked = found.recoding.masked.and_then(|masked| found.recoding.classes.get(masked as usize));
    if masked.is_some_and(|masked| apart.classes.contains(masked)) {
        // Nobody could tell them from the rows that are masked.
        return Ok(None);
    }
    // Classes whose cells agree are one class of the release.
    let mut classes = found.recoding.classes.clone();
    let mut known: HashMap<_, u32> = (classes.iter().cloned()).zip(0..).collect();
    let number_of: Vec<u32> = (apart.classes.into_iter())
        .map(|cells| {
            *known.entry(cells).or_insert_with_key(|cells| {
                classes.push(cells.clone());
                classes.len() as u32 - 1
            })
        })
        .collect();
    let theirs = class_of_rows(set, &apart.assignment, entry_of_row);
    let class = |row: u32| number_of.get(theirs[row as usize] as usize).copied().unwrap_or(SUPPRESSED);
    let joined = Joined::of(prepared, waived, found, class, 0, true);
    if joined.failing(prepared, classes.len()).is_some() {
        return Ok(None);
    }
    found.recoding.classes = classes;
    Ok(Some(joined))
}

impl Joined {
    fn of(
        prepared: &Prepared,
        waived: &Waived,
        found: &Found,
        class: impl Fn(u32) -> u32,
        refused: u64,
        separate: bool,
    ) -> Self {
        let mut class_of_row = class_of_rows(&prepared.set, &found.recoding.assignment, &prepared.entry_of_row);
        waived.rows.iter().for_each(|&row| class_of_row[row as usize] = class(row));
        let (set, entry_of_row) =
            FrequencySet::count(&prepared.table, &prepared.quasi, &prepared.sensitive, prepared.key);
        Joined { class_of_row, set, entry_of_row, refused, separate }
    }

    /// Leaves out the classes that break a requirement now that others have joined: against all rows, or against what
    /// is published. False where more protected rows would have to go than may.
    pub fn suppress_failing(&mut self, prepared: &Prepared, search: &Search<'_>, found: &mut Found) -> bool {
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

    /// Why it cannot be published, where more rows than the policy allows would be left out, those counted that found
    /// no place.
    pub fn leaves_out_too_many(&self, search: &Search<'_>, found: &Found) -> Option<Failure> {
        let everyone = Search { set: &self.set, ..search.clone() };
        let left_out = found.recoding.groups(search.set).1 + self.refused;
        (self.refused > 0 && left_out > everyone.suppression_limit()).then(|| {
            let rows = if self.refused == 1 { "row" } else { "rows" };
            let message =
                format!("{} {rows} that waived protection would break the policy in every class", self.refused);
            Failure::Impossible(message.into())
        })
    }

    /// The entries of each class, joined rows included.
    pub fn groups(&self, classes: usize) -> Groups {
        let entry = |&e: &EntryId| Entry { rows: 1, ..self.set.groups.entries[e.index()] };
        let rows = self.class_of_row.iter().zip(&self.entry_of_row).filter(|(class, _)| (**class as usize) < classes);
        Groups::collect(classes, rows.map(|(&class, e)| (class, entry(e))).collect())
    }

    /// The first requirement that some class fails, in words: with more rows counted the table that classes are
    /// compared with is another one than that of the search.
    fn failing(&self, prepared: &Prepared, classes: usize) -> Option<String> {
        let groups = self.groups(classes);
        let evaluator = Evaluator::new(&self.set, &prepared.requirements);
        let fails = |&r: &usize| !evaluator.judge(r, &groups).0;
        (0..prepared.requirements.len()).find(fails).map(|r| feasibility::words(&prepared.requirements[r]))
    }
}
