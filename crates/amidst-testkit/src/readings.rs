//! CSV files that can be read in two ways, with what other readers see in them (`files.jsonl`, made by
//! `scripts/readings.py`).
//!
//! Shared by the tests of the checker and of the reader: a file is refused, or it is read as everybody reads it.

use serde_json::Value;

/// A table as one reader sees it: the names, and the rows in the order of their texts.
pub type Seen = (Vec<String>, Vec<Vec<String>>);

/// A file, and what others see in it.
pub struct File {
    /// What it tries.
    pub what: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The readers that read it, each with what it sees.
    pub readings: Vec<(&'static str, Seen)>,
}

/// All files of the corpus.
pub fn files() -> Vec<File> {
    include_str!("files.jsonl").lines().map(|line| file(&serde_json::from_str(line).unwrap())).collect()
}

fn file(line: &Value) -> File {
    let bytes = line["bytes"].as_str().unwrap().chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    let readings = ["python", "polars", "duckdb"].into_iter().filter_map(|reader| {
        let mut rows: Vec<Vec<String>> = serde_json::from_value(line[reader].clone()).ok()?;
        // To Python a line without anything is a row without cells, which is nobody's row.
        rows.retain(|row| !row.is_empty());
        let names = if rows.is_empty() { Vec::new() } else { rows.remove(0) };
        // Polars leaves doubled quotes in names as they are.
        let names = names.iter().map(|name| name.replace("\"\"", "\"")).collect();
        Some((reader, seen(names, rows)))
    });
    File { what: line["what"].as_str().unwrap().to_string(), bytes, readings: readings.collect() }
}

/// A table whose rows are in no order.
pub fn seen(names: Vec<String>, mut rows: Vec<Vec<String>>) -> Seen {
    rows.sort();
    (names, rows)
}

/// Reads every file with `read`, which tells what it sees or why it refuses; how many were read, and all that somebody
/// else reads otherwise, apart from what `alike` makes the same.
pub fn compared(read: impl Fn(&[u8]) -> Result<Seen, String>, alike: impl Fn(Seen) -> Seen) -> (usize, Vec<String>) {
    let (mut accepted, mut wrong) = (0, Vec::new());
    for file in files() {
        let Ok(ours) = read(&file.bytes) else { continue };
        accepted += 1;
        let ours = alike(ours);
        for (reader, theirs) in file.readings {
            let theirs = alike(theirs);
            if theirs == ours {
                continue;
            }
            let text = String::from_utf8_lossy(&file.bytes).into_owned();
            wrong.push(format!("{}: {text:?}\n  read as {ours:?}\n  {reader} {theirs:?}", file.what));
        }
    }
    (accepted, wrong)
}
