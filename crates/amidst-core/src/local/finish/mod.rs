//! From classes to what a search returns.
//!
//! May use: every other folder of `local`.

mod search_result;
pub(crate) mod suppress;

pub(crate) use search_result::found;
