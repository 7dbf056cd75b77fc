//! Rows that columns single out: how many rows are the only ones with their values in them.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::table::Codes;

/// Rows told apart by some columns: columns are added one by one, and the number of rows that are alone is asked at any
/// time.
#[derive(Debug, Clone)]
pub struct Singling {
    /// The group of each row: rows of one group have the same values so far.
    groups: Vec<u32>,
    sizes: Vec<u32>,
}

impl Singling {
    /// Rows that nothing tells apart yet.
    pub fn of_rows(rows: usize) -> Self {
        let all = u32::try_from(rows).unwrap_or(u32::MAX);
        Singling { groups: vec![0; rows], sizes: if rows == 0 { Vec::new() } else { vec![all] } }
    }

    /// Tells rows apart by another column.
    pub fn add(&mut self, codes: &Codes) {
        let mut numbers: HashMap<u64, u32, FxBuildHasher> = HashMap::default();
        let mut sizes: Vec<u32> = Vec::new();
        let mut row = 0;
        codes.for_each(|code| {
            let key = u64::from(self.groups[row]) << 32 | u64::from(code);
            let group = *numbers.entry(key).or_insert_with(|| {
                sizes.push(0);
                sizes.len() as u32 - 1
            });
            sizes[group as usize] += 1;
            self.groups[row] = group;
            row += 1;
        });
        self.sizes = sizes;
    }

    /// How many rows are alone.
    pub fn uniques(&self) -> u64 {
        self.sizes.iter().filter(|&&n| n == 1).count() as u64
    }

    /// How many groups there are.
    pub fn distinct(&self) -> u64 {
        self.sizes.len() as u64
    }

    /// How many rows are told apart.
    pub fn rows(&self) -> usize {
        self.groups.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Column;

    #[test]
    fn columns_together_single_out_more() {
        let a = Column::from_values("a", ["x", "x", "y", "y"]);
        let b = Column::from_values("b", ["1", "2", "1", "1"]);
        let mut rows = Singling::of_rows(4);
        assert_eq!((rows.uniques(), rows.distinct()), (0, 1));
        rows.add(&a.codes);
        assert_eq!((rows.uniques(), rows.distinct()), (0, 2));
        rows.add(&b.codes);
        assert_eq!((rows.uniques(), rows.distinct(), rows.rows()), (2, 3, 4));
        assert_eq!(Singling::of_rows(0).uniques(), 0);
        assert_eq!(Singling::of_rows(1).uniques(), 1);
    }
}
