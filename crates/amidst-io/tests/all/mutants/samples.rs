//! The files that are damaged: every format and compression, every type with a text form, and some without.

use std::io::Write;
use std::sync::Arc;

use amidst_io::Format;
use arrow_array::builder::{ListBuilder, MapBuilder, StringBuilder, StringRunBuilder};
use arrow_array::types::{Int8Type, Int16Type, Int32Type, UInt32Type};
use arrow_array::*;
use arrow_buffer::{IntervalMonthDayNano, ScalarBuffer};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef, UnionFields};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, GzipLevel, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};

/// An undamaged file.
pub struct Sample {
    pub name: &'static str,
    /// None for a database.
    pub format: Option<Format>,
    pub bytes: Vec<u8>,
}

const ROWS: usize = 40;

fn words(offset: usize) -> Vec<Option<String>> {
    let word = |i: usize| (i % 7 != 3).then(|| format!("secret value {}", "x".repeat((i + offset) % 23)));
    (0..ROWS).map(word).collect()
}

fn whole_numbers<T: From<i8>>() -> Vec<Option<T>> {
    (0..ROWS).map(|i| (i % 5 != 1).then(|| T::from((i % 100) as i8))).collect()
}

/// Columns of every type that has a text form, none of them nested.
fn scalars(offset: usize) -> Vec<(&'static str, ArrayRef)> {
    let text = words(offset);
    let bytes = || text.iter().map(|t| t.as_ref().map(|t| t.as_bytes()));
    let small: Vec<Option<u8>> = (0..ROWS).map(|i| Some((i * 3) as u8)).collect();
    let fixed = FixedSizeBinaryArray::try_from_iter((0..ROWS).map(|i| format!("{i:04}").into_bytes())).unwrap();
    let interval: Vec<_> = (0..ROWS).map(|i| Some(IntervalMonthDayNano::new(i as i32, 2, 3))).collect();
    vec![
        ("text", Arc::new(StringArray::from(text.clone()))),
        ("large", Arc::new(LargeStringArray::from(text.clone()))),
        ("view", Arc::new(StringViewArray::from_iter(text.clone()))),
        ("binary", Arc::new(BinaryArray::from_iter(bytes()))),
        ("large binary", Arc::new(LargeBinaryArray::from_iter(bytes()))),
        ("binary view", Arc::new(BinaryViewArray::from_iter(bytes()))),
        ("words", Arc::new(text.iter().map(Option::as_deref).collect::<DictionaryArray<Int8Type>>())),
        ("more words", Arc::new(text.iter().map(Option::as_deref).collect::<DictionaryArray<UInt32Type>>())),
        ("truth", Arc::new((0..ROWS).map(|i| (i % 4 > 0).then_some(i % 2 == 0)).collect::<BooleanArray>())),
        ("i8", Arc::new(Int8Array::from(whole_numbers::<i8>()))),
        ("i16", Arc::new(Int16Array::from(whole_numbers::<i16>()))),
        ("i32", Arc::new(Int32Array::from(whole_numbers::<i32>()))),
        ("i64", Arc::new(Int64Array::from(whole_numbers::<i64>()))),
        ("u8", Arc::new(UInt8Array::from(small))),
        ("f32", Arc::new(Float32Array::from(whole_numbers::<f32>()))),
        ("f64", Arc::new(Float64Array::from(whole_numbers::<f64>()))),
        ("day", Arc::new(Date32Array::from(whole_numbers::<i32>()))),
        ("millis", Arc::new(Date64Array::from(whole_numbers::<i64>()))),
        ("time", Arc::new(Time32SecondArray::from(whole_numbers::<i32>()))),
        ("moment", Arc::new(TimestampNanosecondArray::from(whole_numbers::<i64>()).with_timezone("+02:00"))),
        ("second", Arc::new(TimestampSecondArray::from(whole_numbers::<i64>()))),
        ("span", Arc::new(DurationMillisecondArray::from(whole_numbers::<i64>()))),
        ("months", Arc::new(IntervalMonthDayNanoArray::from(interval))),
        ("price", Arc::new(Decimal128Array::from(whole_numbers::<i128>()).with_precision_and_scale(12, 2).unwrap())),
        ("fixed", Arc::new(fixed)),
        ("nothing", Arc::new(NullArray::new(ROWS))),
    ]
}

