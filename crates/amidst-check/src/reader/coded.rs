//! Batches of a columnar file as rows whose cells have numbers.
//!
//! A column of a release has few distinct values, and its file lists them in a dictionary. The cells of a row are
//! looked up by their numbers, all together as one short text ([`Cells::span`]), and become texts only where a class is
//! seen for the first time.
//!
//! Contract: within one [`Coder`] equal numbers of a column mean equal cells. Columns of more than [`MOST`] distinct
//! values have no numbers; then rows have no span.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Float32Type, Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, DictionaryArray, RecordBatch, StringArray};
use arrow_schema::{ArrowError, DataType};
use rustc_hash::FxHashMap;

use super::number;
use super::selection::Cells;

/// The most distinct values of a column that has numbers.
const MOST: usize = 1 << 16;

/// The bytes of a number.
const WIDTH: usize = size_of::<u32>();

/// The number of null.
const NULL: u32 = 0;

/// Numbers for the cells of some columns.
#[derive(Debug)]
pub(super) struct Coder {
    columns: Vec<Option<Values>>,
}

/// The distinct values of a column.
#[derive(Debug)]
struct Values {
    texts: Vec<Box<[u8]>>,
    by_text: FxHashMap<Box<[u8]>, u32>,
    by_bits: FxHashMap<u64, u32>,
    /// The dictionary of the last batch, and the numbers of its entries.
    last: Option<(ArrayRef, Vec<u32>)>,
}

/// The cells of a batch.
#[derive(Debug)]
pub(super) struct Batch {
    columns: Vec<Column>,
    /// The numbers of all rows, one row after the other, and for each column where its number begins in a row.
    numbers: Vec<u8>,
    places: Vec<Option<usize>>,
    width: usize,
}

#[derive(Debug)]
enum Column {
    Unused,
    Texts(StringArray),
    Numbers(Vec<u32>),
}

/// A row of a batch.
pub(super) struct Row<'a> {
    coder: &'a Coder,
    batch: &'a Batch,
    row: usize,
}

impl Coder {
    /// A coder for files with this many columns; those in `coded` get numbers.
    pub(super) fn new(columns: usize, coded: &[usize]) -> Self {
        let mut own: Vec<Option<Values>> = (0..columns).map(|_| None).collect();
        for &column in coded {
            if let Some(values) = own.get_mut(column) {
                *values = Some(Values::new());
            }
        }
        Coder { columns: own }
    }

    /// The cells of the columns `needed` of a batch. An error names the column.
    pub(super) fn batch(&mut self, batch: &RecordBatch, needed: &[usize]) -> Result<Batch, String> {
        let mut columns: Vec<Column> = (0..batch.num_columns()).map(|_| Column::Unused).collect();
        for &index in needed {
            let array = batch.column(index);
            let broken = |e: ArrowError| format!("column {}: {e}", index + 1);
            let values = self.columns.get_mut(index).and_then(Option::as_mut);
            let numbers = values.map(|values| values.numbers(array)).transpose().map_err(broken)?;
            columns[index] = match numbers.flatten() {
                Some(numbers) => Column::Numbers(numbers),
                None => {
                    if let Some(own) = self.columns.get_mut(index) {
                        *own = None;
                    }
                    Column::Texts(texts(array).map_err(broken)?)
                }
            };
        }
        let mut places = vec![None; columns.len()];
        let mut width = 0;
        for (place, _) in places.iter_mut().zip(&columns).filter(|(_, c)| matches!(c, Column::Numbers(_))) {
            *place = Some(width);
            width += WIDTH;
        }
        let mut numbers = vec![0; batch.num_rows() * width];
        for (column, place) in columns.iter().zip(&places) {
            let (Column::Numbers(own), Some(at)) = (column, place) else { continue };
            for (row, number) in numbers.chunks_exact_mut(width).zip(own) {
                row[*at..*at + WIDTH].copy_from_slice(&number.to_le_bytes());
            }
        }
        Ok(Batch { columns, numbers, places, width })
    }

    /// The rows of a batch that this coder made.
    pub(super) fn rows<'a>(&'a self, batch: &'a Batch, rows: std::ops::Range<usize>) -> Vec<Row<'a>> {
        rows.map(|row| Row { coder: self, batch, row }).collect()
    }
}

impl Values {
    fn new() -> Self {
        let texts = vec![Box::default()];
        Values { texts, by_text: FxHashMap::default(), by_bits: FxHashMap::default(), last: None }
    }

