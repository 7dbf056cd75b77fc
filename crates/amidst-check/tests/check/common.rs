//! Small releases, and the drafts that go with them.

use std::path::Path;

use amidst_check::{Certificate, CertificateDraft, Claim, On, Options, Problem, SensitiveColumn, issue};
use serde_json::{Map, Value};

/// A table as text cells, the first row being the header.
pub type Table = Vec<Vec<String>>;

/// A table from lines of comma-separated cells.
pub fn table(lines: &[&str]) -> Table {
    lines.iter().map(|line| line.split(',').map(str::to_string).collect()).collect()
}

/// Writes a table as CSV, quoting where needed.
pub fn write_csv(path: &Path, table: &Table) {
    let quote = |cell: &String| {
        if cell.contains([',', '"', '\n', '\r']) || (table[0].len() == 1 && cell.is_empty()) {
            format!("\"{}\"", cell.replace('"', "\"\""))
        } else {
            cell.clone()
        }
    };
    let text: String = table.iter().map(|row| row.iter().map(quote).collect::<Vec<_>>().join(",") + "\n").collect();
    std::fs::write(path, text).unwrap();
}

/// A sensitive column whose values are ranked by their texts.
pub fn sensitive(table: &Table, column: &str) -> SensitiveColumn {
    let at = table[0].iter().position(|name| name == column).unwrap();
    let values: std::collections::BTreeSet<String> = table[1..].iter().map(|row| row[at].clone()).collect();
    SensitiveColumn {
        name: column.into(),
        order: Some(values.into_iter().collect()),
        levels: None,
        categories: None,
        weights: None,
    }
}

/// A requirement.
pub fn claim(model: &str, on: &[&str], parameters: Value) -> Claim {
    let on = match on {
        [] => None,
        [one] => Some(On::One(one.to_string())),
        many => Some(On::Many(many.iter().map(|name| name.to_string()).collect())),
    };
    let parameters = match parameters {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    Claim { model: model.into(), on, parameters }
}

/// A draft for a release that is the whole input.
pub fn draft(table: &Table, quasi: &[&str], sensitive_columns: &[&str], claims: Vec<Claim>) -> CertificateDraft {
    let mut draft = CertificateDraft::new("amidst 0.1.0", "[data]\n");
    draft.outputs = vec!["release.csv".into()];
    draft.rows_in = table.len() as u64 - 1;
    draft.quasi = quasi.iter().map(|name| name.to_string()).collect();
    draft.sensitive = sensitive_columns.iter().map(|name| sensitive(table, name)).collect();
    draft.requirements = claims;
    draft
}

/// Issues a certificate for `table`, whose columns named `q…` are quasi and whose others are sensitive.
pub fn seal(folder: &Path, table: &Table, claims: Vec<Claim>) -> Result<Certificate, Vec<Problem>> {
    write_csv(&folder.join("release.csv"), table);
    let names = |quasi: bool| -> Vec<&str> {
        table[0].iter().map(String::as_str).filter(|name| name.starts_with('q') == quasi).collect()
    };
    issue(draft(table, &names(true), &names(false), claims), folder, &Options::default())
}