/// Columns that are never read, in a file of which others are.
fn nested() -> Vec<(&'static str, ArrayRef)> {
    let mut list = ListBuilder::new(StringBuilder::new());
    let mut map = MapBuilder::new(None, StringBuilder::new(), StringBuilder::new());
    let mut runs = StringRunBuilder::<Int16Type>::new();
    for i in 0..ROWS {
        list.append_value((0..i % 3).map(|j| Some(format!("secret {j}"))));
        map.keys().append_value("k");
        map.values().append_value("secret");
        map.append(true).unwrap();
        runs.append_value(if i < 20 { "a" } else { "b" });
    }
    let fields = Fields::from(vec![Field::new("x", DataType::Int32, true), Field::new("y", DataType::Null, true)]);
    let parts: Vec<ArrayRef> = vec![Arc::new(Int32Array::from(whole_numbers::<i32>())), Arc::new(NullArray::new(ROWS))];
    let kinds = UnionFields::try_new([0], [Field::new("n", DataType::Int32, true)]).unwrap();
    let types = ScalarBuffer::from(vec![0i8; ROWS]);
    let values: ArrayRef = Arc::new(Int32Array::from(whole_numbers::<i32>()));
    let inner: DictionaryArray<Int32Type> = words(1).iter().map(Option::as_deref).collect();
    vec![
        ("nested list", Arc::new(list.finish())),
        ("nested map", Arc::new(map.finish())),
        ("nested runs", Arc::new(runs.finish())),
        ("nested struct", Arc::new(StructArray::new(fields, parts, None))),
        ("nested union", Arc::new(UnionArray::try_new(kinds, types, None, vec![values]).unwrap())),
        (
            "nested words",
            Arc::new(StructArray::from(vec![(
                Arc::new(Field::new("w", inner.data_type().clone(), true)),
                Arc::new(inner.clone()) as ArrayRef,
            )])),
        ),
        ("words", Arc::new(inner)),
        ("text", Arc::new(StringArray::from(words(0)))),
    ]
}

