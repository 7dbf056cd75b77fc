//! General (α, k)-anonymity.
//!
//! **Definition.** A class has at least k rows, and no sensitive value is more than the share α of them: n_s/n ≤ α.
//!
//! **Source.** Wong et al. 2006; survey Definition 12.
//!
//! **Monotone**: each share of a merged class lies between the two shares.
//!
//! **Cost**: one pass for the largest count, one comparison.

use super::{Audit, Bound, Entry, Level, Needs, PrivacyModel, Sensitive};
use crate::class::{Class, TableStats};
use crate::exact::Rational;
use crate::parameter::{Kind, Measured, Parameter};

pub(super) const ENTRY: Entry = Entry {
    id: "general-alpha-k-anonymity",
    title: "general (α, k)-anonymity",
    definition: "n ≥ k and n_s/n ≤ α for every sensitive value s, in every class",
    citation: "Wong et al. 2006; survey Definition 12",
    meaning: "a person stands amidst at least {k} rows, and no value of {on} is likelier among them than {alpha}",
    parameters: &[
        Parameter::required("alpha", Kind::Number, "the largest share of any value, 0 to 1").measured(Measured::From),
        Parameter::required("k", Kind::Count, "the least number of rows a class may have"),
    ],
    sensitive: Sensitive::OneOrMany,
    audit: &[Audit::of("alpha", &[("alpha", "1"), ("k", "1")])],
    build: |parameters, _| Ok(Box::new(GeneralAlphaK { alpha: parameters.share("alpha")?, k: parameters.count("k")? })),
};

#[derive(Debug)]
struct GeneralAlphaK {
    alpha: Rational,
    k: u64,
}

fn largest(class: &Class<'_>) -> u64 {
    class.histogram.iter().map(|c| c.1).max().unwrap_or(0)
}

impl PrivacyModel for GeneralAlphaK {
    fn needs(&self) -> Needs {
        Needs::Histogram
    }

    fn monotone(&self) -> bool {
        true
    }

    fn least_different(&self, _table: &TableStats) -> u64 {
        // The most frequent of d values is at least one in d.
        ((1.0 / self.alpha.to_f64().max(1e-9) - 1e-9).ceil() as u64).max(1)
    }

    fn least_rows(&self, _table: &TableStats) -> u64 {
        // One row of each value is the most varied a class can be: it takes 1/α of them. A hair less, against rounding.
        self.k.max((1.0 / self.alpha.to_f64().max(1e-9) - 1e-9).ceil() as u64)
    }

    fn least_ratio(&self) -> u64 {
        // The largest r with r·α ≤ 1; more than that many values are not asked about.
        const MOST: u64 = 1_000;
        (1..=MOST).take_while(|&ratio| self.alpha.compare_count(1, ratio).is_ge()).last().unwrap_or(1)
    }

    fn bounds_shares(&self) -> bool {
        true
    }

    fn strictest_share(&self) -> Option<Rational> {
        Some(self.alpha.clone()).filter(|alpha| !alpha.is_zero())
    }

    fn holds(&self, class: &Class<'_>, _table: &TableStats) -> bool {
        class.size >= self.k && self.alpha.compare_count(largest(class), class.size).is_le()
    }

    fn measure(&self, class: &Class<'_>, _table: &TableStats) -> Level {
        let holds = class.size >= self.k;
        Level::smallest("alpha", if holds { Bound::ratio(largest(class), class.size) } else { Bound::Never })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{build, number};
    use super::*;

    #[test]
    fn the_most_frequent_value_decides() {
        let model = |alpha, k| build(&ENTRY, &[("alpha", number(alpha)), ("k", number(k))]).unwrap();
        let (class, table) = (Class::of(&[(0, 2), (1, 1)]), TableStats::default());
        assert!(model("2/3", "3").holds(&class, &table));
        assert!(!model("0.6666", "3").holds(&class, &table));
        assert_eq!(model("1", "3").measure(&class, &table).bound, Bound::ratio(2, 3));
        assert_eq!(model("1", "4").measure(&class, &table).bound, Bound::Never);
    }
}
