//! Class sizes in bins that people can read; [`Sizes`] itself is the exact histogram.

use crate::class::Sizes;

/// Classes of `low` to `high` persons, both inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bin {
    /// The smallest size.
    pub low: u64,
    /// The largest size.
    pub high: u64,
    /// How many classes.
    pub classes: u64,
    /// How many persons in them.
    pub persons: u64,
}

impl Bin {
    /// The sizes, as a person would write them: `7`, `11–20`.
    pub fn label(&self) -> String {
        if self.low == self.high { self.low.to_string() } else { format!("{}–{}", self.low, self.high) }
    }
}

/// The bins that hold any class: each size for itself up to 10, where risk differs from size to size; then 11–20,
/// 21–50, 51–100, 101–200 and so on.
pub fn bins(sizes: &Sizes) -> Vec<Bin> {
    let mut bins: Vec<Bin> = Vec::new();
    for &(size, classes) in sizes.counts.iter().filter(|&&(size, classes)| size * classes > 0) {
        let persons = size * classes;
        match bins.last_mut() {
            Some(bin) if size <= bin.high => {
                bin.classes += classes;
                bin.persons += persons;
            }
            _ => {
                let (low, high) = ends(size);
                bins.push(Bin { low, high, classes, persons });
            }
        }
    }
    bins
}

/// The ends of the bin of `size`.
fn ends(size: u64) -> (u64, u64) {
    if size <= 10 {
        return (size, size);
    }
    let mut low = 10u64;
    // Tops go 20, 50, 100, 200, 500, 1000 …
    for step in [(2, 1), (5, 2), (2, 1)].into_iter().cycle() {
        let high = low.saturating_mul(step.0) / step.1;
        if size <= high || high <= low {
            return (low + 1, high.max(size));
        }
        low = high;
    }
    (size, size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_hold_every_class_once() {
        let found = bins(&Sizes::collect([1, 1, 10, 11, 20, 21, 50, 51, 100, 101, 200, 201, 1000, 1001]));
        let labels: Vec<String> = found.iter().map(Bin::label).collect();
        assert_eq!(labels, ["1", "10", "11–20", "21–50", "51–100", "101–200", "201–500", "501–1000", "1001–2000"]);
        assert_eq!(found[0], Bin { low: 1, high: 1, classes: 2, persons: 2 });
        assert_eq!(found[2], Bin { low: 11, high: 20, classes: 2, persons: 31 });
        assert_eq!(found.iter().map(|b| b.classes).sum::<u64>(), 14);
        assert_eq!(bins(&Sizes::collect([u64::MAX])).len(), 1);
    }
}
