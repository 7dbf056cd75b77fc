//! Who is in which class, as far as the original table tells.
//!
//! The classes of a local recoding may overlap: a tuple that fits several of them is in any of those. Two things follow for
//! certain, again and again until nothing more does. A class for which there are just as many rows as it publishes has
//! them all, and no other class has any of them. And where no row was suppressed, a tuple with one class left is in it;
//! a class that is full of such tuples has none of the others.

use super::fit::Covered;
use super::{Fits, Published, Tuples};
use crate::frequency;

/// The class of a tuple that may be in several.
const OPEN: u32 = u32::MAX;

/// Who is in which class.
#[derive(Debug)]
pub struct Members<'a> {
    places: Vec<Place>,
    /// The tuples that each class covers.
    covered: &'a Covered,
}

impl Members<'_> {
    /// For each tuple that was joined its class, where it is certain that all its rows are there, and its rows.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Option<u32>, u64)> {
        self.places.iter().map(|place| (Some(place.class).filter(|&class| class != OPEN), place.rows))
    }

    /// The tuples that are certainly in each class, with their rows.
    pub fn tuples(&self) -> Tuples {
        let own = |class: u32| {
            let covered = self.covered.tuples.get(class as usize).iter();
            let places = covered.map(|&tuple| (tuple, &self.places[tuple as usize]));
            places.filter(move |(_, place)| place.class == class).map(|(tuple, place)| (tuple, place.rows))
        };
        let mut sizes = vec![0usize; self.covered.tuples.len()];
        let inside = self.places.iter().filter(|place| place.class != OPEN);
        inside.for_each(|place| sizes[place.class as usize] += 1);
        Tuples::of_classes(&sizes, self.covered.order.iter().map(|&class| (class, own(class))))
    }
}

/// Tells who is in which class.
pub fn members<'a>(published: &Published<'_>, fits: &'a Fits) -> Members<'a> {
    let sizes: Vec<u64> = published.classes.iter().map(frequency::rows).collect();
    let mut search = Search::new(fits, &sizes);
    if search.nobody_suppressed {
        for tuple in 0..search.places.len() {
            search.only_one_left(tuple);
        }
    }
    while let Some(class) = search.waiting.pop() {
        search.classes[class as usize].waits = false;
        search.look_at(class);
    }
    Members { places: search.places, covered: search.covered }
}

/// Where a tuple may be.
#[derive(Debug, Clone, Copy)]
struct Place {
    rows: u64,
    /// The classes that the tuple may be in: so many, from here on in the list of all.
    start: usize,
    left: u32,
    /// The one that it is in, or [`OPEN`].
    class: u32,
}

/// What is known of a class.
struct Class {
    /// The rows that it publishes.
    size: u64,
    /// The rows that it may have, and those that it has for certain.
    candidates: u64,
    certain: u64,
    /// Whether more may be known by now.
    waits: bool,
}

struct Search<'a> {
    nobody_suppressed: bool,
    places: Vec<Place>,
    /// The classes that each tuple may be in, one tuple after the other.
    possible: Vec<u32>,
    classes: Vec<Class>,
    /// The tuples that each class may have, those included that turned out to be elsewhere.
    covered: &'a Covered,
    /// Classes of which more may be known by now, each once.
    waiting: Vec<u32>,
}

impl<'a> Search<'a> {
    fn new(fits: &'a Fits, sizes: &[u64]) -> Self {
        let covered = fits.covered();
        let class = |&size: &u64| Class { size, candidates: 0, certain: 0, waits: true };
        let mut search = Search {
            nobody_suppressed: fits.rows().sum::<u64>() == sizes.iter().sum::<u64>(),
            places: Vec::with_capacity(fits.tuples.len()),
            possible: fits.pairs().to_vec(),
            classes: sizes.iter().map(class).collect(),
            covered,
            // The first tuples last: they are on top.
            waiting: covered.order.iter().rev().copied().collect(),
        };
        let mut start = 0;
        for (rows, classes) in fits.rows().zip(fits.iter()) {
            search.places.push(Place { rows, start, left: classes.len() as u32, class: OPEN });
            start += classes.len();
            classes.iter().for_each(|&class| search.classes[class as usize].candidates += rows);
        }
        search
    }

