//! The command as people and scripts use it.

#![cfg(test)]

mod anonymize;
mod bad_input;
mod house;
mod report;
mod series;
mod teach;
