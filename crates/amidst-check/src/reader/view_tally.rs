//! Counts of one view, a set of sensitive columns, while rows are read.

use rustc_hash::{FxHashMap, FxHashSet};

use super::key::{encode, intern};
use super::selection::Cells;
use super::texts::Texts;

/// Values numbered below this are counted in an array per class, all others in a map.
const DENSE: usize = 32;

/// Classes numbered below this have their arrays in one contiguous vector.
const NEAR: usize = 1 << 17;

#[derive(Debug, Default)]
pub(super) struct ViewTally {
    pub values: FxHashMap<Box<[u8]>, u32>,
    /// Value numbers by the text of a single cell, which needs no encoding.
    texts: Texts,
    near: Vec<u16>,
    far: Vec<Vec<u16>>,
    sparse: FxHashMap<(u32, u32), u64>,
    pub persons: FxHashSet<(u32, u32, u64)>,
}

impl ViewTally {
    /// The number of a row's value.
    pub(super) fn value(
        &mut self,
        columns: &[usize],
        cells: &impl Cells,
        scratch: &mut Vec<u8>,
    ) -> Result<u32, String> {
        let text = match *columns {
            [column] => Some(cells.cell(column)),
            _ => None,
        };
        if let Some(value) = text.and_then(|text| self.texts.get(text)) {
            return Ok(value);
        }
        encode(scratch, columns, cells);
        let value = intern(&mut self.values, scratch)?;
        if let Some(text) = text {
            self.texts.insert(text, value);
        }
        Ok(value)
    }

    pub(super) fn add(&mut self, class: u32, value: u32, count: u64) {
        let (place, at) = (class as usize, value as usize);
        let mut more = count;
        if at < DENSE {
            let counts = if place < NEAR {
                if self.near.len() < (place + 1) * DENSE {
                    self.near.resize((place + 1).next_power_of_two() * DENSE, 0);
                }
                &mut self.near[place * DENSE..(place + 1) * DENSE]
            } else {
                if self.far.len() <= place - NEAR {
                    self.far.resize_with(place - NEAR + 1, Vec::new);
                }
                let counts = &mut self.far[place - NEAR];
                if counts.len() <= at {
                    counts.resize(at + 1, 0);
                }
                counts.as_mut_slice()
            };
            let sum = u64::from(counts[at]) + count;
            if let Ok(small) = u16::try_from(sum) {
                counts[at] = small;
                return;
            }
            // A count above `u16::MAX` moves to the map; `drain` yields both parts.
            (counts[at], more) = (0, sum);
        }
        *self.sparse.entry((class, value)).or_insert(0) += more;
    }

    /// Passes every (class, value, count) to `see`; a pair may come twice, with counts to be added.
    pub(super) fn drain(self, mut see: impl FnMut(u32, u32, u64)) {
        let near = self.near.chunks_exact(DENSE);
        let far = self.far.iter().map(Vec::as_slice);
        for (class, counts) in (0u32..).zip(near).chain((NEAR as u32..).zip(far)) {
            for (value, &count) in (0u32..).zip(counts).filter(|&(_, &count)| count > 0) {
                see(class, value, u64::from(count));
            }
        }
        self.sparse.into_iter().for_each(|((class, value), count)| see(class, value, count));
    }
}
