//! **Paper.** Update paper, Figure 2 (§4), rows deleted.
//!
//! **Claim.** Equal loss while the change is small, worse when it is large; far quicker than clustering anew while
//! small.
//!
//! **Measured.** Total information loss and seconds of maintained classes and of the changed table clustered anew.
//!
//! **Departures.** k, sensitive column and static algorithm are not given: k = 5, occupation, k-member.

use amidst::Failure;
use amidst::core::internal::random::Random;

use super::update_run::{CLAIM, DEPARTURES, MEASURED, figure, part};
use crate::experiment::{Context, Experiment, Outcome, Paper};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "update-figure-2",
    paper: Paper::Update,
    place: "Figure 2",
    title: "loss and time when rows are deleted",
    claim: CLAIM,
    measured: MEASURED,
    departures: DEPARTURES,
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
    let seeds = ("seeds", "1 for the rows, 2 for those deleted");
    figure(&all, &deleted, ("rows deleted", 2, seeds), context, |first, rows| {
        let mut gone = vec![false; all.rows];
        order.iter().take(rows).for_each(|&row| gone[row] = true);
        let classes = first.iter().zip(&gone).filter(|(_, gone)| !**gone).map(|(class, _)| *class).collect();
        (part(&all, |row| !gone[row]), classes)
    })
}
