//! A privacy model of one's own: no class may have a value that more than half of it share, nor fewer than four rows.

#![allow(clippy::print_stdout)] // An example shows what it does.

use amidst::core::class::{Class, TableStats};
use amidst::core::model::{Bound, Entry, Level, Needs, PrivacyModel, Sensitive};
use amidst::core::parameter::Parameters;
use amidst::core::requirement::Requirement;
use amidst::core::{algorithm, search::Search};
use amidst::prelude::*;

static HALF: Entry = Entry {
    id: "half",
    title: "at most half",
    definition: "at least four rows, and no sensitive value in more than half of them",
    citation: "this example",
    meaning: "no value of {on} is held by more than half of the rows that look like a person's",
    parameters: &[],
    sensitive: Sensitive::One,
    audit: &[],
    build: |_, _| Ok(Box::new(Half)),
};

#[derive(Debug)]
struct Half;

impl PrivacyModel for Half {
    fn needs(&self) -> Needs {
        Needs::Histogram
    }

    /// Merged classes have sums of both: where neither exceeds a half, the sum does not.
    fn monotone(&self) -> bool {
        true
    }

    fn holds(&self, class: &Class<'_>, _: &TableStats) -> bool {
        class.size >= 4 && class.histogram.iter().all(|&(_, rows)| rows * 2 <= class.size)
    }

    fn measure(&self, class: &Class<'_>, _: &TableStats) -> Level {
        Level::largest("rows", Bound::Exact(class.size.into()))
    }
}

fn main() -> Result<(), Failure> {
    let values = ["flu", "cancer", "flu", "angina", "cancer", "flu", "angina", "flu"];
    let ages = ["21", "22", "24", "29", "31", "36", "37", "39"];
    let table = Table::from_rows(["age", "disease"], ages.into_iter().zip(values).map(|(a, d)| [a, d]));
    let policy = Policy::builder().quasi("age", intervals([5, 10, 20])).sensitive("disease").build()?;
    let prepared = Prepared::of_table(&policy, table, &Default::default())?;
    let own = Requirement::new(&HALF, Parameters::none(), vec![0], &prepared.domains);
    let requirements = [own.map_err(|e| Failure::Usage(e.to_string()))?];
    let search = Search::new(&prepared.set, &prepared.generalizations, &requirements).with_k(4);
    let optimal = algorithm::find("optimal").ok_or_else(|| Failure::Usage("no such algorithm".into()))?;
    let found = optimal.algorithm.search(&search)?;
    println!("level of age: {:?}, {} classes", found.recoding.levels, found.recoding.classes.len());
    Ok(())
}
