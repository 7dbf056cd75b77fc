//! The checker's own parser for policies, for the parts that a certificate must follow.
//!
//! A certificate that lists other columns, requirements or limits than its policy proves something other than what was
//! required. The policy is therefore parsed again, by code that shares nothing with the parser of the publishing
//! program: roles, requirements with exact numbers, the suppression limit, consent, orders, categories and weights.
//! Settings of the search are ignored.
//!
//! May use: `certificate`, `cover`, `models`, `number`, `problem`, and what those use.

mod follows;
mod labels;
mod order;

pub(crate) use follows::{Owner, Said, follows, lasts_as_long};

use std::borrow::Cow;

use num_rational::BigRational;
use num_traits::{One, Signed};
use serde_json::{Map, Value};
use toml::de::{DeTable, DeValue};
use toml::value::{Date, Datetime};

use crate::models::{Looks, MODELS};
use crate::number;

/// The role of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Identifying,
    Quasi,
    Sensitive,
    Insensitive,
    Key,
    Consent,
}

const ROLES: &[(&str, Role)] = &[
    ("identifying", Role::Identifying),
    ("quasi", Role::Quasi),
    ("sensitive", Role::Sensitive),
    ("insensitive", Role::Insensitive),
    ("key", Role::Key),
    ("consent", Role::Consent),
];

impl Role {
    /// Its name in policies.
    pub(crate) fn name(self) -> &'static str {
        ROLES.iter().find(|(_, role)| *role == self).map_or("", |(name, _)| name)
    }
}

/// The type of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Number,
    Date,
}

const KINDS: &[(&str, Kind)] =
    &[("text", Kind::Text), ("integer", Kind::Number), ("decimal", Kind::Number), ("date", Kind::Date)];

/// What a policy states about a column.
#[derive(Debug, Clone)]
pub(crate) struct ColumnSaid {
    pub name: String,
    pub role: Role,
    /// Whether waived rows join the classes of others instead of being published unchanged.
    pub joins: bool,
    /// What its values are, where it says so.
    pub kind: Option<Kind>,
    /// The rank order that it lists: its own, or that of a hierarchy built from a list.
    pub order: Vec<String>,
    /// How its hierarchy is made; numbers as texts.
    pub hierarchy: Option<Map<String, Value>>,
    pub categories: Vec<Vec<String>>,
    /// As in the policy: a word, a table or a list.
    pub weights: Option<Value>,
    /// Why it is published although it singles people out.
    pub accept: Option<String>,
}

/// A requirement as the policy writes it.
#[derive(Debug, Clone)]
pub(crate) struct RequirementSaid {
    pub model: String,
    /// The sensitive columns; where the policy names none, all of them for a model that looks at sensitive values.
    pub on: Vec<String>,
    /// Numbers are strings that keep every digit.
    pub parameters: Map<String, Value>,
}

/// How many rows may be left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Limit {
    Rows(BigRational),
    Share(BigRational),
}

/// The parts of a policy that a release is compared with.
#[derive(Debug, Clone)]
pub(crate) struct PolicySaid {
    pub columns: Vec<ColumnSaid>,
    pub default: Option<ColumnSaid>,
    pub requirements: Vec<RequirementSaid>,
    /// The sets of quasi columns that must each satisfy the requirements; empty: one set of all quasi columns.
    pub sets: Vec<Vec<String>>,
    /// Whether ranges of numbers are published as two columns, the lower and the upper bound.
    pub bounds: bool,
    pub limit: Limit,
    pub masked: bool,
    /// Texts that mean "unknown".
    pub missing: Vec<String>,
    /// The last day on which the release may be relied on.
    pub valid_until: Option<Date>,
}

/// Suffixes of the two columns that hold the bounds of a range.
const ENDINGS: [&str; 2] = ["_min", "_max"];

/// Sections that concern the search, the report or the owner and affect no claim.
const OTHER_SECTIONS: &[&str] = &["data", "risk", "utility", "output", "release", "series"];

