//! Telephone numbers, international and as they are written at home.

use super::{Detector, Means};
use crate::init::profile::Profile;

pub(super) const DETECTOR: Detector =
    Detector { id: "telephone", finding: "values are telephone numbers", means: Means::OnePerson, found };

fn found(profile: &Profile<'_>) -> bool {
    let sure = profile.share(|v| shaped(v) && (v.starts_with('+') || v.contains('(') || v.starts_with("00")));
    // Without such a mark ranges and codes look alike: many values are needed, hardly any of them shared.
    let groups = |v: &str| v.split(|c: char| !c.is_ascii_digit()).filter(|g| !g.is_empty()).count();
    let local = profile.share(|v| shaped(v) && (groups(v) > 1 || v.starts_with('0')));
    sure >= 0.3 || (local >= 0.7 && profile.values.len() >= 3 && !profile.is_kinds())
}

/// Seven to fifteen digits in groups.
fn shaped(value: &str) -> bool {
    let digits = value.chars().filter(char::is_ascii_digit).count();
    let groups: Vec<&str> = value.split(|c: char| !c.is_ascii_digit()).filter(|g| !g.is_empty()).collect();
    let marks = |c: char| c.is_ascii_digit() || matches!(c, ' ' | '-' | '/' | '(' | ')' | '.' | '+' | '\u{a0}');
    // A decimal number has one point; a telephone number has none alone.
    let decimal = value.matches('.').count() == 1 && groups.len() == 2 && !value.contains([' ', '-', '/']);
    (7..=15).contains(&digits) && value.chars().all(marks) && !decimal && !is_sign(value) && !is_range(&groups)
}

/// From one number to a larger one: 20000-30000.
fn is_range(groups: &[&str]) -> bool {
    matches!(groups, [from, to] if from.len() == to.len() && from < to)
}

/// A negative number.
fn is_sign(value: &str) -> bool {
    value.strip_prefix('-').is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit() || b == b'.'))
}

#[cfg(test)]
mod tests {
    use super::super::tests::id;

    #[test]
    fn numbers_are_found_as_people_write_them() {
        for values in [
            ["+49 30 1234567", "+33 1 23 45 67 89", "+48 601 234 567"],
            ["(212) 555-0123", "(312) 555-0188", "(415) 555-0199"],
            ["030/1234567", "0171 2345678", "089-445566"],
            ["555-0123", "555-0188", "555-0199"],
            ["06 12 34 56 78", "01 23 45 67 89", "07 11 22 33 44"],
            ["0612345678", "0687654321", "0201234567"],
        ] {
            assert_eq!(id(values), Some("telephone"), "{values:?}");
        }
        assert_eq!(id(["1234567.89", "2345678.12", "3456789.5"]), None);
    }
}
