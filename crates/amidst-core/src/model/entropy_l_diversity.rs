//! Entropy l-diversity, with or without a don't-care set.
//!
//! **Definition.** −Σ p(s)·log p(s) ≥ log l over the sensitive values s of the class. With a don't-care set Y, whose
//! values may be disclosed, the *adjusted entropy*, the largest that lowering counts of Y can reach, must be at least
//! log l; a class with no value outside Y satisfies it.
//!
//! **Source.** ℓ-diversity article Definitions 4.1 and 4.5, Algorithm 1 and Theorem 4.1.
//!
//! **Departures.** l may be any number from 1 on, as the article's "2.8-diverse" has it. The article's Algorithm 1 ends
//! in irrational counts; the verdict here needs none of them (see `exact::entropy::Cutoff`).
//!
//! **Monotone**: entropy is concave (Theorem 5.2), and adjusted entropy inherits it (Theorem 5.4).
//!
//! **Cost**: one logarithm a value, from a table for small counts; with a don't-care set, one pass for each of its
//! values in the class.

use super::{Audit, Bound, Entry, Level, Needs, PrivacyModel, Sensitive};
use crate::class::{Class, CodeSet, TableStats};
use crate::exact::entropy::{self, Cutoff, Effective, EntropyBound};
use crate::exact::largest_part::most_under_a_cap;
use crate::parameter::{Kind, Measured, Parameter};

pub(super) const ENTRY: Entry = Entry {
    id: "entropy-l-diversity",
    title: "entropy l-diversity",
    definition: "−Σ p log p ≥ log l in every class; with a don't-care set, the adjusted entropy ≥ log l",
    citation: "Machanavajjhala et al. 2007, Definitions 4.1 and 4.5, Algorithm 1",
    meaning: "the values of {on} in a person's class are as hard to guess as one of {l} equally frequent values",
    parameters: &[
        Parameter::required("l", Kind::Number, "the number of equally frequent values to be as diverse as, 1 or more")
            .measured(Measured::UpTo),
        Parameter::optional("dont_care", Kind::Values, "values that may be disclosed"),
    ],
    sensitive: Sensitive::OneOrMany,
    audit: &[Audit::of("entropy_l", &[("l", "1")])],
    build: |parameters, domain| {
        let l = parameters.number_from("l", 1, false)?;
        let dont_care = CodeSet::of(&parameters.texts("dont_care")?, &domain.dictionary);
        let bounds = entropy::lowered_bounds(&l, dont_care.len());
        Ok(Box::new(EntropyLDiversity { dont_care, bounds }))
    },
};

#[derive(Debug)]
struct EntropyLDiversity {
    dont_care: CodeSet,
    /// The bounds l, l − 1, … for 0, 1, … lowered values.
    bounds: Vec<EntropyBound>,
}

impl EntropyLDiversity {
    /// The cutoff of Algorithm 1; `None` when every value may be disclosed.
    fn cutoff(&self, class: &Class<'_>) -> Option<Cutoff> {
        if self.dont_care.is_empty() {
            return Some(Cutoff { theta: 0, lowered: 0 });
        }
        let side = |dont_care: bool| {
            class.histogram.iter().filter(move |c| self.dont_care.contains(c.0) == dont_care).map(|c| c.1)
        };
        side(false).next()?;
        Some(Cutoff::find(side(false), side(true)))
    }

    /// The counts that Algorithm 1 leaves as they are.
    fn fixed<'a>(&'a self, class: &'a Class<'_>, theta: u64) -> impl Iterator<Item = u64> + Clone + 'a {
        class.histogram.iter().filter(move |c| c.1 <= theta || !self.dont_care.contains(c.0)).map(|c| c.1)
    }
}

impl PrivacyModel for EntropyLDiversity {
    fn needs(&self) -> Needs {
        Needs::Histogram
    }

    fn monotone(&self) -> bool {
        true
    }

    fn least_different(&self, _table: &TableStats) -> u64 {
        // d values have an entropy of ln d at the most.
        match self.bounds.first() {
            Some(bound) if self.dont_care.is_empty() => bound.least_rows(),
            _ => 1,
        }
    }

    fn least_rows(&self, _table: &TableStats) -> u64 {
        // n rows have at most n values; a class of nothing but don't-care values may be as small as it likes.
        match self.bounds.first() {
            Some(bound) if self.dont_care.is_empty() => bound.least_rows(),
            _ => 1,
        }
    }

