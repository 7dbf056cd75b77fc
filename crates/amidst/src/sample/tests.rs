//! Tests of the synthetic patients.

use super::*;

fn text(rows: u64, seed: u64) -> String {
    let mut out = Vec::new();
    write(rows, seed, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn cells(text: &str) -> Vec<Vec<&str>> {
    text.lines().skip(1).map(|line| line.split(',').collect()).collect()
}

/// The share of the rows that `of` picks for which `holds`.
fn share(rows: &[Vec<&str>], of: impl Fn(&[&str]) -> bool, holds: impl Fn(&[&str]) -> bool) -> f64 {
    let picked: Vec<_> = rows.iter().filter(|r| of(r)).collect();
    assert!(picked.len() > 100);
    picked.iter().filter(|r| holds(r)).count() as f64 / picked.len() as f64
}

fn age(row: &[&str]) -> u32 {
    row[1].parse().unwrap()
}

#[test]
fn same_seed_same_bytes() {
    // FNV-1a over the text. It changes only when the tables or the way of drawing do, and then on purpose.
    let digest =
        text(1000, 1).bytes().fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
    assert_eq!(digest, 4_940_117_465_646_726_587, "{}", text(3, 1));
    assert_ne!(text(50, 1), text(50, 2));
}

#[test]
fn a_short_table_begins_a_long_one() {
    let long = text(3 * CHUNK + 17, 5);
    for rows in [0, 1, CHUNK, CHUNK + 1] {
        assert!(long.starts_with(&text(rows, 5)), "{rows}");
    }
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(one.install(|| text(3 * CHUNK + 17, 5)), long);
    assert_eq!(long.lines().count() as u64, 3 * CHUNK + 18);
    assert!(cells(&long).iter().enumerate().all(|(i, row)| row.len() == 9 && row[0] == (i + 1).to_string()));
}

#[test]
fn columns_hang_together() {
    let text = text(40_000, 3);
    let rows = cells(&text);
    let is = |column: usize, value: &'static str| move |row: &[&str]| row[column] == value;
    let anyone = |_: &[&str]| true;
    // Age and diagnosis.
    let old = share(&rows, |r| age(r) >= 65, is(7, "Heart disease"));
    let young = share(&rows, |r| age(r) < 45, is(7, "Heart disease"));
    assert!(old > 0.2 && young < 0.01, "{old} {young}");
    // Education and occupation.
    let academics = share(&rows, |r| ["Bachelor", "Master"].contains(&r[6]), is(5, "Engineer"));
    let others = share(&rows, |r| r[6] == "Lower secondary", is(5, "Engineer"));
    assert!(academics > 10.0 * others, "{academics} {others}");
    // District and nationality.
    let there = share(&rows, |r| r[3].starts_with("131"), is(4, "Poland"));
    assert!(there > 4.0 * share(&rows, anyone, is(4, "Poland")));
    // Diagnosis and cost; sex and diagnosis; age and work.
    let mean = |d: &str| {
        let costs: Vec<u64> = rows.iter().filter(|r| r[7] == d).map(|r| r[8].parse().unwrap()).collect();
        costs.iter().sum::<u64>() as f64 / costs.len() as f64
    };
    assert!(mean("Cancer") > 5.0 * mean("Flu"));
    assert!(rows.iter().all(|r| r[7] != "Pregnancy" || r[2] == "F"));
    assert!(rows.iter().all(|r| (r[5] == "Pupil") == (6..18).contains(&age(r))));
    assert!(share(&rows, |r| age(r) >= 90, is(2, "F")) > 0.6);
}

#[test]
fn the_policy_knows_every_column_and_value() {
    let policy: toml::Table = POLICY.parse().unwrap();
    let columns = policy["columns"].as_table().unwrap();
    let mut names: Vec<&str> = columns.keys().map(String::as_str).collect();
    let mut header: Vec<&str> = HEADER.split(',').collect();
    names.sort_unstable();
    header.sort_unstable();
    assert_eq!(names, header);

    fn strings<'a>(value: &'a toml::Value, found: &mut Vec<&'a str>) {
        match value {
            toml::Value::String(s) => found.push(s),
            toml::Value::Array(items) => items.iter().for_each(|v| strings(v, found)),
            toml::Value::Table(table) => table.iter().for_each(|(_, v)| strings(v, found)),
            _ => {}
        }
    }
    let text = text(40_000, 8);
    for (column, name) in [(4, "nationality"), (5, "occupation"), (6, "education"), (7, "diagnosis")] {
        let mut known = Vec::new();
        strings(columns[name].get("hierarchy").or(columns[name].get("categories")).unwrap(), &mut known);
        let used: std::collections::BTreeSet<&str> = cells(&text).iter().map(|row| row[column]).collect();
        // Each value once in the policy, and each value of the policy in the table.
        known.sort_unstable();
        assert_eq!(known, used.into_iter().collect::<Vec<_>>(), "{name}");
    }
}

#[test]
fn the_policy_names_the_table_it_is_for() {
    let text = policy("a \"b\"\\c.csv");
    let parsed: toml::Table = text.parse().unwrap();
    assert_eq!(parsed["data"]["input"].as_str(), Some("a \"b\"\\c.csv"));
}

#[test]
fn shares_leave_something_of_a_thousand() {
    fn rest<T: Copy>(table: Table<T>) -> u32 {
        1000 - table.1.iter().map(|&(_, share)| share).sum::<u32>()
    }
    let mut rests = vec![rest(tables::AGE), rest(tables::DISTRICTS), rest(tables::SUFFIXES)];
    rests.push(rest(tables::DISTRICTS.0.nationalities));
    rests.extend(tables::DISTRICTS.1.iter().map(|(district, _)| rest(district.nationalities)));
    for age in 0..100 {
        for (district, _) in tables::DISTRICTS.1 {
            let table = schooling(age, district);
            rests.push(rest(table));
            for (education, _) in table.1 {
                for female in [false, true] {
                    rests.push(rest(occupations(age, female, education.group)));
                }
            }
        }
        for (female, manual) in [(false, false), (false, true), (true, false), (true, true)] {
            rests.push(rest(diagnoses(age, female, manual)));
        }
    }
    assert!(rests.iter().all(|&r| r > 0));
}
