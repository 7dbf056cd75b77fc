//! Files of common formats: from `init` to `verify` without conversion, and the messages where a convention must be
//! stated.

use crate::corpus::dress::workbook;
use crate::test_folder::TestFolder;

/// Sixty people, one per line.
fn people(separator: &str) -> String {
    let line = |i: usize| {
        let sex = ["weiblich", "männlich"][i % 2];
        let born = format!("{:02}.{:02}.{}", i % 28 + 1, i % 12 + 1, 1950 + i % 40);
        let weight = format!("{},{}", 50 + i % 30, i % 10);
        let illness = ["Grippe", "Fußpilz", "Husten"][i % 3];
        [born, sex.to_string(), weight, (20 + i % 7).to_string(), illness.to_string()].join(separator)
    };
    let head = ["geboren", "Geschlecht", "Gewicht", "Größe", "Diagnose"].join(separator);
    std::iter::once(head).chain((0..60).map(line)).collect::<Vec<_>>().join("\n") + "\n"
}

/// Runs all commands on a table and returns the drafted policy.
fn published(scratch: &TestFolder, data: &str) -> String {
    let init = scratch.amidst(&["init", data]);
    assert_eq!(init.code, 0, "{data}: {}", init.stderr);
    let policy = scratch.read("policy.toml");
    for arguments in [
        &["check", "policy.toml"][..],
        &["anonymize", "policy.toml", "--out", "out"],
        &["verify", "out", "--policy", "policy.toml"],
        &["audit", data, "--policy", "policy.toml", "--json"],
        &["audit", "out", "--policy", "policy.toml", "--json"],
        &["audit", data, "--json"],
    ] {
        let run = scratch.amidst(arguments);
        // An audit of the original finds the policy violated.
        let fine = run.code == 0 || (run.code == 1 && arguments[..2] == ["audit", data]);
        assert!(fine, "{arguments:?}: {}{}\n{policy}", run.stderr, run.stdout);
    }
    let public: String = ["out/public/policy.toml", "out/public/report.md", "out/public/certificate.json"]
        .iter()
        .map(|name| scratch.read(name))
        .collect();
    assert!(!public.contains("encoding =") && !public.contains("sheet ="), "{public}");
    policy
}

#[test]
fn a_table_of_windows_with_local_numbers_and_dates_is_published() {
    let scratch = TestFolder::new();
    let bytes: Vec<u8> = people(";").chars().map(|c| c as u8).collect();
    std::fs::write(scratch.path("leute.csv"), bytes).unwrap();
    let policy = published(&scratch, "leute.csv");
    for line in
        ["encoding = \"windows-1252\"", "decimal = \",\"", "date_format = \"d-m-y\"", "type = \"date\"", "Größe"]
    {
        assert!(policy.contains(line), "{line}\n{policy}");
    }
    // Without the lines that state the convention.
    let unstated = policy.replace("encoding = \"windows-1252\"", "");
    scratch.file("unstated.toml", &unstated);
    for command in ["check", "anonymize"] {
        let run = scratch.amidst(&[command, "unstated.toml"]);
        run.fails(2, &["leute.csv", "line 1", "encoding = \"windows-1252\"", "[data]"]);
    }
    let undated = policy.replace("date_format = \"d-m-y\"", "");
    scratch.file("undated.toml", &undated);
    let run = scratch.amidst(&["check", "undated.toml"]);
    run.fails(2, &["`geboren`", "line 2", "99.99.9999", "date_format = "]);
    assert!(!run.stderr.contains("01.01.1950"), "{}", run.stderr);
    let wrong = policy.replace("\"d-m-y\"", "\"m-d-y\"");
    scratch.file("wrong.toml", &wrong);
    scratch.amidst(&["check", "wrong.toml"]).fails(2, &["`geboren`", "date_format"]);
}

