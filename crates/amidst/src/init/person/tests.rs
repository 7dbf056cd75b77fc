//! Tables of people who have several rows, and of places, days and categories that are not people.

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
    let profiles: Vec<Profile<'_>> = table.columns.iter().map(|column| Profile::of(column, &[String::new()])).collect();
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
    let born = |row| format!("19{:02}-0{}-1{}", 30 + person(row) * 7 % 60, person(row) % 9 + 1, person(row) / 10 % 10);
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
    let first = |row| ["Ann", "Bea", "Cleo", "Dora", "Eve", "Fay", "Gil", "Hal", "Ian", "Jon"][person(row) % 10].into();
    let last =
        |row| ["Ashe", "Boyd", "Cole", "Dunn", "Egan", "Ford", "Gray", "Hill", "Ives", "Jory"][person(row) / 10].into();
    let visit = |row: usize| (row * 31 % 89 + 3).to_string();
    let columns: [(&str, &dyn Fn(usize) -> String); 5] =
        [("first name", &first), ("last name", &last), ("sex", &sex), ("region", &region), ("minutes", &visit)];
    assert_eq!(key(&columns).as_deref(), Some("first name + last name"));
    // Nothing else is known of them.
    let columns: [(&str, &dyn Fn(usize) -> String); 3] =
        [("Vorname", &first), ("Nachname", &last), ("Minuten", &visit)];
    assert_eq!(key(&columns).as_deref(), Some("Vorname + Nachname"));
}

/// Many have one first name, and hardly any two the same first and last name.
#[test]
fn a_first_name_alone_is_nobody_where_there_is_a_last_name() {
    let first =
        |row: usize| ["Ann", "Bea", "Cleo", "Dora", "Eve", "Fay", "Gil", "Hal", "Ian", "Jon"][row % 10].to_string();
    let last = |row: usize| {
        format!("{}{}", ["Ash", "Boy", "Col", "Dun", "Eg"][row / 10 % 5], ["", "e", "er", "ing"][row / 50 % 4])
            + ["", "son", "man"][row / 200 % 3]
    };
    let twice = |row: usize| last(row.max(20));
    let minutes = |row: usize| (row * 31 % 89 + 3).to_string();
    let found =
        |last: &dyn Fn(usize) -> String| key(&[("first_name", &first), ("last_name", last), ("minutes", &minutes)]);
    assert_eq!(found(&last), None);
    assert_eq!(found(&twice).as_deref(), Some("first_name + last_name"));
}

#[test]
fn a_stay_has_one_person_and_a_person_several_stays() {
    // Two rows a stay, three stays a person.
    let stay = |row: usize| format!("{}", 90_000 + row / 2 * 17);
    let whose = |row: usize| row / 2 * 7919 % 101;
    let email = |row: usize| format!("u{}@example.org", whose(row));
    let of =
        |list: &'static [&'static str], by: usize| move |row: usize| list[whose(row) * by / 7 % list.len()].to_string();
    let (sex, county) = (of(&["f", "m"], 13), of(&["Kent", "Essex", "Devon", "Fife"], 5));
    let age = |row: usize| (20 + whose(row) * 31 % 53).to_string();
    for name in ["stay", "visit_id", "order no"] {
        let columns: [(&str, &dyn Fn(usize) -> String); 5] =
            [(name, &stay), ("email", &email), ("sex", &sex), ("age", &age), ("county", &county)];
        assert_eq!(key(&columns).as_deref(), Some("email"), "{name}");
    }
}

#[test]
fn what_people_weigh_is_not_who_they_are() {
    let device =
        |row: usize| format!("{:08x}-1c3e-4d6b-9a7f-{:012x}", 0x1a2b_3c4d + person(row), 0x5e6f_7081 * person(row));
    let weight = |row: usize| format!("{}.{}", 48 + person(row) * 17 % 49, person(row) % 10);
    let columns: [(&str, &dyn Fn(usize) -> String); 5] =
        [("device", &device), ("weight_kg", &weight), ("sex", &sex), ("age", &age), ("region", &region)];
    assert_eq!(key(&columns).as_deref(), Some("device"));
}

#[test]
fn slips_and_gaps_hide_nobody() {
    let number = |row: usize| if row == 5 { String::new() } else { format!("{}", 700 + person(row) * 3) };
    let columns: [(&str, &dyn Fn(usize) -> String); 4] =
        [("patient_no", &number), ("age", &age), ("sex", &sex), ("region", &region)];
    assert_eq!(key(&columns).as_deref(), Some("patient_no"), "one empty cell");
    // Two of forty share a nickname.
    let few = |row: usize| row * 7919 % 41;
    let nick = |row: usize| {
        format!(
            "{}{}",
            ["ki", "lo", "mu", "ta"][few(row).min(39) % 4],
            ["bo", "da", "fi", "gu", "he", "jo", "ku", "le", "ma", "ni"][few(row).min(39) / 4]
        )
    };
    let sex = |row: usize| ["f", "m"][few(row) * 13 / 7 % 2].to_string();
    let age = |row: usize| (20 + few(row) * 31 % 37).to_string();
    let answer = |row: usize| (row * 31 % 7).to_string();
    let columns: [(&str, &dyn Fn(usize) -> String); 4] =
        [("who", &nick), ("sex", &sex), ("age", &age), ("answer", &answer)];
    assert_eq!(key(&columns).as_deref(), Some("who"));
    // Nothing is known of any column.
    let country = |row: usize| ["SE", "NO", "DK", "FI", "IS"][few(row) * 3 % 5].to_string();
    let age = |row: usize| (20 + few(row) * 31 % 17).to_string();
    let columns: [(&str, &dyn Fn(usize) -> String); 5] =
        [("c1", &nick), ("c2", &sex), ("c3", &age), ("c4", &country), ("c5", &answer)];
    assert_eq!(key(&columns).as_deref(), Some("c1"));
}

#[test]
fn most_may_have_one_row() {
    // One in three has a second row.
    let whose = |row: usize| if row < 450 { row } else { (row - 450) * 3 };
    let code = |row: usize| format!("{:x}", 0xabcde + whose(row) * 7919);
    let sex = |row: usize| ["f", "m"][whose(row) * 13 / 7 % 2].to_string();
    let age = |row: usize| (20 + whose(row) * 31 % 53).to_string();
    let columns: [(&str, &dyn Fn(usize) -> String); 3] = [("qv", &code), ("sex", &sex), ("age", &age)];
    assert_eq!(key(&columns).as_deref(), Some("qv"));
}

#[test]
fn places_days_and_kinds_are_nobody() {
    let own = |row: usize| (row * 37 % 61 + 20).to_string();
    let sex = |row: usize| ["f", "m"][row * 7 % 13 % 2].to_string();
    let (starts, ends) = (["Ash", "Bel", "Car", "Dun", "Elm", "Fox"], ["ford", "ham", "ley", "mere", "ton", "wick"]);
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
