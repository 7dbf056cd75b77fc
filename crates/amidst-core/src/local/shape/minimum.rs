//! Lower bounds as an index keeps and compares them.
//!
//! Costs are compared in billionths: tables are full of rows that agree, so ties are the normal case, and rounding must
//! neither decide them nor keep an index from passing over all but one of them.

/// What every item in a part of the tree has at the least: clusters state it, rows leave it at zero.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MinimumClass {
    /// Rows.
    pub rows: f64,
    /// What its shape costs a row.
    pub cost: f64,
}

impl MinimumClass {
    /// The lesser of both, field by field.
    pub(in crate::local) fn min(self, other: MinimumClass) -> MinimumClass {
        MinimumClass { rows: self.rows.min(other.rows), cost: self.cost.min(other.cost) }
    }
}

/// A cost in billionths.
#[inline]
pub fn quantum(cost: f64) -> f64 {
    let billionths = cost * 1e9;
    // Through an integer, which is much faster than rounding; what is too large for one is compared as it is.
    if billionths.abs() < 9e18 { (billionths + 0.5_f64.copysign(billionths)) as i64 as f64 } else { billionths }
}

/// A lower bound in billionths, a hair lower so that its own rounding never lifts it above what it bounds.
#[inline]
pub fn floor(bound: f64) -> f64 {
    quantum(bound - 1e-12)
}

/// Whether a cost is worth comparing with the best so far, or clearly above it.
pub fn clearly_above(cost: f64, best: f64) -> bool {
    cost > best + 2e-9
}
