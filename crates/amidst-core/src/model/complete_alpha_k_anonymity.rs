//! Complete (α, k)-anonymity.
//!
//! **Definition.** A class has at least k rows, and each sensitive value s is at most its own share α_s of them:
//! n_s/n ≤ α_s. A value without a bound may be all of them.
//!
//! **Source.** Survey Definition 7.
//!
//! **Departures.** Measured is the largest k, since α is a list; bounds of values that the column does not contain are
//! accepted and bind nothing.
//!
//! **Monotone**: each share of a merged class lies between the two shares.
//!
//! **Cost**: one comparison a value that has a bound.

use super::{Bound, Entry, Level, Needs, PrivacyModel, Sensitive};
use crate::class::{Class, TableStats};
use crate::exact::Rational;
use crate::parameter::{Kind, Measured, Parameter};

pub(super) const ENTRY: Entry = Entry {
    id: "complete-alpha-k-anonymity",
    title: "complete (α, k)-anonymity",
    definition: "n ≥ k and n_s/n ≤ α_s for every sensitive value s with a bound α_s, in every class",
    citation: "survey Definition 7",
    meaning: "a person stands amidst at least {k} rows, and no bounded value of {on} is more frequent among them \
              than its bound",
    parameters: &[
        Parameter::required("alpha", Kind::Bounds, "the largest share of each value, as { Flu = 0.5, HIV = 0.1 }"),
        Parameter::required("k", Kind::Count, "the least number of rows a class may have").measured(Measured::UpTo),
    ],
    sensitive: Sensitive::One,
    audit: &[],
    build: |parameters, domain| {
        let mut alpha = vec![None; domain.dictionary.len()];
        for (value, bound) in parameters.bounds("alpha")? {
            if let Some(slot) = domain.dictionary.code(&value).and_then(|code| alpha.get_mut(code as usize)) {
                *slot = Some(bound);
            }
        }
        Ok(Box::new(CompleteAlphaK { alpha, k: parameters.count("k")? }))
    },
};

#[derive(Debug)]
struct CompleteAlphaK {
    /// The bound of each code.
    alpha: Vec<Option<Rational>>,
    k: u64,
}

impl CompleteAlphaK {
    fn bounded(&self, class: &Class<'_>) -> bool {
        class.histogram.iter().all(|&(code, n)| match self.alpha.get(code as usize) {
            Some(Some(alpha)) => alpha.compare_count(n, class.size).is_le(),
            _ => true,
        })
    }
}

impl PrivacyModel for CompleteAlphaK {
    fn needs(&self) -> Needs {
        Needs::Histogram
    }

    fn monotone(&self) -> bool {
        true
    }

    fn least_rows(&self, _table: &TableStats) -> u64 {
        self.k
    }

    fn bounds_shares(&self) -> bool {
        true
    }

    fn strictest_share(&self) -> Option<Rational> {
        self.alpha.iter().flatten().filter(|alpha| !alpha.is_zero()).min().cloned()
    }

    fn holds(&self, class: &Class<'_>, _table: &TableStats) -> bool {
        class.size >= self.k && self.bounded(class)
    }

    fn measure(&self, class: &Class<'_>, _table: &TableStats) -> Level {
        let bound = if self.bounded(class) { Bound::Exact(class.size.into()) } else { Bound::Never };
        Level::largest("k", bound).but_for("a value is more frequent than its alpha allows, whatever k")
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{build_on, number};
    use super::*;
    use crate::parameter::Value;

    #[test]
    fn each_value_has_its_own_bound() {
        let model = |value: &str, bound: &str| {
            let alpha = Value::Table(vec![(value.to_string(), number(bound))]);
            build_on(&ENTRY, &[("alpha", alpha), ("k", number("3"))], &["flu", "hiv"])
        };
        let (class, table) = (Class::of(&[(0, 2), (1, 1)]), TableStats::default());
        assert!(model("hiv", "1/3").unwrap().holds(&class, &table));
        assert!(!model("hiv", "0.333").unwrap().holds(&class, &table));
        assert!(model("unheard of", "0").unwrap().holds(&class, &table));
        assert!(model("hiv", "2").unwrap_err().message.contains("`hiv`"));
        assert!(build_on(&ENTRY, &[("alpha", number("0.5")), ("k", number("3"))], &[]).is_err());
    }
}
