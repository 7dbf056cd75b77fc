//! Every format returns what was written to it, and folders of files are read as one table.

use std::path::Path;

use amidst_core::table::{Column, Table, ValueType};
use amidst_io::{Format, ReadError, ReadOptions, WriteOptions, read, read_from, write, write_to};
use proptest::prelude::*;

const ALL: [Format; 8] = [
    Format::Csv,
    Format::CsvGz,
    Format::Tsv,
    Format::TsvGz,
    Format::Parquet,
    Format::Arrow,
    Format::JsonLines,
    Format::JsonLinesGz,
];

fn table(columns: &[(&str, Vec<String>)]) -> Table {
    let columns: Vec<Column> = columns
        .iter()
        .map(|(name, values)| {
            let mut column = Column::new(*name);
            values.iter().for_each(|v| column.push(v));
            column
        })
        .collect();
    Table { rows: columns[0].codes.len(), columns }
}

fn strings(values: &[&str]) -> Vec<String> {
    values.iter().map(|v| v.to_string()).collect()
}

fn cells(table: &Table) -> Vec<Vec<String>> {
    table.columns.iter().map(|c| (0..table.rows).map(|r| c.value(r).to_string()).collect()).collect()
}

fn through(table: &Table, order: Option<&[u32]>, format: Format, threads: usize) -> Table {
    let mut bytes = Vec::new();
    let report = write_to(table, order, &mut bytes, format, &WriteOptions::default()).unwrap();
    assert_eq!(report.bytes, bytes.len() as u64);
    let options = ReadOptions { threads, block_size: 97, separator: Some(b','), ..ReadOptions::default() };
    let input = read_from(bytes.as_slice(), Path::new("t"), format, &options).unwrap();
    assert_eq!(report.rows, input.table.rows as u64);
    input.table
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_format_gives_back_the_cells(rows in prop::collection::vec(("[a-b]?", "\\PC{0,20}", "[\"\n\r,\t\\\\{}]{0,3}"), 1..60)) {
        let column = |f: fn(&(String, String, String)) -> &String| rows.iter().map(|r| f(r).clone()).collect();
        let table = table(&[("a", column(|r| &r.0)), ("b \"ü\"", column(|r| &r.1)), ("c", column(|r| &r.2))]);
        for format in ALL {
            for threads in [1, 2, 7] {
                let found = through(&table, None, format, threads);
                prop_assert_eq!(cells(&found), cells(&table), "{:?}", format);
                for (a, b) in found.columns.iter().zip(&table.columns) {
                    prop_assert_eq!(&a.name, &b.name);
                    prop_assert_eq!(&a.codes, &b.codes);
                }
            }
        }
    }
}

#[test]
fn rows_are_picked_in_every_format() {
    let table = table(&[("a", strings(&["x", "secret", "y", "x"])), ("b", strings(&["1", "2", "", "4"]))]);
    for format in ALL {
        let found = through(&table, Some(&[3, 2, 3]), format, 1);
        assert_eq!(cells(&found), [["x", "y", "x"], ["4", "", "4"]], "{format:?}");
    }
    // A value that no written row has must not be in the file at all.
    for format in [Format::Arrow, Format::Parquet] {
        let mut bytes = Vec::new();
        write_to(&table, Some(&[0, 2]), &mut bytes, format, &WriteOptions::default()).unwrap();
        assert!(!bytes.windows(6).any(|w| w == b"secret"));
    }
}

