//! Snapshots: the classes of one node of the lattice, rolled up from those of a finer node.
//!
//! Classes stand in the order of the first tuple of the frequency set that they cover. A roll-up numbers classes as
//! they first appear, which keeps that order: what a node looks like never depends on the way by which it was reached,
//! nor on the number of threads.

use std::cell::RefCell;
use std::sync::Arc;

use super::key::Key;
use super::layout::Layout;
use super::mapping::Mapping;
use super::sensitive_view::{Counts, SensitiveView};
use crate::frequency::FrequencySet;
use crate::metric::full_domain::Lost;

/// No verdict yet.
pub(crate) const UNKNOWN: u32 = 0;

/// The bit of a verdict that says that the class fails.
pub(crate) const FAILS: u32 = 1 << 31;

/// The classes of a node, apart from their keys.
#[derive(Debug, Clone, Default)]
pub(crate) struct Classes {
    /// The node.
    pub levels: Vec<usize>,
    /// The first tuple that each class covers.
    pub first: Vec<u32>,
    /// The rows of each class.
    pub rows: Vec<u64>,
    /// The counts of each view.
    pub views: Vec<Counts>,
    /// The class of each tuple; only where requirements are judged from entries or tuples.
    pub class_of: Vec<u32>,
    /// What is known of each class: a bit for each requirement that holds, and [`FAILS`].
    pub verdicts: Vec<u32>,
    /// Where rows that are lost anyway were taken together, they are the last class, which stays apart.
    pub lost: Option<Arc<LostBelow>>,
}

/// Rows that are lost in a node and all finer ones.
#[derive(Debug, Clone, Default)]
pub(crate) struct LostBelow {
    /// That node.
    pub node: Vec<usize>,
    /// The rows.
    pub rows: Lost,
}

/// The classes of a node with their keys.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot<K> {
    /// The key of each class.
    pub keys: Vec<K>,
    /// The rest.
    pub classes: Classes,
}

/// How verdicts survive a merge.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Carry {
    /// Requirements that hold for a merged class when they hold for every part.
    pub monotone: u32,
    /// Requirements that hold for a merged class when they hold for any part.
    pub strong: u32,
}

impl Classes {
    /// The number of classes.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The class of rows that are lost anyway.
    pub fn lost_class(&self) -> Option<usize> {
        self.lost.as_ref().and(self.len().checked_sub(1))
    }

    /// Bytes held, roughly.
    pub fn bytes(&self) -> usize {
        let views: usize = self.views.iter().map(Counts::bytes).sum();
        self.len() * (4 + 8 + 4) + self.class_of.len() * 4 + views
    }
}

/// Tables for finding the class of a key, kept between roll-ups of a thread.
#[derive(Default)]
struct Scratch {
    /// Class + 1 at each key, all zero between uses.
    dense: Vec<u32>,
    /// The classes by their keys, where these are too long for that.
    hashed: Hashed,
    /// The class of each source class.
    class_of: Vec<u32>,
}

/// An open hash table of classes, which grows with them: of few classes it stays in fast memory, however many the
/// sources are.
#[derive(Default)]
struct Hashed {
    /// Class + 1 at each slot; a power of two of them, at least two for each class.
    slots: Vec<u32>,
}

/// Keys that are looked for together.
const BATCH: usize = 64;

/// A table of this many slots is near enough not to wait for.
const NEAR: usize = 1 << 16;

/// A table has this many slots at first.
const FIRST_SLOTS: usize = 1 << 14;

impl Hashed {
    /// Forgets all classes, of which there will be at most `most`.
    fn clear(&mut self, most: usize) {
        self.resize(FIRST_SLOTS.min((most * 2).next_power_of_two()));
    }

    fn resize(&mut self, size: usize) {
        self.slots.clear();
        self.slots.resize(size, 0);
    }

    #[inline]
    fn first<K: Key>(&self, key: K) -> usize {
        key.hash() as usize & (self.slots.len() - 1)
    }

    #[inline]
    fn next(&self, slot: usize) -> usize {
        (slot + 1) & (self.slots.len() - 1)
    }

