//! **Paper.** (l,α) paper, Tables 2 to 8, Figure 2, and the weights of §3.
//!
//! **Claim.** The tables satisfy what their captions say; the weights of A = {Cancer, Phthisis, Asthma, Flu} add up to
//! 2 and to 115/61; the top-down run on Table 8 (a) gives Table 8 (b).
//!
//! **Measured.** By the models on the groups that the tables print, and by the algorithm on Table 8 (a).
//!
//! **Departures.** None; where the paper is wrong the remark says why.

use amidst::Failure;
use amidst::core::internal::sensitive::categories::scheme;
use amidst::core::parameter::Rational;
use amidst::core::parameter::{Parameters, Value};
use amidst::core::table::Table;

use super::classes::{judged, text, word};
use crate::experiment::{Claim, Context, Experiment, Outcome, Paper, Printed};
use crate::trial::{Quasi, Trial};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "l-alpha-tables",
    paper: Paper::LAlpha,
    place: "Tables 2 to 8, Figure 2, weights of §3",
    title: "worked tables",
    claim: "the tables satisfy what their captions say, the weights add up as printed, and the example run gives Table 8 (b)",
    measured: "by the models on the printed groups, and by the top-down algorithm on Table 8 (a)",
    departures: &[],
    adult: false,
    run,
};

