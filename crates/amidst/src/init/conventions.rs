//! What a table does not say by itself, guessed: encoding, sheet, merged cells, header, decimal commas, dates.
//!
//! A table that cannot be read without it is read again with a guess ([`Guessed::read`]); what could be read either way
//! is told from the values ([`Guessed::look`]). Every guess becomes a line of the draft with its reason.

use amidst_core::table::{Column, DATE_ORDERS, DateOrder, Table, ValueType};
use amidst_io::{Conventions, DateFormat, Formulas, Input, Merged, ReadError, ReadOptions, TextEncoding};

use crate::policy::Data;
use crate::policy::quote::text;
use crate::prepare::{PrepareError, is_value, is_year};
use crate::words::count;

/// Bytes by which an encoding is guessed.
const BYTES: u64 = 16 << 20;

/// Conventions, and why each of them was guessed.
#[derive(Debug, Default)]
pub(super) struct Guessed {
    pub conventions: Conventions,
    /// What separates the fields of a CSV file, where it is stated.
    separator: Option<u8>,
    /// Whether a policy states all of it, so that nothing is guessed.
    stated: bool,
    /// Lines of a policy with their reasons.
    pub lines: Vec<(String, String)>,
}

/// What must be stated for `source` to be readable at all.
///
/// # Errors
/// When it is not readable whatever is stated.
pub fn needed(source: &str) -> Result<Conventions, PrepareError> {
    let mut guessed = Guessed::default();
    guessed.read(source, &ReadOptions { max_rows: Some(super::SAMPLE), ..ReadOptions::default() })?;
    Ok(guessed.conventions)
}

impl From<&Data> for Guessed {
    fn from(stated: &Data) -> Self {
        let separator = stated.separator.and_then(|c| u8::try_from(c).ok());
        Guessed { conventions: stated.conventions.clone(), separator, stated: true, lines: Vec::new() }
    }
}

impl Guessed {
    /// Reads a table, again with a guess where it cannot be read without.
    pub fn read(&mut self, source: &str, options: &ReadOptions<'_>) -> Result<Input, ReadError> {
        loop {
            let (conventions, separator) = (Some(&self.conventions), self.separator);
            let read = amidst_io::read(source, &ReadOptions { conventions, separator, ..*options });
            // A stream is read only once.
            let error = match read {
                Err(error) if source != "-" && !self.stated => error,
                read => return read,
            };
            if !self.guess_against(source, &error, options) {
                return Err(error);
            }
        }
    }

    /// Whether a guess may help against an error.
    fn guess_against(&mut self, source: &str, error: &ReadError, options: &ReadOptions<'_>) -> bool {
        let told = &self.conventions;
        match error {
            ReadError::NotUtf8 { .. } | ReadError::Nul { .. } if told.encoding.is_none() => {
                let Ok(Some((bytes, whole))) = amidst_io::first_bytes(source, BYTES) else { return false };
                if is_mostly_utf8(&bytes) {
                    // Any other encoding would spoil what is right; the error tells where the rest begins.
                    return false;
                }
                let encoding = TextEncoding::guess(&bytes, whole);
                self.conventions.encoding = Some(encoding);
                self.say("encoding", &text(&encoding.name()), "not UTF-8: a guess; look whether names are readable");
                true
            }
            ReadError::SeveralSheets { sheets, .. } if told.sheet.is_none() => {
                let rows = |name: &String| {
                    let one = Conventions { sheet: Some(name.clone()), merged: Merged::Fill, ..told.clone() };
                    let options = ReadOptions { conventions: Some(&one), ..*options };
                    amidst_io::read(source, &options).map_or(0, |input| input.table.rows)
                };
                let Some(largest) = sheets.iter().max_by_key(|name| rows(name)).cloned() else { return false };
                let others = sheets.len() - 1;
                self.say(
                    "sheet",
                    &text(&largest),
                    &format!(
                        "the one with the most rows; {} something",
                        count(others as u64, "more holds", "more hold")
                    ),
                );
                self.conventions.sheet = Some(largest);
                true
            }
            ReadError::MergedCells { cells, .. } if told.merged == Merged::Refuse => {
                self.say("merged", "\"fill\"", &format!("cells are merged ({cells}): each of them has the value"));
                self.conventions.merged = Merged::Fill;
                true
            }
            // What was never calculated can be had by saving the file again; an error stays one.
            ReadError::NoResult { cell, error: Some(error), .. } if told.formulas == Formulas::Refuse => {
                self.say("formulas", "\"unknown\"", &format!("errors are unknown, as in cell {cell} ({error})"));
                self.conventions.formulas = Formulas::Unknown;
                true
            }
            ReadError::DuplicateColumn { .. } | ReadError::EmptyColumnName { .. } if !told.no_header => {
                let none = Conventions { no_header: true, ..told.clone() };
                let read = amidst_io::read(source, &ReadOptions { conventions: Some(&none), keep: None, ..*options });
                let Ok(input) = read else { return false };
                let first: Vec<String> = input.table.columns.iter().map(|c| c.value(0).to_string()).collect();
                is_data(&first, &input.table) && self.no_header()
            }
            _ => false,
        }
    }

