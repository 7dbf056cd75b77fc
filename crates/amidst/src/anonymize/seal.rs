//! Stating what a release claims, for the independent checker to recompute and seal.

use std::path::Path;

use amidst_check::{
    CertificateDraft, Checked, Claim, On, Problem, ProblemKind, SensitiveColumn, SuppressedAs, ValueCount,
};
use amidst_core::algorithm::Suppressed;
use amidst_core::category::Categories;
use amidst_core::frequency::{self, FrequencySet};
use amidst_core::parameter::Parameters;

use super::{Joined, Judged, Released};
use crate::policy::Policy;
use crate::prepare::{Prepared, raw};
use crate::unique::{UniqueRows, accepted};
use crate::{Failure, json, labels};

/// The name and version that certificates carry.
pub const TOOL: &str = concat!("amidst ", env!("CARGO_PKG_VERSION"));

/// Everything that a release claims to be.
pub struct Statement<'a> {
    /// What was wanted.
    pub policy: &'a Policy,
    /// The same with everything settled, as it is published.
    pub resolved: &'a str,
    /// The table.
    pub prepared: &'a Prepared,
    /// What was found.
    pub judged: &'a Judged,
    /// What is published.
    pub released: &'a Released,
    /// Rows that joined the classes of others.
    pub joined: Option<&'a Joined>,
}

/// The certificate of a checked release as JSON text, with further files that are no tables.
pub fn sealed(checked: Checked, further: &[&str]) -> Result<String, Failure> {
    let certificate = checked.seal(further).map_err(refused)?;
    certificate.to_json().map_err(|problem| Failure::Io(problem.to_string()))
}

/// The count of unique rows that search and checker agree on; the checker's where only it has looked.
pub fn agreed(measured: Option<UniqueRows>, checked: &Checked, rows: u64) -> Result<UniqueRows, Failure> {
    let amidst_check::UniqueRows { published, insensitive } = checked.unique_rows();
    match measured {
        Some(unique) if (unique.published, unique.insensitive) == (published, insensitive) => Ok(unique),
        Some(unique) => Err(Failure::Refused(format!(
            "{} rows are unique on all columns and {} on the insensitive ones by their codes, but {published} and \
             {insensitive} by the file",
            unique.published, unique.insensitive
        ))),
        None => Ok(UniqueRows { rows, published, insensitive, smallest: None }),
    }
}

fn refused(problems: Vec<Problem>) -> Failure {
    let messages: Vec<String> = problems.iter().map(|p| p.to_string()).collect();
    Failure::Refused(messages.join("; "))
}

/// Checks the files in `folder`.
pub fn checked(statement: &Statement<'_>, folder: &Path, files: &[&str]) -> Result<Checked, Failure> {
    let Statement { policy, resolved, prepared, judged, released, joined } = *statement;
    let set = joined.map_or(&prepared.set, |joined| &joined.set);
    let persons = set.persons;
    let draft = CertificateDraft {
        outputs: files.iter().map(|f| (*f).to_string()).collect(),
        rows_in: prepared.rows_in - released.counterfeits.unwrap_or(0),
        counterfeits: released.counterfeits,
        rows_dropped_missing: prepared.rows_dropped_missing,
        suppressed: judged.suppressed,
        suppressed_as: match policy.search.suppressed {
            Suppressed::Drop => SuppressedAs::Drop,
            Suppressed::Mask => SuppressedAs::Mask,
        },
        quasi: prepared.generalizations.iter().map(|g| g.name.clone()).collect(),
        sensitive: (0..prepared.domains.len()).map(|c| sensitive_column(statement, set, c)).collect(),
        persons,
        waived: released.waived.clone(),
        accepted: accepted(policy, &prepared.header),
        requirements: policy
            .requirements
            .iter()
            .map(|r| Claim {
                model: r.model.id.to_string(),
                on: match r.on.as_slice() {
                    [] => None,
                    [one] => Some(On::One(one.clone())),
                    many => Some(On::Many(many.to_vec())),
                },
                parameters: r.parameters.iter().map(|(k, v)| (k.to_string(), json::parameter(v))).collect(),
            })
            .collect(),
        ..CertificateDraft::new(TOOL, resolved)
    };
    let populations = labels::populations(policy, prepared)?;
    let options = amidst_check::Options {
        persons: persons.then(|| released.persons(prepared)),
        original: None,
        populations: &populations.tables,
        policy: None,
    };
    amidst_check::check(draft, folder, &options).map_err(|problems| {
        // Rows that only the checker has seen may show that columns single people out: a fault of the policy.
        match problems.iter().find(|p| p.kind == ProblemKind::Insensitive) {
            Some(problem) => raw::refused(policy, &prepared.header, &problem.message).into(),
            None => refused(problems),
        }
    })
}

/// What the checker must know of a sensitive column beyond the release.
fn sensitive_column(statement: &Statement<'_>, set: &FrequencySet, column: usize) -> SensitiveColumn {
    let Statement { prepared, released, .. } = *statement;
    let domain = &prepared.domains[column];
    // Where rows are missing from the release, the difference tells their values: only what is needed is stated.
    let compared = (prepared.requirements.iter())
        .any(|r| r.on.contains(&column) && r.models.iter().any(|model| model.compares_with_table()));
    let counts = frequency::histogram(set, &set.groups.entries, column);
    let mut distribution: Vec<ValueCount> =
        domain.dictionary.iter().map(|value| ValueCount { value: Some(value.to_string()), count: 0 }).collect();
    for (code, count) in counts {
        distribution[code as usize].count = count;
    }
    // Rows that stand for nobody come last, and are not of the input.
    let counterfeits = released.counterfeits.unwrap_or(0) as usize;
    let cells = &prepared.table.columns[prepared.sensitive[column]].codes;
    for row in prepared.table.rows.saturating_sub(counterfeits)..prepared.table.rows {
        let count = &mut distribution[cells.get(row) as usize].count;
        *count = count.saturating_sub(1);
    }
    // Categories that do not cover the column serve no requirement: the policy would have been refused.
    let weights = Categories::read(&Parameters::default(), domain).ok();
    SensitiveColumn {
        name: domain.name.clone(),
        distribution: if compared { distribution } else { Vec::new() },
        ordered: domain.ordered,
        levels: domain.levels.as_ref().filter(|_| compared).map(|levels| {
            (0..domain.dictionary.len()).map(|code| levels.iter().skip(1).map(|l| l[code]).collect()).collect()
        }),
        categories: (!domain.categories.is_empty()).then(|| domain.categories.clone()),
        weights: weights.map(|c| c.weights()),
    }
}
