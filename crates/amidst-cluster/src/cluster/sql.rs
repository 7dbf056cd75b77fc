//! Pieces of statements.

use datafusion::arrow::datatypes::DataType;

/// A name of a column or table.
pub fn name(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// A string.
pub fn text(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}

/// That a cell is known: that its text is none of the tokens that stand for unknown ones. None when every cell is.
///
/// Numbers are compared as numbers, because they have one form only; an absent cell is the empty text.
pub fn known(column: &str, kind: &DataType, unknown: &[String]) -> Option<String> {
    let cell = format!("t.{}", name(column));
    let absent = unknown.iter().any(String::is_empty).then(|| format!("{cell} IS NOT NULL"));
    let list = |values: Vec<String>| {
        (!values.is_empty()).then(|| format!("({cell} IS NULL OR {cell} NOT IN ({}))", values.join(", ")))
    };
    let tokens = || unknown.iter().filter(|token| !token.is_empty());
    let listed = match kind {
        kind if kind.is_integer() => {
            let whole = tokens().filter(|t| t.parse::<i64>().is_ok_and(|n| n.to_string() == **t));
            list(whole.cloned().collect())
        }
        kind if kind.is_floating() => {
            let number = |t: &&String| t.parse::<f64>().is_ok_and(|n| n.is_finite() && n.to_string() == **t);
            list(tokens().filter(number).map(|t| format!("CAST({} AS DOUBLE)", text(t))).collect())
        }
        DataType::Boolean => list(tokens().filter(|t| matches!(t.as_str(), "true" | "false")).cloned().collect()),
        _ => {
            let values: Vec<String> = unknown.iter().map(|t| text(t)).collect();
            return (!values.is_empty())
                .then(|| format!("coalesce(CAST({cell} AS VARCHAR), '') NOT IN ({})", values.join(", ")));
        }
    };
    match (absent, listed) {
        (None, None) => None,
        (Some(one), None) | (None, Some(one)) => Some(one),
        (Some(a), Some(b)) => Some(format!("{a} AND {b}")),
    }
}

/// A condition of a statement; nothing when there is none.
pub fn filter(conditions: &[String]) -> String {
    if conditions.is_empty() { String::new() } else { format!(" WHERE {}", conditions.join(" AND ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_texts_cannot_leave_their_quotes() {
        assert_eq!(name("a\"b"), "\"a\"\"b\"");
        assert_eq!(text("o'clock"), "'o''clock'");
    }

    #[test]
    fn unknown_cells_are_compared_in_their_own_type() {
        let unknown = ["".to_string(), "?".to_string(), "-1".to_string()];
        assert_eq!(
            known("age", &DataType::Int32, &unknown).unwrap(),
            "t.\"age\" IS NOT NULL AND (t.\"age\" IS NULL OR t.\"age\" NOT IN (-1))"
        );
        assert_eq!(known("age", &DataType::Int32, &["?".to_string()]), None);
        assert_eq!(
            known("zip", &DataType::Utf8, &unknown).unwrap(),
            "coalesce(CAST(t.\"zip\" AS VARCHAR), '') NOT IN ('', '?', '-1')"
        );
        assert_eq!(known("zip", &DataType::Utf8, &[]), None);
    }
}
