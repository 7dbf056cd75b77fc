//! Sample uniqueness.
//!
//! **Definition.** The share of rows that stand alone in their class is at most the threshold.
//!
//! **Source.** Dalenius 1986 ("finding a needle in a haystack"); as in ARX.
//!
//! **Departures.** An empty release satisfies it.
//!
//! **Monotone**: merging makes no row unique.
//!
//! **Cost**: one pass over the distinct class sizes of the release.

use super::release_risk::ReleaseRisk;
use super::{Audit, Entry, Sensitive};
use crate::class::Sizes;
use crate::parameter::{Kind, Measured, Parameter};

pub(super) const ENTRY: Entry = Entry {
    id: "sample-uniqueness",
    title: "sample uniqueness",
    definition: "rows alone in their class / rows ≤ threshold, over the whole release",
    citation: "Dalenius 1986; as in ARX",
    meaning: "at most a share of {threshold} of the rows stands alone in the release",
    parameters: &[Parameter::required("threshold", Kind::Number, "the largest share of rows that are unique, 0 to 1")
        .measured(Measured::From)],
    sensitive: Sensitive::None,
    audit: &[Audit::of("sample_uniqueness", &[("threshold", "1")])],
    build: |parameters, _| Ok(Box::new(ReleaseRisk { threshold: parameters.share("threshold")?, risk })),
};

/// The number of persons alone in their class, and of persons.
fn risk(sizes: &Sizes) -> Option<(u64, u64)> {
    let persons = sizes.persons();
    let alone = sizes.counts.iter().filter(|&&(size, _)| size == 1).map(|c| c.1).sum();
    (persons > 0).then_some((alone, persons))
}

#[cfg(test)]
mod tests {
    use super::super::Bound;
    use super::super::testing::{build, number};
    use super::*;

    #[test]
    fn the_threshold_itself_is_allowed() {
        let model = |threshold| build(&ENTRY, &[("threshold", number(threshold))]).unwrap();
        let sizes = Sizes::collect([1, 1, 6]);
        assert!(model("0.25").holds_release(&sizes));
        assert!(!model("0.2499").holds_release(&sizes));
        assert_eq!(model("1").measure_release(&sizes).unwrap().bound, Bound::Exact("0.25".parse().unwrap()));
        assert!(model("0").holds_release(&Sizes::default()));
        assert!(build(&ENTRY, &[("threshold", number("2"))]).is_err());
    }
}
