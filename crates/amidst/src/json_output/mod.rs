//! What commands print as JSON, for other programs.
//!
//! Types of the layers below are told here, a file for each command, so that those layers know nothing of JSON values:
//! `to_json` of a type is written here, whatever module the type is in. The keys and their order are a public interface
//! (docs/json.md); `tests/pinned` holds digests of what is printed. What derives `Serialize` is told as it is; numbers,
//! figures and verdicts are in `json`, which every layer may use.
//!
//! May use: everything below it, which is every other module.

mod anonymized;
mod attacked;
mod audited;
mod explored;
mod parts;
mod policy_schema;
mod sarif;
mod series;
mod surveyed;

pub use explored::explored;
pub use policy_schema::policy_schema;
pub use sarif::sarif_log;