#[test]
fn tables_in_other_dress_are_published() {
    let text = people("|");
    let rows: Vec<Vec<String>> = text.lines().map(|l| l.split('|').map(str::to_string).collect()).collect();
    let names: Vec<&str> = rows[0].iter().map(String::as_str).collect();
    let utf16: Vec<u8> = format!("\u{feff}{}", people("\t")).encode_utf16().flat_map(u16::to_be_bytes).collect();
    let numbered: String = (0..)
        .zip(people(";").lines())
        .map(|(i, line)| match i {
            0 => format!("\"\";{line}\n"),
            _ => format!("\"{i}\";{line}\n"),
        })
        .collect();
    for (data, bytes, line) in [
        ("a.tsv", utf16, "date_format"),
        ("a.csv", numbered.into_bytes(), "[columns.row_number]"),
        ("a.xlsx", workbook(&names, &rows[1..]), "sheet = \"Table\""),
        ("a.csv.zst", zstd::encode_all(people(";").as_bytes(), 1).unwrap(), "decimal"),
    ] {
        let scratch = TestFolder::new();
        std::fs::write(scratch.path(data), bytes).unwrap();
        let policy = published(&scratch, data);
        assert!(policy.contains(line), "{data}: {line}\n{policy}");
    }
}

#[test]
fn a_table_without_a_header_is_published() {
    let scratch = TestFolder::new();
    let text = people(";");
    scratch.file("a.csv", text.split_once('\n').unwrap().1);
    let policy = published(&scratch, "a.csv");
    assert!(policy.contains("header = false") && policy.contains("[columns.column1]"), "{policy}");
}

#[test]
fn a_workbook_says_what_must_be_settled() {
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../amidst-io/tests/fixtures");
    let scratch = TestFolder::new();
    for name in ["sheets.xlsx", "merged.xlsx", "formulas.xlsx", "failed.xlsx"] {
        std::fs::copy(fixtures.join(name), scratch.path(name)).unwrap();
    }
    let policy = |input: &str| format!("[data]\ninput = \"{input}\"\n[columns.\"*\"]\nrole = \"quasi\"\n");
    scratch.file("a.toml", &policy("sheets.xlsx"));
    scratch.amidst(&["check", "a.toml"]).fails(2, &["sheets.xlsx", "People", "Notes", "sheet = "]);
    scratch.file("b.toml", &policy("merged.xlsx"));
    scratch.amidst(&["check", "b.toml"]).fails(2, &["merged.xlsx", "Wards", "A2:A4", "merged = \"fill\""]);
    scratch.amidst(&["init", "formulas.xlsx"]).fails(2, &["Visits", "cell C2", "save it", "formulas = \"unknown\""]);
    let settled = [
        ("sheets.xlsx", "sheet = \"People\""),
        ("merged.xlsx", "merged = \"fill\""),
        ("failed.xlsx", "formulas = \"unknown\""),
    ];
    for (name, line) in settled {
        let draft = format!("{name}.toml");
        assert_eq!(scratch.amidst(&["init", name, "--out", &draft]).code, 0);
        assert!(scratch.read(&draft).contains(line), "{}", scratch.read(&draft));
    }
}

#[test]
fn releases_are_written_in_formats_that_the_checker_reads() {
    let scratch = TestFolder::with_sample(200);
    let before = scratch.names();
    for out in ["r.xlsx", "r.ods", "r.sav", "r.dta", "r.json", "r.csv.zst"] {
        scratch.amidst(&["anonymize", "policy.toml", "--out", out]).fails(2, &[out, ".parquet", ".csv"]);
    }
    assert_eq!(scratch.names(), before);
    scratch.file("old.xls", "x");
    scratch.amidst(&["init", "old.xls", "--out", "p.toml"]).fails(2, &["old.xls", "save it as .xlsx"]);
    scratch.file("old.sas7bdat", "x");
    scratch.amidst(&["init", "old.sas7bdat", "--out", "p.toml"]).fails(2, &["proc export"]);
}

#[test]
fn files_of_spss_and_stata_are_published() {
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../amidst-io/tests/fixtures");
    for name in ["people.sav", "people14.dta"] {
        let scratch = TestFolder::new();
        std::fs::copy(fixtures.join(name), scratch.path(name)).unwrap();
        let policy = published(&scratch, name);
        assert!(policy.contains("[columns.sex]"), "{policy}");
    }
}
