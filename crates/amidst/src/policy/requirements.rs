//! `[[require]]`: models, their parameters, and the sensitive columns they protect.

use std::ops::Range;

use amidst_core::model::{self, Sensitive};
use amidst_core::parameter::{Kind, Parameters};
use amidst_core::requirement::SensitiveDomain;
use toml::de::{DeTable, DeValue};

use super::columns::Columns;
use super::fields::Fields;
use super::{ColumnPolicy, Diagnostic, Origin, RequirePolicy, Role, nearest, parameters, suggestion};

/// Reads all requirements.
pub(super) fn parse(
    fields: &mut Fields,
    document: &DeTable<'_>,
    columns: &Columns,
    origin: &Origin,
) -> Vec<RequirePolicy> {
    let Some(item) = document.get("require") else { return Vec::new() };
    let tables: Option<Vec<&DeTable<'_>>> =
        item.get_ref().as_array().and_then(|items| items.iter().map(|i| i.get_ref().as_table()).collect());
    let Some(tables) = tables else {
        let span = document.get_key_value("require").map_or(item.span(), |(key, _)| key.span());
        let help = "write `[[require]]`, in double brackets, once for each requirement";
        fields.push(Diagnostic::at(span, "`require` must be a list of tables").help(help));
        return Vec::new();
    };
    let places: Vec<Range<usize>> = match item.get_ref() {
        DeValue::Array(items) => items.iter().map(|i| i.span()).collect(),
        _ => Vec::new(),
    };
    tables.iter().zip(places).filter_map(|(table, place)| requirement(fields, table, place, columns, origin)).collect()
}

fn requirement(
    fields: &mut Fields,
    table: &DeTable<'_>,
    place: Range<usize>,
    columns: &Columns,
    origin: &Origin,
) -> Option<RequirePolicy> {
    let known: Vec<&str> = model::MODELS.iter().map(|e| e.id).collect();
    let Some(item) = table.get("model") else {
        let help = format!("add `model = …`, one of {}", known.join(", "));
        fields.push(Diagnostic::at(place, "this requirement names no model").help(help));
        return None;
    };
    let id = fields.text(table, "model")?;
    let Some(model) = model::find(&id) else {
        let message = format!("there is no model `{id}`");
        fields.push(Diagnostic::at(item.span(), message).label("unknown model").help(suggestion(&id, &known)));
        return None;
    };
    let before = fields.errors.len();
    let parameters = parameters::parse(fields, table, &id, model.parameters, &["model", "on"], origin);
    for parameter in model.parameters.iter().filter(|p| p.required && table.get(p.name).is_none()) {
        let message = format!("{id} needs `{}`: {}", parameter.name, parameter.help);
        let help = format!("add `{} = …`", parameter.name);
        fields.push(Diagnostic::at(item.span(), message).label(format!("no `{}`", parameter.name)).help(help));
    }
    let on = on(fields, table, model, columns);
    if fields.errors.len() == before {
        try_numbers(fields, table, model, &parameters, &columns.named, &on);
    }
    Some(RequirePolicy { model, on, parameters })
}

