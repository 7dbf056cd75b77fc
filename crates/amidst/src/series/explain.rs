//! Why few values are left for a person, in words: persons by their numbers in the private state, values as published.

use amidst_core::ids::SensitiveId;
use amidst_core::internal::series::Exposure;
use amidst_core::internal::worlds::{Cohort, Step};

use super::exposure::{ColumnExposure, RequirementAudit};
use super::record::PublishedState;

/// How many values or persons are listed before the rest is counted.
const LISTED: usize = 8;

/// What tells persons and values in words.
pub(super) struct Words<'a> {
    pub known: &'a PublishedState,
    pub requirements: &'a [RequirementAudit],
}

impl Words<'_> {
    /// A worst case of a column.
    pub fn exposure(&self, column: usize, worst: &Exposure) -> ColumnExposure {
        let mut candidates: Vec<(String, Option<f64>)> =
            worst.candidates.iter().map(|&(code, share)| (self.value(column, code), share)).collect();
        candidates.sort_by(|a, b| b.1.unwrap_or(0.0).total_cmp(&a.1.unwrap_or(0.0)).then_with(|| a.0.cmp(&b.0)));
        let own = worst.classes.iter().map(|c| c.0 + 1);
        let mut versions: Vec<usize> = own.chain(worst.steps.iter().map(|s| s.version + 1)).collect();
        versions.sort_unstable();
        versions.dedup();
        let (values, shares) = candidates.into_iter().unzip();
        let mut exposure = ColumnExposure {
            persons: worst.persons.iter().map(|&life| self.known.person(life)).collect(),
            count: worst.count,
            versions,
            values,
            shares,
            exact: worst.exact,
            below: worst.below.iter().filter_map(|&r| self.requirements.get(r)).map(|r| r.model).collect(),
            why: Vec::new(),
        };
        exposure.why = self.why(column, worst, &exposure);
        exposure
    }

    fn why(&self, column: usize, worst: &Exposure, told: &ColumnExposure) -> Vec<String> {
        let who = people(&told.persons, worst.count);
        let mut why = Vec::new();
        let classes = worst.classes.iter().map(|(version, class, tuples)| {
            format!("class {} of version {} ({})", class + 1, version + 1, self.values(column, tuples.iter().copied()))
        });
        why.push(format!("{who}: in {}", classes.collect::<Vec<_>>().join(" and ")));
        if let [_, ..] = self.known.seen.insensitive_columns() {
            let beside = self.known.seen.insensitive_columns().join("`, `");
            why.push(format!(
                "rows that agree in `{beside}` as well are the same rows, whichever version they stand in"
            ));
        }
        why.extend(worst.steps.iter().map(|step| self.step(column, step, worst)));
        let values = list(&told.values);
        why.push(match (worst.exact, &told.values[..], &told.shares[..]) {
            (false, ..) => format!("so {who} is proven to be open between {} only", or_nothing(&values)),
            (true, [value], _) => format!("so {who} has {value}, in every world that fits all versions"),
            (true, [value, ..], [Some(share), ..]) => {
                format!("so {who} has one of {values}, and {value} in {:.1} % of the worlds", share * 100.0)
            }
            _ => format!("so {who} has one of {}", or_nothing(&values)),
        });
        why
    }

    fn step(&self, column: usize, step: &Step, worst: &Exposure) -> String {
        let name = |cohort: Cohort| {
            let lives = worst.named.get(&cohort).map_or(&[][..], Vec::as_slice);
            let persons: Vec<u32> = lives.iter().map(|&life| self.known.person(life)).collect();
            people(&persons, persons.len())
        };
        let published = step.published.iter().flat_map(|&(tuple, n)| std::iter::repeat_n(tuple, n.min(3) as usize));
        let held = self.values_with_repeats(column, published);
        let taken = step.taken.iter().take(LISTED).map(|(cohort, certain)| {
            let certain = certain.iter().flat_map(|&(tuple, n)| std::iter::repeat_n(tuple, n.min(3) as usize));
            format!("{} of {}", self.values_with_repeats(column, certain), name(*cohort))
        });
        let taken: Vec<String> = taken.collect();
        let about = step.about.map_or_else(|| "its counterfeits".to_string(), name);
        let left = self.values(column, step.left.iter().copied());
        let without = if taken.is_empty() { String::new() } else { format!(", without {}", taken.join(", ")) };
        format!("class {} of version {} ({held}){without}, leaves {about} {left}", step.class + 1, step.version + 1)
    }

    fn value(&self, column: usize, code: u32) -> String {
        let domain = self.known.prepared.domains.get(column);
        domain.map_or_else(String::new, |d| d.dictionary.value(code).to_string())
    }

    /// The different values of some tuples.
    fn values(&self, column: usize, tuples: impl Iterator<Item = u32>) -> String {
        let mut codes: Vec<u32> =
            tuples.map(|tuple| self.known.set.sensitive_code(SensitiveId(tuple), column)).collect();
        codes.sort_unstable();
        codes.dedup();
        or_nothing(&list(&codes.iter().map(|&code| self.value(column, code)).collect::<Vec<_>>()))
    }

    fn values_with_repeats(&self, column: usize, tuples: impl Iterator<Item = u32>) -> String {
        let code = |tuple: u32| self.known.set.sensitive_code(SensitiveId(tuple), column);
        list(&tuples.map(|tuple| self.value(column, code(tuple))).collect::<Vec<_>>())
    }
}

fn or_nothing(values: &str) -> String {
    if values.is_empty() { "nothing".into() } else { values.into() }
}

fn list(values: &[String]) -> String {
    let mut text = values.iter().take(LISTED).cloned().collect::<Vec<_>>().join(", ");
    if values.len() > LISTED {
        text.push_str(&format!(" and {} more", values.len() - LISTED));
    }
    text
}

/// Persons by number.
fn people(persons: &[u32], count: usize) -> String {
    let named: Vec<String> = persons.iter().take(LISTED).map(|p| format!("#{p}")).collect();
    match count - named.len().min(count) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}
