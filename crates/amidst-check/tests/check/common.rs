//! Small releases, and the drafts that go with them.

use std::path::Path;

use amidst_check::{Certificate, CertificateDraft, Claim, On, Options, Problem, SensitiveColumn, SuppressedAs};
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
    Claim { model: model.into(), on, quasi: None, parameters }
}

/// A draft for a release that is the whole input.
pub fn draft(table: &Table, quasi: &[&str], sensitive_columns: &[&str], claims: Vec<Claim>) -> CertificateDraft {
    let mut draft = CertificateDraft::new("amidst 0.1.0", NO_POLICY);
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

/// A text as TOML, which has the escapes of JSON.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// A JSON value as TOML.
fn toml(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(toml).collect::<Vec<_>>().join(", ")),
        Value::Object(map) => {
            let pairs: Vec<String> =
                map.iter().map(|(key, value)| format!("{} = {}", quoted(key), toml(value))).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
        other => other.to_string(),
    }
}

/// A policy from which a draft follows.
pub fn policy(draft: &CertificateDraft) -> String {
    let mut text = "[data]\ninput = \"table.csv\"\n".to_string();
    let mut column = |name: &str, role: &str, more: &str| {
        text += &format!("\n[columns.{}]\nrole = \"{role}\"\n{more}", quoted(name));
    };
    draft.quasi.iter().for_each(|name| column(name, "quasi", ""));
    for own in &draft.sensitive {
        let mut more = String::new();
        if let Some(order) = &own.order {
            more += &format!("order = {}\n", toml(&serde_json::to_value(order).unwrap()));
        }
        if let Some(categories) = &own.categories {
            more += &format!("categories = {}\n", toml(&serde_json::to_value(categories).unwrap()));
        }
        if let Some(weights) = &own.weights {
            more += &format!("weights = {}\n", toml(&serde_json::to_value(weights).unwrap()));
        }
        column(&own.name, "sensitive", &more);
    }
    for own in &draft.accepted {
        column(&own.column, "insensitive", &format!("accept = {}\n", quoted(&own.reason)));
    }
    if draft.persons {
        column("the person", "key", "");
    }
    if !draft.waived.is_empty() {
        column("the consent", "consent", "mode = \"publish\"\n");
    }
    column("*", "insensitive", "");
    for claim in &draft.requirements {
        text += &format!("\n[[require]]\nmodel = {}\n", quoted(&claim.model));
        match &claim.on {
            None => {}
            Some(On::One(name)) => text += &format!("on = {}\n", quoted(name)),
            Some(On::Many(names)) => text += &format!("on = {}\n", toml(&serde_json::to_value(names).unwrap())),
        }
        for (name, value) in &claim.parameters {
            text += &format!("{name} = {}\n", toml(value));
        }
    }
    let suppressed = if draft.suppressed_as == SuppressedAs::Mask { "mask" } else { "drop" };
    text + &format!("\n[search]\nmax_suppression = {}\nsuppressed = \"{suppressed}\"\n", draft.suppressed)
}

/// Issues a certificate for a draft, under a policy from which it follows unless it has one of its own.
pub fn issue(mut draft: CertificateDraft, base: &Path, options: &Options<'_>) -> Result<Certificate, Vec<Problem>> {
    if draft.policy == NO_POLICY {
        draft.policy = policy(&draft);
    }
    amidst_check::issue(draft, base, options)
}

const NO_POLICY: &str = "[data]\n";