#[test]
fn columns_have_types_where_every_label_reads_back_as_it_was() {
    use arrow_schema::DataType;
    let columns = [
        ("n", ["12", "", "-3"], ValueType::Integer),
        ("d", ["0.5", "2.5", "7"], ValueType::Decimal),
        ("zeros", ["0.5", "2.50", "7"], ValueType::Decimal),
        ("zip", ["01234", "99999", "00001"], ValueType::Integer),
        ("day", ["2020-01-31", "1999-12-01", "0001-02-28"], ValueType::Date),
        ("month", ["2020-01", "1999-12-01", ""], ValueType::Date),
        ("truth", ["true", "false", "true"], ValueType::Text),
        ("seen", ["1.5", "2", "-1"], ValueType::Text),
        ("gap", ["1", "", "2"], ValueType::Text),
        ("text", ["1", "2", "3"], ValueType::Text),
    ];
    let mut table = table(&columns.map(|(name, values, _)| (name, strings(&values))));
    for (column, (_, _, kind)) in table.columns.iter_mut().zip(columns) {
        column.kind = kind;
    }
    let untyped = |name: &str| matches!(name, "seen" | "gap");
    let options = WriteOptions { untyped: Some(&untyped), ..WriteOptions::default() };
    let mut text = Vec::new();
    write_to(&table, None, &mut text, Format::JsonLines, &options).unwrap();
    let text = String::from_utf8(text).unwrap();
    let first = r#"{"n":12,"d":0.5,"zeros":"0.5","zip":"01234","day":"2020-01-31","month":"2020-01","truth":true,"#;
    assert_eq!(text.lines().next(), Some(format!(r#"{first}"seen":1.5,"gap":"1","text":"1"}}"#).as_str()));
    let second =
        r#"{"n":null,"d":2.5,"zeros":"2.50","zip":"99999","day":"1999-12-01","month":"1999-12-01","truth":false,"#;
    assert_eq!(text.lines().nth(1), Some(format!(r#"{second}"seen":2,"gap":"","text":"2"}}"#).as_str()));
    for format in [Format::JsonLines, Format::Parquet, Format::Arrow] {
        let mut bytes = Vec::new();
        write_to(&table, None, &mut bytes, format, &options).unwrap();
        let found = read_from(bytes.as_slice(), Path::new("t"), format, &ReadOptions::default()).unwrap();
        assert_eq!(cells(&found.table), cells(&table), "{format:?}");
        let nulls: Vec<bool> = found.nulls.iter().map(Option::is_some).collect();
        assert_eq!(nulls, columns.map(|(name, ..)| name == "n"), "{format:?}");
    }
    let mut bytes = Vec::new();
    write_to(&table, None, &mut bytes, Format::Arrow, &options).unwrap();
    let reader = arrow_ipc::reader::FileReader::try_new(std::io::Cursor::new(bytes), None).unwrap();
    let kinds: Vec<DataType> = reader.schema().fields().iter().map(|f| f.data_type().clone()).collect();
    let words = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let expected = [
        DataType::Int64,
        DataType::Float64,
        words.clone(),
        words.clone(),
        DataType::Date32,
        words.clone(),
        DataType::Boolean,
        DataType::Float64,
        words.clone(),
        words,
    ];
    assert_eq!(kinds, expected);
}

#[test]
fn typed_arrays_become_text() {
    use arrow_array::types::Int8Type;
    use arrow_array::*;
    use std::sync::Arc;
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("bool", Arc::new(BooleanArray::from(vec![Some(true), None]))),
        ("float", Arc::new(Float64Array::from(vec![1.0, 0.1]))),
        ("single", Arc::new(Float32Array::from(vec![0.1, 1e20]))),
        ("int", Arc::new(UInt16Array::from(vec![Some(65535), None]))),
        ("day", Arc::new(Date32Array::from(vec![0, 18_262]))),
        ("time", Arc::new(TimestampMicrosecondArray::from(vec![0, 1_500_000]))),
        ("money", Arc::new(Decimal128Array::from(vec![250, -1]).with_precision_and_scale(10, 2).unwrap())),
        ("text", Arc::new(LargeStringArray::from(vec![Some("ä"), None]))),
        ("view", Arc::new(StringViewArray::from(vec!["a longer text than twelve", "b"]))),
        ("bytes", Arc::new(BinaryArray::from(vec![b"x".as_slice(), b""]))),
        ("few", Arc::new(vec![Some("p"), None].into_iter().collect::<DictionaryArray<Int8Type>>())),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let expected = [
        ["true", ""],
        ["1", "0.1"],
        ["0.1", "1e20"],
        ["65535", ""],
        ["1970-01-01", "2020-01-01"],
        ["1970-01-01T00:00:00", "1970-01-01T00:00:01.500"],
        ["2.5", "-0.01"],
        ["ä", ""],
        ["a longer text than twelve", "b"],
        ["x", ""],
        ["p", ""],
    ];
    let mut parquet = Vec::new();
    let mut writer = parquet::arrow::ArrowWriter::try_new(&mut parquet, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let mut stream = Vec::new();
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(&mut stream, &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    for (bytes, format) in [(parquet, Format::Parquet), (stream, Format::Arrow)] {
        let input = read_from(bytes.as_slice(), Path::new("t"), format, &ReadOptions::default()).unwrap();
        assert_eq!(cells(&input.table), expected, "{format:?}");
        assert_eq!(input.line_of(0), None);
    }
}

#[test]
fn row_groups_are_read_by_all_threads_in_order() {
    use arrow_array::{RecordBatch, StringArray};
    use std::sync::Arc;
    let properties =
        parquet::file::properties::WriterProperties::builder().set_max_row_group_row_count(Some(100)).build();
    let values: Vec<String> = (0..1050).map(|i| format!("v{}", i * i % 371)).collect();
    let array: arrow_array::ArrayRef = Arc::new(StringArray::from_iter_values(&values));
    let batch = RecordBatch::try_from_iter([("v", array)]).unwrap();
    let mut bytes = Vec::new();
    let mut writer = parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let expected = table(&[("v", values)]);
    for threads in [1, 2, 7] {
        let options = ReadOptions { threads, ..ReadOptions::default() };
        let found = read_from(bytes.as_slice(), Path::new("t"), Format::Parquet, &options).unwrap();
        assert_eq!(found.table.columns[0].codes, expected.columns[0].codes);
        let options = ReadOptions { threads, max_rows: Some(150), ..ReadOptions::default() };
        let found = read_from(bytes.as_slice(), Path::new("t"), Format::Parquet, &options).unwrap();
        assert_eq!(found.table.rows, 150);
    }
}

#[test]
fn json_keys_may_come_late_and_in_any_order() {
    let text = "{\"a\":1,\"b\":\"x\"}\n\n{\"b\":\"y\",\"a\":2}\n{\"c\":true}\n";
    for (threads, block_size) in [(1, 0), (2, 1), (7, 20)] {
        let options = ReadOptions { threads, block_size, ..ReadOptions::default() };
        let input = read_from(text.as_bytes(), Path::new("t.jsonl"), Format::JsonLines, &options).unwrap();
        assert_eq!(input.header, ["a", "b", "c"]);
        assert_eq!(cells(&input.table), [["1", "2", ""], ["x", "y", ""], ["", "", "true"]]);
        assert_eq!((0..3).map(|r| input.line_of(r)).collect::<Vec<_>>(), [Some(1), Some(3), Some(4)]);
    }
}

#[test]
fn folders_and_globs_are_read_in_the_order_of_names() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("README.txt"), "not data").unwrap();
    std::fs::write(at("2.csv"), "a,b\n3,4\n").unwrap();
    let first = table(&[("a", strings(&["1"])), ("b", strings(&["2"]))]);
    write(&first, None, &at("1.parquet"), Format::Parquet, &WriteOptions::default()).unwrap();
    std::fs::write(at("3.jsonl"), "{\"b\":6,\"a\":5}\n").unwrap();
    let source = folder.path().to_string_lossy().into_owned();
    let input = read(&source, &ReadOptions::default()).unwrap();
    assert_eq!(cells(&input.table), [["1", "3", "5"], ["2", "4", "6"]]);
    assert_eq!(input.files, [at("1.parquet"), at("2.csv"), at("3.jsonl")]);
    assert_eq!((input.line_of(1), input.line_of(2)), (Some(2), Some(1)));
    assert_eq!(input.file_of(2), Some(at("3.jsonl").as_path()));
    let globbed = read(&format!("{source}/[12].*"), &ReadOptions::default()).unwrap();
    assert_eq!(globbed.table.rows, 2);

    std::fs::write(at("4.csv"), "a,c\n7,8\n").unwrap();
    let error = read(&source, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("4.csv: column 2 is “c”, but") && error.contains("has “b” there"), "{error}");
}

#[test]
fn a_failed_write_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.csv");
    let table = table(&[("a", strings(&["1"]))]);
    let stop = std::sync::atomic::AtomicBool::new(true);
    let options = WriteOptions { cancel: Some(&stop), ..WriteOptions::default() };
    assert!(write(&table, None, &path, Format::Csv, &options).is_err());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    let missing = folder.path().join("no/such/out.csv");
    let error = write(&table, None, &missing, Format::Csv, &WriteOptions::default()).unwrap_err().to_string();
    assert!(error.ends_with("no such folder to write into. Create it first"), "{error}");
}

#[test]
fn reading_can_be_watched_and_cancelled() {
    let text = format!("a,b\n{}", "1,2\n".repeat(10_000));
    let seen = std::sync::atomic::AtomicU64::new(0);
    let watch = |done: u64, _: Option<u64>| seen.store(done, std::sync::atomic::Ordering::Relaxed);
    let options = ReadOptions { progress: Some(&watch), ..ReadOptions::default() };
    read_from(text.as_bytes(), Path::new("t.csv"), Format::Csv, &options).unwrap();
    assert_eq!(seen.into_inner(), text.len() as u64);
    let stop = std::sync::atomic::AtomicBool::new(true);
    let options = ReadOptions { cancel: Some(&stop), ..ReadOptions::default() };
    let result = read_from(text.as_bytes(), Path::new("t.csv"), Format::Csv, &options);
    assert!(matches!(result, Err(ReadError::Cancelled)));
}
