//! Which column tells people apart where they have several rows: the key.
//!
//! Five rows of one person are not five people, so k must count people there. A name may speak of a key, or values may
//! repeat as numbers of people do; both can be wrong (a doctor's number stands beside the patient's) or missing (a
//! number of an unknown name, a birth date, an address). What people are does not change from row to row: a column
//! whose repeated values settle other columns that do not settle each other, such as sex and region, stands for
//! somebody. That evidence comes first. Where no single column has it, two or three of those that are left out may have
//! it together: first and last name. A key is never published, so a column that is taken for one by mistake costs
//! usefulness and not protection.

use std::collections::{HashMap, HashSet};

use amidst_core::risk::Dependence;
use amidst_core::table::{Codes, Table, ValueType};

use super::names::{Meaning, Name, clean};
use super::profile::Profile;
use super::roles::Guess;
use crate::policy::Role;

/// Numbers that more rows have on average, and whose name says nothing, are rather days or places than people.
const ROWS_EACH: usize = 60;

/// Fewer values than this are kinds of people.
const FEWEST_VALUES: usize = 3;

/// Rows that are looked at for what a column settles.
const MOST_ROWS: usize = 20_000;

/// Columns that may be settled, looked at for one candidate.
const MOST_COLUMNS: usize = 16;

/// From this share on, beyond chance, the values of a column agree in another as rows of people do: some people share a
/// name, and some rows have a slip.
const TOLD: f64 = 0.75;

/// Columns that are looked at for what they settle together.
const MOST_TOGETHER: usize = 6;

/// Makes one column the key, if one stands for people who have several rows each, or several columns that do so
/// together. Other columns that were taken for a key are left out.
pub(super) fn one_key(guesses: &mut [Guess], table: &Table, profiles: &[Profile<'_>]) {
    let names: Vec<Name> = table.columns.iter().map(|column| Name::of(&column.name)).collect();
    let candidates = Candidates { guesses, table, profiles, names: &names };
    let alone = candidates.best().map(|(column, settles)| (vec![column], settles));
    let proven = alone.as_ref().is_some_and(|(_, settles)| settles.is_some());
    let together = if proven { None } else { candidates.together() };
    let Some((mut key, settles)) = together.or(alone) else { return };
    // Of a name that speaks for people only by itself, the other half is asked as well.
    let half = if settles.is_none() && key.len() == 1 { candidates.other_half(key[0]) } else { None };
    let named_once = half.is_some_and(|half| !candidates.repeats([key[0], half]));
    for guess in guesses.iter_mut().filter(|g| g.role == Role::Key) {
        guess.role = Role::Identifying;
    }
    key.extend(half);
    key.sort_unstable();
    if named_once {
        // Nobody has the same first and last name as another: every row is a person.
        key.iter().for_each(|&column| guesses[column].several_rows = false);
        return;
    }
    let name = |column: usize| clean(&table.columns[column].name);
    let agree = settles.map(|(a, b)| format!(", whose rows agree in `{}` and `{}`", name(a), name(b)));
    let agree = agree.unwrap_or_default();
    for &column in &key {
        let guess = &mut guesses[column];
        guess.role = Role::Key;
        guess.several_rows = true;
        let others: Vec<String> = key.iter().filter(|&&k| k != column).map(|&k| format!("`{}`", name(k))).collect();
        let with = if others.is_empty() { String::new() } else { format!(", together with {}", others.join(" and ")) };
        guess.why = format!("{}{with}{agree}, several rows each: k counts them instead of rows", guess.why);
    }
}

/// Two columns of which rows of one person agree.
type AgreeingColumns = (usize, usize);

struct Candidates<'a> {
    guesses: &'a [Guess],
    table: &'a Table,
    profiles: &'a [Profile<'a>],
    names: &'a [Name],
}

