//! The homogeneity attack.
//!
//! **Assumes** that the adversary knows the quasi values of a person in the table, so finds the person's class.
//!
//! **Succeeds** in a class where one sensitive value reaches a share of the rows: the person's value is then known, with
//! at least that certainty. The ℓ-diversity article counts such classes and rows in minimal k-anonymous tables of Adult,
//! with a share of 100 % in Figure 9 and 95 % in Figure 11.

use super::{Attack, Entry, Findings, Published};
use crate::frequency;

pub(super) const ENTRY: Entry = Entry {
    id: "homogeneity",
    title: "homogeneity attack",
    assumes: "the quasi values of a person who is in the table",
    definition: "one sensitive value is shared by the whole class, so it is known for everyone in it",
    citation: "Machanavajjhala et al., TKDD 2007, §2 and Figure 9",
    attack: &Homogeneity { percent: 100 },
};

pub(super) const ENTRY_95: Entry = Entry {
    id: "homogeneity_95",
    title: "near-homogeneity attack",
    assumes: "the quasi values of a person who is in the table",
    definition: "one sensitive value has at least 95 % of the class, so a guess is right 19 times in 20",
    citation: "Machanavajjhala et al., TKDD 2007, Figure 11",
    attack: &Homogeneity { percent: 95 },
};

#[derive(Debug)]
struct Homogeneity {
    percent: u64,
}

impl Attack for Homogeneity {
    fn run(&self, published: &Published<'_>, column: usize) -> Findings {
        let mut findings = Findings::default();
        let mut hit: Vec<(u64, usize)> = Vec::new();
        for (class, entries) in published.classes.iter().enumerate().filter(|(_, e)| !e.is_empty()) {
            let size = frequency::size(entries);
            let histogram = published.histogram(entries, column);
            let top = histogram.iter().map(|&(_, n)| n).max().unwrap_or(0);
            if u128::from(top) * 100 >= u128::from(size) * u128::from(self.percent) {
                findings.classes += 1;
                findings.rows += frequency::rows(entries);
                findings.persons += size;
                hit.push((size, class));
            }
        }
        hit.sort_by_key(|&(size, class)| (std::cmp::Reverse(size), class));
        findings.worst = hit.into_iter().take(10).map(|(_, class)| class).collect();
        findings
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frequency::FrequencySet;
    use crate::table::{Column, Table};

    #[test]
    fn the_articles_4_anonymous_inpatients_have_one_homogeneous_class() {
        let class = ["a", "a", "a", "a", "b", "b", "b", "b", "c", "c", "c", "c"];
        let condition = [
            "heart", "heart", "viral", "viral", "cancer", "heart", "viral", "viral", "cancer", "cancer", "cancer",
            "cancer",
        ];
        let table = Table {
            columns: vec![Column::from_values("q", class), Column::from_values("condition", condition)],
            rows: 12,
        };
        let (set, _) = FrequencySet::count(&table, &[0], &[1], None);
        let published = Published { set: &set, classes: &set.groups, sensitive: &[] };
        let findings = ENTRY.attack.run(&published, 0);
        assert_eq!((findings.classes, findings.rows, findings.worst), (1, 4, vec![2]));
    }

    #[test]
    fn nineteen_of_twenty_is_exactly_95_percent() {
        let class = vec!["a"; 20];
        let mut values = vec!["flu"; 19];
        values.push("hiv");
        let table =
            Table { columns: vec![Column::from_values("q", class), Column::from_values("d", values)], rows: 20 };
        let (set, _) = FrequencySet::count(&table, &[0], &[1], None);
        let published = Published { set: &set, classes: &set.groups, sensitive: &[] };
        assert_eq!(ENTRY_95.attack.run(&published, 0).classes, 1);
        assert_eq!(ENTRY.attack.run(&published, 0).classes, 0);
    }
}
