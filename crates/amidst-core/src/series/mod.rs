//! Tables that change: classes that are kept valid while rows come and go, and what several versions reveal together.
//!
//! [`maintain()`] is the update paper's technique, for any monotone policy; [`m_invariant()`] is that of Xiao & Tao
//! 2007, whose versions can be published side by side; [`audit()`] tells whether versions published so far, or about to
//! be, keep together what the policy promises of each.
//!
//! [`MaintainedClasses`] is what is kept of the classes between batches: a batch needs the rows of those classes only
//! that it takes apart, and asks a [`RowSource`] for them.
//!
//! All of it is pure: functions of the rows and the classes they were in, which return the classes they are in. Storing
//! them between batches is the caller's task.
//!
//! May use: `class`, `control`, `frequency`, `local`, `model`, `parameter`, `random`, `requirement`, `search`,
//! `sensitive`, `worlds`, and what those use.

mod assignment;
mod audit;
mod class_rules;
mod classes;
mod deal;
mod index;
mod invariant_bound;
mod links;
mod m_invariant;
mod maintain;
mod maintained_classes;
mod page_codec;
mod page_split;
mod regroup;
mod rows;
mod shares;
mod split;
#[cfg(test)]
mod tests;
mod varint;

pub use audit::{Audit, ColumnFindings, Exposure, Kept, audit};
pub use class_rules::marginal;
pub use invariant_bound::{Allowed, least_loss};
pub use links::linked;
pub use m_invariant::{Forecast, Invariant, InvariantError, Signed, forecast, m_invariant};
pub use maintain::{Maintained, maintain, refine};
pub use maintained_classes::{KeptClass, MaintainedClasses, UNPLACED};
pub use page_codec::{Loader, OwnIds, StableIds};
pub use rows::{AllKnown, RowSource, Rows};
pub use shares::{Judge, Verdict, tables};
