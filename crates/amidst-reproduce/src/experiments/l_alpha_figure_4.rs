//! **Paper.** (l,α) paper, Figures 4 a–c (§5, "Efficiency").
//!
//! **Claim.** The time rises with the rows, falls with l, and rises with the number of quasi columns.
//!
//! **Measured.** The time of the release for each requirement: the median of several runs.
//!
//! **Departures.** Seconds are of this program and machine; trends are judged by ratios of the last figure to the
//! first.

use amidst::Failure;
use amidst::core::parameter::Parameters;

use super::l_alpha_models::{Kind, trial};
use crate::experiment::{Chart, Claim, Context, Experiment, Outcome, Paper, Sheet};
use crate::trial::{Trial, timed};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "l-alpha-figure-4",
    paper: Paper::LAlpha,
    place: "Figures 4 a–c",
    title: "time over rows, l and quasi columns",
    claim: "the time rises with the rows and with the number of quasi columns, and falls with l",
    measured: "seconds to find the release; the median of several runs; a trend is the ratio of the last to the first",
    departures: &[
        "l-diversity by full-domain search, the others top-down, as in the paper; in seconds of this machine.",
        "l = 10 is impossible with eight values, and recursion over four categories beyond l = 4. Entropy over four categories is \
         impossible from l = 4 on, since no table has them all equally often in every group; Figures 4a and 4c are for l = 4, so \
         entropy over values is shown beside it.",
    ],
    adult: true,
    run,
};

fn seconds(trial: &Trial, kind: Kind, l: u64, runs: usize, context: &Context<'_>) -> Result<Option<[f64; 3]>, Failure> {
    let requirements = kind.require(trial, l)?;
    let algorithm = if kind == Kind::L { "incognito" } else { "top-down" };
    let (seconds, found) =
        timed(runs, || trial.find(algorithm, &requirements, &Parameters::default(), 1, context.cancel))?;
    Ok(found.map(|_| seconds))
}

/// The ratio of the last known figure to the first.
fn ratio(points: &[Option<f64>]) -> Option<f64> {
    let known: Vec<f64> = points.iter().flatten().copied().collect();
    (known.len() > 1).then(|| known[known.len() - 1] / known[0])
}

fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
    let adult = context.adult;
    // 45,000 rows of Adult; a stand-in has fewer.
    let (scale, runs) = if context.quick { (60, 3) } else { ((adult.table.rows / 45).min(1_000), 3) };
    let all = (45 * scale).min(adult.table.rows);
    let rows: Vec<usize> = [25, 30, 35, 40, 45].iter().map(|n| (n * scale).min(adult.table.rows)).collect();
    let (ls, sizes) = ([2, 4, 6, 8, 10], (2..=adult.quasi.len()).collect::<Vec<usize>>());
    let mut table =
        Sheet::new(["figure", "rows", "l", "quasi columns", "requirement", "median s", "least s", "most s"]);
    let mut charts = vec![
        Chart::new("Figure 4a: time over rows, l = 4", "rows", "seconds", rows.clone()),
        Chart::new("Figure 4b: time over l", "l", "seconds", ls),
        Chart::new("Figure 4c: time over quasi columns, l = 4", "quasi columns", "seconds", sizes.clone()),
    ];
    let points = (rows.iter().map(|&n| (0, n, 4, 7)))
        .chain(ls.iter().map(|&l| (1, all, l, 7)))
        .chain(sizes.iter().map(|&size| (2, all, 4, size)))
        .collect::<Vec<(usize, usize, u64, usize)>>();
    let mut curves: [[Vec<Option<f64>>; 5]; 3] = Default::default();
    for (done, &(figure, n, l, size)) in points.iter().enumerate() {
        context.step(done, points.len())?;
        let trial = trial(&adult.some_rows(n, 1), size, context)?;
        for (kind, curve) in Kind::TIMED.into_iter().zip(&mut curves[figure]) {
            let seconds = seconds(&trial, kind, l, runs, context)?;
            let text = |i: usize| seconds.map_or("–".to_string(), |s| format!("{:.4}", s[i]));
            let letter = ["4a", "4b", "4c"][figure].to_string();
            let place = [letter, n.to_string(), l.to_string(), size.to_string(), kind.name().to_string()];
            table.push(place.into_iter().chain([text(0), text(1), text(2)]));
            curve.push(seconds.map(|s| s[0]));
        }
    }
    for (chart, curves) in charts.iter_mut().zip(&curves) {
        Kind::TIMED.iter().zip(curves).for_each(|(kind, points)| chart.add(kind.name(), points.clone()));
    }
    let claims = claims(&curves);
    let settings = vec![
        ("alpha".into(), "2".into()),
        ("weights".into(), "sensitivity 2".into()),
        ("runs".into(), runs.to_string()),
        ("health conditions".into(), "random, seed 1".into()),
    ];
    Ok(Outcome { table, charts, claims, settings, ..Outcome::default() })
}

/// The paper's claims, judged by the curves of the three figures.
fn claims(curves: &[[Vec<Option<f64>>; 5]; 3]) -> Vec<Claim> {
    let told = |figure: usize| -> (Vec<f64>, String) {
        let ratios = Kind::TIMED.iter().zip(&curves[figure]).filter_map(|(kind, c)| Some((kind.name(), ratio(c)?)));
        let ratios: Vec<(&str, f64)> = ratios.collect();
        let words: Vec<String> = ratios.iter().map(|(name, r)| format!("{name} {r:.2}")).collect();
        (ratios.iter().map(|r| r.1).collect(), format!("last over first: {}", words.join(", ")))
    };
    let [a, b, c] = [told(0), told(1), told(2)];
    let rising = |r: &[f64]| r.iter().filter(|&&x| x > 1.0).count() * 2 > r.len();
    let falling = |r: &[f64]| r.iter().filter(|&&x| x < 1.0).count() * 2 > r.len();
    vec![
        Claim::judged(
            "The time rises with the rows (for most of the requirements).",
            rising(&a.0),
            match rising(&a.0) {
                true => a.1,
                false => format!(
                    "{}; rows that agree are counted once and searched together, so the time follows the distinct tuples, whose number \
                     grows more slowly than the rows",
                    a.1
                ),
            },
        )
        .by_time(),
        Claim::judged(
            "The time falls as l grows (for most of the requirements).",
            falling(&b.0),
            match falling(&b.0) {
                true => b.1,
                false => {
                    format!("{}; here the time is spent on judging candidates, of which a larger l leaves as many", b.1)
                }
            },
        )
        .by_time(),
        Claim::judged(
            "The time rises with the number of quasi columns (for most of them).",
            rising(&c.0),
            match rising(&c.0) {
                true => c.1,
                false => format!("{}; with few columns classes stay large, and judging a large class takes longer", c.1),
            },
        )
        .by_time(),
        Claim::impossible(
            "l = 10 can be tried, and entropy and recursion beyond l = 4.",
            "there are eight values in four categories: no group has ten distinct values, and the entropy of four categories is at \
             most log 4, which it reaches only where all four are equally frequent",
        ),
    ]
}
