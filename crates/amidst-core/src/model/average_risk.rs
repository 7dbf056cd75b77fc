//! Average risk.
//!
//! **Definition.** The mean over the rows of 1/n, n the size of the row's class, is at most the threshold. Every class
//! adds n · 1/n = 1, so the mean is the number of classes over the number of rows.
//!
//! **Source.** Average prosecutor risk; El Emam 2013; as in ARX.
//!
//! **Departures.** An empty release satisfies it.
//!
//! **Monotone**: merging makes one class of two.
//!
//! **Cost**: one pass over the distinct class sizes of the release.

use super::release_risk::ReleaseRisk;
use super::{Audit, Entry, Sensitive};
use crate::class::Sizes;
use crate::parameter::{Kind, Measured, Parameter};

pub(super) const ENTRY: Entry = Entry {
    id: "average-risk",
    title: "average risk",
    definition: "classes / rows ≤ threshold, over the whole release",
    citation: "El Emam 2013; as in ARX",
    meaning: "taken over everybody in the release, a guess at who is who is right at most with probability \
              {threshold}",
    parameters: &[Parameter::required(
        "threshold",
        Kind::Number,
        "the largest average risk of re-identification, 0 to 1",
    )
    .measured(Measured::From)],
    sensitive: Sensitive::None,
    audit: &[Audit::of("average_risk", &[("threshold", "1")])],
    build: |parameters, _| Ok(Box::new(ReleaseRisk { threshold: parameters.share("threshold")?, risk })),
};

/// The number of classes and of persons.
fn risk(sizes: &Sizes) -> Option<(u64, u64)> {
    let persons = sizes.persons();
    (persons > 0).then(|| (sizes.classes(), persons))
}

#[cfg(test)]
mod tests {
    use super::super::Bound;
    use super::super::testing::{build, number};
    use super::*;

    #[test]
    fn the_threshold_itself_is_allowed() {
        let model = |threshold| build(&ENTRY, &[("threshold", number(threshold))]).unwrap();
        let sizes = Sizes::collect([1, 4, 7]);
        assert!(model("0.25").holds_release(&sizes));
        assert!(!model("0.2499").holds_release(&sizes));
        assert_eq!(model("1").measure_release(&sizes).unwrap().bound, Bound::Exact("0.25".parse().unwrap()));
        assert!(model("0").holds_release(&Sizes::default()));
        assert!(build(&ENTRY, &[("threshold", number("2"))]).is_err());
    }
}
