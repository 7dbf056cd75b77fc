//! The studio: the page on which a data steward makes a release, served on this machine alone.
//!
//! The policy file is the document. Whatever is changed on the page is an [`edit`] of `policy.toml`, written at once,
//! with its history beside it ([`document`]); screens (`screens/`, one file each with its script beside it) show what
//! follows from the document and the data. Long work runs as [`jobs`]; what it found is kept in [`results`] with the
//! document that it was made from. [`guard`] decides who may speak to the server at all.
//!
//! Nothing here knows the science: a release made on the page is made by the function that the command line calls, from
//! the policy that the page wrote.
//!
//! ```
//! use amidst_studio::project::Project;
//! use amidst_studio::{Options, start};
//!
//! let folder = tempfile::tempdir()?;
//! let running = start(Project::in_folder(folder.path()), &Options::default())?;
//! assert!(running.address.starts_with("http://127.0.0.1:"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The main types
//!
//! - [`project::Project`]: the folder, its policy, and the table that a new policy is for.
//! - [`document::Document`]: the policy file with its history.
//! - [`Options`], [`Running`]: where the server listens, and the server.

mod answer;
pub mod diff;
pub mod document;
pub mod edit;
mod files;
pub mod guard;
mod history;
pub mod jobs;
mod page;
mod parts;
pub mod places;
pub mod project;
pub mod results;
mod screens;
mod server;
pub mod snapshot;
mod studio;
mod upload;
mod work;

pub use server::{Options, Running, start};
