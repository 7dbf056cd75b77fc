//! Batches that change nothing, that are taken back, or that name nobody.

use super::*;

/// Everything that the state holds, table by table, as text.
fn dump(series: &Series) -> Vec<String> {
    // The seal and the number of changes move on with every commit, also with one that takes a batch back.
    let meta = "meta WHERE name NOT IN ('seal', 'changes')";
    let mut lines = Vec::new();
    for table in [meta, "value", "person", "record", "batch", "version", "kind", "page", "tree", "signed"] {
        let mut query = series.store.connection.prepare(&format!("SELECT * FROM {table} ORDER BY 1, 2")).unwrap();
        let width = query.column_count();
        let mut rows = query.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let cells: Vec<String> = (0..width).map(|c| format!("{:?}", row.get_ref(c).unwrap())).collect();
            lines.push(format!("{table}: {}", cells.join(" | ")));
        }
    }
    lines
}

#[test]
fn a_batch_that_is_taken_back_never_happened() {
    for mode in [Mode::Maintain, Mode::MInvariant] {
        let ward = match mode {
            Mode::Maintain => Ward::diverse(),
            Mode::MInvariant => Ward::new(PATIENTS, "[[require]]\nmodel = \"m-invariance\"\nm = 2\n"),
        };
        ward.init(mode).unwrap();
        let mut series = ward.open();
        assert!(series.undo().unwrap_err().to_string().contains("nothing to take back"));
        let new = ward.file("new.csv", "id,gender,age,zip,disease\nx,Male,24,4351,Flu\ny,Female,30,4350,Measles\n");
        let gone = ward.file("gone.csv", "id\na\n");
        let before = dump(&series);
        series.apply(&Batch { insert: Some(new.clone()), delete: None }, &job()).unwrap();
        let between = dump(&series);
        series.apply(&Batch { insert: None, delete: Some(gone) }, &job()).unwrap();
        assert_eq!(series.undo().unwrap(), Undone { batch: 3, inserted: 0, deleted: 1, rows: 8 });
        assert_eq!(dump(&series), between);
        assert_eq!(series.undo().unwrap(), Undone { batch: 2, inserted: 2, deleted: 0, rows: 6 });
        assert_eq!(dump(&series), before);
        series.apply(&Batch { insert: Some(new), delete: None }, &job()).unwrap();
        assert_eq!(dump(&series), between);
        series.publish(true, &job()).unwrap();
        assert!(series.undo().is_err());
        let kept: i64 = series.store.connection.query_row("SELECT COUNT(*) FROM undo", [], |row| row.get(0)).unwrap();
        assert_eq!(kept, 0, "what reverts a published batch is erased");
    }
}

#[test]
fn a_header_is_an_empty_batch_and_an_empty_key_is_nobody() {
    let ward = Ward::diverse();
    ward.init(Mode::Maintain).unwrap();
    let mut series = ward.open();
    let header = ward.file("header.csv", "id,gender,age,zip,disease\n");
    let done = series.apply(&Batch { insert: Some(header), delete: None }, &job()).unwrap();
    assert_eq!((done.inserted, done.rows), (0, 6));
    let nobody = ward.file("nobody.csv", "id,gender,age,zip,disease\nx,Male,24,4351,Flu\n,Male,24,4351,Flu\n");
    let told = series.apply(&Batch { insert: Some(nobody), delete: None }, &job()).unwrap_err().to_string();
    assert!(told.contains("line 3") && told.contains("no person"), "{told}");
    let gone = ward.file("gone.csv", "id\n\"\"\n");
    assert!(series.apply(&Batch { insert: None, delete: Some(gone) }, &job()).is_err());
}
