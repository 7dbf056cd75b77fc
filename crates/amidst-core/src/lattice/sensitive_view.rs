//! Views: what requirements see of the sensitive columns, counted class by class.
//!
//! A view is one sensitive column, or several that a requirement names together (Definition 4.6 of the ℓ-diversity
//! article). A sensitive tuple is seen as its *projection* on the columns of the view. The distinct projections are
//! numbered within the view, in ascending order of their values: several sensitive tuples may share one, so that this
//! number is no [`SensitiveId`]. Only views that some requirement looks at are counted; k-anonymity alone counts none.

use crate::frequency::FrequencySet;
use crate::ids::SensitiveId;

/// Some sensitive columns taken together.
#[derive(Debug)]
pub(crate) struct SensitiveView {
    /// The sensitive columns, ascending positions not required: as the requirement names them.
    pub columns: Vec<usize>,
    /// The projection of each sensitive tuple of the frequency set.
    pub projection_of: Vec<u32>,
    /// The values of each projection, one per column.
    pub values: Vec<u32>,
    /// How many distinct projections there are.
    pub projections: usize,
    /// For each column, the block of every projection: those with equal values in all other columns are one block,
    /// which Definition 4.6 judges. Empty for a single column.
    pub blocks: Vec<Vec<u32>>,
}

impl SensitiveView {
    /// The view of `columns` in a table.
    pub fn new(set: &FrequencySet, columns: &[usize]) -> Self {
        let width = set.sensitive_width;
        let count = set.sensitive.len().checked_div(width).unwrap_or(0);
        let tuples: Vec<Vec<u32>> = (0..count)
            .map(|t| columns.iter().map(|&c| set.sensitive_code(SensitiveId(t as u32), c)).collect())
            .collect();
        let mut distinct = tuples.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let projection_of = tuples.iter().map(|t| distinct.partition_point(|d| d < t) as u32).collect();
        let blocks = if columns.len() == 1 {
            Vec::new()
        } else {
            (0..columns.len())
                .map(|i| {
                    let others = |s: u32| {
                        let tuple = &distinct[s as usize];
                        let others: Vec<u32> = (0..columns.len()).filter(|&j| j != i).map(|j| tuple[j]).collect();
                        (others, tuple[i])
                    };
                    let mut order: Vec<u32> = (0..distinct.len() as u32).collect();
                    order.sort_by_cached_key(|&s| others(s));
                    // A new block begins where the other columns' values change.
                    let mut block_of = vec![0; distinct.len()];
                    let mut block = 0;
                    for (i, &s) in order.iter().enumerate() {
                        if i > 0 && others(order[i - 1]).0 != others(s).0 {
                            block += 1;
                        }
                        block_of[s as usize] = block;
                    }
                    block_of
                })
                .collect()
        };
        let projections = distinct.len();
        SensitiveView { columns: columns.to_vec(), projection_of, values: distinct.concat(), projections, blocks }
    }

    /// The value of a projection in the column at position `column` of this view.
    pub fn value(&self, projection: u32, column: usize) -> u32 {
        self.values[projection as usize * self.columns.len() + column]
    }
}

/// How many rows of each class have each projection of a view.
#[derive(Debug, Clone)]
pub(crate) enum Counts {
    /// A row of `projections` counts for each class: fastest where projections are few.
    Dense {
        /// The number of projections.
        projections: usize,
        /// The counts, class by class.
        counts: Vec<u32>,
    },
    /// The projections that occur, in ascending order within each class.
    Sparse {
        /// The number of projections.
        projections: usize,
        /// Class `c` has the pairs from `offsets[c]` to `offsets[c + 1]`.
        offsets: Vec<u32>,
        /// (projection, rows).
        pairs: Vec<(u32, u32)>,
    },
}

/// Up to this many projections, adding whole rows of counts is faster than merging lists.
const DENSE: usize = 32;

/// Up to this many counts stay in fast memory, zeros or not.
const NEAR: usize = 1 << 20;

impl Counts {
    /// The counts of each of the tuples of `set` in `tuples`.
    pub fn base(set: &FrequencySet, view: &SensitiveView, tuples: &[u32]) -> Self {
        let projections = view.projections;
        // Of many tuples most have few projections: rows of counts would mostly be zeros.
        let full = projections * tuples.len() <= set.groups.entries.len() * 3 || projections * tuples.len() <= NEAR;
        if projections <= DENSE && full {
            let mut counts = vec![0; projections * tuples.len()];
            for (class, &tuple) in tuples.iter().enumerate() {
                for entry in set.groups.get(tuple as usize) {
                    let projection = view.projection_of[entry.sensitive.index()] as usize;
                    counts[class * projections + projection] += entry.rows as u32;
                }
            }
            return Counts::Dense { projections, counts };
        }
        let mut offsets = Vec::with_capacity(tuples.len() + 1);
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        offsets.push(0);
        let mut own: Vec<(u32, u32)> = Vec::new();
        for &tuple in tuples {
            own.clear();
            own.extend(
                (set.groups.get(tuple as usize).iter())
                    .map(|e| (view.projection_of[e.sensitive.index()], e.rows as u32)),
            );
            own.sort_unstable();
            let start = pairs.len();
            for &(projection, rows) in &own {
                match pairs[start..].last_mut() {
                    Some(last) if last.0 == projection => last.1 += rows,
                    _ => pairs.push((projection, rows)),
                }
            }
            offsets.push(pairs.len() as u32);
        }
        Counts::Sparse { projections, offsets, pairs }
    }

