//! **Paper.** ℓ-diversity article, Figures 15 to 18 (§6, "Utility"), three graphs each.
//!
//! **Claim.** ℓ-diverse tables are about as useful as k-anonymous ones; recursive (3,ℓ)-diversity permits better tables
//! than entropy ℓ-diversity.
//!
//! **Measured.** On 5 % Bernoulli samples: the least height, mean group size and discernibility of any table that
//! satisfies the requirement. All three can only grow when a table is generalized further, so the least is among the
//! minimal nodes.
//!
//! **Departures.** The mean over several samples, with the spread; the paper shows one sample.

use amidst::Failure;
use amidst::sample::drawn;

use super::diversity::{Kind, LS};
use crate::experiment::{Chart, Claim, Context, Experiment, Outcome, Paper, Sheet};
use crate::trial::Trial;

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "article-figures-15-18",
    paper: Paper::Article,
    place: "Figures 15 to 18",
    title: "height, group size and discernibility of the best tables",
    claim: "the best ℓ-diverse tables are close to the best k-anonymous ones, and recursive diversity costs no more than entropy \
            diversity",
    measured: "5 % Bernoulli samples; least height, mean group size (rows over groups) and discernibility over all minimal tables; \
               the mean over the samples",
    departures: &["Several samples instead of one, with their spread."],
    adult: true,
    run,
};

const SIZES: [(usize, usize); 4] = [(15, 3), (16, 4), (17, 5), (18, 7)];
const METRICS: [&str; 3] = ["height", "mean group size", "discernibility"];

/// Mean, minimum and maximum over the samples in which the requirement can be satisfied; `None` if there is none.
fn spread(values: &[f64]) -> Option<[f64; 3]> {
    let (sum, least, most) =
        values.iter().fold((0.0, f64::INFINITY, 0.0f64), |(s, l, m), &v| (s + v, l.min(v), m.max(v)));
    (!values.is_empty()).then(|| [sum / values.len() as f64, least, most])
}

/// The least height, mean group size and discernibility; `None` if no table satisfies the requirement.
fn least(trial: &Trial, kind: Kind, l: u64, context: &Context<'_>) -> Result<Option<[f64; 3]>, Failure> {
    let requirements = [kind.require(trial, l)?];
    let minimal = trial.minimal(&requirements, "discernibility", context.cancel)?;
    let rows = trial.set.rows as f64;
    let figures = minimal.iter().map(|node| {
        let height: usize = node.levels.iter().sum();
        [height as f64, rows / node.classes.max(1) as f64, node.cost]
    });
    Ok(figures.reduce(|a, b| [a[0].min(b[0]), a[1].min(b[1]), a[2].min(b[2])]))
}

fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
    let adult = context.adult;
    let seeds: Vec<u64> = if context.quick { vec![1, 2] } else { (1..=10).collect() };
    let share = amidst::core::parameter::Rational::ratio(1, 20);
    let mut table =
        Sheet::new(["figure", "quasi columns", "l", "requirement", "metric", "mean", "least", "most", "samples"]);
    let mut charts = Vec::new();
    // For each size, metric and kind, the means for every l.
    let mut curves: Vec<[[Vec<Option<f64>>; 3]; 3]> = Vec::new();
    let mut of_all: Vec<f64> = Vec::new();
    for (done, (figure, size)) in SIZES.into_iter().enumerate() {
        let size = size.min(adult.quasi.len());
        let mut trials = Vec::new();
        for &seed in &seeds {
            let mut sample = adult.table.clone();
            drawn::draw(&mut sample, &share, seed);
            trials.push(Trial::new(&sample, adult.first(size), &[adult.occupation])?);
        }
        let mut means: [[Vec<Option<f64>>; 3]; 3] = Default::default();
        for (n, l) in LS.into_iter().enumerate() {
            context.step(done * LS.len() + n, SIZES.len() * LS.len())?;
            for (k, kind) in Kind::ALL.into_iter().enumerate() {
                let found = trials
                    .iter()
                    .map(|trial| least(trial, kind, l, context))
                    .collect::<Result<Vec<Option<[f64; 3]>>, Failure>>()?;
                for (m, metric) in METRICS.into_iter().enumerate() {
                    let values: Vec<f64> = found.iter().flatten().map(|f| f[m]).collect();
                    let spread = spread(&values);
                    let text = |i: usize| spread.map_or("–".to_string(), |s| format!("{:.2}", s[i]));
                    table.push([
                        figure.to_string(),
                        size.to_string(),
                        l.to_string(),
                        kind.name().to_string(),
                        metric.to_string(),
                        text(0),
                        text(1),
                        text(2),
                        values.len().to_string(),
                    ]);
                    means[m][k].push(spread.map(|s| s[0]));
                }
            }
        }
        for (metric, means) in METRICS.into_iter().zip(&means) {
            let mut chart = Chart::new(&format!("Figure {figure}: {size} quasi columns"), "k, ℓ", metric, LS);
            for (kind, points) in Kind::ALL.into_iter().zip(means) {
                chart.add(kind.name(), points.clone());
            }
            charts.push(chart);
        }
        curves.push(means);
        of_all.extend(steps_of_all(size, context)?);
    }
    let settings = vec![("share".into(), "5 %".into()), ("seeds".into(), format!("1 to {}", seeds.len()))];
    Ok(Outcome { table, charts, claims: claims(&curves, &of_all), settings, ..Outcome::default() })
}

