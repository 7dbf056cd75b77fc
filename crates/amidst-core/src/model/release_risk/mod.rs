//! A risk of the whole release that must not exceed a threshold: what average risk, maximum risk and sample uniqueness
//! have in common.
//!
//! Classes by themselves are never at fault, and an empty release satisfies every threshold.
//!
//! May use: `class`, `exact`, the rest of `model`, and what those use.

use super::{Bound, Level, Needs, PrivacyModel};
use crate::class::{Class, Sizes, TableStats};
use crate::exact::Rational;

/// A bound on a risk that follows from the sizes of all classes and does not grow when classes merge.
#[derive(Debug)]
pub(super) struct ReleaseRisk {
    /// The largest risk allowed.
    pub threshold: Rational,
    /// The risk as a fraction; none for an empty release.
    pub risk: fn(&Sizes) -> Option<(u64, u64)>,
}

impl PrivacyModel for ReleaseRisk {
    fn needs(&self) -> Needs {
        Needs::Release
    }

    fn monotone(&self) -> bool {
        true
    }

    fn holds(&self, _class: &Class<'_>, _table: &TableStats) -> bool {
        true
    }

    fn measure(&self, _class: &Class<'_>, _table: &TableStats) -> Level {
        Level::smallest("threshold", Bound::Always)
    }

    fn holds_release(&self, sizes: &Sizes) -> bool {
        (self.risk)(sizes).is_none_or(|(risk, of)| self.threshold.compare_count(risk, of).is_le())
    }

    fn measure_release(&self, sizes: &Sizes) -> Option<Level> {
        let bound = (self.risk)(sizes).map_or(Bound::Always, |(risk, of)| Bound::ratio(risk, of));
        Some(Level::smallest("threshold", bound))
    }
}
