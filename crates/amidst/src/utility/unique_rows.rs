//! The entry of [`crate::unique`] in the registry of figures.

use super::Measure;

/// Unique rows, as the registry of figures knows them.
pub const MEASURE: Measure = Measure {
    id: "unique-rows",
    title: "unique rows",
    definition: "the rows that no other row agrees with: on all published columns, and on the insensitive columns alone. \
                 Where more than 1 % of the rows are unique on the insensitive columns together, check and anonymize refuse \
                 the policy: make the columns quasi, make them identifying (they are left out), or write accept = \"why\" \
                 beside the role; the reason goes into report and certificate. verify counts again from the released file",
    citation: "docs/raw-columns.md",
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_that_is_told_is_the_one_that_is_kept() {
        assert!(MEASURE.definition.contains(&format!("more than {} % of the rows", amidst_check::UNIQUE_PERCENT)));
    }
}
