//! `[release]`: what is said about a release to those who receive it.

use std::fmt::Write;

use toml::de::{DeTable, DeValue};
use toml::value::{Date, Datetime};

use super::Diagnostic;
use super::fields::Fields;

/// `[release]`: what is said about a release to those who receive it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReleasePolicy {
    /// The last day on which the release may be relied on; no end when absent.
    pub valid_until: Option<Date>,
}

const KEYS: &[&str] = &["valid_until"];

/// Reads the section.
pub(super) fn parse(fields: &mut Fields, table: &DeTable<'_>) -> ReleasePolicy {
    fields.only(table, "[release]", KEYS);
    ReleasePolicy { valid_until: day(fields, table, "valid_until") }
}

/// Writes the section, if it says anything.
pub(super) fn write(out: &mut String, release: &ReleasePolicy) {
    if *release == ReleasePolicy::default() {
        return;
    }
    out.push_str("\n[release]\n");
    if let Some(day) = release.valid_until {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "valid_until = {day}");
    }
}

/// The day under `key`, as a date of TOML or in quotes.
fn day(fields: &mut Fields, table: &DeTable<'_>, key: &str) -> Option<Date> {
    let item = table.get(key)?;
    let whole = match item.get_ref() {
        DeValue::Datetime(moment) => Some(*moment),
        DeValue::String(text) => text.parse().ok(),
        _ => None,
    };
    let day = match whole {
        Some(Datetime { date: Some(day), time: None, offset: None }) => Some(day),
        _ => None,
    };
    if day.is_none() {
        let message = format!("`{key}` must be a day, such as 2027-12-31");
        fields.push(Diagnostic::at(item.span(), message).label("not a day"));
    }
    day
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::Policy;

    fn read(release: &str) -> Result<Policy, String> {
        let text = format!(
            "[columns.age]\nrole = \"quasi\"\nhierarchy = {{ suppress = true }}\n[[require]]\nmodel = \"k-anonymity\"\n\
             k = 2\n[release]\n{release}\n"
        );
        Policy::parse(&text, Path::new("policy.toml")).map_err(|e| e.to_string())
    }

    #[test]
    fn a_day_reads_back_and_nothing_else_is_one() {
        for text in ["valid_until = 2027-12-31", "valid_until = \"2028-02-29\""] {
            let policy = read(text).unwrap();
            assert!(policy.release.valid_until.is_some());
            assert_eq!(Policy::parse(&policy.to_toml(), Path::new("policy.toml")).unwrap().release, policy.release);
            assert_eq!(policy.public_form().release, policy.release, "it is for those who receive the release");
        }
        assert_eq!(read("").unwrap().release.valid_until, None);
        for text in ["2027-02-28T00:00:00", "\"2027-02-29\"", "\"soon\"", "20271231", "true", "12:00:00"] {
            let error = read(&format!("valid_until = {text}")).unwrap_err();
            assert!(error.contains("valid_until") && error.contains("such as 2027-12-31"), "{text}: {error}");
        }
        assert!(read("until = 1").unwrap_err().contains("valid_until"), "the key that is meant is told");
    }
}
