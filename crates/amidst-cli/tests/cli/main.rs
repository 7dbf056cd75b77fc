//! The command as people and scripts use it.

#![cfg(test)]

mod anonymize;
mod attack;
mod bad_input;
mod database;
mod explore;
mod house;
mod layout;
mod limits;
mod population;
mod report;
mod series;
mod teach;
mod typed;
