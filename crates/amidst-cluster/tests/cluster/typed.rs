//! Columns that are published as they are: the same place, type and cells as in a release of one machine, whatever the
//! files of the input say about themselves.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float32Array, Float64Array, Int16Array,
    Int64Array, LargeStringArray, StringArray, TimestampSecondArray, UInt64Array,
};
use datafusion::arrow::datatypes::{Field, Int8Type, Schema};
use datafusion::parquet::arrow::ArrowWriter;

use crate::compare::{both, schemas, verified};
use crate::processes::Cluster;

const ROWS: usize = 600;

/// The last row has a place of its own, so it is left out; and cells that would change the type of its columns.
fn odd(row: usize) -> bool {
    row == ROWS - 1
}

/// A table whose columns come in no order of roles and have types of every kind, some of them promised to have no
/// nulls, and with notes of the program that wrote it.
fn mixed(folder: &Path, unknown: bool) -> PathBuf {
    let every = |n: usize| (0..ROWS).map(move |row| (row, row * 7 % n));
    let text = |n: usize, f: &dyn Fn(usize, usize) -> String| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(every(n).map(|(row, i)| f(row, i))))
    };
    let zip = text(3, &|row, i| if odd(row) { "99999".into() } else { format!("1000{i}") });
    let age = Int16Array::from_iter_values(every(5).map(|(row, i)| if odd(row) { 99 } else { 30 + i as i16 }));
    let illness = ["flu", "cold", "asthma", "gastritis"];
    let illness: DictionaryArray<Int8Type> = every(4).map(|(_, i)| illness[i]).collect();
    let or_null = |row: usize| !(unknown && row % 50 == 3);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("whole", Arc::new(every(3).map(|(row, i)| or_null(row).then_some(i as i64)).collect::<Int64Array>())),
        ("name", text(ROWS, &|_, i| format!("n{i}"))),
        ("huge", Arc::new(UInt64Array::from_iter_values(every(2).map(|(_, i)| u64::MAX - i as u64)))),
        ("zip", zip),
        ("small", Arc::new(UInt64Array::from_iter_values(every(2).map(|(_, i)| i as u64)))),
        ("round", Arc::new(Float64Array::from_iter_values(every(3).map(|(_, i)| -(i as f64))))),
        ("share", Arc::new(Float64Array::from_iter_values(every(4).map(|(_, i)| [0.1, -0.0, 2.5e-9, 1e300][i])))),
        ("single", Arc::new(Float32Array::from_iter_values(every(3).map(|(_, i)| [0.1, 3.0, 1e-7][i])))),
        ("age", Arc::new(age)),
        ("digits", text(3, &|row, i| if odd(row) { "none".into() } else { i.to_string() })),
        ("padded", text(2, &|_, i| format!("0{i}"))),
        ("ratio", text(3, &|_, i| ["0.5", "3", "1e300"][i].to_string())),
        ("rounded", text(2, &|_, i| ["0.50", "3"][i].to_string())),
        ("day", Arc::new(Date32Array::from_iter_values(every(3).map(|(_, i)| 11_016 + i as i32)))),
        ("daytext", text(2, &|row, i| if odd(row) { "2021-02-29".into() } else { format!("2021-02-2{i}") })),
        ("moment", Arc::new(TimestampSecondArray::from_iter_values(every(2).map(|(_, i)| 1_600_000_000 + i as i64)))),
        ("illness", Arc::new(illness)),
        (
            "price",
            Arc::new(
                Decimal128Array::from_iter_values(every(3).map(|(_, i)| [250, 300, 5][i]))
                    .with_precision_and_scale(9, 2)
                    .unwrap(),
            ),
        ),
        ("truth", Arc::new(every(2).map(|(row, i)| or_null(row).then_some(i == 0)).collect::<BooleanArray>())),
        ("truthtext", text(2, &|_, i| (i == 0).to_string())),
        ("empty", text(2, &|_, i| ["", "1"][i].to_string())),
        ("long", Arc::new(LargeStringArray::from_iter_values(every(2).map(|(_, i)| format!("a|{i}"))))),
    ];
    let note = || HashMap::from([("pandas".to_string(), "made by somebody".to_string())]);
    let field = |(i, (name, array)): (usize, &(&str, ArrayRef))| {
        let nullable = array.null_count() > 0 || i % 2 == 0;
        Field::new(*name, array.data_type().clone(), nullable).with_metadata(note())
    };
    let fields: Vec<Field> = columns.iter().enumerate().map(field).collect();
    let schema = Arc::new(Schema::new(fields).with_metadata(note()));
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).unwrap();
    let to = folder.join(if unknown { "unknown.parquet" } else { "mixed.parquet" });
    let mut writer = ArrowWriter::try_new(std::fs::File::create(&to).unwrap(), schema, None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    to
}

fn policy(folder: &Path, name: &str, data: &str) -> PathBuf {
    let text = format!(
        r#"
[data]
input = "mixed.parquet"
{data}
[columns."*"]
role = "insensitive"
accept = "a test"
[columns.name]
role = "identifying"
[columns.zip]
role = "quasi"
hierarchy = {{ mask = {{ length = 5, from = "right" }} }}
[columns.age]
role = "quasi"
type = "integer"
hierarchy = {{ intervals = [10, 20], origin = 0 }}
[columns.illness]
role = "sensitive"
[columns.price]
role = "sensitive"
[[require]]
model = "k-anonymity"
k = 5
[search]
algorithm = "optimal"
max_suppression = 0.01
[output]
file = "release.parquet"
"#
    );
    let path = folder.join(format!("{name}.toml"));
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn columns_that_are_published_as_they_are_have_the_types_of_a_local_release() {
    let folder = tempfile::tempdir().unwrap();
    let cluster = Cluster::start(folder.path(), 1);
    let kept = "missing_rows = \"keep\"";
    for (name, unknown, data) in [("mixed", false, ""), ("dropped", true, ""), ("kept", true, kept)] {
        let input = mixed(folder.path(), unknown);
        let policy = policy(folder.path(), name, data);
        both(&cluster, folder.path(), &policy, &input, name, &[]);
        verified(&folder.path().join(format!("{name}-cluster")));
        // The row that is left out would have made these text.
        let schema = schemas(&folder.path().join(format!("{name}-cluster/public/release"))).remove(0);
        let types =
            ["digits", "daytext", "small"].map(|name| schema.field_with_name(name).unwrap().data_type().to_string());
        assert_eq!(types, ["Int64", "Date32", "Int64"], "{name}");
    }
}
