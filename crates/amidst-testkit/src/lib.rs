//! What the tests and benches of several crates share: tables, files that readers disagree about, mutants of inputs.
//!
//! A dev-dependency only. May use: the standard library and `serde_json`; `amidst-core` behind the feature `adult`.
//!
//! ```
//! let files = amidst_testkit::readings::files();
//! assert!(files.iter().all(|file| !file.bytes.is_empty() || !file.what.is_empty()));
//! ```

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::print_stdout,
    reason = "only tests and benches use it, and they stop where their data is broken"
)]

#[cfg(feature = "adult")]
pub mod adult;
pub mod mutants;
pub mod pins;
pub mod readings;
pub mod table;
