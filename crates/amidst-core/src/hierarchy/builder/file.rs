//! `file`: a hierarchy written out, one line per leaf value, one column per level, no header (the layout of ARX).
//!
//! The separator is guessed among `;`, tab and `,` when it is not stated. Quotes, a BOM, CRLF and blank lines are
//! understood, a trailing separator on every line too. Labels are taken as they stand, blanks included. A line that
//! stands twice, word for word, counts once. `*` is added when the last column has more than one label.

use super::Builder;
use crate::hierarchy::separated::{Row, guess_separator, parse};
use crate::hierarchy::{Defect, Hierarchy, HierarchyError, Level, Recipe};
use crate::parameter::Value;
use crate::table::{Column, Dictionary};

pub(super) const BUILDER: Builder = Builder {
    id: "file",
    definition: "A file with one line per value and one column per level, the value itself first, without a header. The \
                 separator is guessed when it is not stated.",
    example: "{ file = \"zip.csv\", separator = \";\" }",
    options: &["separator"],
    categorical: false,
    by_value: false,
    reads_file: true,
    build,
};

fn build(recipe: &Recipe<'_>, _column: &Column) -> Result<Hierarchy, HierarchyError> {
    let Some(Value::Text(name)) = recipe.get("file") else {
        return Err(HierarchyError::new("file", "`file` must be the name of a file, such as \"zip.csv\""));
    };
    let separator = separator(recipe)?;
    let text = (recipe.read)(name).map_err(|why| {
        let message = format!("cannot read the hierarchy: {why}");
        HierarchyError { file: Some(name.clone()), ..HierarchyError::new("file", message) }
    })?;
    let mut hierarchy = read(&text, separator).map_err(|defects| HierarchyError::in_file("file", name, defects))?;
    hierarchy.close();
    Ok(hierarchy)
}

fn separator(recipe: &Recipe<'_>) -> Result<Option<char>, HierarchyError> {
    let Some(value) = recipe.get("separator") else { return Ok(None) };
    let text = value.text().unwrap_or_default();
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (Some(c), None) if !matches!(c, '"' | '\n' | '\r') => Ok(Some(c)),
        _ => Err(HierarchyError::new("separator", "`separator` must be one character, such as \";\"")),
    }
}

/// Whether `hierarchy`, made by this recipe, got its level `*` because the file has no single top.
pub(super) fn top_was_added(recipe: &Recipe<'_>, hierarchy: &Hierarchy) -> bool {
    let Some(Value::Text(name)) = recipe.get("file") else { return false };
    let (Ok(text), Ok(separator)) = ((recipe.read)(name), separator(recipe)) else { return false };
    read(&text, separator).is_ok_and(|as_written| as_written.height() < hierarchy.height())
}

/// A label in a message: long ones are cut.
fn quote(label: &str) -> String {
    match label.char_indices().nth(40) {
        Some((end, _)) => format!("`{}…`", &label[..end]),
        None => format!("`{label}`"),
    }
}

/// The hierarchy as written, or all that is wrong with it, by line.
fn read(text: &str, separator: Option<char>) -> Result<Hierarchy, Vec<Defect>> {
    let separator = separator.unwrap_or_else(|| guess_separator(text));
    let (mut rows, mut defects) = parse(text, separator);
    if rows.is_empty() {
        let message = "the file is empty; write one line per value, such as `17;10-19;*`".to_string();
        return Err(vec![Defect { line: None, message }]);
    }
    if rows.iter().all(|row| row.fields.len() > 1 && row.fields.last().is_some_and(String::is_empty)) {
        rows.iter_mut().for_each(|row| drop(row.fields.pop()));
    }
    let columns = usual_columns(&rows);
    // Rows of another length cannot be compared with the others.
    rows.retain(|row| {
        let fits = row.fields.len() == columns.0;
        if !fits {
            let n = row.fields.len();
            let message = format!(
                "{n} column{}, but line {} has {}; every line needs all levels",
                if n == 1 { "" } else { "s" },
                columns.1,
                columns.0
            );
            defects.push(Defect { line: Some(row.line), message });
        }
        fits
    });
    let hierarchy = assemble(&rows, columns.0, &mut defects);
    if defects.is_empty() {
        return Ok(hierarchy);
    }
    defects.sort_by_key(|d| d.line);
    Err(defects)
}

/// The number of columns that most rows have (the first such, on a tie), and the first line that has it.
fn usual_columns(rows: &[Row]) -> (usize, usize) {
    let mut seen: Vec<(usize, usize, usize)> = Vec::new();
    for row in rows {
        match seen.iter_mut().find(|(columns, _, _)| *columns == row.fields.len()) {
            Some((_, _, count)) => *count += 1,
            None => seen.push((row.fields.len(), row.line, 1)),
        }
    }
    let most = seen.iter().map(|(_, _, count)| *count).max().unwrap_or(0);
    seen.iter().find(|(_, _, count)| *count == most).map_or((0, 0), |(columns, line, _)| (*columns, *line))
}

