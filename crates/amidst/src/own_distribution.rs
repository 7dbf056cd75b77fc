//! Searching again where what was found does not hold against the distribution of the release itself.
//!
//! A search suppresses classes against the input's distribution. What is left must also hold against its own;
//! [`amidst_core::search::own_distribution`] leaves out what does not. Where that takes more rows than the policy
//! allows, a search that suppresses fewer rows to begin with may still succeed, and one that suppresses none always
//! does if it finds anything: the two distributions are one then.

use amidst_core::search::own_distribution::compares;
use amidst_core::search::{MaxSuppression, Search, feasibility};

use crate::Failure;

/// How often the limit is halved before no suppression at all is tried.
const HALVINGS: u32 = 3;

/// Tries `attempt` within the policy's suppression limit, then within smaller ones. An attempt that finds something
/// which cannot hold against its own distribution returns nothing.
pub fn search<T>(
    search: &Search<'_>,
    attempt: impl Fn(&Search<'_>) -> Result<Option<T>, Failure>,
) -> Result<T, Failure> {
    if let Some(found) = attempt(search)? {
        return Ok(found);
    }
    let limit = search.suppression_limit();
    let mut tried = limit;
    for less in (1..=HALVINGS).map(|halving| limit >> halving).chain([0]) {
        if less == tried {
            continue;
        }
        tried = less;
        let narrower = Search { max_suppression: MaxSuppression::Rows(less), ..search.clone() };
        match attempt(&narrower) {
            Ok(Some(found)) => return Ok(found),
            Ok(None) => {}
            // With still fewer rows left out there is nothing either.
            Err(failure) if failure.is_impossible() => break,
            Err(other) => return Err(other),
        }
    }
    Err(impossible(search))
}

/// Why there is no release, although there would be one if classes were compared with the input alone.
pub fn impossible(search: &Search<'_>) -> Failure {
    let stated = search.requirements.iter().find(|r| compares(r)).map(feasibility::words).unwrap_or_default();
    let message = format!(
        "every release that was found satisfies {stated} against the distribution of the input but not against its own, \
         which anybody who receives it would compare with; allow more suppression, let suppressed rows be masked \
         (`suppressed = \"mask\"`), or ask for less"
    );
    Failure::Impossible(message.into())
}
