//! The swap test: two inputs that differ only in suppressed rows or in the order of rows, and that publish the same
//! rows, have byte-identical public parts.
//!
//! Anything else in a public part that depends on the input would let a reader distinguish such inputs, and with them
//! the values of people who were left out.

#[cfg(test)]
mod canary;
#[cfg(test)]
mod world;

use std::collections::BTreeMap;
use std::path::Path;

use world::{Case, Random, Released};

/// Two releases of one case, in folders of different names; `None` where one is impossible.
fn pair(case: &Case, other: &[Vec<String>], name: &str) -> Option<(Released, Released)> {
    let place = tempfile::tempdir().expect("a folder for a test");
    let first = case.release(place.path(), &format!("{name} one"), &case.rows)?;
    let second = case.release(place.path(), &format!("{name} two"), other)?;
    Some((first, second))
}

/// Whether both publish the same rows; then asserts that their public parts are equal as well.
fn same_release(case: &Case, first: &Released, second: &Released) -> bool {
    if first.rows != second.rows {
        return false;
    }
    let differing: Vec<&String> = differing(&first.files, &second.files);
    if let Some(file) = differing.first() {
        let lines = |released: &Released| String::from_utf8_lossy(&released.files[*file]).into_owned();
        let (a, b) = (lines(first), lines(second));
        let difference = a.lines().zip(b.lines()).find(|(a, b)| a != b);
        panic!("{differing:?} differ for the same rows: {difference:?}\n{}", case.policy);
    }
    true
}

fn differing<'a>(a: &'a BTreeMap<String, Vec<u8>>, b: &'a BTreeMap<String, Vec<u8>>) -> Vec<&'a String> {
    assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
    a.keys().filter(|name| a[*name] != b[*name]).collect()
}

#[test]
fn what_suppressed_rows_have_does_not_show() {
    let (mut same, mut tried) = (BTreeMap::<&str, u32>::new(), 0);
    let mut random = Random::new(1);
    while same.values().sum::<u32>() < 120 && tried < 600 {
        tried += 1;
        let case = Case::draw(&mut random);
        let suppressed = case.suppressed();
        if suppressed.is_empty() {
            continue;
        }
        let changed = case.changed(&suppressed, &mut random);
        let Some((first, second)) = pair(&case, &changed, "what they have") else { continue };
        if same_release(&case, &first, &second) {
            *same.entry(case.algorithm).or_default() += 1;
            *same.entry(case.model).or_default() += 0;
        }
    }
    assert!(same.values().sum::<u32>() >= 100, "of {tried} pairs too few publish the same rows: {same:?}");
    assert!(same.len() > 12, "too few kinds: {same:?}");
}

#[test]
fn the_order_of_the_input_does_not_show() {
    let mut random = Random::new(2);
    let (mut same, mut tried) = (0, 0);
    while same < 60 && tried < 200 {
        tried += 1;
        let case = Case::draw(&mut random);
        let mut shuffled = case.rows.clone();
        random.shuffle(&mut shuffled);
        let Some((first, second)) = pair(&case, &shuffled, "in which order") else { continue };
        same += u32::from(same_release(&case, &first, &second));
    }
    assert!(same >= 50, "of {tried} pairs only {same} publish the same rows");
}

#[test]
fn verify_and_an_audit_of_the_release_agree() {
    let mut random = Random::new(3);
    let (mut compared, mut tried) = (0, 0);
    while compared < 60 && tried < 400 {
        tried += 1;
        let case = Case::draw_comparing(&mut random);
        let place = tempfile::tempdir().unwrap();
        let Some(released) = case.release(place.path(), "audited", &case.rows) else { continue };
        compared += u32::from(released.suppressed > 0);
        let folder = place.path().join("audited").join("out");
        let subject = amidst::verify::Subject::at(&folder).unwrap();
        let verdict = amidst::verify::verify(&subject);
        assert!(verdict.valid, "{:?}\n{}", verdict.problems, case.policy);
        let table = released.table.to_str().unwrap();
        let stated = case.parsed(Path::new("."));
        let (policy, prepared) = amidst::audit::load(&stated, table, &Default::default()).unwrap();
        let audit = amidst::audit::audit(&stated, &policy, &prepared).unwrap();
        assert!(audit.holds, "{:?}\n{}", audit.requirements, case.policy);
        for (proven, audited) in verdict.requirements.iter().zip(&audit.requirements) {
            for (name, figure) in &proven.requirement.measured {
                let (a, b) = (figure.as_f64(), audited.measured.number(name));
                let near = a.zip(b).is_none_or(|(a, b)| (a - b).abs() < 1e-9);
                assert!(near, "{name}: {a:?} and {b:?}\n{}", case.policy);
            }
        }
    }
    assert!(compared >= 40, "only {compared} of {tried} suppress anything");
}
