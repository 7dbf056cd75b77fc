//! `[[quasi]]`: several quasi-identifiers, each of which must satisfy the requirements by itself.

use toml::de::DeTable;

use super::columns::Columns;
use super::fields::Fields;
use super::{Diagnostic, Role, keys, nearest};

/// Reads all sets. Whether every quasi column of the table is in one is known with the data.
pub(super) fn parse(fields: &mut Fields, document: &DeTable<'_>, columns: &Columns) -> Vec<Vec<String>> {
    let Some(item) = document.get("quasi") else { return Vec::new() };
    let help = "write `[[quasi]]`, in double brackets, once for each set, with `columns = [\"age\", \"zip\"]`";
    let span = document.get_key_value("quasi").map_or(item.span(), |(key, _)| key.span());
    let tables: Option<Vec<&DeTable<'_>>> =
        item.get_ref().as_array().and_then(|items| items.iter().map(|i| i.get_ref().as_table()).collect());
    let Some(tables) = tables else {
        fields.push(Diagnostic::at(span, "`quasi` must be a list of tables").help(help));
        return Vec::new();
    };
    let mut sets: Vec<Vec<String>> = Vec::new();
    for table in tables {
        fields.only(table, "[[quasi]]", &keys::names("quasi"));
        let Some(item) = table.get("columns") else {
            fields.push(Diagnostic::at(span.clone(), "a set of [[quasi]] names no `columns`").help(help));
            continue;
        };
        let Some(names) = fields.texts(table, "columns") else { continue };
        let place = item.span();
        if names.is_empty() {
            fields.push(Diagnostic::at(place.clone(), "`columns` names no column").label("empty").help(help));
        }
        for (i, name) in names.iter().enumerate() {
            if names[..i].contains(name) {
                let message = format!("`columns` names `{name}` twice");
                fields.push(Diagnostic::at(place.clone(), message).label("named twice"));
            }
            quasi(fields, columns, name, &place);
        }
        let same = |known: &Vec<String>| known.len() == names.len() && names.iter().all(|name| known.contains(name));
        if sets.iter().any(same) {
            fields.push(Diagnostic::at(place, "this set is stated twice").label("the same columns"));
        }
        sets.push(names);
    }
    sets
}

/// A column of a set must be quasi, as far as the policy tells.
fn quasi(fields: &mut Fields, columns: &Columns, name: &str, place: &std::ops::Range<usize>) {
    let at = |message: String| Diagnostic::at(place.clone(), message);
    let error = match columns.named.iter().find(|c| c.name == name) {
        Some(column) if column.role == Role::Quasi => return,
        Some(column) => at(format!("column `{name}` is {}, not quasi", column.role.name()))
            .label("not quasi")
            .help("a set lists quasi columns; give it `role = \"quasi\"`, or leave it out"),
        None if columns.broken.iter().any(|broken| broken == name) => return,
        // Columns that no section names may be quasi all the same; with the data it is known whether they are there.
        None if columns.default.as_ref().is_some_and(|c| c.role == Role::Quasi) => return,
        None => {
            let error = at(format!("the policy has no column `{name}`")).label("no such column");
            match nearest(name, columns.named.iter().map(|c| c.name.as_str())) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error,
            }
        }
    };
    fields.push(error);
}
