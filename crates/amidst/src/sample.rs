//! Synthetic patients: a hospital table to try things on, of any length, that holds nobody real.
//!
//! | column | what it follows |
//! | --- | --- |
//! | `id` | 1, 2, 3 … |
//! | `age` | 0–99, as in a hospital: many over fifty, a bump of small children |
//! | `sex` | even among the young, two women in three over ninety |
//! | `zip` | twelve districts of eight codes each; a few codes hold most people |
//! | `nationality` | district: the centre is mixed, each inner one has its own community, the outskirts are uniform |
//! | `education` | age for children; cohort and district for adults (the young and the centre hold more degrees) |
//! | `occupation` | age for pupils and pensioners; else education, and sex for a few trades |
//! | `diagnosis` | age first; pregnancy and prostate by sex; injuries and backs by manual trades |
//! | `cost` | diagnosis, then age, with a long tail; whole tens |
//!
//! The same seed gives the same bytes on every platform and with any number of threads: rows are drawn independently,
//! each from its own number, in integers only. A shorter table is the beginning of a longer one.
//!
//! May use: nothing else of this crate.

pub mod drawn;
mod random;
mod tables;

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use amidst_io::{Format, WriteOptions};
use rayon::prelude::*;

use crate::Failure;
use random::Random;
use tables::{District, Schooling, Table};

/// A policy for the table, with every hierarchy in it. It expects the table in `patients.csv`.
pub const POLICY: &str = include_str!("sample/policy.toml");

/// The header of the table.
pub const HEADER: &str = "id,age,sex,zip,nationality,occupation,education,diagnosis,cost";

/// Rows drawn in one go by one thread.
const CHUNK: u64 = 1 << 14;

/// Writes the header and `rows` rows of CSV. Wants a writer that takes large blocks; it needs no buffer of its own.
pub fn write(rows: u64, seed: u64, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(HEADER.as_bytes())?;
    out.write_all(b"\n")?;
    // A few chunks a thread, so that little is in memory at a time and no thread waits long for another.
    let batch = CHUNK * 4 * rayon::current_num_threads() as u64;
    let mut start = 0;
    while start < rows {
        let end = start.saturating_add(batch).min(rows);
        let chunks: Vec<u64> = (0..(end - start).div_ceil(CHUNK)).map(|i| start + i * CHUNK).collect();
        let texts: Vec<Vec<u8>> =
            chunks.into_par_iter().map(|first| chunk(first, (first + CHUNK).min(end), seed)).collect();
        for text in &texts {
            out.write_all(text)?;
        }
        start = end;
    }
    Ok(())
}

/// Writes `rows` rows into a file, in the format of its ending; CSV when it has none that is known. What cannot be
/// written whole is removed: half a table would pass for a whole one.
///
/// # Errors
/// When the file cannot be written.
pub fn save(rows: u64, seed: u64, path: &Path) -> Result<(), Failure> {
    let failed = |e: String| Failure::Io(format!("cannot write {}: {e}", path.display()));
    // A file that cannot be begun is not ours to remove.
    let mut file = File::create(path).map_err(|e| failed(e.to_string()))?;
    let written = match Format::of_path(path).unwrap_or(Format::Csv) {
        Format::Csv => write(rows, seed, &mut file).map_err(|e| e.to_string()),
        format => {
            let mut text = Vec::new();
            write(rows, seed, &mut text).map_err(|e| failed(e.to_string()))?;
            let read = amidst_io::read_from(text.as_slice(), path, Format::Csv, &amidst_io::ReadOptions::default());
            let mut input = read.map_err(|e| failed(e.to_string()))?;
            drop(text);
            // Numbers become numbers where the format has them.
            input.guess_types(&[]);
            amidst_io::write(&input.table, None, path, format, &WriteOptions::default())
                .map(|_| ())
                .map_err(|e| e.to_string())
        }
    };
    written.map_err(|e| {
        let _ = std::fs::remove_file(path);
        failed(e)
    })
}

