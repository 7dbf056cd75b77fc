//! Tests of the command as users and scripts run it.

#![cfg(test)]

#[cfg(test)]
mod anonymize;
#[cfg(test)]
mod attack;
#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod corpus;
#[cfg(test)]
mod database;
#[cfg(test)]
mod defaults;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod explore;
#[cfg(test)]
mod formats;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod init;
#[cfg(test)]
mod layout;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod local;
#[cfg(test)]
mod opened;
#[cfg(test)]
mod papercuts;
#[cfg(test)]
mod plan;
#[cfg(test)]
mod population;
#[cfg(test)]
mod publish;
#[cfg(test)]
mod raw;
#[cfg(test)]
mod report;
#[cfg(test)]
mod reproduce;
#[cfg(test)]
mod said;
mod sentences;
#[cfg(test)]
mod series;
#[cfg(test)]
mod series_extend;
#[cfg(test)]
mod series_policy;
#[cfg(test)]
mod sets;
#[cfg(test)]
mod signed;
#[cfg(test)]
mod suppression;
#[cfg(test)]
mod teach;
#[cfg(test)]
mod test_folder;
#[cfg(test)]
mod typed;
