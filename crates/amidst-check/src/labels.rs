//! Labels that people read as one and counts take for several: they differ by case, white space or look-alike letters only.
//!
//! `Flu`, `flu ` and `Ｆlu` are three values to every diversity requirement, and one diagnosis to everybody else. What people
//! take for the same is no matter of proof, so this is a remark and no violation.

use std::collections::BTreeMap;

use crate::problem::{Problem, ProblemKind};

/// Letters of other alphabets that look like Latin ones.
const LOOK_ALIKE: &[(&str, char)] = &[
    ("аαɑ", 'a'),
    ("вβ", 'b'),
    ("сϲ", 'c'),
    ("еε", 'e'),
    ("һн", 'h'),
    ("іιɩ", 'i'),
    ("ј", 'j'),
    ("кκ", 'k'),
    ("м", 'm'),
    ("оοσ", 'o'),
    ("рρ", 'p'),
    ("ѕ", 's'),
    ("тτ", 't'),
    ("υ", 'u'),
    ("ν", 'v'),
    ("хχ", 'x'),
    ("уγ", 'y'),
    ("‐‑‒–—−", '-'),
    ("’‘ʼ", '\''),
];

/// A label as people take it in.
fn seen(label: &str) -> String {
    let mut text = String::with_capacity(label.len());
    for c in label.chars().flat_map(char::to_lowercase) {
        let c = match c {
            // Full-width forms of ASCII.
            '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
            '\u{200b}'..='\u{200f}' | '\u{feff}' | '\u{ad}' => continue,
            other => other,
        };
        let c = LOOK_ALIKE.iter().find(|(all, _)| all.contains(c)).map_or(c, |&(_, latin)| latin);
        if !c.is_whitespace() {
            text.push(c);
        } else if !text.ends_with(' ') && !text.is_empty() {
            text.push(' ');
        }
    }
    text.truncate(text.trim_end().len());
    text
}

/// A remark where values of a sensitive column look the same.
pub(crate) fn look_alike(column: &str, values: &[Vec<u8>]) -> Option<Problem> {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for value in values.iter().filter_map(|value| std::str::from_utf8(value).ok()) {
        *kinds.entry(seen(value)).or_default() += 1;
    }
    let same: usize = kinds.values().filter(|&&n| n > 1).sum();
    let message = || {
        format!(
            "{same} values of \"{column}\" differ only by case, white space or look-alike letters: they count as different, \
             and people will take them for the same"
        )
    };
    (same > 0).then(|| Problem::note(ProblemKind::Labels, message()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_the_same_is_told() {
        let told = |labels: &[&str]| {
            look_alike("disease", &labels.iter().map(|l| l.as_bytes().to_vec()).collect::<Vec<_>>()).is_some()
        };
        for pair in [
            ["Flu", "flu"],
            ["Flu", "Flu "],
            ["a  b", "a b"],
            ["Cancer", "\u{421}ancer"],
            ["Flu", "Ｆlu"],
            ["x\u{200b}y", "xy"],
        ] {
            assert!(told(&pair), "{pair:?}");
        }
        assert!(!told(&["Flu", "Flue", "Cancer", "", "HIV 1", "HIV 2", "HIV1"]));
    }
}
