//! Parameters that a model or an algorithm declares, read from a table and checked against the declaration.

use amidst_core::parameter::Rational;
use amidst_core::parameter::{Kind, Parameter, Parameters, Value};
use toml::de::{DeTable, DeValue};

use super::Diagnostic;
use super::fields::{Fields, Item, as_written, in_order, number};
use super::{Origin, suggestion};

/// Reads all keys of `table` but `others` as parameters. `what` names the model or algorithm in errors.
pub(super) fn parse(
    fields: &mut Fields,
    table: &DeTable<'_>,
    what: &str,
    declared: &[Parameter],
    others: &[&str],
    origin: &Origin,
) -> Parameters {
    let mut parameters = Parameters::default();
    for (key, span, item) in in_order(table) {
        if others.contains(&key) {
            continue;
        }
        let Some(parameter) = declared.iter().find(|p| p.name == key) else {
            let known: Vec<&str> = declared.iter().map(|p| p.name).chain(others.iter().copied()).collect();
            let message = format!("{what} has no parameter `{key}`");
            fields.push(Diagnostic::at(span, message).label("unknown parameter").help(suggestion(key, &known)));
            continue;
        };
        if let Some(value) = value(fields, item, parameter, origin) {
            parameters.set(key, value);
        }
    }
    parameters
}

/// Reads one parameter as its declaration asks.
fn value(fields: &mut Fields, item: &Item<'_>, parameter: &Parameter, origin: &Origin) -> Option<Value> {
    let key = parameter.name;
    let bad = |fields: &mut Fields, message: String| {
        fields.push(Diagnostic::at(item.span(), message).label(parameter.help));
        None
    };
    match parameter.kind {
        Kind::Count => match number(item.get_ref()) {
            Some(n) if n.to_u64().is_some_and(|n| n >= 1) => Some(Value::Number(n)),
            Some(n) => bad(fields, format!("`{key}` must be a whole number from 1 on, not {n}")),
            None => bad(fields, format!("`{key}` must be a whole number from 1 on")),
        },
        Kind::Counts => {
            let whole = |item: &Item<'_>| number(item.get_ref()).filter(|n| n.to_u64().is_some_and(|n| n >= 1));
            let counts = item.get_ref().as_array().and_then(|list| list.iter().map(whole).collect::<Option<Vec<_>>>());
            match counts {
                Some(counts) => Some(Value::List(counts.into_iter().map(Value::Number).collect())),
                None => bad(fields, format!("`{key}` must be a list of whole numbers from 1 on, such as [2, 3, 1]")),
            }
        }
        Kind::Number => match number(item.get_ref()) {
            Some(n) => Some(Value::Number(n)),
            None => bad(fields, format!("`{key}` must be a number or a fraction such as \"1/3\"")),
        },
        Kind::Flag => match item.get_ref() {
            DeValue::Boolean(flag) => Some(Value::Flag(*flag)),
            _ => bad(fields, format!("`{key}` must be true or false")),
        },
        Kind::Choice(words) => match item.get_ref().as_str() {
            Some(word) if words.contains(&word) => Some(Value::Text(word.to_string())),
            Some(word) => {
                let message = format!("`{key}` is one of {}, not \"{word}\"", words.join(", "));
                let mut error = Diagnostic::at(item.span(), message).label(parameter.help);
                if let Some(near) = super::nearest(word, words.iter().copied()) {
                    error = error.help(format!("did you mean `{near}`?"));
                }
                fields.push(error);
                None
            }
            None => bad(fields, format!("`{key}` is one of {}", words.join(", "))),
        },
        // Values of a column are compared as text, so they are taken as they are written.
        Kind::Value => match as_written(item.get_ref()) {
            Some(text) => Some(Value::Text(text)),
            None => bad(fields, format!("`{key}` must be one value of the sensitive column")),
        },
        Kind::Values => {
            fields.list_of_texts(item, key).map(|texts| Value::List(texts.into_iter().map(Value::Text).collect()))
        }
        Kind::Bounds => bounds(fields, item, parameter),
        Kind::Categories => categories(fields, item, key),
        Kind::Weights => fields.value(item, key),
        Kind::Population => population(fields, item, key, origin),
    }
}

fn bounds(fields: &mut Fields, item: &Item<'_>, parameter: &Parameter) -> Option<Value> {
    let key = parameter.name;
    let Some(table) = item.get_ref().as_table() else {
        fields.wrong(item, key, "a table such as { Flu = 0.5, HIV = \"1/3\" }");
        return None;
    };
    let mut bounds = Vec::new();
    for (value, _, bound) in in_order(table) {
        match number(bound.get_ref()) {
            Some(n) if !n.is_negative() && n <= Rational::from(1) => bounds.push((value.to_string(), Value::Number(n))),
            _ => {
                let message = format!("the bound of \"{value}\" must be a number from 0 to 1");
                fields.push(Diagnostic::at(bound.span(), message).label(parameter.help));
            }
        }
    }
    Some(Value::Table(bounds))
}

fn categories(fields: &mut Fields, item: &Item<'_>, key: &str) -> Option<Value> {
    let Some(lists) = item.get_ref().as_array() else {
        fields.wrong(item, key, "a list of lists, such as [[\"HIV\"], [\"Flu\"]]");
        return None;
    };
    let texts: Option<Vec<Value>> = lists
        .iter()
        .map(|inner| {
            let texts = fields.list_of_texts(inner, key)?;
            Some(Value::List(texts.into_iter().map(Value::Text).collect()))
        })
        .collect();
    texts.map(Value::List)
}

/// The path is kept as it is written; that the file exists is known before any work is done.
fn population(fields: &mut Fields, item: &Item<'_>, key: &str, origin: &Origin) -> Option<Value> {
    let Some(path) = item.get_ref().as_str() else {
        fields.wrong(item, key, "the file of a population table");
        return None;
    };
    if amidst_io::local_path(&origin.resolve_source(path)).is_some_and(|path| !path.exists()) {
        let message = format!("there is no file `{path}`");
        let help = "paths are relative to the folder of the policy";
        fields.push(Diagnostic::at(item.span(), message).label("not found").help(help));
    }
    Some(Value::Text(path.to_string()))
}
