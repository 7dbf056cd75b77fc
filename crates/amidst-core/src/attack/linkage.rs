//! The linkage attack.
//!
//! **Assumes** that the adversary has a table of named persons with some of the quasi columns, such as a voters' list,
//! and that those persons are in the release.
//!
//! **Succeeds** for a person whose values fit only classes that together give one sensitive value a share of `threshold`
//! or more, even when it stays open which row is theirs. The external values may be original or generalized; an empty
//! one is unknown and fits everything.
//!
//! The (l, α) paper's Rick and Rudy: both fit only the class (25-26), America, 142** of its Table 2, so both have cancer.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::view::cell::Cell;
use super::view::worst;
use super::{Attack, AttackError, Covers, Entry, External, Extra, Findings, Knowledge, Published, Target, share_or};
use crate::exact::Rational;
use crate::frequency::{self, FrequencySet};
use crate::parameter::{Kind, Parameter, Parameters};
use crate::table::Column;

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
    /// Published labels that no external value fits: either those people are absent, or the labels need [`Covers`].
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

/// Which classes the rows of an external table fit.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Fits {
    /// For each distinct combination of values in the joined columns the classes that it fits, ascending.
    pub classes: Vec<Vec<usize>>,
    /// The first row of the external table that has the combination.
    pub first: Vec<usize>,
    /// The combination of each row of the external table, a position in `classes`.
    pub of_row: Vec<usize>,
    /// The columns that were joined.
    pub columns: Vec<String>,
    /// Published labels that no external value fits.
    pub unused_labels: u64,
}

/// Joins `external` with the classes of a release on the quasi columns that both have.
pub fn fit(published: &Published<'_>, external: &External<'_>) -> Result<Fits, AttackError> {
    let lacks = |what: &str| AttackError::Lacks { attack: ENTRY.id, what: what.to_string() };
    let labels = published.labels.ok_or_else(|| lacks("the published quasi labels"))?;
    let shared: Vec<(&Column, usize)> =
        labels.columns.iter().filter_map(|c| Some((c, external.table.position(&c.name)?))).collect();
    if shared.is_empty() {
        return Err(lacks("an external table that has at least one quasi column under the same name"));
    }
    let mut fits = Fits { columns: shared.iter().map(|(c, _)| c.name.clone()).collect(), ..Fits::default() };
    let mut fitting_labels: Vec<Vec<Vec<u32>>> = Vec::with_capacity(shared.len());
    for &(column, at) in &shared {
        let covers = external.covers.iter().find(|(name, _)| *name == column.name).map(|(_, c)| c);
        let fit = fitting(&external.table.columns[at], column, covers);
        let mut used = vec![false; column.dictionary.len()];
        fit.iter().flatten().for_each(|&label| used[label as usize] = true);
        fits.unused_labels += used.iter().filter(|&&u| !u).count() as u64;
        fitting_labels.push(fit);
    }

    let columns: Vec<&Column> = shared.iter().map(|(c, _)| *c).collect();
    let index = Index::new(published, &columns, labels.rows);
    let positions: Vec<usize> = shared.iter().map(|&(_, at)| at).collect();
    let (tuples, of_row) = FrequencySet::count(external.table, &positions, &[], None);
    fits.of_row = of_row.iter().map(|&t| t as usize).collect();
    fits.first = vec![usize::MAX; tuples.len()];
    for (row, &tuple) in fits.of_row.iter().enumerate() {
        fits.first[tuple] = fits.first[tuple].min(row);
    }
    for tuple in 0..tuples.len() {
        let labels: Vec<&[u32]> =
            tuples.tuple(tuple).iter().zip(&fitting_labels).map(|(&code, fit)| fit[code as usize].as_slice()).collect();
        let mut classes = Vec::new();
        index.search(&labels, 0, 0..index.classes.len(), &mut classes);
        classes.sort_unstable();
        fits.classes.push(classes);
    }
    Ok(fits)
}

/// Joins `external` with the release, and tells what its classes say about each person.
pub fn link(target: &Target<'_>, external: &External<'_>) -> Result<Links, AttackError> {
    let Fits { classes, first, of_row, columns, unused_labels } = fit(&target.published, external)?;
    let link = |(classes, row): (Vec<usize>, usize)| {
        let mut histogram: Vec<(u32, u64)> = Vec::new();
        let mut candidates = 0;
        for &class in &classes {
            let (size, counts) = target.class(class);
            candidates += size;
            histogram.extend(counts);
        }
        histogram.sort_unstable();
        histogram.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0 };
            same
        });
        Link { row, classes, candidates, histogram }
    };
    Ok(Links { links: classes.into_iter().zip(first).map(link).collect(), of_row, columns, unused_labels })
}

