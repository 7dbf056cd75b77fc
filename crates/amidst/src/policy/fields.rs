//! Reads fields of a TOML table into typed values, noting every error on the way.

use std::ops::Range;

use amidst_core::parameter::Rational;
use amidst_core::parameter::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Diagnostic;
use super::diagnostic::{nearest, suggestion};

pub(super) type Item<'i> = Spanned<DeValue<'i>>;

/// Collects the errors of a parse.
#[derive(Debug, Default)]
pub(super) struct Fields {
    pub errors: Vec<Diagnostic>,
}

/// The keys of a table with their values, in the order they were written.
pub(super) fn in_order<'a, 'i>(table: &'a DeTable<'i>) -> Vec<(&'a str, Range<usize>, &'a Item<'i>)> {
    let mut keys: Vec<_> = table.iter().map(|(k, v)| (k.get_ref().as_ref(), k.span(), v)).collect();
    keys.sort_by_key(|(_, span, _)| span.start);
    keys
}

/// What a value is, in words.
fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// The text of a single value, as written: `1.50` stays `1.50`, for it may be a value of a column.
pub(super) fn as_written(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(s) => Some(s.to_string()),
        DeValue::Integer(i) => Some(i.to_string()),
        DeValue::Float(f) => Some(f.to_string()),
        DeValue::Boolean(b) => Some(b.to_string()),
        DeValue::Datetime(d) => Some(d.to_string()),
        DeValue::Array(_) | DeValue::Table(_) => None,
    }
}

/// The exact number that was written, as a number or as a text such as "1/3".
pub(super) fn number(value: &DeValue<'_>) -> Option<Rational> {
    match value {
        DeValue::Integer(i) if i.radix() == 10 => i.as_str().parse().ok(),
        DeValue::Integer(i) => i64::from_str_radix(i.as_str(), i.radix()).ok().map(|n| Rational::new(n, 1)),
        DeValue::Float(f) => f.as_str().parse().ok(),
        DeValue::String(s) => s.parse().ok(),
        _ => None,
    }
}

impl Fields {
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.errors.push(diagnostic);
    }

    /// An error saying that `item` should be `wanted`.
    pub fn wrong(&mut self, item: &Item<'_>, key: &str, wanted: &str) {
        let message = format!("`{key}` must be {wanted}, not {}", kind(item.get_ref()));
        self.push(Diagnostic::at(item.span(), message).label(format!("expected {wanted}")));
    }

    /// Reports every key of `table` that is not in `known`.
    pub fn only(&mut self, table: &DeTable<'_>, place: &str, known: &[&str]) {
        for (key, span, _) in in_order(table) {
            if !known.contains(&key) {
                let message = format!("{place} has no key `{key}`");
                self.push(Diagnostic::at(span, message).label("unknown key").help(suggestion(key, known)));
            }
        }
    }

    /// The table under `key`, if there is one.
    pub fn table<'a, 'i>(&mut self, table: &'a DeTable<'i>, key: &str) -> Option<&'a DeTable<'i>> {
        let item = table.get(key)?;
        let inner = item.get_ref().as_table();
        if inner.is_none() {
            self.wrong(item, key, &format!("a table, `[{key}]`"));
        }
        inner
    }

    /// The text under `key`.
    pub fn text(&mut self, table: &DeTable<'_>, key: &str) -> Option<String> {
        let item = table.get(key)?;
        let text = item.get_ref().as_str();
        if text.is_none() {
            self.wrong(item, key, "a text in quotes");
        }
        text.map(str::to_string)
    }

    /// The truth under `key`.
    pub fn flag(&mut self, table: &DeTable<'_>, key: &str) -> Option<bool> {
        let item = table.get(key)?;
        match item.get_ref() {
            DeValue::Boolean(flag) => Some(*flag),
            _ => {
                self.wrong(item, key, "true or false");
                None
            }
        }
    }

    /// The list of texts under `key`; numbers count as they are written.
    pub fn texts(&mut self, table: &DeTable<'_>, key: &str) -> Option<Vec<String>> {
        let item = table.get(key)?;
        self.list_of_texts(item, key)
    }

    /// `item` as a list of texts.
    pub fn list_of_texts(&mut self, item: &Item<'_>, key: &str) -> Option<Vec<String>> {
        let Some(items) = item.get_ref().as_array() else {
            self.wrong(item, key, "a list such as [\"a\", \"b\"]");
            return None;
        };
        let mut texts = Vec::with_capacity(items.len());
        for inner in items.iter() {
            match as_written(inner.get_ref()) {
                Some(text) => texts.push(text),
                None => {
                    self.wrong(inner, key, "a list of single values");
                    return None;
                }
            }
        }
        Some(texts)
    }

    /// The number under `key`.
    pub fn number(&mut self, table: &DeTable<'_>, key: &str) -> Option<Rational> {
        let item = table.get(key)?;
        let number = number(item.get_ref());
        if number.is_none() {
            let wanted = "a number or a fraction such as \"1/3\"";
            match item.get_ref() {
                DeValue::String(_) | DeValue::Float(_) => {
                    let message = format!("`{key}` must be {wanted}");
                    self.push(Diagnostic::at(item.span(), message).label("not a number"));
                }
                _ => self.wrong(item, key, wanted),
            }
        }
        number
    }

    /// The word under `key`, which must be one of `choices`.
    pub fn choice<T: Copy>(&mut self, table: &DeTable<'_>, key: &str, choices: &[(&str, T)]) -> Option<T> {
        let item = table.get(key)?;
        let word = self.text(table, key)?;
        let found = choices.iter().find(|(name, _)| *name == word).map(|&(_, value)| value);
        if found.is_none() {
            let names: Vec<&str> = choices.iter().map(|&(name, _)| name).collect();
            let all: Vec<String> = names.iter().map(|n| format!("\"{n}\"")).collect();
            let message = format!("`{key}` is one of {}, not \"{word}\"", all.join(", "));
            let mut error = Diagnostic::at(item.span(), message).label(format!("unknown {key}"));
            if let Some(near) = nearest(&word, names) {
                error = error.help(format!("did you mean `{near}`?"));
            }
            self.push(error);
        }
        found
    }

    /// Any value, numbers exact.
    pub fn value(&mut self, item: &Item<'_>, key: &str) -> Option<Value> {
        Some(match item.get_ref() {
            DeValue::Integer(_) | DeValue::Float(_) => match number(item.get_ref()) {
                Some(n) => Value::Number(n),
                None => {
                    let message = format!("`{key}` must be a finite number");
                    self.push(Diagnostic::at(item.span(), message).label("not a finite number"));
                    return None;
                }
            },
            DeValue::String(s) => Value::Text(s.to_string()),
            DeValue::Datetime(d) => Value::Text(d.to_string()),
            DeValue::Boolean(b) => Value::Flag(*b),
            DeValue::Array(items) => {
                Value::List(items.iter().map(|i| self.value(i, key)).collect::<Option<Vec<Value>>>()?)
            }
            DeValue::Table(table) => Value::Table(self.values(table)?),
        })
    }

    /// All keys of a table with their values, in the order they were written.
    pub fn values(&mut self, table: &DeTable<'_>) -> Option<Vec<(String, Value)>> {
        in_order(table).into_iter().map(|(k, _, v)| Some((k.to_string(), self.value(v, k)?))).collect()
    }
}
