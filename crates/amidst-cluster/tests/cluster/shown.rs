//! What a release of a cluster shows: nothing but its rows. How many combinations of the input stand behind a published
//! one must not show in its files, be it by where their pages end.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::file::reader::{FileReader, SerializedFileReader};

use crate::processes::Cluster;

/// As many as fill several pages.
const ROWS: i64 = 45_000;

/// A table of people whose income is one of `incomes` values, the lowest and the highest among them.
fn table(folder: &Path, incomes: i64) -> PathBuf {
    let data = folder.join(format!("incomes-{incomes}.parquet"));
    let of = |n: i64| (0..ROWS).map(move |row| row * 7919 % n);
    let income = Int64Array::from_iter_values(of(incomes).map(|i| i * 9_999 / (incomes - 1)));
    let age = Int64Array::from_iter_values(of(31).map(|i| 20 + i));
    let illness = ["flu", "cold", "asthma", "gastritis"];
    let illness = StringArray::from_iter_values(of(4).map(|i| illness[i as usize]));
    let note = Int64Array::from_iter_values(of(3));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("income", Arc::new(income)),
        ("age", Arc::new(age)),
        ("illness", Arc::new(illness)),
        ("note", Arc::new(note)),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = ArrowWriter::try_new(std::fs::File::create(&data).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    data
}

/// Everybody is in one class. Rows are written from combinations, or as they are read where notes are published.
fn policy(folder: &Path, notes: bool) -> PathBuf {
    let note = if notes { "role = \"insensitive\"\naccept = \"a test\"" } else { "role = \"identifying\"" };
    let text = format!(
        r#"
[data]
input = "incomes.parquet"
[columns.income]
role = "quasi"
type = "integer"
[columns.age]
role = "quasi"
type = "integer"
[columns.illness]
role = "sensitive"
[columns.note]
{note}
[[require]]
model = "k-anonymity"
k = 25000
[search]
algorithm = "mondrian"
[output]
file = "release.parquet"
"#
    );
    let path = folder.join(format!("incomes-{notes}.toml"));
    std::fs::write(&path, text).unwrap();
    path
}

/// The files of a folder and their bytes.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        match path.is_dir() {
            true => found.extend(files(&path).into_iter().map(|(below, bytes)| (format!("{name}/{below}"), bytes))),
            false => {
                found.insert(name, std::fs::read(path).unwrap());
            }
        }
    }
    found
}

/// The pages of a file.
fn pages(file: &Path) -> usize {
    let reader = SerializedFileReader::new(std::fs::File::open(file).unwrap()).unwrap();
    let group = reader.get_row_group(0).unwrap();
    (0..group.num_columns()).map(|column| group.get_column_page_reader(column).unwrap().count()).sum()
}

#[test]
fn how_many_combinations_stand_behind_a_release_does_not_show_in_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let cluster = Cluster::start(folder.path(), 2);
    let release = |name: &str, policy: &Path, incomes: i64, more: &[&str]| {
        let out = folder.path().join(name);
        let output = cluster.anonymize(policy, &table(folder.path(), incomes), &out, more);
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        files(&out.join("public"))
    };
    for notes in [false, true] {
        let policy = policy(folder.path(), notes);
        let few = release("few", &policy, 2, &["--gather", "100"]);
        let part = few.keys().find(|name| name.ends_with("part-00000.parquet")).unwrap();
        let pages = pages(&folder.path().join("few/public").join(part));
        assert!(pages > 9, "{pages} pages, so that there are ends to look at");
        for (name, incomes, more) in
            [("many", 10_000, ["--gather", "100", "--partitions", "3"].as_slice()), ("gathered", 1_013, &[])]
        {
            let other = release(name, &policy, incomes, more);
            assert_eq!(few.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>(), "{name}");
            let differing: Vec<&String> = few.keys().filter(|file| few[*file] != other[*file]).collect();
            assert!(differing.is_empty(), "{name}, notes {notes}: {differing:?} differ for the same rows");
        }
    }
}
