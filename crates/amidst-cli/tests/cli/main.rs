//! The command as people and scripts use it.

#![cfg(test)]

mod anonymize;
mod attack;
mod bad_input;
mod corpus;
mod database;
mod explore;
mod house;
mod init;
mod layout;
mod population;
mod report;
mod series;
mod teach;
mod typed;
