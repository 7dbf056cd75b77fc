//! Parquet and Arrow files that say more than their rows, or say them in a second way.

use std::collections::HashMap;
use std::sync::Arc;

use amidst_check::ProblemKind::{self, Form};
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BinaryArray, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
    TimestampMillisecondArray,
};
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{Field, Schema};
use parquet::basic::Encoding;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterPropertiesBuilder, WriterVersion};

use crate::made::{Case, arrow, batch, batch_with, costs, parquet, plain_properties, texts};
use crate::{Forgery, forgery};

fn packed(name: &str, tries: &'static str, bytes: impl Fn() -> Vec<u8> + 'static) -> Forgery {
    forgery(format!("Parquet: {name}"), tries, Form, move || Case::new("parquet").with(bytes()))
}

fn with_properties(
    name: &str,
    tries: &'static str,
    set: fn(WriterPropertiesBuilder) -> WriterPropertiesBuilder,
) -> Forgery {
    packed(name, tries, move || parquet(&batch(), set(plain_properties())))
}

fn ipc(name: &str, tries: &'static str, bytes: impl Fn() -> Vec<u8> + 'static) -> Forgery {
    forgery(format!("Arrow: {name}"), tries, Form, move || Case::new("arrow").with(bytes()))
}

pub fn forgeries() -> Vec<Forgery> {
    let mut list = parquet_forgeries();
    list.extend(arrow_forgeries());
    list
}

/// Costs as decimals, one of them given.
fn decimals(odd: f64) -> ArrayRef {
    Arc::new(
        costs().iter().enumerate().map(|(i, &c)| if i == 3 { odd } else { c as f64 + 0.5 }).collect::<Float64Array>(),
    )
}

/// A NaN with a payload.
fn payload() -> f64 {
    f64::from_bits(0x7ff8_0000_0041_6e6e)
}

/// The batch with metadata on its schema or on a field.
fn annotated(of_field: bool) -> RecordBatch {
    let batch = batch();
    let words = HashMap::from([("patient".to_string(), "Ann has HIV".to_string())]);
    let fields: Vec<Field> = batch.schema().fields().iter().map(|f| f.as_ref().clone()).collect();
    let fields = fields.into_iter().map(|f| if of_field { f.with_metadata(words.clone()) } else { f });
    let schema = Schema::new(fields.collect::<Vec<_>>());
    let schema = if of_field { schema } else { schema.with_metadata(words.clone()) };
    RecordBatch::try_new(Arc::new(schema), batch.columns().to_vec()).unwrap()
}

