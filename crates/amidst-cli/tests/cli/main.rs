//! The command as people and scripts use it.

#![cfg(test)]

mod anonymize;
mod attack;
mod bad_input;
mod corpus;
mod database;
mod explore;
mod hostile;
mod house;
mod init;
mod layout;
mod limits;
mod local;
mod population;
mod publish;
mod raw;
mod report;
mod sentences;
mod series;
mod teach;
mod typed;