impl Candidates<'_> {
    /// The column that stands for people, and two columns that it settles where it does.
    fn best(&self) -> Option<(usize, Option<AgreeingColumns>)> {
        let found: Vec<(usize, Option<AgreeingColumns>)> = (0..self.guesses.len())
            .filter_map(|i| {
                let settles = if self.may_stand_for_people(i) { self.settled_by(i) } else { None };
                let called = self.guesses[i].role == Role::Key;
                (settles.is_some() || called || self.seems_to_number_people(i)).then_some((i, settles))
            })
            .collect();
        let mut best = *found.iter().max_by_key(|&&(i, settles)| {
            let guess = &self.guesses[i];
            let left_out = matches!(guess.role, Role::Key | Role::Identifying);
            let called = (guess.role == Role::Key, self.few_rows(i), self.is_person(i), guess.strength);
            (self.personal(settles), left_out, called, self.profiles[i].distinct, std::cmp::Reverse(i))
        })?;
        // A stay has one person, and a person several stays. The column with fewer values tells people apart no less;
        // what people weigh is settled by who they are as well, and is no name of theirs.
        let names_somebody = |i: usize| {
            let left_out = matches!(self.guesses[i].role, Role::Key | Role::Identifying);
            left_out || (self.profiles[i].column.kind == ValueType::Text && !self.is_personal(i))
        };
        while let Some(&person) = found.iter().find(|&&(i, settles)| {
            let fewer = self.profiles[i].distinct < self.profiles[best.0].distinct;
            let settled = settles.is_some() && self.personal(settles) >= self.personal(best.1);
            fewer && names_somebody(i) && settled && self.settles_column(best.0, i)
        }) {
            best = person;
        }
        Some(best)
    }

    /// How much of what is settled only a person has; less than nothing where nothing is.
    fn personal(&self, settles: Option<AgreeingColumns>) -> i8 {
        settles.map_or(-1, |(a, b)| [a, b].iter().filter(|&&i| self.is_personal(i)).count() as i8)
    }

    /// Whether every value of one column has one value of another, nearly.
    fn settles_column(&self, from: usize, to: usize) -> bool {
        let column = &self.table.columns[from];
        let sample = Sample::of(&column.codes, column.dictionary.len());
        tells(&sample.person, &sample.codes(&self.table.columns[to].codes), TOLD)
    }

    /// Whether values repeat as those of people do who have several rows, by what they look like and are called.
    fn seems_to_number_people(&self, i: usize) -> bool {
        let named = self.names[i].is_person() || self.names[i].numbers();
        let told = named || (self.guesses[i].strength > 0 && self.few_rows(i));
        let private = self.names[i].meaning() == Some(Meaning::Sensitive);
        self.guesses[i].several_rows && told && self.is_known(i) && !private
    }

    /// A row without a value belongs to no person and is left out, so there must be few.
    fn is_known(&self, i: usize) -> bool {
        (self.profiles[i].rows - self.profiles[i].known) * 10 <= self.profiles[i].rows
    }

    fn few_rows(&self, i: usize) -> bool {
        self.profiles[i].rows <= self.profiles[i].distinct * ROWS_EACH
    }

    fn is_person(&self, i: usize) -> bool {
        self.names[i].is_person() || self.names[i].numbers_persons()
    }

    /// The column with the other half of people's names, the nearest of several.
    fn other_half(&self, i: usize) -> Option<usize> {
        let left_out = |j: usize| matches!(self.guesses[j].role, Role::Key | Role::Identifying);
        let half = |&j: &usize| j != i && self.names[i].completes(&self.names[j]) && left_out(j) && self.is_known(j);
        (0..self.guesses.len()).filter(half).min_by_key(|&j| j.abs_diff(i))
    }

    /// Whether two rows agree in both columns.
    fn repeats(&self, columns: [usize; 2]) -> bool {
        let codes = columns.map(|i| &self.table.columns[i].codes);
        let mut seen = HashSet::new();
        !(0..self.table.rows).all(|row| seen.insert(codes.map(|codes| codes.get(row))))
    }

    /// Two or three columns whose values together stand for people: first and last name, a name and a birth date.
    fn together(&self) -> Option<(Vec<usize>, Option<AgreeingColumns>)> {
        let named = |i: usize| self.names[i].tells_of("person-name");
        let part = |&i: &usize| {
            let profile = &self.profiles[i];
            let told = self.guesses[i].role == Role::Identifying || self.names[i].tells_of("birth");
            told && self.is_known(i) && profile.distinct > 1 && profile.distinct < profile.known
        };
        let mut parts: Vec<usize> = (0..self.guesses.len()).filter(part).collect();
        parts.sort_by_key(|&i| (!named(i), i));
        parts.truncate(MOST_TOGETHER);
        let pairs = (0..parts.len()).flat_map(|b| (0..b).map(move |a| vec![a, b]));
        let triples = (0..parts.len()).flat_map(|c| (0..c).flat_map(move |b| (0..b).map(move |a| vec![a, b, c])));
        let sets = || pairs.clone().chain(triples.clone()).map(|set| set.iter().map(|&at| parts[at]).collect());
        let proven = sets().find_map(|set: Vec<usize>| {
            let settles = self.settles(&set, &self.people(&set)?)?;
            Some((set, Some(settles)))
        });
        // Names that repeat together are people, also where nothing else is known of them.
        proven.or_else(|| {
            let names = |set: &Vec<usize>| set.iter().all(|&i| named(i)) && self.people(set).is_some();
            sets().find(names).map(|set| (set, None))
        })
    }

    /// The rows of some combinations of the columns that have more than one, if the columns repeat together as people
    /// do.
    fn people(&self, columns: &[usize]) -> Option<Sample> {
        let widest = *columns.iter().max_by_key(|&&i| self.profiles[i].distinct)?;
        let column = &self.table.columns[widest];
        let sample = Sample::of(&column.codes, column.dictionary.len());
        let (mut numbers, mut codes) = (HashMap::new(), Codes::default());
        for &row in &sample.rows {
            let cells: Vec<u32> = columns.iter().map(|&i| self.table.columns[i].codes.get(row)).collect();
            let next = numbers.len() as u32;
            codes.push(*numbers.entry(cells).or_insert(next));
        }
        let repeats = numbers.len() >= FEWEST_VALUES && numbers.len() * 3 <= sample.rows.len() * 2;
        repeats.then(|| Sample { person: codes, ..sample }.repeating(numbers.len()))
    }

    /// Whether it is worth asking what the values settle: some of them repeat.
    fn may_stand_for_people(&self, i: usize) -> bool {
        let profile = &self.profiles[i];
        profile.distinct >= FEWEST_VALUES && profile.distinct < profile.known && self.is_known(i)
    }

    /// As [`Candidates::settles`], of one column.
    fn settled_by(&self, i: usize) -> Option<AgreeingColumns> {
        let left_out = matches!(self.guesses[i].role, Role::Key | Role::Identifying);
        if !left_out && self.is_personal(i) && !self.names[i].tells_of("birth") {
            return None;
        }
        let column = &self.table.columns[i];
        self.settles(&[i], &Sample::of(&column.codes, column.dictionary.len()))
    }

    fn is_personal(&self, i: usize) -> bool {
        ["sex", "age", "birth"].iter().any(|section| self.names[i].tells_of(section))
    }

    /// Two columns that the values of `columns` settle and that are of different kinds: a sex and an age, or two of
    /// which none settles the other, as the county of a town settles its region. How many of them must be a person's
    /// (sex, age, birth) depends on what is known of `columns`: see [`Candidates::needed`].
    fn settles(&self, columns: &[usize], sample: &Sample) -> Option<AgreeingColumns> {
        let needed = self.needed(columns);
        let values = columns.iter().fold(1usize, |all, &i| all.saturating_mul(self.profiles[i].distinct));
        let varies = |j: &usize| {
            let kept = matches!(self.guesses[*j].role, Role::Quasi | Role::Sensitive);
            !columns.contains(j) && kept && self.profiles[*j].texts > 1 && self.profiles[*j].distinct <= values
        };
        // What is personal is looked at first; where none of it is settled the others would not do.
        let mut others: Vec<usize> = (0..self.guesses.len()).filter(varies).collect();
        others.sort_by_key(|&j| (!self.is_personal(j), self.profiles[j].distinct, j));
        others.truncate(MOST_COLUMNS);
        // Columns that are settled, and none of which settles another.
        let mut settled: Vec<(usize, Codes)> = Vec::new();
        for j in others {
            let to = sample.codes(&self.table.columns[j].codes);
            if !tells(&sample.person, &to, TOLD) {
                continue;
            }
            if let Some(&(other, _)) = settled.iter().find(|(other, _)| self.are_sex_and_age(*other, j)) {
                return Some((other, j));
            }
            let same = |codes: &Codes| tells(codes, &to, Dependence::NEARLY) || tells(&to, codes, Dependence::NEARLY);
            if settled.iter().any(|(_, codes)| same(codes)) {
                continue;
            }
            let personal = |other: usize| [j, other].iter().filter(|&&of| self.is_personal(of)).count();
            let three = needed.or_three && settled.len() >= 2;
            let pair = settled.iter().find(|(other, _)| three || personal(*other) >= needed.personal);
            if let Some(&(other, _)) = pair {
                return Some((other, j));
            }
            settled.push((j, to));
        }
        None
    }

    /// What columns must settle to stand for people: anything where they are left out already, something personal where
    /// their name or their number speaks for people. Of places and of values that very many rows share nothing but sex
    /// and age will do: a ward may settle the sex of its patients and its region. Where a name says nothing, three
    /// columns are enough.
    fn needed(&self, columns: &[usize]) -> Needed {
        let left_out = |&i: &usize| matches!(self.guesses[i].role, Role::Key | Role::Identifying);
        let told = |&i: &usize| self.is_person(i) || self.names[i].tells_of("person");
        let place = |&i: &usize| ["place", "postcode", "coordinate"].iter().any(|s| self.names[i].tells_of(s));
        let personal = match () {
            () if columns.iter().any(left_out) => 0,
            () if columns.iter().any(place) => 2,
            () if columns.iter().any(told) => 1,
            () if columns.iter().any(|&i| self.few_rows(i)) => 1,
            () => 2,
        };
        Needed { personal, or_three: columns.iter().all(|&i| self.names[i].meaning().is_none() && !place(&i)) }
    }

    /// Whether one column is somebody's sex and the other their age or birth, which need not be independent in a table
    /// of few people.
    fn are_sex_and_age(&self, a: usize, b: usize) -> bool {
        let (sex, age) = (
            |i: usize| self.names[i].tells_of("sex"),
            |i: usize| self.names[i].tells_of("age") || self.names[i].tells_of("birth"),
        );
        (sex(a) && age(b)) || (age(a) && sex(b))
    }
}

