//! The classes of a table by their place, column by column in memory, because a search for the best class scans them.
//!
//! What only a change needs ([`Touched`]) is made when a batch changes the class, which happens to few of them.

use crate::frequency::NOBODY;
use crate::ids::SensitiveId;
use crate::local::class::Tally;
use crate::local::shape::{Shape, ShapeWord, Space};

/// What only a batch that touches a class must know of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Touched {
    pub tally: Tally,
    /// Its rows; `None` while they are kept elsewhere.
    pub rows: Option<Vec<u32>>,
    /// Rows that joined while the others are kept elsewhere.
    pub joined: Vec<u32>,
    /// The number of rows at which the next split is tried; splitting failed at fewer.
    pub next_split: usize,
}

/// The classes by their place.
#[derive(Debug, Clone, Default)]
pub(super) struct Classes {
    pub ids: Vec<u32>,
    pub sizes: Vec<u32>,
    pub costs: Vec<f64>,
    /// The page of each, by its place.
    pub pages: Vec<u32>,
    shapes: Vec<ShapeWord>,
    words: usize,
    /// Rows per sensitive tuple as they were loaded, one class after the other, and where those of each class end.
    counts: Vec<(SensitiveId, u32)>,
    ends: Vec<u32>,
    touched: Vec<Option<Box<Touched>>>,
}

impl Classes {
    pub fn new(words: usize) -> Self {
        Classes { words, ..Classes::default() }
    }

    pub fn len(&self) -> usize {
        self.ids.len()
    }

    pub fn shape(&self, at: usize) -> &Shape {
        &self.shapes[at * self.words..(at + 1) * self.words]
    }

    pub fn shape_mut(&mut self, at: usize) -> &mut Shape {
        &mut self.shapes[at * self.words..(at + 1) * self.words]
    }

    /// The places of the classes that have rows.
    pub fn live(&self) -> impl Iterator<Item = usize> {
        self.sizes.iter().enumerate().filter(|(_, size)| **size > 0).map(|(at, _)| at)
    }

    /// Begins a class that was kept: its shape, to be filled in.
    pub fn begin(&mut self) -> &mut Shape {
        let first = self.shapes.len();
        self.shapes.resize(first + self.words, ShapeWord::default());
        &mut self.shapes[first..]
    }

    /// Adds rows of this sensitive tuple to the class that was begun.
    pub fn begun(&mut self, sensitive: SensitiveId, rows: u32) {
        self.counts.push((sensitive, rows));
    }

    /// Ends the class that was begun, and tells its place.
    pub fn end(&mut self, id: u32, size: u32, space: &Space) -> usize {
        let from = self.ends.last().map_or(0, |&end| end as usize);
        self.counts[from..].sort_unstable();
        let first = self.len() * self.words;
        self.costs.push(space.cost(&self.shapes[first..]));
        self.place(id, size, None)
    }

    /// Adds a class whose rows are known.
    pub fn push(&mut self, id: u32, cost: f64, shape: &Shape, touched: Touched) -> usize {
        self.shapes.extend_from_slice(shape);
        self.costs.push(cost);
        self.place(id, touched.tally.rows as u32, Some(Box::new(touched)))
    }

    fn place(&mut self, id: u32, size: u32, touched: Option<Box<Touched>>) -> usize {
        self.ids.push(id);
        self.sizes.push(size);
        self.pages.push(0);
        self.ends.push(self.counts.len() as u32);
        self.touched.push(touched);
        self.ids.len() - 1
    }

    fn loaded(&self, at: usize) -> &[(SensitiveId, u32)] {
        let from = at.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        &self.counts[from..self.ends[at] as usize]
    }

    /// Rows per sensitive tuple.
    pub fn counts(&self, at: usize) -> Vec<(SensitiveId, u64)> {
        let mut tally = Tally::default();
        self.tally(at, &mut tally);
        tally.counts.iter().filter(|c| c.1 > 0).map(|&((sensitive, _), n)| (sensitive, n)).collect()
    }

    /// Fills in the tally of a class.
    pub fn tally(&self, at: usize, tally: &mut Tally) {
        tally.rows = u64::from(self.sizes[at]);
        tally.counts.clear();
        match &self.touched[at] {
            Some(touched) => tally.counts.extend_from_slice(&touched.tally.counts),
            None => {
                let loaded = self.loaded(at).iter();
                tally.counts.extend(loaded.map(|&(sensitive, n)| ((sensitive, NOBODY), u64::from(n))));
            }
        }
    }

    /// What a batch must know of a class.
    pub fn touch(&mut self, at: usize) -> &mut Touched {
        if self.touched[at].is_none() {
            let mut touched = Touched::default();
            self.tally(at, &mut touched.tally);
            self.touched[at] = Some(Box::new(touched));
        }
        self.touched[at].get_or_insert_default()
    }
}
