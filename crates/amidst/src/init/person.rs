//! Which column tells people apart where they have several rows: the key.
//!
//! Five rows of one person are not five people, so k must count people there. A name may speak of a key, or values may
//! repeat as numbers of people do; both can be wrong (a doctor's number stands beside the patient's) or missing (a
//! number of an unknown name, a birth date, an address). What people are does not change from row to row: a column
//! whose repeated values settle other columns that do not settle each other, such as sex and region, stands for
//! somebody. That evidence comes first. Where no single column has it, two or three of those that are left out may have
//! it together: first and last name. A key is never published, so a column that is taken for one by mistake costs
//! usefulness and not protection.

use std::collections::HashMap;

use amidst_core::risk::Dependence;
use amidst_core::table::{Codes, Table};

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
    let Some((key, settles)) = together.or(alone) else { return };
    for guess in guesses.iter_mut().filter(|g| g.role == Role::Key) {
        guess.role = Role::Identifying;
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
type Settled = (usize, usize);

struct Candidates<'a> {
    guesses: &'a [Guess],
    table: &'a Table,
    profiles: &'a [Profile<'a>],
    names: &'a [Name],
}

impl Candidates<'_> {
    /// The column that stands for people, and two columns that it settles where it does.
    fn best(&self) -> Option<(usize, Option<Settled>)> {
        let found = (0..self.guesses.len()).filter_map(|i| {
            let settles = if self.may_stand_for_people(i) { self.settled_by(i) } else { None };
            let called = self.guesses[i].role == Role::Key;
            (settles.is_some() || called || self.seems_to_number_people(i)).then_some((i, settles))
        });
        found.max_by_key(|&(i, settles)| {
            let guess = &self.guesses[i];
            let left_out = matches!(guess.role, Role::Key | Role::Identifying);
            let rank = (settles.is_some(), left_out, guess.role == Role::Key, self.few_rows(i), self.is_person(i));
            (rank, self.profiles[i].distinct, std::cmp::Reverse(i))
        })
    }

    /// Whether values repeat as those of people do who have several rows, by what they look like and are called.
    fn seems_to_number_people(&self, i: usize) -> bool {
        let named = self.names[i].is_person() || self.names[i].numbers();
        let told = named || (self.guesses[i].strength > 0 && self.few_rows(i));
        let private = self.names[i].meaning() == Some(Meaning::Sensitive);
        self.guesses[i].several_rows && told && self.is_known(i) && !private
    }

    /// A row without a value would be nobody's.
    fn is_known(&self, i: usize) -> bool {
        self.profiles[i].known == self.profiles[i].rows
    }

    fn few_rows(&self, i: usize) -> bool {
        self.profiles[i].rows <= self.profiles[i].distinct * ROWS_EACH
    }

    fn is_person(&self, i: usize) -> bool {
        self.names[i].is_person() || self.names[i].numbers_persons()
    }

    /// Two or three columns whose values together stand for people: first and last name, a name and a birth date.
    fn together(&self) -> Option<(Vec<usize>, Option<Settled>)> {
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

    /// Whether it is worth asking what the values settle: they repeat, and something says already that they stand for
    /// people or records, or there are many of them, or they settle what only a person has.
    fn may_stand_for_people(&self, i: usize) -> bool {
        let profile = &self.profiles[i];
        let repeats = profile.distinct >= FEWEST_VALUES && profile.distinct * 3 <= profile.known * 2;
        repeats && self.is_known(i)
    }

    /// As [`Candidates::settles`], of one column.
    fn settled_by(&self, i: usize) -> Option<Settled> {
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

    /// Two columns that the values of `columns` settle and that do not settle each other. Of columns that are not left
    /// out already one of the two must be a person's (sex, age, birth): a town settles its region and its density. Both
    /// must be where very many rows share each value and no name speaks of people: a ward may settle the sex of its
    /// patients and its region.
    fn settles(&self, columns: &[usize], sample: &Sample) -> Option<Settled> {
        let left_out = |&i: &usize| matches!(self.guesses[i].role, Role::Key | Role::Identifying);
        let told = |&i: &usize| self.is_person(i) || self.names[i].tells_of("person");
        let personal_ones = match () {
            () if columns.iter().any(left_out) => 0,
            () if columns.iter().any(|i| told(i) || self.few_rows(*i)) => 1,
            () => 2,
        };
        let values = columns.iter().fold(1usize, |all, &i| all.saturating_mul(self.profiles[i].distinct));
        let varies = |j: &usize| {
            let kept = matches!(self.guesses[*j].role, Role::Quasi | Role::Sensitive);
            !columns.contains(j) && kept && self.profiles[*j].texts > 1 && self.profiles[*j].distinct <= values
        };
        // What is personal is looked at first; where none of it is settled the others would not do.
        let mut others: Vec<usize> = (0..self.guesses.len()).filter(varies).collect();
        others.sort_by_key(|&j| (!self.is_personal(j), self.profiles[j].distinct, j));
        others.truncate(MOST_COLUMNS);
        let mut settled: Vec<(usize, Codes)> = Vec::new();
        for j in others {
            let to = sample.codes(&self.table.columns[j].codes);
            if !tells(&sample.person, &to) {
                continue;
            }
            let pair = settled.iter().find(|(other, codes)| {
                let personal = [j, *other].iter().filter(|&&of| self.is_personal(of)).count();
                personal >= personal_ones && !tells(codes, &to) && !tells(&to, codes)
            });
            if let Some(&(other, _)) = pair {
                return Some((other, j));
            }
            settled.push((j, to));
        }
        None
    }
}

/// Whether the values of one column tell those of another, row by row and beyond chance.
fn tells(from: &Codes, to: &Codes) -> bool {
    Dependence::of(from, to, None, None).is_some_and(|d| d.beyond_chance >= Dependence::NEARLY)
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
        let rows = (0..codes.len()).filter(|&row| taken[codes.get(row) as usize]).collect();
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
mod tests {
    use amidst_core::table::Column;

    use super::*;
    use crate::init::{profile, roles};

    /// The columns that become the key of a table of 600 rows.
    fn key(columns: &[(&str, &dyn Fn(usize) -> String)]) -> Option<String> {
        let column = |&(name, of): &(&str, &dyn Fn(usize) -> String)| {
            let values: Vec<String> = (0..600).map(of).collect();
            profile::tests::column(name, values)
        };
        let table = Table { rows: 600, columns: columns.iter().map(column).collect::<Vec<Column>>() };
        let profiles: Vec<Profile<'_>> = table.columns.iter().map(|column| Profile::of(column, &[])).collect();
        let mut guesses: Vec<Guess> = profiles.iter().map(roles::guess).collect();
        one_key(&mut guesses, &table, &profiles);
        let keys = guesses.iter().zip(&table.columns).filter(|(guess, _)| guess.role == Role::Key);
        let names: Vec<&str> = keys.map(|(_, column)| column.name.as_str()).collect();
        (!names.is_empty()).then(|| names.join(" + "))
    }

    fn person(row: usize) -> usize {
        row * 7919 % 97
    }

    fn age(row: usize) -> String {
        (20 + person(row) * 31 % 53).to_string()
    }

    fn sex(row: usize) -> String {
        ["f", "m"][person(row) * 13 / 7 % 2].into()
    }

    fn region(row: usize) -> String {
        ["N", "S", "E", "W"][person(row) * 5 / 3 % 4].into()
    }

    #[test]
    fn whoever_has_several_rows_is_found_by_what_does_not_change() {
        let number = |row| (person(row) * 17 % 389 + 100).to_string();
        let born =
            |row| format!("19{:02}-0{}-1{}", 30 + person(row) * 7 % 60, person(row) % 9 + 1, person(row) / 10 % 10);
        let place = |row| format!("50.{:05}", 10_000 + person(row) * 811);
        let visit = |row: usize| (row / 97).to_string();
        for name in ["ptid", "sujet", "zzz"] {
            let found = key(&[(name, &number), ("visit", &visit), ("age", &age), ("sex", &sex), ("region", &region)]);
            assert_eq!(found.as_deref(), Some(name));
        }
        assert_eq!(key(&[("dob", &born), ("sex", &sex), ("region", &region)]).as_deref(), Some("dob"));
        assert_eq!(key(&[("lat", &place), ("age", &age), ("sex", &sex), ("region", &region)]).as_deref(), Some("lat"));
    }

    #[test]
    fn of_two_numbers_the_key_is_whose_rows_agree() {
        let patient = |row| format!("{}", 5000 + person(row));
        let doctor = |row: usize| format!("{}", 300 + row * 31 % 41);
        let columns: [(&str, &dyn Fn(usize) -> String); 5] =
            [("doctor_id", &doctor), ("patient_id", &patient), ("age", &age), ("sex", &sex), ("region", &region)];
        assert_eq!(key(&columns).as_deref(), Some("patient_id"));
    }

    #[test]
    fn a_few_people_are_people() {
        let few = |row: usize| row * 7919 % 10;
        let subject = |row| format!("S{}", few(row));
        let of = |list: &'static [&'static str]| move |row: usize| list[few(row) % list.len()].to_string();
        let (sex, region) = (of(&["f", "m"]), of(&["N", "S", "E", "W", "X"]));
        let answer = |row: usize| (row * 31 % 7).to_string();
        let columns: [(&str, &dyn Fn(usize) -> String); 4] =
            [("subject", &subject), ("sex", &sex), ("region", &region), ("answer", &answer)];
        assert_eq!(key(&columns).as_deref(), Some("subject"));
    }

    #[test]
    fn a_person_with_very_many_rows_is_one() {
        // Seven people, 85 rows each, whatever the column is called.
        let few = |row: usize| row * 7919 % 7;
        let subject = |row| format!("S{}", few(row));
        let of = |list: &'static [&'static str]| move |row: usize| list[few(row) % list.len()].to_string();
        let (sex, age) = (of(&["f", "m"]), of(&["31", "44", "52", "60", "28"]));
        let answer = |row: usize| (row * 31 % 7).to_string();
        for name in ["subject", "volunteer", "zz"] {
            let columns: [(&str, &dyn Fn(usize) -> String); 4] =
                [(name, &subject), ("sex", &sex), ("age", &age), ("answer", &answer)];
            assert_eq!(key(&columns).as_deref(), Some(name));
        }
    }

    #[test]
    fn names_tell_people_apart_together() {
        let first =
            |row| ["Ann", "Bea", "Cleo", "Dora", "Eve", "Fay", "Gil", "Hal", "Ian", "Jon"][person(row) % 10].into();
        let last = |row| {
            ["Ashe", "Boyd", "Cole", "Dunn", "Egan", "Ford", "Gray", "Hill", "Ives", "Jory"][person(row) / 10].into()
        };
        let visit = |row: usize| (row * 31 % 89 + 3).to_string();
        let columns: [(&str, &dyn Fn(usize) -> String); 5] =
            [("first name", &first), ("last name", &last), ("sex", &sex), ("region", &region), ("minutes", &visit)];
        assert_eq!(key(&columns).as_deref(), Some("first name + last name"));
        // Nothing else is known of them.
        let columns: [(&str, &dyn Fn(usize) -> String); 3] =
            [("Vorname", &first), ("Nachname", &last), ("Minuten", &visit)];
        assert_eq!(key(&columns).as_deref(), Some("Vorname + Nachname"));
    }

    #[test]
    fn places_days_and_kinds_are_nobody() {
        let own = |row: usize| (row * 37 % 61 + 20).to_string();
        let sex = |row: usize| ["f", "m"][row * 7 % 13 % 2].to_string();
        let (starts, ends) =
            (["Ash", "Bel", "Car", "Dun", "Elm", "Fox"], ["ford", "ham", "ley", "mere", "ton", "wick"]);
        let town = |row: usize| format!("{}{}", starts[row * 17 % 36 / 6], ends[row * 17 % 36 % 6]);
        let county = |row: usize| starts[row * 17 % 36 / 6].to_lowercase();
        let density = |row: usize| ["low", "high"][row * 17 % 36 % 2].to_string();
        let columns: [(&str, &dyn Fn(usize) -> String); 5] =
            [("town", &town), ("county", &county), ("density", &density), ("age", &own), ("sex", &sex)];
        assert_eq!(key(&columns), None);
        // First names tell the sex, and nothing else.
        let name = |row: usize| ["Ann", "Bo", "Cy", "Di", "Ed", "Flo", "Gus", "Hal"][row * 7 % 13 % 8].to_string();
        let told = |row: usize| ["f", "m"][row * 7 % 13 % 8 % 2].to_string();
        let columns: [(&str, &dyn Fn(usize) -> String); 3] = [("given name", &name), ("sex", &told), ("age", &own)];
        assert_eq!(key(&columns), None);
        // What people have is not who they are.
        let diagnosis = |row: usize| format!("Q{:03}", (row * row) % 125);
        let columns: [(&str, &dyn Fn(usize) -> String); 3] = [("diagnosis", &diagnosis), ("sex", &sex), ("age", &own)];
        assert_eq!(key(&columns), None);
    }
}
