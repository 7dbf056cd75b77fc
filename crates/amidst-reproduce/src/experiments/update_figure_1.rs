//! **Paper.** Update paper, Figure 1 (§4), rows inserted.
//!
//! **Claim.** Equal loss while the change is small, worse when it is large; far quicker than clustering anew while small.
//!
//! **Measured.** Total information loss and seconds of maintained classes and of the changed table clustered anew.
//!
//! **Departures.** k, sensitive column and static algorithm are not given: k = 5, occupation, k-member.

use amidst::Failure;

use super::update_run::{K, Step, changed, claims, first_version, part, shown};
use crate::experiment::{Context, Experiment, Outcome, Paper};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "update-figure-1",
    paper: Paper::Update,
    place: "Figure 1",
    title: "loss and time when rows are inserted",
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
    let base = 10_000 / scale;
    // 0.5, 1, 5, 10, 25 and 50 % of Adult.
    let inserted: Vec<usize> = [226, 452, 2_261, 4_522, 11_305, 22_611].map(|n| n / scale).to_vec();
    let most = inserted.last().copied().unwrap_or(0);
    let all = adult.some_rows((base + most).min(adult.table.rows), 1);
    let quasi = adult.local(7);
    let mut runs: Vec<(u64, Vec<Step>)> = Vec::new();
    let steps = 2 * inserted.len();
    for (done, l) in [2, 4].into_iter().enumerate() {
        let first = first_version(&part(&all, |row| row < base), l, &quasi, context)?;
        let mut found = Vec::new();
        for (n, &rows) in inserted.iter().enumerate() {
            context.step(done * inserted.len() + n, steps)?;
            let after = part(&all, |row| row < base + rows);
            let mut before = first.clone();
            before.resize(after.rows, amidst::core::series::UNPLACED);
            found.push(changed(rows, &after, before, l, &quasi, context)?);
        }
        runs.push((l, found));
    }
    let (table, charts) = shown("rows inserted", 1, &runs);
    let settings = vec![
        ("rows before".into(), base.to_string()),
        ("k".into(), K.into()),
        ("l".into(), "2 and 4".into()),
        ("seed".into(), "1".into()),
    ];
    Ok(Outcome { table, charts, claims: claims(&runs), settings, ..Outcome::default() })
}
