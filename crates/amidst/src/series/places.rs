//! Places of rows that left a class: a row that was never published may take one, if it has the value of the row that
//! left.
//!
//! The class then publishes the values it had, and which of them is that of the new row stays as open as it was before.
//! That saves a counterfeit, and the new row is not put into a class of few and distant rows.

use std::collections::BTreeMap;

use amidst_core::internal::local::shape::{ShapeWord, Space};

use super::compose::Composed;

/// The classes that have places, with the shapes of those who are in them.
pub(super) struct Places<'a> {
    composed: &'a Composed,
    tuple_of: Vec<u32>,
    space: Space,
    /// By sensitive tuple, the classes with the number of their places for it.
    free: BTreeMap<Vec<u32>, BTreeMap<usize, u64>>,
    /// By class, the number of rows that it publishes, and the shape of those who are in it.
    classes: BTreeMap<usize, (u64, Vec<ShapeWord>)>,
}

impl<'a> Places<'a> {
    /// No places yet, for rows of a composed version.
    pub fn new(composed: &'a Composed) -> Self {
        let space = Space::new(&composed.prepared.generalizations);
        let tuple_of = composed.prepared.set.tuple_of_entry();
        Places { composed, tuple_of, space, free: BTreeMap::new(), classes: BTreeMap::new() }
    }

    fn codes(&self, row: usize) -> &[u32] {
        let entry = self.composed.prepared.entry_of_row[row].index();
        self.composed.prepared.set.tuple(self.tuple_of[entry] as usize)
    }

    /// A class with those who are in it, and what it publishes of each tuple beside theirs.
    pub fn add(&mut self, class: usize, present: &[usize], left: impl Iterator<Item = (Vec<u32>, u64)>) {
        let Some((&first, others)) = present.split_first() else { return };
        let mut shape = self.space.empty();
        self.space.start(&mut shape, self.codes(first));
        others.iter().for_each(|&row| self.space.add(&mut shape, self.codes(row)));
        let mut rows = present.len() as u64;
        for (tuple, n) in left.filter(|(_, n)| *n > 0) {
            rows += n;
            self.free.entry(tuple).or_default().insert(class, n);
        }
        self.classes.insert(class, (rows, shape));
    }

    /// The class in which a row takes a place, which is the one that loses least by it; none where every class would
    /// lose more than if the row were suppressed.
    pub fn take(&mut self, row: usize, tuple: &[u32]) -> Option<usize> {
        let most = self.space.width() as f64;
        let codes = self.codes(row);
        let growth = |class: usize| {
            let (rows, shape) = self.classes.get(&class)?;
            let growth = *rows as f64 * (self.space.cost_with(shape, codes) - self.space.cost(shape));
            (growth <= most).then_some((growth, class))
        };
        let best = self.free.get(tuple)?.keys().filter_map(|&class| growth(class));
        let (_, class) = best.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))?;
        let codes = codes.to_vec();
        if let Some((_, shape)) = self.classes.get_mut(&class) {
            self.space.add(shape, &codes);
        }
        let places = self.free.get_mut(tuple)?;
        if let Some(n) = places.get_mut(&class) {
            *n -= 1;
            if *n == 0 {
                places.remove(&class);
            }
        }
        Some(class)
    }
}
