//! `[columns.<name>]`: roles, types, hierarchies and what else is said of a column.

use std::ops::Range;

use amidst_core::hierarchy::{BUILDERS, Generalize};
use amidst_core::parameter::Rational;
use amidst_core::parameter::Value;
use amidst_core::table::ValueType;
use toml::de::{DeTable, DeValue};

use super::fields::{Fields, in_order};
use super::{ColumnPolicy, Consent, ConsentMode, Diagnostic, ROLES, Role, keys, suggestion};

/// What a policy says about columns.
pub(super) struct Columns {
    /// Those that it names.
    pub named: Vec<ColumnPolicy>,
    /// What holds for all others.
    pub default: Option<ColumnPolicy>,
    /// The names of those whose role is unknown, because of an error that was told already.
    pub broken: Vec<String>,
}

/// Reads all columns and the default.
pub(super) fn parse(fields: &mut Fields, document: &DeTable<'_>) -> Columns {
    let mut columns: Vec<ColumnPolicy> = Vec::new();
    let mut default = None;
    let mut broken: Vec<String> = Vec::new();
    let mut consents: Vec<Range<usize>> = Vec::new();
    let table = fields.table(document, "columns");
    for (name, span, item) in table.map(in_order).unwrap_or_default() {
        let Some(inner) = item.get_ref().as_table() else {
            fields.wrong(item, name, &format!("a table, `[columns.{}]`", super::quote::key(name)));
            broken.push(name.to_string());
            continue;
        };
        let Some(column) = column(fields, name, span.clone(), inner) else {
            broken.push(name.to_string());
            continue;
        };
        if column.role == Role::Consent {
            consents.push(span);
        }
        match name {
            "*" => default = Some(column),
            _ => columns.push(column),
        }
    }
    for span in consents.into_iter().skip(1) {
        let message = "a policy has at most one consent column";
        fields.push(Diagnostic::at(span, message).label("a second consent column"));
    }
    let quasi = columns.iter().chain(&default).any(|c| c.role == Role::Quasi);
    if !quasi && broken.is_empty() {
        let span = document.get_key_value("columns").map_or(0..0, |(key, _)| key.span());
        let help = "columns that others may know, such as age, sex or zip, have `role = \"quasi\"`";
        fields
            .push(Diagnostic::at(span, "the policy has no quasi column, so there is nothing to generalize").help(help));
    }
    Columns { named: columns, default, broken }
}

/// Reads one column; `None` when its role is unknown, so that nothing else can be said about it.
fn column(fields: &mut Fields, name: &str, span: Range<usize>, table: &DeTable<'_>) -> Option<ColumnPolicy> {
    let known = keys::names("columns");
    for (inner, inner_span, item) in in_order(table) {
        // [columns.native.country] is what a name with a dot looks like without its quotes.
        if item.get_ref().is_table() && !known.contains(&inner) {
            let whole = format!("{name}.{inner}");
            let message = format!("column `{name}` has no key `{inner}`");
            let help = format!("a name with a dot needs quotes: [columns.{}]", super::quote::key(&whole));
            fields.push(Diagnostic::at(inner_span, message).label("unknown key").help(help));
            return None;
        }
    }
    fields.only(table, &format!("column `{name}`"), &known);
    if table.get("role").is_none() {
        let names: Vec<&str> = ROLES.iter().map(|&(n, _)| n).collect();
        let message = format!("column `{name}` has no role");
        let help = format!("add `role = …`, one of {}", names.join(", "));
        fields.push(Diagnostic::at(span, message).label("no role").help(help));
        return None;
    }
    let role = fields.choice(table, "role", ROLES)?;
    if name == "*" && !matches!(role, Role::Insensitive | Role::Identifying | Role::Quasi) {
        let message = format!("columns that are not named cannot all be {}", role.name());
        let help = "\"*\" may be insensitive, identifying or quasi; name the column instead";
        fields.push(Diagnostic::at(span, message).help(help));
        return None;
    }
    for (key, key_span, _) in in_order(table) {
        // A key that is silently ignored would be a promise not kept.
        let of_key = keys::section("columns").and_then(|s| s.keys.iter().find(|k| k.name == key));
        if let Some(roles) = of_key.map(|k| k.roles).filter(|roles| !roles.is_empty())
            && !roles.contains(&role)
        {
            let names: Vec<&str> = roles.iter().map(|r| r.name()).collect();
            let message = format!("`{key}` means nothing for the {} column `{name}`", role.name());
            let help = format!("remove it; it belongs to {} columns", names.join(" and "));
            fields.push(Diagnostic::at(key_span, message).label("no effect").help(help));
        }
    }
    let types = [ValueType::Text, ValueType::Integer, ValueType::Decimal, ValueType::Date].map(|t| (t.name(), t));
    let kind = fields.choice(table, "type", &types);
    let order = fields.texts(table, "order").unwrap_or_default();
    twice(fields, table, "order", &order);
    if let (Some(kind), Some(item)) = (kind.filter(|k| k.is_numeric()), table.get("order")) {
        let message = format!("column `{name}` is {}, so its values have their own order", kind.name());
        let help = "remove `order`, or write `type = \"text\"`";
        fields.push(Diagnostic::at(item.span(), message).label("a second order").help(help));
    }
    let (hierarchy, weight) = (hierarchy(fields, table), weight(fields, table));
    let level = level(fields, table);
    let generalize = fields.choice(table, "generalize", GENERALIZE);
    let categories = categories(fields, table);
    let weights = weights(fields, table, categories.len());
    let consent = (role == Role::Consent).then(|| consent(fields, table));
    let accept = accept(fields, table);
    let name = name.to_string();
    Some(ColumnPolicy {
        name,
        role,
        kind,
        hierarchy,
        level,
        weight,
        generalize,
        order,
        categories,
        weights,
        consent,
        accept,
    })
}

