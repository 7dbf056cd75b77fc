//! What an adversary who knows the population believes about one person, before and after the release.
//!
//! ℓ-diversity article, Theorem 3.1: with f the joint distribution of quasi tuple and sensitive value in the
//! population, the prior belief that a person with tuple q has value s is α = f(s | q), and after seeing the class q*
//! with counts n the posterior is
//!
//! β = n_s · f(s|q)/f(s|q*)  /  Σ_s' n_s' · f(s'|q)/f(s'|q*).
//!
//! Conditional probabilities come from counts, whose totals cancel: f(s|q)/f(s|q*) is F(q,s)/F(q*,s) times a factor
//! that is the same for every s, and so do the parts in which a population counts. All fractions are exact.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::Zero;

use crate::class::{Class, Histogram, Population, TableStats};
use crate::exact::Rational;
use crate::frequency::{FrequencySet, add_up};

/// The beliefs about one value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Belief {
    /// The sensitive value's code.
    pub value: u32,
    /// Before the release: α.
    pub prior: Rational,
    /// After the release: β.
    pub posterior: Rational,
}

/// The population's counts of sensitive values over the tuples that a class covers: F(q*, s).
pub fn covered(population: &Population, tuples: &[u32]) -> Vec<(u32, u128)> {
    let mut counts: Vec<(u32, u128)> =
        tuples.iter().filter_map(|&t| population.histograms.get(t as usize)).flatten().copied().collect();
    add_up(&mut counts);
    counts
}

/// The beliefs about every value that the population gives a person with tuple `q`, in a class with the histogram
/// `class` that covers the population counts `covered`.
///
/// `None` when the population contradicts the table: it knows nobody with this tuple, or none of the values that the
/// class publishes for it. Beliefs are then undefined.
pub fn beliefs(q: &[(u32, u128)], covered: &[(u32, u128)], class: &Histogram) -> Option<Vec<Belief>> {
    let total: u128 = q.iter().map(|c| c.1).sum();
    if total == 0 {
        return None;
    }
    let weight = |&(value, count): &(u32, u128)| {
        let rows = class.binary_search_by_key(&value, |c| c.0).map_or(0, |i| class[i].1);
        match covered.binary_search_by_key(&value, |c| c.0).map_or(0, |i| covered[i].1) {
            0 => BigRational::zero(),
            all => BigRational::new(BigInt::from(rows) * BigInt::from(count), all.into()),
        }
    };
    let weights: Vec<BigRational> = q.iter().map(weight).collect();
    let sum: BigRational = weights.iter().sum();
    if sum.is_zero() {
        return None;
    }
    let belief = |(&(value, count), weight): (&(u32, u128), &BigRational)| Belief {
        value,
        prior: Rational::wide_ratio(count, total),
        posterior: (weight / &sum).into(),
    };
    Some(q.iter().zip(&weights).filter(|(c, _)| c.1 > 0).map(belief).collect())
}

/// Shows every belief about a person whom the class covers, until one is refused. False, too, where beliefs are
/// undefined: without a population, or where the population contradicts the table.
pub fn every_belief(class: &Class<'_>, table: &TableStats, mut accept: impl FnMut(&Belief) -> bool) -> bool {
    let Some(population) = &table.population else { return false };
    let covered = covered(population, class.tuples);
    let known = |value: u32| covered.binary_search_by_key(&value, |c| c.0).is_ok_and(|i| covered[i].1 > 0);
    let present = |q: u32| table.tuple_sizes.get(q as usize).is_some_and(|&n| n > 0);
    class.histogram.iter().all(|&(value, _)| known(value))
        && class.tuples.iter().all(|&q| {
            let prior = population.histograms.get(q as usize).map_or(&[][..], Vec::as_slice);
            match beliefs(prior, &covered, class.histogram) {
                Some(beliefs) => beliefs.iter().all(&mut accept),
                // People who can have none of the class's values are not in it.
                None => !present(q),
            }
        })
}

/// Why beliefs are undefined, for people.
pub(crate) const CONTRADICTED: &str =
    "the population gives no share to a value, or to quasi values, that the table has";

/// Rows of a table that a population contradicts: those whose quasi values, or whose value of a sensitive column,
/// nobody has; and those whose quasi values and value nobody has together, the former among them.
pub fn contradicted(set: &FrequencySet, population: &Population, column: usize) -> (u64, u64) {
    let everywhere = covered(population, &(0..set.len() as u32).collect::<Vec<u32>>());
    let share =
        |counts: &[(u32, u128)], value: u32| counts.binary_search_by_key(&value, |c| c.0).map_or(0, |i| counts[i].1);
    let (mut alone, mut together) = (0, 0);
    for tuple in 0..set.len() {
        let people = population.histograms.get(tuple).map_or(&[][..], Vec::as_slice);
        let nobody = people.iter().all(|c| c.1 == 0);
        for entry in set.groups.get(tuple) {
            let value = set.sensitive_code(entry.sensitive, column);
            alone += if nobody || share(&everywhere, value) == 0 { entry.rows } else { 0 };
            together += if share(people, value) == 0 { entry.rows } else { 0 };
        }
    }
    (alone, together)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Table;

    #[test]
    fn rows_that_a_population_contradicts_are_counted() {
        let rows = [["a", "x"], ["a", "x"], ["a", "y"], ["b", "y"], ["b", "z"], ["c", "x"]];
        let table = Table::from_rows(["q", "s"], rows);
        let (set, _) = FrequencySet::count(&table, &[0], &[1], None);
        // Of a there are x and y, of b only x, of c nobody; nobody at all has z.
        let histograms = vec![vec![(0, 3), (1, 2)], vec![(0, 1)], vec![(1, 0)]];
        let population = Population { totals: vec![5, 1, 0], histograms, scale: 1 };
        assert_eq!(contradicted(&set, &population, 0), (2, 3), "z and c; these, and y of b");
    }

    #[test]
    fn figures_5_and_6_of_the_article() {
        let population = Population::of_figure_5();
        let at = |tuples: &[u32], q: usize, class: &Histogram| -> Vec<(Rational, Rational)> {
            let covered = covered(&population, tuples);
            let beliefs = beliefs(&population.histograms[q], &covered, class).unwrap();
            beliefs.into_iter().map(|b| (b.prior, b.posterior)).collect()
        };
        let r = Rational::new;
        assert_eq!(at(&[0], 0, &[(0, 1), (1, 1)]), [(r(3, 10), r(1, 2)), (r(7, 10), r(1, 2))]);
        assert_eq!(at(&[1], 1, &[(0, 35), (1, 15)]), [(r(1, 2), r(7, 10)), (r(1, 2), r(3, 10))]);
        // 36·.15/.4 = 27/2 and 16·.35/.6 = 28/3.
        assert_eq!(at(&[0, 1], 0, &[(0, 36), (1, 16)])[0], (r(3, 10), r(81, 137)));
    }

    #[test]
    fn a_population_that_contradicts_the_table_gives_no_belief() {
        assert_eq!(beliefs(&[], &[(0, 1)], &[(0, 1)]), None);
        assert_eq!(beliefs(&[(0, 1)], &[(0, 1)], &[(1, 1)]), None);
    }
}
