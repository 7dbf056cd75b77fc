//! Tables of SQLite databases are read like files.

use std::path::Path;

use amidst_io::{Input, ReadError, ReadOptions, read};
use rusqlite::Connection;

/// A database in `folder`, made by these statements; its address without settings.
fn database(folder: &Path, name: &str, statements: &str) -> String {
    let file = folder.join(name);
    Connection::open(&file).unwrap().execute_batch(statements).unwrap();
    format!("sqlite://{}", file.display())
}

fn rows(input: &Input) -> Vec<Vec<&str>> {
    (0..input.table.rows).map(|row| input.table.columns.iter().map(|c| c.value(row)).collect()).collect()
}

const CLINIC: &str = "CREATE TABLE visit (id INTEGER, weight REAL, note TEXT, photo BLOB);
    INSERT INTO visit VALUES (1, 72.5, 'a,b', x'00ff'), (2, 3000.0, '', NULL), (-3, 0.1, NULL, NULL);
    CREATE VIEW light AS SELECT id, weight FROM visit WHERE weight < 100;
    CREATE TABLE \"odd \"\"name\" (x);";

#[test]
fn typed_values_become_text_and_nulls_are_told_from_empty_texts() {
    let folder = tempfile::tempdir().unwrap();
    let clinic = database(folder.path(), "clinic.db", CLINIC);
    let keep = |name: &str| name != "photo";
    let options = ReadOptions { keep: Some(&keep), ..ReadOptions::default() };
    let visits = read(&format!("{clinic}?table=VISIT"), &options).unwrap();
    assert_eq!(visits.header, ["id", "weight", "note", "photo"]);
    assert_eq!(rows(&visits), [["1", "72.5", "a,b"], ["2", "3000", ""], ["-3", "0.1", ""]]);
    let note = visits.nulls[2].as_ref().unwrap();
    assert_eq!(note.rows().collect::<Vec<_>>(), [2]);
    assert!(visits.nulls[0].is_none() && visits.line_of(1).is_none());
    assert_eq!(visits.files, [Path::new(&format!("{clinic}?table=VISIT"))]);

    let light = read(&format!("{clinic}?table=light"), &ReadOptions::default()).unwrap();
    assert_eq!(rows(&light), [["1", "72.5"], ["-3", "0.1"]]);
    let query = "SELECT id AS who, id % 2 = 1 AND note LIKE '%b' AS odd FROM visit ORDER BY id DESC";
    let asked = read(&format!("{clinic}?query={query}"), &ReadOptions::default()).unwrap();
    assert_eq!(asked.header, ["who", "odd"]);
    assert_eq!(rows(&asked), [["2", "0"], ["1", "1"], ["-3", "0"]]);
    let first = ReadOptions { max_rows: Some(1), ..ReadOptions::default() };
    assert_eq!(rows(&read(&format!("{clinic}?table=light"), &first).unwrap()), [["1", "72.5"]]);
}

#[test]
fn many_rows_are_those_of_the_same_table_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let many = "CREATE TABLE t AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 69999)
        SELECT i, i % 7 AS small, CASE WHEN i % 5 = 0 THEN NULL ELSE 'v' || (i % 300) END AS text FROM n";
    let found = read(&database(folder.path(), "many.db", many), &ReadOptions::default()).unwrap();
    assert_eq!(found.table.rows, 70_000);
    let file = folder.path().join("many.jsonl");
    let line = |i: u32| {
        let text = if i.is_multiple_of(5) { "null".to_string() } else { format!("\"v{}\"", i % 300) };
        format!("{{\"i\":{i},\"small\":{},\"text\":{text}}}\n", i % 7)
    };
    std::fs::write(&file, (0..70_000).map(line).collect::<String>()).unwrap();
    let expected = read(&file.to_string_lossy(), &ReadOptions::default()).unwrap();
    assert_eq!(found.nulls, expected.nulls);
    for (a, b) in found.table.columns.iter().zip(&expected.table.columns) {
        assert_eq!((&a.name, &a.codes), (&b.name, &b.codes));
        assert!(a.dictionary.iter().eq(b.dictionary.iter()));
    }
}

#[test]
fn what_is_wrong_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let fails = |source: &str, parts: &[&str]| {
        let error = read(source, &ReadOptions::default()).unwrap_err();
        let message = error.to_string();
        assert!(parts.iter().all(|part| message.contains(part)), "{source}: {message}");
        error
    };
    let clinic = database(folder.path(), "clinic.db", CLINIC);
    fails(&clinic, &["?table=", "“visit”", "“light”", "“odd \\\"name”"]);
    fails(&format!("{clinic}?table=visits"), &["no table “visits”", "“visit”"]);
    fails(&format!("{clinic}?table=visit"), &["row 1, column “photo”", "binary data", "identifying"]);
    fails(&format!("{clinic}?table=odd \"name"), &["no rows"]);
    fails(&format!("{clinic}?query=SELECT nix FROM visit"), &["no such column: nix"]);
    fails(&format!("{clinic}?query=DELETE FROM visit"), &["not a SELECT"]);
    fails(&format!("{clinic}?query=SELECT id, id FROM visit"), &["both called"]);
    fails(&format!("{clinic}?sheet=1"), &["`sheet`", "`table`"]);
    fails(&clinic.replace("clinic.db", "clinc.db"), &["no such file", "clinic.db"]);
    fails(&database(folder.path(), "empty.db", ""), &["no tables"]);
    let only = database(folder.path(), "only.db", "CREATE TABLE t (a); CREATE TABLE sqlitish (b); DROP TABLE sqlitish");
    fails(&only, &["no rows"]);
    let text = folder.path().join("text.db");
    std::fs::write(&text, "a,b\n1,2\n".repeat(200)).unwrap();
    fails(&format!("sqlite://{}", text.display()), &["not a SQLite database"]);
    fails(&format!("sqlite://{}", folder.path().display()), &["folder"]);
    // A writer holds an exclusive lock.
    let writer = Connection::open(folder.path().join("clinic.db")).unwrap();
    writer.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let locked = fails(&format!("{clinic}?table=light"), &["locked"]);
    assert!(matches!(locked, ReadError::DatabaseFailed { .. }));
    // Reading has changed nothing.
    drop(writer);
    assert_eq!(read(&format!("{clinic}?table=light"), &ReadOptions::default()).unwrap().table.rows, 2);
}
