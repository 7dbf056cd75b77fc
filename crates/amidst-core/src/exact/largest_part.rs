//! How much of a class that fails can be saved: the size of its largest part that satisfies a model, bounded from
//! above.
//!
//! Searches use it to tell how many rows every refinement of a class must suppress at least.

use crate::class::Histogram;

/// The largest number up to `most` for which `holds`, when it holds up to some number and for none above it.
pub(crate) fn largest(most: u64, mut holds: impl FnMut(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, most);
    while low < high {
        let middle = high - (high - low) / 2;
        if holds(middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

/// At most how many rows a part of the histogram has that satisfies a model for which cutting all counts down to one
/// level is the best way to leave out rows, and a lower level is never worse.
pub(crate) fn most_under_a_cap(histogram: &Histogram, holds: impl Fn(&[u64]) -> bool) -> u64 {
    let highest = histogram.iter().map(|&(_, n)| n).max().unwrap_or(0);
    let mut cut = Vec::with_capacity(histogram.len());
    let level = largest(highest, |level| {
        cut.clear();
        cut.extend(histogram.iter().map(|&(_, n)| n.min(level)));
        holds(&cut)
    });
    if level == 0 {
        return 0;
    }
    // Between this level and the next some counts may be higher by one, not all.
    let rows: u64 = histogram.iter().map(|&(_, n)| n.min(level + 1)).sum();
    if level < highest { rows - 1 } else { rows }
}
