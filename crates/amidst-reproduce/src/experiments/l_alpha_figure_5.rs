//! **Paper.** (l,α) paper, Figures 5 a–c (§5, "Data utility").
//!
//! **Claim.** Distinct (l,α)-diversity costs about what l-diversity does; entropy and recursive (l,α)-diversity cost
//! more.
//!
//! **Measured.** Discernibility, normalized mean group size and divergence of the release for each requirement.
//!
//! **Departures.** Entropy and recursion over four categories are impossible beyond l = 4, so they are also taken over
//! values. l-diversity is also recoded as the others are, since what the recoding does would hide what the requirement
//! costs.

use amidst::Failure;

use super::l_alpha_models::{Kind, full_domain, trial};
use crate::experiment::{Chart, Claim, Context, Experiment, Outcome, Paper, Sheet};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "l-alpha-figure-5",
    paper: Paper::LAlpha,
    place: "Figures 5 a–c",
    title: "discernibility, mean group size and divergence",
    claim: "distinct (l,α)-diversity keeps about the utility of l-diversity; entropy and recursive (l,α)-diversity keep less",
    measured: "discernibility, mean group size over l (CAVG) and Kullback–Leibler divergence, with its baseline; for the full-domain \
               tables the least of each over all minimal ones",
    departures: &[
        "l-diversity is full-domain and the others are local recodings, as in the paper; l-diversity is shown under the local \
         recoding, too, because a recoding costs more than the requirements differ by.",
        "Entropy and recursion are shown over categories, as defined, and over values, as the figures must have been made.",
    ],
    adult: true,
    run,
};

const LS: [u64; 5] = [2, 4, 6, 8, 10];

/// For each metric (discernibility, CAVG, divergence), the figures over l.
type Points = [Vec<Option<f64>>; 3];

/// "About as much": at most a quarter more.
const NEAR: f64 = 1.25;

fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
    let adult = context.adult;
    let rows = if context.quick { 2_500.min(adult.table.rows) } else { adult.table.rows };
    let trial = trial(&adult.some_rows(rows, 1), 7, context)?;
    let base = trial.kl_baseline();
    let mut table = Sheet::new(["l", "requirement", "discernibility", "CAVG", "divergence", "baseline", "groups"]);
    let mut series: Vec<(Kind, Points)> = Vec::new();
    let kinds = [&[Kind::L][..], &Kind::LOCAL[..]].concat();
    for (done, &kind) in kinds.iter().enumerate() {
        let mut points = Points::default();
        for (n, l) in LS.into_iter().enumerate() {
            context.step(done * LS.len() + n, kinds.len() * LS.len())?;
            let figures = match kind {
                Kind::L => full_domain(&trial, l, context)?,
                _ => kind.release(&trial, l, context)?,
            };
            let text = |i: usize, digits: usize| figures.map_or("–".to_string(), |f| format!("{:.digits$}", f[i]));
            let base = base.map_or("–".to_string(), |b| format!("{b:.4}"));
            let measured = [text(0, 4), text(1, 4), text(2, 4), base, text(3, 0)];
            table.push([l.to_string(), kind.name().to_string()].into_iter().chain(measured));
            points.iter_mut().enumerate().for_each(|(i, p)| p.push(figures.map(|f| f[i])));
        }
        series.push((kind, points));
    }
    let settings = vec![
        ("rows".into(), format!("{rows}, seed 1")),
        ("alpha".into(), "2".into()),
        ("weights".into(), "sensitivity 2".into()),
        ("health conditions".into(), "random, seed 1".into()),
    ];
    Ok(Outcome { table, charts: charts(&series, base), claims: claims(&series), settings, ..Outcome::default() })
}