    /// The numbers of an array's cells; none where there are too many distinct ones.
    fn numbers(&mut self, array: &ArrayRef) -> Result<Option<Vec<u32>>, ArrowError> {
        let numbers = match array.data_type() {
            DataType::Dictionary(key, of) if **key == DataType::Int32 && **of == DataType::Utf8 => {
                self.of_dictionary(array.as_dictionary::<Int32Type>())?
            }
            DataType::Int64 => self.of_bits(array, |i| array.as_primitive::<Int64Type>().value(i) as u64)?,
            DataType::Int32 => self.of_bits(array, |i| array.as_primitive::<Int32Type>().value(i) as u64)?,
            DataType::Date32 => self.of_bits(array, |i| array.as_primitive::<Date32Type>().value(i) as u64)?,
            DataType::Float64 => self.of_bits(array, |i| array.as_primitive::<Float64Type>().value(i).to_bits())?,
            _ => self.of_texts(&texts(array)?),
        };
        Ok((self.texts.len() <= MOST).then_some(numbers))
    }

    /// The number of a text.
    fn number(&mut self, text: &[u8]) -> u32 {
        if let Some(&number) = self.by_text.get(text) {
            return number;
        }
        let number = self.texts.len() as u32;
        self.texts.push(text.into());
        self.by_text.insert(text.into(), number);
        number
    }

    fn of_texts(&mut self, array: &StringArray) -> Vec<u32> {
        let mut numbers = Vec::with_capacity(array.len());
        for text in array {
            if self.texts.len() > MOST {
                break;
            }
            numbers.push(text.map_or(NULL, |text| self.number(text.as_bytes())));
        }
        numbers
    }

    fn of_dictionary(&mut self, array: &DictionaryArray<Int32Type>) -> Result<Vec<u32>, ArrowError> {
        let known = self.last.take().filter(|(last, _)| same(last, array.values()));
        let (last, entries) = known.unwrap_or_else(|| {
            let entries = self.of_texts(array.values().as_string::<i32>());
            (Arc::clone(array.values()), entries)
        });
        let mut numbers = Vec::with_capacity(array.len());
        if self.texts.len() <= MOST {
            let missing = || ArrowError::InvalidArgumentError("a cell names no entry of its dictionary".to_string());
            for key in array.keys() {
                let entry = |key| usize::try_from(key).ok().and_then(|key| entries.get(key)).ok_or_else(missing);
                numbers.push(key.map_or(Ok(&NULL), entry).copied()?);
            }
        }
        self.last = Some((last, entries));
        Ok(numbers)
    }

    fn of_bits(&mut self, array: &ArrayRef, bits: impl Fn(usize) -> u64) -> Result<Vec<u32>, ArrowError> {
        let mut numbers = Vec::with_capacity(array.len());
        for row in 0..array.len() {
            if self.texts.len() > MOST {
                break;
            }
            if array.is_null(row) {
                numbers.push(NULL);
                continue;
            }
            let number = match self.by_bits.get(&bits(row)) {
                Some(&number) => number,
                None => {
                    let text = texts(&array.slice(row, 1))?;
                    let number = self.number(text.value(0).as_bytes());
                    self.by_bits.insert(bits(row), number);
                    number
                }
            };
            numbers.push(number);
        }
        Ok(numbers)
    }
}

/// Whether two dictionaries are one in memory: readers hand out the same texts in new arrays.
fn same(one: &ArrayRef, other: &ArrayRef) -> bool {
    Arc::ptr_eq(one, other) || one.to_data().ptr_eq(&other.to_data())
}

impl Cells for Row<'_> {
    fn cell(&self, column: usize) -> &[u8] {
        match self.batch.columns.get(column) {
            Some(Column::Texts(array)) if array.is_valid(self.row) => array.value(self.row).as_bytes(),
            Some(Column::Numbers(numbers)) => {
                let values = self.coder.columns.get(column).and_then(Option::as_ref);
                let text = values.and_then(|values| values.texts.get(*numbers.get(self.row)? as usize));
                text.map_or(&[], |text| &text[..])
            }
            _ => &[],
        }
    }

    fn is_null(&self, column: usize) -> bool {
        match self.batch.columns.get(column) {
            Some(Column::Texts(array)) => array.is_null(self.row),
            Some(Column::Numbers(numbers)) => numbers.get(self.row).is_none_or(|&number| number == NULL),
            _ => true,
        }
    }

    fn span(&self, first: usize, last: usize) -> Option<&[u8]> {
        let batch = self.batch;
        let (from, to) = ((*batch.places.get(first)?)?, (*batch.places.get(last)?)?);
        // Every column between them has its number between theirs.
        if (to - from) / WIDTH != last - first {
            return None;
        }
        let start = self.row * batch.width;
        batch.numbers.get(start + from..start + to + WIDTH)
    }
}

