//! The ℓ-diversity article's Figures 9 and 11, number for number: the minimal k-anonymous tables of Adult for seven k,
//! how many of them hold (nearly) homogeneous classes, and the average numbers of such classes and rows.

use amidst_core::control::Control;
use amidst_core::frequency::{self, FrequencySet};
use amidst_core::internal::lattice;
use amidst_core::parameter::{Parameters, Value};
use amidst_core::requirement::Requirement;
use amidst_core::search::{MaxSuppression, Search, Suppressed};
use amidst_core::{metric, model};
use amidst_testkit::adult;

/// A line of a figure: tables affected, average classes and average rows affected.
type Line = (usize, &'static str, &'static str);

/// k, the number of minimal k-anonymous tables, the line of Figure 9, the line of Figure 11.
const FIGURES: [(u64, usize, Line, Line); 7] = [
    (2, 8, (8, "7.38", "558.00"), (8, "20.50", "13574.5")),
    (5, 12, (11, "3.58", "381.58"), (12, "12.67", "13328.3")),
    (10, 12, (10, "1.75", "300.42"), (12, "7.83", "10796.5")),
    (15, 8, (7, "2.12", "317.25"), (8, "8.88", "12009.4")),
    (20, 10, (8, "1.20", "228.20"), (10, "7.10", "11041.0")),
    (30, 10, (7, "0.90", "215.40"), (10, "5.50", "11177.0")),
    (50, 5, (5, "1.00", "202.80"), (5, "5.80", "8002.0")),
];

/// Whether `sum / count` is what was printed, to the digits printed; a last digit 5 may have been cut or rounded up.
fn printed(sum: u64, count: usize, text: &str) -> bool {
    let unit = 10f64.powi(-(text.split('.').nth(1).map_or(0, str::len) as i32));
    let value: f64 = text.parse().unwrap_or(f64::NAN);
    (sum as f64 / count as f64 - value).abs() <= unit / 2.0 + 1e-9
}

#[test]
fn figures_9_and_11_come_out_number_for_number() {
    let Some(table) = adult::read("adult_tkdd.csv", usize::MAX) else {
        return skipped();
    };
    let names = ["age", "sex", "race", "marital-status", "education"];
    let Some((quasi, generalizations)) = adult::quasi(&table, "hierarchies", &names) else {
        return skipped();
    };
    let sensitive = table.position("salary-class-paper").expect("the column of the article");
    let (set, _) = FrequencySet::count(&table, &quasi, &[sensitive], None);
    assert_eq!(set.rows, 45_222);
    let options = Parameters::default();
    for (k, total, exact, nearly) in FIGURES {
        let mut parameters = Parameters::default();
        parameters.set("k", Value::Number(k.into()));
        let entry = model::find("k-anonymity").expect("a model");
        let requirements = [Requirement::new(entry, parameters, vec![], &[]).expect("a requirement")];
        let search = Search {
            set: &set,
            generalizations: &generalizations,
            requirements: &requirements,
            metric: metric::find("height").expect("a metric"),
            max_suppression: MaxSuppression::Rows(0),
            suppressed: Suppressed::Drop,
            k,
            options: &options,
            entry_of_row: None,
            seed: 1,
            control: Control::default(),
        };
        let minimal = lattice::minimal(&search).expect("a search");
        assert_eq!(minimal.len(), total, "k = {k}");
        for (percent, (affected, classes, rows)) in [(100, exact), (95, nearly)] {
            let mut sums = (0, 0, 0);
            for node in &minimal {
                let recoding = lattice::recoding(&search, &node.levels).expect("a node").expect("a valid node");
                let (groups, _) = recoding.groups(&set);
                let hit: Vec<u64> = (groups.iter())
                    .filter(|entries| {
                        let top = frequency::histogram(&set, entries, 0).iter().map(|h| h.1).max().unwrap_or(0);
                        top * 100 >= frequency::rows(entries) * percent
                    })
                    .map(frequency::rows)
                    .collect();
                sums = (
                    sums.0 + usize::from(!hit.is_empty()),
                    sums.1 + hit.len() as u64,
                    sums.2 + hit.iter().sum::<u64>(),
                );
            }
            assert_eq!(sums.0, affected, "k = {k}, {percent} %");
            assert!(printed(sums.1, total, classes), "k = {k}, {percent} %: {} / {total} is not {classes}", sums.1);
            assert!(printed(sums.2, total, rows), "k = {k}, {percent} %: {} / {total} is not {rows}", sums.2);
        }
    }
}

#[expect(clippy::print_stderr, reason = "tells that the data is not there")]
fn skipped() {
    eprintln!("skipped: the Adult data is not there");
}
