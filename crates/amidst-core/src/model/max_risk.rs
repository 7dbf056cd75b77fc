//! Maximum risk.
//!
//! **Definition.** 1/n of the smallest class is at most the threshold.
//!
//! **Source.** Maximum prosecutor risk; El Emam 2013. It is k-anonymity with k = 1/threshold, stated as a risk.
//!
//! **Departures.** An empty release satisfies it.
//!
//! **Monotone**: merging makes no class smaller.
//!
//! **Cost**: one pass over the distinct class sizes of the release.

use super::release_risk::ReleaseRisk;
use super::{Audit, Entry, Sensitive};
use crate::class::Sizes;
use crate::parameter::{Kind, Measured, Parameter};

pub(super) const ENTRY: Entry = Entry {
    id: "max-risk",
    title: "maximum risk",
    definition: "1 / smallest class ≤ threshold, over the whole release",
    citation: "El Emam 2013; as in ARX",
    meaning: "a guess at which row is a person's is right at most with probability {threshold}, for everybody",
    parameters: &[Parameter::required(
        "threshold",
        Kind::Number,
        "the largest risk of re-identification of any row, 0 to 1",
    )
    .measured(Measured::From)],
    sensitive: Sensitive::None,
    audit: &[Audit::of("max_risk", &[("threshold", "1")])],
    build: |parameters, _| Ok(Box::new(ReleaseRisk { threshold: parameters.share("threshold")?, risk })),
};

/// One in the smallest class.
fn risk(sizes: &Sizes) -> Option<(u64, u64)> {
    sizes.counts.iter().map(|c| c.0).find(|&size| size > 0).map(|size| (1, size))
}

#[cfg(test)]
mod tests {
    use super::super::Bound;
    use super::super::testing::{build, number};
    use super::*;

    #[test]
    fn the_threshold_itself_is_allowed() {
        let model = |threshold| build(&ENTRY, &[("threshold", number(threshold))]).unwrap();
        let sizes = Sizes::collect([5, 4, 9]);
        assert!(model("0.25").holds_release(&sizes));
        assert!(!model("0.2499").holds_release(&sizes));
        assert_eq!(model("1").measure_release(&sizes).unwrap().bound, Bound::Exact("0.25".parse().unwrap()));
        assert!(model("0").holds_release(&Sizes::default()));
        assert!(build(&ENTRY, &[("threshold", number("2"))]).is_err());
    }
}
