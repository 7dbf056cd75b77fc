//! The tree itself: leaf values and the levels above them.

use std::hash::Hash;

use hashbrown::hash_map::Entry;
use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

use crate::table::Dictionary;

/// Levels 0…h over a set of leaf values; level h has one single label.
#[derive(Debug, Clone)]
pub struct Hierarchy {
    /// The leaf values: level 0.
    pub leaves: Dictionary,
    /// Levels 1…h.
    pub levels: Vec<Level>,
}

/// One level above the leaves.
#[derive(Debug, Clone)]
pub struct Level {
    /// The label of each group.
    pub labels: Vec<String>,
    /// The group of each leaf.
    pub of_leaf: Vec<u32>,
}

/// The label of a fully generalized cell, where a hierarchy does not name its own.
pub const TOP: &str = "*";

impl Level {
    /// Groups the leaves that share a key. Groups are numbered as they first appear; each must get its own label.
    pub fn by_key<K: Hash + Eq + Copy>(keys: impl IntoIterator<Item = K>, label: impl Fn(K) -> String) -> Level {
        let mut groups: HashMap<K, u32, FxBuildHasher> = HashMap::default();
        let mut level = Level { labels: Vec::new(), of_leaf: Vec::new() };
        for key in keys {
            let group = match groups.entry(key) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(new) => {
                    let group = level.labels.len() as u32;
                    level.labels.push(label(key));
                    *new.insert(group)
                }
            };
            level.of_leaf.push(group);
        }
        level
    }

    /// A label that two groups bear, if there is one. In a release a label is all there is, so it must mean one thing.
    pub(super) fn ambiguous_label(&self) -> Option<&str> {
        let mut seen: HashSet<&str> = HashSet::new();
        self.labels.iter().map(String::as_str).find(|label| !seen.insert(label))
    }

    /// The level of one single label.
    pub fn top(leaves: usize) -> Level {
        Level { labels: vec![TOP.to_string()], of_leaf: vec![0; leaves] }
    }
}

impl Hierarchy {
    /// h: the number of levels above the values.
    pub fn height(&self) -> usize {
        self.levels.len()
    }

    /// The label of `leaf` at `level`.
    pub fn label(&self, leaf: u32, level: usize) -> &str {
        match level {
            0 => self.leaves.value(leaf),
            _ => {
                let level = &self.levels[level - 1];
                &level.labels[level.of_leaf[leaf as usize] as usize]
            }
        }
    }

    /// Every leaf with its labels at levels 1…h.
    pub fn paths(&self) -> impl ExactSizeIterator<Item = (&str, Vec<&str>)> {
        (0..self.leaves.len()).map(|leaf| {
            let leaf = leaf as u32;
            (self.leaves.value(leaf), (1..=self.height()).map(|level| self.label(leaf, level)).collect())
        })
    }

    /// The number of distinct labels at `level`.
    pub fn width(&self, level: usize) -> usize {
        match level {
            0 => self.leaves.len(),
            _ => self.levels[level - 1].labels.len(),
        }
    }

    /// The levels that merge nothing: as many labels as the level below, and more than one. They are lawful, but cost
    /// a search time and gain nothing.
    pub fn idle_levels(&self) -> Vec<usize> {
        (1..=self.height()).filter(|&l| self.width(l) > 1 && self.width(l) == self.width(l - 1)).collect()
    }

    /// Adds the level `*` when the highest level has more than one label.
    pub fn close(&mut self) {
        let closed = match self.levels.last() {
            Some(level) => level.labels.len() <= 1,
            None => false,
        };
        if !closed {
            self.levels.push(Level::top(self.leaves.len()));
        }
    }

    /// Adds `value` as a leaf that stays itself at every level below the top. Does nothing when the hierarchy has the
    /// value already, or uses its text as a label.
    pub(super) fn add_loner(&mut self, value: &str) {
        let taken = self.levels.iter().any(|level| level.labels.iter().any(|label| label == value));
        if taken || self.leaves.code(value).is_some() {
            return;
        }
        self.leaves.intern(value);
        let height = self.levels.len();
        for (i, level) in self.levels.iter_mut().enumerate() {
            if i + 1 < height {
                level.of_leaf.push(level.labels.len() as u32);
                level.labels.push(value.to_string());
            } else {
                // A hierarchy without leaves has a top without labels.
                if level.labels.is_empty() {
                    level.labels.push(TOP.to_string());
                }
                level.of_leaf.push(0);
            }
        }
    }
}
