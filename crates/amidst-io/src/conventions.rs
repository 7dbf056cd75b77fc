//! Properties of a table that its bytes do not state: text encoding, sheet, header, and the form of numbers and dates.
//!
//! By default nothing is stated: text is UTF-8 or according to its byte order mark, the first line is a header, a
//! workbook has one table, numbers have a decimal point, and dates stay texts.

use amidst_core::table::DateOrder;
use encoding_rs::Encoding;
use jiff::civil::Date;

/// What is stated about a table; see [`Default`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Conventions {
    /// The encoding of text. A byte order mark in the file takes precedence.
    pub encoding: Option<TextEncoding>,
    /// The sheet of a workbook; required where several have cells.
    pub sheet: Option<String>,
    /// How merged cells are read.
    pub merged: Merged,
    /// How cells of a sheet are read whose formula has no result.
    pub formulas: Formulas,
    /// Whether the first line is data; columns are then named `column1`, `column2`, …
    pub no_header: bool,
    /// Whether numbers have a decimal comma.
    pub decimal_comma: bool,
    /// How dates are written.
    pub date_format: Option<DateFormat>,
}

/// How the merged cells of a sheet are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Merged {
    /// They are an error: it is unknown whether the value is meant for all of them.
    #[default]
    Refuse,
    /// Each of them has the value.
    Fill,
    /// Only the first has the value, the others are empty.
    Empty,
}

/// How cells of a sheet are read whose formula failed or was never calculated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Formulas {
    /// They are an error: what they should hold is not in the file.
    #[default]
    Refuse,
    /// They are null.
    Unknown,
}

/// An encoding of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextEncoding(pub(crate) &'static Encoding);

/// Common names in addition to those of the Encoding Standard.
const ALIASES: &[(&str, &str)] =
    &[("latin-1", "windows-1252"), ("ansi", "windows-1252"), ("utf-16", "utf-16le"), ("macroman", "macintosh")];

impl TextEncoding {
    /// The encoding with this name, ignoring case; `None` when there is none.
    pub fn named(name: &str) -> Option<TextEncoding> {
        let name = name.trim().to_ascii_lowercase();
        let label = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name.as_str(), |(_, label)| label);
        Encoding::for_label_no_replacement(label.as_bytes()).map(TextEncoding)
    }

    /// Its name in lower case. Latin-1 has the name of its superset, `windows-1252`.
    pub fn name(self) -> String {
        self.0.name().to_ascii_lowercase()
    }

    /// The likely encoding of bytes that are not UTF-8. `whole` says whether the text ends with them.
    pub fn guess(bytes: &[u8], whole: bool) -> TextEncoding {
        if let Some((found, _)) = Encoding::for_bom(bytes).filter(|(found, _)| *found != encoding_rs::UTF_8) {
            return TextEncoding(found);
        }
        // Text of Latin letters in UTF-16 has a zero in every other byte.
        let zeros = |from: usize| bytes.iter().skip(from).step_by(2).filter(|b| **b == 0).count();
        let (even, odd) = (zeros(0), zeros(1));
        if (even + odd) * 3 > bytes.len() {
            return TextEncoding(if odd >= even { encoding_rs::UTF_16LE } else { encoding_rs::UTF_16BE });
        }
        let mut detector = chardetng::EncodingDetector::new(chardetng::Iso2022JpDetection::Deny);
        detector.feed(bytes, whole);
        TextEncoding(detector.guess(None, chardetng::Utf8Detection::Deny))
    }
}

/// How dates are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DateFormat {
    /// Day, month and year in a fixed order, with any separator.
    Order(DateOrder),
    /// A pattern such as `%d.%m.%Y`.
    Pattern(String),
}

impl DateFormat {
    /// Parses `d-m-y`, `m-d-y`, `y-m-d`, or a pattern with `%d`, `%m` and `%Y`.
    ///
    /// # Errors
    /// A message that says what is valid.
    pub fn parse(text: &str) -> Result<DateFormat, String> {
        if let Some((_, order)) = amidst_core::table::DATE_ORDERS.iter().find(|(name, _)| *name == text) {
            return Ok(DateFormat::Order(*order));
        }
        let names = "\"d-m-y\", \"m-d-y\", \"y-m-d\" or a pattern such as \"%d.%m.%Y\"";
        if !text.contains('%') {
            return Err(format!("it is {names}"));
        }
        let day = Date::constant(2001, 2, 3);
        let written = jiff::fmt::strtime::format(text, day).ok();
        let read = written.and_then(|written| Date::strptime(text, written).ok());
        if read != Some(day) {
            return Err(format!("the pattern does not tell a day, a month and a year; it is {names}"));
        }
        Ok(DateFormat::Pattern(text.to_string()))
    }

    /// The text that [`DateFormat::parse`] reads back.
    pub fn text(&self) -> &str {
        match self {
            DateFormat::Order(order) => order.name(),
            DateFormat::Pattern(pattern) => pattern,
        }
    }

    /// A date in this form as year-month-day; `None` for other texts.
    pub fn iso(&self, value: &str) -> Option<String> {
        match self {
            DateFormat::Order(order) => order.iso(value),
            DateFormat::Pattern(pattern) => {
                let date = Date::strptime(pattern, value.trim()).ok()?;
                (1000..=2999).contains(&date.year()).then(|| date.to_string())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_have_the_names_that_people_use() {
        for (name, found) in [
            ("Latin-1", "windows-1252"),
            ("ISO-8859-1", "windows-1252"),
            ("cp1252", "windows-1252"),
            ("utf-16", "utf-16le"),
            ("utf8", "utf-8"),
            ("shift_jis", "shift_jis"),
        ] {
            assert_eq!(TextEncoding::named(name).map(TextEncoding::name).as_deref(), Some(found), "{name}");
        }
        assert_eq!(TextEncoding::named("utf-7"), None);
        assert_eq!(TextEncoding::named("klingon"), None);
    }

    #[test]
    fn encodings_are_guessed_from_bytes() {
        let utf16: Vec<u8> = "name;age\nAnn;3\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(TextEncoding::guess(&utf16, true).name(), "utf-16le");
        let latin = "name;ville\nRené;Orléans\nZoé;Besançon\n".chars().map(|c| c as u8).collect::<Vec<u8>>();
        assert_eq!(TextEncoding::guess(&latin, true).name(), "windows-1252");
    }

    #[test]
    fn dates_are_read_as_stated() {
        let format = |text| DateFormat::parse(text).unwrap();
        assert_eq!(format("d-m-y").iso("5.3.2024").as_deref(), Some("2024-03-05"));
        assert_eq!(format("m-d-y").iso("03/05/2024").as_deref(), Some("2024-03-05"));
        assert_eq!(format("%d.%m.%Y").iso("05.03.2024").as_deref(), Some("2024-03-05"));
        assert_eq!(format("%Y%m%d").iso("20240305").as_deref(), Some("2024-03-05"));
        for wrong in ["31.02.2024", "3.2024", "05.03.2024 10:00", "7", ""] {
            assert_eq!(format("d-m-y").iso(wrong), None, "{wrong}");
        }
        for bad in ["dmy", "%H:%M", "%", "%Y-%m", "%q"] {
            assert!(DateFormat::parse(bad).is_err(), "{bad}");
        }
        assert_eq!(format("%d.%m.%Y").text(), "%d.%m.%Y");
    }
}
