//! Where the fields of a key lie at a node, and the nodes themselves.

use crate::hierarchy::Generalization;

/// The levels of all quasi columns, with the width of a key field at each.
#[derive(Debug)]
pub(crate) struct Layout<'a> {
    /// What the quasi columns can become.
    pub generalizations: &'a [Generalization],
    /// The bits that the values of each column need on each level.
    widths: Vec<Vec<u32>>,
    /// The columns in the order of their fields, the lowest bits first: those with the most values. Walks raise columns
    /// in the same order, so that the columns they have not come to yet are the upper bits of a key.
    pub order: Vec<usize>,
    /// Whether fields keep the width of level 0 on every level.
    fixed: bool,
}

impl<'a> Layout<'a> {
    /// The layout over `generalizations`.
    pub fn new(generalizations: &'a [Generalization]) -> Self {
        let mut order: Vec<usize> = (0..generalizations.len()).collect();
        order.sort_by_key(|&c| (std::cmp::Reverse(generalizations[c].active()), c));
        let mut layout = Layout { generalizations, widths: Vec::new(), order, fixed: false };
        layout.widths =
            generalizations.iter().map(|g| g.levels.iter().map(|l| bits(l.labels.len())).collect()).collect();
        layout.fixed = layout.bits(&vec![0; generalizations.len()]) > 128;
        layout
    }

    /// The number of quasi columns.
    pub fn columns(&self) -> usize {
        self.generalizations.len()
    }

    /// The highest level of each column.
    pub fn top(&self) -> Vec<usize> {
        self.generalizations.iter().map(Generalization::height).collect()
    }

    /// The bits of a key at a node.
    pub fn bits(&self, levels: &[usize]) -> u32 {
        (0..levels.len()).map(|c| self.width(c, levels[c])).sum()
    }

    /// The bits of a column's field at a level.
    pub fn width(&self, column: usize, level: usize) -> u32 {
        self.widths[column][if self.fixed { 0 } else { level }]
    }

    /// What the values of level `a` of a column become on level `b`.
    pub fn map(&self, column: usize, a: usize, b: usize) -> std::borrow::Cow<'a, [u32]> {
        let levels = &self.generalizations[column].levels;
        if b == a + 1 {
            return std::borrow::Cow::Borrowed(&levels[a].up);
        }
        let mut map = levels[a].up.clone();
        for level in &levels[a + 1..b] {
            map.iter_mut().for_each(|v| *v = level.up[*v as usize]);
        }
        std::borrow::Cow::Owned(map)
    }
}

/// The bits that numbers below `count` need.
fn bits(count: usize) -> u32 {
    usize::BITS - count.saturating_sub(1).leading_zeros()
}

/// Whether every level of `a` is at most that of `b`: `b` generalizes `a`.
pub fn finer(a: &[usize], b: &[usize]) -> bool {
    a.iter().zip(b).all(|(x, y)| x <= y)
}

#[cfg(test)]
mod tests {
    use super::bits;

    #[test]
    fn a_single_value_needs_no_bits() {
        assert_eq!([0, 1, 2, 3, 4, 5, 256, 257].map(bits), [0, 0, 1, 2, 2, 3, 8, 9]);
    }
}
