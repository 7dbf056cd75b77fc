//! Dates and times of day in the usual orders.

use amidst_core::table::{DATE_ORDERS, DateOrder, ValueType, date_order};

use super::{Detector, Means};
use crate::init::profile::Profile;

pub(super) const DETECTOR: Detector = Detector {
    id: "date",
    finding: "dates are known to others",
    means: Means::Date,
    found: |profile| {
        let values = || profile.values.iter().map(|v| v.trim());
        profile.column.kind == ValueType::Date
            || date_order(values()).is_some()
            || profile.share(is_time) >= 0.9
            || nearly_all(profile)
    },
};

/// Whether nearly all values are dates of one order, and few are words or slips.
fn nearly_all(profile: &Profile<'_>) -> bool {
    let grouped = |v: &str| v.split(|c: char| !c.is_ascii_digit()).filter(|group| !group.is_empty()).count() >= 3;
    let of_order =
        |(_, order): &(&str, DateOrder)| profile.share(|v| grouped(v) && order.day_number(v).is_some()) >= 0.9;
    profile.values.len() >= 10 && DATE_ORDERS.iter().any(of_order)
}

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

    #[test]
    fn a_slip_does_not_make_telephone_numbers_of_dates() {
        let days = |slips: usize| {
            let day = |i: usize| format!("2024-{:02}-{:02}", i % 12 + 1, i % 28 + 1);
            (0..60).map(day).chain((0..slips).map(|i| format!("some time {i}"))).collect::<Vec<_>>()
        };
        assert_eq!(id(days(3)), Some("date"));
        assert_ne!(id(days(30)), Some("date"));
    }
}
