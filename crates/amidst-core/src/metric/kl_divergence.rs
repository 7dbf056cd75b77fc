//! Kullback–Leibler divergence between the table and what a release tells of it.
//!
//! **Definition.** KL(F̂ ‖ F̂*) = Σ F̂(x) ln(F̂(x)/F̂*(x)) over the distinct (quasi tuple, sensitive tuple) x of the
//! input. F̂(x) is the share of rows equal to x. F̂*(x) is the maximum-entropy estimate from the release: Σ over the
//! classes whose generalized tuple covers x of n_{class,s}/(N · area), where area is the product over the quasi columns
//! of the number of the table's values that the class covers. Several sensitive columns are taken together as one.
//!
//! **Suppressed rows** count as one more class that covers everything, whether they are masked (then they are published
//! so) or dropped: F̂* stays a distribution, every x is covered, and the divergence is never infinite. So dropping a
//! row costs as much as masking it, as with the other metrics.
//!
//! **Baseline**: everything in one such class, [`baseline`]. No release of whole classes costs more.
//!
//! **Source.** Kifer & Gehrke 2006, "Injecting utility into anonymized datasets"; ℓ-diversity article §6.
//!
//! **Bounds.** A coarser F̂* is also constant on the finer cells, and among such distributions that of the finer node
//! is the most likely one: the unsuppressed node is the least.
//!
//! **Cost.** Full-domain classes do not overlap: one look-up a tuple. Classes of local recoding may: they are kept in a
//! tree by their cells, column by column, and tuples that share a prefix share the walk.

use std::ops::Range;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::full_domain::round_down;
use super::{Entry, Input, Metric, Node, NodeCost, Release};
use crate::frequency::{self, FrequencySet};
use crate::hierarchy::{Cell, Generalization};
use crate::ids::SensitiveId;
use crate::recoding::covering::{CoverPath, Covering};
use crate::recoding::{Assignment, SUPPRESSED};

pub(super) const ENTRY: Entry = Entry {
    id: "kl-divergence",
    title: "Kullback–Leibler divergence",
    definition: "Σ F̂(x) ln(F̂(x)/F̂*(x)) over the distinct rows x of the input: F̂ their shares, F̂*(x) = Σ over the \
                 classes that cover x of n_{class,s}/(N · area); suppressed rows are one class that covers everything",
    citation: "Kifer & Gehrke 2006; ℓ-diversity article §6",
    metric: &KlDivergence,
};

#[derive(Debug)]
struct KlDivergence;

/// The number of a class that covers everything, or that has no rows.
const NO_CLASS: u32 = u32::MAX;

/// How many tuples are walked in one go.
const CHUNK: usize = 4096;

impl Metric for KlDivergence {
    fn loss(&self, release: &Release<'_>) -> Option<f64> {
        let set = release.set;
        if set.rows == 0 || set.rolled_up() {
            return None;
        }
        // Classes that cover everything add the same to every x with their sensitive value.
        let mut everywhere: FxHashMap<SensitiveId, u64> = FxHashMap::default();
        if release.suppressed > 0 {
            release.recoding.for_each_part(set, |part| {
                if part.class.is_none() {
                    *everywhere.entry(part.entry.sensitive).or_default() += part.entry.rows;
                }
            });
        }
        let mut classes: Vec<GeneralizedClass<'_>> = Vec::new();
        let mut number_of = vec![NO_CLASS; release.recoding.classes.len()];
        let published = release.recoding.classes.iter().zip(release.groups.iter());
        for ((cells, entries), number) in published.zip(&mut number_of) {
            let complete =
                release.generalizations.iter().zip(cells).all(|(g, c)| g.covered_active(c) == g.active() as u64);
            if complete {
                entries.iter().for_each(|e| *everywhere.entry(e.sensitive).or_default() += e.rows);
            } else if !entries.is_empty() {
                let area = release.generalizations.iter().zip(cells).map(|(g, c)| g.covered_active(c) as f64).product();
                *number = classes.len() as u32;
                classes.push(GeneralizedClass { cells, entries, area });
            }
        }
        let density = Density { everywhere, area: whole_area(release.generalizations), classes, number_of };
        match release.recoding.levels.as_deref().and_then(|levels| Some((levels, density.by_tuple(levels)?))) {
            Some((levels, index)) => density.disjoint(release, levels, &index),
            None => density.overlapping(release),
        }
    }

    fn nodes<'a>(&self, input: &Input<'a>) -> Option<Box<dyn NodeCost + 'a>> {
        if input.set.rows == 0 || input.set.rolled_up() {
            return None;
        }
        Some(Box::new(Nodes { input: *input, self_information: self_information(input.set) }))
    }

    fn looks_at_values(&self) -> bool {
        true
    }
}