    fn look_at(&mut self, class: u32) {
        let Class { size, candidates, certain, .. } = self.classes[class as usize];
        let (full, closed) = (candidates == size, certain == size);
        if full == closed || !full && !self.nobody_suppressed {
            // Nothing follows yet, or nobody is left of whom anything would.
            return;
        }
        for &tuple in self.covered.tuples.get(class as usize) {
            let tuple = tuple as usize;
            if self.places[tuple].class != OPEN || !self.possible(tuple).contains(&class) {
                continue;
            }
            if full {
                self.settle(tuple, class);
                self.leave(tuple, |other| other != class);
            } else {
                self.leave(tuple, |other| other == class);
            }
        }
    }

    /// The classes that a tuple may be in.
    fn possible(&self, tuple: usize) -> &[u32] {
        let Place { start, left, .. } = self.places[tuple];
        &self.possible[start..start + left as usize]
    }

    fn wait(&mut self, class: u32) {
        if !std::mem::replace(&mut self.classes[class as usize].waits, true) {
            self.waiting.push(class);
        }
    }

    fn settle(&mut self, tuple: usize, class: u32) {
        let place = &mut self.places[tuple];
        if place.class == OPEN {
            place.class = class;
            self.classes[class as usize].certain += place.rows;
            self.wait(class);
        }
    }

    /// Takes classes off those that a tuple may be in.
    fn leave(&mut self, tuple: usize, gone: impl Fn(u32) -> bool) {
        let Place { rows, start, left, .. } = self.places[tuple];
        let mut kept = start;
        for at in start..start + left as usize {
            let class = self.possible[at];
            if gone(class) {
                self.classes[class as usize].candidates -= rows;
                self.wait(class);
            } else {
                self.possible[kept] = class;
                kept += 1;
            }
        }
        self.places[tuple].left = (kept - start) as u32;
        if self.nobody_suppressed {
            self.only_one_left(tuple);
        }
    }