/// [`POLICY`] for a table at `input`, a path as the policy should name it.
pub fn policy(input: &str) -> String {
    let name = toml::Value::String(input.to_string()).to_string();
    POLICY.replacen("\"patients.csv\"", &name, 1)
}

fn chunk(first: u64, end: u64, seed: u64) -> Vec<u8> {
    let mut text = Vec::with_capacity((end - first) as usize * 80);
    for row in first..end {
        patient(row, &mut Random::new(seed, row), &mut text);
    }
    text
}

/// Draws one patient and writes the row.
fn patient(row: u64, random: &mut Random, out: &mut Vec<u8>) {
    let age = 10 * random.pick(tables::AGE) + random.below(10);
    let female = random.below(100) < tables::FEMALE[(age / 10) as usize];
    let district: &District = random.pick(tables::DISTRICTS);
    let suffix = random.pick(tables::SUFFIXES);
    let nationality = random.pick(district.nationalities);
    let education = random.pick(schooling(age, district));
    let occupation = random.pick(occupations(age, female, education.group));
    let diagnosis = random.pick(diagnoses(age, female, occupation.manual));

    number(row + 1, out);
    out.push(b',');
    number(u64::from(age), out);
    out.extend_from_slice(if female { b",F," } else { b",M," });
    out.extend_from_slice(district.prefix.as_bytes());
    out.extend_from_slice(suffix.as_bytes());
    for text in [nationality, occupation.name, education.name, diagnosis.name] {
        out.push(b',');
        out.extend_from_slice(text.as_bytes());
    }
    out.push(b',');
    number(u64::from(cost(diagnosis.cost, age, random)), out);
    out.push(b'\n');
}

fn schooling(age: u32, district: &District) -> Table<tables::Education> {
    match age {
        0..=5 => tables::PRESCHOOL,
        6..=11 => tables::PRIMARY,
        12..=15 => tables::LOWER,
        16..=18 => tables::UPPER,
        19..=24 => tables::YOUNG,
        25..=49 if district.centre => tables::MODERN_CENTRE,
        25..=49 => tables::MODERN,
        50..=69 if district.centre => tables::MIDDLE_CENTRE,
        50..=69 => tables::MIDDLE,
        _ => tables::OLD,
    }
}

fn occupations(age: u32, female: bool, schooling: Schooling) -> Table<tables::Occupation> {
    match (age, schooling) {
        (0..=5, _) => tables::INFANT,
        (6..=17, _) => tables::PUPIL,
        (18..=24, _) => tables::STUDENT,
        (67.., _) => tables::PENSIONER,
        (_, Schooling::Basic) if female => tables::BASIC_WOMEN,
        (_, Schooling::Basic) => tables::BASIC_MEN,
        (_, Schooling::Trained) if female => tables::TRAINED_WOMEN,
        (_, Schooling::Trained) => tables::TRAINED_MEN,
        (_, Schooling::Academic) => tables::ACADEMIC,
    }
}

fn diagnoses(age: u32, female: bool, manual: bool) -> Table<tables::Diagnosis> {
    match (age, female, manual) {
        (0..=14, _, _) => tables::CHILD,
        (15..=44, true, _) => tables::YOUNG_WOMAN,
        (15..=44, false, true) => tables::YOUNG_MANUAL,
        (15..=44, false, false) => tables::YOUNG_MAN,
        (45..=64, _, true) => tables::MIDDLE_MANUAL,
        (45..=64, _, false) => tables::MIDDLE_AGED,
        (_, true, _) => tables::OLD_WOMAN,
        (_, false, _) => tables::OLD_MAN,
    }
}

/// The cost of a stay: around the diagnosis's own, dearer with age, one in twenty several times as much.
fn cost(usual: u32, age: u32, random: &mut Random) -> u32 {
    let percent = 50 + random.below(51) + random.below(51) + age / 2;
    let times = if random.below(20) == 0 { 2 + random.below(4) } else { 1 };
    usual * percent / 1000 * times * 10
}

/// Writes a number in decimal.
fn number(mut n: u64, out: &mut Vec<u8>) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (n % 10) as u8;
        n /= 10;
        if n == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests;
