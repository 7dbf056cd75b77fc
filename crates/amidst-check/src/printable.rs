//! Escapes text before a terminal, a page or a log shows it.
//!
//! Labels, column names, file names and certificates are untrusted input. An escape sequence could erase the line above
//! it and print another verdict, a line break could start a line that looks like the program's own output, and
//! direction marks or zero-width characters make one text look like another. All text that is shown to people goes
//! through [`printable`], which writes such characters as escapes and leaves all others unchanged.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a character has an effect beyond its own glyph: control characters, line and paragraph separators, direction
/// marks, zero-width characters, tags and noncharacters.
pub fn acts(c: char) -> bool {
    let code = u32::from(c);
    if code < 0x7f {
        return code < 0x20;
    }
    c.is_control()
        || matches!(code,
            0xad | 0x34f | 0x61c | 0x115f | 0x1160 | 0x17b4 | 0x17b5 | 0x180b..=0x180e | 0x200b..=0x200f
            | 0x2028..=0x202e | 0x2060..=0x206f | 0x3164 | 0xfdd0..=0xfdef | 0xfeff | 0xffa0 | 0xfff0..=0xfffb
            | 0x1d173..=0x1d17a | 0xe0000..=0xe0fff)
        || code & 0xfffe == 0xfffe
}

/// The text with every character for which [`acts`] is true written as an escape, line breaks and tabs included.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

/// As [`printable`], for a text of several lines: line feeds and tabs stay.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| matches!(c, '\n' | '\t'))
}

fn escaped(text: &str, stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    let Some(first) = text.find(|c| acts(c) && !stays(c)) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    for c in text[first..].chars() {
        match c {
            c if !acts(c) || stays(c) => out.push(c),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
        }
    }
    Cow::Owned(out)
}

/// JSON text with the characters for which [`acts`] is true written as JSON escapes. The value is the same; line
/// breaks, tabs and carriage returns, which stand between tokens, stay.
pub fn printable_json(json: &str) -> Cow<'_, str> {
    let harmful = |c: char| acts(c) && !matches!(c, '\n' | '\t' | '\r');
    let Some(first) = json.find(harmful) else { return Cow::Borrowed(json) };
    let mut out = String::with_capacity(json.len() + 16);
    out.push_str(&json[..first]);
    for c in json[first..].chars() {
        if harmful(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_escaped_and_the_rest_stays() {
        assert_eq!(printable("\u{1b}[2Kvalid"), "\\u{1b}[2Kvalid");
        assert_eq!(printable("a\nb\tc\r"), "a\\nb\\tc\\r");
        assert_eq!(printable_lines("a\nb\tc\r"), "a\nb\tc\\r");
        assert_eq!(printable("\u{9b}\u{202e}\u{200b}\u{feff}\u{2028}"), "\\u{9b}\\u{202e}\\u{200b}\\u{feff}\\u{2028}");
        for plain in ["", "Zürich", "[20-39]", "日本", "naïve – “quoted” \\u{1b}", "👩", "عربي"] {
            assert!(matches!(printable(plain), Cow::Borrowed(_)), "{plain}");
        }
        assert!((0..=0x10ffff).filter_map(char::from_u32).filter(|c| c.is_control()).all(acts));
    }

    #[test]
    fn json_stays_the_same_value() {
        let value = serde_json::json!({"a\u{9b}": ["\u{1b}[2K", "\u{202e}x\u{e0041}", "ü\n"]});
        let text = serde_json::to_string(&value).unwrap();
        let shown = printable_json(&text);
        assert!(!shown.chars().any(acts), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }
}
