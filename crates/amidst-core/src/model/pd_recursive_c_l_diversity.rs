//! Positive disclosure-recursive (c, l)-diversity.
//!
//! **Definition.** Let Y be the don't-care set, s_y the most frequent value outside Y, at rank y. Either y ≤ l − 1 and
//! r_y < c·Σ_{j≥l} r_j, or y > l − 1 and r_y < c·Σ_{j=l−1}^{y−1} r_j + c·Σ_{j>y} r_j. No value outside Y: holds.
//!
//! **Source.** ℓ-diversity article Definition 4.3.
//!
//! **Departures.** Both cases say the same thing, r_y < c times what is left without s_y and without the l − 2 most
//! frequent others, and are computed as one; ties between s_y and a value of Y then make no difference. l = 1 always
//! holds, as in Definition 4.2.
//!
//! **Monotone**: Theorem 5.3.
//!
//! **Cost**: one pass for s_y and one for the l − 2 largest other counts.

use super::recursive_c_l_diversity::exceeded;
use super::{Entry, Level, Needs, PrivacyModel, Sensitive};
use crate::class::{Class, CodeSet, TableStats};
use crate::exact::Rational;
use crate::exact::recursive::Tail;
use crate::parameter::{Kind, Measured, Parameter};

pub(super) const ENTRY: Entry = Entry {
    id: "pd-recursive-c-l-diversity",
    title: "positive disclosure-recursive (c, l)-diversity",
    definition: "recursive (c, l)-diversity for the most frequent value outside the don't-care set",
    citation: "Machanavajjhala et al. 2007, Definition 4.3",
    meaning: "the most frequent value of {on} that matters in a person's class stays below {c} times the rarer ones \
              together (l = {l})",
    parameters: &[
        Parameter::required("c", Kind::Number, "how many times the tail the most frequent value must stay below")
            .measured(Measured::Above),
        Parameter::required("l", Kind::Count, "one more than the number of frequent values left out of the tail"),
        Parameter::optional("dont_care", Kind::Values, "values that may be disclosed"),
    ],
    sensitive: Sensitive::OneOrMany,
    audit: &[],
    build: |parameters, domain| {
        Ok(Box::new(PdRecursiveCLDiversity {
            c: parameters.number_from("c", 0, true)?,
            l: parameters.count("l")?,
            dont_care: CodeSet::of(&parameters.texts("dont_care")?, &domain.dictionary),
        }))
    },
};

#[derive(Debug)]
struct PdRecursiveCLDiversity {
    c: Rational,
    l: u64,
    dont_care: CodeSet,
}

impl PdRecursiveCLDiversity {
    fn tail(&self, class: &Class<'_>) -> Option<Tail> {
        tail_but(&self.dont_care, class, self.l)
    }
}

/// The most frequent value of a class that must not be disclosed, and its tail; `None` where nothing is asked of them.
pub(super) fn tail_but(dont_care: &CodeSet, class: &Class<'_>, l: u64) -> Option<Tail> {
    if l <= 1 {
        return None;
    }
    Tail::of(class.histogram.iter().map(|c| (c.1, !dont_care.contains(c.0))), l)
}

impl PrivacyModel for PdRecursiveCLDiversity {
    fn needs(&self) -> Needs {
        Needs::Histogram
    }

    fn monotone(&self) -> bool {
        true
    }

    fn least_rows(&self, _table: &TableStats) -> u64 {
        // A class of nothing but don't-care values may be as small as it likes.
        if self.dont_care.is_empty() { Tail::least_rows(&self.c, self.l) } else { 1 }
    }

    fn holds(&self, class: &Class<'_>, _table: &TableStats) -> bool {
        self.tail(class).is_none_or(|tail| tail.below(&self.c))
    }

    fn measure(&self, class: &Class<'_>, _table: &TableStats) -> Level {
        Level::smallest("c", exceeded(self.tail(class))).open()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{build_on, number, texts};
    use super::*;

    #[test]
    fn three_sick_of_a_hundred_are_not_below_three_percent_of_the_healthy() {
        let holds = |c, histogram: &[(u32, u64)]| {
            let parameters = [("c", number(c)), ("l", number("2")), ("dont_care", texts(&["healthy"]))];
            let model = build_on(&ENTRY, &parameters, &["healthy", "sick"]).unwrap();
            model.holds(&Class::of(histogram), &TableStats::default())
        };
        assert!(!holds("0.03", &[(0, 97), (1, 3)]));
        assert!(holds("0.03", &[(0, 101), (1, 3)]));
        assert!(!holds("0.03", &[(0, 100), (1, 3)]));
        assert!(holds("0.03", &[(0, 5)]));
        assert!(!holds("100", &[(1, 5)]));
    }
}
