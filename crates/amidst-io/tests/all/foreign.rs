//! Files written by other programs: Excel and OpenDocument workbooks (pandas with openpyxl and odfpy), SPSS and Stata
//! files (ReadStat and pandas). All of `fixtures/people*`, `pandas*` and `bytecode.sav` hold the same twelve people.

use std::path::{Path, PathBuf};

use amidst_io::{Conventions, Formulas, Input, Merged, ReadError, ReadOptions, TextEncoding, read};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn of(name: &str, conventions: &Conventions) -> Result<Input, ReadError> {
    let options = ReadOptions { conventions: Some(conventions), ..ReadOptions::default() };
    read(&fixture(name).to_string_lossy(), &options)
}

/// Rows as texts; a null is `-`.
fn rows(input: &Input) -> Vec<String> {
    let cell = |row: usize, column: usize| match input.nulls[column].as_ref().is_some_and(|n| n.contains(row)) {
        true => "-".to_string(),
        false => input.table.columns[column].value(row).to_string(),
    };
    let columns = input.table.columns.len();
    (0..input.table.rows).map(|row| (0..columns).map(|c| cell(row, c)).collect::<Vec<_>>().join("|")).collect()
}

const FIRST: &str = "1|Ann|1950-01-01|female|50|Köln";
const FIFTH: &str = "5|Éva|1962-05-09|female|-|Łódź";
const LAST: &str = "12|Łukasz|1983-12-23|male|77.5|Paris";

/// The rows of the people in an encoding without Polish letters.
fn latin(row: &str) -> String {
    row.replace(['Ł', 'ź'], "?")
}

#[test]
fn workbooks_are_read_with_dates_and_numbers_that_round_trip() {
    for name in ["people.xlsx", "people.ods"] {
        let input = of(name, &Conventions::default()).unwrap();
        assert_eq!(input.header, ["id", "name", "born", "sex", "weight", "city"], "{name}");
        let found = rows(&input);
        assert_eq!((found.len(), &*found[0], &*found[4], &*found[11]), (12, FIRST, FIFTH, LAST), "{name}");
        assert_eq!(input.line_of(4), Some(6), "{name}");
    }
}

#[test]
fn the_index_of_a_frame_is_a_column_of_row_numbers() {
    let input = of("index.xlsx", &Conventions::default()).unwrap();
    assert_eq!(input.header[..2], ["row_number", "id"]);
    assert_eq!(input.table.columns[0].value(11), "11");
}

#[test]
fn one_of_several_sheets_must_be_named() {
    let error = of("sheets.xlsx", &Conventions::default()).unwrap_err();
    let ReadError::SeveralSheets { sheets, .. } = &error else { panic!("{error}") };
    assert_eq!(sheets, &["People", "Notes"]);
    assert!(error.to_string().contains("`sheet = \"People\"`"), "{error}");
    let sheet = |name: &str| Conventions { sheet: Some(name.to_string()), ..Conventions::default() };
    assert_eq!(of("sheets.xlsx", &sheet("Notes")).unwrap().table.rows, 3);
    let error = of("sheets.xlsx", &sheet("notes")).unwrap_err();
    assert!(matches!(error, ReadError::NoSuchSheet { .. }), "{error}");
    assert!(matches!(of("sheets.xlsx", &sheet("Empty")), Err(ReadError::Empty { .. })));
}

#[test]
fn merged_cells_are_refused_until_the_policy_says_what_they_mean() {
    let error = of("merged.xlsx", &Conventions::default()).unwrap_err().to_string();
    for part in ["sheet “Wards”", "A2:A4", "2 groups more", "`merged = \"fill\"`"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    let merged = |merged| of("merged.xlsx", &Conventions { merged, ..Conventions::default() }).unwrap();
    assert_eq!(rows(&merged(Merged::Fill))[..4], ["North|1|30", "North|2|31", "North|3|32", "South|4|33"]);
    assert_eq!(rows(&merged(Merged::Empty))[..4], ["North|1|30", "-|2|31", "-|3|32", "South|4|33"]);
}

/// `formulas.xlsx` (openpyxl) and `formulas.ods` have ages 30 to 35, of which two are errors, and a column of formulas
/// without results.
#[test]
fn formulas_without_results_are_refused_until_the_policy_says_what_they_mean() {
    for name in ["formulas.xlsx", "formulas.ods"] {
        let error = of(name, &Conventions::default()).unwrap_err().to_string();
        for part in [name, "sheet “Visits”, cell C2: a formula", "7 cells more", "save it", "`formulas = \"unknown\"`"]
        {
            assert!(error.contains(part), "{part}: {error}");
        }
        let unknown = Conventions { formulas: Formulas::Unknown, ..Conventions::default() };
        let found = rows(&of(name, &unknown).unwrap());
        assert_eq!(found, ["a|30|-", "b|-|-", "c|32|-", "d|33|-", "e|-|-", "f|35|-"], "{name}");
        // What is not kept need not be calculated.
        let with = |columns: &'static [&'static str]| {
            let keep = |name: &str| columns.contains(&name);
            let options = ReadOptions { keep: Some(&keep), ..ReadOptions::default() };
            read(&fixture(name).to_string_lossy(), &options).map(|input| rows(&input))
        };
        let error = with(&["ward", "age"]).unwrap_err().to_string();
        for part in ["cell B3: an error (#DIV/0!)", "1 cell more", "Mend them", "`formulas = \"unknown\"`"] {
            assert!(error.contains(part), "{name}, {part}: {error}");
        }
        assert_eq!(with(&["ward"]).unwrap().len(), 6, "{name}");
    }
}

