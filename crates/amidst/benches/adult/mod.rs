//! The Adult table as the benches of series read it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use amidst::policy::Policy;

const COLUMNS: [&str; 7] = ["age", "workclass", "education", "native-country", "marital-status", "race", "sex"];

/// The folder with the table; says so where there is none.
pub fn folder() -> Option<PathBuf> {
    let data = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/adult");
    if !data.join("adult.csv").is_file() {
        println!("skipped: there is no Adult table");
        return None;
    }
    Some(data)
}

/// A policy on the table in `data`: ages in ranges, the other quasi columns by their hierarchies, the occupation
/// sensitive; then what `asked` says.
pub fn policy(data: &Path, asked: &str) -> Policy {
    let mut text =
        "[data]\ninput = \"adult.csv\"\nmissing = [\"?\"]\n[columns.\"*\"]\nrole = \"identifying\"\n".to_string();
    for name in COLUMNS {
        let file = format!("hierarchy = {{ file = \"hierarchies_arx/{name}.csv\" }}");
        let (kind, recipe) = if name == "age" { ("integer", "generalize = \"ranges\"") } else { ("text", &file[..]) };
        writeln!(text, "[columns.{name}]\nrole = \"quasi\"\ntype = \"{kind}\"\n{recipe}").unwrap();
    }
    write!(text, "[columns.occupation]\nrole = \"sensitive\"\n{asked}").unwrap();
    Policy::parse(&text, &data.join("policy.toml")).unwrap()
}
