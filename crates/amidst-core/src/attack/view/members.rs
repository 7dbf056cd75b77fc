//! Who is in which class, as far as the original table tells.
//!
//! The classes of a local recoding may overlap: a tuple that fits several of them is in any of those. Two things follow for
//! certain, again and again until nothing more does. A class for which there are just as many rows as it publishes has
//! them all, and no other class has any of them. And where no row was suppressed, a tuple with one class left is in it;
//! a class that is full of such tuples has none of the others.

use super::fit::Lists;
use super::{Fits, Published, Tuples};
use crate::frequency;

/// Who is in which class.
#[derive(Debug, Clone, Default)]
pub struct Members {
    /// The class of each tuple that was joined, where it is certain that all its rows are there.
    pub class_of: Vec<Option<u32>>,
    /// The rows of each tuple.
    pub rows: Vec<u64>,
    /// The tuples that each class covers.
    covered: Lists,
}

impl Members {
    /// The tuples that are certainly in each class, with their rows.
    pub fn tuples(&self) -> Tuples {
        let classes = (0u32..).zip(self.covered.offsets.windows(2));
        Tuples::of_classes(classes.map(|(class, _)| {
            let own = self.covered.get(class as usize).iter();
            own.filter(move |&&tuple| self.class_of[tuple as usize] == Some(class))
                .map(|&tuple| (tuple, self.rows[tuple as usize]))
        }))
    }
}

/// Tells who is in which class.
pub fn members(published: &Published<'_>, fits: &Fits) -> Members {
    let rows: Vec<u64> = fits.tuples.groups.iter().map(frequency::rows).collect();
    let sizes: Vec<u64> = published.classes.iter().map(frequency::rows).collect();
    let nobody_suppressed = rows.iter().sum::<u64>() == sizes.iter().sum::<u64>();
    let mut search = Search::new(fits, rows, sizes, nobody_suppressed);
    if nobody_suppressed {
        for tuple in 0..search.rows.len() {
            search.only_one_left(tuple);
        }
    }
    while let Some(class) = search.waiting.pop() {
        search.waits[class as usize] = false;
        search.look_at(class);
    }
    Members { class_of: search.class_of, rows: search.rows, covered: search.tuples }
}

struct Search {
    nobody_suppressed: bool,
    rows: Vec<u64>,
    sizes: Vec<u64>,
    /// The classes that each tuple may be in stand first in its list, so many of them.
    possible: Lists,
    left: Vec<u32>,
    /// The tuples that each class may have, those included that turned out to be elsewhere.
    tuples: Lists,
    /// The rows that each class may have, and those that it has for certain.
    candidates: Vec<u64>,
    certain: Vec<u64>,
    class_of: Vec<Option<u32>>,
    /// Classes of which more may be known by now, each once.
    waiting: Vec<u32>,
    waits: Vec<bool>,
}

impl Search {
    fn new(fits: &Fits, rows: Vec<u64>, sizes: Vec<u64>, nobody_suppressed: bool) -> Self {
        let tuples = fits.by_class(sizes.len());
        let candidates = |class: usize| tuples.get(class).iter().map(|&tuple| rows[tuple as usize]).sum();
        Search {
            nobody_suppressed,
            candidates: (0..sizes.len()).map(candidates).collect(),
            possible: fits.lists(),
            left: fits.iter().map(|classes| classes.len() as u32).collect(),
            certain: vec![0; sizes.len()],
            class_of: vec![None; rows.len()],
            waiting: (0..sizes.len() as u32).collect(),
            waits: vec![true; sizes.len()],
            tuples,
            rows,
            sizes,
        }
    }

    fn look_at(&mut self, class: u32) {
        let at = class as usize;
        let full = self.candidates[at] == self.sizes[at];
        let closed = self.certain[at] == self.sizes[at];
        if full == closed || !full && !self.nobody_suppressed {
            // Nothing follows yet, or nobody is left of whom anything would.
            return;
        }
        for place in self.tuples.offsets[at]..self.tuples.offsets[at + 1] {
            let tuple = self.tuples.members[place] as usize;
            if self.class_of[tuple].is_some() || !self.possible(tuple).contains(&class) {
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
        let start = self.possible.offsets[tuple];
        &self.possible.members[start..start + self.left[tuple] as usize]
    }

    fn wait(&mut self, class: u32) {
        if !std::mem::replace(&mut self.waits[class as usize], true) {
            self.waiting.push(class);
        }
    }

    fn settle(&mut self, tuple: usize, class: u32) {
        if self.class_of[tuple].is_none() {
            self.class_of[tuple] = Some(class);
            self.certain[class as usize] += self.rows[tuple];
            self.wait(class);
        }
    }

    /// Takes classes off those that a tuple may be in.
    fn leave(&mut self, tuple: usize, gone: impl Fn(u32) -> bool) {
        let start = self.possible.offsets[tuple];
        let mut kept = start;
        for place in start..start + self.left[tuple] as usize {
            let class = self.possible.members[place];
            if gone(class) {
                self.candidates[class as usize] -= self.rows[tuple];
                self.wait(class);
            } else {
                self.possible.members[kept] = class;
                kept += 1;
            }
        }
        self.left[tuple] = (kept - start) as u32;
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

    /// The classes of the values of `original`, under a release that publishes `labels`, one a row.
    fn classes(labels: &[String], original: &[u32]) -> Vec<Option<String>> {
        let label = Column::from_values("age", labels.iter().map(String::as_str));
        let disease = Column::from_values("disease", labels.iter().map(|_| "flu"));
        let fixture = Fixture::of(vec![label], disease, None);
        let ages: Vec<String> = original.iter().map(u32::to_string).collect();
        let table =
            Table { columns: vec![Column::from_values("age", ages.iter().map(String::as_str))], rows: ages.len() };
        let fits = fit(&fixture.published(), &External { table: &table, covers: &[] }, &[]).unwrap();
        let found = members(&fixture.published(), &fits).class_of;
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