/// The divergence when everything is suppressed to one class.
pub fn baseline(input: &Input<'_>) -> Option<f64> {
    let set = input.set;
    if set.rows == 0 || set.rolled_up() {
        return None;
    }
    let mut rows = vec![0; set.sensitive_count()];
    set.groups.entries.iter().for_each(|e| rows[e.sensitive.index()] += e.rows);
    let mut total = entropy_sum(rows.into_iter().filter(|&n| n > 0));
    total -= set.rows as f64 * whole_area(input.generalizations).ln();
    finite((self_information(set) - total) / set.rows as f64)
}

fn whole_area(generalizations: &[Generalization]) -> f64 {
    generalizations.iter().map(|g| g.active() as f64).product()
}

/// Σ n ln n.
fn entropy_sum(counts: impl Iterator<Item = u64>) -> f64 {
    counts.map(|n| n as f64 * (n as f64).ln()).sum()
}

/// Σ n ln n over the distinct rows of the table.
fn self_information(set: &FrequencySet) -> f64 {
    // Entries that differ only in the person stand together.
    let of_tuple = |tuple: usize| {
        entropy_sum(set.groups.get(tuple).chunk_by(|a, b| a.sensitive == b.sensitive).map(frequency::rows))
    };
    // Added up in order: the number of threads must not show in the last digit.
    (0..set.len()).into_par_iter().map(of_tuple).collect::<Vec<f64>>().iter().sum()
}

/// A divergence, cleaned of the rounding below zero.
fn finite(x: f64) -> Option<f64> {
    if x.is_finite() { Some(x.max(0.0)) } else { None }
}

struct GeneralizedClass<'a> {
    cells: &'a [Cell],
    /// Sorted by sensitive tuple.
    entries: &'a [frequency::Entry],
    area: f64,
}

impl GeneralizedClass<'_> {
    /// n_{class,s} / area.
    fn density(&self, sensitive: SensitiveId) -> f64 {
        let first = self.entries.partition_point(|e| e.sensitive < sensitive);
        let own = self.entries[first..].iter().take_while(|e| e.sensitive == sensitive);
        own.map(|e| e.rows).sum::<u64>() as f64 / self.area
    }
}

/// N · F̂*.
struct Density<'a> {
    everywhere: FxHashMap<SensitiveId, u64>,
    /// The area of a class that covers everything.
    area: f64,
    /// The classes that do not.
    classes: Vec<GeneralizedClass<'a>>,
    /// The place of each class of the release among them, or [`NO_CLASS`].
    number_of: Vec<u32>,
}

impl Density<'_> {
    /// Σ over the x of one tuple of n_x ln(n_x/(N · F̂*(x))), the covering classes given.
    fn divergence(&self, entries: &[frequency::Entry], covering: &[u32]) -> f64 {
        let mut sum = 0.0;
        for same in entries.chunk_by(|a, b| a.sensitive == b.sensitive) {
            let (sensitive, n) = (same[0].sensitive, frequency::rows(same));
            let mut density = self.everywhere.get(&sensitive).map_or(0.0, |&m| m as f64 / self.area);
            density += covering.iter().map(|&c| self.classes[c as usize].density(sensitive)).sum::<f64>();
            sum += n as f64 * (n as f64 / density).ln();
        }
        sum
    }

    /// The classes by their generalized tuple, when they all lie at `levels`, so that no two overlap.
    fn by_tuple(&self, levels: &[usize]) -> Option<FxHashMap<Vec<u32>, u32>> {
        let mut index = FxHashMap::default();
        for (number, class) in self.classes.iter().enumerate() {
            let values: Option<Vec<u32>> = (class.cells.iter().zip(levels))
                .map(|(cell, &l)| match cell {
                    Cell::Node { level, value } if *level as usize == l => Some(*value),
                    _ => None,
                })
                .collect();
            if index.insert(values?, number as u32).is_some() {
                return None;
            }
        }
        Some(index)
    }

    /// The divergence when the classes are disjoint.
    fn disjoint(&self, release: &Release<'_>, levels: &[usize], index: &FxHashMap<Vec<u32>, u32>) -> Option<f64> {
        let set = release.set;
        let class_of = match &release.recoding.assignment {
            Assignment::Tuples(class_of) => &class_of[..],
            Assignment::Entries { .. } => &[],
        };
        self.in_chunks(set, |tuples| {
            let mut sum = 0.0;
            let mut values = vec![0; set.width];
            for tuple in tuples {
                // As a rule a tuple is covered by the class it is in, and by no other.
                if let Some(&class) = class_of.get(tuple)
                    && class != SUPPRESSED
                {
                    let own = self.number_of.get(class as usize).copied().filter(|&number| number != NO_CLASS);
                    sum += self.divergence(set.groups.get(tuple), own.as_slice());
                    continue;
                }
                for ((value, &code), (g, &level)) in
                    values.iter_mut().zip(set.tuple(tuple)).zip(release.generalizations.iter().zip(levels))
                {
                    *value = g.levels[level].of[code as usize];
                }
                let found = index.get(&values).copied();
                sum += self.divergence(set.groups.get(tuple), found.as_slice());
            }
            sum
        })
    }

    /// The divergence when classes may overlap.
    fn overlapping(&self, release: &Release<'_>) -> Option<f64> {
        let set = release.set;
        let cells: Vec<&[Cell]> = self.classes.iter().map(|class| class.cells).collect();
        let classes = Covering::new(release.generalizations, &cells);
        self.in_chunks(set, |tuples| {
            let mut way = CoverPath::default();
            tuples.map(|tuple| self.divergence(set.groups.get(tuple), classes.of(&mut way, set.tuple(tuple)))).sum()
        })
    }

    /// The divergence of all tuples, as `of_chunk` tells it of some.
    fn in_chunks(&self, set: &FrequencySet, of_chunk: impl Fn(Range<usize>) -> f64 + Sync) -> Option<f64> {
        let starts: Vec<usize> = (0..set.len()).step_by(CHUNK).collect();
        // Collected in order before they are added up: the number of threads must not show in the last digit.
        let sums: Vec<f64> =
            starts.into_par_iter().map(|start| of_chunk(start..(start + CHUNK).min(set.len()))).collect();
        finite(sums.iter().sum::<f64>() / set.rows as f64)
    }
}

