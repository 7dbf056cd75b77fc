//! Intra-cluster distance: how far apart two rows of one class are at the most.
//!
//! **Definition.** max over the classes Ωᵢ of max over their rows r, r′ of D(r, r′), where D adds up, over the quasi
//! columns, what `information-loss` charges one row for a cell over both values. Suppressed rows and the class of masked
//! rows do not count: nobody took them for neighbours. Not defined when nothing is published.
//!
//! **Source.** Systematic clustering paper, Equation 4 (the cost of k-center clustering, which its problem departs from).
//!
//! **Cost.** No two rows are farther apart than their class's cells cost, so classes come by that cost and the rest is passed
//! over once a class cannot beat the farthest pair known. Within a class a k-d tree finds the farthest of each row.

use rayon::prelude::*;

use super::{Entry, Metric, Release};
use crate::local::{Space, Tree};
use crate::recoding::SUPPRESSED;

pub(super) const ENTRY: Entry = Entry {
    id: "intra-cluster-distance",
    title: "intra-cluster distance",
    definition: "the largest distance between two rows of one class: over the quasi columns, the sum of what \
                 information-loss charges for a cell over both values",
    citation: "systematic clustering paper Equation 4",
    metric: &IntraClusterDistance,
};

#[derive(Debug)]
struct IntraClusterDistance;

impl Metric for IntraClusterDistance {
    fn loss(&self, release: &Release<'_>) -> Option<f64> {
        let set = release.set;
        if set.rolled_up() {
            return None;
        }
        let mut members: Vec<(u32, u32)> = Vec::new();
        release.recoding.for_each_part(set, |part| {
            if part.class != SUPPRESSED && Some(part.class) != release.recoding.masked {
                members.push((part.class, part.tuple));
            }
        });
        members.par_sort_unstable();
        members.dedup();
        let space = Space::new(release.generalizations);
        let codes = |class: &[(u32, u32)]| -> Vec<u32> {
            class.iter().flat_map(|m| set.tuple(m.1 as usize)).copied().collect()
        };
        let priced =
            members.par_chunk_by(|a, b| a.0 == b.0).map(|class| (space.cost(&space.over(&codes(class), None)), class));
        let mut classes: Vec<(f64, &[(u32, u32)])> = priced.collect();
        classes.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut farthest = (!classes.is_empty()).then_some(0.0)?;
        for (most, class) in classes {
            if most <= farthest {
                break;
            }
            farthest = diameter(&space, &codes(class), most, farthest);
        }
        Some(farthest)
    }

    fn looks_at_values(&self) -> bool {
        true
    }
}

/// The largest distance of two of these tuples, at most `most`, or `known` if none is larger.
fn diameter(space: &Space, codes: &[u32], most: f64, known: f64) -> f64 {
    let width = space.width().max(1);
    let tree = Tree::new(space, codes, codes.len() / width);
    let mut farthest = known;
    for tuple in codes.chunks_exact(width) {
        let mut shape = vec![0; space.words()];
        space.start(&mut shape, tuple);
        let found = tree.least(
            -farthest,
            |hull, _, _| -space.farthest(&shape, hull),
            |_, other, _| Some(-space.cost_merged(&shape, other)),
        );
        farthest = found.map_or(farthest, |f| farthest.max(-f.0));
        if farthest >= most {
            break;
        }
    }
    farthest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::ALGORITHMS;
    use crate::local::fixture::Fixture;
    use crate::parameter::Parameters;

    /// Every pair of every class.
    #[test]
    fn the_farthest_pair_is_found() {
        let mut tried = 0;
        for seed in 0..4 {
            let fixture = Fixture::random(seed, 90, false);
            let (set, space) = (&fixture.set, Space::new(&fixture.generalizations));
            for entry in ALGORITHMS.iter().filter(|a| !a.full_domain) {
                let Ok(found) = fixture.find(entry.id, &fixture.policies()[0], &Parameters::default()) else {
                    continue;
                };
                let (groups, suppressed) = found.recoding.groups(set);
                let mut rows: Vec<(u32, u32)> = Vec::new();
                found.recoding.for_each_part(set, |part| rows.push((part.class, part.tuple)));
                let mut expected: f64 = 0.0;
                for (i, a) in rows.iter().enumerate() {
                    for b in rows[..i].iter().filter(|b| b.0 == a.0) {
                        let both = [set.tuple(a.1 as usize), set.tuple(b.1 as usize)].concat();
                        expected = expected.max(space.cost(&space.over(&both, None)));
                    }
                }
                let (recoding, generalizations) = (&found.recoding, &fixture.generalizations[..]);
                let release = Release { set, generalizations, recoding, groups: &groups, suppressed, k: 1 };
                let distance = IntraClusterDistance.loss(&release).unwrap();
                assert!((distance - expected).abs() < 1e-6, "{}: {distance} {expected}", entry.id);
                tried += usize::from(expected > 0.0);
            }
        }
        assert!(tried > 8);
    }
}
