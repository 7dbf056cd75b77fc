//! Numbers that stand for things, each with a type of its own, so that one is not taken for another where modules meet.
//!
//! Inside an algorithm the same numbers are plain integers: they are places in lists there, and arithmetic with them is
//! the point. Lists with a number for each row or tuple state what is missing as a number, too
//! ([`SUPPRESSED`](crate::recoding::SUPPRESSED), `series::UNPLACED`,
//! [`NOBODY`](crate::frequency::NOBODY)): an `Option` would double them.

/// A class of a release, by its place in [`Recoding::classes`](crate::recoding::Recoding::classes).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassId(pub u32);

/// A tuple of quasi values, by its place in a [`FrequencySet`](crate::frequency::FrequencySet).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TupleId(pub u32);

/// A tuple of sensitive values, by its place in [`FrequencySet::sensitive`](crate::frequency::FrequencySet::sensitive).
///
/// Not the code of a value in one sensitive column, which
/// [`FrequencySet::sensitive_code`](crate::frequency::FrequencySet::sensitive_code) tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SensitiveId(pub u32);

/// An entry, by its place among the [`entries`](crate::frequency::Groups::entries) of a
/// [`FrequencySet`](crate::frequency::FrequencySet).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId(pub u32);

impl ClassId {
    /// Its place in a list of classes.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl TupleId {
    /// Its place in a list of tuples.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl SensitiveId {
    /// Its place in a list of sensitive tuples.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl EntryId {
    /// Its place in a list of entries.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
