//! Shapes over many rows at once, column by column, because then the loops are tight.

use super::axis::Measure;
use super::space::Space;
use super::word::{Shape, ShapeWord};

impl Space {
    /// Stretches the shapes numbered in `slots` over the rows of a table of codes, a slot a row, where `whole` is the
    /// shape over all of them: what reaches as far need not be looked at again. Every slot must have been started, and
    /// those of `column` are its distinct codes, or the nodes right below that of `whole`.
    pub fn spread(&self, shapes: &mut Shape, slots: &[u32], codes: &[u32], whole: &Shape, column: usize) {
        let (words, width) = (self.words(), self.width());
        for (at, axis) in self.axes.iter().enumerate() {
            let rows = || slots.iter().zip(codes.chunks_exact(width));
            let (word, full) = (axis.words.0, whole[axis.words.0]);
            let mut open = shapes.len() / words;
            match &axis.measure {
                Measure::Node(nodes) => {
                    let top = full.unpair().0.saturating_sub(u32::from(at == column));
                    if top == 0 {
                        continue;
                    }
                    for (&slot, row) in rows() {
                        let shape = &mut shapes[slot as usize * words + word];
                        let (level, code) = shape.unpair();
                        if level < top {
                            let now = nodes.climb((level, code), row[at]);
                            if now > level {
                                *shape = ShapeWord::pair(now, code);
                                open -= usize::from(now >= top);
                                if open == 0 {
                                    break;
                                }
                            }
                        }
                    }
                }
                _ if at == column => (),
                Measure::Range { .. } => {
                    for (&slot, row) in rows() {
                        let shape = &mut shapes[slot as usize * words + word];
                        if *shape != full {
                            let (low, high) = shape.unpair();
                            *shape = ShapeWord::pair(low.min(row[at]), high.max(row[at]));
                            open -= usize::from(*shape == full);
                            if open == 0 {
                                break;
                            }
                        }
                    }
                }
                Measure::Set { .. } => {
                    for (&slot, row) in rows() {
                        self.stretch_column(
                            &mut shapes[slot as usize * words..(slot as usize + 1) * words],
                            at,
                            row[at],
                        );
                    }
                }
            }
        }
    }

    /// The tightest shape over the rows of a table of codes, of which `whole`, if known, covers all.
    pub fn over(&self, codes: &[u32], whole: Option<&Shape>) -> Vec<ShapeWord> {
        let width = self.width();
        let mut shape = self.empty();
        let Some(first) = codes.get(..width) else { return shape };
        self.start(&mut shape, first);
        for (at, axis) in self.axes.iter().enumerate() {
            let (word, full) = (axis.words.0, whole.map(|whole| whole[axis.words.0]));
            let column = codes.chunks_exact(width).map(|row| row[at]);
            match &axis.measure {
                Measure::Node(nodes) => {
                    let top = full.map_or(nodes.levels() - 1, |full| full.unpair().0);
                    let (mut level, code) = shape[word].unpair();
                    for other in column {
                        if level >= top {
                            break;
                        }
                        level = nodes.climb((level, code), other);
                    }
                    shape[word] = ShapeWord::pair(level, code);
                }
                Measure::Range { .. } => {
                    let (mut low, mut high) = shape[word].unpair();
                    for code in column {
                        (low, high) = (low.min(code), high.max(code));
                    }
                    shape[word] = ShapeWord::pair(low, high);
                }
                Measure::Set { .. } => column.for_each(|code| self.stretch_column(&mut shape, at, code)),
            }
        }
        shape
    }
}

#[cfg(test)]
mod tests {
    use crate::local::fixture::Fixture;
    use crate::local::shape::{Cuts, Space};

    #[test]
    fn many_rows_at_once_have_the_shape_of_one_after_the_other() {
        for seed in 0..4 {
            let fixture = Fixture::random(seed, 90, false);
            let (set, space) = (&fixture.set, Space::new(&fixture.generalizations));
            let width = space.width();
            for rows in [1, 2, 7, 30, set.len()] {
                let codes = &set.tuples[..rows * width];
                let one_by_one = |chosen: &dyn Fn(usize) -> bool| {
                    let mut shape = space.empty();
                    for (i, row) in (0..rows).filter(|&row| chosen(row)).enumerate() {
                        let row = &codes[row * width..(row + 1) * width];
                        if i == 0 { space.start(&mut shape, row) } else { space.add(&mut shape, row) }
                    }
                    shape
                };
                let whole = one_by_one(&|_| true);
                assert_eq!(space.canonical(&space.over(codes, None)), space.canonical(&whole));
                assert_eq!(space.canonical(&space.over(codes, Some(&whole))), space.canonical(&whole));
                for column in 0..width {
                    let key = |row: usize| match space.cuts(&whole, column) {
                        Cuts::Grouped { rank, .. } => rank[codes[row * width + column] as usize],
                        _ => codes[row * width + column],
                    };
                    let mut keys: Vec<u32> = (0..rows).map(key).collect();
                    keys.sort_unstable();
                    keys.dedup();
                    if let Cuts::Grouped { nodes, .. } = space.cuts(&whole, column) {
                        assert!(keys.len() > 1 && keys.iter().all(|&k| (k as usize) < nodes));
                    }
                    let slots: Vec<u32> = (0..rows).map(|r| keys.binary_search(&key(r)).unwrap() as u32).collect();
                    let mut shapes = Vec::new();
                    for slot in 0..keys.len() as u32 {
                        let first = slots.iter().position(|&s| s == slot).unwrap();
                        let mut shape = space.empty();
                        space.start(&mut shape, &codes[first * width..(first + 1) * width]);
                        shapes.extend(shape);
                    }
                    if !matches!(space.cuts(&whole, column), Cuts::None) {
                        space.spread(&mut shapes, &slots, codes, &whole, column);
                        for (slot, shape) in shapes.chunks(space.words()).enumerate() {
                            let expected = one_by_one(&|row| slots[row] == slot as u32);
                            assert_eq!(space.canonical(shape), space.canonical(&expected));
                        }
                    }
                }
            }
        }
    }
}
