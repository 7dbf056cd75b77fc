//! From classes to what a search hands over, the same way for every local algorithm: rows that are better left out, the
//! recoding, and what people should know about it.

use super::omit::{Reduced, omit};
use super::{Judge, Partition, Space, World, cluster};
use crate::algorithm::{Found, MaxSuppression, Search, SearchError, Suppressed};

/// Classes and notes.
pub(crate) type Divided = (Partition, Vec<String>);

/// Runs a local algorithm, `divide`, and makes its classes a recoding.
///
/// Rows are left out only where the policy allows it and then only where that lowers the loss, a suppressed row losing
/// everything, or where no release exists otherwise. Masked rows would be a class like any other, which the algorithms
/// find by themselves where it is worth it; so with `suppressed = "mask"` no row is suppressed.
pub(crate) fn found(
    search: &Search<'_>,
    divide: impl Fn(&Search<'_>, &World<'_>) -> Result<Divided, SearchError>,
) -> Result<Found, SearchError> {
    let limit = if search.suppressed == Suppressed::Drop { search.suppression_limit() } else { 0 };
    if let Some(reduced) = (limit > 0).then(|| Reduced::of(search, limit)).flatten() {
        let dropped = reduced.dropped();
        let inner = Search { set: &reduced.set, max_suppression: MaxSuppression::Rows(limit - dropped), ..*search };
        let mut found = recoded(&inner, limit - dropped, divide)?;
        found.recoding = reduced.expand(search, found.recoding)?;
        found.notes.push(format!("{dropped} rows suppressed because with them no class could satisfy the policy"));
        return Ok(found);
    }
    recoded(search, limit, divide)
}

fn recoded(
    search: &Search<'_>,
    limit: u64,
    divide: impl Fn(&Search<'_>, &World<'_>) -> Result<Divided, SearchError>,
) -> Result<Found, SearchError> {
    let space = Space::new(search.generalizations);
    let judge = Judge::new(search)?;
    let tuple_of = search.set.tuple_of_entry();
    let world = World { set: search.set, tuple_of: &tuple_of, space: &space, judge: &judge };
    let (mut partition, mut notes) = divide(search, &world)?;
    let mut omitted = Vec::new();
    if limit > 0 {
        let mut clusters = world.clusters(&partition);
        omitted = omit(&world, &mut clusters, limit);
        partition = cluster::partition(clusters);
    }
    let rows: u64 = omitted.iter().map(|p| p.1).sum();
    if rows > 0 {
        notes.push(format!("{rows} rows suppressed because without them the others lose less"));
    }
    let recoding = partition.recoding_without(search.set, &tuple_of, &space, &judge, &omitted)?;
    Ok(Found { recoding, optimal: false, gap: None, notes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::ALGORITHMS;
    use crate::local::fixture::Fixture;
    use crate::metric::{self, Release};
    use crate::parameter::Parameters;
    use crate::recoding::Recoding;
    use crate::requirement::{Evaluator, Requirement};

    /// The share of the worst possible loss, a suppressed row counting as lost; and how many are suppressed.
    fn price(fixture: &Fixture, requirements: &[Requirement], recoding: &Recoding) -> (f64, u64) {
        let (groups, suppressed) = recoding.groups(&fixture.set);
        let evaluator = Evaluator::new(&fixture.set, requirements);
        assert!((0..requirements.len()).all(|r| evaluator.judge(r, &groups).0), "{}", requirements[0].model.id);
        let (set, generalizations) = (&fixture.set, &fixture.generalizations[..]);
        let release = Release { set, generalizations, recoding, groups: &groups, suppressed, k: 1 };
        let lost = metric::find("information-loss").unwrap().metric.loss(&release).unwrap();
        (lost + (suppressed * set.width as u64) as f64, suppressed)
    }

    #[test]
    fn rows_are_left_out_only_where_that_loses_less() {
        let mut ever = 0;
        for seed in 0..3 {
            let fixture = Fixture::random(seed, 150, false);
            for requirements in fixture.policies() {
                for entry in ALGORITHMS.iter().filter(|a| !a.full_domain) {
                    let with = |limit| {
                        fixture.search(&requirements, &Parameters::default(), |search| {
                            let search = Search { max_suppression: MaxSuppression::Rows(limit), ..search.clone() };
                            entry.algorithm.search(&search)
                        })
                    };
                    let (Ok(all), Ok(some)) = (with(0), with(10)) else { continue };
                    let (all, none) = price(&fixture, &requirements, &all.recoding);
                    let (less, suppressed) = price(&fixture, &requirements, &some.recoding);
                    assert_eq!(none, 0);
                    assert!(suppressed <= 10);
                    // The metric counts a suppressed row as lost too, or not at all; neither may hide a loss.
                    assert!(less <= all + (suppressed * fixture.set.width as u64) as f64 + 1e-9, "{}", entry.id);
                    ever += suppressed;
                }
            }
        }
        assert!(ever > 0, "nothing was ever left out");
    }

    #[test]
    fn a_value_that_is_too_frequent_is_thinned_out() {
        let fixture = Fixture::random(1, 120, false);
        // Flu and hiv have two sevenths of the rows each.
        let requirements = [fixture.requirement("general-alpha-k-anonymity", &[("alpha", "1/4"), ("k", "4")]).unwrap()];
        for entry in ALGORITHMS.iter().filter(|a| !a.full_domain) {
            let with = |limit| {
                fixture.search(&requirements, &Parameters::default(), |search| {
                    let search = Search { max_suppression: MaxSuppression::Rows(limit), ..search.clone() };
                    entry.algorithm.search(&search)
                })
            };
            assert!(matches!(with(0), Err(SearchError::Impossible(_))), "{}", entry.id);
            let found = with(40).unwrap();
            let (_, suppressed) = price(&fixture, &requirements, &found.recoding);
            assert!((1..=40).contains(&suppressed), "{}: {suppressed}", entry.id);
            assert!(found.notes.iter().any(|n| n.contains("no class could")));
        }
    }
}
