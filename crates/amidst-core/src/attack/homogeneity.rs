//! The homogeneity attack.
//!
//! **Assumes** that the adversary knows the quasi values of a person in the table, so finds the person's class.
//!
//! **Succeeds** in a class where one sensitive value reaches a share of the rows: the person's value is then known,
//! with at least that certainty. The ℓ-diversity article counts such classes and rows in minimal k-anonymous tables of
//! Adult, with a share of 100 % in Figure 9 and 95 % in Figure 11.

use std::cmp::Ordering;

use super::{Attack, AttackError, ClassProfile, Entry, Extra, Findings, Knowledge, Target, share_or};
use crate::class::Histogram;
use crate::exact::Rational;
use crate::parameter::{Kind, Parameter, Parameters};

const PARAMETERS: &[Parameter] = &[Parameter::optional(
    "share",
    Kind::Number,
    "the share of a class that its most frequent value must reach; 1 is the whole class",
)];

pub(super) const ENTRY: Entry = Entry {
    id: "homogeneity",
    title: "homogeneity attack",
    assumes: "the quasi values of a person who is in the table",
    definition: "one sensitive value is shared by the whole class, so it is known for everyone in it",
    citation: "Machanavajjhala et al., TKDD 2007, §1.1 and Figure 9",
    needs: Knowledge::Release,
    parameters: PARAMETERS,
    attack: &Homogeneity { percent: 100 },
};

pub(super) const ENTRY_95: Entry = Entry {
    id: "homogeneity_95",
    title: "near-homogeneity attack",
    assumes: "the quasi values of a person who is in the table",
    definition: "one sensitive value has at least 95 % of the class, so a guess is right 19 times in 20",
    citation: "Machanavajjhala et al., TKDD 2007, Figure 11",
    needs: Knowledge::Release,
    parameters: PARAMETERS,
    attack: &Homogeneity { percent: 95 },
};

#[derive(Debug)]
struct Homogeneity {
    /// The share where none is stated.
    percent: u64,
}

impl Attack for Homogeneity {
    fn run(&self, target: &Target<'_>, _: &Extra<'_>, parameters: &Parameters) -> Result<Findings, AttackError> {
        let share = share_or(parameters, "share", Rational::ratio(self.percent, 100))?;
        let judge = |profile: &ClassProfile, histogram: &Histogram, largest: &mut f64| {
            let top = histogram.iter().map(|&(_, n)| n).max()?;
            let reached = top as f64 / profile.size as f64;
            *largest = largest.max(reached);
            (share.compare_count(top, profile.size) != Ordering::Less).then_some(reached)
        };
        let (mut findings, largest) = target.hits(0.0f64, judge, |largest, more| *largest = largest.max(more));
        findings.figures = vec![("largest_share".to_string(), largest)];
        Ok(findings)
    }
}

#[cfg(test)]
mod tests {
    use super::super::view::fixture::{Fixture, INPATIENTS, figure};
    use super::*;
    use crate::parameter::Value;

    fn run(entry: &Entry, fixture: &Fixture, parameters: &Parameters) -> Findings {
        entry.run(&fixture.target(), &Extra::default(), parameters).unwrap()
    }

    #[test]
    fn the_articles_4_anonymous_inpatients_have_one_homogeneous_class() {
        let fixture = Fixture::new(&INPATIENTS);
        let findings = run(&ENTRY, &fixture, &Parameters::default());
        assert_eq!((findings.classes, findings.rows, findings.persons), (1, 4, 4));
        assert_eq!((figure(&findings, "largest_share"), findings.worst), (1.0, vec![2]));
        let half = Parameters::from_pairs([("share", Value::Text("1/2".into()))]);
        assert_eq!(run(&ENTRY, &fixture, &half).rows, 12);
    }

    #[test]
    fn nineteen_of_twenty_is_exactly_95_percent() {
        let mut rows = vec![("a", "flu"); 19];
        rows.push(("a", "hiv"));
        let fixture = Fixture::new(&rows);
        assert_eq!(run(&ENTRY_95, &fixture, &Parameters::default()).classes, 1);
        assert_eq!(run(&ENTRY, &fixture, &Parameters::default()).classes, 0);
    }
}
