//! **Paper.** ℓ-diversity article, worked examples: §1.1, Figures 1 to 6, §4.2, Algorithm 1, §4.3, Theorem 5.1, §6.
//!
//! **Claim.** The numbers printed there.
//!
//! **Measured.** Each by the model or attack that the article defines, on the table that it prints.
//!
//! **Departures.** None; where a printed statement is wrong, the remark says why.

use amidst::Failure;
use amidst::core::class::Population;
use amidst::core::internal::sensitive::belief::{beliefs, covered};
use amidst::core::parameter::Value;

use super::classes::{judged, text, word};
use crate::experiment::{Claim, Context, Experiment, Outcome, Paper, Printed};
use crate::trial::Trial;

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "article-examples",
    paper: Paper::Article,
    place: "Figures 1 to 6, §1.1, §4.2, §4.3, Algorithm 1, Theorem 5.1",
    title: "worked examples",
    claim: "the numbers that the article works out by hand",
    measured: "by the models themselves, on the tables and counts that the article prints",
    departures: &[],
    adult: true,
    run,
};

/// The classes of Figure 2, the 4-anonymous table, and of Figure 4, the 3-diverse one.
const FIGURE_2: [&[(&str, u64)]; 3] = [
    &[("Heart Disease", 2), ("Viral Infection", 2)],
    &[("Cancer", 1), ("Heart Disease", 1), ("Viral Infection", 2)],
    &[("Cancer", 4)],
];
const FIGURE_4: [&[(&str, u64)]; 3] = [
    &[("Heart Disease", 1), ("Viral Infection", 1), ("Cancer", 2)],
    &[("Cancer", 1), ("Heart Disease", 1), ("Viral Infection", 2)],
    &[("Heart Disease", 1), ("Viral Infection", 1), ("Cancer", 2)],
];

/// The minimum over classes of the figure that a model measures.
fn least(id: &str, parameters: &[(&str, Value)], classes: &[&[(&str, u64)]]) -> Result<f64, Failure> {
    let figures =
        classes.iter().map(|class| Ok(judged(id, parameters, class)?.1)).collect::<Result<Vec<f64>, Failure>>()?;
    Ok(figures.into_iter().fold(f64::INFINITY, f64::min))
}

fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
    context.step(0, 1)?;
    let one = || text("1");
    let mut printed = vec![
        Printed::number("§1.1: groups of a 5-anonymous table of 60,000 rows", "12000", 60_000.0 / 5.0),
        Printed::number("§1.1: one of so many groups of 5 has no diversity among three values", "81", 3f64.powi(4)),
        Printed::number("§1.1: groups without diversity", "148", 12_000.0 / 81.0),
        Printed::number("§1.1: people in them", "740", 148.0 * 5.0),
        Printed::number("Figure 2: k", "4", least("k-anonymity", &[("k", one())], &FIGURE_2)?),
        Printed::number(
            "Figure 2: rows whose group has one value (Bob's)",
            "4",
            FIGURE_2.iter().filter(|c| c.len() == 1).map(|c| c[0].1).sum::<u64>() as f64,
        ),
        Printed::number("Figure 4: distinct values", "3", least("distinct-l-diversity", &[("l", one())], &FIGURE_4)?),
        Printed::number(
            "§4.2: Figure 4 is so entropy-diverse",
            "2.8",
            least("entropy-l-diversity", &[("l", one())], &FIGURE_4)?,
        ),
    ];
    printed.extend(ninety_percent()?);
    printed.extend(algorithm_1()?);
    printed.extend(theorem_5_1());
    let several = several_columns()?;
    printed.extend(several);
    if !context.adult.stand_in {
        printed.extend(adult_facts(context)?);
    }
    let wrong: Vec<&Printed> = printed.iter().filter(|p| !p.agrees).collect();
    let why = match wrong.is_empty() {
        true => format!("all {} come out", printed.len()),
        false => format!("{} of {} come out; {}", printed.len() - wrong.len(), printed.len(), wrong[0].remark),
    };
    let claims = vec![Claim::judged("The worked examples come out as printed.", wrong.is_empty(), why)];
    Ok(Outcome { printed, claims, ..Outcome::default() })
}

/// §4.2: with 90 % heart disease no c up to 9 suffices.
fn ninety_percent() -> Result<Vec<Printed>, Failure> {
    let counts = [("Heart Disease", 90), ("Flu", 5), ("Cancer", 5)];
    let recursive = |c: &str| {
        Ok::<bool, Failure>(judged("recursive-c-l-diversity", &[("c", text(c)), ("l", text("2"))], &counts)?.0)
    };
    Ok(vec![
        Printed::text("§4.2: 90 % heart disease, recursive (8.9, 2)", "fails", word(recursive("8.9")?)),
        Printed::text("§4.2: 90 % heart disease, recursive (9.1, 2)", "holds", word(recursive("9.1")?))
            .remark("the article says it of c < 9; the bound itself fails, too: 90 < 9·10 is false"),
    ])
}

