//! Dates and times of day in the usual orders.

use amidst_core::table::{ValueType, date_order};

use super::{Detector, Means};

pub(super) const DETECTOR: Detector = Detector {
    id: "date",
    finding: "dates are known to others",
    means: Means::Date,
    found: |profile| {
        let values = || profile.values.iter().map(|v| v.trim());
        profile.column.kind == ValueType::Date || date_order(values()).is_some() || profile.share(is_time) >= 0.9
    },
};

/// A time of day alone: 7:05, 18:30:12.5, 6:15 pm.
fn is_time(value: &str) -> bool {
    let clock = value.trim_end_matches(|c: char| c.is_alphabetic() || matches!(c, ' ' | '.'));
    let parts: Vec<&str> = clock.split(':').collect();
    let number = |p: &&str| p.parse::<f64>().is_ok_and(|n| (0.0..60.0).contains(&n)) && !p.is_empty();
    (2..=3).contains(&parts.len()) && parts.iter().all(number) && parts[0].len() <= 2
}

#[cfg(test)]
mod tests {
    use super::super::tests::id;

    #[test]
    fn dates_are_found_as_people_write_them() {
        for values in [
            ["2024-03-05", "1999-12-31", "2001-01-01"],
            ["05.03.2024", "31.12.1999", "1.1.2001"],
            ["3/25/2024", "12/31/1999", "1/1/2001"],
            ["20240305", "19991231", "20010101"],
            ["2024-03-05 10:00", "1999-12-31T23:59:59Z", "2001-01-01 0:00"],
            ["5 mars 2024", "31 décembre 1999", "1 janv. 2001"],
            ["2024-03", "1999-12", "2001-01"],
            ["7:05", "18:30:12", "23:59"],
        ] {
            assert_eq!(id(values), Some("date"), "{values:?}");
        }
    }
}
