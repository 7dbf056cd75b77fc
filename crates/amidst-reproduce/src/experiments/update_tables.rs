//! **Paper.** Update paper, Tables 1 and 2, and a batch that inserts and deletes at once (§3, Problem 3).
//!
//! **Claim.** Table 2 is 3-anonymous with two groups; both kinds of change in one batch can be maintained.
//!
//! **Measured.** The groups of Table 2; a batch on Table 1 extended by rows of the same kind.
//!
//! **Departures.** The paper gives no example of a batch.

use amidst::Failure;
use amidst::core::internal::series::{UNPLACED, maintain};
use amidst::core::parameter::Parameters;
use amidst::core::table::{Table, ValueType};

use super::classes::{judged, text};
use crate::experiment::{Claim, Context, Experiment, Outcome, Paper, Printed};
use crate::trial::{Quasi, Trial};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "update-tables",
    paper: Paper::Update,
    place: "Tables 1 and 2, §3",
    title: "worked table and a batch of both kinds",
    claim: "Table 2 is 3-anonymous; inserting and deleting in one batch leaves every class valid",
    measured: "the groups of Table 2; after a batch on Table 1 the classes are counted",
    departures: &["The paper gives no example of a batch: two rows leave Table 1 and four come."],
    adult: false,
    run,
};

/// Table 1, then four inserted rows: gender, age, ZIP, disease.
const ROWS: [[&str; 4]; 10] = [
    ["Male", "25", "4350", "Hypertension"],
    ["Male", "23", "4351", "Hypertension"],
    ["Male", "22", "4352", "Depression"],
    ["Female", "28", "4353", "Chest Pain"],
    ["Female", "34", "4352", "Obesity"],
    ["Female", "31", "4350", "Flu"],
    ["Male", "24", "4351", "Flu"],
    ["Male", "26", "4352", "Obesity"],
    ["Female", "30", "4353", "Flu"],
    ["Female", "29", "4350", "Depression"],
];

fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
    context.step(0, 1)?;
    let groups: [&[(&str, u64)]; 2] =
        [&[("Hypertension", 2), ("Depression", 1)], &[("Chest Pain", 1), ("Obesity", 1), ("Flu", 1)]];
    let least = |id: &str, parameter: &str| -> Result<f64, Failure> {
        let found = groups
            .iter()
            .map(|g| Ok(judged(id, &[(parameter, text("1"))], g)?.1))
            .collect::<Result<Vec<f64>, Failure>>()?;
        Ok(found.into_iter().fold(f64::INFINITY, f64::min))
    };
    let printed = vec![
        Printed::number("Table 2: groups", "2", groups.len() as f64),
        Printed::number("Table 2: k", "3", least("k-anonymity", "k")?),
        Printed::number("Table 2: distinct diseases", "2", least("distinct-l-diversity", "l")?),
    ];
    // The rows with index 1 and 4 are deleted, those from index 6 on are inserted.
    let rows: Vec<usize> = (0..ROWS.len()).filter(|row| ![1, 4].contains(row)).collect();
    let mut table = Table::from_rows(["gender", "age", "zip", "disease"], rows.iter().map(|&row| ROWS[row]));
    table.columns[1].kind = ValueType::Integer;
    table.columns[1].sort(&[]);
    let mut before: Vec<u32> = rows
        .iter()
        .map(|&row| {
            if row < 3 {
                0
            } else if row < 6 {
                1
            } else {
                UNPLACED
            }
        })
        .collect();
    let quasi = [
        Quasi { name: "gender".into(), hierarchy: Some("Male;*\nFemale;*\n".into()) },
        Quasi { name: "age".into(), hierarchy: None },
        Quasi { name: "zip".into(), hierarchy: Some("4350;435*;*\n4351;435*;*\n4352;435*;*\n4353;435*;*\n".into()) },
    ];
    let trial = Trial::new(&table, &quasi, &["disease"])?;
    let requirements =
        [trial.require("k-anonymity", &[("k", "3")])?, trial.require("distinct-l-diversity", &[("l", "2")])?];
    let options = Parameters::default();
    let search = trial.search(&requirements, "loss", &options, context.cancel);
    let done = maintain(&search, &trial.entry_of_row, &mut before)?;
    let valid = (0..=before.iter().copied().max().unwrap_or(0)).filter(|c| before.contains(c)).all(|class| {
        let members: Vec<usize> = (0..rows.len()).filter(|&i| before[i] == class).collect();
        let mut diseases: Vec<&str> = members.iter().map(|&i| ROWS[rows[i]][3]).collect();
        diseases.sort_unstable();
        diseases.dedup();
        members.len() >= 3 && diseases.len() >= 2
    });
    let claims = vec![
        Claim::judged("Table 2 is a 3-anonymous view of Table 1.", printed[1].agrees, "two groups of three"),
        Claim::judged(
            "A batch that deletes and inserts leaves every class with 3 rows and 2 diseases.",
            valid,
            format!("{} classes of {} rows, {} dissolved on the way", done.classes, rows.len(), done.dissolved),
        ),
    ];
    Ok(Outcome { printed, claims, ..Outcome::default() })
}