    fn say(&mut self, key: &str, value: &str, why: &str) {
        self.lines.push((format!("{key} = {value}"), why.to_string()));
    }

    fn no_header(&mut self) -> bool {
        self.conventions.no_header = true;
        self.say("header", "false", "the first line holds values; columns are numbered");
        true
    }

    /// Whether the header of a table that was read is its first row.
    pub fn finds_no_header(&mut self, input: &Input) -> bool {
        !self.stated && !self.conventions.no_header && is_data(&input.header, &input.table) && self.no_header()
    }

    /// Looks at the values of a table.
    pub fn look(&mut self, table: &Table, missing: &[String]) {
        if self.stated {
            return;
        }
        if let Some(column) = table.columns.iter().find(|c| has_decimal_commas(c, missing)) {
            self.conventions.decimal_comma = true;
            let why = format!("`{}` has decimal commas", super::names::clean(&column.name));
            self.say("decimal", "\",\"", &why);
        }
        if let Some((order, sure)) = order_of_dates(table, missing) {
            self.conventions.date_format = Some(DateFormat::Order(order));
            let why = match sure {
                true => "as dates are written; other ways: a pattern such as \"%d.%m.%Y\"",
                false => "nothing tells days from months; \"m-d-y\" if the month comes first",
            };
            self.say("date_format", &text(order.name()), why);
        }
    }
}

/// Whether far more letters are UTF-8 than are not: texts of two encodings, put together.
fn is_mostly_utf8(bytes: &[u8]) -> bool {
    let (mut right, mut wrong) = (0usize, 0usize);
    for chunk in bytes.utf8_chunks() {
        right += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        wrong += usize::from(!chunk.invalid().is_empty());
    }
    right > 4 * wrong
}

/// Whether texts where a header should be look like the values below them. Numbers are no names, but for years and for
/// columns that are counted.
fn is_data(first: &[String], table: &Table) -> bool {
    let counted = |from: usize| first.iter().enumerate().all(|(i, name)| *name == (i + from).to_string());
    if first.is_empty() || counted(0) || counted(1) {
        return false;
    }
    let alike = |name: &String, column: &Column| {
        let mut below = column.dictionary.iter().filter(|v| v.bytes().any(|b| b.is_ascii_digit())).peekable();
        let years = is_year(name);
        is_value(name) && below.peek().is_some() && below.all(|v| is_value(v) && (!years || is_year(v)))
    };
    let hits = (first.iter().zip(&table.columns)).filter(|(name, column)| alike(name, column)).count();
    hits > 0 && hits * 3 >= first.len()
}

fn known<'a>(column: &'a Column, missing: &'a [String]) -> impl Iterator<Item = &'a str> {
    column.dictionary.iter().filter(move |v| !missing.iter().any(|m| m == v))
}

/// Whether all values are numbers with a decimal comma. `1,234` may be a thousand, so some value must be none.
fn has_decimal_commas(column: &Column, missing: &[String]) -> bool {
    let thousands = |v: &str| {
        let (whole, rest) = v.split_once(',').unwrap_or((v, ""));
        rest.len() == 3 && !whole.trim_start_matches(['-', '+']).starts_with('0')
    };
    let mut sure = false;
    for value in known(column, missing) {
        if amidst_io::with_point(value).is_none() {
            return false;
        }
        sure |= value.contains(',') && !thousands(value.trim());
    }
    sure
}