    fn least_uneven(&self) -> u64 {
        let Some(bound) = self.bounds.first().filter(|_| self.dont_care.is_empty()) else { return 1 };
        // Where d values reach the bound only just, they are equally frequent.
        let least = bound.least_rows();
        // More values than this are not compared with the bound.
        const MOST: u64 = 1_000;
        least + u64::from(least <= MOST && bound.compare((0..least).map(|_| 1)).is_eq())
    }

    fn enough_different(&self) -> Option<u64> {
        // Their entropy is the logarithm of their number.
        let bound = self.bounds.first().filter(|_| self.dont_care.is_empty());
        bound.map(|bound| bound.least_rows())
    }

    fn holds(&self, class: &Class<'_>, _table: &TableStats) -> bool {
        if self.dont_care.is_empty() {
            return match self.bounds.first() {
                Some(bound) => bound.compare(class.histogram.iter().map(|c| c.1)).is_ge(),
                None => true,
            };
        }
        let Some(cutoff) = self.cutoff(class) else { return true };
        match self.bounds.get(cutoff.lowered as usize) {
            Some(bound) => bound.compare(self.fixed(class, cutoff.theta)).is_ge(),
            None => true,
        }
    }

    fn most_kept(&self, class: &Class<'_>, _table: &TableStats) -> u64 {
        let Some(bound) = self.bounds.first().filter(|_| self.dont_care.is_empty()) else { return class.size };
        // Of all parts of one size the most diverse is that which cuts the largest counts down to one level.
        most_under_a_cap(class.histogram, |counts| bound.compare(counts.iter().copied()).is_ge())
    }

    fn measure(&self, class: &Class<'_>, _table: &TableStats) -> Level {
        let bound = match self.cutoff(class) {
            None => Bound::Always,
            Some(cutoff) => match entropy::effective(self.fixed(class, cutoff.theta)) {
                Effective::Whole(n) => Bound::Exact((n + cutoff.lowered).into()),
                Effective::Real(x) => Bound::Real(x + cutoff.lowered as f64),
            },
        };
        Level::largest("l", bound)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{build, build_on, number, texts};
    use super::*;

    fn holds(l: &str, histogram: &[(u32, u64)]) -> bool {
        build(&ENTRY, &[("l", number(l))]).unwrap().holds(&Class::of(histogram), &TableStats::default())
    }

    #[test]
    fn figure_4_of_the_article_is_2_8_diverse() {
        // Two of one disease, one each of two others: exp(entropy) = 2√2.
        let class = [(0, 2), (1, 1), (2, 1)];
        assert!(holds("2.8", &class) && holds("2.8284271247461900", &class));
        assert!(!holds("2.8284271247461901", &class));
    }

    #[test]
    fn uniform_classes_sit_on_the_bound() {
        for n in [1, 17, 1_000_000_000_000] {
            assert!(holds("3", &[(0, n), (1, n), (2, n)]));
            assert!(!holds("3.0000000000000000001", &[(0, n), (1, n), (2, n)]));
        }
        assert!(holds("1", &[(0, 7)]));
        assert!(build(&ENTRY, &[("l", number("0.5"))]).is_err());
    }

    #[test]
    fn unequal_frequencies_need_one_value_more_where_equal_ones_only_just_satisfy_it() {
        let least = |l: &str| build(&ENTRY, &[("l", number(l))]).unwrap().least_uneven();
        assert_eq!(["1", "2.8", "3", "5"].map(least), [2, 3, 4, 6]);
        assert!(!holds("3", &[(0, 1_000), (1, 1_000), (2, 999)]) && holds("3", &[(0, 2), (1, 1), (2, 1), (3, 1)]));
    }

    #[test]
    fn a_frequent_value_that_may_be_disclosed_does_no_harm() {
        let model = |l| {
            let parameters = [("l", number(l)), ("dont_care", texts(&["healthy", "unheard of"]))];
            build_on(&ENTRY, &parameters, &["healthy", "flu", "cold"]).unwrap()
        };
        let table = TableStats::default();
        // Lowered to one, the healthy make three equal values.
        assert!(model("3").holds(&Class::of(&[(0, 97), (1, 1), (2, 1)]), &table));
        assert!(!model("3.0001").holds(&Class::of(&[(0, 97), (1, 1), (2, 1)]), &table));
        assert!(model("9").holds(&Class::of(&[(0, 97)]), &table));
        assert_eq!(model("2").measure(&Class::of(&[(0, 97)]), &table).bound, Bound::Always);
        assert_eq!(model("2").measure(&Class::of(&[(0, 97), (1, 5)]), &table).bound, Bound::Exact(2.into()));
    }
}
