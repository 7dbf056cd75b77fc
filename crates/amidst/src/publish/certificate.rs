//! Stating what a release claims, for the independent checker to recompute and seal.

use amidst_check::{
    Certificate, CertificateDraft, Checked, Claim, Commitment, Leveled, Link, Location, On, Problem, ProblemKind,
    SensitiveColumn, SuppressedAs,
};
use amidst_core::frequency::{self, FrequencySet, Groups};
use amidst_core::internal::sensitive::categories::Categories;
use amidst_core::parameter::Parameters;
use amidst_core::search::Suppressed;
use bytes::Bytes;

use crate::checker_input::labels;
use crate::policy::{Policy, RequirePolicy};
use crate::prepare::{Prepared, rank_order};
use crate::release::{Joined, Judged, Released};
use crate::unique::{UniqueRows, accepted};
use crate::{Failure, TOOL, json, raw, report};

/// Everything that a release claims to be.
pub struct Statement<'a> {
    /// What was wanted.
    pub policy: &'a Policy,
    /// The same as it is published, with what was decided where it left something open.
    pub resolved: &'a str,
    /// The table.
    pub prepared: &'a Prepared,
    /// What was found.
    pub judged: &'a Judged,
    /// What is published.
    pub released: &'a Released,
    /// Rows that joined the classes of others.
    pub joined: Option<&'a Joined>,
    /// Where it stands in a series, if it is a version of one.
    pub series: Option<&'a Link>,
    /// What ties it to the rows of its input, where that was asked for.
    pub commitment: Option<&'a Commitment>,
}

/// The certificate of a checked release, with further files that are no tables.
pub fn sealed(checked: Checked, further: &[(&str, Bytes)]) -> Result<Certificate, Failure> {
    checked.seal_memory(further).map_err(refused)
}

