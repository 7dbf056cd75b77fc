//! Invalid files and their error messages, none of which quotes a cell.

use std::io::Write;
use std::path::Path;

use amidst_core::table::{Column, Table};
use amidst_io::{Format, ReadOptions, WriteOptions, read, read_from, write_to};

fn error(bytes: &[u8], format: Format) -> String {
    let mut messages = Vec::new();
    for (threads, block_size) in [(1, 0), (2, 16), (3, 1 << 20)] {
        let options = ReadOptions { threads, block_size, ..ReadOptions::default() };
        messages.push(read_from(bytes, Path::new("t"), format, &options).unwrap_err().to_string());
    }
    messages.dedup();
    assert_eq!(messages.len(), 1, "the message depends on threads: {messages:?}");
    let message = messages.remove(0);
    assert!(message.len() < 600 && !message.contains("secret"), "{message}");
    message
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn separated_values() {
    let cases: [(&[u8], &str); 22] = [
        (
            b"Export of March\n\na,b\n1,secret\n",
            "t, line 3: 2 fields, but the header has 1. Delete what stands above the names of the columns, or state the separator",
        ),
        (
            b"sep=;\r\na;b\r\n1;secret\r\n",
            "t, line 1: a line that only Excel understands, sep=, stands where the names of the columns should. Delete it, and state `separator = \";\"` under [data]",
        ),
        (
            b"a\0;\0b\0\r\0\n\x001\0;\x002\0\r\0\n\0",
            "t, line 1: a NUL byte. The file is damaged, or not text, or UTF-16: then state `encoding = \"utf-16le\"` under [data]",
        ),
        (b"", "t: the file is empty. It needs a header line and at least one row"),
        (b"\n\r\n\n", "t: the file is empty. It needs a header line and at least one row"),
        (b"\xEF\xBB\xBF", "t: the file is empty. It needs a header line and at least one row"),
        (b"a,b\n", "t: no rows, only a header"),
        (b"a,b", "t: no rows, only a header"),
        (b"a,b\n\n\n", "t: no rows, only a header"),
        (
            b"a,b\n1,secret\n1,2,3\n",
            "t, line 3: 3 fields, but the header has 2. Quote fields that contain the separator, or state the separator",
        ),
        (
            b"a,b\n\n\"x\ny\",2\nsecret\n4,4\n",
            "t, line 5: 1 field, but the header has 2. Quote fields that contain the separator, or state the separator",
        ),
        (
            b"a,b\n1,2\n3,sec\0ret\n",
            "t, line 3, column “b”: a NUL byte. The file is damaged, or not text, or UTF-16: then state `encoding = \"utf-16le\"` under [data]",
        ),
        (
            b"a\0,b\n1,2\n",
            "t, line 1: a NUL byte. The file is damaged, or not text, or UTF-16: then state `encoding = \"utf-16le\"` under [data]",
        ),
        (
            b"a,b\n1,2\nJos\xe9,secret\n\xff,1\n",
            "t, line 3, column “a”: not UTF-8, which is expected where nothing else is stated. State what it is under [data], for files of Windows and Excel mostly `encoding = \"windows-1252\"`",
        ),
        (
            b"a,b\n1,2\n\"x\",\xe9\n",
            "t, line 3, column “b”: not UTF-8, which is expected where nothing else is stated. State what it is under [data], for files of Windows and Excel mostly `encoding = \"windows-1252\"`",
        ),
        (
            b"\xff\xfea\0,\0x",
            "t, line 1: not utf-16le, as is stated or as its first bytes say. State another `encoding` under [data], or export the file again",
        ),
        (
            b"a,b,a\n1,2,3\n",
            "t: columns 1 and 3 are both called “a”. Rename one, or state `header = false` under [data] if there is no header",
        ),
        (
            b"a,,c\n1,2,3\n",
            "t: column 2 has no name. Give every column a name in the header, delete lines above it, or state `header = false` under [data] if there is none",
        ),
        (b"a,b\n1,2\n3,\"secret\n4,5\n", "t, line 3, column “b”: a quote that opens here is never closed"),
        (b"\"a,b\n1,2\n", "t, line 1: a quote that opens here is never closed"),
        (
            b"a,b\n1,2\n3,4\n5\n",
            "t, line 4: 1 field, but the header has 2. Quote fields that contain the separator, or state the separator",
        ),
        (
            b"a,b\n1,2\n\n3,4,5\n",
            "t, line 4: 3 fields, but the header has 2. Quote fields that contain the separator, or state the separator",
        ),
    ];
    for (bytes, expected) in cases {
        assert_eq!(error(bytes, Format::Csv), expected);
    }
}

#[test]
fn a_bad_row_far_down_has_its_line() {
    let mut text = b"a,b,c\n".to_vec();
    for i in 0..30_000 {
        text.extend_from_slice(format!("{},x{},y\n", i, i % 7).as_bytes());
    }
    let mut ragged = text.clone();
    ragged.extend_from_slice(b"1,2\n");
    assert!(error(&ragged, Format::Csv).starts_with("t, line 30002: 2 fields"));
    let at = text.len() - 40_000;
    let line = text[..at].iter().filter(|&&b| b == b'\n').count() + 1;
    text[at] = 0xff;
    let message = error(&text, Format::Csv);
    assert!(message.starts_with(&format!("t, line {line}")), "{message} not on {line}");
}

#[test]
fn very_long_fields() {
    let mut text = b"a,b\n1,2\n3,".to_vec();
    text.resize(100 << 20, b'x');
    let options = ReadOptions::default();
    let message = |text: &[u8]| read_from(text, Path::new("t"), Format::Csv, &options).unwrap_err().to_string();
    assert_eq!(message(&text), "t, line 3, column “b”: a field of more than 16 MiB. Shorten it");
    text[10] = b'"';
    assert_eq!(
        message(&text),
        "t, line 3, column “b”: a field of more than 16 MiB. Its quote is probably never closed: look for a stray \" on that line"
    );
    let whole = [b"a,b\n1,".as_slice(), &vec![b'x'; 17 << 20], b"\n1,2\n"].concat();
    assert_eq!(message(&whole), "t, line 2, column “b”: a field of more than 16 MiB. Shorten it");
    text[0] = b'"';
    assert!(message(&text).starts_with("t, line 1"));
}

#[test]
fn too_many_distinct_values() {
    let mut text = String::from("id,sex\n");
    (0..5000).for_each(|i| text.push_str(&format!("p{i},m\n")));
    let limit = |name: &str| (name != "free").then_some(1000);
    for threads in [1, 2] {
        let options = ReadOptions { distinct_limit: Some(&limit), threads, block_size: 4096, ..ReadOptions::default() };
        let message = read_from(text.as_bytes(), Path::new("t"), Format::Csv, &options).unwrap_err().to_string();
        assert_eq!(
            message,
            "t: column “id” has more than 1000 distinct values. Make it identifying (it is then left out) or insensitive"
        );
        let free = text.replace("id,", "free,");
        assert!(read_from(free.as_bytes(), Path::new("t"), Format::Csv, &options).is_ok());
    }
}

#[test]
fn gzip() {
    let whole = gz(&[b"a,b\n".as_slice(), &b"1,2\n".repeat(5000)].concat());
    let early = "t: the compressed data ends early. Copy or download the file again";
    assert_eq!(error(&whole[..whole.len() - 10], Format::CsvGz), early);
    assert_eq!(error(&whole[..whole.len() / 2], Format::CsvGz), early);
    assert_eq!(error(&whole[..5], Format::CsvGz), early);
    assert_eq!(
        error(b"a,b\n1,2\nthis is no gzip at all", Format::CsvGz),
        "t: the compressed data is damaged. Copy or download the file again"
    );
    let mut damaged = whole.clone();
    let last = damaged.len() - 6;
    damaged[last] ^= 1;
    assert_eq!(error(&damaged, Format::CsvGz), "t: the compressed data is damaged. Copy or download the file again");
}

#[test]
fn json_lines() {
    let cases = [
        ("", "t: the file is empty. It needs a header line and at least one row"),
        ("\n\n", "t: no rows, only a header"),
        (
            "{\"a\":1}\n{\"a\":[\"secret\"]}\n",
            "t, line 2, column “a”: a list or an object where one value is expected. Flatten it into columns of its own",
        ),
        ("{\"a\":1}\n\n{\"a\":\"secret\n", "t, line 3: not a JSON object: a text is not closed"),
        ("[1]\n", "t, line 1: not a JSON object: the line does not start with {"),
        ("{\"a\":1,\"a\":2}\n", "t, line 1: not a JSON object: a key appears twice"),
        (
            "{\"\":1}\n",
            "t: column 1 has no name. Give every column a name in the header, delete lines above it, or state `header = false` under [data] if there is none",
        ),
        (
            "{\"a\":\"\\u0000\"}\n",
            "t, line 1, column “a”: a NUL byte. The file is damaged, or not text, or UTF-16: then state `encoding = \"utf-16le\"` under [data]",
        ),
        (
            "{\"a\":secret}\n",
            "t, line 1: not a JSON object: a value is neither text nor a number nor true, false or null",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(error(text.as_bytes(), Format::JsonLines), expected);
    }
    assert!(error(b"{\"a\":\"\xff\"}\n", Format::JsonLines).starts_with("t, line 1, column “a”: not UTF-8"));
}

#[test]
fn parquet_and_arrow_cut_anywhere() {
    let mut column = Column::new("a");
    (0..200).for_each(|i| column.push(&format!("secret{i}")));
    let table = Table { columns: vec![column], rows: 200 };
    for format in [Format::Parquet, Format::Arrow] {
        let mut bytes = Vec::new();
        write_to(&table, None, &mut bytes, format, &WriteOptions::default()).unwrap();
        for end in (0..bytes.len()).step_by(101).chain([1, 4, 8, bytes.len() / 2, bytes.len() - 1]) {
            let message = error(&bytes[..end], format);
            let expected = if end == 0 { "t: the file is empty" } else { "t: not a whole" };
            assert!(message.starts_with(expected), "{end}: {message}");
        }
        let message = error(b"a,b\n1,2\n3,4\n5,6\n", format);
        assert!(message.ends_with("Copy or export it again"), "{message}");
    }
}

#[test]
fn nested_columns_are_refused_unless_left_out() {
    use arrow_array::{Array, ArrayRef, Int32Array, ListArray, RecordBatch, types::Int32Type};
    use std::sync::Arc;
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1)])]);
    let columns: [(&str, ArrayRef); 2] = [("n", Arc::new(Int32Array::from(vec![1]))), ("list", Arc::new(list))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    assert_eq!(batch.column(0).len(), 1);
    let mut bytes = Vec::new();
    let mut writer = parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    assert_eq!(
        error(&bytes, Format::Parquet),
        "t: column “list” has the type List, which is not one value a cell. Flatten it or leave it out"
    );
    let keep = |name: &str| name == "n";
    let options = ReadOptions { keep: Some(&keep), ..ReadOptions::default() };
    let input = read_from(bytes.as_slice(), Path::new("t"), Format::Parquet, &options).unwrap();
    assert_eq!(input.table.columns[0].value(0), "1");
}

