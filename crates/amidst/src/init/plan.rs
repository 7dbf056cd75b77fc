//! From guesses for each column to a policy for the table: what columns do together.
//!
//! Columns that single out no person alone may do so together, and a column that is released as it is may give away one
//! that is generalized. Whatever is changed here is changed towards more protection.

use std::collections::HashMap;

use amidst_core::hierarchy::{self, Suggestion};
use amidst_core::internal::row_groups::RowGroups;
use amidst_core::risk::{Dependence, line};
use amidst_core::table::{Codes, Column, Table};
use rayon::prelude::*;

use super::names::clean;
use super::person::one_key;
use super::profile::Profile;
use super::roles::{self, Guess};
use crate::policy::Role;

/// More quasi columns than this leave nothing of the data; the others are left out.
const QUASI_COLUMNS: usize = 10;

/// More private columns than this cannot all be protected in one release.
const SENSITIVE_COLUMNS: usize = 4;

/// Rows that are looked at for what columns tell of each other, evenly spread.
const MOST_ROWS: usize = 100_000;

/// What becomes of the columns of a table.
#[derive(Debug)]
pub(super) struct Plan {
    /// A guess for each column of the table.
    pub guesses: Vec<Guess>,
    /// The hierarchy of each quasi column.
    pub hierarchies: Vec<Option<Suggestion>>,
    /// Where the only quasi column must be released as `*`: the k that makes it so.
    pub blank: Option<u64>,
}

/// Decides on every column of a table.
pub(super) fn plan(table: &Table, missing: &[String]) -> Plan {
    let profiles: Vec<Profile<'_>> = table.columns.par_iter().map(|c| Profile::of(c, missing)).collect();
    let guesses: Vec<Guess> = profiles.par_iter().map(roles::guess).collect();
    let mut plan = Plan { hierarchies: vec![None; guesses.len()], guesses, blank: None };
    one_key(&mut plan.guesses, table, &profiles);
    protect_private(&mut plan.guesses, table, &profiles);
    not_given_away(&mut plan.guesses, table);
    plan.limit(table, &profiles, missing);
    if plan.guesses.iter().all(|g| g.role != Role::Quasi) {
        plan.blank(table);
    }
    plan
}

fn positions(guesses: &[Guess], role: Role) -> Vec<usize> {
    (0..guesses.len()).filter(|&i| guesses[i].role == role).collect()
}

/// Makes a private column one that is released generalized.
fn generalize(guess: &mut Guess, why: &str) {
    guess.role = Role::Quasi;
    guess.why = format!("{}, but {why}", guess.why);
}