/// The run of Algorithm 1: its log-entropic means, and the adjusted entropy.
fn algorithm_1() -> Result<Vec<Printed>, Failure> {
    let mean = |counts: &[f64]| counts.iter().map(|c| c * c.ln()).sum::<f64>() / counts.iter().sum::<f64>();
    let last = mean(&[2.0, 3.0, 3.0, 4.0]);
    let lowered = [last.exp(), last.exp(), 3.0, 2.0, 3.0, 4.0];
    let total: f64 = lowered.iter().sum();
    let entropy: f64 = -lowered.iter().map(|x| x / total * (x / total).ln()).sum::<f64>();
    let counts = [("y1", 11), ("y2", 10), ("y3", 3), ("y4", 2), ("s1", 3), ("s2", 4)];
    let dont_care = Value::List(["y1", "y2", "y3", "y4"].map(text).to_vec());
    let (_, l) = judged("entropy-l-diversity", &[("l", text("1")), ("dont_care", dont_care)], &counts)?;
    Ok(vec![
        Printed::number("Algorithm 1: log-entropic mean of s1, s2", "1.263", mean(&[3.0, 4.0])),
        Printed::number("Algorithm 1: with y4", "1.136", mean(&[2.0, 3.0, 4.0])),
        Printed::number("Algorithm 1: with y3 and y4", "1.127", last),
        Printed::number("Algorithm 1: adjusted entropy, by hand as described", &format!("{entropy:.6}"), l.ln())
            .remark("the article describes the number and does not print it; the model's must be the same"),
    ])
}

/// Theorem 5.1: beliefs before and after, for separate and for joined classes.
fn theorem_5_1() -> Vec<Printed> {
    let f =
        Population { totals: vec![50, 50], histograms: vec![vec![(0, 15), (1, 35)], vec![(0, 25), (1, 25)]], scale: 1 };
    let n = [vec![(0, 1), (1, 1)], vec![(0, 35), (1, 15)]];
    let mut printed = Vec::new();
    let texts = [[("0.3", "0.5"), ("0.7", "0.5")], [("0.5", "0.7"), ("0.5", "0.3")]];
    for (q, texts) in texts.iter().enumerate() {
        let found = beliefs(&f.histograms[q], &covered(&f, &[q as u32]), &n[q]).unwrap_or_default();
        for (s, (belief, (prior, posterior))) in found.iter().zip(texts).enumerate() {
            let what = format!("Theorem 5.1: of (q{}, s{})", q + 1, s + 1);
            printed.push(Printed::number(format!("{what} the prior"), prior, belief.prior.to_f64()));
            printed.push(Printed::number(format!("{what} the posterior in T"), posterior, belief.posterior.to_f64()));
        }
    }
    let joined = beliefs(&f.histograms[0], &covered(&f, &[0, 1]), &[(0, 36), (1, 16)]).unwrap_or_default();
    let rise = joined.first().map_or(f64::NAN, |b| b.posterior.to_f64());
    printed.push(Printed::number("Theorem 5.1: of (q1, s1) the posterior in T*", "0.59", rise));
    printed
}

/// §4.3: each column alone is diverse, both together are not.
fn several_columns() -> Result<Vec<Printed>, Failure> {
    let s = [("s1", 2), ("s2", 1), ("s3", 1)];
    let recursive =
        |c: &str| Ok::<bool, Failure>(judged("recursive-c-l-diversity", &[("c", text(c)), ("l", text("3"))], &s)?.0);
    // The rows whose S is not s1 have V = v3.
    let (_, left) = judged("distinct-l-diversity", &[("l", text("1"))], &[("v3", 2)])?;
    Ok(vec![
        Printed::number("§4.3: distinct values of S", "3", judged("distinct-l-diversity", &[("l", text("1"))], &s)?.1),
        Printed::text("§4.3: S is recursive (2,3)-diverse", "holds", word(recursive("2")?))
            .remark("2 < 2·1 is false, so recursive (2,3)-diversity fails; it holds for any c above 2 (erratum)"),
        Printed::text("§4.3: S is recursive (2.01,3)-diverse", "holds", word(recursive("2.01")?)),
        Printed::number("§4.3: values of V left once S is known not to be s1", "1", left),
    ])
}

/// §6: the article's statements about the whole of Adult.
fn adult_facts(context: &Context<'_>) -> Result<Vec<Printed>, Failure> {
    let adult = context.adult;
    let trial = Trial::new(&adult.table, adult.first(1), &[adult.occupation])?;
    let domain = &trial.domains[0].dictionary;
    let column = adult.table.column(adult.occupation);
    let counts = column.map(|c| c.counts()).unwrap_or_default();
    let counts: Vec<(&str, u64)> = (0u32..).zip(counts).map(|(code, n)| (domain.value(code), n)).collect();
    let entropy = judged("entropy-l-diversity", &[("l", text("1"))], &counts)?.1;
    let (recursive, _) = judged("recursive-c-l-diversity", &[("c", text("3")), ("l", text("12"))], &counts)?;
    Ok(vec![
        Printed::number("§6: rows of Adult", "45222", adult.table.rows as f64),
        Printed::number("§6: the occupations are so entropy-diverse", "10.57", entropy),
        Printed::text("§6: some table of Adult is recursive (3,12)-diverse", "fails", word(recursive))
            .remark("what the whole table fails, every generalization of it fails"),
    ])
}
