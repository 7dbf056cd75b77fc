//! The linkage attack.
//!
//! **Assumes** that the adversary has a table of named persons with some of the quasi columns, such as a voters' list,
//! and that those persons are in the release.
//!
//! **Succeeds** for a person whose values fit only classes that together give one sensitive value a share of
//! `threshold` or more, even when it stays open which row is theirs. The external values may be original or
//! generalized; an empty one is unknown and fits everything.
//!
//! The (l, α) paper's Rick and Rudy: both fit only the class (25-26), America, 142** of its Table 2, so both have
//! cancer.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::view::{fit, worst};
use super::{Attack, AttackError, Entry, External, Extra, Findings, Knowledge, Target, share_or};
use crate::exact::Rational;
use crate::frequency;
use crate::parameter::{Kind, Parameter, Parameters};

pub(super) const ENTRY: Entry = Entry {
    id: "linkage",
    title: "linkage attack",
    assumes: "a table of named persons with some of the quasi columns, and that these persons are in the release",
    definition: "the classes that a person's values fit give one sensitive value at least the threshold's share",
    citation: "Sweeney, IJUFKS 2002; Sun, Li & Wang, FGCS 2010, §2, Tables 2 and 3",
    needs: Knowledge::External,
    parameters: &[Parameter::optional("threshold", Kind::Number, "the share that counts as known; 1 when absent")],
    attack: &Linkage,
};

/// What the release says about one person of the external table.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// The person's row in the external table.
    pub row: usize,
    /// The classes that the person's values fit, as positions in the release.
    pub classes: Vec<usize>,
    /// The persons in those classes: who the person may be.
    pub candidates: u64,
    /// The sensitive values of the candidates, by code.
    pub histogram: Vec<(u32, u64)>,
}

/// What joining an external table with the release gave.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Links {
    /// One for each distinct combination of values in the joined columns; the row is the first that has it.
    pub links: Vec<Link>,
    /// The link of each row of the external table, a position in `links`.
    pub of_row: Vec<usize>,
    /// The columns that were joined.
    pub columns: Vec<String>,
    /// Published labels that no external value fits: either those people are absent, or the labels need
    /// [`Covers`](super::Covers).
    pub unused_labels: u64,
}

impl Link {
    /// The likeliest value with its count; the lowest code of several.
    pub fn likeliest(&self) -> Option<(u32, u64)> {
        self.histogram.iter().copied().max_by_key(|&(value, n)| (n, std::cmp::Reverse(value)))
    }

    /// How sure the likeliest value is.
    pub fn posterior(&self) -> f64 {
        self.likeliest().map_or(0.0, |(_, n)| n as f64 / self.candidates as f64)
    }
}

#[derive(Debug)]
struct Linkage;

impl Attack for Linkage {
    fn run(&self, target: &Target<'_>, extra: &Extra<'_>, parameters: &Parameters) -> Result<Findings, AttackError> {
        let threshold = share_or(parameters, "threshold", Rational::from(1))?;
        let Some(external) = extra.external else { return Ok(Findings::default()) };
        let found = link(target, external)?;
        let mut persons = vec![0u64; found.links.len()];
        found.of_row.iter().for_each(|&link| persons[link] += 1);
        let mut hit: BTreeMap<usize, f64> = BTreeMap::new();
        let (mut linked, mut unique, mut known, mut largest, mut candidates) = (0, 0, 0, 0.0f64, 0u64);
        for (link, &here) in found.links.iter().zip(&persons).filter(|(link, _)| link.candidates > 0) {
            linked += here;
            candidates += here * link.candidates;
            unique += if link.candidates == 1 { here } else { 0 };
            largest = largest.max(link.posterior());
            let top = link.likeliest().map_or(0, |(_, n)| n);
            if threshold.compare_count(top, link.candidates) != Ordering::Less {
                known += here;
                for &class in &link.classes {
                    let posterior = hit.entry(class).or_insert(0.0);
                    *posterior = posterior.max(link.posterior());
                }
            }
        }
        let rows = hit.keys().map(|&class| frequency::rows(target.published.classes.get(class))).sum();
        let figures = [
            ("external_persons", found.of_row.len() as f64),
            ("linked_persons", linked as f64),
            ("unique_links", unique as f64),
            ("average_candidates", if linked == 0 { 0.0 } else { candidates as f64 / linked as f64 }),
            ("largest_posterior", largest),
            ("joined_columns", found.columns.len() as f64),
            ("unused_labels", found.unused_labels as f64),
        ];
        Ok(Findings {
            classes: hit.len() as u64,
            rows,
            persons: known,
            worst: worst(hit.iter().map(|(&class, &posterior)| (posterior, target.class(class).0, class))),
            figures: figures.map(|(name, figure)| (name.to_string(), figure)).to_vec(),
        })
    }
}

