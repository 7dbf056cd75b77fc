//! Reads tables of databases row by row into blocks of codes.
//!
//! May use: `address`, `columnar`, `contain`, `encode`, `error`, `lent`, `limits`, `lines`, `merge`, `rows`, `stream`,
//! and what those use.

#[cfg(feature = "postgres")]
mod copy;
#[cfg(feature = "postgres")]
mod postgres;
mod sqlite;
#[cfg(feature = "postgres")]
mod tls;

use std::path::Path;

use crate::address::Address;
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
        #[cfg(feature = "postgres")]
        Address::Postgres { server, wanted } => postgres::read(place, server, wanted, settings, merger),
        #[cfg(not(feature = "postgres"))]
        Address::Postgres { .. } => Err(without_postgres(place)),
        Address::Memory(name) => crate::lent::read(place, name, settings, merger),
    }
}

/// Why a build without the feature reads no tables of servers.
#[cfg(not(feature = "postgres"))]
fn without_postgres(place: &Path) -> ReadError {
    let reason = "this build does not speak to PostgreSQL: it was made without the feature `postgres`. Make it with that, \
                  or export the table: psql -c \"\\copy (SELECT …) TO 'table.csv' CSV HEADER\"";
    ReadError::Database { place: place.display().to_string(), reason: reason.to_string() }
}

/// The first names of tables, and the number of others.
fn listed(names: &[String]) -> String {
    let mut some: Vec<String> = names.iter().take(LISTED).map(|name| shown(name)).collect();
    if names.len() > LISTED {
        some.push(format!("{} more", names.len() - LISTED));
    }
    some.join(", ")
}
