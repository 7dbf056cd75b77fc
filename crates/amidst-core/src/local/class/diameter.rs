//! Intra-cluster distance: how far apart two rows of one class are at the most.
//!
//! **Definition.** The largest over the classes Ωᵢ of the largest over their rows r, r′ of D(r, r′), where D adds up,
//! over the quasi columns, what `information-loss` charges one row for a cell over both values. Suppressed rows and the
//! class of masked rows do not count: they were not put together for being near.
//!
//! **Source.** Systematic clustering paper, Equation 4 (the cost of k-center clustering, which its problem departs
//! from).
//!
//! **A figure, not a metric.** It looks at single pairs of rows, so it cannot be told from the nodes of a lattice, and
//! a search for the least of it would be blind to everything but the worst class.
//!
//! **Cost.** No two rows are farther apart than their class's cells cost, so classes come by that cost and the rest is
//! passed over once a class cannot beat the farthest pair known. Within a class a k-d tree finds the farthest of each
//! row.

use rayon::prelude::*;

use crate::frequency::FrequencySet;
use crate::hierarchy::Generalization;
use crate::local::index::Tree;
use crate::local::shape::Space;
use crate::recoding::Recoding;

/// With more different tuples in classes it takes too long for a figure.
const MOST: usize = 100_000;

/// The largest distance between two rows of one class of a release; `None` where nothing is published, where tuples
/// stand for others, or where there are too many of them.
pub fn intra_cluster_distance(
    set: &FrequencySet,
    generalizations: &[Generalization],
    recoding: &Recoding,
) -> Option<f64> {
    if set.rolled_up() {
        return None;
    }
    let mut members: Vec<(u32, u32)> = Vec::new();
    recoding.for_each_part(set, |part| {
        if let Some(class) = part.class.filter(|class| Some(class.0) != recoding.masked) {
            members.push((class.0, part.tuple.0));
        }
    });
    members.par_sort_unstable();
    members.dedup();
    if members.len() > MOST {
        return None;
    }
    let space = Space::new(generalizations);
    let codes =
        |class: &[(u32, u32)]| -> Vec<u32> { class.iter().flat_map(|m| set.tuple(m.1 as usize)).copied().collect() };
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

/// The largest distance of two of these tuples, at most `most`, or `known` if none is larger.
fn diameter(space: &Space, codes: &[u32], most: f64, known: f64) -> f64 {
    let width = space.width().max(1);
    let tree = Tree::new(space, codes, codes.len() / width);
    let mut farthest = known;
    for tuple in codes.chunks_exact(width) {
        let mut shape = space.empty();
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
    use crate::algorithm::{ALGORITHMS, RecodingKind};
    use crate::local::fixture::Fixture;
    use crate::parameter::Parameters;

    /// Every pair of every class.
    #[test]
    fn the_farthest_pair_is_found() {
        let mut tried = 0;
        for seed in 0..4 {
            let fixture = Fixture::random(seed, 90, false);
            let (set, space) = (&fixture.set, Space::new(&fixture.generalizations));
            for entry in ALGORITHMS.iter().filter(|a| a.kind == RecodingKind::Local) {
                let Ok(found) = fixture.find(entry.id, &fixture.policies()[0], &Parameters::default()) else {
                    continue;
                };
                let mut rows = Vec::new();
                found.recoding.for_each_part(set, |part| rows.push((part.class, part.tuple)));
                let mut expected: f64 = 0.0;
                for (i, a) in rows.iter().enumerate() {
                    for b in rows[..i].iter().filter(|b| b.0 == a.0) {
                        let both = [set.tuple(a.1.index()), set.tuple(b.1.index())].concat();
                        expected = expected.max(space.cost(&space.over(&both, None)));
                    }
                }
                let distance = intra_cluster_distance(set, &fixture.generalizations, &found.recoding).unwrap();
                assert!((distance - expected).abs() < 1e-6, "{}: {distance} {expected}", entry.id);
                tried += usize::from(expected > 0.0);
            }
        }
        assert!(tried > 8);
    }
}
