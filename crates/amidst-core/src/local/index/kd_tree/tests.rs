//! The tree against a scan over all items.

use super::*;
use crate::local::fixture::Fixture;
use crate::random::Random;

#[test]
fn the_tree_finds_what_a_scan_finds() {
    let fixture = Fixture::random(5, 300, false);
    let space = Space::new(&fixture.generalizations);
    let set = &fixture.set;
    let mut tree = Tree::new(&space, &set.tuples, set.len());
    let mut random = Random::new(1);
    let mut shape = space.empty();
    for round in 0..200 {
        space.start(&mut shape, set.tuple(random.below(set.len())));
        for _ in 0..random.below(4) {
            space.add(&mut shape, set.tuple(random.below(set.len())));
        }
        let ask = |tree: &Tree| {
            let near = tree.least(
                f64::INFINITY,
                |s, _, _| space.cost(&shape) + space.stretch(&shape, s),
                |_, s, _| Some(space.cost_merged(&shape, s)),
            );
            let far = tree.least(
                f64::INFINITY,
                |s, _, _| -space.farthest(&shape, s),
                |_, s, _| Some(-space.cost_merged(&shape, s)),
            );
            (near.map(|n| n.1), far.map(|f| f.1))
        };
        let found = ask(&tree);
        tree.scan = true;
        assert_eq!(found, ask(&tree));
        tree.scan = false;
        tree.renew(&space);
        match round % 3 {
            0 => tree.restore(&space, random.below(set.len()) as u32),
            _ => (0..4).for_each(|_| tree.remove(&space, random.below(set.len()) as u32)),
        }
    }
}

/// With little patience the tree still finds something, and hardly ever anything much worse.
#[test]
fn impatience_costs_little() {
    let fixture = Fixture::random(6, 2_000, false);
    let space = Space::new(&fixture.generalizations);
    let set = &fixture.set;
    let mut tree = Tree::new(&space, &set.tuples, set.len());
    let mut random = Random::new(2);
    let mut shape = space.empty();
    let (mut best, mut soon) = (0.0, 0.0);
    for _ in 0..200 {
        let item = random.below(set.len());
        space.start(&mut shape, set.tuple(item));
        let mut ask = |patience| {
            tree.patience = patience;
            let near = tree.least(
                f64::INFINITY,
                |s, _, _| space.stretch(&shape, s),
                |i, s, _| (i != item as u32).then(|| space.cost_merged(&shape, s)),
            );
            near.unwrap().0
        };
        best += ask(usize::MAX);
        soon += ask(64);
    }
    assert!(best <= soon && soon <= best * 1.2, "{soon} for {best}");
}
