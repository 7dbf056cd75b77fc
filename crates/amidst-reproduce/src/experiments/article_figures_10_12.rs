//! **Paper.** ℓ-diversity article, Figures 10 and 12 (§6, "Homogeneity attack").
//!
//! **Claim.** The same attack affects minimal k-anonymous tables of the Lands End orders.
//!
//! **Measured.** As Figures 9 and 11, on a made-up table.
//!
//! **Departures.** The Lands End table was never published: a generator with its columns, hierarchies and skew stands
//! in. Its numbers cannot be compared with those printed.

use amidst::Failure;

use super::homogeneity::{lines, shown};
use crate::data::retail;
use crate::experiment::{Claim, Context, Experiment, Outcome, Paper};
use crate::trial::Trial;

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "article-figures-10-12",
    paper: Paper::Article,
    place: "Figures 10 and 12",
    title: "homogeneity attack on retail orders (stand-in)",
    claim: "the homogeneity attack affects minimal k-anonymous tables of a retail table with 147 sensitive values, too",
    measured: "every minimal node of the lattice of {zip, date, gender, style, price} for each k; groups whose orders all, or to \
               95 %, have one cost",
    departures: &[
        "The Lands End table is not public. A generator with its columns, its numbers of values as far as the rows \
                   can have them, and its hierarchies stands in: a trend can be judged, the printed numbers cannot.",
    ],
    adult: false,
    run,
};

fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
    let (rows, seed) = (if context.quick { 20_000 } else { 400_000 }, 1);
    let (table, quasi) = retail(rows, seed);
    let trial = Trial::new(&table, &quasi[..5], &["cost"])?;
    let lines = lines(&trial, context)?;
    let told: Vec<String> = lines.iter().map(|l| format!("k = {}: {} of {}", l.k, l.nearly.0, l.tables)).collect();
    let any = lines.iter().any(|l| l.nearly.0 > 0);
    let why = match any {
        true => format!("tables affected at 95 %: {}", told.join("; ")),
        false => format!(
            "in this stand-in no group agrees to 95 % ({}): its {} orders are so few that k-anonymity generalizes style or price \
             away, and with them what tells the cost",
            told.join("; "),
            rows
        ),
    };
    let claims = vec![Claim::judged("Some minimal tables have (nearly) homogeneous groups.", any, why)];
    let (table, charts) = shown(&lines);
    let settings = vec![("rows".into(), rows.to_string()), ("seed".into(), seed.to_string())];
    Ok(Outcome { table, charts, claims, settings, ..Outcome::default() })
}
