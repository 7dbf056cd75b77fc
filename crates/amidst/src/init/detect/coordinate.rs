//! Places to the metre in one cell: "52.5163, 13.3777", `POINT (13.3777 52.5163)`, degrees and minutes.
//!
//! Latitude and longitude in two columns are numbers, which are released as ranges; in one cell they are a text that
//! nothing can generalize.

use super::{Detector, Means};

pub(super) const DETECTOR: Detector = Detector {
    id: "coordinate",
    finding: "values are places on the map",
    means: Means::Trace,
    found: |profile| profile.share(is_point) >= 0.3,
};

fn is_point(value: &str) -> bool {
    let upper = value.to_uppercase();
    if ["POINT", "POLYGON", "LINESTRING", "MULTIPOINT"].iter().any(|shape| upper.starts_with(shape)) {
        return upper.contains('(');
    }
    if value.contains('°') && value.chars().any(|c| "NSEWO".contains(c)) {
        return true;
    }
    let trimmed = value.trim_matches(['(', ')', '[', ']', ' ']);
    let parts: Vec<&str> = trimmed.split([',', ';', ' ']).filter(|p| !p.is_empty()).collect();
    let precise = |p: &&str| p.split_once('.').is_some_and(|(_, decimals)| decimals.len() >= 2);
    let within = |text: &str, most: f64| text.parse::<f64>().is_ok_and(|x| x.abs() <= most);
    match parts.as_slice() {
        [a, b] => {
            parts.iter().all(precise) && within(a, 180.0) && within(b, 180.0) && (within(a, 90.0) || within(b, 90.0))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::id;

    #[test]
    fn points_are_found() {
        assert_eq!(id(["52.5163, 13.3777", "(48.8584; 2.2945)", "-33.85 151.21"]), Some("coordinate"));
        assert_eq!(id(["POINT (13.3777 52.5163)", "POINT(2.29 48.85)"]), Some("coordinate"));
        assert_eq!(id(["52°31′N 13°22′E"]), Some("coordinate"));
        assert_eq!(id(["1.5, 2.5", "a, b", "1.5, 2.5"]), None);
    }
}
