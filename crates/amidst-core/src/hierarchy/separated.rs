//! Rows of separated text: quotes, BOM, CRLF and blank lines understood, line numbers kept.

use super::Defect;

/// One row of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    /// The line it starts on, from 1.
    pub line: usize,
    /// Its fields, without their quotes.
    pub fields: Vec<String>,
}

/// Separators that are guessed, the likelier first.
const GUESSED: [char; 3] = [';', '\t', ','];

/// A separator is guessed from this much of a file: enough to know it, quick on a large one.
const LOOKED_AT: usize = 1 << 16;

/// The separator of `text`: the first that stands in every row, else the first that stands in any. Without one, the
/// rows have one field each.
pub(super) fn guess_separator(text: &str) -> char {
    let text = match text.as_bytes().iter().take(LOOKED_AT).rposition(|&b| b == b'\n') {
        Some(end) if text.len() > LOOKED_AT => &text[..end],
        _ => text,
    };
    let counts: Vec<(usize, usize)> = GUESSED
        .iter()
        .map(|&separator| {
            let rows = parse(text, separator).0;
            let split = rows.iter().filter(|row| row.fields.len() > 1).count();
            (split, rows.len())
        })
        .collect();
    let every = counts.iter().position(|(split, rows)| *rows > 0 && split == rows);
    let any = counts.iter().position(|(split, _)| *split > 0);
    every.or(any).map_or(GUESSED[0], |i| GUESSED[i])
}

/// The rows of `text`, without blank ones, and what is wrong with its quotes. A quoted field may hold separators, line
/// ends and doubled quotes; a quote inside an unquoted field is a character like any other.
pub(super) fn parse(text: &str, separator: char) -> (Vec<Row>, Vec<Defect>) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (mut rows, mut defects) = (Vec::new(), Vec::new());
    let mut row = Row { line: 1, fields: Vec::new() };
    let (mut line, mut rest) = (1, text);
    let mut columns = 0;
    loop {
        let (mut field, quoted) = match rest.strip_prefix('"') {
            None => (String::new(), false),
            Some(inside) => {
                let (field, after) = unquote(inside);
                let after = after.unwrap_or_else(|| {
                    let message = "a quoted label is never closed; add the missing `\"`".to_string();
                    defects.push(Defect { line: Some(line), message });
                    ""
                });
                rest = after;
                line += field.matches('\n').count();
                (field, true)
            }
        };
        let end = rest.find([separator, '\n']).unwrap_or(rest.len());
        let (plain, after) = rest.split_at(end);
        let more = after.chars().next().filter(|&c| c == separator);
        // The line ends here: a carriage return before it is part of the line end.
        field.push_str(if more.is_none() { plain.strip_suffix('\r').unwrap_or(plain) } else { plain });
        let blank = row.fields.is_empty() && !quoted && field.trim().is_empty();
        row.fields.push(field);
        if let Some(separator) = more {
            rest = &after[separator.len_utf8()..];
            continue;
        }
        line += 1;
        columns = row.fields.len().max(columns);
        let done = std::mem::replace(&mut row, Row { line, fields: Vec::with_capacity(columns) });
        if !blank {
            rows.push(done);
        }
        match after.strip_prefix('\n') {
            Some(next) => rest = next,
            None => return (rows, defects),
        }
    }
}

/// What stands before the closing quote, doubled quotes undone, and what follows it; nothing follows when it is not
/// closed.
fn unquote(inside: &str) -> (String, Option<&str>) {
    let mut field = String::new();
    let mut rest = inside;
    while let Some((before, after)) = rest.split_once('"') {
        field.push_str(before);
        match after.strip_prefix('"') {
            Some(more) => {
                field.push('"');
                rest = more;
            }
            None => return (field, Some(after)),
        }
    }
    field.push_str(rest);
    (field, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str, separator: char) -> Vec<(usize, Vec<String>)> {
        let (rows, defects) = parse(text, separator);
        assert!(defects.is_empty());
        rows.into_iter().map(|r| (r.line, r.fields)).collect()
    }

    #[test]
    fn lines_are_counted_through_blanks_and_quotes() {
        let text = "\u{feff}a;b\r\n\r\n\"x;\"\"y\n\";\"\"\r\nlast;z";
        let expected = [(1, ["a", "b"]), (3, ["x;\"y\n", ""]), (5, ["last", "z"])];
        assert_eq!(rows(text, ';'), expected.map(|(l, f)| (l, f.map(String::from).to_vec())));
    }

    #[test]
    fn an_open_quote_is_told_at_its_line() {
        assert_eq!(parse("a;b\n\"c;d\n", ';').1[0].line, Some(2));
    }

    #[test]
    fn separators_are_guessed() {
        assert_eq!(guess_separator("17;15-19, young;*\n18;x;*\n"), ';');
        assert_eq!(guess_separator("a,b\n\"c;d\",e\n"), ',');
        assert_eq!(guess_separator("a;x,b\nc,d\n"), ',');
        assert_eq!(guess_separator("a\tb,c\nd\te\n"), '\t');
        assert_eq!(guess_separator("a\nb\n"), ';');
    }
}