    fn only_one_left(&mut self, tuple: usize) {
        if let [class] = *self.possible(tuple) {
            self.settle(tuple, class);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::super::{External, fit};
    use super::*;
    use crate::table::{Column, Table};
    use proptest::prelude::*;

    /// A release that publishes these labels, one a row.
    fn published(labels: &[String]) -> Fixture {
        let label = Column::from_values("age", labels.iter().map(String::as_str));
        Fixture::of(vec![label], Column::from_values("disease", labels.iter().map(|_| "flu")), None)
    }

    fn ages(original: &[u32]) -> Table {
        let ages: Vec<String> = original.iter().map(u32::to_string).collect();
        Table { columns: vec![Column::from_values("age", ages.iter().map(String::as_str))], rows: ages.len() }
    }

    /// The classes of the values of `original`, under a release that publishes `labels`, one a row.
    fn classes(labels: &[String], original: &[u32]) -> Vec<Option<String>> {
        let (fixture, table) = (published(labels), ages(original));
        let fits = fit(&fixture.published(), &External { table: &table, covers: &[] }, &[]).unwrap();
        let found: Vec<Option<u32>> = members(&fixture.published(), &fits).iter().map(|m| m.0).collect();
        let name = |class: u32| fixture.labels.columns[0].value(class as usize).to_string();
        fits.of_row.iter().map(|&tuple| found[tuple as usize].map(name)).collect()
    }

    fn labels(of: &[(&str, usize)]) -> Vec<String> {
        of.iter().flat_map(|&(label, n)| vec![label.to_string(); n]).collect()
    }

    #[test]
    fn what_overlaps_is_told_apart_as_far_as_numbers_go() {
        // 12 fits both, but the younger class is full without it.
        let release = labels(&[("[10-12]", 2), ("[12-20]", 2)]);
        let told = |n: usize| Some(["[10-12]", "[12-20]"][n].to_string());
        assert_eq!(classes(&release, &[10, 11, 12, 20]), [told(0), told(0), told(1), told(1)]);
        // Two of three who may be in either class: who, nobody knows, but 10 and 20 are where they fit.
        let release = labels(&[("[10-12]", 2), ("[12-20]", 3)]);
        assert_eq!(classes(&release, &[10, 12, 12, 12, 20]), [told(0), None, None, None, told(1)]);
        // With someone suppressed, only a class that has no one to spare is certain.
        assert_eq!(classes(&labels(&[("[10-12]", 2), ("[12-20]", 1)]), &[10, 11, 12, 20]), vec![None; 4]);
        let release = labels(&[("[10-12]", 2), ("[30-40]", 1)]);
        let expected = [told(0), told(0), None, None];
        assert_eq!(classes(&release, &[10, 11, 30, 31]), expected);
    }

    /// The classes of tuples by the two rules alone, tried on everything again and again.
    fn by_the_rules(fits: &Fits, sizes: &[u64], rows: &[u64]) -> Vec<Option<u32>> {
        let nobody_suppressed = rows.iter().sum::<u64>() == sizes.iter().sum::<u64>();
        let mut possible: Vec<Vec<u32>> = fits.iter().map(<[u32]>::to_vec).collect();
        let mut settled: Vec<Option<u32>> = vec![None; rows.len()];
        loop {
            let before = (possible.clone(), settled.clone());
            for (own, class) in possible.iter().zip(&mut settled) {
                if let ([one], true) = (own.as_slice(), nobody_suppressed) {
                    *class = Some(*one);
                }
            }
            for (class, &size) in (0u32..).zip(sizes) {
                let candidates: u64 =
                    possible.iter().zip(rows).filter(|(own, _)| own.contains(&class)).map(|p| p.1).sum();
                let certain: u64 = settled.iter().zip(rows).filter(|(own, _)| **own == Some(class)).map(|p| p.1).sum();
                for (own, settled) in possible.iter_mut().zip(&mut settled).filter(|(own, _)| own.contains(&class)) {
                    if candidates == size {
                        (*own, *settled) = (vec![class], Some(class));
                    } else if certain == size && nobody_suppressed && *settled != Some(class) {
                        own.retain(|&other| other != class);
                    }
                }
            }
            if before == (possible.clone(), settled.clone()) {
                return settled;
            }
        }
    }

    proptest! {
        /// In every way to deal the rows to classes, a certain tuple is where it is said to be.
        #[test]
        fn what_is_certain_holds_in_every_world(
            spans in prop::collection::vec((0u32..6, 0u32..3), 1..4),
            picks in prop::collection::vec((0usize..4, 0u32..3), 1..6),
            suppressed in prop::collection::vec(0u32..8, 0..2),
        ) {
            let spans: Vec<(u32, u32)> = spans.iter().map(|&(low, more)| (low, low + more)).collect();
            let mut names: Vec<String> = spans.iter().map(|(low, high)| format!("[{low}-{high}]")).collect();
            let mut release = Vec::new();
            let mut original = suppressed.clone();
            for &(class, at) in &picks {
                let (low, high) = spans[class % spans.len()];
                release.push(names[class % spans.len()].clone());
                original.push(low + at % (high - low + 1));
            }
            let found = classes(&release, &original);
            let (fixture, table) = (published(&release), ages(&original));
            let fits = fit(&fixture.published(), &External { table: &table, covers: &[] }, &[]).unwrap();
            let sizes: Vec<u64> = fixture.set.groups.iter().map(frequency::rows).collect();
            let told: Vec<Option<u32>> = members(&fixture.published(), &fits).iter().map(|m| m.0).collect();
            prop_assert_eq!(told, by_the_rules(&fits, &sizes, &fits.rows().collect::<Vec<u64>>()));
            names.sort();
            names.dedup();
            // Every dealing of the rows that gives each class as many as it publishes; the rest are suppressed.
            let parse = |name: &str| {
                let (low, high) = name.trim_matches(['[', ']']).split_once('-').unwrap();
                (low.parse::<u32>().unwrap(), high.parse::<u32>().unwrap())
            };
            let sizes: Vec<usize> = names.iter().map(|name| release.iter().filter(|r| *r == name).count()).collect();
            let mut world = vec![0usize; original.len()];
            loop {
                let count = |class: usize| world.iter().filter(|&&w| w == class).count();
                let fits = |(row, &class): (usize, &usize)| class == names.len() || {
                    let (low, high) = parse(&names[class]);
                    (low..=high).contains(&original[row])
                };
                if (0..names.len()).all(|class| count(class) == sizes[class]) && world.iter().enumerate().all(fits) {
                    for (row, &class) in world.iter().enumerate() {
                        if let Some(told) = &found[row] {
                            prop_assert_eq!(Some(told), names.get(class));
                        }
                    }
                }
                let Some(next) = world.iter().position(|&w| w < names.len()) else { break };
                world[..next].fill(0);
                world[next] += 1;
            }
        }
    }
}
