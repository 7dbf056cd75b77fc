//! Recursive (c, l)-diversity.
//!
//! **Definition.** r₁ < c·(r_l + r_{l+1} + … + r_m), with r₁ ≥ r₂ ≥ … ≥ r_m the counts of the class's values: the most
//! frequent value stays rare enough after l − 2 others are ruled out. l = 1 always holds; fewer than l values fail.
//!
//! **Source.** ℓ-diversity article Definition 4.2 (the survey prints it wrongly).
//!
//! **Monotone**: Theorem 5.3 without don't-care values.
//!
//! **Cost**: one pass for the l − 1 largest counts.

use super::{Audit, Bound, Entry, Level, Needs, PrivacyModel, Sensitive};
use crate::class::{Class, TableStats};
use crate::exact::Rational;
use crate::exact::largest_part::most_under_a_cap;
use crate::exact::recursive::Tail;
use crate::parameter::{Kind, Measured, Parameter};

pub(super) const ENTRY: Entry = Entry {
    id: "recursive-c-l-diversity",
    title: "recursive (c, l)-diversity",
    definition: "r₁ < c·(r_l + … + r_m) over the sorted counts of every class",
    citation: "Machanavajjhala et al. 2007, Definition 4.2",
    meaning: "the most frequent value of {on} in a person's class stays below {c} times the rarer ones together (l \
              = {l}), so no guess is nearly certain",
    parameters: &[
        Parameter::required("c", Kind::Number, "how many times the tail the most frequent value must stay below")
            .measured(Measured::Above),
        Parameter::required("l", Kind::Count, "one more than the number of frequent values left out of the tail"),
    ],
    sensitive: Sensitive::OneOrMany,
    audit: &[Audit::swept("recursive_c", &[("c", "1")], "l")],
    build: |parameters, _| {
        Ok(Box::new(RecursiveCLDiversity { c: parameters.number_from("c", 0, true)?, l: parameters.count("l")? }))
    },
};

#[derive(Debug)]
struct RecursiveCLDiversity {
    c: Rational,
    l: u64,
}

impl RecursiveCLDiversity {
    fn tail(&self, class: &Class<'_>) -> Option<Tail> {
        if self.l <= 1 { None } else { Tail::of(class.histogram.iter().map(|c| (c.1, true)), self.l) }
    }
}

impl PrivacyModel for RecursiveCLDiversity {
    fn needs(&self) -> Needs {
        Needs::Histogram
    }

    fn monotone(&self) -> bool {
        true
    }

    fn least_different(&self, _table: &TableStats) -> u64 {
        // Without an l-th value nothing follows the most frequent ones.
        self.l.max(1)
    }

    fn least_rows(&self, _table: &TableStats) -> u64 {
        Tail::least_rows(&self.c, self.l)
    }

    fn holds(&self, class: &Class<'_>, _table: &TableStats) -> bool {
        self.tail(class).is_none_or(|tail| tail.below(&self.c))
    }

    fn most_kept(&self, class: &Class<'_>, _table: &TableStats) -> u64 {
        // A part whose most frequent value has m rows holds no more of any value; and with every value cut down to m
        // rows its tail is the longest.
        most_under_a_cap(class.histogram, |counts| {
            let tail = Tail::of(counts.iter().map(|&n| (n, true)), self.l);
            tail.is_none_or(|tail| tail.below(&self.c))
        })
    }

    fn measure(&self, class: &Class<'_>, _table: &TableStats) -> Level {
        Level::smallest("c", exceeded(self.tail(class))).open()
    }
}

/// What c must exceed for a class with this tail.
pub(super) fn exceeded(tail: Option<Tail>) -> Bound {
    match tail {
        None => Bound::Always,
        Some(Tail { tail: 0, .. }) => Bound::Never,
        Some(Tail { most, tail }) => Bound::ratio(most, tail),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{build, number};
    use super::*;

    #[test]
    fn the_bound_itself_fails() {
        let class = Class::of(&[(0, 3), (1, 2), (2, 1)]);
        let model = |c, l| build(&ENTRY, &[("c", number(c)), ("l", number(l))]).unwrap();
        let table = TableStats::default();
        assert!(!model("1", "2").holds(&class, &table));
        assert!(model("1.0000000001", "2").holds(&class, &table));
        assert!(!model("3", "3").holds(&class, &table));
        assert!(model("0.01", "1").holds(&class, &table));
        assert!(!model("1e9", "4").holds(&class, &table));
        assert_eq!(model("1", "4").measure(&class, &table).bound, Bound::Never);
        assert!(build(&ENTRY, &[("c", number("0")), ("l", number("2"))]).is_err());
    }
}