/// Makes the tree of even rows, and tells where they contradict each other.
fn assemble<'r>(rows: &'r [Row], columns: usize, defects: &mut Vec<Defect>) -> Hierarchy {
    let mut leaves = Dictionary::default();
    let mut first_rows: Vec<&'r Row> = Vec::new();
    for row in rows {
        let Some(value) = row.fields.first() else { continue };
        let code = leaves.intern(value) as usize;
        match first_rows.get(code) {
            None => first_rows.push(row),
            Some(first) if first.fields == row.fields => {}
            Some(first) => {
                let message = format!(
                    "{} stands already on line {}, with other labels; keep one of the two lines",
                    quote(value),
                    first.line
                );
                defects.push(Defect { line: Some(row.line), message });
            }
        }
    }
    let mut levels: Vec<Level> = Vec::new();
    for column in 1..columns {
        let label_of = |row: &'r Row| row.fields.get(column).map_or("", String::as_str);
        let mut labels = Dictionary::default();
        let mut of_leaf = Vec::with_capacity(first_rows.len());
        // The parent of each label of the level below, and the line that said so first.
        let mut parents: Vec<Option<(u32, usize)>> = vec![None; levels.last().map_or(0, |below| below.labels.len())];
        for (leaf, row) in first_rows.iter().enumerate() {
            let label = label_of(row);
            if label.is_empty() {
                let message = format!("the label of level {column} is empty; name the group, or write `*`");
                defects.push(Defect { line: Some(row.line), message });
            }
            let group = labels.intern(label);
            of_leaf.push(group);
            let Some(below) = levels.last() else { continue };
            let child = below.of_leaf[leaf];
            let (parent, line) = *parents[child as usize].get_or_insert((group, row.line));
            if parent != group {
                let message = format!(
                    "{} of level {} belongs to {} here, but to {} on line {line}; a label has one parent",
                    quote(&below.labels[child as usize]),
                    column - 1,
                    quote(label),
                    quote(labels.value(parent)),
                );
                defects.push(Defect { line: Some(row.line), message });
            }
        }
        levels.push(Level { labels: labels.iter().map(String::from).collect(), of_leaf });
    }
    Hierarchy { leaves, levels }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::tests::{t, table};
    use crate::hierarchy::{build, remarks};

    fn from_text(text: &str) -> Result<(Hierarchy, Vec<Defect>), HierarchyError> {
        let table = table([("file", t("h.csv"))]);
        let recipe = Recipe { table: &table, read: &|_| Ok(text.to_string()), missing: &[] };
        let hierarchy = build(&recipe, &Column::new("x"))?;
        let remarks = remarks(&recipe, &hierarchy);
        Ok((hierarchy, remarks))
    }

    #[test]
    fn the_usual_file() {
        let (h, remarks) =
            from_text("\u{feff}17;10-19;all\r\n\r\n18;10-19;all\r\n17;10-19;all\r\n20;20-29;all\r\n").unwrap();
        assert_eq!((h.height(), h.leaves.len(), h.width(1)), (2, 3, 2));
        assert_eq!(h.paths().last().unwrap(), ("20", vec!["20-29", "all"]));
        assert!(remarks.is_empty());
    }

    #[test]
    fn a_missing_top_is_added_and_remarked() {
        let (h, remarks) = from_text("a,x,\nb,y,\nc,y,").unwrap();
        assert_eq!(h.paths().next().unwrap(), ("a", vec!["x", "*"]));
        assert_eq!(remarks.len(), 1);
        let (h, remarks) = from_text("a,x,u\nb,y,v\nc,y,v").unwrap();
        assert_eq!(h.height(), 3);
        assert!(remarks[0].message.contains("level 2 is not coarser"));
        assert_eq!(from_text("a\nb\n").unwrap().0.height(), 1);
    }

    #[test]
    fn contradictions_are_told_by_line() {
        let error = from_text("a;x;*\nb;x;y;*\nc;x;+\na;z;*\nd;;*\n").unwrap_err();
        assert_eq!((error.file.as_deref(), error.line, error.key.as_str()), (Some("h.csv"), Some(2), "file"));
        assert_eq!(error.message, "4 columns, but line 1 has 3; every line needs all levels");
        let others: Vec<String> = error.others.iter().map(Defect::to_string).collect();
        assert_eq!(
            others,
            [
                "line 3: `x` of level 1 belongs to `+` here, but to `*` on line 1; a label has one parent",
                "line 4: `a` stands already on line 1, with other labels; keep one of the two lines",
                "line 5: the label of level 1 is empty; name the group, or write `*`",
            ]
        );
        assert!(error.to_string().ends_with("(and 3 more defects)"));
    }

    #[test]
    fn many_defects_are_counted() {
        let text: String = (0..30).map(|i| format!("a{i};x;y{i}\n")).collect();
        let error = from_text(&text).unwrap_err();
        assert_eq!((error.others.len(), error.untold), (9, 19));
    }

    #[test]
    fn what_is_no_hierarchy() {
        assert!(from_text(" \r\n\n").unwrap_err().message.contains("empty"));
        assert_eq!(from_text("a;\"x;*\n").unwrap_err().line, Some(1));
        let table = table([("file", t("none.csv"))]);
        let recipe = Recipe { table: &table, read: &|_| Err("no such file".into()), missing: &[] };
        let error = build(&recipe, &Column::new("x")).unwrap_err();
        assert_eq!(error.to_string(), "none.csv: cannot read the hierarchy: no such file");
    }
}