/// Keeps private columns as they are only while together they single hardly anybody out, and while each has values
/// enough for classes to be diverse.
fn protect_private(guesses: &mut [Guess], table: &Table, profiles: &[Profile<'_>]) {
    let mut order = positions(guesses, Role::Sensitive);
    order.sort_by_key(|&i| (profiles[i].uniques, profiles[i].distinct, i));
    let mut released: Vec<&Column> = Vec::new();
    for i in order {
        if profiles[i].texts > 1 && !is_spread(profiles[i].column) {
            generalize(&mut guesses[i], "nearly all rows share one value, so no class can be diverse in it");
            continue;
        }
        released.push(&table.columns[i]);
        if RowGroups::of(&released, table.rows).unique() > roles::tolerated(table.rows) {
            released.pop();
            generalize(&mut guesses[i], "with the other private columns it singles people out");
        } else if released.len() > SENSITIVE_COLUMNS {
            released.pop();
            generalize(&mut guesses[i], "there are enough private columns to protect already");
        }
    }
}

/// Whether at least one row in fifty has another value than the most frequent one.
fn is_spread(column: &Column) -> bool {
    let counts = column.counts();
    let (all, most) = (counts.iter().sum::<u64>(), counts.iter().max().copied().unwrap_or(0));
    (all - most) * 50 >= all
}

/// Private columns that give a quasi column away, alone or two together, are generalized with it.
fn not_given_away(guesses: &mut [Guess], table: &Table) {
    let quasi = positions(guesses, Role::Quasi);
    let lines: Vec<Option<Vec<f64>>> = (0..guesses.len())
        .into_par_iter()
        .map(|i| matches!(guesses[i].role, Role::Quasi | Role::Sensitive).then(|| line(&table.columns[i])).flatten())
        .collect();
    // Of the rows that a dependence would look at.
    let rows: Vec<usize> = (0..table.rows).step_by(table.rows.div_ceil(MOST_ROWS).max(1)).collect();
    let targets: Vec<Codes> = quasi.iter().map(|&q| sampled(&rows, |row| table.columns[q].codes.get(row))).collect();
    let given = |from: &Codes, from_line: Option<&[f64]>| {
        let told = quasi.par_iter().zip(&targets).find_first(|(q, to)| {
            let found = Dependence::of(from, to, from_line, lines[**q].as_deref());
            found.is_some_and(|d| d.gives_away())
        });
        told.map(|(&q, _)| clean(&table.columns[q].name))
    };
    for i in positions(guesses, Role::Sensitive) {
        let from = sampled(&rows, |row| table.columns[i].codes.get(row));
        if let Some(name) = given(&from, lines[i].as_deref()) {
            generalize(&mut guesses[i], &format!("it gives `{name}` away"));
        }
    }
    let private = positions(guesses, Role::Sensitive);
    let pairs = private.iter().enumerate().flat_map(|(at, &a)| private[..at].iter().map(move |&b| (a, b)));
    for (a, b) in pairs {
        if [a, b].iter().any(|&i| guesses[i].role != Role::Sensitive) {
            continue;
        }
        let mut numbers = HashMap::new();
        let together = sampled(&rows, |row| {
            let next = numbers.len() as u32;
            *numbers.entry([a, b].map(|i| table.columns[i].codes.get(row))).or_insert(next)
        });
        if let Some(name) = given(&together, None) {
            // The one with more values says more.
            let values = |i: usize| table.columns[i].dictionary.len();
            let (more, less) = if values(a) < values(b) { (b, a) } else { (a, b) };
            let with = clean(&table.columns[less].name);
            generalize(&mut guesses[more], &format!("together with `{with}` it gives `{name}` away"));
        }
    }
}

/// What some rows have.
fn sampled(rows: &[usize], mut of: impl FnMut(usize) -> u32) -> Codes {
    let mut codes = Codes::default();
    rows.iter().for_each(|&row| codes.push(of(row)));
    codes
}

impl Plan {
    /// Keeps the number of quasi columns within what a release can bear, and finds their hierarchies.
    fn limit(&mut self, table: &Table, profiles: &[Profile<'_>], missing: &[String]) {
        let mut order = positions(&self.guesses, Role::Quasi);
        order.sort_by_key(|&i| (std::cmp::Reverse(self.guesses[i].strength), i));
        let many = order.len() > QUASI_COLUMNS;
        let mut kept: Vec<usize> = Vec::new();
        for i in order {
            let twin = kept.iter().find(|&&q| many && twins(profiles, table, q, i));
            if let Some(&twin) = twin {
                let name = clean(&table.columns[twin].name);
                self.leave_out(i, &format!("it says the same as `{name}`"));
                continue;
            }
            if kept.len() == QUASI_COLUMNS {
                self.leave_out(i, &format!("{QUASI_COLUMNS} quasi columns are as many as a release bears"));
                continue;
            }
            let found = suggest(&table.columns[i], &self.guesses[i], missing);
            if found.tells_all_or_nothing() && profiles[i].known >= 20 && profiles[i].distinct_share() > 0.5 {
                self.leave_out(i, "nearly every row has its own value and nothing says how to generalize it");
                continue;
            }
            self.hierarchies[i] = Some(found);
            kept.push(i);
        }
    }

    fn leave_out(&mut self, i: usize, why: &str) {
        let guess = &mut self.guesses[i];
        guess.role = Role::Identifying;
        guess.why = format!("left out: {why}; to bring it back, make it quasi in place of another");
    }

    /// Makes a column quasi because a policy needs one, although nothing may be released of it: one in which all rows
    /// are alike, or else the one whose values are shared by the fewest, with a k that none of them reaches.
    fn blank(&mut self, table: &Table) {
        let shared = |i: usize| table.columns[i].counts().into_iter().max().unwrap_or(0);
        let same = positions(&self.guesses, Role::Insensitive).first().copied();
        let rarest = || (0..self.guesses.len()).min_by_key(|&i| (self.guesses[i].role == Role::Key, shared(i)));
        let Some(i) = same.or_else(rarest) else { return };
        if self.guesses[i].role != Role::Insensitive {
            self.blank = Some(shared(i) + 1);
            self.guesses[i].why =
                format!("released as *, because a policy needs a quasi column; {}", self.guesses[i].why);
        }
        self.guesses[i].role = Role::Quasi;
        self.hierarchies[i] = Some(Suggestion::suppress());
    }
}

/// Whether two columns say the same: a code and its label.
fn twins(profiles: &[Profile<'_>], table: &Table, a: usize, b: usize) -> bool {
    let (few, many) = (profiles[a].distinct.min(profiles[b].distinct), profiles[a].distinct.max(profiles[b].distinct));
    let tells = |from: usize, to: usize| {
        let found = Dependence::of(&table.columns[from].codes, &table.columns[to].codes, None, None);
        found.is_some_and(|d| d.gives_away())
    };
    few * 5 >= many * 4 && tells(a, b) && tells(b, a)
}

/// The hierarchy that fits a column. Unknown cells keep to themselves in every hierarchy, so it is made without them.
pub(super) fn suggest(column: &Column, guess: &Guess, missing: &[String]) -> Suggestion {
    let mut values = Column { name: column.name.clone(), kind: column.kind, ..Column::default() };
    values.dictionary = column.dictionary.iter().filter(|v| !missing.iter().any(|m| m == v)).collect();
    values.sort(&[]);
    let code = guess.code.then(|| hierarchy::guess_code(&values)).flatten();
    let counts = column.counts();
    let rows = |value: &str| column.dictionary.code(value).and_then(|c| counts.get(c as usize)).map_or(0, |&n| n);
    code.unwrap_or_else(|| hierarchy::guess_counted(&values, &rows))
}

#[cfg(test)]
mod tests {
    use super::super::profile::tests::column;
    use super::*;

    #[test]
    fn two_private_columns_that_tell_a_third_are_not_both_released() {
        let religion = |row: usize| ["a", "b", "c", "d"][row * 7 % 4];
        let diagnosis = |row: usize| ["flu", "hiv", "cold", "cancer"][row * 5 / 4 % 4];
        let region = |row: usize| format!("{}{}", row * 7 % 4, row * 5 / 4 % 4);
        let columns = |with: bool| {
            let region = |row: usize| if with { region(row) } else { format!("r{}", row * 7919 / 13 % 16) };
            let rows = || 0..400;
            vec![
                column("religion", rows().map(religion)),
                column("diagnosis", rows().map(diagnosis)),
                column("region", rows().map(region)),
            ]
        };
        let private = |with: bool| {
            let plan = plan(&Table { rows: 400, columns: columns(with) }, &[]);
            positions(&plan.guesses, Role::Sensitive).len()
        };
        assert_eq!((private(false), private(true)), (2, 1));
    }
}
