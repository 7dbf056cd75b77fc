//! What values are, whatever their column is called: one detector a file, all of them in [`DETECTORS`].
//!
//! A detector that is wrong on the safe side leaves a column out; the owner of the data brings it back. Detectors look
//! at a sample of the distinct values, and at the whole column where order or density matter. The first that finds
//! something decides.
//!
//! May use: the rest of `init`, and what those use.

mod bank;
mod coordinate;
mod date;
mod disease;
mod email;
mod free_text;
mod national_id;
mod network;
mod numbering;
mod person_name;
mod postcode;
mod telephone;
mod token;
mod url;
mod uuid;

use super::profile::Profile;
pub(super) use numbering::equally_often;

/// What a finding means for a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Means {
    /// It tells who it is, whatever its name says.
    Person,
    /// The same, and each value belongs to one person or household, so that a person who repeats has several rows.
    OnePerson,
    /// It leads to people without standing for one: their words, their places.
    Trace,
    /// It numbers rows or people, unless its name says that it is a quantity.
    Number,
    /// Others may know when it was.
    Date,
    /// Others may know where it was.
    Postcode,
    /// It is private.
    Disease,
}

/// One way to recognise values.
pub(super) struct Detector {
    /// Its name; that of its file, or of its part in it.
    #[cfg_attr(not(test), allow(dead_code))]
    pub id: &'static str,
    /// What it says of a column, for a comment.
    pub finding: &'static str,
    pub means: Means,
    pub found: fn(&Profile<'_>) -> bool,
}

/// Every detector, the surest first.
pub(super) const DETECTORS: &[Detector] = &[
    email::DETECTOR,
    url::DETECTOR,
    uuid::DETECTOR,
    network::DETECTOR,
    bank::IBAN,
    coordinate::DETECTOR,
    date::DETECTOR,
    bank::CARD,
    national_id::DETECTOR,
    postcode::DETECTOR,
    telephone::DETECTOR,
    token::DETECTOR,
    person_name::DETECTOR,
    free_text::DETECTOR,
    disease::DETECTOR,
    numbering::DETECTOR,
];

/// What the values of a column are, where a detector knows them.
pub(super) fn detect(profile: &Profile<'_>) -> Option<&'static Detector> {
    if profile.distinct == 0 {
        return None;
    }
    DETECTORS.iter().find(|detector| (detector.found)(profile))
}

/// Whether enough values pass: a checksum that one number in ten passes by chance needs most of them.
fn most(profile: &Profile<'_>, test: impl Fn(&str) -> bool) -> bool {
    profile.values.len() >= 3 && profile.share(test) >= 0.6
}

/// Whether some values pass that hardly pass by chance: a few cells are enough to tell of people.
fn some(profile: &Profile<'_>, test: impl Fn(&str) -> bool) -> bool {
    profile.share(test) >= 0.05
}

/// The digits of a value, where it has nothing else but the marks that stand between groups of digits.
fn digits(value: &str) -> Option<Vec<u32>> {
    let plain = value.chars().filter(|c| !matches!(c, ' ' | '-' | '.' | '/'));
    plain.map(|c| c.to_digit(10)).collect::<Option<Vec<u32>>>().filter(|d| !d.is_empty())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::init::profile::tests::column;

    /// The id of the detector that recognises these values.
    pub fn id<S: AsRef<str>>(values: impl IntoIterator<Item = S>) -> Option<&'static str> {
        let column = column("c", values);
        detect(&Profile::of(&column, &[])).map(|detector| detector.id)
    }

    #[test]
    fn ordinary_values_are_nothing_special() {
        for values in [
            vec!["f", "m", "f", "f"],
            vec!["31", "45", "27", "31", "60", "45"],
            vec!["Berlin", "Paris", "Roma", "Berlin", "Wien"],
            vec!["<=50K", ">50K", "<=50K"],
            vec!["HS-grad", "Some-college", "Bachelors", "Masters"],
            vec!["0.5", "1.25", "3", "0.5"],
            vec!["[20-29]", "[30-39]", "[40-49]"],
            vec!["20000-30000", "30000-40000", "40000-50000", "20000-30000"],
            vec!["2019", "2020", "2021", "2019"],
            vec!["A", "B", "0", "AB", "A", "A"],
            vec!["true", "false", "true", "true"],
        ] {
            assert_eq!(id(&values), None, "{values:?}");
        }
    }

    #[test]
    fn every_detector_has_its_own_id() {
        let mut ids: Vec<&str> = DETECTORS.iter().map(|d| d.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), DETECTORS.len());
    }
}