/// Joins `external` with the release, and tells what its classes say about each person.
pub fn link(target: &Target<'_>, external: &External<'_>) -> Result<Links, AttackError> {
    let fits = fit(&target.published, external, &[])?;
    let mut first = vec![usize::MAX; fits.tuples.len()];
    for (row, tuple) in fits.of_row.iter().enumerate().rev() {
        first[tuple.index()] = row;
    }
    let link = |(classes, row): (&[u32], usize)| {
        let mut histogram: Vec<(u32, u64)> = Vec::new();
        let mut candidates = 0;
        for &class in classes {
            let (size, counts) = target.class(class as usize);
            candidates += size;
            histogram.extend(counts);
        }
        frequency::add_up(&mut histogram);
        Link { row, classes: classes.iter().map(|&class| class as usize).collect(), candidates, histogram }
    };
    let links = fits.iter().zip(first).map(link).collect();
    let of_row = fits.of_row.iter().map(|tuple| tuple.index()).collect();
    Ok(Links { links, of_row, columns: fits.columns, unused_labels: fits.unused_labels })
}

#[cfg(test)]
mod tests {
    use super::super::Covers;
    use super::super::view::fixture::{Fixture, figure};
    use super::*;
    use crate::table::{Column, Table};

    fn column(name: &str, values: &[&str]) -> Column {
        Column::from_values(name, values.iter().copied())
    }

    /// Table 2 of the (l, α) paper, 2-anonymous.
    fn table_2() -> Fixture {
        let ages = ["(27-28)", "(25-26)", ">40", "(33-35)", "(36-37)"];
        let age = [0, 0, 1, 1, 2, 2, 2, 2, 3, 4, 4, 3].map(|a| ages[a]);
        let country = [0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0].map(|c| ["America", "Asia"][c]);
        let zip = [0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0].map(|z| ["142**", "130**"][z]);
        let disease = [
            "HIV",
            "HIV",
            "Cancer",
            "Cancer",
            "Hepatitis",
            "Phthisis",
            "Asthma",
            "Obesity",
            "Flu",
            "Flu",
            "Flu",
            "Indigestion",
        ];
        let quasi = vec![column("age", &age), column("country", &country), column("zip", &zip)];
        Fixture::of(quasi, column("disease", &disease), None)
    }

    /// Table 3: what is known about Rick, Hassen, Rudy and Yamazaki.
    fn table_3() -> Table {
        let columns = vec![
            column("name", &["Rick", "Hassen", "Rudy", "Yamazaki"]),
            column("age", &["26", "45", "25", "48"]),
            column("country", &["USA", "India", "Canada", "Japan"]),
            column("zip", &["14246", "13064", "14249", "13074"]),
        ];
        Table { columns, rows: 4 }
    }

    fn countries() -> Vec<(String, Covers)> {
        let mut covers = Covers::default();
        for (label, value) in [("America", "USA"), ("America", "Canada"), ("Asia", "India"), ("Asia", "Japan")] {
            covers.add(label, value);
        }
        vec![("country".to_string(), covers)]
    }

    #[test]
    fn rick_and_rudy_are_found() {
        let (fixture, table, covers) = (table_2(), table_3(), countries());
        let external = External { table: &table, covers: &covers };
        let target = fixture.target();
        let found = link(&target, &external).unwrap();
        let person = |row: usize| &found.links[found.of_row[row]];
        for row in [0, 2] {
            assert_eq!(person(row).likeliest(), Some((fixture.code("Cancer"), 2)));
            assert_eq!((person(row).candidates, person(row).posterior()), (2, 1.0));
        }
        assert_eq!((person(1).candidates, person(1).posterior()), (4, 0.25));
        let extra = Extra { external: Some(&external), ..Extra::default() };
        let findings = ENTRY.run(&target, &extra, &Parameters::default()).unwrap();
        assert_eq!((findings.classes, findings.rows, findings.persons), (1, 2, 2));
        assert_eq!((figure(&findings, "linked_persons"), figure(&findings, "unique_links")), (4.0, 0.0));
        assert_eq!(fixture.labels.columns[0].value(findings.worst[0]), "(25-26)");
    }

    #[test]
    fn an_unknown_label_is_counted_and_an_absent_column_is_refused() {
        let (fixture, table) = (table_2(), table_3());
        let external = External { table: &table, covers: &[] };
        let found = link(&fixture.target(), &external).unwrap();
        // America and Asia, and the three ages that nobody has.
        assert_eq!((found.unused_labels, found.links.iter().map(|l| l.candidates).sum::<u64>()), (5, 0));
        let names = Table { columns: vec![column("name", &["Rick"])], rows: 1 };
        let error = link(&fixture.target(), &External { table: &names, covers: &[] }).unwrap_err();
        assert!(error.to_string().contains("at least one quasi column"), "{error}");
        let error = ENTRY.run(&fixture.target(), &Extra::default(), &Parameters::default()).unwrap_err();
        assert_eq!(error.to_string(), "the linkage attack needs an external table that has some of the quasi columns");
    }

    #[test]
    fn an_unknown_value_fits_every_label() {
        let fixture = table_2();
        let table = Table { columns: vec![column("age", &["", "[26-27]"])], rows: 2 };
        let found = link(&fixture.target(), &External { table: &table, covers: &[] }).unwrap();
        let candidates = [0, 1].map(|row: usize| found.links[found.of_row[row]].candidates);
        assert_eq!(candidates, [12, 4]);
    }
}