#[derive(Debug)]
struct Nodes<'a> {
    input: Input<'a>,
    /// Σ n ln n over the distinct rows of the table.
    self_information: f64,
}

impl NodeCost for Nodes<'_> {
    fn needs_groups(&self) -> bool {
        true
    }

    fn loss(&self, node: &Node<'_>) -> Option<f64> {
        let groups = node.groups?;
        let generalizations = self.input.generalizations;
        let mut suppressed: FxHashMap<SensitiveId, u64> = FxHashMap::default();
        for class in (0..node.len()).filter(|&c| node.is_suppressed(c)) {
            groups.get(class).iter().for_each(|e| *suppressed.entry(e.sensitive).or_default() += e.rows);
        }
        let whole = whole_area(generalizations);
        // Σ n ln(N · F̂*), class by class: all rows of a class with one sensitive value have the same F̂*.
        let mut sum = 0.0;
        let mut counts: Vec<u64> = suppressed.values().copied().collect();
        counts.sort_unstable();
        sum += counts.iter().map(|&n| n as f64 * (n as f64 / whole).ln()).sum::<f64>();
        for class in (0..node.len()).filter(|&c| !node.is_suppressed(c)) {
            let area: f64 = (generalizations.iter().zip(node.levels).zip(node.tuple(class)))
                .map(|((g, &level), &value)| g.levels[level].active[value as usize] as f64)
                .product();
            for run in groups.get(class).chunk_by(|a, b| a.sensitive == b.sensitive) {
                let n = frequency::rows(run) as f64;
                let everywhere = suppressed.get(&run[0].sensitive).map_or(0.0, |&m| m as f64 / whole);
                sum += n * (n / area + everywhere).ln();
            }
        }
        finite((self.self_information - sum) / self.input.set.rows as f64)
    }

    fn bound(&self, node: &Node<'_>, _max_suppressed: u64) -> Option<f64> {
        let loss = self.loss(&Node { suppressed: &[], ..*node })?;
        // The difference of two sums, each as large as the table's own information.
        Some(round_down(loss, loss + self.self_information / self.input.set.rows as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::fixture::{agrees, cases};

    #[test]
    fn the_estimate_is_added_up_over_covering_classes() {
        agrees(&KlDivergence, |case| {
            let rows = case.rows();
            let everything: Vec<Cell> = case.generalizations.iter().map(|g| g.lowest_common_node([])).collect();
            let mut divergence = 0.0;
            for row in &rows {
                // Each row carries its share of F̂(x) ln(F̂(x)/F̂*(x)).
                let same = rows.iter().filter(|r| r.codes == row.codes && r.sensitive == row.sensitive).count();
                let mut estimate = 0.0;
                // Row by row instead of class by class: each published row spreads 1/(N · area).
                for other in rows.iter().filter(|r| r.sensitive == row.sensitive) {
                    let cells = other.cells.unwrap_or(&everything);
                    let columns = || case.generalizations.iter().zip(cells);
                    if columns().zip(row.codes).all(|((g, cell), &code)| g.covers(cell, code)) {
                        let area: usize = columns().map(|(g, c)| crate::metric::fixture::covered(g, c).len()).product();
                        estimate += 1.0 / (rows.len() * area) as f64;
                    }
                }
                divergence += (same as f64 / rows.len() as f64 / estimate).ln() / rows.len() as f64;
            }
            Some(divergence)
        });
    }

    #[test]
    fn the_input_costs_nothing_and_one_class_costs_the_baseline() {
        let cases = cases();
        assert_eq!(KlDivergence.loss(&cases[0].release()), Some(0.0));
        let (one, base) =
            (KlDivergence.loss(&cases[3].release()).unwrap(), baseline(&cases[3].release().input()).unwrap());
        assert!((one - base).abs() < 1e-12);
        assert!(cases.iter().all(|c| KlDivergence.loss(&c.release()).unwrap() <= base + 1e-12));
    }
}
