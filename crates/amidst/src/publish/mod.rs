//! Publishing: a release is staged where nobody sees it, checked, sealed with its certificate, and renamed into place.
//!
//! May use: `report`, `release`, `engine`, `scratch` and what lies below them; nothing else publishes.

mod certificate;
mod destination;
mod staging;

pub(crate) use certificate::{Statement, agreed, checked, sealed};
pub use destination::{Destination, Outputs};
pub use staging::Staging;
