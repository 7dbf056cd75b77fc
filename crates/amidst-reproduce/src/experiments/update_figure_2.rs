//! **Paper.** Update paper, Figure 2 (§4), rows deleted.
//!
//! **Claim.** Equal loss while the change is small, worse when it is large; far quicker than clustering anew while small.
//!
//! **Measured.** Total information loss and seconds of maintained classes and of the changed table clustered anew.
//!
//! **Departures.** k, sensitive column and static algorithm are not given: k = 5, occupation, k-member.

use amidst::Failure;
use amidst::core::random::Random;

use super::update_run::{K, Step, changed, claims, first_version, part, shown};
use crate::experiment::{Context, Experiment, Outcome, Paper};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "update-figure-2",
    paper: Paper::Update,
    place: "Figure 2",
    title: "loss and time when rows are deleted",
    claim: "maintained classes lose about as little as new ones while the change is small, more when it is large, and take far less             time",
    measured: "total information loss and seconds, of classes that are maintained and of the same rows clustered anew, for l = 2 and 4",
    departures: &[
        "The paper names neither k nor the sensitive column nor the static algorithm: k = 5, occupation, and k-member                    (Byun et al. 2007), which it cites for its clustering.",
        "Quick runs have a tenth of the rows.",
    ],
    adult: true,
    run,
};

fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
    let adult = context.adult;
    let scale = if context.quick { 10 } else { 1 };
    let base = (10_000 / scale).min(adult.table.rows);
    let deleted: Vec<usize> = [50, 500, 1_000, 2_000, 3_500, 5_000].map(|n| n / scale).to_vec();
    let all = adult.some_rows(base, 1);
    let mut order: Vec<usize> = (0..all.rows).collect();
    Random::new(2).shuffle(&mut order);
    let quasi = adult.local(7);
    let mut runs: Vec<(u64, Vec<Step>)> = Vec::new();
    let steps = 2 * deleted.len();
    for (done, l) in [2, 4].into_iter().enumerate() {
        let first = first_version(&all, l, &quasi, context)?;
        let mut found = Vec::new();
        for (n, &rows) in deleted.iter().enumerate() {
            context.step(done * deleted.len() + n, steps)?;
            let mut gone = vec![false; all.rows];
            order.iter().take(rows).for_each(|&row| gone[row] = true);
            let after = part(&all, |row| !gone[row]);
            let before = first.iter().zip(&gone).filter(|(_, gone)| !**gone).map(|(class, _)| *class).collect();
            found.push(changed(rows, &after, before, l, &quasi, context)?);
        }
        runs.push((l, found));
    }
    let (table, charts) = shown("rows deleted", 2, &runs);
    let settings = vec![
        ("rows before".into(), base.to_string()),
        ("k".into(), K.into()),
        ("l".into(), "2 and 4".into()),
        ("seeds".into(), "1 for the rows, 2 for those deleted".into()),
    ];
    Ok(Outcome { table, charts, claims: claims(&runs), settings, ..Outcome::default() })
}
