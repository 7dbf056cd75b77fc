//! Reads one table, view or SELECT of a PostgreSQL server, streamed with COPY in a read-only transaction.
//!
//! Connections to other machines use TLS ([`tls`]). A password comes from the address or from PGPASSWORD, and no
//! message contains it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use postgres::config::SslMode;
use postgres::types::Type;
use postgres::{Client, Config, NoTls, Transaction};

use super::copy::{Cell, cells};
use super::{listed, tls};
use crate::address::Wanted;
use crate::address::masked;
use crate::columnar::float64;
use crate::error::{ReadError, shown};
use crate::merge::Merger;
use crate::rows::Rows;
use crate::stream::Settings;

/// Connection timeout, unless the address states one.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);

/// Settings that fix the form of values, independent of the server's configuration.
const SETTINGS: &str = "SET LOCAL datestyle = 'ISO, YMD'; SET LOCAL intervalstyle = 'iso_8601'; SET LOCAL bytea_output = 'hex';
    SET LOCAL extra_float_digits = 1; SET LOCAL synchronize_seqscans = off; SET LOCAL max_parallel_workers_per_gather = 0";

/// All tables and views except those of the system.
const TABLES: &str = "SELECT n.nspname::text, c.relname::text FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') AND NOT c.relispartition
    AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema' ORDER BY 1, 2";

/// Reads `wanted` from `server`; `place` is the address for messages.
pub(crate) fn read(
    place: &Path,
    server: &str,
    wanted: &Wanted,
    settings: &Settings<'_>,
    merger: &mut Merger<'_>,
) -> Result<(), ReadError> {
    let failed = |e: postgres::Error| error(place, &e);
    let mut client = connect(place, server)?;
    let mut transaction = client.build_transaction().read_only(true).start().map_err(failed)?;
    transaction.batch_execute(SETTINGS).map_err(failed)?;
    let select = select(place, &mut transaction, wanted)?;
    let statement = transaction.prepare(&select).map_err(failed)?;
    let header: Vec<String> = statement.columns().iter().map(|c| c.name().to_string()).collect();
    let kinds: Vec<Type> = statement.columns().iter().map(|c| c.type_().clone()).collect();
    if header.is_empty() {
        return Err(wrong(place, "the query is not a SELECT".to_string()));
    }
    let kept = merger.begin(place, header.clone(), 1)?;
    let binary = (0..header.len()).find(|&i| kept[i] && kinds[i] == Type::BYTEA);
    if let Some(i) = binary {
        return Err(ReadError::Binary { path: place.to_path_buf(), row: 1, column: header.get(i).cloned() });
    }
    let mut rows = Rows::new(&kept, merger.rows());
    // The server would send all rows to the end, so the limit is part of the query.
    let copied = match merger.max_rows() {
        usize::MAX => format!("COPY ({select}) TO STDOUT"),
        rows => format!("COPY (SELECT * FROM ({select}) AS asked LIMIT {rows}) TO STDOUT"),
    };
    let copy = transaction.copy_out(&copied).map_err(failed)?;
    let mut lines = BufReader::with_capacity(256 << 10, copy);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = lines.read_until(b'\n', &mut line).map_err(|e| broken(place, &e))?;
        if read == 0 {
            break;
        }
        settings.advance(read as u64);
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        let fields = cells(text);
        if fields.len() != kinds.len() {
            return Err(wrong(place, format!("a row has {} cells, not {}", fields.len(), kinds.len())));
        }
        let go_on = rows.push(settings, merger, |column, out| {
            let Cell::Text(bytes) = &fields[column] else { return Ok(true) };
            match (&kinds[column], bytes.as_ref()) {
                (&Type::BOOL, b"t") => out.extend_from_slice(b"true"),
                (&Type::BOOL, b"f") => out.extend_from_slice(b"false"),
                (&Type::FLOAT4 | &Type::FLOAT8, bytes) => out.extend_from_slice(&number(bytes)),
                (_, bytes) => out.extend_from_slice(bytes),
            }
            Ok(false)
        })?;
        if !go_on {
            return Ok(());
        }
    }
    rows.finish(place, settings, merger)
}

/// A floating-point number in the form that numbers of files have; other texts, such as NaN, unchanged.
fn number(bytes: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    match text.parse::<f64>() {
        // The server writes a single with the digits of a single, which parse to the nearest double.
        Ok(x) if x.is_finite() => float64(x).into_bytes(),
        _ => bytes.to_vec(),
    }
}