    /// Asks for all the memory that finding these keys needs, so that the waits for it pass together.
    #[inline]
    fn touch<K: Key>(&self, keys: &[K], batch: &[K]) {
        if self.slots.len() <= NEAR {
            return;
        }
        let mut classes = [0u32; BATCH];
        classes.iter_mut().zip(batch).for_each(|(class, &key)| *class = self.slots[self.first(key)]);
        let known = classes.iter().filter(|&&class| keys.get(class.wrapping_sub(1) as usize) == batch.first());
        std::hint::black_box(known.count());
    }

    /// The class of a key, or the slot where it belongs.
    #[inline]
    fn find<K: Key>(&self, keys: &[K], key: K) -> Result<u32, usize> {
        let mut slot = self.first(key);
        loop {
            match self.slots[slot] {
                0 => return Err(slot),
                class if keys[class as usize - 1] == key => return Ok(class - 1),
                _ => slot = self.next(slot),
            }
        }
    }

    /// Inserts the last class at its slot.
    fn insert<K: Key>(&mut self, keys: &[K], slot: usize) -> u32 {
        self.slots[slot] = keys.len() as u32;
        if keys.len() * 2 > self.slots.len() {
            self.resize(self.slots.len() * 4);
            for (class, &key) in (1u32..).zip(keys) {
                let mut slot = self.first(key);
                while self.slots[slot] != 0 {
                    slot = self.next(slot);
                }
                self.slots[slot] = class;
            }
        }
        keys.len() as u32 - 1
    }
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Keys of up to this many bits may index an array.
const DENSE_BITS: u32 = 18;

impl<K: Key> Snapshot<K> {
    /// The finest node: a class for each tuple that has rows (or for each tuple, where requirements look at tuples).
    pub fn base(
        set: &FrequencySet,
        layout: &Layout<'_>,
        views: &[SensitiveView],
        all_tuples: bool,
        track: bool,
    ) -> Self {
        let levels = vec![0; layout.columns()];
        let tuples: Vec<u32> =
            (0..set.len() as u32).filter(|&t| all_tuples || !set.groups.get(t as usize).is_empty()).collect();
        let keys = tuples
            .iter()
            .map(|&t| {
                let mut shift = 0;
                let mut key = K::default();
                let tuple = set.tuple(t as usize);
                for &column in &layout.order {
                    let code = tuple[column];
                    key = key.with(shift, layout.generalizations[column].levels[0].of[code as usize]);
                    shift += layout.width(column, 0);
                }
                key
            })
            .collect();
        let mut class_of = Vec::new();
        if track {
            class_of = vec![u32::MAX; set.len()];
            (0u32..).zip(&tuples).for_each(|(class, &t)| class_of[t as usize] = class);
        }
        Snapshot {
            keys,
            classes: Classes {
                levels,
                rows: tuples.iter().map(|&t| crate::frequency::rows(set.groups.get(t as usize))).collect(),
                views: views.iter().map(|f| Counts::base(set, f, &tuples)).collect(),
                class_of,
                verdicts: vec![UNKNOWN; tuples.len()],
                first: tuples,
                lost: None,
            },
        }
    }

    /// The classes of a coarser node.
    pub fn roll_up(&self, layout: &Layout<'_>, levels: &[usize], carry: Carry) -> Self {
        if self.classes.levels == levels {
            return self.clone();
        }
        SCRATCH.with_borrow_mut(|scratch| self.roll_up_with(scratch, layout, levels, carry))
    }

    /// The classes of a coarser node, and the coarser class of each class.
    pub fn roll_up_mapped(&self, layout: &Layout<'_>, levels: &[usize], carry: Carry) -> (Self, Vec<u32>) {
        SCRATCH.with_borrow_mut(|scratch| {
            let coarser = self.roll_up_with(scratch, layout, levels, carry);
            (coarser, scratch.class_of.clone())
        })
    }

    /// The classes of a coarser node without their views, and the coarser class of each class: see [`Self::add_views`].
    pub fn roll_up_sizes(&self, layout: &Layout<'_>, levels: &[usize], carry: Carry) -> (Self, Vec<u32>) {
        if self.classes.levels == levels {
            return (self.clone(), (0..self.classes.len() as u32).collect());
        }
        SCRATCH.with_borrow_mut(|scratch| {
            let coarser = self.sizes_with(scratch, layout, levels, carry);
            (coarser, std::mem::take(&mut scratch.class_of))
        })
    }

