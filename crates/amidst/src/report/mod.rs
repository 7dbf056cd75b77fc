//! The report: what a release protects and costs, for a privacy officer to sign.
//!
//! `of_release` and [`of_audit`] gather one [`Report`]; [`html`], [`Report::to_json_text`] and [`markdown`] render it.
//!
//! May use: `audit`, `control_group`, `json`, `plan`, `policy`, `population`, `prepare`, `release`, `unique`,
//! `utility`, `words`, and what those use.

mod audit;
pub mod chart;
mod columns;
mod content;
mod documents;
mod figures;
mod html;
mod loss_bound;
mod markdown;
mod partition;
mod public;
mod release;
mod render;
mod sets;
mod summary;
mod suppression;
mod unique_rows;
mod view;
mod worst;

pub use audit::of_audit;
pub use chart::{Axes, Curve, curves, standalone};
pub use columns::histogram;
pub use content::*;
pub(crate) use documents::{Policies, Reports};
pub use html::{html, page, sections};
pub use loss_bound::LossBound;
pub use markdown::markdown;
pub use partition::{Partition, PartitionBox, partition};
pub(crate) use release::{Made, of_release};
pub use sets::SetReport;
pub(crate) use view::repeats;

/// The names of the files that a report is written to.
pub const FILES: [&str; 3] = ["report.html", "report.json", "report.md"];
