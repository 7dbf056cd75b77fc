//! Publishing: a release is staged out of sight, checked, sealed with its certificate, and renamed into place.
//!
//! May use: `engine`, `release`, `report`, `scratch`, and everything below those. Nothing else publishes.

mod bundle;
mod certificate;
mod destination;
mod staging;
mod workspace;

pub use bundle::Document;
pub(crate) use bundle::{Bundle, Sealed};
pub use destination::{Destination, Outputs};
pub use staging::Staging;
pub(crate) use workspace::{Folders, Memory, Workspace, table_name};