type Group = [(&'static str, u64)];

const TABLE_5: [&Group; 3] = [
    &[("HIV", 2), ("Cancer", 2)],
    &[("Hepatitis", 1), ("Phthisis", 1), ("Asthma", 1), ("Obesity", 1)],
    &[("Flu", 3), ("Indigestion", 1)],
];
const TABLE_6: [&Group; 3] = [
    &[("HIV", 2), ("Cancer", 1), ("Flu", 1)],
    &[("Hepatitis", 1), ("Phthisis", 1), ("Asthma", 1), ("Obesity", 1)],
    &[("Cancer", 1), ("Flu", 2), ("Indigestion", 1)],
];
const TABLE_7: [&Group; 3] = [
    &[("HIV", 2), ("Flu", 2)],
    &[("Hepatitis", 1), ("Phthisis", 1), ("Asthma", 1), ("Obesity", 1)],
    &[("Cancer", 2), ("Flu", 1), ("Indigestion", 1)],
];

fn all(id: &str, parameters: &[(&str, Value)], groups: &[&Group]) -> Result<bool, Failure> {
    let verdicts =
        groups.iter().map(|group| Ok(judged(id, parameters, group)?.0)).collect::<Result<Vec<bool>, Failure>>()?;
    Ok(verdicts.into_iter().all(|holds| holds))
}

fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
    context.step(0, 1)?;
    let l_alpha = |l: &str, alpha: &str| [("l", text(l)), ("alpha", text(alpha)), ("weights", text("uniform"))];
    let sizes = [2, 2, 4, 2, 2];
    let failed = |e: amidst::core::parameter::ParameterError| Failure::Io(format!("an experiment is wrong: {e}"));
    let sum = |weights: &[Rational]| weights.iter().map(Rational::to_f64).sum::<f64>();
    let uniform = sum(&scheme(4, 0).map_err(failed)?);
    let sensitivity = scheme(4, 2).map_err(failed)?;
    let listed = ["0", "9/61", "45/61", "1"].iter().filter_map(|w| w.parse::<Rational>().ok()).collect::<Vec<_>>();
    let words = |weights: &[Rational]| weights.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let erratum = "Equation (1) with β = 2 gives 36/49, 45/49, 1, in all 130/49; the printed weights can be stated as a list \
                   (erratum)";
    let top_down = table_8(context)?;
    let printed = vec![
        Printed::number("Table 2: k", "2", f64::from(sizes.into_iter().min().unwrap_or(0))),
        Printed::text(
            "Table 5: distinct 2-diversity",
            "holds",
            word(all("distinct-l-diversity", &[("l", text("2"))], &TABLE_5)?),
        ),
        Printed::number("§3: total weight of A, uniform", "2", uniform),
        Printed::text("§3: weights, sensitivity β = 2", "0, 9/61, 45/61, 1", words(&sensitivity)).remark(erratum),
        Printed::number("§3: total weight of A, sensitivity β = 2", "1.885", sum(&sensitivity))
            .remark("115/61 is printed; it is 130/49 by Equation (1) (erratum)"),
        Printed::number("§3: total weight of A by the printed weights, 115/61", "1.885", sum(&listed)),
        Printed::text(
            "Table 6: distinct (3,1)-diversity",
            "holds",
            word(all("distinct-l-alpha-diversity", &l_alpha("3", "1"), &TABLE_6)?),
        ),
        Printed::number("Table 6: share of top-secret values in the first group, percent", "75", 100.0 * 3.0 / 4.0),
        Printed::text(
            "Table 7: entropy (2,2)-diversity (caption)",
            "holds",
            word(all("entropy-l-alpha-diversity", &l_alpha("2", "2"), &TABLE_7)?),
        ),
        Printed::text(
            "Table 7: distinct (3,1)-diversity (text)",
            "holds",
            word(all("distinct-l-alpha-diversity", &l_alpha("3", "1"), &TABLE_7)?),
        )
        .remark("its first group has two distinct values, so it is not 3-diverse; the caption is right (erratum)"),
        Printed::number("Theorem 1: suppressed cells of one 4-clique", "48", 12.0 * 4.0),
        Printed::text("Table 8 (b): the top-down run", TABLE_8, top_down),
    ];
    let wrong = printed.iter().filter(|p| !p.agrees).count();
    let known = printed.iter().filter(|p| !p.agrees).all(|p| !p.remark.is_empty());
    let claims = vec![
        Claim::judged(
            "Tables 5, 6 and 7 satisfy their captions.",
            [1, 6, 8].iter().all(|&i| printed[i].agrees),
            "by the models, group by group",
        ),
        Claim::judged(
            "The example run gives Table 8 (b).",
            printed[11].agrees,
            "row 3 is pulled back to stand beside row 4",
        ),
        Claim::judged(
            "Every printed number comes out.",
            wrong == 0,
            format!("{wrong} do not{}", if known { "; each is an erratum with its reason beside it" } else { "" }),
        ),
    ];
    Ok(Outcome { printed, claims, ..Outcome::default() })
}

const TABLE_8: &str = "435* Flu, 435* HIV, 4351 Flu, 4351 HIV";

/// The rows of Table 8 (a) after top-down specialization for distinct (2,1)-diversity.
fn table_8(context: &Context<'_>) -> Result<String, Failure> {
    let rows = [["4351", "HIV"], ["4351", "Flu"], ["4351", "HIV"], ["4352", "Flu"]];
    let table = Table::from_rows(["zip", "disease"], rows);
    let lines = "4351;435*;43**;4***;*\n4352;435*;43**;4***;*\n".to_string();
    let mut trial = Trial::new(&table, &[Quasi { name: "zip".into(), hierarchy: Some(lines) }], &["disease"])?;
    trial.domains[0].categories = vec![vec!["HIV".to_string()], vec!["Flu".to_string()]];
    let stated = [("l", text("2")), ("alpha", text("1")), ("weights", text("uniform"))];
    let requirements = [trial.require_values("distinct-l-alpha-diversity", &stated)?];
    let Some(recoding) = trial.find("top-down", &requirements, &Parameters::default(), 1, context.cancel)? else {
        return Ok("nothing".to_string());
    };
    let (groups, _) = recoding.groups(&trial.set);
    let mut found: Vec<String> = Vec::new();
    for (cells, entries) in recoding.classes.iter().zip(groups.iter()) {
        for entry in entries {
            let label = trial.generalizations[0].label(&cells[0]);
            let value = trial.domains[0].dictionary.value(trial.set.sensitive_code(entry.sensitive, 0));
            found.extend((0..entry.rows).map(|_| format!("{label} {value}")));
        }
    }
    found.sort();
    Ok(found.join(", "))
}