/// The columns that a requirement protects.
fn on(fields: &mut Fields, table: &DeTable<'_>, model: &model::Entry, columns: &Columns) -> Vec<String> {
    let Columns { named: columns, broken, .. } = columns;
    let sensitive: Vec<&str> = columns.iter().filter(|c| c.role == Role::Sensitive).map(|c| c.name.as_str()).collect();
    let span = table.get("on").or_else(|| table.get("model")).map(|i| i.span()).unwrap_or_default();
    let Some(item) = table.get("on") else {
        return match (model.sensitive, &sensitive[..]) {
            (Sensitive::None, _) => Vec::new(),
            (_, [only]) => vec![only.to_string()],
            // A column whose role is misspelt may be the one; that it is misspelt was told already.
            (_, []) if !broken.is_empty() => Vec::new(),
            (_, []) => {
                let message = format!("{} protects a sensitive column, and the policy has none", model.id);
                let help = "give the column to protect `role = \"sensitive\"`";
                fields.push(Diagnostic::at(span, message).label("needs a sensitive column").help(help));
                Vec::new()
            }
            (_, several) => {
                let message = format!("{} must say which sensitive column it protects", model.id);
                let help = format!("add `on = …`, one of {}", several.join(", "));
                fields.push(Diagnostic::at(span, message).label("no `on`").help(help));
                Vec::new()
            }
        };
    };
    if model.sensitive == Sensitive::None {
        let key = table.get_key_value("on").map_or(span, |(key, _)| key.span());
        let message = format!("{} looks at no sensitive column", model.id);
        fields.push(Diagnostic::at(key, message).label("no effect").help("remove `on`"));
        return Vec::new();
    }
    let names = match item.get_ref() {
        DeValue::String(name) => vec![name.to_string()],
        DeValue::Array(_) => fields.list_of_texts(item, "on").unwrap_or_default(),
        _ => {
            fields.wrong(item, "on", "a column or a list of columns");
            return Vec::new();
        }
    };
    if names.is_empty() && item.get_ref().is_array() {
        fields.push(Diagnostic::at(span.clone(), "`on` names no column").label("empty"));
    }
    if names.len() > 1 && model.sensitive == Sensitive::One {
        let message = format!("{} protects one column at a time", model.id);
        let help = "write one [[require]] for each column";
        fields.push(Diagnostic::at(span.clone(), message).label("several columns").help(help));
    }
    for (i, name) in names.iter().enumerate() {
        if names[..i].contains(name) {
            fields.push(Diagnostic::at(span.clone(), format!("`on` names `{name}` twice")).label("named twice"));
        }
        let error = match columns.iter().find(|c| c.name == *name) {
            Some(column) if column.role == Role::Sensitive => continue,
            Some(column) => {
                Diagnostic::at(span.clone(), format!("column `{name}` is {}, not sensitive", column.role.name()))
                    .label("not sensitive")
                    .help(format!("give it `role = \"sensitive\"`, or name a sensitive column{}", list(&sensitive)))
            }
            None if broken.contains(name) => continue,
            None => {
                let error =
                    Diagnostic::at(span.clone(), format!("the policy has no column `{name}`")).label("no such column");
                match nearest(name, columns.iter().map(|c| c.name.as_str())) {
                    Some(near) => error.help(format!("did you mean `{near}`?")),
                    None => error.help(format!("name a sensitive column{}", list(&sensitive))),
                }
            }
        };
        fields.push(error);
    }
    names
}

fn list(names: &[&str]) -> String {
    if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) }
}

/// Lets the model read its numbers, so that `l = 0` or `alpha = 2` is found before any data is read. What else the
/// model may object to depends on the data, and is left for later.
fn try_numbers(
    fields: &mut Fields,
    table: &DeTable<'_>,
    model: &model::Entry,
    parameters: &Parameters,
    columns: &[ColumnPolicy],
    on: &[String],
) {
    let mut domain = SensitiveDomain { ordered: true, ..SensitiveDomain::default() };
    if let Some(column) = on.first().and_then(|name| columns.iter().find(|c| c.name == *name)) {
        domain.name = column.name.clone();
        domain.dictionary = column.categories.iter().flatten().map(String::as_str).collect();
        domain.categories = column.categories.clone();
        domain.weights = column.weights.clone();
    }
    if let Err(error) = (model.build)(parameters, &domain) {
        let declared = model.parameters.iter().find(|p| p.name == error.key);
        if let (Some(parameter), Some(item)) = (declared, table.get(error.key.as_str()))
            && matches!(parameter.kind, Kind::Count | Kind::Number)
        {
            fields.push(Diagnostic::at(item.span(), error.message).label(parameter.help));
        }
    }
}