fn swapped(at: usize, column: ArrayRef) -> RecordBatch {
    let batch = batch();
    let mut columns = batch.columns().to_vec();
    columns[at] = column;
    let fields: Vec<Field> = batch
        .schema()
        .fields()
        .iter()
        .zip(&columns)
        .map(|(f, c)| Field::new(f.name(), c.data_type().clone(), c.null_count() > 0))
        .collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

/// Bytes inserted before the footer, whose offsets stay valid.
fn before_footer(bytes: Vec<u8>, what: &[u8]) -> Vec<u8> {
    let size = u32::from_le_bytes(bytes[bytes.len() - 8..bytes.len() - 4].try_into().unwrap()) as usize;
    let at = bytes.len() - 8 - size;
    [&bytes[..at], what, &bytes[at..]].concat()
}

fn parquet_forgeries() -> Vec<Forgery> {
    let plain = || parquet(&batch(), plain_properties());
    vec![
        packed("bytes before the footer", "rows that no row group has", move || before_footer(plain(), b"Ann has HIV")),
        packed("a row group that is not listed", "rows that the footer hides", move || {
            let (hidden, shown) = (plain(), plain());
            let body = hidden.len()
                - 8
                - u32::from_le_bytes(hidden[hidden.len() - 8..hidden.len() - 4].try_into().unwrap()) as usize;
            before_footer(shown, &hidden[4..body])
        }),
        packed("bytes behind", "rows behind the file", move || [&plain()[..], b"Ann"].concat()),
        packed("bytes before", "rows before the file", move || [b"Ann", &plain()[..]].concat()),
        packed("nothing", "an empty file", Vec::new),
        packed("only magic", "a file of eight bytes", || b"PAR1PAR1".to_vec()),
        packed("a footer beyond the file", "a length that asks for memory", move || {
            let mut bytes = plain();
            let at = bytes.len() - 8;
            bytes[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
            bytes
        }),
        with_properties("statistics of chunks", "values beside the rows", |p| {
            p.set_statistics_enabled(EnabledStatistics::Chunk)
        }),
        with_properties("statistics of pages", "values beside the rows", |p| {
            p.set_statistics_enabled(EnabledStatistics::Page)
        }),
        with_properties("a filter", "values in a filter", |p| p.set_bloom_filter_enabled(true)),
        with_properties("another program", "a name as the program's", |p| p.set_created_by("Ann has HIV".into())),
        with_properties("a version of another kind", "a name as a version", |p| {
            p.set_created_by("parquet-rs version Ann".into())
        }),
        with_properties("notes", "a name in the metadata", |p| {
            p.set_key_value_metadata(Some(vec![KeyValue::new("pandas".into(), "Ann has HIV".to_string())]))
        }),
        with_properties("pages of another version", "pages that the checker does not take apart", |p| {
            p.set_writer_version(WriterVersion::PARQUET_2_0)
        }),
        with_properties("another encoding", "values that the checker does not take apart", |p| {
            p.set_dictionary_enabled(false)
                .set_encoding(Encoding::DELTA_BINARY_PACKED)
                .set_column_encoding("age".into(), Encoding::DELTA_BYTE_ARRAY)
                .set_column_encoding("site".into(), Encoding::DELTA_LENGTH_BYTE_ARRAY)
                .set_column_encoding("disease".into(), Encoding::PLAIN)
        }),
        with_properties("another packing", "a packing that may unpack to anything", |p| {
            p.set_compression(parquet::basic::Compression::ZSTD(Default::default()))
        }),
        packed("words of the schema", "a name beside the columns", || parquet(&annotated(false), plain_properties())),
        packed("words of a column", "a name beside a column", || parquet(&annotated(true), plain_properties())),
        packed("a number that is none", "a payload", || parquet(&batch_with(decimals(payload())), plain_properties())),
        packed("an infinite number", "a number that other formats lack", || {
            parquet(&batch_with(decimals(f64::INFINITY)), plain_properties())
        }),
        packed("a zero with a sign", "two zeros", || parquet(&batch_with(decimals(-0.0)), plain_properties())),
        packed("bytes that are no text", "names that are read as null", || {
            let bytes: BinaryArray = (0..12u8).map(|i| Some(vec![0xff, b'A' + i])).collect();
            parquet(&batch_with(Arc::new(bytes)), plain_properties())
        }),
        packed("a list", "several cells in one", || {
            let list = arrow_array::ListArray::from_iter_primitive::<arrow_array::types::Int64Type, _, _>(
                costs().into_iter().map(|c| Some(vec![Some(c), Some(7)])),
            );
            parquet(&batch_with(Arc::new(list)), plain_properties())
        }),
        forgery("Parquet: a column twice", "two columns of one name", ProblemKind::Column, || {
            let twice = RecordBatch::try_from_iter([
                ("age", texts(0)),
                ("site", texts(1)),
                ("disease", texts(3)),
                ("disease", texts(2)),
            ]);
            Case::new("parquet").with(parquet(&twice.unwrap(), plain_properties()))
        }),
    ]
}

/// The start of a file whose footer lists fewer batches.
fn hidden_batch() -> Vec<u8> {
    let shown = arrow(&[batch()]);
    let both = arrow(&[batch(), batch().slice(0, 1)]);
    let size = |bytes: &[u8]| i32::from_le_bytes(bytes[bytes.len() - 10..bytes.len() - 6].try_into().unwrap()) as usize;
    [&both[..both.len() - 10 - size(&both)], &shown[shown.len() - 10 - size(&shown)..]].concat()
}

fn arrow_forgeries() -> Vec<Forgery> {
    let dictionary = |keys: Vec<i32>, values: Vec<&str>| -> ArrayRef {
        Arc::new(
            DictionaryArray::<Int32Type>::try_new(Int32Array::from(keys), Arc::new(StringArray::from(values))).unwrap(),
        )
    };
    let keys: Vec<i32> = (0..12).map(|i| [0, 1, 2, 3][i % 4]).collect();
    let known = keys.clone();
    vec![
        ipc("a hidden batch", "rows that the footer leaves out", hidden_batch),
        ipc("bytes before the footer", "rows that no batch has", || {
            let bytes = arrow(&[batch()]);
            let size = i32::from_le_bytes(bytes[bytes.len() - 10..bytes.len() - 6].try_into().unwrap()) as usize;
            let at = bytes.len() - 10 - size;
            [&bytes[..at], b"Ann has HIV     ", &bytes[at..]].concat()
        }),
        ipc("bytes behind", "rows behind the file", || [&arrow(&[batch()])[..], b"Ann"].concat()),
        ipc("filling", "a name in the filling of a buffer", || {
            let mut bytes = arrow(&[batch()]);
            let at = bytes.windows(8).rposition(|w| w == 111i64.to_le_bytes()).unwrap() + 8;
            assert_eq!(bytes[at..at + 3], [0; 3]);
            bytes[at..at + 3].copy_from_slice(b"Ann");
            bytes
        }),
        ipc("the version's filling", "two bytes at the start", || {
            let mut bytes = arrow(&[batch()]);
            bytes[6..8].copy_from_slice(b"An");
            bytes
        }),
        ipc("words of the schema", "a name beside the columns", || arrow(&[annotated(false)])),
        ipc("words of a column", "a name beside a column", || arrow(&[annotated(true)])),
        ipc("words of the footer", "a name in the footer", || {
            let mut bytes = Vec::new();
            let mut writer = FileWriter::try_new(&mut bytes, &batch().schema()).unwrap();
            writer.write_metadata("patient", "Ann has HIV");
            writer.write(&batch()).unwrap();
            writer.finish().unwrap();
            drop(writer);
            bytes
        }),
        ipc("an entry without a row", "a name in a dictionary", move || {
            arrow(&[swapped(3, dictionary(keys.clone(), vec!["Flu", "Cancer", "Flu, \"late\"", "HIV", "Ann"]))])
        }),
        ipc("an entry twice", "two entries for one value", move || {
            let keys = known.iter().enumerate().map(|(i, &k)| if i == 4 { 4 } else { k }).collect();
            arrow(&[swapped(3, dictionary(keys, vec!["Flu", "Cancer", "Flu, \"late\"", "HIV", "Flu"]))])
        }),
        ipc("a value under null", "a name under a null", || {
            let nulls = arrow_buffer::NullBuffer::from((0..12).map(|i| i != 5).collect::<Vec<bool>>());
            let hidden = Int64Array::new(costs().into(), Some(nulls));
            arrow(&[swapped(2, Arc::new(hidden))])
        }),
        ipc("a number that is none", "a payload", || arrow(&[batch_with(decimals(payload()))])),
        ipc("a zero with a sign", "two zeros", || arrow(&[batch_with(decimals(-0.0))])),
        ipc("texts without a dictionary", "another way to say the same", || {
            let plain: StringArray = crate::made::rows().iter().map(|row| Some(row[3].clone())).collect();
            arrow(&[swapped(3, Arc::new(plain))])
        }),
        ipc("bytes that are no text", "names that are read as null", || {
            let bytes: BinaryArray = (0..12u8).map(|i| Some(vec![0xff, b'A' + i])).collect();
            arrow(&[swapped(2, Arc::new(bytes))])
        }),
        ipc("times", "a type that has many texts", || {
            arrow(&[swapped(2, Arc::new(TimestampMillisecondArray::from(costs())))])
        }),
        ipc("compression", "a batch that is packed", || {
            let options =
                IpcWriteOptions::default().try_with_compression(Some(arrow_ipc::CompressionType::LZ4_FRAME)).unwrap();
            let mut bytes = Vec::new();
            let mut writer = FileWriter::try_new_with_options(&mut bytes, &batch().schema(), options).unwrap();
            writer.write(&batch()).unwrap();
            writer.finish().unwrap();
            drop(writer);
            bytes
        }),
        ipc("a stream", "a stream instead of a file", || {
            let mut bytes = Vec::new();
            let mut writer = StreamWriter::try_new(&mut bytes, &batch().schema()).unwrap();
            writer.write(&batch()).unwrap();
            writer.finish().unwrap();
            drop(writer);
            bytes
        }),
        ipc("nothing", "an empty file", Vec::new),
        ipc("only magic", "a file of two words", || b"ARROW1\0\0ARROW1".to_vec()),
        ipc("a footer beyond the file", "a length that asks for memory", || {
            let mut bytes = arrow(&[batch()]);
            let at = bytes.len() - 10;
            bytes[at..at + 4].copy_from_slice(&i32::MAX.to_le_bytes());
            bytes
        }),
    ]
}
