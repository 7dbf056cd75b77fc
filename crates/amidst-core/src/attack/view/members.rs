//! Who is in which class, as far as the original table tells.
//!
//! The classes of a local recoding may overlap: a tuple that fits several of them is in any of those. Two things follow
//! for certain, again and again until nothing more does. A class for which there are just as many rows as it publishes
//! has them all, and no other class has any of them. And where no row was suppressed, a tuple with one class left is in
//! it; a class that is full of such tuples has none of the others.
//!
//! Most tuples fit one class. They are certain together or not at all, so they are counted, and only the others are
//! followed.

use rayon::prelude::*;

use super::fit::Fits;
use super::lists::{Lists, Turned};
use super::published::Published;
use super::tuples::TupleTotals;
use crate::frequency;

/// The least number of tuples that a task counts.
const TUPLES: usize = 1 << 16;

/// Who is in which class.
#[derive(Debug)]
pub struct Members<'a> {
    fits: &'a Fits,
    /// What is in each class for certain, and whether those who fit it alone are.
    certain: Vec<TupleTotals>,
    decided: Vec<bool>,
    open: Vec<Open>,
}

impl Members<'_> {
    /// For each tuple that was joined its class, where it is certain that all its rows are there, and its rows.
    pub fn iter(&self) -> impl Iterator<Item = (Option<u32>, u64)> {
        let mut open = self.open.iter();
        self.fits.iter().zip(self.fits.rows()).map(move |(own, rows)| match *own {
            [class] => (Some(class).filter(|&class| self.decided[class as usize]), rows),
            _ => (open.next().and_then(|open| open.class), rows),
        })
    }

    /// The class and rows of every tuple that is certainly in one of those that are `wanted`.
    pub(super) fn of_classes(&self, wanted: impl Fn(u32) -> bool + Sync) -> Vec<(u32, u64)> {
        let alone = (0..self.fits.tuples.len()).into_par_iter().with_min_len(TUPLES).filter_map(|tuple| {
            let &[class] = self.fits.classes(tuple) else { return None };
            let here = wanted(class) && self.decided[class as usize];
            here.then(|| (class, frequency::rows(self.fits.tuples.groups.get(tuple))))
        });
        let open = self.open.iter().filter_map(|open| Some((open.class.filter(|&class| wanted(class))?, open.rows)));
        let mut found: Vec<(u32, u64)> = alone.collect();
        found.extend(open);
        found
    }

    /// What the tuples that are certainly in a class come to.
    pub(super) fn whole(&self, class: usize) -> TupleTotals {
        self.certain.get(class).copied().unwrap_or_default()
    }
}

/// Tells who is in which class.
pub fn members<'a>(published: &Published<'_>, fits: &'a Fits) -> Members<'a> {
    let sizes: Vec<u64> = published.classes.iter().map(frequency::rows).collect();
    let (classes, open) = count(fits, sizes.len());
    let mut search = Search::new(fits, classes, open, sizes);
    while let Some(class) = search.waiting.pop() {
        search.waits[class as usize] = false;
        search.look_at(class);
    }
    Members { fits, certain: search.certain, decided: search.decided, open: search.open }
}

/// What may be in a class.
#[derive(Debug, Clone, Copy, Default)]
struct ClassMembers {
    /// The tuples that fit no other.
    alone: TupleTotals,
    /// The rows of those that may be elsewhere, too.
    shared: u64,
}

/// A tuple that fits several classes, or none.
#[derive(Debug)]
struct Open {
    rows: u64,
    /// The class that it is in.
    class: Option<u32>,
    /// Those that it may be in: their number, and where they begin in the list of all.
    left: u32,
    start: usize,
}

/// Counts what may be in each of `count` classes; and tells the tuples that do not fit just one.
fn count(fits: &Fits, count: usize) -> (Vec<ClassMembers>, Vec<usize>) {
    let tuples = fits.tuples.len();
    let part = tuples.div_ceil(rayon::current_num_threads()).max(TUPLES);
    let parts = (0..tuples.div_ceil(part)).into_par_iter().map(|i| {
        let (mut classes, mut open) = (vec![ClassMembers::default(); count], Vec::new());
        for tuple in i * part..((i + 1) * part).min(tuples) {
            let rows = frequency::rows(fits.tuples.groups.get(tuple));
            match *fits.classes(tuple) {
                [class] => classes[class as usize].alone.add(rows),
                ref own => {
                    own.iter().for_each(|&class| classes[class as usize].shared += rows);
                    open.push(tuple);
                }
            }
        }
        (classes, open)
    });
    let both = |mut all: (Vec<ClassMembers>, Vec<usize>), more: (Vec<ClassMembers>, Vec<usize>)| {
        for (class, more) in all.0.iter_mut().zip(&more.0) {
            class.alone.join(&more.alone);
            class.shared += more.shared;
        }
        all.1.extend(more.1);
        all
    };
    parts.reduce_with(both).unwrap_or_else(|| (vec![ClassMembers::default(); count], Vec::new()))
}

