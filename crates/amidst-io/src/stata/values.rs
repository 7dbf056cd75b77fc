//! Converts cells of a Stata file to text.

use encoding_rs::Encoding;
use jiff::civil::Date;

use super::{File, Kind, Variable};
use crate::binary::{before_zero, day, moment};
use crate::columnar::{float32, float64};

/// Day 0 of Stata.
const EPOCH: Date = Date::constant(1960, 1, 1);

/// Writes the text of a cell to `text`; true when the cell is missing.
pub(super) fn cell(
    file: &File<'_>,
    variable: &Variable,
    row: &[u8],
    encoding: &'static Encoding,
    text: &mut Vec<u8>,
) -> bool {
    let Some(bytes) = row.get(variable.offset..variable.offset + variable.kind.width()) else { return true };
    let mut decoded = |bytes: &[u8]| match bytes.is_ascii() || encoding == encoding_rs::UTF_8 {
        true => text.extend_from_slice(bytes),
        false => text.extend_from_slice(encoding.decode_without_bom_handling(bytes).0.as_bytes()),
    };
    match variable.kind {
        Kind::Text(_) => {
            decoded(before_zero(bytes));
            false
        }
        Kind::Long2 => {
            if let Some(found) = reference(file, bytes).and_then(|key| file.texts.get(&key)) {
                decoded(found);
            }
            false
        }
        _ => match number(file, variable.kind, bytes) {
            None => true,
            Some(number) => {
                text.extend_from_slice(written(file, variable, number).as_bytes());
                false
            }
        },
    }
}

/// The key of the long text that a cell refers to: variable and observation.
fn reference(file: &File<'_>, bytes: &[u8]) -> Option<(u32, u64)> {
    let small = match file.release {
        117 => 4,
        118 => 2,
        _ => 3,
    };
    let number = |bytes: &[u8]| -> u64 {
        let join = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
        if file.big_endian { bytes.iter().fold(0, join) } else { bytes.iter().rev().fold(0, join) }
    };
    let (variable, observation) = bytes.split_at_checked(small)?;
    Some((u32::try_from(number(variable)).ok()?, number(observation)))
}

/// The number in a cell; `None` for missing values.
fn number(file: &File<'_>, kind: Kind, bytes: &[u8]) -> Option<Number> {
    let mut place = file.place(bytes);
    match kind {
        Kind::Byte => Some(place.u8().ok()? as i8).filter(|n| *n <= 100).map(|n| Number::Whole(i32::from(n))),
        Kind::Int => place.i16().ok().filter(|n| *n <= 32_740).map(|n| Number::Whole(i32::from(n))),
        Kind::Long => place.i32().ok().filter(|n| *n <= 2_147_483_620).map(Number::Whole),
        Kind::Float => {
            place.f32().ok().filter(|n| n.is_finite() && *n < f32::from_bits(0x7f00_0000)).map(Number::Single)
        }
        Kind::Double => {
            let limit = f64::from_bits(0x7fe0_0000_0000_0000);
            place.f64().ok().filter(|n| n.is_finite() && *n < limit).map(Number::Double)
        }
        Kind::Text(_) | Kind::Long2 => None,
    }
}

#[derive(Clone, Copy)]
enum Number {
    Whole(i32),
    Single(f32),
    Double(f64),
}

impl Number {
    fn value(self) -> f64 {
        match self {
            Number::Whole(n) => f64::from(n),
            Number::Single(n) => f64::from(n),
            Number::Double(n) => n,
        }
    }
}

/// The text of a number: its label, a date, or the number itself.
fn written(file: &File<'_>, variable: &Variable, number: Number) -> String {
    let value = number.value();
    if let Some(set) = file.labels.get(&variable.labels).filter(|_| value.fract() == 0.0)
        && let Some(label) = set.get(|code| f64::from(*code).total_cmp(&value))
    {
        return label.to_string();
    }
    let plain = || match number {
        Number::Whole(n) => n.to_string(),
        Number::Single(n) => float32(n),
        Number::Double(n) => float64(n),
    };
    let format = variable.format.trim_start_matches(['%', '-']);
    let months = |each: i64| {
        let from = value as i64 * each;
        (1960 + from.div_euclid(12), from.rem_euclid(12))
    };
    let dated = match format.as_bytes() {
        [b't', b'd', ..] | [b'd', ..] => day(EPOCH, value.floor()),
        [b't', b'c' | b'C', ..] => moment(EPOCH, value / 1000.0),
        [b't', b'm', ..] if value.abs() < 1e5 => {
            Some(months(1)).map(|(year, month)| format!("{year}-{:02}", month + 1))
        }
        [b't', b'q', ..] if value.abs() < 1e5 => {
            Some(months(3)).map(|(year, month)| format!("{year}q{}", month / 3 + 1))
        }
        _ => None,
    };
    dated.unwrap_or_else(plain)
}
