//! **Paper.** ℓ-diversity article, Figures 9 and 11 (§6, "Homogeneity attack").
//!
//! **Claim.** For k = 2 … 50, the number of minimal k-anonymous tables of Adult with groups that are (nearly)
//! homogeneous in salary class, and the mean numbers of such groups and their rows: 49 numbers.
//!
//! **Measured.** All minimal nodes of the lattice for each k; in each of their tables the groups in which all, or 95 %,
//! of the rows agree.
//!
//! **Departures.** None; the salary class is read as the authors must have read it.

use amidst::Failure;

use super::homogeneity::{lines, shown};
use crate::experiment::{Claim, Context, Experiment, Outcome, Paper, Printed};
use crate::trial::Trial;

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "article-figures-9-11",
    paper: Paper::Article,
    place: "Figures 9 and 11",
    title: "homogeneity attack on Adult",
    claim: "the homogeneity attack affects many of the minimal k-anonymous tables, also for large k",
    measured: "every minimal node of the lattice of {age, gender, race, marital status, education} for each k; groups whose rows \
               all, or to 95 %, have one salary class",
    departures: &[
        "The labels of Adult's test half end in a dot; the printed numbers come out only if they all count as \
                   \"not above 50K\", so that is how they are read here.",
    ],
    adult: true,
    run,
};

/// k, tables, (affected, groups, rows) of Figure 9, the same of Figure 11.
type Row = (u64, &'static str, [&'static str; 3], [&'static str; 3]);
const PRINTED: [Row; 7] = [
    (2, "8", ["8", "7.38", "558.00"], ["8", "20.50", "13574.5"]),
    (5, "12", ["11", "3.58", "381.58"], ["12", "12.67", "13328.3"]),
    (10, "12", ["10", "1.75", "300.42"], ["12", "7.83", "10796.5"]),
    (15, "8", ["7", "2.12", "317.25"], ["8", "8.88", "12009.4"]),
    (20, "10", ["8", "1.20", "228.20"], ["10", "7.10", "11041.0"]),
    (30, "10", ["7", "0.90", "215.40"], ["10", "5.50", "11177.0"]),
    (50, "5", ["5", "1.00", "202.80"], ["5", "5.80", "8002.0"]),
];

fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
    let adult = context.adult;
    let trial = Trial::new(&adult.table, adult.first(5), &[adult.salary])?;
    let lines = lines(&trial, context)?;
    let mut printed = Vec::new();
    for (line, (k, tables, exact, nearly)) in lines.iter().zip(PRINTED).filter(|_| !adult.stand_in) {
        printed.push(Printed::number(format!("k = {k}: minimal tables"), tables, line.tables as f64));
        for (figure, found, texts) in [(9, line.exact, exact), (11, line.nearly, nearly)] {
            let place = format!("k = {k}, Figure {figure}");
            printed.push(Printed::number(format!("{place}: tables affected"), texts[0], found.0 as f64));
            printed.push(Printed::number(format!("{place}: mean groups affected"), texts[1], found.1));
            printed.push(Printed::number(format!("{place}: mean rows affected"), texts[2], found.2));
        }
    }
    let large = lines.iter().filter(|l| l.k >= 30);
    let concern = large.clone().all(|l| l.nearly.0 > 0);
    let told: Vec<String> = large.map(|l| format!("{} of {} tables for k = {}", l.nearly.0, l.tables, l.k)).collect();
    let agreeing = printed.iter().filter(|p| p.agrees).count();
    let mut claims = vec![Claim::judged(
        "Even for large k (30, 50) there are minimal tables with nearly homogeneous groups.",
        concern,
        told.join(", "),
    )];
    if !adult.stand_in {
        let why = format!("{agreeing} of {} come out as printed", printed.len());
        claims.insert(0, Claim::judged("The 49 numbers of both figures come out.", agreeing == printed.len(), why));
    }
    let (table, charts) = shown(&lines);
    Ok(Outcome { table, charts, printed, claims, settings: vec![("sensitive".into(), adult.salary.into())] })
}
