//! **Paper.** (l,α) paper, Figures 5 a–c (§5, "Data utility").
//!
//! **Claim.** Distinct (l,α)-diversity costs about what l-diversity does; entropy and recursive (l,α)-diversity cost
//! more.
//!
//! **Measured.** Discernibility, normalized mean group size and divergence of the release for each requirement.
//!
//! **Departures.** Entropy and recursion over four categories are impossible beyond l = 4, so they are also taken over
//! values.

use amidst::Failure;

use super::l_alpha_models::{Kind, trial};
use crate::experiment::{Chart, Claim, Context, Experiment, Outcome, Paper, Sheet};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "l-alpha-figure-5",
    paper: Paper::LAlpha,
    place: "Figures 5 a–c",
    title: "discernibility, mean group size and divergence",
    claim: "distinct (l,α)-diversity keeps about the utility of l-diversity; entropy and recursive (l,α)-diversity keep less",
    measured: "discernibility, mean group size over l (CAVG) and Kullback–Leibler divergence, with its baseline",
    departures: &[
        "l-diversity is full-domain and the others are local recodings, as in the paper.",
        "Entropy and recursion are shown over categories, as defined, and over values, as the figures must have been made.",
    ],
    adult: true,
    run,
};

const LS: [u64; 5] = [2, 4, 6, 8, 10];

fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
    let adult = context.adult;
    let rows = if context.quick { 2_500.min(adult.table.rows) } else { adult.table.rows };
    let trial = trial(&adult.some_rows(rows, 1), 7, context)?;
    let base = trial.kl_baseline();
    let mut table = Sheet::new(["l", "requirement", "discernibility", "CAVG", "divergence", "baseline", "groups"]);
    let mut charts = [("a", "discernibility"), ("b", "CAVG"), ("c", "divergence")]
        .map(|(letter, y)| Chart::new(&format!("Figure 5{letter}"), "l", y, LS))
        .to_vec();
    let mut curves: Vec<[Vec<Option<f64>>; 3]> = Vec::new();
    for (done, kind) in Kind::ALL.into_iter().enumerate() {
        let mut points: [Vec<Option<f64>>; 3] = Default::default();
        for (n, l) in LS.into_iter().enumerate() {
            context.step(done * LS.len() + n, Kind::ALL.len() * LS.len())?;
            let cost = kind.release(&trial, l, context)?;
            let published = |c: &crate::trial::Cost| (trial.set.rows - c.suppressed) as f64;
            let figures = cost.map(|c| [c.discernibility, published(&c) / c.classes.max(1) as f64 / l as f64, c.kl]);
            let text = |i: usize| figures.map_or("–".to_string(), |f| format!("{:.4}", f[i]));
            let groups = cost.map_or("–".to_string(), |c| c.classes.to_string());
            let base = base.map_or("–".to_string(), |b| format!("{b:.4}"));
            table.push([l.to_string(), kind.name().to_string(), text(0), text(1), text(2), base, groups]);
            points.iter_mut().enumerate().for_each(|(i, p)| p.push(figures.map(|f| f[i])));
        }
        for (chart, points) in charts.iter_mut().zip(&points) {
            chart.add(kind.name(), points.clone());
        }
        curves.push(points);
    }
    charts[2].add("baseline", vec![base; LS.len()]);
    let possible =
        |kind: usize| LS.iter().zip(&curves[kind][0]).filter(|(_, p)| p.is_some()).map(|(l, _)| l.to_string());
    let listed = |kind: usize| possible(kind).collect::<Vec<_>>().join(", ");
    // Where both can be tried, entropy and recursion cost at least what the distinct model does.
    let dearer = (2..6).all(|kind| {
        let pairs = curves[1][0].iter().zip(&curves[kind][0]);
        pairs.filter_map(|(a, b)| Some(((*a)?, (*b)?))).all(|(a, b)| b >= a * 0.98)
    });
    let cheaper = curves[1][0].iter().zip(&curves[0][0]).filter_map(|(a, b)| Some((*a)? / (*b)?)).fold(0.0, f64::max);
    let claims = vec![
        Claim::judged(
            "Distinct (l,α)-diversity has no worse discernibility than l-diversity.",
            cheaper <= 1.0,
            format!(
                "at most {cheaper:.2} of it: local recoding cuts finer than full-domain generalization, whatever it protects"
            ),
        ),
        Claim::judged(
            "Entropy and recursive (l,α)-diversity cost at least what distinct (l,α)-diversity does.",
            dearer,
            match dearer {
                true => "in both readings, wherever they are possible",
                false => {
                    "not everywhere: top-down specialization is a heuristic, and a stricter requirement can lead it elsewhere"
                }
            },
        ),
        Claim::impossible(
            "The figures go up to l = 10.",
            format!(
                "possible are l = {} for distinct (l,α), {} for entropy and {} for recursion over categories, {} and {} over values",
                listed(1),
                listed(2),
                listed(3),
                listed(4),
                listed(5)
            ),
        ),
    ];
    let settings = vec![
        ("rows".into(), format!("{rows}, seed 1")),
        ("alpha".into(), "2".into()),
        ("weights".into(), "sensitivity 2".into()),
        ("health conditions".into(), "random, seed 1".into()),
    ];
    Ok(Outcome { table, charts, claims, settings, ..Outcome::default() })
}
