//! The command as people and scripts use it.

mod anonymize;
mod bad_input;
mod house;
mod teach;
