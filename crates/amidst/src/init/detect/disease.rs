//! Codes of diseases: ICD-10, with or without its point.

use super::{Detector, Means};

pub(super) const DETECTOR: Detector = Detector {
    id: "disease",
    finding: "values are codes of diseases (ICD-10)",
    means: Means::Disease,
    found: |profile| {
        let mut chapters: Vec<u8> = profile.values.iter().filter_map(|v| v.trim().bytes().next()).collect();
        chapters.sort_unstable();
        chapters.dedup();
        let pointed = profile.share(|v| v.contains('.')) >= 0.3;
        profile.values.len() >= 3
            && profile.share(is_icd) >= 0.8
            && chapters.len() >= 2
            && (pointed || chapters.len() >= 4)
    },
};

/// A letter, two digits (the second may be a letter), and up to four more after a point.
fn is_icd(value: &str) -> bool {
    let value = value.trim_end_matches(['*', '+', '†', '!', '-']);
    let (category, detail) = value.split_once('.').unwrap_or(if value.is_char_boundary(3) && value.len() > 3 {
        value.split_at(3)
    } else {
        (value, "")
    });
    let bytes = category.as_bytes();
    bytes.len() == 3
        && bytes[0].is_ascii_uppercase()
        && bytes[1].is_ascii_digit()
        && bytes[2].is_ascii_alphanumeric()
        && detail.len() <= 4
        && detail.bytes().all(|b| b.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::super::tests::id;

    #[test]
    fn codes_are_found() {
        assert_eq!(id(["I21.4", "E11.9", "J45", "F32.1", "C50.9"]), Some("disease"));
        assert_eq!(id(["I214", "E119", "J45", "F321", "C509"]), Some("disease"));
        // Rooms of one building, and grades.
        assert_eq!(id(["B12", "B14", "B20", "B12", "B12"]), None);
        assert_eq!(id(["A1", "B2", "C3", "D4"]), None);
    }
}
