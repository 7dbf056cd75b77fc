//! Parses addresses of tables: `sqlite://…`, `postgres://…` and `memory://…`.
//!
//! After the first `?` come settings `name=value`, joined by `&` and percent-encoded where necessary. `table` names a
//! table or view; `query` is a SELECT, must come last and takes the rest of the address, so that it needs no encoding.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use crate::error::ReadError;

/// The scheme of tables in memory.
pub(crate) const MEMORY: &str = "memory://";
const SQLITE: &str = "sqlite://";
const POSTGRES: [&str; 2] = ["postgres://", "postgresql://"];

/// What to read of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The only table in the database.
    Only,
    /// This table or view.
    Table(String),
    /// The result of this SELECT.
    Query(String),
}

/// A table in a database or in memory.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Address {
    /// In a file.
    Sqlite { file: PathBuf, wanted: Wanted },
    /// On a server; `server` is the rest of the address, with the password.
    Postgres { server: String, wanted: Wanted },
    /// In this process, lent under this name.
    Memory(String),
}

impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Debug output must not contain the password.
        match self {
            Address::Sqlite { file, wanted } => write!(f, "Sqlite({}, {wanted:?})", file.display()),
            Address::Postgres { server, wanted } => write!(f, "Postgres({}, {wanted:?})", shown(server)),
            Address::Memory(name) => write!(f, "Memory({name})"),
        }
    }
}

impl Address {
    /// Parses an address; `None` for other sources, such as file names.
    pub fn parse(source: &str) -> Option<Result<Address, ReadError>> {
        if let Some(name) = source.strip_prefix(MEMORY) {
            return Some(Ok(Address::Memory(name.to_string())));
        }
        if let Some(rest) = source.strip_prefix(SQLITE) {
            let (file, settings) = rest.split_once('?').unwrap_or((rest, ""));
            return Some(sqlite(source, file, settings));
        }
        if POSTGRES.iter().any(|scheme| source.starts_with(scheme)) {
            let (server, settings) = source.split_once('?').unwrap_or((source, ""));
            return Some(wanted(source, settings).map(|(wanted, others)| {
                let others = if others.is_empty() { String::new() } else { format!("?{}", others.join("&")) };
                Address::Postgres { server: format!("{server}{others}"), wanted }
            }));
        }
        None
    }
}

fn sqlite(source: &str, file: &str, settings: &str) -> Result<Address, ReadError> {
    let (wanted, others) = wanted(source, settings)?;
    if let Some(other) = others.first() {
        let name = other.split('=').next().unwrap_or_default();
        let reason = format!("`{name}` is not a setting of a SQLite address; it has `table` and `query`");
        return Err(ReadError::Database { place: source.to_string(), reason });
    }
    if file.is_empty() {
        let reason = "no file is named; write sqlite://patients.db, or sqlite:///home/me/patients.db for a whole path";
        return Err(ReadError::Database { place: source.to_string(), reason: reason.to_string() });
    }
    Ok(Address::Sqlite { file: PathBuf::from(decoded(file)), wanted })
}

/// What to read according to the settings, and the settings that are not about that.
fn wanted<'a>(source: &str, settings: &'a str) -> Result<(Wanted, Vec<&'a str>), ReadError> {
    let (mut wanted, mut others) = (Wanted::Only, Vec::new());
    let mut rest = settings;
    while !rest.is_empty() {
        if let Some(query) = rest.strip_prefix("query=") {
            if wanted != Wanted::Only {
                let reason = "an address has a `table` or a `query`, not both".to_string();
                return Err(ReadError::Database { place: shown(source), reason });
            }
            return Ok((Wanted::Query(decoded(query)), others));
        }
        let (setting, after) = rest.split_once('&').unwrap_or((rest, ""));
        match setting.strip_prefix("table=") {
            Some(table) => wanted = Wanted::Table(decoded(table)),
            None => others.push(setting),
        }
        rest = after;
    }
    Ok((wanted, others))
}

