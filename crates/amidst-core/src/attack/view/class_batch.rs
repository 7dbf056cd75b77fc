//! Classes with the people of a population whom they cover, gathered a few at a time.

use std::ops::Range;

use super::{PopulationKnowledge, Target};
use crate::class::Histogram;
use crate::frequency::Entry;
use crate::ids::SensitiveId;

/// Some classes, and the people of the population whom they cover. They are gathered together: fetching each from slow
/// memory takes long, but many fetches go on at once.
#[derive(Default)]
pub struct ClassBatch<'a> {
    pub classes: Vec<BatchedClass<'a>>,
    /// The persons of the classes by value.
    pub own: Vec<(SensitiveId, u64)>,
    pub tuples: Vec<Tuple>,
    /// The people of the tuples by value, and room for a few more.
    pub people: Vec<(SensitiveId, u64)>,
}

/// A class, and where its persons, the tuples that it covers and their people stand among those of the batch.
pub struct BatchedClass<'a> {
    pub class: u32,
    pub size: u64,
    pub histogram: &'a Histogram,
    pub own: Range<usize>,
    pub tuples: Range<usize>,
    pub people: Range<usize>,
}

/// A tuple of the population.
pub struct Tuple {
    /// Where its people stand, in the population and then in the batch.
    pub people: Range<usize>,
    /// How many persons of the class have it, where that is told.
    pub told: Option<u64>,
}

impl<'a> ClassBatch<'a> {
    /// Replaces the batch by these classes.
    pub fn gather(&mut self, classes: &[u32], target: &'a Target<'_>, known: &PopulationKnowledge<'_>) {
        self.classes.clear();
        for &class in classes {
            let (size, histogram) = target.class(class as usize);
            self.classes.push(BatchedClass { class, size, histogram, own: 0..0, tuples: 0..0, people: 0..0 });
        }
        self.own.clear();
        for class in &mut self.classes {
            // A value that does not occur in the population says nothing about its people.
            let own = class.histogram.iter().filter_map(|&(code, n)| Some((known.people.number(code)?, n)));
            let start = self.own.len();
            self.own.extend(own);
            class.own = start..self.own.len();
        }
        self.tuples.clear();
        for class in &mut self.classes {
            let start = self.tuples.len();
            known.covered.each(class.class as usize, |tuple, told| {
                self.tuples.push(Tuple { people: known.people.tuple(tuple), told });
            });
            class.tuples = start..self.tuples.len();
        }
        self.people.clear();
        self.people.resize(self.tuples.iter().map(|t| t.people.len()).sum::<usize>() + FEW, (SensitiveId(0), 0));
        let mut end = 0;
        for class in &mut self.classes {
            let start = end;
            for tuple in &mut self.tuples[class.tuples.clone()] {
                let own = tuple.people.clone();
                tuple.people = end..end + own.len();
                copy(known.people.entries(), own, &mut self.people[end..]);
                end = tuple.people.end;
            }
            class.people = start..end;
        }
    }
}

/// The number of people copied at once.
const FEW: usize = 4;

/// Copies the people at `own` to the front of `to`, which has room for [`FEW`] more: up to that many are copied as a
/// block of fixed size, because a loop of few steps costs a branch misprediction.
fn copy(entries: &[Entry], own: Range<usize>, to: &mut [(SensitiveId, u64)]) {
    let one = |entry: &Entry| (entry.sensitive, entry.rows);
    match (entries.get(own.start..own.start + FEW), to.get_mut(..FEW)) {
        (Some(few), Some(places)) if own.len() <= FEW => {
            places.iter_mut().zip(few).for_each(|(place, entry)| *place = one(entry));
        }
        _ => to.iter_mut().zip(&entries[own]).for_each(|(place, entry)| *place = one(entry)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Fixture, INPATIENTS};
    use super::super::{Covering, People, Tuples};
    use super::*;
    use crate::class::Population;

    #[test]
    fn few_and_many_people_are_gathered_alike() {
        // Tuples of one person up to more than are copied at once, the last of them at the end of the population.
        let histograms: Vec<Vec<(u32, u64)>> = (1..=2 * FEW as u64).map(|n| (0u32..).zip(1..=n).collect()).collect();
        let wide = |h: &Vec<(u32, u64)>| h.iter().map(|&(v, n)| (v, u128::from(n))).collect();
        let population = Population { histograms: histograms.iter().map(wide).collect(), ..Population::default() };
        let covered = Tuples::collect(3, (0..8).rev().map(|tuple| (tuple % 3, tuple, 1)).collect());
        let people = People::from(&population);
        let known = PopulationKnowledge { people: &people, covered: Covering::Told(&covered) };
        let fixture = Fixture::new(&INPATIENTS);
        let target = fixture.target();
        let typed = |h: &[(u32, u64)]| h.iter().map(|&(value, n)| (SensitiveId(value), n)).collect::<Vec<_>>();
        let mut batch = ClassBatch::default();
        for classes in [[2, 0].as_slice(), &[1], &[0, 1, 2]] {
            batch.gather(classes, &target, &known);
            assert_eq!(batch.classes.len(), classes.len());
            for (class, &number) in batch.classes.iter().zip(classes) {
                let (size, histogram) = target.class(number as usize);
                assert_eq!((class.class, class.size), (number, size));
                // The population numbers its values as the release does.
                assert_eq!(batch.own[class.own.clone()], typed(histogram));
                let tuples: Vec<usize> = (0..8).filter(|tuple| tuple % 3 == number as usize).collect();
                let found = batch.tuples[class.tuples.clone()].iter().map(|t| &batch.people[t.people.clone()]);
                assert!(found.eq(tuples.iter().map(|&tuple| typed(&histograms[tuple]))));
                let all: Vec<(u32, u64)> = tuples.iter().flat_map(|&tuple| histograms[tuple].clone()).collect();
                assert_eq!(batch.people[class.people.clone()], typed(&all));
            }
        }
    }
}
