//! Values of a column that the policy speaks of, and those among them that the data does not have.
//!
//! A requirement on a value that no row has always holds, so a misspelt value would go unnoticed.

use amidst_core::parameter::Rational;
use amidst_core::parameter::{Kind, Value};
use amidst_core::search::MaxSuppression;
use amidst_core::table::{Column, Table};

use super::meaning::Meaning;
use crate::policy::{ColumnPolicy, Policy, nearest};

/// A value that the policy names.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Named {
    /// The model whose requirement names it; none when the column's own section does.
    pub model: Option<&'static str>,
    /// Under which key.
    pub key: &'static str,
    /// The value.
    pub value: String,
}

/// The values of a column that requirements on it and its categories name, in the order of the policy.
pub(super) fn named(policy: &Policy, stated: &ColumnPolicy) -> Vec<Named> {
    let mut named = Vec::new();
    for requirement in policy.requirements.iter().filter(|r| r.on.contains(&stated.name)) {
        for parameter in requirement.model.parameters {
            let Some(written) = requirement.parameters.get(parameter.name) else { continue };
            let values: Vec<String> = match (parameter.kind, written) {
                (Kind::Value, one) => one.text().into_iter().collect(),
                (Kind::Values, Value::List(items)) => items.iter().filter_map(Value::text).collect(),
                (Kind::Bounds, Value::Table(pairs)) => pairs.iter().map(|(value, _)| value.clone()).collect(),
                (Kind::Categories, Value::List(lists)) => lists.iter().flat_map(texts).collect(),
                _ => Vec::new(),
            };
            let (model, key) = (Some(requirement.model.id), parameter.name);
            named.extend(values.into_iter().map(|value| Named { model, key, value }));
        }
    }
    let categories = stated.categories.iter().flatten();
    named.extend(categories.map(|v| Named { model: None, key: "categories", value: v.clone() }));
    named
}

/// What is odd about the number of rows that may be left out of a table of `rows`.
fn suppression(policy: &Policy, rows: u64) -> Option<String> {
    let all = "every row may be left out";
    match policy.search.max_suppression {
        MaxSuppression::Share(ref share) if *share == Rational::from(1) => {
            Some(format!("`max_suppression` is the share 1: {all}; a single row is written 1, without a point"))
        }
        MaxSuppression::Rows(stated) if stated > 1 && stated >= rows => Some(format!(
            "`max_suppression = {stated}` is a number of rows, and the table has {rows}: {all}; a share is written \
             \"2 %\", or with a point, 0.02"
        )),
        // 1 and 1.0 mean different things, so 1 is always reported.
        MaxSuppression::Rows(stated @ 1..=100)
            if stated == 1
                || rows >= stated.saturating_mul(LOOKS_LIKE_PERCENT)
                || (stated <= SMALL_PERCENTS && rows >= SMALL_TABLE) =>
        {
            let row = if stated == 1 { "1 row".to_string() } else { format!("{stated} rows") };
            Some(format!(
                "`max_suppression = {stated}` lets {row} of {rows} be left out; for a share write \"{stated} %\", or a \
                 number with a point such as 0.02"
            ))
        }
        _ => None,
    }
}

fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::List(items) => items.iter().filter_map(Value::text).collect(),
        _ => Vec::new(),
    }
}

/// Among more values than this, the one that may have been meant is not looked for.
const MOST_LIKENESSES: usize = 100_000;

/// A number of rows up to 100 is probably meant as a percentage where the table has more than this many times as many
/// rows.
const LOOKS_LIKE_PERCENT: u64 = 100;

/// Numbers of rows up to this are as likely percentages, unless the table is so small that both come to about the same.
const SMALL_PERCENTS: u64 = 10;
const SMALL_TABLE: u64 = 200;

/// What is probably not meant although nothing is wrong with it: a share of rows written as their number, values that
/// the data does not have.
pub(super) fn remarks(policy: &Policy, table: &Table) -> Vec<String> {
    let mut remarks: Vec<String> = suppression(policy, table.rows as u64).into_iter().collect();
    for column in &table.columns {
        let Some(stated) = policy.column(&column.name) else { continue };
        let mut told: Vec<String> = Vec::new();
        for Named { model, key, value } in named(policy, stated) {
            if column.dictionary.code(&value).is_some() || told.contains(&value) {
                continue;
            }
            let few = column.dictionary.len() <= MOST_LIKENESSES;
            let place = model.map_or_else(|| format!("`{key}` of the column"), |id| format!("`{key}` of {id}"));
            let near = equal(policy, stated, column, &value)
                .or_else(|| nearest(&value, column.dictionary.iter().filter(|_| few)));
            // Categories are often those of a whole field, and each value that the data has must be in one anyway.
            if near.is_none() && key == "categories" {
                continue;
            }
            let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            remarks.push(format!("no row has the value `{value}` of column `{}`, named by {place}{hint}", column.name));
            told.push(value);
        }
    }
    remarks
}

/// The text of the column that means what `value` means.
fn equal<'a>(policy: &Policy, stated: &ColumnPolicy, column: &'a Column, value: &str) -> Option<&'a str> {
    let meaning = |text: &str| Meaning::of(policy, stated, column.kind, text);
    let meant = meaning(value)?;
    column.dictionary.iter().find(|text| meaning(text) == Some(meant))
}
