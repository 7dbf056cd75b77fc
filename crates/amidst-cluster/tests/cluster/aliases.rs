//! Values that the input writes in several ways are one value on a cluster too, and are published as by one machine:
//! in quasi and sensitive columns; with columns that are published as they are, and with persons; gathered or not.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use datafusion::parquet::arrow::ArrowWriter;

use crate::compare::{both, verified};
use crate::processes::Cluster;

const ROWS: usize = 4_000;

/// A number below `n` that follows from a row and a column.
fn drawn(row: usize, column: u64, n: usize) -> usize {
    let mut mixed = (row as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (column << 17);
    mixed = (mixed ^ (mixed >> 31)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    ((mixed ^ (mixed >> 29)) % n as u64) as usize
}

/// A table in two files. Every value of most columns is written in several ways.
fn table(folder: &Path) -> PathBuf {
    let data = folder.join("written");
    std::fs::create_dir_all(&data).unwrap();
    for (file, rows) in [(0, 0..ROWS / 2), (1, ROWS / 2..ROWS)] {
        let of = |texts: &dyn Fn(usize) -> Option<String>| -> ArrayRef {
            Arc::new(rows.clone().map(texts).collect::<StringArray>())
        };
        let one_of = |row, column, ways: &[&str]| Some(ways[drawn(row, column, ways.len())].to_string());
        let age = of(&|row| {
            // A few old people are left out.
            let age = if drawn(row, 1, 200) == 0 { 90 } else { 20 + drawn(row, 2, 12) };
            let ways = [format!("{age}"), format!("0{age}"), format!("+{age}"), format!(" {age}")];
            Some(ways[drawn(row, 3, 4)].clone())
        });
        let zip = of(&|row| one_of(row, 4, &["1000", "01000", "2000"]));
        let illness = of(&|row| match drawn(row, 5, 6) {
            0 => None,
            i => Some(["?", "", "flu", "cold", "asthma"][i - 1].to_string()),
        });
        let pay = of(&|row| one_of(row, 6, &["3000", "3000.0", "3e3", "2500.50", "2500.5", "+2500.5", "-0", "0.0"]));
        let day = of(&|row| one_of(row, 7, &["2020-01-31", "20200131", "2020-02-01"]));
        let dose = Float64Array::from_iter_values(rows.clone().map(|row| [0.0, -0.0, 1.5][drawn(row, 8, 3)]));
        // Rows that belong to nobody are left out.
        let person = of(&|row| match drawn(row, 9, 2 * ROWS / 3) {
            n if n < 10 => None,
            n if n < 20 => Some(String::new()),
            n => Some(format!("p{n}")),
        });
        // Published as they are: 01 is another text than 1.
        let note = of(&|row| one_of(row, 10, &["1", "01", "1.0", " 1"]));
        let whole = of(&|row| one_of(row, 11, &["1", "-2", "30"]));
        let rate = Float64Array::from_iter_values(rows.clone().map(|row| [0.0, -0.0, 0.5][drawn(row, 12, 3)]));
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("note", note),
            ("age", age),
            ("person", person),
            ("zip", zip),
            ("illness", illness),
            ("pay", pay),
            ("whole", whole),
            ("day", day),
            ("dose", Arc::new(dose)),
            ("rate", Arc::new(rate)),
        ];
        let columns = columns.into_iter().map(|(name, array)| (name, array, true));
        let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
        let to = std::fs::File::create(data.join(format!("{file}.parquet"))).unwrap();
        let mut writer = ArrowWriter::try_new(to, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    }
    data
}

/// What a policy asks for beside the columns that all have.
#[derive(Clone, Copy)]
struct Asked {
    name: &'static str,
    /// The role of `note`, `whole` and `rate`.
    others: &'static str,
    /// The role of `person`.
    person: &'static str,
    algorithm: &'static str,
    masked: bool,
    /// The tokens that stand for unknown cells.
    missing: &'static str,
    k: u32,
    more: &'static [&'static str],
}

fn policy(folder: &Path, asked: &Asked) -> PathBuf {
    let Asked { name, others, person, algorithm, masked, missing, k, .. } = asked;
    let accept = if *others == "insensitive" { "\naccept = \"a test\"" } else { "" };
    let suppressed = if *masked { "suppressed = \"mask\"\n" } else { "" };
    let mut text = format!(
        r#"
[data]
input = "written"
missing = [{missing}]
missing_rows = "keep"
[columns.age]
role = "quasi"
hierarchy = {{ intervals = [4, 12, 120], origin = 20 }}
[columns.zip]
role = "quasi"
type = "integer"
hierarchy = {{ suppress = true }}
[columns.illness]
role = "sensitive"
[columns.pay]
role = "sensitive"
[columns.day]
role = "sensitive"
[columns.dose]
role = "sensitive"
[columns.person]
role = "{person}"
[[require]]
model = "k-anonymity"
k = {k}
[[require]]
model = "distinct-l-diversity"
on = "pay"
l = 2
[search]
algorithm = "{algorithm}"
max_suppression = 0.02
{suppressed}[output]
file = "release.parquet"
"#
    );
    for column in ["note", "whole", "rate"] {
        text += &format!("[columns.{column}]\nrole = \"{others}\"{accept}\n");
    }
    let path = folder.join(format!("{name}.toml"));
    std::fs::write(&path, text).unwrap();
    path
}

/// Both engines release the table alike under every policy.
fn alike(cases: &[Asked]) {
    let folder = tempfile::tempdir().unwrap();
    let cluster = Cluster::start(folder.path(), 2);
    let data = table(folder.path());
    for asked in cases {
        let policy = policy(folder.path(), asked);
        let more = [["--part-rows", "1500"].as_slice(), asked.more].concat();
        both(&cluster, folder.path(), &policy, &data, asked.name, &more);
        verified(&folder.path().join(format!("{}-cluster", asked.name)));
    }
}

const COUNTED: Asked = Asked {
    name: "counted",
    others: "identifying",
    person: "identifying",
    algorithm: "optimal",
    masked: false,
    missing: "\"?\", \"\"",
    k: 40,
    more: &[],
};

#[test]
fn values_written_in_several_ways_are_one_value_of_combinations() {
    alike(&[COUNTED, Asked { name: "masked", masked: true, ..COUNTED }]);
}

#[test]
fn values_written_in_several_ways_are_one_value_of_rows() {
    let rows = Asked { name: "rows", others: "insensitive", ..COUNTED };
    // With nulls in the table the empty text means unknown all the same.
    let nulls = Asked { name: "nulls", missing: "\"?\"", ..rows };
    alike(&[Asked { name: "masked", masked: true, ..rows }, nulls, rows]);
}

#[test]
fn values_written_in_several_ways_are_one_value_of_rows_that_are_recoded_locally() {
    let rows = Asked { name: "cut", others: "insensitive", algorithm: "mondrian", ..COUNTED };
    // Rows that agree part here.
    let down = Asked { name: "down", algorithm: "top-down", ..rows };
    alike(&[rows, Asked { name: "masked", masked: true, ..down }, down]);
}

#[test]
fn values_written_in_several_ways_are_one_value_of_persons() {
    let persons = Asked { name: "persons", person: "key", ..COUNTED };
    let rows = Asked { name: "rows", others: "insensitive", masked: true, ..persons };
    alike(&[Asked { name: "cut", algorithm: "mondrian", ..persons }, rows, persons]);
}

#[test]
fn values_written_in_several_ways_are_one_value_of_tables_that_are_rolled_up() {
    let rolled = Asked { name: "rolled", k: 300, more: &["--gather", "700"], ..COUNTED };
    let nulls = Asked { name: "nulls", missing: "\"?\"", ..rolled };
    alike(&[Asked { name: "rows", others: "insensitive", ..rolled }, nulls, rolled]);
}

#[test]
fn values_written_in_several_ways_are_one_value_of_tables_that_are_cut() {
    let cut = Asked { name: "cut", algorithm: "mondrian", k: 5, more: &["--gather", "200"], ..COUNTED };
    let rows = Asked { name: "rows", others: "insensitive", ..cut };
    alike(&[Asked { name: "masked", masked: true, ..cut }, rows, cut]);
}

#[test]
fn values_written_in_several_ways_are_one_value_of_tables_that_are_specialized() {
    let down = Asked { name: "down", algorithm: "top-down", more: &["--gather", "200"], ..COUNTED };
    let rows = Asked { name: "rows", others: "insensitive", ..down };
    alike(&[Asked { name: "masked", masked: true, ..down }, rows, down]);
}
