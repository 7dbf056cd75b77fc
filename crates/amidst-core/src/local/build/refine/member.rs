//! A class of a neighbourhood, with what is computed once and asked for many times while it stays as it is.

use std::cell::RefCell;
use std::hash::BuildHasher;

use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::ids::SensitiveId;
use crate::local::class::{Cluster, World};
use crate::local::shape::{HullWord, Shape, ShapeWord};

/// A class and what it would cost without each of its parts.
pub(super) struct Member {
    pub(super) cluster: Cluster,
    /// The shape without one row of each part.
    pub(super) without: Vec<ShapeWord>,
    /// What that shape costs a row.
    pub(super) cost: Vec<f64>,
    /// The least of these, and the least and the most that each column of these shapes costs.
    pub(super) least: f64,
    columns: (Vec<f64>, Vec<f64>),
    /// The hull over the rows.
    hull: Vec<HullWord>,
    /// A digest of its rows.
    pub(super) content: u64,
    /// When it last changed.
    pub(super) changed: u64,
    /// When all its changes with the others were last looked at.
    pub(super) looked: u64,
    /// The class as it was when it was found that dividing it does not help.
    pub(super) undivided: u64,
    /// Whether the policy holds once a row of one sensitive tuple leaves and one of another comes, as far as anybody
    /// asked: rows with the same sensitive values get the same answer.
    pub(super) verdicts: RefCell<FxHashMap<(SensitiveId, SensitiveId), bool>>,
}

impl Member {
    pub(super) fn new(cluster: Cluster) -> Self {
        Member {
            cluster,
            without: Vec::new(),
            cost: Vec::new(),
            least: 0.0,
            columns: Default::default(),
            hull: Vec::new(),
            content: 0,
            changed: 0,
            looked: 0,
            undivided: 0,
            verdicts: RefCell::default(),
        }
    }

    /// A name for the two of them as they are, in this order.
    pub(super) fn pair(&self, other: &Member) -> u64 {
        FxBuildHasher.hash_one((self.content, other.content))
    }

    /// Computes what the class would cost without each of its parts.
    pub(super) fn prepare(&mut self, world: &World<'_>, clock: u64) {
        let (space, words) = (world.space, world.space.words());
        self.changed = clock;
        self.content = FxBuildHasher.hash_one(&self.cluster.parts);
        self.verdicts.get_mut().clear();
        let parts = &self.cluster.parts;
        let n = parts.len();
        // The shapes over the parts behind each; then, going forth, those over the parts before it join them.
        self.without.clear();
        self.without.resize(n * words, ShapeWord::default());
        self.cost.clear();
        let mut shape = space.empty();
        for p in (0..n.saturating_sub(1)).rev() {
            let codes = world.codes(parts[p + 1].0);
            if p + 2 == n {
                space.start(&mut shape, codes)
            } else {
                space.add(&mut shape, codes)
            }
            self.without[p * words..(p + 1) * words].copy_from_slice(&shape);
        }
        for p in 0..n {
            let without = &mut self.without[p * words..(p + 1) * words];
            let tuple = world.tuple_of[parts[p].0 as usize];
            let alone = parts[p].1 == 1
                && !parts.iter().enumerate().any(|(q, x)| q != p && world.tuple_of[x.0 as usize] == tuple);
            if !alone || n == 1 {
                without.copy_from_slice(&self.cluster.shape);
                self.cost.push(self.cluster.cost);
            } else {
                match p {
                    0 => {}
                    _ if p + 1 == n => without.copy_from_slice(&shape),
                    _ => space.merge(without, &shape),
                }
                self.cost.push(space.cost(without));
            }
            let codes = world.codes(parts[p].0);
            if p == 0 { space.start(&mut shape, codes) } else { space.add(&mut shape, codes) }
        }
        self.bound(world);
    }

    /// Computes what bounds need.
    fn bound(&mut self, world: &World<'_>) {
        let (space, words) = (world.space, world.space.words());
        self.least = self.cost.iter().copied().fold(f64::INFINITY, f64::min);
        let (least, most) = &mut self.columns;
        least.clear();
        most.clear();
        for column in 0..space.width() {
            let costs = self.without.chunks_exact(words.max(1)).map(|shape| space.column_cost(shape, column));
            let (low, high) = costs.fold((f64::INFINITY, 0.0), |(low, high), c| (c.min(low), c.max(high)));
            least.push(low);
            most.push(high);
        }
        self.hull.clear();
        self.hull.resize(space.hull_words(), HullWord::default());
        let (mut shape, mut hull) = (space.empty(), vec![HullWord::default(); space.hull_words()]);
        for (p, part) in self.cluster.parts.iter().enumerate() {
            space.start(&mut shape, world.codes(part.0));
            match p {
                0 => space.hull(&shape, &mut self.hull),
                _ => {
                    space.hull(&shape, &mut hull);
                    space.widen(&mut self.hull, &hull);
                }
            }
        }
    }

    /// A lower bound of what the class costs a row once a tuple has taken the place of any of its rows.
    pub(super) fn least_with(&self, world: &World<'_>, codes: &[u32]) -> f64 {
        let (least, most) = &self.columns;
        world.space.bound_with(&self.cluster.shape, least, most, codes).0.max(self.least)
    }

    /// A lower bound of how much more a shape costs a row once it is stretched over any row of the class.
    pub(super) fn least_stretch(&self, world: &World<'_>, shape: &Shape) -> f64 {
        world.space.stretch(shape, &self.hull)
    }
}