fn batch(columns: Vec<(&'static str, ArrayRef)>) -> RecordBatch {
    let fields: Vec<Field> = columns.iter().map(|(name, a)| Field::new(*name, a.data_type().clone(), true)).collect();
    let schema: SchemaRef = Arc::new(Schema::new(fields));
    RecordBatch::try_new(schema, columns.into_iter().map(|(_, array)| array).collect()).unwrap()
}

fn arrow(columns: &dyn Fn() -> Vec<(&'static str, ArrayRef)>, file: bool, packed: Option<CompressionType>) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(packed).unwrap();
    let batch = batch(columns());
    let mut bytes = Vec::new();
    if file {
        let mut writer = FileWriter::try_new_with_options(&mut bytes, &batch.schema(), options).unwrap();
        (0..3).for_each(|_| writer.write(&batch).unwrap());
        writer.finish().unwrap();
    } else {
        let mut writer = StreamWriter::try_new_with_options(&mut bytes, &batch.schema(), options).unwrap();
        (0..3).for_each(|_| writer.write(&batch).unwrap());
        writer.finish().unwrap();
    }
    bytes
}

fn parquet(properties: impl FnOnce(parquet::file::properties::WriterPropertiesBuilder) -> WriterProperties) -> Vec<u8> {
    // Parquet has no months with nanoseconds.
    let columns = scalars(0).into_iter().filter(|(name, _)| !matches!(*name, "months" | "span"));
    let batch = batch(columns.collect());
    let properties = properties(WriterProperties::builder().set_max_row_group_row_count(Some(50)));
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    (0..3).for_each(|_| writer.write(&batch).unwrap());
    writer.close().unwrap();
    bytes
}

fn text(separator: char) -> Vec<u8> {
    let mut text = String::from("name,age,note\n").replace(',', &separator.to_string());
    for i in 0..ROWS * 3 {
        text.push_str(&format!("secret {i}{separator}{}{separator}\"a \"\"b\"\" {separator} c\nd\"\r\n", i % 90));
    }
    text.into_bytes()
}

fn lines() -> Vec<u8> {
    let line =
        |i: usize| format!("{{\"name\":\"secret \\u00e9 {i}\",\"age\":{}.5e1,\"ok\":true,\"no\":null}}\n", i % 90);
    (0..ROWS * 3).map(line).collect::<String>().into_bytes()
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn database() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.db");
    let connection = rusqlite::Connection::open(&file).unwrap();
    connection.execute_batch("PRAGMA page_size = 1024; CREATE TABLE t (name TEXT, age INTEGER, x REAL);").unwrap();
    for i in 0..ROWS * 3 {
        let row = rusqlite::params![format!("secret {i}"), i as i64, i as f64 / 3.0];
        connection.execute("INSERT INTO t VALUES (?1, ?2, ?3)", row).unwrap();
    }
    connection.execute_batch("CREATE INDEX i ON t (name)").unwrap();
    drop(connection);
    std::fs::read(&file).unwrap()
}

/// All samples.
pub fn all() -> Vec<Sample> {
    let (lz4, zstd) = (Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD));
    let flat = || scalars(0);
    let sample = |name, format, bytes| Sample { name, format: Some(format), bytes };
    let zstd_level = ZstdLevel::default();
    vec![
        sample("arrow-file", Format::Arrow, arrow(&flat, true, None)),
        sample("arrow-file-lz4", Format::Arrow, arrow(&flat, true, lz4)),
        sample("arrow-file-zstd", Format::Arrow, arrow(&flat, true, zstd)),
        sample("arrow-file-nested", Format::Arrow, arrow(&nested, true, None)),
        sample("arrow-stream", Format::Arrow, arrow(&flat, false, None)),
        sample("arrow-stream-lz4", Format::Arrow, arrow(&flat, false, lz4)),
        sample("arrow-stream-zstd", Format::Arrow, arrow(&flat, false, zstd)),
        sample("arrow-stream-nested", Format::Arrow, arrow(&nested, false, None)),
        sample("parquet", Format::Parquet, parquet(|p| p.build())),
        sample("parquet-snappy", Format::Parquet, parquet(|p| p.set_compression(Compression::SNAPPY).build())),
        sample(
            "parquet-gzip",
            Format::Parquet,
            parquet(|p| p.set_compression(Compression::GZIP(GzipLevel::default())).build()),
        ),
        sample("parquet-lz4", Format::Parquet, parquet(|p| p.set_compression(Compression::LZ4_RAW).build())),
        sample(
            "parquet-zstd-2",
            Format::Parquet,
            parquet(|p| {
                p.set_compression(Compression::ZSTD(zstd_level)).set_writer_version(WriterVersion::PARQUET_2_0).build()
            }),
        ),
        sample(
            "parquet-delta",
            Format::Parquet,
            parquet(|p| {
                let p = p.set_dictionary_enabled(false).set_statistics_enabled(EnabledStatistics::None);
                let p = p.set_writer_version(WriterVersion::PARQUET_2_0);
                p.set_column_encoding("text".into(), Encoding::DELTA_BYTE_ARRAY)
                    .set_column_encoding("large".into(), Encoding::DELTA_LENGTH_BYTE_ARRAY)
                    .set_column_encoding("i64".into(), Encoding::DELTA_BINARY_PACKED)
                    .set_column_encoding("f64".into(), Encoding::BYTE_STREAM_SPLIT)
                    .build()
            }),
        ),
        sample("csv", Format::Csv, text(',')),
        sample("tsv", Format::Tsv, text('\t')),
        sample("csv-gz", Format::CsvGz, gzipped(&text(','))),
        sample("json", Format::JsonLines, lines()),
        sample("json-gz", Format::JsonLinesGz, gzipped(&lines())),
        Sample { name: "sqlite", format: None, bytes: database() },
    ]
}