/// The percent-decoded text; a % that starts no escape is kept.
pub(crate) fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let digits = text.get(at + 1..at + 3).filter(|_| byte == b'%');
        match digits.filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit())).and_then(|d| u8::from_str_radix(d, 16).ok()) {
            Some(meant) => {
                out.push(meant);
                at += 3;
            }
            None => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_string())
}

/// Whether `source` is the address of a table in a database or in memory, not a file.
pub fn is_database(source: &str) -> bool {
    Address::parse(source).is_some()
}

/// The file or folder on this machine that `source` names: itself, or that of a SQLite database. `None` for standard
/// input, servers and tables in memory.
pub fn local_path(source: &str) -> Option<PathBuf> {
    match Address::parse(source) {
        None => (source != "-").then(|| PathBuf::from(source)),
        Some(Ok(Address::Sqlite { file, .. })) => Some(file),
        Some(_) => None,
    }
}

/// `source` with a relative path resolved against `folder`. Servers, tables in memory and standard input are unchanged.
pub fn relative_to(folder: &Path, source: &str) -> String {
    if source == "-" || source.starts_with(MEMORY) || POSTGRES.iter().any(|scheme| source.starts_with(scheme)) {
        return source.to_string();
    }
    let joined = |file: &str| folder.join(file).to_string_lossy().into_owned();
    match source.strip_prefix(SQLITE) {
        None => joined(source),
        Some(rest) => {
            let (file, settings) = rest.split_at(rest.find('?').unwrap_or(rest.len()));
            // Addresses are percent-decoded, so the folder must be encoded.
            let folder = folder.to_string_lossy().replace('%', "%25").replace('?', "%3F");
            format!("{SQLITE}{}{settings}", Path::new(&folder).join(file).to_string_lossy())
        }
    }
}

/// The ranges of passwords in `text`: in addresses of servers, between the user name and the host, and in settings
/// `password`.
fn secrets(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    for scheme in POSTGRES {
        for (start, _) in text.match_indices(scheme) {
            let from = start + scheme.len();
            let rest = &text[from..];
            let end = rest.find(['"', '\'', '\n', ' ', '\t']).unwrap_or(rest.len());
            let address = &rest[..end];
            // A password may contain an unescaped slash or @; the last @ before the settings ends it.
            let settings = address.find('?').unwrap_or(address.len());
            if let Some(at) = address[..settings].rfind('@')
                && let Some(colon) = address[..at].find(':')
            {
                found.push(from + colon + 1..from + at);
            }
            for (setting, _) in address.match_indices("password=") {
                let value = setting + "password=".len();
                let length = address[value..].find('&').unwrap_or(address.len() - value);
                found.push(from + value..from + value + length);
            }
        }
    }
    found.sort_by_key(|range| range.start);
    found
}

/// An address without its password, for messages and for files that others read. Everything else is unchanged.
pub fn without_password(source: &str) -> Cow<'_, str> {
    let found = secrets(source);
    if found.is_empty() {
        return Cow::Borrowed(source);
    }
    let mut out = String::with_capacity(source.len());
    let mut at = 0;
    for secret in found {
        // The colon or the name of the setting is removed with it.
        let before = source[at..secret.start.max(at)].trim_end_matches("password=");
        let before = if before.len() == source[at..secret.start.max(at)].len() {
            before.strip_suffix(':').unwrap_or(before)
        } else {
            before
                .strip_suffix(['&', '?'])
                .map_or(before, |b| if source[secret.end..].starts_with('&') { before } else { b })
        };
        out.push_str(before);
        at = secret.end.max(at);
        if before.ends_with(['?', '&']) {
            at += usize::from(source[at..].starts_with('&'));
        }
    }
    out.push_str(&source[at..]);
    Cow::Owned(out)
}

