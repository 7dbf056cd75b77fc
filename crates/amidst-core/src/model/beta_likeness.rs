//! β-likeness, basic and enhanced.
//!
//! **Definition.** (p_s − q_s)/q_s ≤ β for every value s that is more frequent in the class (p_s) than in the table
//! (q_s). Enhanced: ≤ min(β, −ln q_s), so that no frequent value comes near certainty.
//!
//! **Source.** Cao & Karras 2012, Definitions 2 and 3.
//!
//! **Monotone**: the condition bounds every p_s from above by a number that depends on the table alone, and p_s of a
//! merged class lies between the two it is made of.
//!
//! **Cost**: one product a value; enhanced, one logarithm more.

use super::{Audit, Bound, Entry, Level, Needs, PrivacyModel, Sensitive};
use crate::class::{Class, TableStats};
use crate::exact::Rational;
use crate::exact::divergence::Ratio;
use crate::parameter::{Kind, Measured, Parameter};

pub(super) const ENTRY: Entry = Entry {
    id: "beta-likeness",
    title: "β-likeness",
    definition: "(p_s − q_s)/q_s ≤ β (enhanced: ≤ min(β, −ln q_s)) for every s with p_s > q_s, in every class; q is \
                 of the input, and then also of the release itself",
    citation: "Cao & Karras 2012, Definitions 2 and 3",
    meaning: "whoever finds a person's class can raise the chance of any value of {on} by at most {beta} times what \
              it was before",
    parameters: &[
        Parameter::required("beta", Kind::Number, "the largest relative gain of a value's share, 0 or more")
            .measured(Measured::From),
        Parameter::optional("enhanced", Kind::Flag, "bound the gain by −ln of the value's share too"),
    ],
    sensitive: Sensitive::One,
    audit: &[Audit::of("beta_likeness", &[("beta", "1")])],
    build: |parameters, _| {
        let beta = parameters.number_from("beta", 0, false)?;
        let factor = (beta.value() + Rational::from(1).value()).into();
        Ok(Box::new(BetaLikeness { factor, enhanced: parameters.flag("enhanced")? }))
    },
};

#[derive(Debug)]
struct BetaLikeness {
    /// 1 + β, what p/q may be at most.
    factor: Rational,
    enhanced: bool,
}

/// p_s/q_s of every value that is more frequent in the class.
fn gains<'a>(class: &'a Class<'_>, table: &'a TableStats) -> impl Iterator<Item = Ratio> + 'a {
    let of = class.histogram.iter().map(|c| c.1).sum();
    let base_of = table.histogram.iter().map(|c| c.1).sum();
    let ratio = move |&(code, count): &(u32, u64)| Ratio { count, of, base: table.count(code), base_of };
    class.histogram.iter().map(ratio).filter(|r| r.compare_one().is_gt())
}

impl BetaLikeness {
    fn unsurprising(&self, ratio: Ratio) -> bool {
        !self.enhanced || ratio.gain_within_surprise()
    }
}

impl PrivacyModel for BetaLikeness {
    fn needs(&self) -> Needs {
        Needs::Histogram
    }

    fn monotone(&self) -> bool {
        true
    }

    fn least_different(&self, table: &TableStats) -> u64 {
        // A value is at most 1 + β times of the class what it is of the table, so those of a class are 1/(1 + β) of it.
        table.values_covering(1.0 / self.factor.to_f64().max(1.0))
    }

    fn least_rows(&self, table: &TableStats) -> u64 {
        // Whatever value a row has, it is at least 1/n of the class, and at most 1 + β times what it is of the table.
        let most = table.histogram.iter().map(|c| c.1).max().unwrap_or(0) as f64;
        let total = table.histogram.iter().map(|c| c.1).sum::<u64>() as f64;
        let largest = (self.factor.to_f64() * most / total.max(1.0)).max(1e-9);
        ((1.0 / largest - 1e-9).ceil() as u64).max(1)
    }

    fn compares_with_table(&self) -> bool {
        true
    }

    fn holds(&self, class: &Class<'_>, table: &TableStats) -> bool {
        gains(class, table).all(|r| {
            let (here, there) = r.products();
            self.factor.compare_fraction(here, there).is_le() && self.unsurprising(r)
        })
    }

    fn measure(&self, class: &Class<'_>, table: &TableStats) -> Level {
        let mut worst = Rational::from(0);
        for r in gains(class, table) {
            let (here, there) = r.products();
            if there == 0 || !self.unsurprising(r) {
                return Level::smallest("beta", Bound::Never);
            }
            worst = worst.max(Rational::wide_ratio(here - there, there));
        }
        Level::smallest("beta", Bound::Exact(worst))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{build, number};
    use super::*;
    use crate::parameter::Value;

    fn holds(beta: &str, enhanced: bool, histogram: &[(u32, u64)]) -> bool {
        let table = TableStats { size: 10, histogram: vec![(0, 8), (1, 2)], ..TableStats::default() };
        let model = build(&ENTRY, &[("beta", number(beta)), ("enhanced", Value::Flag(enhanced))]).unwrap();
        model.holds(&Class::of(histogram), &table)
    }

    #[test]
    fn only_gains_count() {
        // The rare value doubles from 0.2 to 0.4; the frequent one loses.
        assert!(holds("1", false, &[(0, 3), (1, 2)]) && !holds("0.999999", false, &[(0, 3), (1, 2)]));
        assert!(holds("0", false, &[(0, 4), (1, 1)]));
    }

    #[test]
    fn enhanced_likeness_keeps_frequent_values_uncertain() {
        // From 0.8 to 1 is a gain of 0.25, but −ln 0.8 is 0.223.
        assert!(holds("0.25", false, &[(0, 7)]) && !holds("0.25", true, &[(0, 7)]));
        assert!(holds("0.25", true, &[(0, 9), (1, 1)]));
        assert!(build(&ENTRY, &[("beta", number("1")), ("enhanced", number("1"))]).is_err());
    }
}