/// Why a column is published as it is although it singles people out. An empty reason is none.
fn accept(fields: &mut Fields, table: &DeTable<'_>) -> Option<String> {
    let reason = fields.text(table, "accept")?;
    if reason.trim().is_empty() {
        let span = table.get("accept").map(|i| i.span()).unwrap_or_default();
        let help = "the reason is printed in report and certificate, such as \"printed on the door\"";
        fields.push(Diagnostic::at(span, "`accept` must give a reason").label("empty").help(help));
        return None;
    }
    Some(reason)
}

/// The ways to write cells, with their names in policies.
pub(super) const GENERALIZE: &[(&str, Generalize)] =
    &[("hierarchy", Generalize::Hierarchy), ("ranges", Generalize::Ranges), ("sets", Generalize::Sets)];

fn hierarchy(fields: &mut Fields, table: &DeTable<'_>) -> Option<Vec<(String, Value)>> {
    let item = table.get("hierarchy")?;
    let Some(recipe) = item.get_ref().as_table() else {
        let error = Diagnostic::at(item.span(), "`hierarchy` must be a table such as { suppress = true }");
        fields.push(match item.get_ref().as_str() {
            Some(file) => error.help(format!("write {{ file = {} }} for a file", super::quote::text(file))),
            None => error,
        });
        return None;
    };
    let ids: Vec<&str> = BUILDERS.iter().map(|b| b.id).collect();
    let keys = in_order(recipe);
    let chosen: Vec<&str> = keys.iter().map(|&(k, _, _)| k).filter(|k| ids.contains(k)).collect();
    match chosen[..] {
        [id] => {
            let options = BUILDERS.iter().find(|b| b.id == id).map_or(&[][..], |b| b.options);
            let known = [&[id], options].concat();
            fields.only(recipe, &format!("a hierarchy of kind `{id}`"), &known);
        }
        [] => {
            let help = match &keys[..] {
                [(key, ..), ..] => suggestion(key, &ids),
                [] => format!("known: {}", ids.join(", ")),
            };
            let span = keys.first().map_or(item.span(), |(_, span, _)| span.clone());
            fields.push(Diagnostic::at(span, "no such kind of hierarchy").label("unknown kind").help(help));
        }
        _ => {
            let message = format!("a hierarchy is of one kind, not {}", chosen.join(" and "));
            let span = keys.iter().filter(|(k, ..)| ids.contains(k)).nth(1).map_or(item.span(), |k| k.1.clone());
            fields.push(Diagnostic::at(span, message).label("a second kind"));
        }
    }
    fields.values(recipe)
}