/// The text with the passwords of all addresses in it replaced by asterisks; its length in bytes stays the same.
pub fn masked(text: &str) -> Cow<'_, str> {
    let found = secrets(text);
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let hidden = |at: usize| found.iter().any(|secret| secret.contains(&at));
    // Byte by byte, so that positions in the text stay valid.
    Cow::Owned(
        text.char_indices().map(|(at, c)| if hidden(at) { "*".repeat(c.len_utf8()) } else { c.to_string() }).collect(),
    )
}

/// An address for messages, without its password.
pub(crate) fn shown(source: &str) -> String {
    without_password(source).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(source: &str) -> Address {
        Address::parse(source).unwrap().unwrap()
    }

    #[test]
    fn addresses_name_files_and_tables() {
        let file = |f: &str, wanted| Address::Sqlite { file: PathBuf::from(f), wanted };
        assert_eq!(parsed("sqlite://a/b.db"), file("a/b.db", Wanted::Only));
        assert_eq!(parsed("sqlite:///tmp/my%20b.db?table=x%26y"), file("/tmp/my b.db", Wanted::Table("x&y".into())));
        let query = "SELECT * FROM t WHERE a = 'x&y' AND b LIKE '%z'";
        assert_eq!(parsed(&format!("sqlite://b.db?query={query}")), file("b.db", Wanted::Query(query.into())));
        let server = parsed("postgresql://me@host:5433/db?sslmode=disable&table=s.t&connect_timeout=3");
        let expected = "postgresql://me@host:5433/db?sslmode=disable&connect_timeout=3".to_string();
        assert_eq!(server, Address::Postgres { server: expected, wanted: Wanted::Table("s.t".into()) });
        assert!(Address::parse("a.csv").is_none() && Address::parse("s3://x").is_none());
        for bad in ["sqlite://", "sqlite://a.db?tabel=x", "sqlite://a.db?table=x&query=SELECT 1"] {
            assert!(Address::parse(bad).unwrap().is_err(), "{bad}");
        }
    }

    #[test]
    fn relative_files_start_from_the_policy() {
        let folder = Path::new("/data/100%/x");
        assert_eq!(relative_to(folder, "a.csv"), "/data/100%/x/a.csv");
        let found = relative_to(folder, "sqlite://b.db?table=t");
        assert_eq!(local_path(&found), Some(PathBuf::from("/data/100%/x/b.db")));
        assert_eq!(relative_to(folder, "sqlite:///b.db"), "sqlite:///b.db");
        assert_eq!(relative_to(folder, "postgres://h/d"), "postgres://h/d");
        assert_eq!(relative_to(folder, "-"), "-");
        assert_eq!(relative_to(Path::new(""), "sqlite://b.db"), "sqlite://b.db");
    }

    #[test]
    fn passwords_are_taken_out() {
        for (address, shown) in [
            ("postgres://me:se/c@ret@host/db?table=t", "postgres://me@host/db?table=t"),
            ("postgres://me:secret@host", "postgres://me@host"),
            ("postgres://host:5432/db", "postgres://host:5432/db"),
            ("postgresql://h/db?password=secret&table=t", "postgresql://h/db?table=t"),
            ("postgresql://h/db?table=t&password=secret", "postgresql://h/db?table=t"),
            ("postgresql://h/db?password=secret", "postgresql://h/db"),
            (
                "postgresql://me:secret@h/db?table=t&password=secret&sslmode=disable",
                "postgresql://me@h/db?table=t&sslmode=disable",
            ),
            ("sqlite://a.db?table=t", "sqlite://a.db?table=t"),
        ] {
            assert_eq!(without_password(address), shown);
            let hidden = masked(address);
            assert_eq!(hidden.len(), address.len());
            assert!(!hidden.contains("secret") && !hidden.contains("c@ret"), "{hidden}");
        }
        let policy = "[data]\ninput = \"postgres://me:sécret@h/db\" # me@x\nother = 'postgres://u:pw@h'\n";
        let hidden = masked(policy);
        assert_eq!(hidden.len(), policy.len());
        assert!(!hidden.contains("cret") && !hidden.contains("pw") && hidden.contains("# me@x"), "{hidden}");
    }
}
