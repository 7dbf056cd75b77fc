//! Postcodes by their shapes. Five plain digits may be anything, so there the name of the column must say so.

use super::{Detector, Means};
use crate::init::names::Name;
use crate::init::profile::Profile;

pub(super) const DETECTOR: Detector =
    Detector { id: "postcode", finding: "values are postcodes", means: Means::Postcode, found };

/// Shapes: `9` a digit, `A` a letter, other characters themselves.
const SURE: &[&str] = &[
    "99-999",
    "9999-999",
    "99999-999",
    "99999-9999",
    "9999 AA",
    "9999AA",
    "A9A 9A9",
    "A9 9AA",
    "A99 9AA",
    "AA9 9AA",
    "AA99 9AA",
    "A9A 9AA",
    "AA9A 9AA",
    "A-9999",
    "AA-9999",
    "AA-99999",
    "A-99999",
];

/// Shapes that other codes have, too.
const PLAIN: &[&str] = &["9999", "99999", "999 99", "999999", "99 999"];

fn found(profile: &Profile<'_>) -> bool {
    let has = |shapes: &[&str]| profile.share(|v| shapes.contains(&shape(v).as_str()));
    let named = Name::of(&profile.column.name).tells_of("postcode");
    let least = if named { 1 } else { 5 };
    // One shape that everybody has could be any code: "AA-9999" counts only where the name says so, or values repeat.
    let sure = has(SURE) >= 0.9 && (named || profile.distinct_share() <= 0.9);
    profile.values.len() >= least && (sure || (named && has(PLAIN) + has(SURE) >= 0.5))
}

/// The value with digits and letters replaced by their kind.
fn shape(value: &str) -> String {
    let kind = |c: char| match c {
        c if c.is_ascii_digit() => '9',
        c if c.is_ascii_alphabetic() => 'A',
        c => c,
    };
    value.chars().map(kind).collect()
}

#[cfg(test)]
mod tests {
    use super::super::detect;
    use super::super::tests::id;
    use crate::init::profile::{Profile, tests::column};

    #[test]
    fn shapes_of_several_countries_are_found() {
        for values in [
            ["SW1A 1AA", "M1 1AE", "EC1A 1BB", "M1 1AE", "B33 8TH", "CR2 6XH"],
            ["00-950", "30-001", "80-209", "00-950", "61-001", "50-002"],
            ["1234 AB", "2511 CV", "1012 WX", "1234 AB", "3011 AA", "9712 CP"],
            ["1000-205", "4000-123", "3000-150", "1000-205", "8000-099", "2400-001"],
            ["K1A 0B1", "V6B 1A1", "H2X 1Y4", "K1A 0B1", "M5V 2T6", "T2P 1J9"],
        ] {
            assert_eq!(id(values), Some("postcode"), "{values:?}");
        }
    }

    #[test]
    fn plain_digits_need_a_name() {
        let values = ["10115", "80331", "20095", "10115", "50667"];
        let named = column("Postleitzahl", values);
        assert_eq!(detect(&Profile::of(&named, &[])).map(|d| d.id), Some("postcode"));
        assert_eq!(id(values), None);
    }
}
