//! Stated conventions (encoding, header, decimal commas, dates), and the messages where they are missing.

use std::io::Write;
use std::path::PathBuf;

use amidst_io::{Conventions, DateFormat, Input, Merged, ReadError, ReadOptions, TextEncoding, read};

struct Folder(tempfile::TempDir);

impl Folder {
    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn read(&self, name: &str, bytes: &[u8], conventions: &Conventions) -> Result<Input, ReadError> {
        let path = self.file(name, bytes);
        read(&path.to_string_lossy(), &ReadOptions { conventions: Some(conventions), ..ReadOptions::default() })
    }
}

fn folder() -> Folder {
    Folder(tempfile::tempdir().unwrap())
}

fn first(input: &Input, column: usize) -> &str {
    input.table.columns[column].value(0)
}

fn stated(name: &str) -> Conventions {
    Conventions { encoding: TextEncoding::named(name), ..Conventions::default() }
}

#[test]
fn text_in_any_encoding_is_read_as_stated_or_marked() {
    let folder = folder();
    let text = "name;ville\nZoé;Besançon\n";
    let latin: Vec<u8> = text.chars().map(|c| c as u8).collect();
    let input = folder.read("a.csv", &latin, &stated("latin-1")).unwrap();
    assert_eq!((first(&input, 0), first(&input, 1)), ("Zoé", "Besançon"));
    let utf16: Vec<u8> = format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let input = folder.read("b.csv", &utf16, &Conventions::default()).unwrap();
    assert_eq!((input.header[1].as_str(), first(&input, 0)), ("ville", "Zoé"));
    // A byte order mark takes precedence over the stated encoding.
    let marked = format!("\u{feff}{text}");
    let input = folder.read("c.csv", marked.as_bytes(), &stated("latin-1")).unwrap();
    assert_eq!((input.header[0].as_str(), first(&input, 1)), ("name", "Besançon"));
    let json: Vec<u8> = "{\"a\":\"é\"}\n".chars().map(|c| c as u8).collect();
    assert_eq!(first(&folder.read("d.jsonl", &json, &stated("windows-1252")).unwrap(), 0), "é");
}

