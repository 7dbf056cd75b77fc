//! Parts of statements.

use datafusion::arrow::datatypes::{DataType, Field};

/// A name of a column or table.
pub fn name(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// A string.
pub fn text(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}

/// That a cell is known: that it is not null, where it can be, and that its text is none of the tokens that stand for
/// unknown ones. None when every cell is.
///
/// Numbers are compared as numbers, because they have one form only; others by the text of what is `kept` of the cell.
pub fn known(field: &Field, kept: &str, unknown: &[String]) -> Option<String> {
    let cell = format!("t.{}", name(field.name()));
    let present = field.is_nullable().then(|| format!("{cell} IS NOT NULL"));
    let tokens = || unknown.iter().filter(|token| !token.is_empty());
    let listed: Vec<String> = match field.data_type() {
        kind if kind.is_integer() => {
            tokens().filter(|t| t.parse::<i64>().is_ok_and(|n| n.to_string() == **t)).cloned().collect()
        }
        kind if kind.is_floating() => {
            let number = |t: &&String| t.parse::<f64>().is_ok_and(|n| n.is_finite() && n.to_string() == **t);
            tokens().filter(number).map(|t| format!("CAST({} AS DOUBLE)", text(t))).collect()
        }
        DataType::Boolean => tokens().filter(|t| matches!(t.as_str(), "true" | "false")).cloned().collect(),
        _ => unknown.iter().map(|t| text(t)).collect(),
    };
    let compared = match field.data_type() {
        kind if kind.is_integer() || *kind == DataType::Boolean => cell,
        kind if kind.is_floating() => kept.to_string(),
        _ => format!("CAST({kept} AS VARCHAR)"),
    };
    let listed = (!listed.is_empty()).then(|| format!("{compared} NOT IN ({})", listed.join(", ")));
    let both: Vec<String> = present.into_iter().chain(listed).collect();
    (!both.is_empty()).then(|| both.join(" AND "))
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
    fn unknown_cells_are_null_or_compared_in_their_own_type() {
        let unknown = ["".to_string(), "?".to_string(), "-1".to_string()];
        let age = |nullable: bool| Field::new("age", DataType::Int32, nullable);
        assert_eq!(
            known(&age(true), "t.\"age\"", &unknown).unwrap(),
            "t.\"age\" IS NOT NULL AND t.\"age\" NOT IN (-1)"
        );
        assert_eq!(known(&age(true), "t.\"age\"", &["?".to_string()]).unwrap(), "t.\"age\" IS NOT NULL");
        assert_eq!(known(&age(false), "t.\"age\"", &["?".to_string()]), None);
        let zip = |nullable: bool| Field::new("zip", DataType::Utf8, nullable);
        assert_eq!(
            known(&zip(false), "t.\"zip\"", &unknown).unwrap(),
            "CAST(t.\"zip\" AS VARCHAR) NOT IN ('', '?', '-1')"
        );
        assert_eq!(known(&zip(true), "t.\"zip\"", &[]).unwrap(), "t.\"zip\" IS NOT NULL");
        assert_eq!(known(&zip(false), "t.\"zip\"", &[]), None);
    }
}
