//! `[release]`: what a release is, for whom, and which risk its owner accepts. It is told in report and certificate,
//! and the risk is compared with what was measured; nothing is searched for by it.

use amidst_core::parameter::Rational;
use amidst_core::table::ValueType;
use toml::de::{DeTable, DeValue};

use super::fields::{Fields, as_written, number};
use super::{Diagnostic, keys, suggestion};

/// What a policy states about a release.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReleasePolicy {
    /// What it is called.
    pub title: Option<String>,
    /// What it is for.
    pub purpose: Option<String>,
    /// Who gets it.
    pub recipient: Option<String>,
    /// The risk that is accepted.
    pub threshold: Option<Threshold>,
    /// The last day on which it may be used, year-month-day.
    pub valid_until: Option<String>,
}

/// The highest risk of re-identification that anyone may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Threshold {
    /// One that is known by its name.
    Preset(&'static Preset),
    /// A number.
    Share(Rational),
}

/// A threshold that an authority names.
#[derive(Debug, PartialEq, Eq)]
pub struct Preset {
    /// Its name in policies.
    pub id: &'static str,
    /// The risk, as a fraction.
    pub risk: (i64, i64),
    /// Where it is stated.
    pub source: &'static str,
}

/// The thresholds that are known by name.
pub const PRESETS: &[Preset] = &[
    Preset {
        id: "ema",
        risk: (9, 100),
        source: "European Medicines Agency, External guidance on the implementation of Policy 0070, EMA/90915/2016: 0.09 for public disclosure",
    },
    Preset {
        id: "health-canada",
        risk: (9, 100),
        source: "Health Canada, Guidance document on Public Release of Clinical Information (2019): 0.09",
    },
    Preset {
        id: "ipc-low",
        risk: (9, 100),
        source: "IPC Ontario, De-identification Guidelines for Structured Data (updated 2025): 0.09 (groups of about 11) where the invasion of privacy would be low",
    },
    Preset {
        id: "ipc-medium",
        risk: (75, 1000),
        source: "IPC Ontario, De-identification Guidelines for Structured Data (updated 2025): 0.075 (groups of about 15) where the invasion of privacy would be medium",
    },
    Preset {
        id: "ipc-high",
        risk: (5, 100),
        source: "IPC Ontario, De-identification Guidelines for Structured Data (updated 2025): 0.05 (groups of 20) where the invasion of privacy would be high",
    },
    Preset {
        id: "cms-11",
        risk: (1, 11),
        source: "Centers for Medicare & Medicaid Services, CMS Cell Size Suppression Policy (ResDAC, version of 26 January 2024): no cell of 1 to 10 is reported, so 1/11",
    },
];

impl Threshold {
    /// The risk.
    pub fn risk(&self) -> Rational {
        match self {
            Threshold::Preset(preset) => Rational::new(preset.risk.0, preset.risk.1),
            Threshold::Share(share) => share.clone(),
        }
    }

    /// Its name, or the number.
    pub fn name(&self) -> String {
        match self {
            Threshold::Preset(preset) => preset.id.to_string(),
            Threshold::Share(share) => share.to_string(),
        }
    }

    /// Where it is stated.
    pub fn source(&self) -> &'static str {
        match self {
            Threshold::Preset(preset) => preset.source,
            Threshold::Share(_) => "stated in the policy",
        }
    }

    /// Whether a class of `size` persons keeps to it: 1/size is not above it.
    pub fn allows(&self, smallest_class: u64) -> bool {
        smallest_class > 0 && Rational::new(1, i64::try_from(smallest_class).unwrap_or(i64::MAX)) <= self.risk()
    }
}

