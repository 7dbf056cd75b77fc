//! Tables as Parquet files, and policies for them.

use std::path::{Path, PathBuf};

use amidst_io::{Format, ReadOptions, WriteOptions, read, read_from, write};

/// Synthetic patients in some files of a folder.
pub fn patients(folder: &Path, rows: u64, files: u64) -> PathBuf {
    let data = folder.join(format!("patients-{rows}"));
    std::fs::create_dir_all(&data).unwrap();
    for file in 0..files {
        amidst::sample::save(rows / files, file + 1, &data.join(format!("{file:03}.parquet"))).unwrap();
    }
    data
}

/// The policy that `amidst sample` writes, with another algorithm.
pub fn patients_policy(folder: &Path, algorithm: &str) -> PathBuf {
    let text =
        amidst::sample::policy("patients").replace("[search]", &format!("[search]\nalgorithm = \"{algorithm}\""));
    saved(folder, algorithm, &text.replace("file = \"release.csv\"", "file = \"release.parquet\""))
}

/// Visits of people who come more than once, with unknown cells: some are null, some say so.
pub fn visits(folder: &Path) -> PathBuf {
    let mut text = "name,person,age,zip,disease,note\n".to_string();
    for i in 0..3000u32 {
        let person = i * 7 % 1100;
        let disease = ["flu", "cold", "gastritis", "asthma", "?"][(i % 41 % 5) as usize];
        let zip = if i % 97 == 0 { String::new() } else { format!("{:05}", 10_000 + person % 13) };
        text += &format!("n{i},p{person},{},{zip},{disease},{}\n", 20 + person % 50, i % 3);
    }
    let options = ReadOptions::default();
    let mut input = read_from(text.as_bytes(), Path::new("visits"), Format::Csv, &options).unwrap();
    input.guess_types(&[]);
    let to = folder.join("visits.parquet");
    write(&input.table, None, &to, Format::Parquet, &WriteOptions::default()).unwrap();
    to
}

/// A policy that knows persons.
pub fn visits_policy(folder: &Path) -> PathBuf {
    let text = r#"
[data]
input = "visits.parquet"
missing = ["?"]
[columns.name]
role = "identifying"
[columns.person]
role = "key"
[columns.age]
role = "quasi"
type = "integer"
hierarchy = { intervals = [10, 20, 40], origin = 0 }
[columns.zip]
role = "quasi"
type = "text"
hierarchy = { mask = { length = 5, from = "right" } }
[columns.disease]
role = "sensitive"
[columns.note]
role = "insensitive"
accept = "a test"
[[require]]
model = "k-anonymity"
k = 10
[search]
max_suppression = 0.02
[output]
file = "release.parquet"
"#;
    saved(folder, "visits", text)
}

/// The Adult table with a policy; none where it is not.
pub fn adult(folder: &Path) -> Option<(PathBuf, PathBuf)> {
    let shared = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/adult"));
    let source = shared.join("adult.csv");
    if !source.is_file() {
        return None;
    }
    let mut input = read(&source.to_string_lossy(), &ReadOptions::default()).unwrap();
    input.guess_types(&["?".to_string()]);
    let data = folder.join("adult.parquet");
    write(&input.table, None, &data, Format::Parquet, &WriteOptions::default()).unwrap();
    let mut text =
        "[data]\ninput = \"adult.parquet\"\nmissing = [\"?\"]\n[columns.\"*\"]\nrole = \"insensitive\"\naccept = \"a test\"\n".to_string();
    for name in ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class"] {
        let hierarchy = shared.join("hierarchies").join(format!("{name}.csv"));
        if !hierarchy.is_file() || input.table.position(name).is_none() {
            continue;
        }
        text += &format!("[columns.{name}]\nrole = \"quasi\"\nhierarchy = {{ file = \"{}\" }}\n", hierarchy.display());
    }
    text += "[columns.occupation]\nrole = \"sensitive\"\n[[require]]\nmodel = \"k-anonymity\"\nk = 5\n";
    text += "[[require]]\nmodel = \"distinct-l-diversity\"\non = \"occupation\"\nl = 3\n";
    text += "[search]\nalgorithm = \"optimal\"\nmax_suppression = 0.02\n[output]\nfile = \"release.parquet\"\n";
    Some((data, saved(folder, "adult", &text)))
}

fn saved(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(format!("{name}.toml"));
    std::fs::write(&path, text).unwrap();
    path
}
