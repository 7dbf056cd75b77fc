//! Free text: somebody's own words, in which anything may stand.

use super::{Detector, Means};

pub(super) const DETECTOR: Detector = Detector {
    id: "free-text",
    finding: "values are free text, in which anything may stand",
    means: Means::Trace,
    found: |profile| {
        let words: usize = profile.values.iter().map(|v| v.split_whitespace().count()).sum();
        let letters: usize = profile.values.iter().map(|v| v.chars().count()).sum();
        let of_each = |sum: usize| sum as f64 / profile.values.len().max(1) as f64;
        // Long labels that many rows share are kinds, not texts.
        let own = profile.distinct_share();
        let texts = of_each(words) >= 3.5 && own > 0.2;
        let long = of_each(letters) >= 60.0 && own > 0.05;
        profile.known >= 3 && (texts || long)
    },
};

#[cfg(test)]
mod tests {
    use super::super::tests::id;

    #[test]
    fn texts_are_told_from_labels() {
        let texts = (0..50).map(|i| format!("was seen on ward {i} and felt better"));
        assert_eq!(id(texts), Some("free-text"));
        let labels = (0..60).map(|i| ["no longer in paid employment at all", "in paid full time employment"][i % 2]);
        assert_eq!(id(labels), None);
        let wards = (0..60).map(|i| ["Ward A", "Ward B", "Intensive care unit"][i % 3]);
        assert_eq!(id(wards), None);
    }
}
