//! Negative/positive disclosure-recursive (c₁, c₂, l)-diversity.
//!
//! **Definition.** The class satisfies pd-recursive (c₁, l)-diversity, and every value of W, for which negative
//! disclosure is not allowed, is at least c₂ percent of the class.
//!
//! **Source.** ℓ-diversity article Definition 4.4.
//!
//! **Departures.** A value of W that the column does not contain fails every class when c₂ > 0, as the definition has
//! it.
//!
//! **Monotone**: Theorem 5.3.
//!
//! **Cost**: that of pd-recursive diversity, and a search for each value of W.

use super::pd_recursive_c_l_diversity::tail_but;
use super::recursive_c_l_diversity::exceeded;
use super::{Bound, Entry, Level, Needs, PrivacyModel, Sensitive};
use crate::class::{Class, CodeSet, TableStats};
use crate::exact::Rational;
use crate::exact::recursive::Tail;
use crate::parameter::{Kind, Measured, Parameter, ParameterError};

pub(super) const ENTRY: Entry = Entry {
    id: "npd-recursive-c1-c2-l-diversity",
    title: "negative/positive disclosure-recursive (c₁, c₂, l)-diversity",
    definition: "pd-recursive (c₁, l)-diversity, and every value of W is at least c₂ percent of the class",
    citation: "Machanavajjhala et al. 2007, Definition 4.4",
    meaning: "no single value of {on} dominates a person's class (c1 = {c1}, l = {l}), and none that matters can be \
              ruled out below {c2} percent",
    parameters: &[
        Parameter::required("c1", Kind::Number, "how many times the tail the most frequent value must stay below")
            .measured(Measured::Above),
        Parameter::required("c2", Kind::Number, "the least percentage of each value of `no_negative`, 0 to 100"),
        Parameter::required("l", Kind::Count, "one more than the number of frequent values left out of the tail"),
        Parameter::optional("dont_care", Kind::Values, "values that may be disclosed"),
        Parameter::optional("no_negative", Kind::Values, "values that nobody may be known not to have"),
    ],
    sensitive: Sensitive::OneOrMany,
    audit: &[],
    build: |parameters, domain| {
        let c2 = parameters.number_from("c2", 0, false)?;
        if c2 > Rational::from(100) {
            return Err(ParameterError::new(
                "c2",
                format!("`c2` is a percentage, so it must be at most 100, not {c2}"),
            ));
        }
        let share: Rational = (c2.value() / Rational::from(100).value()).into();
        let (mut wanted, mut missing) = (Vec::new(), false);
        for value in parameters.texts("no_negative")? {
            match domain.dictionary.code(&value) {
                Some(code) => wanted.push(code),
                None => missing = true,
            }
        }
        Ok(Box::new(NpdRecursive {
            c1: parameters.number_from("c1", 0, true)?,
            l: parameters.count("l")?,
            dont_care: CodeSet::of(&parameters.texts("dont_care")?, &domain.dictionary),
            impossible: missing && !share.is_zero(),
            share,
            wanted,
        }))
    },
};

#[derive(Debug)]
struct NpdRecursive {
    c1: Rational,
    l: u64,
    dont_care: CodeSet,
    /// The codes of W.
    wanted: Vec<u32>,
    /// c₂ / 100.
    share: Rational,
    /// W has a value that the column does not contain.
    impossible: bool,
}

impl NpdRecursive {
    fn tail(&self, class: &Class<'_>) -> Option<Tail> {
        tail_but(&self.dont_care, class, self.l)
    }

    fn nothing_ruled_out(&self, class: &Class<'_>) -> bool {
        !self.impossible
            && self.wanted.iter().all(|&code| self.share.compare_count(class.count(code), class.size).is_ge())
    }
}

impl PrivacyModel for NpdRecursive {
    fn needs(&self) -> Needs {
        Needs::Histogram
    }

    fn monotone(&self) -> bool {
        true
    }

    fn least_rows(&self, _table: &TableStats) -> u64 {
        // A value of W that must not become rare must at least be there.
        let wanted = if self.share.is_zero() { 0 } else { self.wanted.len() as u64 };
        let tail = if self.dont_care.is_empty() { Tail::least_rows(&self.c1, self.l) } else { 1 };
        tail.max(wanted)
    }

    fn holds(&self, class: &Class<'_>, _table: &TableStats) -> bool {
        self.nothing_ruled_out(class) && self.tail(class).is_none_or(|tail| tail.below(&self.c1))
    }

    fn measure(&self, class: &Class<'_>, _table: &TableStats) -> Level {
        let (bound, lacking) = match self.nothing_ruled_out(class) {
            true => (exceeded(self.tail(class)), "it has fewer than l values, whatever c1"),
            false => (Bound::Never, "a value of `no_negative` is rarer than c2 percent, whatever c1"),
        };
        Level::smallest("c1", bound).open().but_for(lacking)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{build_on, number, texts};
    use super::*;

    #[test]
    fn values_must_not_become_rare() {
        let holds = |c2: &str, no_negative: &str| {
            let parameters =
                [("c1", number("9")), ("c2", number(c2)), ("l", number("2")), ("no_negative", texts(&[no_negative]))];
            let model = build_on(&ENTRY, &parameters, &["flu", "cold", "cancer"]).unwrap();
            model.holds(&Class::of(&[(0, 3), (1, 1)]), &TableStats::default())
        };
        assert!(holds("25", "cold") && !holds("25.0000001", "cold"));
        assert!(holds("0", "cancer") && !holds("1", "cancer"));
        assert!(holds("0", "unheard of") && !holds("0.001", "unheard of"));
    }

    #[test]
    fn a_percentage_is_at_most_a_hundred() {
        let parameters = [("c1", number("9")), ("c2", number("101")), ("l", number("2"))];
        assert_eq!(build_on(&ENTRY, &parameters, &[]).unwrap_err().key, "c2");
    }
}
