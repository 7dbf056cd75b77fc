//! Simple (α, k)-anonymity.
//!
//! **Definition.** A class has at least k rows, and one stated value s is at most the share α of them: n_s/n ≤ α.
//!
//! **Source.** Wong et al. 2006; survey Definition 9.
//!
//! **Departures.** A value that the column does not contain is in no class, so only k counts.
//!
//! **Monotone**: the share of a merged class lies between the two shares.
//!
//! **Cost**: a search for the value.

use super::{Bound, Entry, Level, Needs, PrivacyModel, Sensitive};
use crate::class::{Class, TableStats};
use crate::exact::Rational;
use crate::parameter::{Kind, Measured, Parameter};

pub(super) const ENTRY: Entry = Entry {
    id: "simple-alpha-k-anonymity",
    title: "simple (α, k)-anonymity",
    definition: "n ≥ k and n_s/n ≤ α for one stated value s, in every class",
    citation: "Wong et al. 2006; survey Definition 9",
    meaning: "a person stands amidst at least {k} rows, and {value} is likelier among them than {alpha} for nobody",
    parameters: &[
        Parameter::required("alpha", Kind::Number, "the largest share of the value, 0 to 1").measured(Measured::From),
        Parameter::required("value", Kind::Value, "the value whose share is bounded"),
        Parameter::required("k", Kind::Count, "the least number of rows a class may have"),
    ],
    sensitive: Sensitive::One,
    audit: &[],
    build: |parameters, domain| {
        Ok(Box::new(SimpleAlphaK {
            alpha: parameters.share("alpha")?,
            code: domain.dictionary.code(&parameters.value("value")?),
            k: parameters.count("k")?,
        }))
    },
};

#[derive(Debug)]
struct SimpleAlphaK {
    alpha: Rational,
    code: Option<u32>,
    k: u64,
}

impl SimpleAlphaK {
    fn count(&self, class: &Class<'_>) -> u64 {
        self.code.map_or(0, |code| class.count(code))
    }
}

impl PrivacyModel for SimpleAlphaK {
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
        Some(self.alpha.clone()).filter(|alpha| !alpha.is_zero())
    }

    fn holds(&self, class: &Class<'_>, _table: &TableStats) -> bool {
        class.size >= self.k && self.alpha.compare_count(self.count(class), class.size).is_le()
    }

    fn measure(&self, class: &Class<'_>, _table: &TableStats) -> Level {
        let holds = class.size >= self.k;
        Level::smallest("alpha", if holds { Bound::ratio(self.count(class), class.size) } else { Bound::Never })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{build_on, number, text};
    use super::*;

    #[test]
    fn a_third_is_a_third() {
        let holds = |alpha: &str, value: &str, k: &str| {
            let parameters = [("alpha", number(alpha)), ("value", text(value)), ("k", number(k))];
            let model = build_on(&ENTRY, &parameters, &["flu", "hiv"]).unwrap();
            model.holds(&Class::of(&[(0, 2), (1, 1)]), &TableStats::default())
        };
        assert!(holds("1/3", "hiv", "3") && !holds("0.3333333333333", "hiv", "3") && !holds("1/3", "hiv", "4"));
        assert!(!holds("1/3", "flu", "3"));
        assert!(holds("0", "unheard of", "3"));
    }

    #[test]
    fn a_share_is_at_most_one() {
        let parameters = [("alpha", number("1.1")), ("value", text("flu")), ("k", number("2"))];
        assert_eq!(build_on(&ENTRY, &parameters, &["flu"]).unwrap_err().key, "alpha");
    }
}