/// A certificate as JSON text.
pub fn certificate_text(certificate: &Certificate) -> Result<String, Failure> {
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

/// Checks the files at a location.
pub fn checked(statement: &Statement<'_>, location: Location, files: &[&str]) -> Result<Checked, Failure> {
    let Statement { policy, resolved, prepared, judged, released, joined, series, commitment } = *statement;
    let set = joined.map_or(&prepared.set, |joined| &joined.set);
    // Persons are counted where somebody is published twice; who is not published does not show.
    let persons = set.persons && report::repeats(&judged.classes);
    let draft = CertificateDraft {
        outputs: files.iter().map(|f| (*f).to_string()).collect(),
        rows_in: prepared.rows_in - released.counterfeits.unwrap_or(0),
        counterfeits: released.counterfeits,
        series: series.cloned(),
        commitment: commitment.cloned(),
        rows_dropped_missing: prepared.rows_dropped_missing,
        suppressed: judged.suppressed,
        suppressed_as: match policy.search.suppressed {
            Suppressed::Drop => SuppressedAs::Drop,
            Suppressed::Mask => SuppressedAs::Mask,
        },
        quasi: released.names(&prepared.generalizations.iter().map(|g| g.name.clone()).collect::<Vec<_>>()),
        sensitive: (0..prepared.domains.len()).map(|c| sensitive_column(statement, &judged.classes, set, c)).collect(),
        persons,
        waived: released.waived.clone(),
        accepted: accepted(policy, &prepared.header),
        requirements: claims(policy, released, prepared),
        ..CertificateDraft::new(TOOL, resolved)
    };
    let populations = labels::populations(policy, prepared)?;
    let options = amidst_check::Options {
        persons: persons.then(|| released.persons(prepared)),
        populations: &populations.tables,
        ..amidst_check::Options::default()
    };
    amidst_check::check(draft, location, &options).map_err(|problems| {
        // Rows that only the checker has seen may show that columns single people out: a fault of the policy.
        let of = |kind: ProblemKind| problems.iter().find(|p| p.kind == kind);
        match (of(ProblemKind::Insensitive), of(ProblemKind::Nothing)) {
            (Some(problem), _) => raw::refused(policy, &prepared.header, &problem.message).into(),
            (None, Some(problem)) => Failure::Usage(format!("nothing was written: {}", problem.message)),
            (None, None) => refused(problems),
        }
    })
}

/// The requirements; where there are sets of quasi columns, those of each set after the other.
fn claims(policy: &Policy, released: &Released, prepared: &Prepared) -> Vec<Claim> {
    let stated = policy.public_form().requirements;
    let of = |r: &RequirePolicy, quasi: Option<Vec<String>>| Claim {
        model: r.model.id.to_string(),
        on: match r.on.as_slice() {
            [] => None,
            [one] => Some(On::One(one.clone())),
            many => Some(On::Many(many.to_vec())),
        },
        quasi,
        parameters: r.parameters.iter().map(|(k, v)| (k.to_string(), json::parameter(v))).collect(),
    };
    if prepared.sets.is_empty() {
        return stated.iter().map(|r| of(r, None)).collect();
    }
    let sets = (0..prepared.sets.len()).map(|set| prepared.set_names(set).map(|names| released.names(&names)));
    sets.flat_map(|set| stated.iter().map(move |r| of(r, set.clone())).collect::<Vec<_>>()).collect()
}

/// What the checker must know of a sensitive column beyond the release: what the policy says of its values, where a
/// requirement needs it, and nothing of values that are not published.
fn sensitive_column(statement: &Statement<'_>, classes: &Groups, set: &FrequencySet, column: usize) -> SensitiveColumn {
    let Statement { policy, prepared, .. } = *statement;
    let domain = &prepared.domains[column];
    let stated = || policy.requirements.iter().filter(|r| r.on.is_empty() || r.on.contains(&domain.name));
    let distance = |name: &str| {
        let distance = |r: &RequirePolicy| r.parameters.get("distance").and_then(|v| v.text());
        stated().any(|r| distance(r).as_deref() == Some(name))
    };
    let weighed = stated().any(|r| r.model.parameters.iter().any(|p| p.name == "categories"));
    // Of the input's values those that classes hold, in the order of the dictionary.
    let held = frequency::histogram(set, &classes.entries, column);
    let value = |code: u32| domain.dictionary.value(code).to_string();
    let weights = Categories::read(&Parameters::default(), domain).ok();
    SensitiveColumn {
        name: domain.name.clone(),
        order: distance("ordered").then(|| {
            let listed = policy.column(&domain.name).map(|c| rank_order(c).1).unwrap_or_default();
            let others = held.iter().filter(|c| c.0 as usize >= domain.ranking.listed.len());
            listed.into_iter().chain(others.map(|c| value(c.0))).collect()
        }),
        levels: domain.levels.as_ref().filter(|_| distance("hierarchical")).map(|levels| {
            let mut values: Vec<(String, u32)> = held.iter().map(|c| (value(c.0), c.0)).collect();
            values.sort_unstable();
            let mut numbers = vec![Vec::new(); levels.len()];
            // Groups are numbered as they come: other numbers would tell of groups that nobody is in.
            let mut group = |level: usize, code: u32| {
                let (numbers, group): (&mut Vec<u32>, u32) = (&mut numbers[level], levels[level][code as usize]);
                numbers.iter().position(|&g| g == group).unwrap_or_else(|| {
                    numbers.push(group);
                    numbers.len() - 1
                }) as u32
            };
            let leveled = |(value, code): (String, u32)| Leveled {
                value,
                groups: (1..levels.len()).map(|level| group(level, code)).collect(),
            };
            values.into_iter().map(leveled).collect()
        }),
        categories: (!domain.categories.is_empty()).then(|| domain.categories.clone()),
        // Categories that do not cover the column serve no requirement: the policy would have been refused.
        weights: weights.filter(|_| weighed).map(|c| c.weights()),
    }
}
