//! Reads tables of databases row by row into blocks of codes.
//!
//! May use: `address`, `columnar`, `contain`, `encode`, `error`, `lent`, `limits`, `lines`, `merge`, `stream`, and what
//! those use.

#[cfg(feature = "postgres")]
mod copy;
#[cfg(feature = "postgres")]
mod postgres;
mod sqlite;
#[cfg(feature = "postgres")]
mod tls;

use std::path::Path;

use crate::address::{Address, Wanted};
use crate::error::{ReadError, shown};
use crate::merge::Merger;
use crate::stream::Settings;

/// Maximum number of table names in a message.
const LISTED: usize = 12;

/// Reads the table at `address`; `place` is the address for messages.
pub(crate) fn read(
    place: &Path,
    address: &Address,
    settings: &Settings<'_>,
    merger: &mut Merger<'_>,
) -> Result<(), ReadError> {
    match address {
        Address::Sqlite { file, wanted } => sqlite::read(place, file, wanted, settings, merger),
        Address::Postgres { server, wanted } => on_server(place, server, wanted, settings, merger),
        Address::Memory(name) => crate::lent::read(place, name, settings, merger),
    }
}

#[cfg(feature = "postgres")]
fn on_server(
    place: &Path,
    server: &str,
    wanted: &Wanted,
    settings: &Settings<'_>,
    merger: &mut Merger<'_>,
) -> Result<(), ReadError> {
    postgres::read(place, server, wanted, settings, merger)
}

#[cfg(not(feature = "postgres"))]
fn on_server(
    place: &Path,
    _server: &str,
    _wanted: &Wanted,
    _settings: &Settings<'_>,
    _merger: &mut Merger<'_>,
) -> Result<(), ReadError> {
    let reason = "this build does not speak to PostgreSQL: it was made without the feature `postgres`. Make it with that, \
                  or export the table: psql -c \"\\copy (SELECT …) TO 'table.csv' CSV HEADER\"";
    Err(ReadError::Database { place: place.display().to_string(), reason: reason.to_string() })
}

/// The first names of tables, and the number of others.
fn listed(names: &[String]) -> String {
    let mut some: Vec<String> = names.iter().take(LISTED).map(|name| shown(name)).collect();
    if names.len() > LISTED {
        some.push(format!("{} more", names.len() - LISTED));
    }
    some.join(", ")
}
