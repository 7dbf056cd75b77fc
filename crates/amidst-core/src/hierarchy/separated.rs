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

/// The separator of `text`: the first that stands in every row, else the first that stands in any. Without one, the
/// rows have one field each.
pub(super) fn guess_separator(text: &str) -> char {
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
    let mut field = String::new();
    let mut line = 1;
    let mut quoted = false;
    let mut characters = text.chars().peekable();
    loop {
        let next = characters.next();
        match next {
            Some('"') if field.is_empty() && !quoted => {
                let opened = line;
                quoted = true;
                loop {
                    match characters.next() {
                        Some('"') if characters.next_if_eq(&'"').is_some() => field.push('"'),
                        Some('"') => break,
                        Some(c) => {
                            line += usize::from(c == '\n');
                            field.push(c);
                        }
                        None => {
                            let message = "a quoted label is never closed; add the missing `\"`".to_string();
                            defects.push(Defect { line: Some(opened), message });
                            break;
                        }
                    }
                }
            }
            Some('\r') if matches!(characters.peek(), None | Some('\n')) => {}
            Some('\n') | None => {
                let blank = row.fields.is_empty() && !quoted && field.trim().is_empty();
                row.fields.push(std::mem::take(&mut field));
                quoted = false;
                line += usize::from(next.is_some());
                let done = std::mem::replace(&mut row, Row { line, fields: Vec::new() });
                if !blank {
                    rows.push(done);
                }
                if next.is_none() {
                    return (rows, defects);
                }
            }
            Some(c) if c == separator => {
                row.fields.push(std::mem::take(&mut field));
                quoted = false;
            }
            Some(c) => field.push(c),
        }
    }
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