fn connect(place: &Path, server: &str) -> Result<Client, ReadError> {
    let (server, tls_settings) = tls::split_tls_settings(server);
    let mut config = Config::from_str(&server).map_err(|e| {
        // The part that was not understood may be the password; only the kind of error is reported.
        let reason = e.to_string().split([':', '`']).next().unwrap_or_default().trim().to_string();
        wrong(place, format!("the address cannot be understood ({reason}). It has the form postgres://user@host:5432/database?table=name"))
    })?;
    let from = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    if let (None, Some(password)) = (config.get_password(), from("PGPASSWORD")) {
        config.password(password);
    }
    if let (None, Some(user)) = (config.get_user(), from("PGUSER")) {
        config.user(&user);
    }
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        config.host(&from("PGHOST").unwrap_or_else(|| "localhost".to_string()));
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT_TIMEOUT);
    }
    config.application_name("amidst");
    if tls::decide(&config, &tls_settings).map_err(|reason| wrong(place, reason))? {
        let connector = tls::connector(&tls_settings).map_err(|reason| wrong(place, reason))?;
        return config.ssl_mode(SslMode::Require).connect(connector).map_err(|e| not_reached(place, &e));
    }
    config.ssl_mode(SslMode::Disable).connect(NoTls).map_err(|e| error(place, &e))
}

/// Why a connection over TLS failed, with possible remedies.
fn not_reached(place: &Path, error: &postgres::Error) -> ReadError {
    match self::error(place, error) {
        ReadError::DatabaseFailed { place, reason } => {
            let ways = "Rows go to another machine over TLS only, and the certificate must be valid for its name: name the \
                        authority with sslrootcert=ca.pem, or use a tunnel (ssh -L)";
            ReadError::DatabaseFailed { place, reason: format!("{reason}. {ways}") }
        }
        other => other,
    }
}

/// The SELECT statement for `wanted`.
fn select(place: &Path, transaction: &mut Transaction<'_>, wanted: &Wanted) -> Result<String, ReadError> {
    if let Wanted::Query(query) = wanted {
        return Ok(query.trim().trim_end_matches(';').to_string());
    }
    let found = transaction.query(TABLES, &[]).map_err(|e| error(place, &e))?;
    let tables: Vec<(String, String)> = found.iter().map(|row| (row.get(0), row.get(1))).collect();
    let called = |(schema, table): &(String, String)| match schema.as_str() {
        "public" => table.clone(),
        schema => format!("{schema}.{table}"),
    };
    let names: Vec<String> = tables.iter().map(called).collect();
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let all = |(schema, table): &(String, String)| format!("SELECT * FROM {}.{}", quoted(schema), quoted(table));
    match (wanted, tables.as_slice()) {
        (_, []) => Err(wrong(place, "the database has no tables that this user may see".to_string())),
        (Wanted::Table(name), _) => {
            let whole = |t: &&(String, String)| format!("{}.{}", t.0, t.1) == *name || called(t) == *name;
            let alike = |t: &&(String, String)| called(t).eq_ignore_ascii_case(name);
            match tables.iter().find(whole).or_else(|| tables.iter().find(alike)) {
                Some(table) => Ok(all(table)),
                None => {
                    let message = format!("there is no table {}; the database has {}", shown(name), listed(&names));
                    Err(wrong(place, message))
                }
            }
        }
        (_, [only]) => Ok(all(only)),
        _ => Err(wrong(place, format!("say which table with ?table=…; the database has {}", listed(&names)))),
    }
}

fn wrong(place: &Path, reason: String) -> ReadError {
    ReadError::Database { place: place.display().to_string(), reason: masked(&reason).into_owned() }
}

fn broken(place: &Path, error: &std::io::Error) -> ReadError {
    // The error contains the server's own.
    let inner = error.get_ref().and_then(|e| e.downcast_ref::<postgres::Error>());
    inner.map_or_else(
        || ReadError::DatabaseFailed { place: place.display().to_string(), reason: error.to_string() },
        |inner| self::error(place, inner),
    )
}

/// The server's message, or why it could not be reached.
fn error(place: &Path, error: &postgres::Error) -> ReadError {
    match error.as_db_error() {
        Some(said) => {
            let detail = said.hint().map(|hint| format!(". {hint}")).unwrap_or_default();
            wrong(place, format!("{}{detail}", said.message()))
        }
        None => {
            let mut reason = error.to_string();
            if let Some(source) = std::error::Error::source(error) {
                reason = format!("{reason}: {source}");
            }
            ReadError::DatabaseFailed { place: place.display().to_string(), reason: masked(&reason).into_owned() }
        }
    }
}
