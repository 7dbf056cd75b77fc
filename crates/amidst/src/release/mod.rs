//! The release before it is written: its rows, their order, and what it satisfies.
//!
//! May use: `prepare`, `plan`, `json` and what lies below them.

mod bounds;
mod classes;
mod evaluate;
mod join;
mod middle;
mod released;
mod representative;
mod rounded;
mod shown;
mod shuffle;
mod write;

pub use classes::class_of_rows;
pub use evaluate::Judged;
pub(crate) use evaluate::warnings;
pub use join::Joined;
pub(crate) use join::place as place_joiners;
pub use released::Released;
pub(crate) use released::published_kind;
pub(crate) use shown::show;