/// Reads `[release]`.
pub(super) fn parse(fields: &mut Fields, document: &DeTable<'_>) -> ReleasePolicy {
    let Some(table) = fields.table(document, "release") else { return ReleasePolicy::default() };
    fields.only(table, "[release]", &keys::names("release"));
    ReleasePolicy {
        title: fields.text(table, "title"),
        purpose: fields.text(table, "purpose"),
        recipient: fields.text(table, "recipient"),
        threshold: threshold(fields, table),
        valid_until: valid_until(fields, table),
    }
}

fn threshold(fields: &mut Fields, table: &DeTable<'_>) -> Option<Threshold> {
    let item = table.get("threshold")?;
    let word = item.get_ref().as_str().unwrap_or_default();
    if let Some(preset) = PRESETS.iter().find(|p| p.id == word) {
        return Some(Threshold::Preset(preset));
    }
    match number(item.get_ref()) {
        Some(share) if !share.is_negative() && !share.is_zero() && share <= Rational::from(1) => {
            Some(Threshold::Share(share))
        }
        Some(share) => {
            let message = format!("`threshold` is a risk above 0 and up to 1, not {share}");
            fields.push(Diagnostic::at(item.span(), message).label("not a risk"));
            None
        }
        None => {
            let names: Vec<&str> = PRESETS.iter().map(|p| p.id).collect();
            let message = "`threshold` is a number or the name of a threshold";
            fields.push(Diagnostic::at(item.span(), message).label("unknown threshold").help(suggestion(word, &names)));
            None
        }
    }
}

fn valid_until(fields: &mut Fields, table: &DeTable<'_>) -> Option<String> {
    let item = table.get("valid_until")?;
    let text = match item.get_ref() {
        DeValue::Datetime(_) | DeValue::String(_) => as_written(item.get_ref()),
        _ => None,
    };
    let day = text.filter(|text| ValueType::Date.accepts(text) && text.len() == 10);
    if day.is_none() {
        let message = "`valid_until` must be a day such as 2027-12-31";
        fields.push(Diagnostic::at(item.span(), message).label("not a day"));
    }
    day
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::policy::Policy;

    fn read(lines: &str) -> Result<ReleasePolicy, String> {
        let text = format!("[columns.age]\nrole = \"quasi\"\n[release]\n{lines}\n");
        Policy::parse(&text, Path::new("p.toml")).map(|p| p.release).map_err(|e| e.to_string())
    }

    #[test]
    fn a_release_is_told_of_and_read_back() {
        let lines = "title = \"Visits\"\npurpose = \"research\"\nrecipient = \"anyone\"\nthreshold = \"ema\"\nvalid_until = 2027-12-31";
        let release = read(lines).unwrap();
        assert_eq!(release.valid_until.as_deref(), Some("2027-12-31"));
        let text = format!("[columns.age]\nrole = \"quasi\"\n[release]\n{lines}\n");
        let policy = Policy::parse(&text, Path::new("p.toml")).unwrap();
        assert_eq!(Policy::parse(&policy.to_toml(), Path::new("p.toml")).unwrap(), policy);
        assert_eq!(policy.public_form().release, release);
        for (bad, part) in [
            ("threshold = \"emma\"", "did you mean `ema`"),
            ("threshold = 2", "up to 1"),
            ("threshold = 0", "above 0"),
            ("valid_until = \"soon\"", "2027-12-31"),
            ("titel = \"x\"", "did you mean `title`"),
        ] {
            let error = read(bad).unwrap_err();
            assert!(error.contains(part), "{bad}: {error}");
        }
    }

    #[test]
    fn thresholds_are_compared_exactly() {
        let of = |text: &str| read(&format!("threshold = {text}")).unwrap().threshold.unwrap();
        assert!(of("\"cms-11\"").allows(11) && !of("\"cms-11\"").allows(10));
        // One in eleven is 0.0909…, which is above 0.09.
        assert!(of("\"ema\"").allows(12) && !of("\"ema\"").allows(11));
        assert!(of("0.05").allows(20) && !of("\"1/20\"").allows(19) && !of("0.05").allows(0));
    }
}
