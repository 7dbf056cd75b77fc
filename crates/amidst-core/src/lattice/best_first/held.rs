//! The snapshots that a search holds for others to be rolled up from.

use std::sync::Arc;

use crate::lattice::layout::finer;
use crate::lattice::snapshot::Snapshot;

/// At most how many snapshots are held: many of them may be looked at whenever a source is wanted.
const MANY: usize = 2048;

/// Snapshots up to a number of bytes, those that were not used for the longest time let go first.
#[derive(Debug)]
pub(super) struct Held<K> {
    /// Those of fewer classes first.
    list: Vec<One<K>>,
    bytes: usize,
    budget: usize,
    clock: u64,
}

#[derive(Debug)]
struct One<K> {
    snapshot: Arc<Snapshot<K>>,
    bytes: usize,
    used: u64,
}

impl<K> Held<K> {
    /// None yet, of which there may be `budget` bytes.
    pub fn new(budget: usize) -> Self {
        Held { list: Vec::new(), bytes: 0, budget, clock: 0 }
    }

    /// The bytes that are held.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl<K: crate::lattice::key::Key> Held<K> {
    /// The smallest snapshot that is finer than a node and has `views` views or more.
    pub fn source(&mut self, levels: &[usize], views: usize) -> Option<Arc<Snapshot<K>>> {
        self.clock += 1;
        let fits = |one: &&mut One<K>| {
            let classes = &one.snapshot.classes;
            finer(&classes.levels, levels)
                && classes.views.len() >= views
                && classes.lost.as_ref().is_none_or(|lost| finer(levels, &lost.node))
        };
        let found = self.list.iter_mut().find(fits)?;
        found.used = self.clock;
        Some(found.snapshot.clone())
    }

    /// Holds a snapshot, unless it is larger than all that may be held.
    pub fn hold(&mut self, snapshot: Snapshot<K>) -> Arc<Snapshot<K>> {
        let bytes = snapshot.bytes();
        let snapshot = Arc::new(snapshot);
        if bytes > self.budget {
            return snapshot;
        }
        while self.bytes + bytes > self.budget || self.list.len() >= MANY {
            let Some(oldest) = (0..self.list.len()).min_by_key(|&i| self.list[i].used) else { return snapshot };
            self.bytes -= self.list.remove(oldest).bytes;
        }
        self.clock += 1;
        self.bytes += bytes;
        let classes = snapshot.classes.len();
        let place = self.list.partition_point(|one| one.snapshot.classes.len() <= classes);
        self.list.insert(place, One { snapshot: snapshot.clone(), bytes, used: self.clock });
        snapshot
    }
}
