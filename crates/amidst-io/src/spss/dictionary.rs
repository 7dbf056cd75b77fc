//! Parses the dictionary of an SPSS file: variables with names, labels, missing values and formats.

use std::collections::HashMap;

use encoding_rs::Encoding;

use crate::binary::{Place, ValueLabels};
use crate::limits::COLUMN_LIMIT;

/// Everything needed to read the rows.
pub(super) struct Dictionary {
    pub big_endian: bool,
    /// 0: uncompressed, 1: bytecode for common values, 2: bytecode within zlib.
    pub compression: i32,
    pub bias: f64,
    /// Number of eight-byte units in a row.
    pub width: usize,
    pub variables: Vec<Variable>,
    pub encoding: &'static Encoding,
    /// Offset of the rows in the file.
    pub data: usize,
}

/// One variable.
#[derive(Debug, Default, Clone)]
pub(super) struct Variable {
    pub name: String,
    short: Vec<u8>,
    /// Bytes of a text; 0 for a number.
    pub width: usize,
    /// Index of its first unit in a row.
    pub segment: usize,
    /// Its display format, which identifies dates.
    pub format: u8,
    pub missing: Missing,
    pub labels: ValueLabels<f64>,
    pub text_labels: Vec<(Vec<u8>, String)>,
}

/// Values that the file declares to be missing.
#[derive(Debug, Default, Clone)]
pub(super) struct Missing {
    values: Vec<[u8; 8]>,
    numbers: Vec<f64>,
    range: Option<(f64, f64)>,
}

impl Missing {
    pub fn has(&self, number: f64) -> bool {
        self.numbers.contains(&number) || self.range.is_some_and(|(low, high)| (low..=high).contains(&number))
    }

    pub fn has_text(&self, text: &[u8]) -> bool {
        !text.is_empty() && self.values.iter().any(|value| value.trim_ascii_end() == text)
    }
}

/// Labels as stored: bytes of the value, bytes of the label.
type RawLabels = Vec<([u8; 8], Vec<u8>)>;

/// The content of extension records.
#[derive(Default)]
struct Extensions {
    page: Option<i32>,
    encoding: Option<String>,
    long_names: Vec<u8>,
    long_widths: Vec<u8>,
}

/// A dictionary under construction.
struct Reading {
    variables: Vec<Variable>,
    /// For each unit of a row, the variable that begins there.
    begins: Vec<Option<usize>>,
    labels: Vec<(RawLabels, Vec<usize>)>,
    extensions: Extensions,
}

/// Parses everything before the rows.
pub(super) fn parse(bytes: &[u8], stated: Option<&'static Encoding>) -> Result<Dictionary, String> {
    if !(bytes.starts_with(b"$FL2") || bytes.starts_with(b"$FL3")) {
        return Err("it does not begin as such files do".to_string());
    }
    // The layout code is 2 or 3 in the right byte order.
    let layout = Place::new(bytes, 64, false).i32()?;
    let big_endian = !matches!(layout, 2 | 3);
    let mut place = Place::new(bytes, 72, big_endian);
    let compression = place.i32()?;
    place.take(8)?;
    let bias = place.f64()?;
    place.take(9 + 8 + 64 + 3)?;
    let mut reading =
        Reading { variables: Vec::new(), begins: Vec::new(), labels: Vec::new(), extensions: Extensions::default() };
    loop {
        match place.i32()? {
            2 => reading.variable(&mut place)?,
            3 => reading.value_labels(&mut place)?,
            6 => {
                let lines = place.u32()? as usize;
                place.take(lines.checked_mul(80).ok_or("its notes are too long")?)?;
            }
            7 => reading.extension(&mut place)?,
            999 => break,
            _ => return Err("an unknown record stands before its rows".to_string()),
        }
    }
    place.i32()?;
    let width = reading.begins.len();
    let Reading { mut variables, labels, extensions, .. } = reading;
    let encoding = super::encoding(extensions.encoding.as_deref(), extensions.page, stated);
    let text = |bytes: &[u8]| encoding.decode_without_bom_handling(bytes).0.into_owned();
    for (list, columns) in labels {
        for column in columns {
            if let Some(variable) = variables.get_mut(column) {
                set_labels(variable, &list, big_endian, &text);
            }
        }
    }
    let variables = joined(variables, &extensions.long_widths)?;
    let variables = named(variables, &text(&extensions.long_names), &text);
    Ok(Dictionary { big_endian, compression, bias, width, variables, encoding, data: place.at() })
}

impl Reading {
    fn variable(&mut self, place: &mut Place<'_>) -> Result<(), String> {
        let kind = place.i32()?;
        let labelled = place.i32()? != 0;
        let missing = place.i32()?;
        let print = place.u32()?;
        place.i32()?;
        let short = place.take(8)?.to_vec();
        if labelled {
            let length = place.u32()? as usize;
            place.take(length.checked_next_multiple_of(4).ok_or("a label is too long")?)?;
        }
        if !(-3..=3).contains(&missing) {
            return Err("a column has more missing values than there can be".to_string());
        }
        let mut values = Vec::new();
        let mut numbers = Vec::new();
        for _ in 0..missing.abs() {
            numbers.push(place.clone().f64()?);
            values.extend(place.take(8)?.first_chunk::<8>().copied());
        }
        if kind < 0 {
            self.begins.push(None);
            return Ok(());
        }
        // Longer texts are several variables; a width that the file merely declares would be allocated for every cell.
        let width = usize::try_from(kind).ok().filter(|width| *width <= 255);
        let width = width.ok_or("a text has a width that it cannot have")?;
        if self.begins.len() >= COLUMN_LIMIT * 32 || self.variables.len() >= COLUMN_LIMIT * 2 {
            return Err("it has more columns than a table may have".to_string());
        }
        let range = (missing < 0).then(|| (numbers.first().copied(), numbers.get(1).copied()));
        let range = range.and_then(|(low, high)| low.zip(high));
        let numbers = if missing < 0 { numbers.split_off(numbers.len().min(2)) } else { numbers };
        self.begins.push(Some(self.variables.len()));
        self.variables.push(Variable {
            short,
            width,
            segment: self.begins.len() - 1,
            format: (print >> 16) as u8,
            missing: Missing { values, numbers, range },
            ..Variable::default()
        });
        Ok(())
    }