#[test]
fn files_of_spss_are_read_with_their_labels() {
    for name in ["people.sav", "bytecode.sav", "people.zsav"] {
        let input = of(name, &Conventions::default()).unwrap();
        let found = rows(&input);
        assert_eq!((found.len(), &*found[0], &*found[4], &*found[11]), (12, FIRST, FIFTH, LAST), "{name}");
    }
    let long = of("long.sav", &Conventions::default()).unwrap();
    assert_eq!(long.header, ["k", "t", "d"]);
    assert_eq!(rows(&long)[0], format!("1|{}é|1.5", "x".repeat(300)));
    assert_eq!(rows(&long)[1..], ["2|y|-".to_string(), format!("-|{}|-3", "z".repeat(700))]);
}

#[test]
fn files_of_stata_are_read_with_their_labels() {
    for name in ["people14.dta", "people15.dta", "pandas118.dta", "pandas119.dta"] {
        let found = rows(&of(name, &Conventions::default()).unwrap());
        assert_eq!((found.len(), &*found[0], &*found[4], &*found[11]), (12, FIRST, FIFTH, LAST), "{name}");
    }
    for name in ["people8.dta", "people12.dta", "people13.dta", "pandas114.dta"] {
        // ReadStat writes UTF-8 regardless of the format; pandas writes Latin-1.
        let encoding = TextEncoding::named(if name.starts_with("people") { "utf-8" } else { "latin-1" });
        let found = rows(&of(name, &Conventions { encoding, ..Conventions::default() }).unwrap());
        assert_eq!((&*found[0], &*found[4], &*found[11]), (FIRST, &*latin(FIFTH), &*latin(LAST)), "{name}");
    }
}

/// pandas writes long texts in UTF-8 regardless of the format, and others in Latin-1.
#[test]
fn long_texts_of_stata_are_found() {
    let found = rows(&of("pandas117.dta", &Conventions::default()).unwrap());
    assert_eq!(found[2], "3|Çelik|1956-03-05|female|55|Paris");
}

#[test]
fn columns_that_are_left_out_are_left_out() {
    let keep = |name: &str| name == "sex" || name == "city";
    let options = ReadOptions { keep: Some(&keep), max_rows: Some(2), ..ReadOptions::default() };
    for name in ["people.xlsx", "people.ods", "people.sav", "people14.dta"] {
        let input = read(&fixture(name).to_string_lossy(), &options).unwrap();
        assert_eq!(rows(&input), ["female|Köln", "male|Łódź"], "{name}");
    }
}

/// Every prefix of a file, and many files with single bytes changed, are read or refused; nothing panics or hangs.
#[test]
fn damaged_files_are_errors() {
    for name in [
        "people.xlsx",
        "people.ods",
        "merged.xlsx",
        "people.sav",
        "bytecode.sav",
        "people.zsav",
        "long.sav",
        "people8.dta",
        "people12.dta",
        "pandas117.dta",
        "pandas118.dta",
        "pandas119.dta",
    ] {
        let whole = std::fs::read(fixture(name)).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        let mut state = 88_172_645_463_325_252u64 ^ whole.len() as u64;
        let mut random = |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state % below as u64) as usize
        };
        let tries = if name.ends_with("x") || name.ends_with("s") { 60 } else { 300 };
        for round in 0..tries {
            let mut bytes = whole.clone();
            if round % 4 == 0 {
                bytes.truncate(random(whole.len()));
            } else {
                for _ in 0..1 + random(3) {
                    let at = random(bytes.len());
                    bytes[at] = [0, 1, 0x7f, 0xff, 0x80, random(256) as u8][random(6)];
                }
            }
            std::fs::write(&path, &bytes).unwrap();
            let _ = read(&path.to_string_lossy(), &ReadOptions::default());
        }
    }
}

/// A text of SPSS has at most 255 bytes a variable. A file that declares more is refused before that much is allocated
/// for every cell.
#[test]
fn widths_that_no_text_of_spss_has_are_refused() {
    let whole = std::fs::read(fixture("people.sav")).unwrap();
    // The first variable record follows the header of 176 bytes: its type is 2, then comes the width.
    assert_eq!(whole[176..180], 2i32.to_le_bytes());
    for (width, refused) in [(255, false), (256, true), (0x2041_0000, true), (i32::MAX, true)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("wide.sav");
        let mut bytes = whole.clone();
        bytes[180..184].copy_from_slice(&i32::to_le_bytes(width));
        std::fs::write(&path, &bytes).unwrap();
        let said = read(&path.to_string_lossy(), &ReadOptions::default()).err().map(|error| error.to_string());
        let named = said.as_deref().is_some_and(|said| said.contains("a text has a width that it cannot have"));
        assert_eq!(named, refused, "{width}: {said:?}");
    }
}
