//! **Paper.** (l,α) paper, §5, "Similarity attack".
//!
//! **Claim.** In a 4-diverse table 1,570 rows have a group whose values lie in one category; in distinct and entropy
//! (4,2)-diverse tables none do.
//!
//! **Measured.** Rows and groups within one category in the releases for l = 4 and l = 2.
//!
//! **Departures.** The printed number cannot be: a category has two values, so no group of four lies in one.

use amidst::Failure;
use amidst::core::parameter::Parameters;

use super::l_alpha_models::{Kind, trial};
use crate::data::health_categories;
use crate::experiment::{Claim, Context, Experiment, Outcome, Paper, Printed, Sheet};
use crate::trial::Trial;

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "l-alpha-similarity",
    paper: Paper::LAlpha,
    place: "§5, similarity attack",
    title: "rows whose category is known",
    claim: "1,570 rows of a 4-diverse table lie in a group within one category; in (4,2)-diverse tables none do",
    measured: "groups whose values lie in one of the four categories, and their rows, in the release for each requirement",
    departures: &["At l = 4 the claim is impossible, so l = 2 is shown, too."],
    adult: true,
    run,
};

/// Number of groups within one category, and of their rows; `None` if no release satisfies the requirement.
fn alike(trial: &Trial, kind: Kind, l: u64, context: &Context<'_>) -> Result<Option<(u64, u64)>, Failure> {
    let requirements = kind.require(trial, l)?;
    let algorithm = if kind == Kind::L { "incognito" } else { "top-down" };
    let found = trial.find(algorithm, &requirements, &Parameters::default(), 1, context.cancel)?;
    let categories = health_categories();
    let of: Vec<usize> = (trial.domains[0].dictionary.iter())
        .map(|value| categories.iter().position(|c| c.iter().any(|v| v == value)).unwrap_or(usize::MAX))
        .collect();
    Ok(found.map(|recoding| {
        let (groups, _) = recoding.groups(&trial.set);
        let mut hit = (0, 0);
        for entries in groups.iter().filter(|entries| !entries.is_empty()) {
            let category = |e: &amidst::core::frequency::Entry| of[trial.set.sensitive_code(e.sensitive, 0) as usize];
            if entries.iter().all(|e| category(e) == category(&entries[0])) {
                hit = (hit.0 + 1, hit.1 + entries.iter().map(|e| e.rows).sum::<u64>());
            }
        }
        hit
    }))
}

fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
    let adult = context.adult;
    let rows = if context.quick { 4_000.min(adult.table.rows) } else { adult.table.rows };
    let data = adult.some_rows(rows, 1);
    let trial = trial(&data, 7, context)?;
    let mut table = Sheet::new(["l", "requirement", "groups within one category", "rows"]);
    let mut found = Vec::new();
    let kinds = [Kind::L, Kind::Distinct, Kind::Entropy];
    for (done, (l, kind)) in [4, 2].into_iter().flat_map(|l| kinds.map(|kind| (l, kind))).enumerate() {
        context.step(done, 6)?;
        let hit = alike(&trial, kind, l, context)?;
        let text = |n: Option<u64>| n.map_or("impossible".to_string(), |n| n.to_string());
        table.push([l.to_string(), kind.name().to_string(), text(hit.map(|h| h.0)), text(hit.map(|h| h.1))]);
        found.push(hit);
    }
    let printed = vec![
        Printed::number("rows within one category, 4-diversity", "1570", found[0].map_or(f64::NAN, |h| h.1 as f64))
            .remark("impossible: a category has two values, a 4-diverse group has four (erratum)"),
        Printed::number("rows within one category, distinct (4,2)", "0", found[1].map_or(f64::NAN, |h| h.1 as f64)),
    ];
    let (two, distinct, entropy) = (found[3], found[4], found[5]);
    let rows_of = |hit: Option<(u64, u64)>| hit.map_or("impossible".to_string(), |h| format!("{} rows", h.1));
    let told = format!(
        "at l = 2: l-diversity {}, distinct (2,2) {}, entropy (2,2) {}",
        rows_of(two),
        rows_of(distinct),
        rows_of(entropy)
    );
    let claims = vec![
        Claim::impossible(
            "A 4-diverse table has 1,570 rows in groups within one category.",
            format!("each category has two values, so a group of four distinct values never lies within one; {told}"),
        ),
        Claim::judged(
            "Distinct and entropy (4,2)-diverse tables have no group within one category.",
            found[1].is_none_or(|h| h.0 == 0) && found[2].is_none_or(|h| h.0 == 0),
            match found[2] {
                None => {
                    "so for distinct (4,2); entropy (4,2) over four categories needs equal counts of all four in every group, \
                         which the whole table does not have, so no release satisfies it"
                }
                Some(_) => "by l = 4 alone: a category has two values",
            },
        ),
        Claim::judged(
            "Entropy (2,2)-diversity leaves no group within one category.",
            entropy.is_some_and(|h| h.0 == 0),
            "the entropy of the categories of such a group is 0, below log 2",
        ),
    ];
    let settings =
        vec![("rows".into(), format!("{rows}, seed 1")), ("health conditions".into(), "random, seed 1".into())];
    Ok(Outcome { table, printed, claims, settings, ..Outcome::default() })
}