/// What columns must settle to stand for people.
#[derive(Clone, Copy)]
struct Needed {
    /// How many of two columns must be a person's.
    personal: usize,
    /// Whether three columns of any kind will do, none of which settles another.
    or_three: bool,
}

/// Whether the values of one column tell those of another, row by row and beyond chance, in this share of the rows.
fn tells(from: &Codes, to: &Codes, share: f64) -> bool {
    Dependence::of(from, to, None, None).is_some_and(|d| d.beyond_chance >= share)
}

/// All rows of some values that have more than one row.
struct Sample {
    rows: Vec<usize>,
    /// The value of each of the rows.
    person: Codes,
}

impl Sample {
    fn of(codes: &Codes, values: usize) -> Self {
        let mut left = MOST_ROWS;
        // Values in their order, so that the sample does not depend on the order of rows.
        let taken: Vec<bool> = counts(codes, values)
            .iter()
            .map(|&count| {
                let take = count > 1 && left > 0;
                left = if take { left.saturating_sub(count) } else { left };
                take
            })
            .collect();
        let mut rows: Vec<usize> = (0..codes.len()).filter(|&row| taken[codes.get(row) as usize]).collect();
        // Of values that very many rows share some rows of each are enough.
        let step = rows.len().div_ceil(2 * MOST_ROWS).max(1);
        rows = rows.into_iter().step_by(step).collect();
        let sample = Sample { rows, person: Codes::default() };
        Sample { person: sample.codes(codes), ..sample }
    }

    /// Without the rows whose value no other row has.
    fn repeating(self, values: usize) -> Self {
        let counts = counts(&self.person, values);
        let keep: Vec<bool> = (0..self.rows.len()).map(|at| counts[self.person.get(at) as usize] > 1).collect();
        let rows = self.rows.iter().zip(&keep).filter(|(_, keep)| **keep).map(|(row, _)| *row).collect();
        let mut person = self.person;
        person.retain(&keep);
        Sample { rows, person }
    }

    fn codes(&self, codes: &Codes) -> Codes {
        let mut sampled = Codes::default();
        self.rows.iter().for_each(|&row| sampled.push(codes.get(row)));
        sampled
    }
}

fn counts(codes: &Codes, values: usize) -> Vec<usize> {
    let mut counts = vec![0usize; values];
    codes.for_each(|code| counts[code as usize] += 1);
    counts
}

#[cfg(test)]
mod tests;
