//! **Paper.** Survey, Figures 1 and 2 (§6, "Information loss").
//!
//! **Claim.** At equal k, and at equal numbers of quasi columns, k-anonymity loses least, then simple, then complete,
//! then general (α,k)-anonymity; all of them lose more as k, and as the number of columns, grows.
//!
//! **Measured.** Information loss for each row and column (gcp) of its clustering algorithm, on rows of Adult.
//!
//! **Departures.** The paper gives neither data nor α: α = 1/4, for three occupations in the complete model; the
//! release of a stricter model also satisfies a weaker one, so the better of the two is what the weaker one costs.

use amidst::Failure;
use amidst::core::parameter::{Parameters, Value};
use amidst::core::requirement::Requirement;

use crate::experiment::{Chart, Claim, Context, Experiment, Outcome, Paper, Sheet, below, rises};
use crate::trial::Trial;

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "survey-figures-1-2",
    paper: Paper::Survey,
    place: "Figures 1 and 2",
    title: "information loss of four models",
    claim: "loss grows with k and with the quasi-identifier; k-anonymity loses least, then simple, complete, general \
            (α,k)-anonymity",
    measured: "information loss for each row and column after the paper's clustering algorithm",
    departures: &[
        "Data and α are not given: rows of Adult, occupation, α = 1/4, in the complete model for the three most \
                   frequent occupations.",
        "Every release of a stricter model satisfies the weaker ones; where the heuristic does better for a stricter \
                   model, that release is taken for the weaker one, too.",
    ],
    adult: true,
    run,
};

/// How much more a heuristic may lose on an easier task, as a fraction.
const SLACK: f64 = 0.05;
const MODELS: [&str; 4] = ["k-anonymity", "simple (α,k)", "complete (α,k)", "general (α,k)"];

fn requirement(trial: &Trial, model: usize, k: u64, frequent: &[String]) -> Result<Requirement, Failure> {
    let text = |t: &str| Value::Text(t.to_string());
    let (k, alpha) = (text(&k.to_string()), text("1/4"));
    match model {
        0 => trial.require_values("k-anonymity", &[("k", k)]),
        1 => trial
            .require_values("simple-alpha-k-anonymity", &[("alpha", alpha), ("value", text(&frequent[0])), ("k", k)]),
        2 => {
            let bounds = frequent.iter().map(|value| (value.clone(), alpha.clone())).collect();
            trial.require_values("complete-alpha-k-anonymity", &[("alpha", Value::Table(bounds)), ("k", k)])
        }
        _ => trial.require_values("general-alpha-k-anonymity", &[("alpha", alpha), ("k", k)]),
    }
}

/// The loss of each model: computed from the strictest on, each at most the loss of the stricter ones.
fn losses(trial: &Trial, k: u64, frequent: &[String], context: &Context<'_>) -> Result<[Option<f64>; 4], Failure> {
    let mut losses = [None; 4];
    let mut best: Option<f64> = None;
    for model in (0..4).rev() {
        let requirements = [requirement(trial, model, k, frequent)?];
        let found = trial.find("alpha-k-clustering", &requirements, &Parameters::default(), 1, context.cancel)?;
        let loss = found.map(|recoding| trial.cost(&recoding).gcp);
        best = match (best, loss) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        losses[model] = best;
    }
    Ok(losses)
}

fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
    let adult = context.adult;
    let rows = if context.quick { 500 } else { 5_000 };
    let data = adult.some_rows(rows, 1);
    let column = data.column(adult.occupation);
    let counts = column.map(|c| c.counts()).unwrap_or_default();
    let mut frequent: Vec<(u64, String)> = column
        .map(|c| counts.iter().zip(c.dictionary.iter()).map(|(&n, v)| (n, v.to_string())).collect())
        .unwrap_or_default();
    frequent.sort_by(|a, b| b.cmp(a));
    let frequent: Vec<String> = frequent.into_iter().take(3).map(|f| f.1).collect();
    let all = adult.quasi.len();
    let (ks, sizes) = ([2, 4, 6, 8, 10, 12], (2..=all).collect::<Vec<usize>>());
    let steps = ks.len() + sizes.len();
    let mut table = Sheet::new(["figure", "k", "quasi columns", "model", "loss"]);
    let mut curves: [[Vec<Option<f64>>; 4]; 2] = Default::default();
    let whole = Trial::new(&data, &adult.local(all), &[adult.occupation])?;
    let points = ks.iter().map(|&k| (0, k, all)).chain(sizes.iter().map(|&size| (1, 6, size)));
    for (done, (figure, k, size)) in points.enumerate() {
        context.step(done, steps)?;
        let own;
        let trial = match figure {
            0 => &whole,
            _ => {
                own = Trial::new(&data, &adult.local(size), &[adult.occupation])?;
                &own
            }
        };
        let losses = losses(trial, k, &frequent, context)?;
        for (model, loss) in losses.into_iter().enumerate() {
            let text = loss.map_or("–".to_string(), |l| format!("{l:.5}"));
            table.push([(figure + 1).to_string(), k.to_string(), size.to_string(), MODELS[model].to_string(), text]);
            curves[figure][model].push(loss);
        }
    }
    let mut charts = vec![
        Chart::new("Figure 1: loss over k", "k", "loss (gcp)", ks),
        Chart::new("Figure 2: loss over the quasi-identifier, k = 6", "quasi columns", "loss (gcp)", sizes),
    ];
    for (chart, curves) in charts.iter_mut().zip(&curves) {
        MODELS.iter().zip(curves).for_each(|(name, points)| chart.add(*name, points.clone()));
    }
    let claims = claims(&curves);
    let settings = vec![
        ("rows".into(), format!("{rows}, seed 1")),
        ("alpha".into(), "1/4".into()),
        ("frequent".into(), frequent.join(", ")),
    ];
    Ok(Outcome { table, charts, claims, settings, ..Outcome::default() })
}

/// The survey's claims, judged by the curves of both figures.
fn claims(curves: &[[Vec<Option<f64>>; 4]; 2]) -> Vec<Claim> {
    let growing = curves[0].iter().all(|c| rises(c, SLACK));
    let wider = curves[1].iter().all(|c| rises(c, SLACK));
    let ordered = curves.iter().all(|c| c.windows(2).all(|pair| below(&pair[0], &pair[1], 0.0)));
    let distance = |pair: usize| {
        let sum = |c: &Vec<Option<f64>>| c.iter().flatten().sum::<f64>();
        sum(&curves[0][pair + 1]) / sum(&curves[0][pair]).max(f64::MIN_POSITIVE) - 1.0
    };
    let told = format!(
        "over all k, simple costs {:.1} % more than k-anonymity, complete {:.1} % more than simple, general {:.1} % more than complete",
        distance(0) * 100.0,
        distance(1) * 100.0,
        distance(2) * 100.0
    );
    vec![
        Claim::judged(
            "Loss grows with k.",
            growing,
            if growing {
                "for all four models, 5 % aside by which a heuristic may be worse for an easier task"
            } else {
                "not at every step: the clustering is a heuristic, and a larger k can by chance lead it to better clusters"
            },
        ),
        Claim::judged(
            "Loss for each cell grows with the number of quasi columns.",
            wider,
            if wider {
                "for all four models"
            } else {
                "not at every step: the loss is taken for each cell, and a further column with few values can be kept almost whole"
            },
        ),
        Claim::judged("k-anonymity loses least, then simple, complete, general.", ordered, told),
    ]
}
