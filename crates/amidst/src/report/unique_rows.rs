//! Unique rows, as a report holds them.

use serde::Serialize;

use crate::unique::UniqueRows;

/// Rows that no other row agrees with.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UniqueReport {
    /// On all published columns.
    pub published: u64,
    /// The share of all rows.
    pub published_share: f64,
    /// On the insensitive columns alone.
    pub insensitive: u64,
    /// The share of all rows.
    pub insensitive_share: f64,
    /// The fewest that agree in all published columns, in persons where some have several rows.
    #[serde(skip)]
    pub smallest: Option<u64>,
}

impl From<UniqueRows> for UniqueReport {
    fn from(unique: UniqueRows) -> Self {
        let share = |n: u64| if unique.rows == 0 { 0.0 } else { n as f64 / unique.rows as f64 };
        UniqueReport {
            published: unique.published,
            published_share: share(unique.published),
            insensitive: unique.insensitive,
            insensitive_share: share(unique.insensitive),
            smallest: unique.smallest,
        }
    }
}