/// The order in which all dates of a table are written that are not written year first, and whether the values tell it.
/// Some dates of a column may be written year first as well, if most are not.
fn order_of_dates(table: &Table, missing: &[String]) -> Option<(DateOrder, bool)> {
    let mut orders: Vec<DateOrder> = DATE_ORDERS.iter().map(|(_, order)| *order).collect();
    orders.retain(|order| *order != DateOrder::YearMonthDay);
    let mut any = false;
    for column in table.columns.iter().filter(|c| c.kind == ValueType::Text) {
        let all = known(column, missing).count();
        let local: Vec<&str> = known(column, missing).filter(|v| !ValueType::Date.accepts(v)).collect();
        // Fewer than half of the values would not be converted.
        if local.is_empty() || local.len() * 2 < all {
            continue;
        }
        let written = |order: &DateOrder| local.iter().all(|value| order.iso(value).is_some());
        let own: Vec<DateOrder> = orders.iter().copied().filter(written).collect();
        if !own.is_empty() {
            any = true;
            orders = own;
        } else if DATE_ORDERS[1..].iter().any(|(_, order)| written(order)) {
            // This column contradicts one before: no order is the table's.
            return None;
        }
    }
    let sure = orders.len() == 1;
    orders.first().copied().filter(|_| any).map(|order| (order, sure))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::init::profile::tests::column;

    fn table(columns: Vec<Column>) -> Table {
        let rows = columns.first().map_or(0, |c| c.codes.len());
        Table { columns, rows }
    }

    fn texts(list: &[&str]) -> Vec<String> {
        list.iter().map(|t| t.to_string()).collect()
    }

    #[test]
    fn values_where_a_header_should_be_are_seen() {
        let data = || table(vec![column("a", ["50", "38"]), column("b", ["x", "y"]), column("c", ["13", "9"])]);
        assert!(is_data(&texts(&["39", "State-gov", "77516"]), &data()));
        assert!(!is_data(&texts(&["age", "work", "weight"]), &data()));
        let local =
            table(vec![column("a", ["01.02.1950", "3.4.60"]), column("b", ["x", "y"]), column("c", ["1,5", "2"])]);
        assert!(is_data(&texts(&["31.12.1949", "z", "7,25"]), &local));
        assert!(!is_data(&texts(&["born", "name", "weight"]), &local));
        assert!(!is_data(&texts(&["0", "1", "2"]), &data()));
        assert!(!is_data(&texts(&["2019", "2020", "2021"]), &data()));
        assert!(is_data(&texts(&["1987", "x"]), &table(vec![column("a", ["1990", "2001"]), column("b", ["y", "z"])])));
    }

    #[test]
    fn texts_of_two_encodings_are_told_from_those_of_one() {
        let utf8 = "Zürich, Köln, München, Besançon, Málaga, Łódź\n".repeat(20).into_bytes();
        let latin = b"Z\xfcrich, K\xf6ln\n".to_vec();
        assert!(is_mostly_utf8(&[utf8.clone(), latin.clone()].concat()));
        assert!(
            !is_mostly_utf8(&latin) && !is_mostly_utf8(b"plain") && !is_mostly_utf8(&[&latin[..], b"plain"].concat())
        );
    }

    #[test]
    fn commas_and_dates_are_told_by_all_values() {
        let commas = |values: &[&str]| has_decimal_commas(&column("x", values.iter().copied()), &texts(&["?"]));
        assert!(commas(&["1,5", "2", "?"]) && commas(&["0,125", "1.000,5"]));
        assert!(!commas(&["1,234", "2,500"]) && !commas(&["1,2,3", "1,5"]) && !commas(&["1", "2"]));
        let order = |columns: Vec<Column>| order_of_dates(&table(columns), &[]);
        let dates = |values: &[&str]| column("d", values.iter().copied());
        assert_eq!(order(vec![dates(&["31.12.1999", "01.02.2000"])]), Some((DateOrder::DayMonthYear, true)));
        assert_eq!(order(vec![dates(&["12/31/1999"]), dates(&["01/02/2000"])]), Some((DateOrder::MonthDayYear, true)));
        assert_eq!(order(vec![dates(&["01/02/2000"])]), Some((DateOrder::DayMonthYear, false)));
        assert_eq!(order(vec![dates(&["31.12.1999"]), dates(&["12/31/1999"])]), None);
        assert_eq!(order(vec![dates(&["1999-12-31", "x"])]), None);
        // Two hands wrote the table.
        assert_eq!(order(vec![dates(&["31.12.1999", "2000-02-01"])]), Some((DateOrder::DayMonthYear, true)));
        assert_eq!(order(vec![dates(&["31.12.1999", "2000-02-01", "2001-02-01"])]), None);
    }
}
