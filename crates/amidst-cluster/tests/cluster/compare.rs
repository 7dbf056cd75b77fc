//! Two releases of one table compared.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use amidst::anonymize::{Options, anonymize};
use amidst::core::frequency::FrequencySet;
use amidst::job::Job;
use amidst::policy::{Policy, Role};
use amidst::verify::{Subject, verify};
use amidst_io::{ReadOptions, read};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;

use crate::processes::Cluster;

/// Releases a table with both engines, into `NAME-local` and `NAME-cluster`, and compares them.
pub fn both(cluster: &Cluster, folder: &Path, policy: &Path, data: &Path, name: &str, more: &[&str]) {
    both_from(cluster, folder, policy, data, data, name, more);
}

/// The same, where the cluster finds the table elsewhere.
pub fn both_from(
    cluster: &Cluster,
    folder: &Path,
    policy: &Path,
    data: &Path,
    elsewhere: &Path,
    name: &str,
    more: &[&str],
) {
    let (here, there) = (folder.join(format!("{name}-local")), folder.join(format!("{name}-cluster")));
    let output = cluster.anonymize(policy, elsewhere, &there, more);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{name}: {said}");
    std::fs::write(folder.join(format!("{name}-driver.log")), said).unwrap();
    let distributed: Value = serde_json::from_slice(&output.stdout).unwrap();

    let policy = Policy::read(policy).unwrap();
    let cancel = AtomicBool::new(false);
    let job = Job { cancel: &cancel, progress: &|_, _| {}, threads: 0, ..Job::default() };
    let input = Some(data.to_string_lossy().into_owned());
    let options = Options { input, out: Some(here.clone()), ..Options::default() };
    let local = anonymize(&policy, &options, &job).unwrap().to_json();
    // Through text like the other, because reading numbers may change their last digit.
    let local: Value = serde_json::from_str(&local.to_string()).unwrap();
    for figure in [
        "rows_in",
        "rows_dropped_missing",
        "rows_out",
        "suppressed",
        "classes",
        "algorithm",
        "optimal",
        "levels",
        "requirements",
        "risk",
    ] {
        assert_eq!(local[figure], distributed[figure], "{name}: {figure}");
    }
    // A table that was rolled up on the cluster cannot be compared with its single values here.
    let rolled_up = more.contains(&"--gather");
    for (metric, value) in local["metrics"].as_object().unwrap() {
        let unknown = rolled_up && ["kl-divergence", "non-uniform-entropy"].contains(&metric.as_str());
        let expected = if unknown { &Value::Null } else { value };
        let found = &distributed["metrics"][metric];
        match (expected.as_f64(), found.as_f64()) {
            // Classes come in another order then, and sums in another order end in another digit.
            (Some(a), Some(b)) if rolled_up => assert!((a - b).abs() <= 1e-12 * a.abs(), "{name}: {metric} {a} {b}"),
            _ => assert_eq!(found, expected, "{name}: {metric}"),
        }
    }
    assert_eq!(modes(&here), modes(&there), "{name}: who may read the release");
    let (here, there) = (here.join("public/release.parquet"), there.join("public/release"));
    let expected = schemas(&here).remove(0);
    for schema in schemas(&there) {
        assert_eq!(schema, expected, "{name}: columns and types");
    }
    // Rows that agree in quasi and sensitive cells may part in a local recoding, and either may go either way.
    let whole = !local["levels"].is_null();
    let decides = |name: &str| matches!(policy.column(name).map(|c| c.role), Some(Role::Quasi | Role::Sensitive));
    let columns = expected.fields().iter().map(|field| field.name().clone());
    let columns: Vec<String> = columns.filter(|name| whole || decides(name)).collect();
    assert_eq!(counted(&here, &columns), counted(&there, &columns), "{name}: the rows");
}

/// The columns and types of a Parquet file, or of the files of a folder.
pub fn schemas(release: &Path) -> Vec<SchemaRef> {
    let files: Vec<_> = match release.is_dir() {
        true => std::fs::read_dir(release).unwrap().map(|entry| entry.unwrap().path()).collect(),
        false => vec![release.to_path_buf()],
    };
    assert!(!files.is_empty());
    let schema = |file| {
        let file = std::fs::File::open(file).unwrap();
        Arc::clone(ParquetRecordBatchReaderBuilder::try_new(file).unwrap().schema())
    };
    files.into_iter().map(schema).collect()
}

/// The modes of a release and of what is in it; that of its table, or of its folder of parts, once.
fn modes(folder: &Path) -> BTreeMap<String, u32> {
    use std::os::unix::fs::PermissionsExt;
    fn add(path: &Path, name: &str, found: &mut BTreeMap<String, u32>) {
        let mode = std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let table = name.starts_with("/public/release");
        let name = if table { "table".to_string() } else { name.to_string() };
        let own = if table && path.is_dir() { mode & 0o666 } else { mode };
        assert_eq!(*found.entry(name.clone()).or_insert(own), own, "{name}");
        if path.is_dir() {
            for entry in std::fs::read_dir(path).unwrap().flatten() {
                let below = if table { "/public/release".to_string() } else { name.clone() };
                add(&entry.path(), &format!("{below}/{}", entry.file_name().to_string_lossy()), found);
            }
        }
    }
    let mut found = BTreeMap::new();
    add(folder, "", &mut found);
    found
}

/// The published combinations with their counts, in one order.
fn counted(release: &Path, columns: &[String]) -> Vec<(Vec<String>, u64)> {
    let input = read(&release.to_string_lossy(), &ReadOptions::default()).unwrap();
    let positions: Vec<usize> = columns.iter().map(|c| input.table.position(c).unwrap()).collect();
    let (set, _) = FrequencySet::count(&input.table, &positions, &[], None);
    let mut rows: Vec<(Vec<String>, u64)> = (0..set.len())
        .map(|t| {
            let cell = |(&code, &p): (&u32, &usize)| input.table.columns[p].dictionary.value(code).to_string();
            let cells = set.tuple(t).iter().zip(&positions).map(cell).collect();
            (cells, set.groups.get(t).iter().map(|e| e.rows).sum())
        })
        .collect();
    rows.sort();
    rows
}

/// The independent checker passes a folder of parts.
pub fn verified(folder: &Path) {
    let verdict = verify(&Subject::at(folder).unwrap());
    assert!(verdict.valid, "{:?}", verdict.problems);
}