/// The cells of an array as texts. Numbers have the one text that releases use: the shortest that reads back as the
/// same number, without trailing zeros after the point.
fn texts(array: &dyn Array) -> Result<StringArray, ArrowError> {
    Ok(match array.data_type() {
        DataType::Float64 => array.as_primitive::<Float64Type>().iter().map(|x| x.map(number::of_double)).collect(),
        DataType::Float32 => array.as_primitive::<Float32Type>().iter().map(|x| x.map(number::of_single)).collect(),
        DataType::Float16 => {
            let singles = arrow_cast::cast(array, &DataType::Float32)?;
            return texts(&singles);
        }
        kind => {
            let cast = arrow_cast::cast(array, &DataType::Utf8)?;
            let text = cast.as_string::<i32>();
            match kind.is_decimal() {
                true => text.iter().map(|t| t.map(number::trimmed)).collect(),
                false => text.clone(),
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::selection::{Missing, Selection};
    use super::super::tally::Tally;
    use super::*;
    use arrow_array::Int64Array;
    use arrow_schema::{Field, Schema};

    /// Rows of text, dictionary and number columns, with nulls and empty texts.
    fn batches(distinct: usize) -> Vec<RecordBatch> {
        let batch = |from: usize| {
            let texts: Vec<Option<String>> =
                (from..from + 150).map(|i| (i % 7 != 0).then(|| "x".repeat(i % 5) + &(i % 3).to_string())).collect();
            let plain: StringArray = texts.iter().map(|t| t.as_deref().map(|t| t.replace("x0", ""))).collect();
            let listed: DictionaryArray<Int32Type> = texts.iter().map(|t| t.as_deref().map(|t| &t[..1])).collect();
            let numbers =
                Int64Array::from_iter((from..from + 150).map(|i| (i % 11 != 0).then_some((i % distinct) as i64)));
            let columns: Vec<ArrayRef> = vec![Arc::new(plain), Arc::new(listed), Arc::new(numbers)];
            let field = |(name, column): (&str, &ArrayRef)| Field::new(name, column.data_type().clone(), true);
            let schema = Schema::new(["a", "b", "c"].into_iter().zip(&columns).map(field).collect::<Vec<_>>());
            RecordBatch::try_new(Arc::new(schema), columns).unwrap()
        };
        vec![batch(0), batch(150), batch(77)]
    }

    fn counted(key: &[&str], batches: &[RecordBatch], coded: &[usize]) -> String {
        counted_without(&[], key, batches, coded)
    }

    /// The same without rows that have null in one of the columns `missing`.
    fn counted_without(missing: &[&str], key: &[&str], batches: &[RecordBatch], coded: &[usize]) -> String {
        let names = |list: &[&str]| list.iter().map(|n| n.to_string()).collect::<Vec<_>>();
        let views = vec![names(&["b"]), names(&["c", "a"])];
        let missing = (!missing.is_empty()).then(|| Missing { columns: names(missing), tokens: Vec::new() });
        let selection = Selection { key: Some(names(key)), views, missing, ..Selection::default() };
        let mut tally = Tally::new(&selection);
        tally.open(std::path::Path::new("t"), &names(&["a", "b", "c"])).unwrap();
        let mut coder = Coder::new(3, coded);
        for batch in batches {
            let cells = coder.batch(batch, &[0, 1, 2]).unwrap();
            tally.add_all(0, &coder.rows(&cells, 0..batch.num_rows())).unwrap();
        }
        format!("{:?}", tally.finish(&selection, Vec::new()))
    }

    #[test]
    fn rows_with_numbers_count_as_rows_of_texts() {
        for key in [&["a", "b"][..], &["c", "a"], &["b"], &["a", "b", "c"]] {
            let batches = batches(13);
            assert_eq!(counted(key, &batches, &[0, 1, 2]), counted(key, &batches, &[]), "{key:?}");
            assert_eq!(counted(key, &batches, &[0, 1]), counted(key, &batches, &[]), "{key:?}");
        }
    }

    #[test]
    fn rows_with_null_are_left_out_of_known_classes_too() {
        let batches = batches(13);
        for missing in [&["c"][..], &["b"], &["a", "b", "c"]] {
            for key in [&["a", "b"][..], &["b"], &["a"]] {
                let left = counted_without(missing, key, &batches, &[0, 1, 2]);
                assert_eq!(left, counted_without(missing, key, &batches, &[]), "{missing:?} {key:?}");
                assert_ne!(left, counted(key, &batches, &[]));
            }
        }
    }

    #[test]
    fn columns_of_too_many_values_lose_their_numbers_on_the_way() {
        let many = Int64Array::from_iter_values((0..MOST as i64 + 9).map(|i| i % (MOST as i64 + 5)));
        let some = Int64Array::from_iter_values((0..MOST as i64 + 9).map(|i| i % 3));
        let batch = |own: &Int64Array| {
            let text: ArrayRef = Arc::new(own.iter().map(|n| n.map(|n| (n % 2).to_string())).collect::<StringArray>());
            let columns: Vec<(&str, ArrayRef)> = vec![("a", text.clone()), ("b", text), ("c", Arc::new(own.clone()))];
            RecordBatch::try_from_iter(columns).unwrap()
        };
        let batches = [batch(&some), batch(&many), batch(&some)];
        assert_eq!(counted(&["a", "c"], &batches, &[0, 1, 2]), counted(&["a", "c"], &batches, &[]));
    }
}
