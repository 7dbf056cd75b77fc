//! What the maker of a release, or an auditor, may add to the release and its certificate.

use std::sync::Arc;

/// Further knowledge for the checker. All of it is optional.
#[derive(Debug, Clone, Default)]
pub struct Options<'a> {
    /// The person behind each row of the release, over all files in order. Where a certificate counts persons, outsiders
    /// lack this, and figures that depend on it stay attested by the maker.
    pub persons: Option<Arc<Vec<u64>>>,
    #[doc(hidden)]
    pub marker: std::marker::PhantomData<&'a ()>,
}