impl PolicySaid {
    /// Parses the text of a policy; an error says what the checker does not understand.
    pub(crate) fn parse(text: &str) -> Result<PolicySaid, String> {
        // Readers of TOML differ on it.
        if text.starts_with('\u{feff}') {
            return Err("it begins with a byte order mark".to_string());
        }
        let document = DeTable::parse(text)
            .map_err(|e| format!("it is not TOML: {}", e.message().lines().next().unwrap_or_default()))?;
        let document = document.get_ref();
        for key in document.keys() {
            let key: &str = key.get_ref();
            if !["columns", "require", "quasi", "search"].contains(&key) && !OTHER_SECTIONS.contains(&key) {
                return Err(format!("it has a section \"{key}\" that this checker does not know"));
            }
        }
        let mut columns = Vec::new();
        let mut default = None;
        if let Some(section) = document.get("columns") {
            let section = section.get_ref().as_table().ok_or("its columns are no table")?;
            for (name, item) in section.iter() {
                let name: &str = name.get_ref();
                let own = column(name, item.get_ref()).map_err(|what| format!("its column \"{name}\" {what}"))?;
                if name == "*" { default = Some(own) } else { columns.push(own) }
            }
        }
        if columns.iter().chain(&default).filter(|c| c.role == Role::Consent).count() > 1 {
            return Err("it has several consent columns".to_string());
        }
        let sensitive: Vec<&str> =
            columns.iter().filter(|c| c.role == Role::Sensitive).map(|c| c.name.as_str()).collect();
        let mut requirements = Vec::new();
        if let Some(list) = document.get("require") {
            let list = list.get_ref().as_array().ok_or("its requirements are no list")?;
            for item in list.iter() {
                let table = item.get_ref().as_table().ok_or("a requirement of it is no table")?;
                requirements.push(requirement(table, &sensitive)?);
            }
        }
        let (limit, masked) = match document.get("search") {
            None => (Limit::Rows(number::whole(0)), false),
            Some(search) => limits(search.get_ref().as_table().ok_or("its search is no table")?)?,
        };
        let valid_until = match document.get("release") {
            None => None,
            Some(release) => until(release.get_ref().as_table().ok_or("its release is no table")?)?,
        };
        let bounds = match document.get("output") {
            None => false,
            Some(output) => {
                let output = output.get_ref().as_table().ok_or("its output is no table")?;
                output.get("ranges").and_then(|item| item.get_ref().as_str()) == Some("bounds")
            }
        };
        let data = document.get("data").and_then(|data| data.get_ref().as_table());
        let missing = match data.and_then(|data| data.get("missing")) {
            None => Vec::new(),
            Some(list) => texts(list.get_ref()).ok_or("its `missing` is no list of values")?,
        };
        let sets = match document.get("quasi") {
            None => Vec::new(),
            Some(list) => sets(list.get_ref()).ok_or("its sets of quasi columns are no lists of columns")?,
        };
        Ok(PolicySaid { columns, default, requirements, sets, bounds, limit, masked, missing, valid_until })
    }

    /// The settings of a column: its own section, or that of `"*"`.
    pub(crate) fn column(&self, name: &str) -> Option<&ColumnSaid> {
        self.columns.iter().find(|c| c.name == name).or(self.default.as_ref())
    }

    /// The settings of a published column. Where ranges are published as two columns of bounds, both have the settings
    /// of the column that they were made from.
    pub(crate) fn published(&self, name: &str, published: &[String]) -> Option<&ColumnSaid> {
        let source = ENDINGS.iter().find_map(|ending| name.strip_suffix(ending));
        let parted = source.filter(|source| {
            !self.columns.iter().any(|c| c.name == name) && self.names(source, published).iter().any(|n| n == name)
        });
        self.column(parted.unwrap_or(name))
    }

    /// The published names of a column of the policy: its own, or those of its two bounds.
    pub(crate) fn names(&self, name: &str, published: &[String]) -> Vec<String> {
        let bounds = ENDINGS.map(|ending| format!("{name}{ending}"));
        let quasi = self.column(name).is_some_and(|c| c.role == Role::Quasi);
        let there = bounds.iter().all(|n| published.contains(n)) && !published.iter().any(|n| n == name);
        if self.bounds && quasi && there { bounds.to_vec() } else { vec![name.to_string()] }
    }