/// The level of its hierarchy that a sensitive column is published at.
fn level(fields: &mut Fields, table: &DeTable<'_>) -> Option<u32> {
    let stated = fields.number(table, "level")?;
    let span = table.get("level").map(|i| i.span()).unwrap_or_default();
    let level = stated.to_u64().and_then(|level| u32::try_from(level).ok());
    if level.is_none() {
        fields.push(Diagnostic::at(span, format!("`level` must be a whole number from 0 up, not {stated}")));
    } else if table.get("hierarchy").is_none() {
        let help = "add `hierarchy = …`: level 1 is the first above the values";
        fields.push(Diagnostic::at(span, "`level` speaks of a hierarchy, and the column has none").help(help));
    }
    level
}

fn weight(fields: &mut Fields, table: &DeTable<'_>) -> Option<Rational> {
    let weight = fields.number(table, "weight")?;
    if weight.is_negative() || weight.is_zero() {
        let span = table.get("weight").map(|i| i.span()).unwrap_or_default();
        fields.push(Diagnostic::at(span, format!("`weight` must be more than 0, not {weight}")));
    }
    Some(weight)
}

fn twice(fields: &mut Fields, table: &DeTable<'_>, key: &str, values: &[String]) {
    let mut seen = std::collections::HashSet::new();
    if let Some(value) = values.iter().find(|v| !seen.insert(v.as_str())) {
        let span = table.get(key).map(|i| i.span()).unwrap_or_default();
        fields.push(Diagnostic::at(span, format!("`{key}` lists \"{value}\" twice")).label("listed twice"));
    }
}

fn categories(fields: &mut Fields, table: &DeTable<'_>) -> Vec<Vec<String>> {
    let Some(item) = table.get("categories") else { return Vec::new() };
    let wanted = "a list of lists, such as [[\"HIV\", \"Cancer\"], [\"Flu\"]]";
    let Some(items) = item.get_ref().as_array() else {
        fields.wrong(item, "categories", wanted);
        return Vec::new();
    };
    let mut categories: Vec<Vec<String>> = Vec::new();
    for inner in items.iter() {
        if !inner.get_ref().is_array() {
            fields.wrong(inner, "categories", wanted);
            return Vec::new();
        }
        let values = fields.list_of_texts(inner, "categories").unwrap_or_default();
        if values.is_empty() {
            fields.push(Diagnostic::at(inner.span(), "a category without values").label("empty"));
        }
        if let Some(value) = values.iter().find(|v| categories.iter().any(|c| c.contains(v))) {
            let message = format!("\"{value}\" is in two categories");
            fields.push(Diagnostic::at(inner.span(), message).label("again here").help("categories must not overlap"));
        }
        categories.push(values);
    }
    categories
}

fn weights(fields: &mut Fields, table: &DeTable<'_>, categories: usize) -> Option<Value> {
    let item = table.get("weights")?;
    let wanted = "\"uniform\", { sensitivity = 2 } or a list of numbers";
    let value = fields.value(item, "weights")?;
    let fits = match &value {
        Value::Text(word) => word == "uniform",
        Value::Table(pairs) => matches!(&pairs[..], [(key, v)] if key == "sensitivity" && v.number().is_some()),
        Value::List(list) => list.iter().all(|v| v.number().is_some()),
        _ => false,
    };
    if !fits {
        fields.push(Diagnostic::at(item.span(), format!("`weights` must be {wanted}")));
        return None;
    }
    if let Value::List(list) = &value
        && list.len() != categories
    {
        let message = format!("{} weights for {categories} categories", list.len());
        fields.push(Diagnostic::at(item.span(), message).help("give one weight for each category"));
    }
    Some(value)
}

fn consent(fields: &mut Fields, table: &DeTable<'_>) -> Consent {
    let defaults = Consent::default();
    let waived = match table.get("waived").map(|i| i.get_ref()) {
        Some(DeValue::String(single)) => Some(vec![single.to_string()]),
        _ => fields.texts(table, "waived"),
    };
    let modes = &[("publish", ConsentMode::Publish), ("join", ConsentMode::Join), ("separate", ConsentMode::Separate)];
    Consent {
        waived: waived.unwrap_or(defaults.waived),
        mode: fields.choice(table, "mode", modes).unwrap_or(defaults.mode),
    }
}
