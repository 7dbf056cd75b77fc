//! **Paper.** ℓ-diversity article, Figures 19 and 20 (§6, "Utility").
//!
//! **Claim.** The divergence from the table to the best ℓ-diverse table rises with ℓ, and stays below that of the table
//! in which the quasi-identifier is suppressed (base).
//!
//! **Measured.** The least Kullback–Leibler divergence over all minimal tables; generalizing further can only raise it.
//!
//! **Departures.** One sample, whose seed is stated.

use amidst::Failure;
use amidst::sample::drawn;

use super::diversity::{Kind, LS};
use crate::experiment::{Chart, Claim, Context, Experiment, Outcome, Paper, Sheet, rises};
use crate::trial::Trial;

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "article-figures-19-20",
    paper: Paper::Article,
    place: "Figures 19 and 20",
    title: "Kullback–Leibler divergence of the best tables",
    claim: "the divergence rises with ℓ and is bounded by the baseline; on all of Adult it is close to that of k-anonymity for \
            ℓ up to 6",
    measured: "the least divergence over all minimal tables, on a 5 % Bernoulli sample (Figure 19) and on all rows (Figure 20); \
               base: every quasi column suppressed",
    departures: &["One sample; its seed is stated."],
    adult: true,
    run,
};

fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
    let adult = context.adult;
    let mut sample = adult.table.clone();
    drawn::draw(&mut sample, &amidst::core::parameter::Rational::ratio(1, 20), 1);
    let tables = [(19, "a 5 % sample", &sample), (20, "all rows", &adult.table)];
    let mut sheet = Sheet::new(["figure", "quasi columns", "requirement", "l", "divergence", "base"]);
    let mut charts = Vec::new();
    let (mut rising, mut bounded, mut nearness) = (true, true, Vec::new());
    let mut done = 0;
    for (figure, words, data) in tables {
        for size in [3, 4, 5] {
            let trial = Trial::new(data, adult.first(size), &[adult.occupation])?;
            let base = trial.kl_baseline();
            let mut chart =
                Chart::new(&format!("Figure {figure}: {words}, {size} quasi columns"), "k, ℓ", "divergence", LS);
            let mut of_k: Vec<Option<f64>> = Vec::new();
            for kind in Kind::ALL {
                context.step(done, 18)?;
                done += 1;
                let mut points = Vec::new();
                for l in LS {
                    let requirements = [kind.require(&trial, l)?];
                    let minimal = trial.minimal(&requirements, "kl-divergence", context.cancel)?;
                    let least = minimal.iter().map(|node| node.cost).min_by(f64::total_cmp);
                    let text = |x: Option<f64>| x.map_or("–".to_string(), |x| format!("{x:.4}"));
                    let row = [
                        figure.to_string(),
                        size.to_string(),
                        kind.name().into(),
                        l.to_string(),
                        text(least),
                        text(base),
                    ];
                    sheet.push(row);
                    points.push(least);
                }
                rising &= rises(&points, 0.0);
                bounded &= points.iter().flatten().all(|p| base.is_some_and(|base| *p <= base * (1.0 + 1e-9)));
                if kind == Kind::K {
                    of_k.clone_from(&points);
                } else if figure == 20 {
                    let pairs = of_k.iter().zip(&points).take(3);
                    nearness.extend(pairs.filter_map(|(k, l)| Some(((*l)? - (*k)?) / base?)));
                }
                chart.add(kind.name(), points);
            }
            chart.add("base", vec![base; LS.len()]);
            charts.push(chart);
        }
    }
    let furthest = nearness.iter().copied().fold(0.0, f64::max);
    let near = furthest <= 0.1;
    let why = format!(
        "for ℓ = 2, 4, 6 the difference is at most {:.1} % of the baseline{}",
        furthest * 100.0,
        if near { "" } else { ", which is more than the tenth that counts as close here" }
    );
    let claims = vec![
        Claim::judged(
            "The divergence rises with k and ℓ.",
            rising,
            if rising {
                "everywhere"
            } else {
                "not everywhere: a stricter requirement has a subset of the tables, so this would be an error of this program"
            },
        ),
        Claim::judged(
            "No best table is further from the data than base.",
            bounded,
            "the baseline is the least useful table",
        ),
        Claim::judged("On all rows diversity is close to k-anonymity for ℓ up to 6.", near, why),
    ];
    let settings = vec![("sample".into(), "5 %, seed 1".into())];
    Ok(Outcome { table: sheet, charts, claims, settings, ..Outcome::default() })
}
