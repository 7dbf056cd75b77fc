//! What the independent checker is handed besides a release: tables as files, and the meaning of labels.
//!
//! May use: `policy`, `prepare`, `external`, `files`, `scratch`, the readers and writers of `amidst-io`, the types of
//! `amidst-check`.

pub(crate) mod files;
pub(crate) mod labels;
