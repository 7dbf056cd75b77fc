//! **Paper.** Update paper, Figure 1 (§4), rows inserted.
//!
//! **Claim.** Equal loss while the change is small, worse when it is large; far quicker than clustering anew while
//! small.
//!
//! **Measured.** Total information loss and seconds of maintained classes and of the changed table clustered anew.
//!
//! **Departures.** k, sensitive column and static algorithm are not given: k = 5, occupation, k-member.

use amidst::Failure;
use amidst::core::internal::series::UNPLACED;

use super::update_run::{CLAIM, DEPARTURES, MEASURED, figure, part};
use crate::experiment::{Context, Experiment, Outcome, Paper};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "update-figure-1",
    paper: Paper::Update,
    place: "Figure 1",
    title: "loss and time when rows are inserted",
    claim: CLAIM,
    measured: MEASURED,
    departures: DEPARTURES,
    adult: true,
    run,
};

fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
    let adult = context.adult;
    let scale = if context.quick { 10 } else { 1 };
    let base = 10_000 / scale;
    // 0.5, 1, 5, 10, 25 and 50 % of Adult; a stand-in has fewer rows.
    let left = adult.table.rows.saturating_sub(base);
    let mut inserted: Vec<usize> = [226, 452, 2_261, 4_522, 11_305, 22_611].map(|n| (n / scale).min(left)).to_vec();
    inserted.dedup();
    let most = inserted.last().copied().unwrap_or(0);
    let all = adult.some_rows((base + most).min(adult.table.rows), 1);
    let before = part(&all, |row| row < base);
    figure(&before, &inserted, ("rows inserted", 1, ("seed", "1")), context, |first, rows| {
        let after = part(&all, |row| row < base + rows);
        let mut classes = first.to_vec();
        classes.resize(after.rows, UNPLACED);
        (after, classes)
    })
}