#[test]
fn an_encoding_that_is_not_stated_is_asked_for() {
    let folder = folder();
    let error = folder.read("a.csv", b"name,age\nAnn,3\nRen\xe9,4\n", &Conventions::default()).unwrap_err().to_string();
    for part in ["a.csv", "line 3", "“name”", "`encoding = \"windows-1252\"`"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    let bytes: Vec<u8> = "a,b\n1,2\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let error = folder.read("b.csv", &bytes, &Conventions::default()).unwrap_err().to_string();
    assert!(error.contains("utf-16le"), "{error}");
    let error = folder.read("c.csv", b"a,b\n1,2\nx\x81,3\n", &stated("shift_jis")).unwrap_err();
    assert!(matches!(error, ReadError::NotEncoding { line: 3, .. }), "{error}");
}

#[test]
fn tables_without_a_header_have_numbered_columns() {
    let none = Conventions { no_header: true, ..Conventions::default() };
    let folder = folder();
    let input = folder.read("a.csv", b"39,State-gov,x\n50,Private,y\n", &none).unwrap();
    assert_eq!(input.header, ["column1", "column2", "column3"]);
    assert_eq!((input.table.rows, first(&input, 1), input.line_of(0)), (2, "State-gov", Some(1)));
    let input = folder.read("b.csv", b"\n\"7\",\"\"\n8,9\n", &none).unwrap();
    assert_eq!((input.table.rows, first(&input, 0), input.line_of(1)), (2, "7", Some(3)));
}

#[test]
fn a_first_column_without_a_name_is_one_of_row_numbers() {
    let folder = folder();
    let read = |name: &str, bytes: &[u8]| folder.read(name, bytes, &Conventions::default());
    assert_eq!(read("r.csv", b"\"\",\"age\"\n\"1\",34\n").unwrap().header, ["row_number", "age"]);
    assert_eq!(read("p.csv", b",age,row_number\n0,34,7\n").unwrap().header[0], "row_number_");
    let error = read("q.csv", b"age,,b\n1,2,3\n").unwrap_err();
    assert!(matches!(error, ReadError::EmptyColumnName { position: 2, .. }), "{error}");
}

#[test]
fn decimal_commas_and_local_dates_are_converted_where_stated() {
    let local =
        Conventions { decimal_comma: true, date_format: DateFormat::parse("d-m-y").ok(), ..Conventions::default() };
    let folder = folder();
    let text = "kg;geb;code\n72,5;05.03.1990;a1\n1.080,0;6.3.1991;b,2\n";
    let input = folder.read("a.csv", text.as_bytes(), &local).unwrap();
    assert_eq!((first(&input, 0), first(&input, 1), first(&input, 2)), ("72.5", "1990-03-05", "a1"));
    assert_eq!(input.table.columns[0].value(1), "1080.0");
    assert_eq!(input.table.columns[2].value(1), "b,2");
}

#[test]
fn json_lists_and_zstd_are_read() {
    let folder = folder();
    let none = Conventions::default();
    let list = b" [\n  {\"age\": 34,\n   \"sex\": \"f\"},\n  {\"age\": 35, \"zip\": null}\n]\n";
    let input = folder.read("a.json", list, &none).unwrap();
    assert_eq!((input.header.join(","), input.table.rows), ("age,sex,zip".to_string(), 2));
    assert_eq!(input.line_of(1), None);
    assert_eq!(folder.read("b.json", b"{\"a\":1}\n{\"a\":2}\n", &none).unwrap().table.rows, 2);
    for (text, part) in [
        (&b"[{\"a\":1}, 2]"[..], "object 2"),
        (b"[{\"a\":1}, {\"a\":[1]}]", "object 2"),
        (b"{\"a\": {\"0\": 1}}", "orient = \"records\""),
        (b"3", "orient"),
        (b"[]", "no rows"),
        (b"[{\"a\":1}", "not closed"),
    ] {
        let error = folder.read("c.json", text, &none).unwrap_err().to_string();
        assert!(error.contains(part), "{part}: {error}");
    }
    let pack = |bytes: &[u8]| zstd::encode_all(bytes, 3).unwrap();
    assert_eq!(folder.read("a.csv.zst", &pack(b"a,b\n1,2\n3,4\n"), &none).unwrap().table.rows, 2);
    assert_eq!(folder.read("a.json.zst", &pack(list), &none).unwrap().table.rows, 2);
    assert_eq!(folder.read("a.jsonl.zst", &pack(b"{\"a\":1}\n"), &none).unwrap().table.rows, 1);
    let mut cut = pack(b"a,b\n1,2\n3,4\n");
    cut.truncate(cut.len() - 3);
    let damaged = |e: &ReadError| matches!(e, ReadError::GzipDamaged { .. } | ReadError::GzipEndsEarly { .. });
    assert!(damaged(&folder.read("b.csv.zst", &cut, &none).unwrap_err()));
    assert!(damaged(&folder.read("c.csv.zst", b"no zstd at all", &none).unwrap_err()));
}

/// A workbook with these parts.
fn archive(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in parts {
        out.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        out.write_all(bytes).unwrap();
    }
    out.finish().unwrap().into_inner()
}

const MANIFEST: &str = "<?xml version=\"1.0\"?><manifest:manifest xmlns:manifest=\"m\"/>";

fn opendocument(content: &str) -> Vec<u8> {
    let content = format!(
        "<?xml version=\"1.0\"?><office:document-content><office:body><office:spreadsheet>{content}\
         </office:spreadsheet></office:body></office:document-content>"
    );
    archive(&[
        ("mimetype", b"application/vnd.oasis.opendocument.spreadsheet"),
        ("META-INF/manifest.xml", MANIFEST.as_bytes()),
        ("content.xml", content.as_bytes()),
    ])
}

#[test]
fn small_workbooks_cannot_ask_for_large_memory() {
    let folder = folder();
    let none = Conventions::default();
    let cell = |times: &str, text: &str| {
        format!("<table:table-cell office:value-type=\"string\"{times}><text:p>{text}</text:p></table:table-cell>")
    };
    let row = |times: &str, cells: &str| format!("<table:table-row{times}>{cells}</table:table-row>");
    let header = row("", &format!("{}{}", cell("", "a"), cell("", "b")));
    let table = |rows: &str| format!("<table:table table:name=\"S\">{rows}</table:table>");
    let many = " table:number-columns-repeated=\"16000\"";
    let rows = format!("{header}{}", row(" table:number-rows-repeated=\"1000000\"", &cell(many, "x")));
    let error = folder.read("a.ods", &opendocument(&table(&rows)), &none).unwrap_err();
    assert!(error.to_string().contains("repeated"), "{error}");
    // LibreOffice pads sheets with empty rows, which are not rows of the table.
    let filler =
        row(" table:number-rows-repeated=\"1048000\"", "<table:table-cell table:number-columns-repeated=\"16384\"/>");
    let rows = format!("{header}{}{filler}", row("", &format!("{}{}", cell("", "1"), cell("", "2"))));
    assert_eq!(folder.read("b.ods", &opendocument(&table(&rows)), &none).unwrap().table.rows, 1);
    let merged = " table:number-columns-spanned=\"1\" table:number-rows-spanned=\"2\"";
    let covered = format!("<table:covered-table-cell/>{}", cell("", "4"));
    let rows = format!("{header}{}{}", row("", &format!("{}{}", cell(merged, "1"), cell("", "2"))), row("", &covered));
    let error = folder.read("c.ods", &opendocument(&table(&rows)), &none).unwrap_err().to_string();
    assert!(error.contains("cells A2:A3") && error.contains("merged = "), "{error}");
    // A title across the columns is not a header, whatever is stated about merged cells.
    let title = format!("{}<table:covered-table-cell/>", cell(" table:number-columns-spanned=\"2\"", "Report"));
    let rows = format!("{}{header}{}", row("", &title), row("", &format!("{}{}", cell("", "1"), cell("", "2"))));
    for merged in [Merged::Refuse, Merged::Fill] {
        let conventions = Conventions { merged, ..Conventions::default() };
        let error = folder.read("t.ods", &opendocument(&table(&rows)), &conventions).unwrap_err().to_string();
        assert!(error.contains("sheet “S”, cells A1:B1") && error.contains("above the table"), "{error}");
    }
    let bomb = archive(&[("xl/sharedStrings.xml", &vec![b' '; 600 << 20])]);
    assert!(bomb.len() < 1 << 20);
    let error = folder.read("d.xlsx", &bomb, &none).unwrap_err();
    assert!(error.to_string().contains("ask for"), "{error}");
    assert!(matches!(folder.read("e.xlsx", b"PK\x03\x04", &none), Err(ReadError::Damaged { .. })));
    let error = folder.read("f.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1more", &none).unwrap_err().to_string();
    assert!(error.contains("encrypted"), "{error}");
}
