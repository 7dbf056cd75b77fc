//! Separated values are read as they were written, for any block size and number of threads.

use std::io::Write;
use std::path::Path;

use amidst_core::table::{Column, Table};
use amidst_io::{Format, Input, ReadOptions, WriteOptions, read_from, write_to};
use proptest::prelude::*;

fn table(columns: Vec<(String, Vec<String>)>) -> Table {
    let rows = columns[0].1.len();
    let columns = columns.into_iter().map(|(name, values)| {
        let mut column = Column::new(name);
        values.iter().for_each(|v| column.push(v));
        column
    });
    Table { columns: columns.collect(), rows }
}

fn cells(table: &Table) -> Vec<Vec<String>> {
    (0..table.rows).map(|r| table.columns.iter().map(|c| c.value(r).to_string()).collect()).collect()
}

fn dictionaries(table: &Table) -> Vec<Vec<String>> {
    table.columns.iter().map(|c| c.dictionary.iter().map(str::to_string).collect()).collect()
}

fn parse(text: &[u8], separator: Option<u8>, threads: usize, block_size: usize) -> Input {
    let options = ReadOptions { separator, threads, block_size, ..ReadOptions::default() };
    read_from(text, Path::new("t.csv"), Format::Csv, &options).unwrap()
}

fn any_table() -> impl Strategy<Value = Table> {
    (1usize..5, 1usize..40).prop_flat_map(|(columns, rows)| {
        let value = prop_oneof![
            Just(String::new()),
            "[a-c]{1,3}",
            "[ -~]{0,12}",
            "[,;\"\n\r|\t]{0,4}",
            "\\PC{0,20}",
            "[xyz\"\n]{15,40}",
        ];
        let column = prop::collection::vec(value, rows);
        prop::collection::vec(column, columns)
            .prop_map(|columns| table(columns.into_iter().enumerate().map(|(i, v)| (format!("c{i}"), v)).collect()))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn what_is_written_is_read_again(table in any_table(), separator in prop::sample::select(b",;\t|".as_slice()), block in 1usize..200) {
        let mut text = Vec::new();
        let options = WriteOptions { separator: Some(separator), ..WriteOptions::default() };
        write_to(&table, None, &mut text, Format::Csv, &options).unwrap();
        for threads in [1, 2, 7] {
            let input = parse(&text, Some(separator), threads, block);
            prop_assert_eq!(cells(&input.table), cells(&table));
            prop_assert_eq!(dictionaries(&input.table), dictionaries(&table));
        }
    }

    #[test]
    fn records_are_those_of_the_csv_crate(text in "([abc\",\n]|\"\"|\"a,b\"|\n){0,60}", block in 1usize..50) {
        // Bare quotes, doubled quotes and quotes that close early.
        let mut reader = ::csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
        let expected: Vec<Vec<String>> =
            reader.records().map(|r| r.unwrap().iter().map(str::to_string).collect()).collect();
        prop_assume!(text.matches('"').count() % 2 == 0);
        let width = expected.first().map_or(0, Vec::len);
        let padded = format!("{}\n{text}", (0..width).map(|i| format!("n{i}")).collect::<Vec<_>>().join(","));
        let options = ReadOptions { separator: Some(b','), threads: 1, block_size: block, ..ReadOptions::default() };
        let found = read_from(padded.as_bytes(), Path::new("t.csv"), Format::Csv, &options);
        if let (true, Ok(input)) = (width > 0 && expected.iter().all(|r| r.len() == width), found) {
            prop_assert_eq!(cells(&input.table), expected);
        }
    }
}

#[test]
fn blocks_may_end_anywhere() {
    let mut text = String::from("\u{FEFF}id,name,town\r\n");
    let mut lines = Vec::new();
    let mut line = 2;
    for i in 0..3000 {
        let name = match i % 11 {
            3 => "\"Weiß, \"\"Ana\"\"\"".to_string(),
            7 => "\"two\nlines\"".to_string(),
            _ => format!("n{}", i % 40),
        };
        if i % 500 == 499 {
            text.push_str("\r\n");
            line += 1;
        }
        lines.push(line);
        line += if i % 11 == 7 { 2 } else { 1 };
        text.push_str(&format!("{i},{name},a town with a long name {}\r\n", i % 3));
    }
    let whole = parse(text.as_bytes(), None, 1, 0);
    assert_eq!(whole.table.rows, 3000);
    assert_eq!(whole.header, ["id", "name", "town"]);
    assert_eq!(whole.table.columns[1].value(3), "Weiß, \"Ana\"");
    assert_eq!(whole.table.columns[1].value(7), "two\nlines");
    assert_eq!(whole.table.columns[2].value(2999), "a town with a long name 2");
    for (block, threads) in [(1, 1), (7, 2), (64, 7), (100, 3), (4096, 2), (20_000, 7), (1 << 20, 2)] {
        let input = parse(text.as_bytes(), None, threads, block);
        assert_eq!(dictionaries(&input.table), dictionaries(&whole.table));
        assert!((0..3).all(|c| input.table.columns[c].codes == whole.table.columns[c].codes));
        let found: Vec<u64> = (0..3000).map(|r| input.line_of(r).unwrap()).collect();
        assert!(found == lines, "lines differ with blocks of {block}");
        assert_eq!(input.line_of(3000), None);
    }
}

#[test]
fn columns_are_kept_and_rows_limited() {
    let text = "a,b,c\n1,x,p\n2,y,q\n3,z,r,extra\n";
    let keep = |name: &str| name != "b";
    for threads in [1, 2] {
        let options =
            ReadOptions { keep: Some(&keep), max_rows: Some(1), threads, block_size: 8, ..ReadOptions::default() };
        let input = read_from(text.as_bytes(), Path::new("t.csv"), Format::Csv, &options).unwrap();
        assert_eq!(cells(&input.table), [["1", "p"]]);
        assert_eq!(dictionaries(&input.table), [["1"], ["p"]]);
        assert_eq!(input.header, ["a", "b", "c"]);
    }
}

#[test]
fn many_distinct_values_pass_through_generations() {
    let mut text = String::from("id,mod\n");
    (0..200_000).for_each(|i| text.push_str(&format!("person-number-{i},{}\n", i % 70_000)));
    let one = parse(text.as_bytes(), None, 1, 0);
    let many = parse(text.as_bytes(), None, 3, 30_000);
    assert_eq!(dictionaries(&one.table), dictionaries(&many.table));
    assert!((0..2).all(|c| one.table.columns[c].codes == many.table.columns[c].codes));
    assert_eq!(one.table.columns[0].dictionary.len(), 200_000);
    assert_eq!(one.table.columns[1].value(140_001), "1");
}

#[test]
fn gzip_of_many_members_is_one_file() {
    let mut packed = Vec::new();
    for part in ["a,b\n1,", "2\n3,4\n"] {
        let mut encoder = flate2::write::GzEncoder::new(&mut packed, flate2::Compression::fast());
        encoder.write_all(part.as_bytes()).unwrap();
        encoder.finish().unwrap();
    }
    let input = read_from(packed.as_slice(), Path::new("t.csv.gz"), Format::CsvGz, &ReadOptions::default()).unwrap();
    assert_eq!(cells(&input.table), [["1", "2"], ["3", "4"]]);
}

#[test]
fn rows_are_written_in_the_order_asked_for() {
    let table = table(vec![("a".into(), vec!["x".into(), "y,".into(), "z".into()])]);
    let mut text = Vec::new();
    let report = write_to(&table, Some(&[2, 1]), &mut text, Format::Csv, &WriteOptions::default()).unwrap();
    assert_eq!(String::from_utf8(text).unwrap(), "\"a\"\nz\n\"y,\"\n");
    assert_eq!((report.rows, report.bytes), (2, 11));
    assert!(write_to(&table, Some(&[3]), &mut Vec::new(), Format::Csv, &WriteOptions::default()).is_err());
}
