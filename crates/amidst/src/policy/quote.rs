//! Keys and texts as TOML writes them.

use std::fmt::Write;

use amidst_check::acts;

/// A key, in quotes where TOML needs them.
pub(crate) fn key(name: &str) -> String {
    let bare = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    if bare { name.to_string() } else { text(name) }
}

/// A text in quotes.
pub(crate) fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // What acts on a terminal or hides from the eye is written so that it is seen.
            c if acts(c) && u32::from(c) > 0xffff => {
                let _ = write!(out, "\\U{:08X}", u32::from(c));
            }
            c if acts(c) => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
