//! **Paper.** Systematic clustering paper, §4 Theorem 1 and §5 (with Kabir et al. 2009, which it refers to).
//!
//! **Claim.** Systematic clustering loses less than one-pass k-means (OKA); its time is O(n²/k).
//!
//! **Measured.** Information loss and seconds over k and over the rows; the time with a scan, as published.
//!
//! **Departures.** The paper itself shows no figures; k-member is shown beside.

use amidst::Failure;
use amidst::core::parameter::{Parameters, Value};

use crate::experiment::{Chart, Claim, Context, Experiment, Outcome, Paper, Sheet, below};
use crate::trial::{Trial, timed};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "clustering-comparison",
    paper: Paper::Clustering,
    place: "§4, Theorem 1; §5",
    title: "systematic clustering beside its peers",
    claim: "systematic clustering loses less than one-pass k-means, and takes time in O(n²/k)",
    measured: "information loss for each row and column, and seconds with a scan of all clusters; the growth of the time as the \
               exponent of n",
    departures: &["The paper compares in words only; the comparison over k and n is that of the paper it extends."],
    adult: true,
    run,
};

/// The series: name, algorithm, and whether two distinct values are required.
const SERIES: [(&str, &str, bool); 4] = [
    ("systematic, k", "systematic", false),
    ("systematic, k and l = 3", "systematic", true),
    ("one-pass k-means", "one-pass-k-means", false),
    ("k-member", "k-member", false),
];

/// The exponent with which times grow between `from` and the last point.
fn exponent(times: &[Option<f64>], xs: &[f64], from: usize) -> f64 {
    let ends =
        |points: &[f64]| points.last().copied().unwrap_or(f64::NAN) / points.get(from).copied().unwrap_or(f64::NAN);
    let times: Vec<f64> = times.iter().map(|t| t.unwrap_or(f64::NAN)).collect();
    ends(&times).ln() / ends(xs).ln()
}

fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
    let adult = context.adult;
    let ks = [5u64, 10, 20, 30, 50];
    let sizes: Vec<usize> = match context.quick {
        true => vec![400, 800, 1_600],
        false => vec![5_000, 10_000, 20_000, 45_000],
    };
    // A stand-in has fewer rows than Adult.
    let mut sizes: Vec<usize> = sizes.into_iter().map(|n| n.min(adult.table.rows)).collect();
    sizes.dedup();
    let middle = sizes[1];
    let mut table = Sheet::new(["over", "k", "rows", "series", "loss (gcp)", "median s", "least s", "most s"]);
    let mut charts = vec![
        Chart::new(&format!("Loss over k, {middle} rows"), "k", "loss (gcp)", ks),
        Chart::new(&format!("Time over k, {middle} rows, with a scan"), "k", "seconds", ks),
        Chart::new("Loss over the rows, k = 10", "rows", "loss (gcp)", sizes.clone()),
        Chart::new("Time over the rows, k = 10, with a scan", "rows", "seconds", sizes.clone()),
    ];
    let points: Vec<(usize, u64, usize)> =
        ks.iter().map(|&k| (0, k, middle)).chain(sizes.iter().map(|&n| (2, 10, n))).collect();
    let mut curves: [[Vec<Option<f64>>; 4]; 4] = Default::default();
    let mut options = Parameters::default();
    options.set("exact", Value::Flag(true));
    for (done, &(chart, k, n)) in points.iter().enumerate() {
        context.step(done, points.len())?;
        let trial = Trial::new(&adult.some_rows(n, 1), &adult.local(7), &[adult.occupation])?;
        for (series, (name, algorithm, diverse)) in SERIES.into_iter().enumerate() {
            let mut requirements = vec![trial.require("k-anonymity", &[("k", &k.to_string())])?];
            if diverse {
                requirements.push(trial.require("distinct-l-diversity", &[("l", "3")])?);
            }
            // Scans of the largest tables take long enough to be timed once.
            let runs = if n <= 10_000 { 3 } else { 1 };
            let (seconds, found) = timed(runs, || trial.find(algorithm, &requirements, &options, 1, context.cancel))?;
            let loss = found.map(|recoding| trial.cost(&recoding).gcp);
            let over = if chart == 0 { "k" } else { "rows" };
            let loss_text = loss.map_or("–".to_string(), |l| format!("{l:.5}"));
            let [median, least, most] = seconds.map(|s| format!("{s:.4}"));
            let place = [over.to_string(), k.to_string(), n.to_string(), name.to_string(), loss_text];
            table.push(place.into_iter().chain([median, least, most]));
            curves[chart][series].push(loss);
            curves[chart + 1][series].push(Some(seconds[0]));
        }
    }
    for (chart, curves) in charts.iter_mut().zip(&curves) {
        SERIES.iter().zip(curves).for_each(|(s, points)| chart.add(s.0, points.clone()));
    }
    let claims = claims(&curves, &ks, &sizes);
    let settings = vec![("seed".into(), "1".into()), ("exact".into(), "true (a scan of all clusters)".into())];
    Ok(Outcome { table, charts, claims, settings, ..Outcome::default() })
}

/// The paper's claims, judged by the curves (loss and time over k, loss and time over the number of rows).
fn claims(curves: &[[Vec<Option<f64>>; 4]; 4], ks: &[u64], sizes: &[usize]) -> Vec<Claim> {
    let lower = [0, 2].iter().all(|&c| below(&curves[c][0], &curves[c][2], 0.0));
    let sum = |c: &[Option<f64>]| c.iter().flatten().sum::<f64>();
    let ratio = sum(&curves[0][0]) / sum(&curves[0][2]).max(f64::MIN_POSITIVE);
    let last = sizes.len() - 1;
    let of_n = exponent(&curves[3][0], &sizes.iter().map(|&n| n as f64).collect::<Vec<_>>(), last - 1);
    let square = (1.3..=2.7).contains(&of_n);
    let of_k = exponent(&curves[1][0], &ks.iter().map(|&k| k as f64).collect::<Vec<_>>(), 0);
    let inverse = (-1.5..=-0.5).contains(&of_k);
    vec![
        Claim::judged(
            "Systematic clustering loses less than one-pass k-means.",
            lower,
            match lower {
                true => format!("over all k its loss is {ratio:.2} of that of one-pass k-means"),
                false => format!(
                    "over all k its loss is {ratio:.2} of that of one-pass k-means, but not at every point: the one-pass k-means here \
                     looks for the cluster whose loss grows least when it balances sizes, which the original does by distance"
                ),
            },
        ),
        Claim::judged(
            "With a scan, the time grows like n².",
            square,
            match square {
                true => format!("between the two largest tables like n to the power of {of_n:.2}"),
                false => format!(
                    "between the two largest tables like n to the power of {of_n:.2}: rows that agree are looked up together, so \
                     the time follows the distinct rows"
                ),
            },
        )
        .by_time(),
        Claim::judged(
            "With a scan, the time falls like 1/k.",
            inverse,
            match inverse {
                true => format!("from the smallest to the largest k like k to the power of {of_k:.2}"),
                false => format!(
                    "from the smallest to the largest k like k to the power of {of_k:.2}: the scans of n²/k clusters are not all of the \
                     work; reading, sorting and dissolving take as long for every k"
                ),
            },
        )
        .by_time(),
    ]
}
