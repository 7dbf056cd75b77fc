//! Arguments that the commands `amidst` and `amidst-cluster` share, and remedies in terms of them.
//!
//! Both commands make a release from a policy, so both take the same arguments under the same names. What only one of
//! them takes, such as the address of a scheduler, is in that command.
//!
//! ```
//! use amidst_arguments::Run;
//! use clap::Parser;
//!
//! #[derive(Parser)]
//! struct Command {
//!     #[command(flatten)]
//!     run: Run,
//! }
//!
//! let command = Command::parse_from(["anonymize", "--input", "march.csv", "--seed", "7"]);
//! assert_eq!(command.run.options(None).seed, Some(7));
//! ```
//!
//! # The main types
//!
//! - [`Run`]: what somebody decides about one run of a policy.
//! - [`Verbosity`]: how much a command says.
//! - [`words`]: what can be done about a failure, with the flags of these commands.

mod arguments;
mod remedy;

pub use arguments::{Run, Verbosity};
pub use remedy::words;