    /// The counts of `classes` classes, where `class_of` names the class of each tuple of `set`; tuples without rows
    /// may be in none.
    pub fn of_classes(set: &FrequencySet, view: &SensitiveView, class_of: &[u32], classes: usize) -> Self {
        let projections = view.projections;
        if classes * projections > NEAR.max(set.groups.entries.len()) {
            let tuples: Vec<u32> = (0..set.len() as u32).filter(|&t| class_of[t as usize] != u32::MAX).collect();
            let class_of: Vec<u32> = tuples.iter().map(|&t| class_of[t as usize]).collect();
            return Self::base(set, view, &tuples).roll_up(&class_of, classes);
        }
        let mut counts = vec![0; classes * projections];
        for (entries, &class) in set.groups.iter().zip(class_of).filter(|(entries, _)| !entries.is_empty()) {
            let row = &mut counts[class as usize * projections..(class as usize + 1) * projections];
            for entry in entries {
                row[view.projection_of[entry.sensitive.index()] as usize] += entry.rows as u32;
            }
        }
        Counts::Dense { projections, counts }
    }

    /// The counts of `classes` coarser classes, where `class_of` names the coarser class of each class.
    pub fn roll_up(&self, class_of: &[u32], classes: usize) -> Self {
        match self {
            Counts::Dense { projections, counts } => {
                let mut sums = vec![0u32; classes * projections];
                for (row, &class) in counts.chunks_exact((*projections).max(1)).zip(class_of) {
                    let start = class as usize * projections;
                    for (sum, &count) in sums[start..start + projections].iter_mut().zip(row) {
                        *sum += count;
                    }
                }
                Counts::Dense { projections: *projections, counts: sums }
            }
            Counts::Sparse { projections, offsets, pairs } if classes * projections <= NEAR => {
                let mut sums = vec![0u32; classes * projections];
                for (source, &class) in class_of.iter().enumerate() {
                    let row = &mut sums[class as usize * projections..(class as usize + 1) * projections];
                    for &(projection, rows) in &pairs[offsets[source] as usize..offsets[source + 1] as usize] {
                        row[projection as usize] += rows;
                    }
                }
                Counts::Dense { projections: *projections, counts: sums }
            }
            Counts::Sparse { projections, offsets, pairs } if *projections <= DENSE => {
                merge_few(*projections, (offsets, pairs), class_of, classes)
            }
            Counts::Sparse { projections, offsets, pairs } => {
                merge_many(*projections, (offsets, pairs), class_of, classes)
            }
        }
    }

