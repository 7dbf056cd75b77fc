//! Converts cells of a sheet to text.

use calamine::{Data, DataRef, ExcelDateTime};

use crate::columnar::float64;

/// The name of a cell: B3 for row 2, column 1.
pub(super) fn name(row: u32, column: u32) -> String {
    let mut letters = Vec::new();
    let mut rest = u64::from(column) + 1;
    while rest > 0 {
        letters.push(char::from(b'A' + ((rest - 1) % 26) as u8));
        rest = (rest - 1) / 26;
    }
    format!("{}{}", letters.iter().rev().collect::<String>(), u64::from(row) + 1)
}

/// What a cell of a sheet holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Held {
    Nothing,
    Text(String),
    /// An error, such as #N/A.
    Failed(String),
    /// A formula without a result.
    NotCalculated,
}

/// What a cell of an Excel sheet holds, with or without a formula.
pub(super) fn held(cell: &DataRef<'_>, formula: bool) -> Held {
    match (cell, of_excel(cell)) {
        (DataRef::Error(error), _) => Held::Failed(error.to_string()),
        // A formula whose result is an empty text has one.
        (DataRef::Empty, _) if formula => Held::NotCalculated,
        (_, Some(text)) => Held::Text(text),
        (_, None) => Held::Nothing,
    }
}

/// Whether a text is one that spreadsheet programs show where a formula failed.
pub(super) fn is_error(text: &str) -> bool {
    let numbered = |prefix: &str| {
        text.strip_prefix(prefix).is_some_and(|n| (1..=4).contains(&n.len()) && n.bytes().all(|b| b.is_ascii_digit()))
    };
    matches!(
        text,
        "#N/A" | "#DIV/0!" | "#VALUE!" | "#REF!" | "#NAME?" | "#NUM!" | "#NULL!" | "#GETTING_DATA" | "#SPILL!"
    ) || numbered("Err:")
}

/// The text of a cell of an Excel sheet; `None` when it is empty.
fn of_excel(cell: &DataRef<'_>) -> Option<String> {
    match cell {
        DataRef::Empty => None,
        DataRef::Int(n) => Some(n.to_string()),
        DataRef::Float(x) => Some(float64(*x)),
        DataRef::String(text) => Some(text.clone()).filter(|t| !t.is_empty()),
        DataRef::SharedString(text) => Some(text.to_string()).filter(|t| !t.is_empty()),
        DataRef::Bool(truth) => Some(truth.to_string()),
        DataRef::DateTime(time) => Some(of_time(time)),
        DataRef::DateTimeIso(text) => Some(of_iso(text)),
        DataRef::DurationIso(text) => Some(of_duration(text)),
        DataRef::Error(error) => Some(error.to_string()),
    }
}

/// The text of a cell of an OpenDocument sheet; `None` when it is empty.
pub(super) fn of_opendocument(cell: &Data) -> Option<String> {
    match cell {
        Data::Empty => None,
        Data::Int(n) => Some(n.to_string()),
        Data::Float(x) => Some(float64(*x)),
        Data::String(text) => Some(text.clone()).filter(|t| !t.is_empty()),
        Data::Bool(truth) => Some(truth.to_string()),
        Data::DateTime(time) => Some(of_time(time)),
        Data::DateTimeIso(text) => Some(of_iso(text)),
        Data::DurationIso(text) => Some(of_duration(text)),
        Data::Error(error) => Some(error.to_string()),
    }
}

/// A date as year-month-day, with the time of day if it has one; or a time of day alone.
fn of_time(time: &ExcelDateTime) -> String {
    let (year, month, day, hour, minute, second, _) = time.to_ymd_hms_milli();
    if time.is_duration() {
        return crate::binary::clock((time.as_f64() * 86_400.0).round().max(0.0) as u64);
    }
    let clock = format!("{hour:02}:{minute:02}:{second:02}");
    let date = format!("{year:04}-{month:02}-{day:02}");
    match (time.as_f64() < 1.0, clock == "00:00:00") {
        (true, _) => clock,
        (false, true) => date,
        (false, false) => format!("{date} {clock}"),
    }
}

fn of_iso(text: &str) -> String {
    match text.split_once('T') {
        Some((day, "00:00:00" | "00:00:00.000" | "00:00:00Z")) => day.to_string(),
        Some((day, time)) => format!("{day} {time}"),
        None => text.to_string(),
    }
}

/// PT10H30M00S as 10:30:00; other texts unchanged.
fn of_duration(text: &str) -> String {
    let parts = || -> Option<u64> {
        let (hours, rest) = text.strip_prefix("PT")?.split_once('H')?;
        let (minutes, rest) = rest.split_once('M')?;
        let seconds = rest.strip_suffix('S')?.split('.').next()?;
        let number = |part: &str| part.parse::<u64>().ok().filter(|n| *n < 1_000_000);
        Some(number(hours)? * 3600 + number(minutes)? * 60 + number(seconds)?)
    };
    parts().map_or_else(|| text.to_string(), crate::binary::clock)
}

#[cfg(test)]
mod tests {
    use super::*;
    use calamine::ExcelDateTimeType;

    #[test]
    fn cells_have_the_names_that_people_see() {
        assert_eq!((name(0, 0), name(2, 25), name(9, 26)), ("A1".into(), "Z3".into(), "AA10".into()));
        assert_eq!(name(1_048_575, 16_383), "XFD1048576");
        assert!(!name(u32::MAX, u32::MAX).is_empty());
    }

    #[test]
    fn dates_and_numbers_round_trip() {
        let time = |days| of_time(&ExcelDateTime::new(days, ExcelDateTimeType::DateTime, false));
        assert_eq!(
            (time(45_356.0), time(45_356.5), time(0.25)),
            ("2024-03-05".into(), "2024-03-05 12:00:00".into(), "06:00:00".into())
        );
        assert_eq!(of_iso("2024-03-05T00:00:00"), "2024-03-05");
        assert_eq!((of_duration("PT10H30M00S"), of_duration("P1D")), ("10:30:00".into(), "P1D".into()));
        assert_eq!(of_excel(&DataRef::Float(34.0)).as_deref(), Some("34"));
        assert_eq!(of_excel(&DataRef::Float(0.1)).as_deref(), Some("0.1"));
        assert_eq!(of_excel(&DataRef::String(String::new())), None);
    }

    #[test]
    fn formulas_without_a_result_are_told_from_empty_texts() {
        assert_eq!(held(&DataRef::Empty, true), Held::NotCalculated);
        assert_eq!(held(&DataRef::Empty, false), Held::Nothing);
        assert_eq!(held(&DataRef::String(String::new()), true), Held::Nothing);
        assert_eq!(held(&DataRef::Float(2.0), true), Held::Text("2".into()));
        assert_eq!(held(&DataRef::Error(calamine::CellErrorType::NA), true), Held::Failed("#N/A".into()));
        assert!(is_error("Err:502") && is_error("#DIV/0!") && !is_error("Err:") && !is_error("#12") && !is_error("NA"));
    }
}