    /// Whether any column listed by name has this role.
    pub(crate) fn has(&self, role: Role) -> bool {
        self.columns.iter().any(|c| c.role == role)
    }
}

fn column(name: &str, value: &DeValue<'_>) -> Result<ColumnSaid, String> {
    let table = value.as_table().ok_or("is no table")?;
    let word = |key: &str| table.get(key).and_then(|item| item.get_ref().as_str());
    let role = word("role").ok_or("has no role")?;
    let role = ROLES.iter().find(|(name, _)| *name == role).ok_or("has a role that is none")?.1;
    let categories = match table.get("categories") {
        None => Vec::new(),
        Some(item) => {
            let lists = item.get_ref().as_array().ok_or("has categories that are no lists")?;
            lists
                .iter()
                .map(|list| texts(list.get_ref()))
                .collect::<Option<_>>()
                .ok_or("has categories that are no lists")?
        }
    };
    Ok(ColumnSaid {
        name: name.to_string(),
        role,
        joins: match word("mode") {
            None | Some("publish") => false,
            Some("join" | "separate") => true,
            Some(_) => return Err("has a mode that is none".into()),
        },
        kind: match word("type") {
            None => None,
            Some(kind) => Some(KINDS.iter().find(|(name, _)| *name == kind).ok_or("has a type that is none")?.1),
        },
        order: ranks(table, role)?,
        hierarchy: table.get("hierarchy").map(|item| json(item.get_ref()).as_object().cloned().unwrap_or_default()),
        categories,
        weights: table.get("weights").map(|item| json(item.get_ref())),
        accept: word("accept").map(str::to_string),
    })
}

/// The rank order that a column lists. That of its hierarchy ranks its values, not labels that take their place.
fn ranks(table: &DeTable<'_>, role: Role) -> Result<Vec<String>, String> {
    let own = match table.get("order") {
        None => Vec::new(),
        Some(item) => texts(item.get_ref()).ok_or("has an order that is no list of values")?,
    };
    let labels = role == Role::Sensitive && table.get("level").is_some_and(|item| json(item.get_ref()) != "0");
    let hierarchy = table.get("hierarchy").and_then(|item| item.get_ref().as_table());
    match hierarchy.and_then(|hierarchy| hierarchy.get("order")) {
        Some(item) if own.is_empty() && !labels => {
            Ok(numbered(item.get_ref()).ok_or("has a hierarchy with an order that is no list of values")?)
        }
        _ => Ok(own),
    }
}

/// A list of values in which a number has its shortest decimal text.
fn numbered(value: &DeValue<'_>) -> Option<Vec<String>> {
    let item = |item: &DeValue<'_>| {
        let text = written(item)?.into_owned();
        let decimal = matches!(item, DeValue::Float(_)) && !text.contains(['e', 'E']) && text.contains('.');
        Some(if decimal { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text })
    };
    value.as_array()?.iter().map(|one| item(one.get_ref())).collect()
}

fn requirement(table: &DeTable<'_>, sensitive: &[&str]) -> Result<RequirementSaid, String> {
    let model = table.get("model").and_then(|m| m.get_ref().as_str()).ok_or("a requirement of it names no model")?;
    let on = match table.get("on").map(|item| item.get_ref()) {
        Some(DeValue::String(one)) => vec![one.to_string()],
        Some(list) => texts(list).ok_or_else(|| format!("its requirement {model} is on no list of columns"))?,
        None => {
            let looks = MODELS.iter().find(|entry| entry.id == model).map(|entry| entry.looks);
            if looks == Some(Looks::Sensitive) { sensitive.iter().map(|s| s.to_string()).collect() } else { Vec::new() }
        }
    };
    let mut parameters = Map::new();
    for (key, item) in table.iter() {
        let key: &str = key.get_ref();
        if !["model", "on"].contains(&key) {
            parameters.insert(key.to_string(), json(item.get_ref()));
        }
    }
    Ok(RequirementSaid { model: model.to_string(), on, parameters })
}

