//! CSV files with two readings: the checker refuses them, or reads what all readers read.

use std::fs;

use amidst_testkit::readings as corpus;

#[test]
fn files_with_two_readings_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("release.csv");
    assert!(corpus::files().len() >= 400, "the corpus is too small");
    let (accepted, wrong) = corpus::compared(
        |bytes| {
            fs::write(&path, bytes).unwrap();
            let (names, rows) = amidst_check::rows_of(&path).map_err(|problem| problem.message)?;
            let text = |cell: &Vec<u8>| String::from_utf8(cell.clone()).unwrap();
            let all = rows.iter().flat_map(|(cells, n)| (0..*n).map(|_| cells.iter().map(text).collect()));
            Ok(corpus::seen(names, all.collect()))
        },
        |seen| seen,
    );
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(accepted > 20, "only {accepted} were read");
}