struct Search {
    nobody_suppressed: bool,
    /// For each class the rows that it publishes, what may be in it, what is for certain, and whether that includes
    /// those who fit it alone.
    sizes: Vec<u64>,
    classes: Vec<ClassMembers>,
    certain: Vec<TupleTotals>,
    decided: Vec<bool>,
    open: Vec<Open>,
    /// The classes that each open tuple may be in, one tuple after the other.
    possible: Vec<u32>,
    /// The open tuples that each class may have, those included that turned out to be elsewhere.
    of_class: Turned,
    /// Classes of which more may be known by now, each once, and whether each is among them.
    waiting: Vec<u32>,
    waits: Vec<bool>,
}

impl Search {
    fn new(fits: &Fits, classes: Vec<ClassMembers>, tuples: Vec<usize>, sizes: Vec<u64>) -> Self {
        let (mut open, mut possible) = (Vec::with_capacity(tuples.len()), Lists::default());
        for tuple in tuples {
            let (rows, own) = (frequency::rows(fits.tuples.groups.get(tuple)), fits.classes(tuple));
            open.push(Open { rows, class: None, left: own.len() as u32, start: possible.members.len() });
            possible.members.extend_from_slice(own);
            possible.offsets.push(possible.members.len());
        }
        let of_class = possible.turned(sizes.len());
        // The first tuples last: they are on top.
        let waiting: Vec<u32> = of_class.order.iter().rev().copied().collect();
        let mut waits = vec![false; sizes.len()];
        waiting.iter().for_each(|&class| waits[class as usize] = true);
        let rows = open.iter().map(|o| o.rows).sum::<u64>() + classes.iter().map(|c| c.alone.rows).sum::<u64>();
        let nobody_suppressed = rows == sizes.iter().sum::<u64>();
        let full = |(class, size): (&ClassMembers, &u64)| nobody_suppressed || class.alone.rows + class.shared == *size;
        let decided: Vec<bool> = classes.iter().zip(&sizes).map(full).collect();
        let certain =
            |(class, &decided): (&ClassMembers, &bool)| if decided { class.alone } else { TupleTotals::default() };
        let certain = classes.iter().zip(&decided).map(certain).collect();
        let possible = possible.members;
        Search { nobody_suppressed, sizes, classes, certain, decided, open, possible, of_class, waiting, waits }
    }

    fn look_at(&mut self, class: u32) {
        let at = class as usize;
        let (size, ClassMembers { alone, shared }) = (self.sizes[at], self.classes[at]);
        let (full, closed) = (alone.rows + shared == size, self.certain[at].rows == size);
        if full == closed || !full && !self.nobody_suppressed {
            // Nothing follows yet, or everything that follows is known.
            return;
        }
        if full && !std::mem::replace(&mut self.decided[at], true) {
            self.certain[at].join(&alone);
        }
        for at in self.of_class.get(class) {
            let open = self.of_class.lists.members[at] as usize;
            if self.open[open].class.is_some() || !self.possible(open).contains(&class) {
                continue;
            }
            if full {
                self.assign(open, class);
                self.leave(open, |other| other != class);
            } else {
                self.leave(open, |other| other == class);
            }
        }
    }

    /// The classes that a tuple may be in.
    fn possible(&self, open: usize) -> &[u32] {
        let Open { start, left, .. } = self.open[open];
        &self.possible[start..start + left as usize]
    }

    fn wait(&mut self, class: u32) {
        if !std::mem::replace(&mut self.waits[class as usize], true) {
            self.waiting.push(class);
        }
    }

    fn assign(&mut self, open: usize, class: u32) {
        let open = &mut self.open[open];
        if open.class.is_none() {
            open.class = Some(class);
            self.certain[class as usize].add(open.rows);
            self.wait(class);
        }
    }

    /// Takes classes off those that a tuple may be in.
    fn leave(&mut self, open: usize, gone: impl Fn(u32) -> bool) {
        let Open { rows, start, left, .. } = self.open[open];
        let mut kept = start;
        for at in start..start + left as usize {
            let class = self.possible[at];
            if gone(class) {
                self.classes[class as usize].shared -= rows;
                self.wait(class);
            } else {
                self.possible[kept] = class;
                kept += 1;
            }
        }
        self.open[open].left = (kept - start) as u32;
        if let ([class], true) = (&self.possible[start..kept], self.nobody_suppressed) {
            self.assign(open, *class);
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
        fits.of_row.iter().map(|tuple| found[tuple.index()].map(name)).collect()
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
        // Which two of the three that fit both classes are in which is open, but 10 and 20 are where they fit.
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
        let mut decided: Vec<Option<u32>> = vec![None; rows.len()];
        loop {
            let before = (possible.clone(), decided.clone());
            for (own, class) in possible.iter().zip(&mut decided) {
                if let ([one], true) = (own.as_slice(), nobody_suppressed) {
                    *class = Some(*one);
                }
            }
            for (class, &size) in (0u32..).zip(sizes) {
                let candidates: u64 =
                    possible.iter().zip(rows).filter(|(own, _)| own.contains(&class)).map(|p| p.1).sum();
                let certain: u64 = decided.iter().zip(rows).filter(|(own, _)| **own == Some(class)).map(|p| p.1).sum();
                for (own, decided) in possible.iter_mut().zip(&mut decided).filter(|(own, _)| own.contains(&class)) {
                    if candidates == size {
                        (*own, *decided) = (vec![class], Some(class));
                    } else if certain == size && nobody_suppressed && *decided != Some(class) {
                        own.retain(|&other| other != class);
                    }
                }
            }
            if before == (possible.clone(), decided.clone()) {
                return decided;
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