    fn value_labels(&mut self, place: &mut Place<'_>) -> Result<(), String> {
        let count = place.u32()?;
        let mut list = Vec::new();
        for _ in 0..count {
            let value = place.take(8)?.first_chunk::<8>().copied().ok_or("a label has no value")?;
            let length = usize::from(place.u8()?);
            let label = place.take((length + 1).next_multiple_of(8) - 1)?;
            list.push((value, label.get(..length).unwrap_or_default().to_vec()));
        }
        if place.i32()? != 4 {
            return Err("labels are not followed by the columns that they are for".to_string());
        }
        let count = place.u32()?;
        let mut columns = Vec::new();
        for _ in 0..count {
            let unit = (place.u32()? as usize).checked_sub(1);
            columns.extend(unit.and_then(|unit| self.begins.get(unit).copied().flatten()));
        }
        self.labels.push((list, columns));
        Ok(())
    }

    fn extension(&mut self, place: &mut Place<'_>) -> Result<(), String> {
        let subtype = place.i32()?;
        let (size, count) = (place.u32()?, place.u32()?);
        let mut start = place.clone();
        let length = u64::from(size).checked_mul(u64::from(count)).ok_or("an extension is too long")?;
        let data = place.take(usize::try_from(length).map_err(|_| "an extension is too long")?)?;
        match subtype {
            3 if size == 4 && count >= 8 => {
                start.take(28)?;
                self.extensions.page = Some(start.i32()?);
            }
            13 => self.extensions.long_names = data.to_vec(),
            14 => self.extensions.long_widths = data.to_vec(),
            20 => self.extensions.encoding = Some(String::from_utf8_lossy(data).trim().to_string()),
            _ => {}
        }
        Ok(())
    }
}

fn set_labels(variable: &mut Variable, list: &RawLabels, big_endian: bool, text: &dyn Fn(&[u8]) -> String) {
    let name = |bytes: &[u8]| text(bytes).trim().to_string();
    if variable.width > 0 {
        let width = variable.width.min(8);
        variable.text_labels = list.iter().map(|(value, label)| (value[..width].to_vec(), name(label))).collect();
        variable.text_labels.retain(|(_, label)| !label.is_empty());
        return;
    }
    let number = |bytes: [u8; 8]| if big_endian { f64::from_be_bytes(bytes) } else { f64::from_le_bytes(bytes) };
    let list = list.iter().map(|(value, label)| (number(*value), name(label))).filter(|(value, _)| !value.is_nan());
    variable.labels = ValueLabels::new(list.collect(), f64::total_cmp);
}

/// Joins texts of more than 255 bytes, which are stored as several variables.
fn joined(variables: Vec<Variable>, long_widths: &[u8]) -> Result<Vec<Variable>, String> {
    let mut widths: HashMap<Vec<u8>, usize> = HashMap::new();
    for entry in long_widths.split(|b| *b == b'\t') {
        let entry: Vec<u8> = entry.iter().copied().filter(|b| *b != 0).collect();
        let Some(equals) = entry.iter().position(|b| *b == b'=') else { continue };
        let width = std::str::from_utf8(&entry[equals + 1..]).ok().and_then(|w| w.trim().parse::<usize>().ok());
        let width = width.filter(|w| *w <= 32_767).ok_or("a text has a width that it cannot have")?;
        widths.insert(entry[..equals].trim_ascii().to_ascii_uppercase(), width);
    }
    let mut list: Vec<Variable> = Vec::with_capacity(variables.len());
    let mut skip = 0;
    for mut variable in variables {
        if skip > 0 {
            skip -= 1;
            continue;
        }
        if let Some(&width) = widths.get(&variable.short.trim_ascii_end().to_ascii_uppercase())
            && variable.width > 0
            && width > 255
        {
            variable.width = width;
            skip = width.div_ceil(252) - 1;
        }
        list.push(variable);
    }
    Ok(list)
}

/// Gives variables their long names, if the file has them.
fn named(mut variables: Vec<Variable>, long_names: &str, text: &dyn Fn(&[u8]) -> String) -> Vec<Variable> {
    let pairs = long_names.split('\t').filter_map(|pair| pair.split_once('='));
    let names: HashMap<&str, &str> = pairs.map(|(short, long)| (short.trim(), long)).collect();
    for variable in &mut variables {
        let short = text(variable.short.trim_ascii_end());
        let long = names.get(short.as_str()).map(|long| long.trim_end_matches('\0').to_string());
        variable.name = long.filter(|name| !name.is_empty()).unwrap_or(short);
    }
    variables
}