/// A chart of each metric for all requirements, and one for the local recodings alone, on whose scale they differ
/// visibly.
fn charts(series: &[(Kind, Points)], base: Option<f64>) -> Vec<Chart> {
    let mut charts = Vec::new();
    for (metric, (letter, y)) in [("a", "discernibility"), ("b", "CAVG"), ("c", "divergence")].into_iter().enumerate() {
        let mut all = Chart::new(&format!("Figure 5{letter}"), "l", y, LS);
        let mut local = Chart::new(&format!("Figure 5{letter}, local recodings alone"), "l", y, LS);
        for (kind, points) in series {
            if *kind != Kind::LocalL {
                all.add(kind.name(), points[metric].clone());
            }
            if *kind != Kind::L {
                local.add(kind.name(), points[metric].clone());
            }
        }
        if metric == 2 {
            all.add("baseline", vec![base; LS.len()]);
        }
        charts.extend([all, local]);
    }
    charts
}

/// The paper's claims, judged by the figures.
fn claims(series: &[(Kind, Points)]) -> Vec<Claim> {
    let of = |kind: Kind, metric: usize| {
        series.iter().find(|s| s.0 == kind).map(|s| s.1[metric].as_slice()).unwrap_or_default()
    };
    // The ratio of the distinct model to another, for each l where both are possible.
    let ratios = |other: Kind, metric: usize| -> Vec<(u64, f64)> {
        let pairs = LS.into_iter().zip(of(Kind::Distinct, metric).iter().zip(of(other, metric)));
        pairs.filter_map(|(l, (a, b))| Some((l, (*a)? / (*b)?))).collect()
    };
    let most = |ratios: &[(u64, f64)]| ratios.iter().map(|r| r.1).fold(0.0, f64::max);
    let cheaper = most(&ratios(Kind::L, 0));
    let alike = [0, 1, 2].map(|metric| ratios(Kind::LocalL, metric));
    let near = alike.iter().all(|r| most(r) <= NEAR);
    let later = alike.iter().flatten().filter(|r| r.0 > LS[0]).map(|r| r.1).fold(0.0, f64::max);
    let [discernibility, size, divergence] = alike.map(|r| most(&r));
    let told = format!(
        "recoded alike, at most {discernibility:.2} times its discernibility, {size:.2} times its mean group size, {divergence:.2} times \
         its divergence"
    );
    let why = match near {
        true => told,
        false => format!(
            "{told}; beyond l = {}, at most {later:.2} times: no weight exceeds 1, so α = 2 asks for at least two rows of the least \
             sensitive category or three of others, which costs most where l asks for two rows only",
            LS[0]
        ),
    };
    let above = Kind::LOCAL[2..].iter().all(|&kind| {
        let pairs = of(Kind::Distinct, 0).iter().zip(of(kind, 0));
        pairs.filter_map(|(a, b)| Some(((*a)?, (*b)?))).all(|(a, b)| b >= a * 0.98)
    });
    let possible = |kind: Kind| {
        let known = LS.iter().zip(of(kind, 0)).filter(|(_, p)| p.is_some());
        known.map(|(l, _)| l.to_string()).collect::<Vec<_>>().join(", ")
    };
    vec![
        Claim::judged("Distinct (l,α)-diversity costs about what l-diversity does.", near, why),
        Claim::judged(
            "Distinct (l,α)-diversity has no worse discernibility than full-domain l-diversity.",
            cheaper <= 1.0,
            match cheaper <= 1.0 {
                true => format!(
                    "at most {cheaper:.2} of it: local recoding cuts finer than full-domain generalization, whatever it protects"
                ),
                false => {
                    format!("up to {cheaper:.2} times as much: the weights ask for more rows than local recoding saves")
                }
            },
        ),
        Claim::judged(
            "Entropy and recursive (l,α)-diversity cost at least what distinct (l,α)-diversity does.",
            above,
            match above {
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
                possible(Kind::Distinct),
                possible(Kind::Entropy),
                possible(Kind::Recursive),
                possible(Kind::EntropyOfValues),
                possible(Kind::RecursiveOfValues)
            ),
        ),
    ]
}
