//! What a policy writes as `hierarchy = { … }`, and how builders read it.

use super::HierarchyError;
use crate::parameter::Value;
use crate::table::{Column, Dictionary};

/// What a policy writes as `hierarchy = { … }`, and a way to read the files it names.
pub struct Recipe<'a> {
    /// The keys and values of the inline table.
    pub table: &'a [(String, Value)],
    /// Reads a file named in the recipe as text; the error says why it cannot be read.
    pub read: &'a dyn Fn(&str) -> Result<String, String>,
    /// The tokens that mean "unknown". Where the policy keeps such rows, an unknown value is a value of its own: it
    /// stays itself at every level below the top, whatever the builder.
    pub missing: &'a [String],
}

impl Recipe<'_> {
    /// What is written for `key`.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.table.iter().find(|(k, _)| k == key).map(|(_, v)| v)
    }

    /// The list that the key must hold, with at least one item.
    pub(super) fn list(&self, key: &str, example: &str) -> Result<&[Value], HierarchyError> {
        match self.get(key) {
            Some(Value::List(items)) if !items.is_empty() => Ok(items),
            Some(Value::List(_)) => Err(HierarchyError::new(key, format!("`{key}` is empty; write {example}"))),
            _ => Err(HierarchyError::new(key, format!("`{key}` must be a list, such as {example}"))),
        }
    }

    /// The values of `column` that `read` understands, with what it understood. Unknown values are left out, and so are
    /// values that are not `what`: binding the hierarchy to the column then says which rows hold them. It is an error
    /// only when not a single value is understood, because then the builder is the wrong one.
    pub(super) fn understood<T>(
        &self,
        key: &str,
        column: &Column,
        what: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<(Dictionary, Vec<T>), HierarchyError> {
        let unknown = |value: &str| self.missing.iter().any(|token| token == value);
        let mut understood = Vec::with_capacity(column.dictionary.len());
        let mut left_out = Vec::new();
        let mut candidates = 0;
        for (code, value) in column.dictionary.iter().enumerate() {
            let known = !unknown(value);
            candidates += usize::from(known);
            match if known { read(value) } else { None } {
                Some(t) => understood.push(t),
                None => left_out.push(code),
            }
        }
        if understood.is_empty() && candidates > 0 {
            let message = format!("`{key}` needs {what}, and none of the {candidates} values of the column is one");
            return Err(HierarchyError::new(key, message));
        }
        if left_out.is_empty() {
            return Ok((column.dictionary.clone(), understood));
        }
        let mut skip = left_out.into_iter().peekable();
        let kept = column.dictionary.iter().enumerate().filter(|(code, _)| skip.next_if_eq(code).is_none());
        Ok((kept.map(|(_, value)| value).collect(), understood))
    }
}

/// The name in `known` that is most like `written`, if one is.
pub(super) fn nearest<'k>(written: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let scored = known.into_iter().map(|k| (k, strsim::jaro_winkler(&written.to_lowercase(), k)));
    scored.filter(|(_, likeness)| *likeness > 0.75).max_by(|a, b| a.1.total_cmp(&b.1)).map(|(k, _)| k)
}
