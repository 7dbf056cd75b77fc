//! Tables of an adversary, held against a release.
//!
//! May use: `policy`, `prepare`, the failure of the façade; core's hierarchies and attacks; the readers of `amidst-io`.

mod table;

pub(crate) use table::{COUNT, all_there, bound, covers, read, read_input, unknown_rows, weights};
