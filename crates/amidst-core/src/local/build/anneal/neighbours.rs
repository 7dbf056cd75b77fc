//! Which tuples lie near each other.

use rayon::prelude::*;

use super::NEAR;
use crate::local::class::World;
use crate::local::index::Tree;

/// For each tuple with rows some others that are near it, the nearest first.
pub(super) fn near(world: &World<'_>) -> Vec<Vec<u32>> {
    let (set, space) = (world.set, world.space);
    let tuples: Vec<u32> = (0..set.len() as u32).filter(|&t| !set.groups.get(t as usize).is_empty()).collect();
    let codes: Vec<u32> = tuples.iter().flat_map(|&t| set.tuple(t as usize)).copied().collect();
    let tree = Tree::new(space, &codes, tuples.len());
    let lists: Vec<(u32, Vec<u32>)> = tuples
        .par_iter()
        .map(|&tuple| {
            let own = set.tuple(tuple as usize);
            let mut shape = space.empty();
            space.start(&mut shape, own);
            let start = space.cost(&shape);
            let mut near = Vec::with_capacity(NEAR);
            // Rows that agree with the tuple are its neighbours too.
            tree.ascending(
                |_, hull| start + space.stretch(&shape, hull),
                |item| space.cost_with(&shape, set.tuple(tuples[item as usize] as usize)),
                |item, _| {
                    let other = tuples[item as usize];
                    if other != tuple || set.groups.get(tuple as usize).iter().map(|e| e.rows).sum::<u64>() > 1 {
                        near.push(other);
                    }
                    near.len() == NEAR
                },
            );
            (tuple, near)
        })
        .collect();
    let mut all = vec![Vec::new(); set.len()];
    lists.into_iter().for_each(|(tuple, near)| all[tuple as usize] = near);
    all
}