/// The columns of each `[[quasi]]`.
fn sets(value: &DeValue<'_>) -> Option<Vec<Vec<String>>> {
    let set = |item: &DeValue<'_>| {
        let table = item.as_table()?;
        let columns = texts(table.get("columns")?.get_ref())?;
        (table.len() == 1 && !columns.is_empty()).then_some(columns)
    };
    value.as_array()?.iter().map(|item| set(item.get_ref())).collect()
}

fn until(release: &DeTable<'_>) -> Result<Option<Date>, String> {
    let Some(item) = release.get("valid_until") else { return Ok(None) };
    let moment = match item.get_ref() {
        DeValue::Datetime(moment) => Some(*moment),
        DeValue::String(text) => text.parse().ok(),
        _ => None,
    };
    match moment {
        Some(Datetime { date: Some(day), time: None, offset: None }) => Ok(Some(day)),
        _ => Err("its `valid_until` is no day".into()),
    }
}

fn limits(search: &DeTable<'_>) -> Result<(Limit, bool), String> {
    let masked = match search.get("suppressed").map(|item| item.get_ref().as_str()) {
        None | Some(Some("drop")) => false,
        Some(Some("mask")) => true,
        Some(_) => return Err("its `suppressed` is neither drop nor mask".into()),
    };
    let limit = match search.get("max_suppression").map(|item| item.get_ref()) {
        None => Limit::Rows(number::whole(0)),
        Some(DeValue::Integer(_)) => Limit::Rows(limit_number(search)?),
        Some(DeValue::String(text)) if text.trim_end().ends_with('%') => {
            let percent = text.trim_end().trim_end_matches('%');
            let share = number::parse(percent).map_err(|what| format!("its `max_suppression` {what}"))?;
            Limit::Share(share / number::whole(100))
        }
        Some(_) => Limit::Share(limit_number(search)?),
    };
    let wrong = match &limit {
        Limit::Rows(rows) => rows.is_negative(),
        Limit::Share(share) => share.is_negative() || *share > BigRational::one(),
    };
    if wrong {
        Err("its `max_suppression` is neither a share nor a number of rows".into())
    } else {
        Ok((limit, masked))
    }
}

fn limit_number(search: &DeTable<'_>) -> Result<BigRational, String> {
    let value = search.get("max_suppression").map(|item| json(item.get_ref())).unwrap_or_default();
    number::exact(&value).map_err(|what| format!("its `max_suppression` {what}"))
}

/// A list of values; numbers keep the text in which they are written.
fn texts(value: &DeValue<'_>) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|item| written(item.get_ref()).map(Cow::into_owned)).collect()
}

/// The text of a single value.
fn written<'a>(value: &'a DeValue<'_>) -> Option<Cow<'a, str>> {
    Some(match value {
        DeValue::String(text) => Cow::Borrowed(text),
        DeValue::Integer(n) => Cow::Owned(n.to_string()),
        DeValue::Float(x) => Cow::Owned(x.to_string()),
        DeValue::Boolean(flag) => Cow::Owned(flag.to_string()),
        DeValue::Datetime(date) => Cow::Owned(date.to_string()),
        DeValue::Array(_) | DeValue::Table(_) => return None,
    })
}

/// A value as JSON; numbers become strings that keep every digit.
fn json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::Boolean(flag) => Value::Bool(*flag),
        DeValue::Integer(n) if n.radix() != 10 => {
            i64::from_str_radix(n.as_str(), n.radix()).map_or(Value::Null, |n| Value::from(n.to_string()))
        }
        DeValue::Array(items) => Value::Array(items.iter().map(|item| json(item.get_ref())).collect()),
        DeValue::Table(table) => {
            table.iter().map(|(key, item)| (key.get_ref().to_string(), json(item.get_ref()))).collect()
        }
        single => written(single).map_or(Value::Null, |text| Value::from(text.into_owned())),
    }
}
