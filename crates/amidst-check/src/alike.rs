//! Finds labels that look alike: different texts that are one value to a reader.
//!
//! `Flu`, `flu` and `Flu ` with a trailing blank count as three values, so a class of them passes as diverse although
//! all its people have the same illness. Texts are compared without case, white space, zero-width characters and
//! compatibility forms, and with letters of other scripts replaced by the Latin ones that they look like; numbers by
//! their value (`1`, `1.0`, `01`, `1e0`). The result is a warning, not a verdict: labels may look alike and mean
//! different things.

use num_rational::BigRational;
use rustc_hash::FxHashMap;
use unicode_normalization::UnicodeNormalization;

use crate::number;
use crate::printable::acts;

/// Letters that look like a Latin letter and symbols that look like another, after case folding.
const LOOK_ALIKES: &[(&str, char)] = &[
    ("аɑα", 'a'),
    ("вβ", 'b'),
    ("сϲᴄ", 'c'),
    ("ԁ", 'd'),
    ("еєɛε", 'e'),
    ("ɡց", 'g'),
    ("һнη", 'h'),
    ("іιıɩӏ", 'i'),
    ("јϳ", 'j'),
    ("кκ", 'k'),
    ("мμ", 'm'),
    ("пո", 'n'),
    ("оοσօ", 'o'),
    ("рρ", 'p'),
    ("ԛ", 'q'),
    ("гᴦ", 'r'),
    ("ѕ", 's'),
    ("тτ", 't'),
    ("υս", 'u'),
    ("ѵν", 'v'),
    ("ԝω", 'w'),
    ("хχ", 'x'),
    ("уγү", 'y'),
    ("ᴢζ", 'z'),
    ("‐‑‒–—―−﹘", '-'),
    ("’‘‛′`´ʼ", '\''),
    ("“”„″", '"'),
    ("‚", ','),
    ("⁄∕", '/'),
];

/// Groups of at least two labels that look alike, as positions in `labels`, ascending.
pub fn alike<'a>(labels: impl IntoIterator<Item = &'a str>) -> Vec<Vec<usize>> {
    let mut groups = Groups::default();
    let (mut folded, mut shaped): (FxHashMap<String, usize>, FxHashMap<String, usize>) = Default::default();
    let mut numbers: FxHashMap<BigRational, usize> = FxHashMap::default();
    for (at, label) in labels.into_iter().enumerate() {
        groups.parents.push(at);
        for (seen, skeleton) in [(&mut folded, folded_of(label)), (&mut shaped, shape_of(label))] {
            let first = *seen.entry(skeleton).or_insert(at);
            groups.join(first, at);
        }
        if let Ok(value) = number::parse(label) {
            groups.join(*numbers.entry(value).or_insert(at), at);
        }
    }
    groups.several()
}

/// The label without case, look-alikes replaced.
fn folded_of(label: &str) -> String {
    let lower: String = seen(label).chars().flat_map(char::to_lowercase).map(latin).collect();
    lower.replace('0', "o").replace(['1', '|'], "l").replace('ß', "ss")
}

/// The label with characters of similar shape unified: capital I, small l, digit one and the bar; capital O and zero.
fn shape_of(label: &str) -> String {
    let shape = |c: char| match latin(c) {
        'I' | '1' | '|' | 'Ӏ' | 'Ι' | 'І' => 'l',
        '0' | 'О' | 'Ο' => 'O',
        other => other,
    };
    seen(label).chars().map(shape).collect()
}

fn latin(c: char) -> char {
    if c.is_ascii() {
        return if c == '`' { '\'' } else { c };
    }
    LOOK_ALIKES.iter().find(|(others, _)| others.contains(c)).map_or(c, |&(_, latin)| latin)
}

/// The visible part of a label: compatibility forms normalized, white space and zero-width characters removed.
fn seen(label: &str) -> String {
    let visible = |c: &char| !c.is_whitespace() && !acts(*c) && !matches!(u32::from(*c), 0xfe00..=0xfe0f);
    if label.is_ascii() { label.chars().filter(visible).collect() } else { label.nfkc().filter(visible).collect() }
}

/// Disjoint groups of label positions.
#[derive(Default)]
struct Groups {
    parents: Vec<usize>,
}

impl Groups {
    fn root(&mut self, mut at: usize) -> usize {
        while self.parents[at] != at {
            self.parents[at] = self.parents[self.parents[at]];
            at = self.parents[at];
        }
        at
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.parents[a.max(b)] = a.min(b);
    }

    fn several(mut self) -> Vec<Vec<usize>> {
        let mut members: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        for at in 0..self.parents.len() {
            let root = self.root(at);
            if root != at {
                members.entry(root).or_insert_with(|| vec![root]).push(at);
            }
        }
        let mut groups: Vec<Vec<usize>> = members.into_values().collect();
        groups.sort_unstable();
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(a: &str, b: &str) -> bool {
        !alike([a, b]).is_empty()
    }

    #[test]
    fn labels_that_look_alike_are_found() {
        for (a, b) in [
            ("Flu", "flu"),
            ("Flu", " Flu "),
            ("Heart disease", "Heart\u{a0}disease"),
            ("Heart disease", "Heartdisease"),
            ("Flu", "F\u{200b}lu"),
            ("Cancer", "Саnсеr"),
            ("HIV", "НІV"),
            ("Ανία", "ΑΝΊΑ"),
            ("Flu", "Ｆｌｕ"),
            ("Zürich", "Zu\u{308}rich"),
            ("O+", "0+"),
            ("B1", "Bl"),
            ("Ill", "lll"),
            ("Straße", "STRASSE"),
            ("non-smoker", "non–smoker"),
            ("Crohn's", "Crohn’s"),
            ("ﬁne", "fine"),
            ("тиф", "ТИФ"),
            ("1", "1.0"),
            ("1", "01"),
            ("0.5", "5e-1"),
        ] {
            assert!(same(a, b), "{a} {b}");
        }
    }

    #[test]
    fn labels_that_differ_are_not() {
        for (a, b) in [
            ("mail", "mall"),
            ("HIV+", "HIV-"),
            ("10", "01"),
            ("A", "B"),
            ("", "?"),
            ("1", "7"),
            ("Flu", "Flu2"),
            ("é", "e"),
            ("ABC", "ABD"),
        ] {
            assert!(!same(a, b), "{a} {b}");
        }
        assert!(alike((0..2000).map(|n| n.to_string()).collect::<Vec<_>>().iter().map(String::as_str)).is_empty());
    }

    #[test]
    fn groups_hold_all_that_look_alike() {
        assert_eq!(alike(["a", "B", "A", "c", "b", "а"]), [vec![0, 2, 5], vec![1, 4]]);
    }
}
