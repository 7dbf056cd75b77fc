//! **Paper.** Survey, Tables 1 to 4.
//!
//! **Claim.** Table 1 is 3-anonymous; Table 3 is distinct and entropy 3-diverse, and still tells that Bob earns little
//! and has a stomach problem; Table 4 is complete (α,3)-anonymous for HIV, Cancer 0.4 and flu, fever 0.9.
//!
//! **Measured.** By the models, on the classes that the tables print.
//!
//! **Departures.** None.

use amidst::Failure;
use amidst::core::parameter::Value;

use super::classes::{judged, text, word};
use crate::experiment::{Claim, Context, Experiment, Outcome, Paper, Printed};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "survey-tables",
    paper: Paper::Survey,
    place: "Tables 1 to 4",
    title: "worked tables",
    claim: "Table 1 is 3-anonymous, Table 3 is 3-diverse and open to similarity, Table 4 is complete (α,3)-anonymous",
    measured: "by the models, on the classes that the tables print",
    departures: &[],
    adult: false,
    run,
};

/// Table 1: colour, gender, ZIP.
const TABLE_1: [[&str; 3]; 7] = [
    ["Black", "M", "560054"],
    ["Black", "M", "560054"],
    ["Black", "M", "560054"],
    ["White", "F", "540064"],
    ["White", "F", "540064"],
    ["White", "F", "540064"],
    ["Black", "F", "540064"],
];

/// The salaries of Tables 2 and 3 in thousands; the first three are of one class.
const SALARIES: [u32; 9] = [3, 4, 5, 6, 11, 8, 7, 9, 10];

fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
    context.step(0, 1)?;
    let alone = |row: &[&str; 3]| TABLE_1.iter().filter(|other| *other == row).count();
    let k = TABLE_1.iter().map(alone).min().unwrap_or(0) as f64;
    let bob = &SALARIES[..3];
    let (low, high) = (bob.iter().copied().min().unwrap_or(0), bob.iter().copied().max().unwrap_or(0));
    let classes = [
        [("gastric ulcer", 1), ("gastritis", 1), ("stomach cancer", 1)],
        [("gastritis", 1), ("flu", 1), ("bronchitis", 1)],
        [("bronchitis", 1), ("pneumonia", 1), ("stomach cancer", 1)],
    ];
    let least = |id: &str| -> Result<f64, Failure> {
        let figures =
            classes.iter().map(|c| Ok(judged(id, &[("l", text("1"))], c)?.1)).collect::<Result<Vec<f64>, Failure>>()?;
        Ok(figures.into_iter().fold(f64::INFINITY, f64::min))
    };
    let stomach = ["gastric ulcer", "gastritis", "stomach cancer"];
    let alike = classes.iter().filter(|c| c.iter().all(|(value, _)| stomach.contains(value))).count();
    let table_4 =
        [vec![("HIV", 1), ("flu", 1), ("fever", 1), ("Cancer", 1)], vec![("Cancer", 1), ("flu", 1), ("HIV", 1)]];
    let bounds = [("HIV", "0.4"), ("Cancer", "0.4"), ("flu", "0.9"), ("fever", "0.9")];
    let bounds = Value::Table(bounds.iter().map(|(v, b)| ((*v).to_string(), text(b))).collect());
    let mut complete = true;
    for class in &table_4 {
        // A class may lack a value that has a bound.
        let mut counts = class.clone();
        counts.extend(
            [("HIV", 0), ("Cancer", 0), ("flu", 0), ("fever", 0)]
                .into_iter()
                .filter(|v| !class.iter().any(|c| c.0 == v.0)),
        );
        complete &= judged("complete-alpha-k-anonymity", &[("alpha", bounds.clone()), ("k", text("3"))], &counts)?.0;
    }
    let printed = vec![
        Printed::number("Table 1: k on {colour, gender, ZIP}", "3", k).remark(
            "t7 (black, female, 540064) is alone in its class, so the table is 1-anonymous as printed (erratum)",
        ),
        Printed::number("Table 3: distinct values of each class", "3", least("distinct-l-diversity")?),
        Printed::number("Table 3: entropy diversity", "3", least("entropy-l-diversity")?),
        Printed::number("Table 3: classes with stomach diseases only", "1", alike as f64),
        Printed::number("Table 3: least salary of Bob's class, in thousands", "3", f64::from(low)),
        Printed::number("Table 3: greatest salary of Bob's class, in thousands", "5", f64::from(high)),
        Printed::text("Table 4: complete (α,3)-anonymity with 0.4 and 0.9", "holds", word(complete)),
    ];
    let claims = vec![
        Claim::judged("Table 1 is 3-anonymous.", k >= 3.0, "t7 shares its colour, gender and ZIP with nobody"),
        Claim::judged(
            "Table 3 is distinct and entropy 3-diverse.",
            printed[1].agrees && printed[2].agrees,
            "each class has three values once",
        ),
        Claim::judged(
            "A 3-diverse table is still open to the similarity attack.",
            alike == 1,
            "the first class has stomach diseases only",
        ),
        Claim::judged("Table 4 is complete (α,3)-anonymous.", complete, "1/3 and 1/4 are at most 0.4"),
    ];
    Ok(Outcome { printed, claims, ..Outcome::default() })
}