/// For each distinct external value the published labels that it fits, ascending.
fn fitting(external: &Column, labels: &Column, covers: Option<&Covers>) -> Vec<Vec<u32>> {
    // Plain text fits itself alone and is found by name; only labels that say more are compared with every value.
    let parsed: Vec<Cell> = labels.dictionary.iter().map(|l| Cell::parse(l, covers)).collect();
    let wide: Vec<u32> = (0u32..).zip(&parsed).filter(|(_, cell)| !cell.is_plain()).map(|(l, _)| l).collect();
    let fit = |value: &str| -> Vec<u32> {
        if value.trim().is_empty() {
            return (0..parsed.len() as u32).collect();
        }
        let cell = Cell::parse(value, covers);
        let compared: Box<dyn Iterator<Item = u32>> =
            if cell.is_plain() { Box::new(wide.iter().copied()) } else { Box::new(0..parsed.len() as u32) };
        let mut found: Vec<u32> = compared.filter(|&l| parsed[l as usize].meets(&cell)).collect();
        found.extend(labels.dictionary.code(value.trim()));
        found.sort_unstable();
        found.dedup();
        found
    };
    external.dictionary.iter().map(fit).collect()
}

/// The classes in the order of their labels, so that those with the same first labels stand together.
struct Index {
    classes: Vec<u32>,
    /// The labels of each class in `classes`, column by column.
    keys: Vec<Vec<u32>>,
}

impl Index {
    fn new(published: &Published<'_>, columns: &[&Column], rows: usize) -> Self {
        let rows = rows.min(published.classes.len());
        let filled = (0..rows).filter(|&class| !published.classes.get(class).is_empty());
        let mut classes: Vec<u32> = filled.map(|class| class as u32).collect();
        classes.sort_by(|&a, &b| {
            let key = |class: u32| columns.iter().map(move |c| c.codes.get(class as usize));
            key(a).cmp(key(b))
        });
        let keys = columns.iter().map(|c| classes.iter().map(|&class| c.codes.get(class as usize)).collect()).collect();
        Index { classes, keys }
    }

    /// Collects the classes of `range` whose labels from column `depth` on are among those in `labels`.
    fn search(&self, labels: &[&[u32]], depth: usize, range: std::ops::Range<usize>, found: &mut Vec<usize>) {
        let (Some(wanted), Some(keys)) = (labels.get(depth), self.keys.get(depth)) else {
            found.extend(self.classes[range].iter().map(|&class| class as usize));
            return;
        };
        let end_of = |from: usize, key: u32| from + keys[from..range.end].partition_point(|&k| k <= key);
        if wanted.len() < (range.end - range.start) / 8 {
            let mut from = range.start;
            for &key in wanted.iter() {
                from += keys[from..range.end].partition_point(|&k| k < key);
                let end = end_of(from, key);
                if end > from {
                    self.search(labels, depth + 1, from..end, found);
                }
                from = end;
            }
        } else {
            let mut from = range.start;
            while from < range.end {
                let end = end_of(from, keys[from]);
                if wanted.binary_search(&keys[from]).is_ok() {
                    self.search(labels, depth + 1, from..end, found);
                }
                from = end;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::view::fixture::{Fixture, figure};
    use super::*;
    use crate::table::Table;
    use proptest::prelude::*;

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

    proptest! {
        #[test]
        fn the_index_finds_what_comparing_everyone_finds(
            rows in prop::collection::vec((0usize..6, 0usize..5, 0usize..3), 1..60),
            persons in prop::collection::vec((0u8..40, 0u8..4), 1..10),
        ) {
            let ages = ["[0-9]", "[5-20]", "1*", "*", ">30", "7"];
            let codes = ["{0,1}", "{1,2}", "3", "*", "2"];
            let pick = |f: &dyn Fn(&(usize, usize, usize)) -> &'static str| rows.iter().map(f).collect::<Vec<_>>();
            let fixture = Fixture::of(
                vec![column("age", &pick(&|r| ages[r.0])), column("code", &pick(&|r| codes[r.1]))],
                column("s", &pick(&|r| ["x", "y", "z"][r.2])),
                None,
            );
            let text = |f: &dyn Fn(&(u8, u8)) -> u8| persons.iter().map(|p| f(p).to_string()).collect::<Vec<_>>();
            let (age, code) = (text(&|p| p.0), text(&|p| p.1));
            let table = Table {
                columns: vec![
                    Column::from_values("code", code.iter().map(String::as_str)),
                    Column::from_values("age", age.iter().map(String::as_str)),
                ],
                rows: persons.len(),
            };
            let found = link(&fixture.target(), &External { table: &table, covers: &[] }).unwrap();
            for row in 0..persons.len() {
                let fits = |label: &str, value: &str| Cell::parse(label, None).meets(&Cell::parse(value, None));
                let expected = rows.iter().filter(|r| fits(ages[r.0], &age[row]) && fits(codes[r.1], &code[row]));
                prop_assert_eq!(found.links[found.of_row[row]].candidates, expected.count() as u64);
            }
        }
    }
}