/// For every ℓ, how many more generalization steps diversity takes than k-anonymity in the whole table.
fn steps_of_all(size: usize, context: &Context<'_>) -> Result<Vec<f64>, Failure> {
    let adult = context.adult;
    let trial = Trial::new(&adult.table, adult.first(size), &[adult.occupation])?;
    let mut steps = Vec::new();
    for l in LS {
        let height = |kind| Ok::<Option<f64>, Failure>(least(&trial, kind, l, context)?.map(|figures| figures[0]));
        let of_k = height(Kind::K)?;
        for &kind in &Kind::ALL[1..] {
            steps.extend(height(kind)?.zip(of_k).map(|(height, of_k)| height - of_k));
        }
    }
    Ok(steps)
}

/// The article's claims, judged by the curves; `of_all` are the steps in the whole table.
fn claims(curves: &[[[Vec<Option<f64>>; 3]; 3]], of_all: &[f64]) -> Vec<Claim> {
    let heights = curves.iter().flat_map(|c| {
        let [k, entropy, recursive] = &c[0];
        k.iter()
            .zip(entropy)
            .chain(k.iter().zip(recursive))
            .filter_map(|(a, b)| Some((*b)? - (*a)?))
            .collect::<Vec<_>>()
    });
    let steps: Vec<f64> = heights.collect();
    let equal = steps.iter().filter(|s| s.abs() < 0.5).count();
    let most = steps.iter().copied().fold(0.0, f64::max);
    let mean = steps.iter().sum::<f64>() / steps.len().max(1) as f64;
    let usual = equal * 2 > steps.len();
    let same_in_all = of_all.iter().filter(|s| **s == 0.0).count();
    let why_equal = format!(
        "in {equal} of {} comparisons the least heights differ by less than half a step; in the whole table {same_in_all} of {} are \
         identical{}",
        steps.len(),
        of_all.len(),
        if usual {
            ""
        } else {
            ". k-anonymity asks for ℓ rows and diversity for ℓ different occupations, which groups of little more than ℓ rows hardly \
             ever have: in a twentieth of the rows the smallest groups are that small, and the next step is needed. The article \
             shows one sample, whose seed is not known, and no numbers beside its bars"
        }
    );
    let why_few = format!("{mean:.2} steps more on average, {most:.1} at most");
    let pairs = curves.iter().flat_map(|c| (1..3).flat_map(move |m| c[m][2].iter().zip(&c[m][1])));
    let ratios: Vec<f64> = pairs.filter_map(|(recursive, entropy)| Some((*recursive)? / (*entropy)?)).collect();
    let dearer = ratios.iter().filter(|r| **r > 1.0 + 1e-12).count();
    let largest = ratios.iter().copied().fold(0.0, f64::max);
    let why_cheaper = match dearer {
        0 => "so in every figure and for every ℓ".to_string(),
        _ => format!(
            "so in {} of {} comparisons, and {:.1} % more at most in the others: the article says \"generally\", and neither definition \
             implies the other. A group with 6, 3, 3, 3, 3, 1 and 1 rows of seven values is entropy 6-diverse, but not recursive \
             (3,6)-diverse, since 6 < 3·(1 + 1) is false",
            ratios.len() - dearer,
            ratios.len(),
            (largest - 1.0) * 100.0
        ),
    };
    vec![
        Claim::judged(
            "Diversity does not take many more steps than k-anonymity: one on average.",
            mean <= 1.0,
            why_few,
        ),
        Claim::judged("The least heights for equal k and ℓ are usually identical.", usual, why_equal),
        Claim::judged(
            "Recursive (3,ℓ)-diversity costs no more than entropy ℓ-diversity, in group size and discernibility.",
            dearer == 0,
            why_cheaper,
        ),
    ]
}