    /// Appends (projection, rows) of a class to `out`, by projection, without zeros.
    #[inline]
    pub fn read(&self, class: usize, out: &mut Vec<(u32, u64)>) {
        match self {
            Counts::Dense { projections, counts } => {
                let row = &counts[class * projections..(class + 1) * projections];
                out.extend((0u32..).zip(row).filter(|&(_, &n)| n > 0).map(|(s, &n)| (s, u64::from(n))));
            }
            Counts::Sparse { offsets, pairs, .. } => {
                let own = &pairs[offsets[class] as usize..offsets[class + 1] as usize];
                out.extend(own.iter().map(|&(s, n)| (s, u64::from(n))));
            }
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        match self {
            Counts::Dense { counts, .. } => counts.capacity() * 4,
            Counts::Sparse { offsets, pairs, .. } => offsets.capacity() * 4 + pairs.capacity() * 8,
        }
    }
}

/// The offsets and pairs of [`Counts::Sparse`].
type Sparse<'a> = (&'a [u32], &'a [(u32, u32)]);

/// Rolls sparse counts of at most [`DENSE`] projections up: the sources of a class side by side, each class in one
/// small row.
fn merge_few(projections: usize, (offsets, pairs): Sparse<'_>, class_of: &[u32], classes: usize) -> Counts {
    let mut starts = vec![0u32; classes + 1];
    class_of.iter().for_each(|&class| starts[class as usize + 1] += 1);
    (0..classes).for_each(|c| starts[c + 1] += starts[c]);
    let mut next = starts.clone();
    let mut sources = vec![0u32; class_of.len()];
    for (source, &class) in (0u32..).zip(class_of) {
        let at = &mut next[class as usize];
        sources[*at as usize] = source;
        *at += 1;
    }
    drop(next);
    let mut sums = [0u32; DENSE];
    let mut merged: Vec<(u32, u32)> = Vec::with_capacity(pairs.len());
    let mut ends = Vec::with_capacity(classes + 1);
    ends.push(0);
    for class in 0..classes {
        let own = &sources[starts[class] as usize..starts[class + 1] as usize];
        for range in own.iter().map(|&s| offsets[s as usize] as usize..offsets[s as usize + 1] as usize) {
            pairs[range].iter().for_each(|&(projection, rows)| sums[projection as usize] += rows);
        }
        let found = (0u32..).zip(&mut sums[..projections]).filter(|(_, sum)| **sum > 0);
        merged.extend(found.map(|(projection, sum)| (projection, std::mem::take(sum))));
        ends.push(merged.len() as u32);
    }
    if classes * projections <= merged.len() * 2 {
        // Hardly any zeros are left.
        let mut counts = vec![0u32; classes * projections];
        for (row, range) in counts.chunks_exact_mut(projections).zip(ends.windows(2)) {
            let own = &merged[range[0] as usize..range[1] as usize];
            own.iter().for_each(|&(projection, rows)| row[projection as usize] = rows);
        }
        return Counts::Dense { projections, counts };
    }
    merged.shrink_to_fit();
    Counts::Sparse { projections, offsets: ends, pairs: merged }
}

/// Rolls sparse counts up: two stable counting sorts, by projection and then by class, put equal pairs side by side.
fn merge_many(projections: usize, (offsets, pairs): Sparse<'_>, class_of: &[u32], classes: usize) -> Counts {
    let mut place = vec![0u32; projections + 1];
    pairs.iter().for_each(|p| place[p.0 as usize + 1] += 1);
    (0..projections).for_each(|s| place[s + 1] += place[s]);
    let mut by_projection = vec![(0u32, 0u32, 0u32); pairs.len()];
    let mut sizes = vec![0u32; classes + 1];
    for (source, &class) in class_of.iter().enumerate() {
        for &(projection, rows) in &pairs[offsets[source] as usize..offsets[source + 1] as usize] {
            let at = &mut place[projection as usize];
            by_projection[*at as usize] = (class, projection, rows);
            *at += 1;
            sizes[class as usize + 1] += 1;
        }
    }
    (0..classes).for_each(|c| sizes[c + 1] += sizes[c]);
    let starts = sizes.clone();
    let mut sorted = vec![(0u32, 0u32); pairs.len()];
    for (class, projection, rows) in by_projection {
        let at = &mut sizes[class as usize];
        sorted[*at as usize] = (projection, rows);
        *at += 1;
    }
    let mut merged: Vec<(u32, u32)> = Vec::with_capacity(pairs.len());
    let mut offsets = Vec::with_capacity(classes + 1);
    offsets.push(0);
    for class in 0..classes {
        let start = merged.len();
        for &(projection, rows) in &sorted[starts[class] as usize..starts[class + 1] as usize] {
            match merged[start..].last_mut() {
                Some(last) if last.0 == projection => last.1 += rows,
                _ => merged.push((projection, rows)),
            }
        }
        offsets.push(merged.len() as u32);
    }
    merged.shrink_to_fit();
    Counts::Sparse { projections, offsets, pairs: merged }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_counts_rolls_up_to_the_same() {
        // Forty thousand classes of two or three projections each, so that no form is ruled out by its size.
        for projections in [5usize, 32, 90] {
            let (mut offsets, mut pairs) = (vec![0u32], Vec::new());
            let mut dense = vec![0u32; 40_000 * projections];
            for class in 0..40_000usize {
                let mut own: Vec<u32> =
                    (0..2 + class % 2).map(|i| ((class * 31 + i * 7) % projections) as u32).collect();
                own.sort_unstable();
                own.dedup();
                for projection in own {
                    pairs.push((projection, class as u32 % 11 + 1));
                    dense[class * projections + projection as usize] = class as u32 % 11 + 1;
                }
                offsets.push(pairs.len() as u32);
            }
            let sparse = Counts::Sparse { projections, offsets, pairs };
            let dense = Counts::Dense { projections, counts: dense };
            for classes in [1usize, 3, 700, 39_000] {
                let class_of: Vec<u32> = (0..40_000).map(|c| (c * 17 % classes) as u32).collect();
                let (a, b) = (sparse.roll_up(&class_of, classes), dense.roll_up(&class_of, classes));
                for class in 0..classes {
                    let (mut x, mut y) = (Vec::new(), Vec::new());
                    a.read(class, &mut x);
                    b.read(class, &mut y);
                    assert_eq!(x, y, "{projections} projections, {classes} classes");
                }
            }
        }
    }
}
