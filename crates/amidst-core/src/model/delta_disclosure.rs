//! δ-disclosure privacy.
//!
//! **Definition.** |ln(p_s/q_s)| < δ for every value s of the table, with p_s its share in the class and q_s in the
//! table. A value of the table that the class lacks fails it.
//!
//! **Source.** Brickell & Shmatikov 2008, Definition 2.
//!
//! **Departures.** Natural logarithm; the paper's base is left open.
//!
//! **Monotone**: the condition is q_s·e^−δ < p_s < q_s·e^δ for every s, and each p_s of a merged class lies between the
//! two it is made of. (The class grows with the number of values it must contain, so it is hard to satisfy, not hard to
//! keep.)
//!
//! **Cost**: one logarithm a value of the table; none when the class lacks a value.

use super::{Audit, Bound, Entry, Level, Needs, PrivacyModel, Sensitive};
use crate::class::{Class, TableStats};
use crate::exact::Rational;
use crate::exact::divergence::Ratio;
use crate::parameter::{Kind, Measured, Parameter};

pub(super) const ENTRY: Entry = Entry {
    id: "delta-disclosure",
    title: "δ-disclosure privacy",
    definition: "|ln(p_s/q_s)| < δ for every value s of the table, in every class; the table is the input, and then also the \
                 release itself",
    citation: "Brickell & Shmatikov 2008, Definition 2",
    meaning: "finding a person's class changes the chance of each value of {on} by less than a factor of e to the \
              power {delta}",
    parameters: &[Parameter::required("delta", Kind::Number, "what every |ln(p/q)| must stay below, more than 0")
        .measured(Measured::Above)],
    sensitive: Sensitive::One,
    audit: &[Audit::of("delta_disclosure", &[("delta", "1")])],
    build: |parameters, _| Ok(Box::new(DeltaDisclosure { delta: parameters.number_from("delta", 0, true)? })),
};

#[derive(Debug)]
struct DeltaDisclosure {
    delta: Rational,
}

/// p_s/q_s of every value of the table.
fn ratios<'a>(class: &'a Class<'_>, table: &'a TableStats) -> impl Iterator<Item = Ratio> + 'a {
    let of = class.histogram.iter().map(|c| c.1).sum();
    let base_of = table.histogram.iter().map(|c| c.1).sum();
    table.histogram.iter().map(move |&(code, base)| Ratio { count: class.count(code), of, base, base_of })
}

impl PrivacyModel for DeltaDisclosure {
    fn needs(&self) -> Needs {
        Needs::Histogram
    }

    fn monotone(&self) -> bool {
        true
    }

    fn least_different(&self, table: &TableStats) -> u64 {
        // Each value of the table must occur.
        table.histogram.len() as u64
    }

    fn least_rows(&self, table: &TableStats) -> u64 {
        // Every value of the table must occur, the rarest at most e^δ times as often as in the table.
        let rarest = table.histogram.iter().map(|c| c.1).min().unwrap_or(0) as f64;
        let total = table.histogram.iter().map(|c| c.1).sum::<u64>() as f64;
        let largest = (self.delta.to_f64().exp() * rarest / total.max(1.0)).max(1e-9);
        (table.histogram.len() as u64).max((1.0 / largest - 1e-6).ceil() as u64).max(1)
    }

    fn compares_with_table(&self) -> bool {
        true
    }

    fn holds(&self, class: &Class<'_>, table: &TableStats) -> bool {
        class.histogram.len() >= table.histogram.len()
            && ratios(class, table).all(|r| r.compare_abs_ln(&self.delta).is_lt())
    }

    fn measure(&self, class: &Class<'_>, table: &TableStats) -> Level {
        let bound = if ratios(class, table).any(|r| r.count == 0) {
            Bound::Never
        } else if ratios(class, table).all(|r| r.compare_one().is_eq()) {
            Bound::Exact(0.into())
        } else {
            Bound::Real(ratios(class, table).map(|r| r.ln().abs()).fold(0.0, f64::max))
        };
        Level::smallest("delta", bound).open()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{build, number};
    use super::*;

    #[test]
    fn every_value_of_the_table_must_occur() {
        let table = TableStats { size: 4, histogram: vec![(0, 2), (1, 2)], ..TableStats::default() };
        let holds = |delta, histogram: &[(u32, u64)]| {
            build(&ENTRY, &[("delta", number(delta))]).unwrap().holds(&Class::of(histogram), &table)
        };
        assert!(!holds("100", &[(0, 5)]));
        assert!(holds("1e-30", &[(0, 5), (1, 5)]));
        // ln 2 on the rarer value, whose share is halved.
        assert!(!holds("0.6931471805599453", &[(0, 3), (1, 1)]));
        assert!(holds("0.6931471805599454", &[(0, 3), (1, 1)]));
        assert!(build(&ENTRY, &[("delta", number("0"))]).is_err());
    }
}
