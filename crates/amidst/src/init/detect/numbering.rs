//! Numbers that count rows or people: 1, 2, 3, … in any order, with gaps, with a prefix (`P-000123`).
//!
//! A column of measurements may have a value of its own for every row as well. What tells numbering from it: hardly any
//! number of the span is left out; or not a single one occurs twice although by chance some would; or it only rises,
//! row by row; or the numbers lie more evenly than chance would put them; or each occurs as often as the others, as
//! people do who come to the same number of visits.

use amidst_core::table::ValueType;

use super::{Detector, Means};
use crate::init::profile::Profile;

pub(super) const DETECTOR: Detector =
    Detector { id: "numbering", finding: "values number rows or people", means: Means::Number, found };

/// A number with what stands around it.
struct Numbered<'a> {
    before: &'a str,
    number: u64,
    padded: bool,
    digits: usize,
    after: &'a str,
}

fn read(value: &str) -> Option<Numbered<'_>> {
    let value = value.trim();
    // What was read as a decimal on its way here.
    let value = value.strip_suffix(".0").unwrap_or(value);
    let end = value.rfind(|c: char| c.is_ascii_digit())? + 1;
    let start = value[..end]
        .rfind(|c: char| !c.is_ascii_digit())
        .map_or(0, |at| at + value[at..].chars().next().map_or(1, char::len_utf8));
    let (before, digits, after) = (&value[..start], &value[start..end], &value[end..]);
    let number = digits.parse().ok()?;
    Some(Numbered { before, number, padded: digits.starts_with('0') && digits.len() > 1, digits: digits.len(), after })
}

fn found(profile: &Profile<'_>) -> bool {
    if profile.distinct < 3 || profile.column.kind == ValueType::Date {
        return false;
    }
    let Some(first) = profile.values.first().and_then(|v| read(v)) else { return false };
    let alike = |v: &&str| read(v).is_some_and(|n| n.before == first.before && n.after == first.after);
    // The digits after a point number nothing.
    let decimal = profile.column.kind == ValueType::Decimal && !first.before.is_empty();
    if decimal || !profile.values.iter().all(alike) {
        return false;
    }
    let unknown = profile.texts - profile.distinct;
    let mut numbers: Vec<u64> = profile.column.dictionary.iter().filter_map(|v| read(v).map(|n| n.number)).collect();
    numbers.sort_unstable();
    if numbers.len() + unknown < profile.column.dictionary.len() {
        return false;
    }
    let (Some(low), Some(high)) = (numbers.first(), numbers.last()) else { return false };
    let span = (high - low).saturating_add(1) as f64;
    let (distinct, known) = (profile.distinct as f64, profile.known as f64);
    if distinct >= known * 0.9 {
        let dense = span <= distinct * 4.0;
        let without_twins = profile.distinct == profile.known && known * known / (2.0 * span) > 4.0;
        return dense || without_twins || rises(profile, true) || is_even(&numbers);
    }
    let values = || profile.values.iter().filter_map(|v| read(v));
    let padded = values().any(|n| n.padded) && values().all(|n| n.digits == first.digits);
    let code = !first.before.is_empty() || padded;
    let long = values().any(|n| n.digits >= 3) || distinct >= 30.0;
    let dense = span <= distinct * 2.0;
    let coded = code && long && distinct >= 10.0;
    equally_often(profile) || (dense && (coded || (distinct >= 20.0 && rises(profile, false))))
}

/// Whether the gaps between numbers differ less than those that chance leaves: gaps between random numbers vary as much
/// as they are wide on average, those of numbers that were handed out one after the other do not. `numbers` are sorted.
fn is_even(numbers: &[u64]) -> bool {
    let gaps: Vec<f64> = numbers.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
    let many = gaps.len() as f64;
    let mean = gaps.iter().sum::<f64>() / many.max(1.0);
    let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / many.max(1.0);
    gaps.len() >= 50 && variance < (mean * 0.75).powi(2)
}

/// Whether every number has about the same share of the rows, far more evenly than chance deals them out.
pub(in crate::init) fn equally_often(profile: &Profile<'_>) -> bool {
    let counts: Vec<f64> = profile.column.counts().into_iter().filter(|&n| n > 0).map(|n| n as f64).collect();
    let many = counts.len() as f64;
    let mean = counts.iter().sum::<f64>() / many.max(1.0);
    let variance = counts.iter().map(|n| (n - mean).powi(2)).sum::<f64>() / many.max(1.0);
    counts.len() >= 20 && mean > 1.5 && variance < mean * 0.3
}

/// Whether the numbers only rise from row to row: strictly, or with repeats.
fn rises(profile: &Profile<'_>, strictly: bool) -> bool {
    let numbers: Vec<Option<u64>> = profile.column.dictionary.iter().map(|v| read(v).map(|n| n.number)).collect();
    let mut last: Option<u64> = None;
    let mut rising = profile.known >= 10;
    profile.column.codes.for_each(|code| {
        if let Some(number) = numbers[code as usize] {
            rising &= last.is_none_or(|last| if strictly { last < number } else { last <= number });
            last = Some(number);
        }
    });
    rising
}

#[cfg(test)]
mod tests {
    use super::super::tests::id;

    #[test]
    fn numbering_is_found_shuffled_with_gaps_and_prefixes() {
        assert_eq!(id((1..=200).map(|i| i.to_string())), Some("numbering"));
        assert_eq!(id((1..=200).map(|i| (i * 77 % 211).to_string())), Some("numbering"));
        assert_eq!(id((1..=200).map(|i| (i * 3 + i % 2).to_string())), Some("numbering"));
        assert_eq!(id((1..=200).map(|i| format!("P-{:06}", i * 7 % 1009))), Some("numbering"));
        assert_eq!(id((1..=200).map(|i| format!("{}.0", 900 + i))), Some("numbering"));
        // Five digits, no two alike although by chance some would be.
        assert_eq!(id((1..=900u64).map(|i| (i * 48_271 % 65_537).to_string())), Some("numbering"));
    }

    #[test]
    fn people_with_several_rows_are_numbered_too() {
        assert_eq!(id((0..300).map(|i| format!("S{:03}", i % 40))), Some("numbering"));
        assert_eq!(id((0..300).map(|i| (i / 5 + 1).to_string())), Some("numbering"));
        // Each as often as the others, in turns or in blocks with gaps between the numbers.
        assert_eq!(id((0..600).map(|i| (i % 97 + 1).to_string())), Some("numbering"));
        assert_eq!(id((0..600).map(|i| (500 + i / 6 * 7).to_string())), Some("numbering"));
        // Handed out with gaps, a few of them twice.
        let steps = (0..400u64).map(|i| (100_000 + i * 57 + i * i * 7919 % 90).to_string());
        assert_eq!(id(steps), Some("numbering"));
    }

    #[test]
    fn measurements_and_kinds_are_not() {
        assert_eq!(id((0..300u64).map(|i| format!("0.{}", i * 7919 % 9973 + 1))), None);
        assert_eq!(id((0..300u64).map(|i| (i * i * 7919 % 60_013 + 20_000).to_string())), None);
        assert_eq!(id((0..300).map(|i| (18 + i * i * 31 % 70).to_string())), None);
        assert_eq!(id((0..300).map(|i| format!("Q{}", i % 4 + 1))), None);
        assert_eq!(id((0..300).map(|i| format!("{:02}", i % 12 + 1))), None);
    }
}