    /// Counts the views of classes that were rolled up from `finer` by [`Self::roll_up_sizes`].
    pub fn add_views(&mut self, finer: &Self, class_of: &[u32]) {
        let classes = self.classes.len();
        self.classes.views = finer.classes.views.iter().map(|f| f.roll_up(class_of, classes)).collect();
    }

    fn roll_up_with(&self, scratch: &mut Scratch, layout: &Layout<'_>, levels: &[usize], carry: Carry) -> Self {
        let mut coarser = self.sizes_with(scratch, layout, levels, carry);
        coarser.add_views(self, &scratch.class_of);
        coarser
    }

    fn sizes_with(&self, scratch: &mut Scratch, layout: &Layout<'_>, levels: &[usize], carry: Carry) -> Self {
        let source = &self.classes;
        let count = source.lost_class().unwrap_or(source.len());
        let mapping = Mapping::new(layout, &source.levels, levels, count);
        let bits = layout.bits(levels);
        let mut keys: Vec<K> = Vec::new();
        let mut first: Vec<u32> = Vec::new();
        let class_of = &mut scratch.class_of;
        class_of.clear();
        class_of.reserve(count);
        let mut batch = [K::default(); BATCH];
        if bits <= DENSE_BITS && (1usize << bits) <= (count * 16).max(1 << 12) {
            if scratch.dense.len() < 1 << bits {
                scratch.dense.resize(1 << bits, 0);
            }
            let table = &mut scratch.dense[..1 << bits];
            for (sources, tuples) in self.keys[..count].chunks(BATCH).zip(source.first.chunks(BATCH)) {
                mapping.map(sources, &mut batch);
                for (&key, &tuple) in batch[..sources.len()].iter().zip(tuples) {
                    let slot = &mut table[key.index()];
                    if *slot == 0 {
                        keys.push(key);
                        first.push(tuple);
                        *slot = keys.len() as u32;
                    }
                    class_of.push(*slot - 1);
                }
            }
            keys.iter().for_each(|k| table[k.index()] = 0);
        } else {
            let table = &mut scratch.hashed;
            table.clear(count);
            for (sources, tuples) in self.keys[..count].chunks(BATCH).zip(source.first.chunks(BATCH)) {
                mapping.map(sources, &mut batch);
                let batch = &batch[..sources.len()];
                table.touch(&keys, batch);
                for (&key, &tuple) in batch.iter().zip(tuples) {
                    class_of.push(table.find(&keys, key).unwrap_or_else(|slot| {
                        keys.push(key);
                        first.push(tuple);
                        table.insert(&keys, slot)
                    }));
                }
            }
        }
        if count < source.len() {
            class_of.push(keys.len() as u32);
            keys.push(K::default());
            first.push(source.first[count]);
        }
        let classes = keys.len();
        let mut rows = vec![0u64; classes];
        let mut verdicts = vec![u32::MAX; classes];
        for ((&class, &n), &verdict) in class_of.iter().zip(&source.rows).zip(&source.verdicts) {
            rows[class as usize] += n;
            // A verdict has never all bits set: FAILS excludes the bit of the requirement that fails.
            let own = &mut verdicts[class as usize];
            *own = match *own {
                u32::MAX => verdict,
                other => (other & verdict & carry.monotone) | ((other | verdict) & carry.strong),
            };
        }
        let up = |&class: &u32| class_of.get(class as usize).copied().unwrap_or(u32::MAX);
        let class_of = source.class_of.iter().map(up).collect();
        let (levels, lost) = (levels.to_vec(), source.lost.clone());
        Snapshot { keys, classes: Classes { levels, first, rows, views: Vec::new(), class_of, verdicts, lost } }
    }

    /// Bytes held, roughly.
    pub fn bytes(&self) -> usize {
        self.classes.bytes() + self.keys.len() * size_of::<K>()
    }
}