#[test]
fn paths() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let message = |source: &str| read(source, &ReadOptions::default()).unwrap_err().to_string().replace(&at(""), "");
    let supported = amidst_io::SUPPORTED;
    std::fs::create_dir(at("empty")).unwrap();
    assert_eq!(message(&at("empty")), format!("empty: no data files there. Supported: {supported}"));
    std::fs::write(at("patients.csv"), "a,b\n1,2\n").unwrap();
    std::fs::write(at("patients.xlt"), "x").unwrap();
    assert_eq!(message(&at("patient.csv")), "patient.csv: no such file. Did you mean patients.csv?");
    assert_eq!(message(&at("other.parquet")), "other.parquet: no such file.");
    assert_eq!(
        message(&at("patients.xlt")),
        format!(
            "patients.xlt: the ending does not tell the format. Supported: {supported}. Rename the file if it is one of these"
        )
    );
    assert_eq!(message(&at("*.tsv")), format!("*.tsv: no data files there. Supported: {supported}"));
    assert!(message("ftp://x/y.csv").starts_with("ftp:// sources cannot be read"));
    let options = ReadOptions { separator: Some(b'"'), ..ReadOptions::default() };
    assert!(read(&at("patients.csv"), &options).unwrap_err().to_string().starts_with("the separator must be"));
}

#[cfg(unix)]
#[test]
fn permission_denied() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, "a\n1\n").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::File::open(&path).is_ok() {
        return; // Root may read every file.
    }
    let message = read(&path.to_string_lossy(), &ReadOptions::default()).unwrap_err().to_string();
    assert!(message.ends_with("permission denied. Let this user read the file (chmod +r), or copy it"), "{message}");
}
