//! **Paper.** ℓ-diversity article, Figures 13 and 14 (§6, "Performance").
//!
//! **Claim.** Returning all 6-diverse tables takes about as long as returning all 6-anonymous ones, for 3 to 8 quasi
//! columns.
//!
//! **Measured.** The time to return every minimal node, the median of several runs with its spread; judged by the ratio
//! of the two medians, since another machine has other seconds.
//!
//! **Departures.** Retail orders are made up; Figure 8 lists seven columns beside the sensitive one, so their sizes end
//! at seven.

use amidst::Failure;

use super::diversity::Kind;
use crate::data::{hierarchy, retail};
use crate::experiment::{Chart, Claim, Context, Experiment, Outcome, Paper, Sheet};
use crate::trial::{Quasi, Trial, timed};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "article-figures-13-14",
    paper: Paper::Article,
    place: "Figures 13 and 14",
    title: "time for ℓ-diversity and k-anonymity",
    claim: "the running times for k-anonymity and ℓ-diversity are similar, whatever the number of quasi columns",
    measured: "seconds to return all minimal tables that are 6-anonymous, entropy 6-diverse, recursive (3,6)-diverse; the median \
               of several runs; similar: the times for all sizes of the quasi-identifier together are between 1/3 and 3 times those of \
               k-anonymity",
    departures: &[
        "The times are of this program and this machine; only their ratios are judged.",
        "Retail orders are made up; beside the sensitive column Figure 8 lists seven, so there is no eighth.",
    ],
    adult: true,
    run,
};

const SIMILAR: f64 = 3.0;

fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
    let adult = context.adult;
    let mut columns = adult.quasi.clone();
    // The eighth column of Figure 7 is the salary class.
    columns.push(Quasi { name: adult.salary.into(), hierarchy: Some(hierarchy(&adult.table, adult.salary)) });
    let (rows, most, runs) = if context.quick { (10_000, 6, 3) } else { (100_000, 8, 5) };
    let (orders, order_columns) = retail(rows, 1);
    let tables = [
        ("Adult", &adult.table, &columns, adult.occupation, most.min(columns.len())),
        ("orders", &orders, &order_columns, "cost", most.min(order_columns.len())),
    ];
    let mut table =
        Sheet::new(["table", "quasi columns", "requirement", "median s", "least s", "most s", "ratio to k"]);
    let (mut charts, mut ratios) = (Vec::new(), Vec::new());
    let steps = tables.iter().map(|t| t.4 - 2).sum::<usize>();
    let mut done = 0;
    for (name, data, columns, sensitive, most) in tables {
        let mut chart = Chart::new(&format!("Time to return all tables: {name}"), "quasi columns", "seconds", 3..=most);
        let mut medians = [Vec::new(), Vec::new(), Vec::new()];
        for j in 3..=most {
            context.step(done, steps)?;
            done += 1;
            let trial = Trial::new(data, &columns[..j], &[sensitive])?;
            let mut base = 0.0;
            for (kind, medians) in Kind::ALL.into_iter().zip(&mut medians) {
                let requirements = [kind.require(&trial, 6)?];
                let ([median, least, longest], _) =
                    timed(runs, || trial.minimal(&requirements, "height", context.cancel))?;
                if kind == Kind::K {
                    base = median;
                }
                let ratio = format!("{:.2}", median / base);
                let figures = [median, least, longest].map(|s| format!("{s:.4}"));
                let [a, b, c] = figures;
                table.push([name.to_string(), j.to_string(), kind.name().to_string(), a, b, c, ratio]);
                medians.push(Some(median));
            }
        }
        let [of_k, rest @ ..] = medians.each_ref().map(|m: &Vec<Option<f64>>| m.iter().flatten().sum::<f64>());
        ratios.extend(Kind::ALL[1..].iter().zip(rest).map(|(kind, sum)| (name, kind.name(), sum / of_k)));
        for (kind, medians) in Kind::ALL.into_iter().zip(medians) {
            chart.add(kind.name(), medians);
        }
        charts.push(chart);
    }
    let claims = vec![claim(&ratios)];
    let settings = vec![
        ("k, l".into(), "6".into()),
        ("runs".into(), runs.to_string()),
        ("orders".into(), format!("{rows} rows, seed 1")),
    ];
    Ok(Outcome { table, charts, claims, settings, ..Outcome::default() })
}

/// The article's claim, judged by the times as multiples of those for k-anonymity.
fn claim(ratios: &[(&str, &str, f64)]) -> Claim {
    let similar = ratios.iter().all(|r| (1.0 / SIMILAR..=SIMILAR).contains(&r.2));
    let told: Vec<String> = ratios.iter().map(|(table, kind, ratio)| format!("{kind} on {table} {ratio:.2}")).collect();
    let told = format!("as multiples of the time for k-anonymity: {}", told.join(", "));
    let why = match similar {
        true => told,
        false => format!(
            "{told}. Here k-anonymity needs class sizes alone, which are cheap, and diversity the counts of every value; the paper's \
             program asked a database for either, and that took the same time"
        ),
    };
    Claim::judged("Diversity takes about as long as k-anonymity.", similar, why).by_time()
}
