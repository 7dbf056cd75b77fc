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
    assert_eq!((done.batch, done.inserted, done.rows), (1, 0, 6));
    let unchanged = series.publish(false, &job()).unwrap_err().to_string();
    assert!(unchanged.contains("nothing has changed since version 1"), "{unchanged}");
    let row = ",Male,24,4351,Flu\n";
    let nobody = ward.file("nobody.csv", &format!("id,gender,age,zip,disease\nx{row}{row}{row}"));
    let told = series.apply(&Batch { insert: Some(nobody), delete: None }, &job()).unwrap_err().to_string();
    assert!(told.contains("line 3") && told.contains("no person"), "{told}");
    let gone = ward.file("gone.csv", "id\n\"\"\n");
    assert!(series.apply(&Batch { insert: None, delete: Some(gone) }, &job()).is_err());
}

#[test]
fn everybody_is_published_in_the_class_that_the_state_records() {
    // Many agree in quasi and sensitive cells, and are told apart by a note alone.
    let note =
        "[columns.note]\nrole = \"insensitive\"\naccept = \"a test\"\n[[require]]\nmodel = \"m-invariance\"\nm = 2\n";
    let row = |i: usize| {
        format!(
            "p{i},{},{},4350,{},note{i}\n",
            ["Male", "Female"][i % 2],
            20 + i % 3,
            ["Flu", "Gout", "Ache"][i / 7 % 3]
        )
    };
    let head = "id,gender,age,zip,disease,note\n";
    let ward = Ward::new(&format!("{head}{}", (0..60).map(row).collect::<String>()), note);
    ward.init(Mode::MInvariant).unwrap();
    let mut series = ward.open();
    let file = ward.file("in.csv", &format!("{head}{}", (60..90).map(row).collect::<String>()));
    series.apply(&Batch { insert: Some(file), delete: None }, &job()).unwrap();
    // Notes that come again link the versions, which the audit sees; here it is what is written that matters.
    let refused = series.publish(false, &job()).unwrap_err().to_string();
    assert!(refused.contains("can be linked between versions 1 and 2 by `note`"), "{refused}");
    let release = series.publish(true, &job()).unwrap().release;
    let text = fs::read_to_string(release).unwrap();
    // The sensitive values beside the cells of each row, and the cells of each note.
    let mut values: std::collections::BTreeMap<&str, Vec<&str>> = Default::default();
    let mut cells_of: std::collections::BTreeMap<&str, &str> = Default::default();
    for line in text.lines().skip(1) {
        let (rest, note) = line.rsplit_once(',').unwrap();
        let (cells, value) = rest.rsplit_once(',').unwrap();
        values.entry(cells).or_default().push(value);
        cells_of.insert(note, cells);
    }
    let db = &series.store.connection;
    let mut query = db.prepare("SELECT key, signature FROM person ORDER BY id").unwrap();
    let mut persons = query.query([]).unwrap();
    let disease = |code: u32| -> String {
        db.query_row("SELECT text FROM value WHERE col = 3 AND code = ?1", [code], |row| row.get(0)).unwrap()
    };
    while let Some(person) = persons.next().unwrap() {
        let (key, signature): (String, Vec<u8>) = (person.get(0).unwrap(), person.get(1).unwrap());
        let signature: Vec<String> = super::packed::unpack(&signature).into_iter().map(disease).collect();
        let seen = &values[cells_of[key.replace('p', "note").as_str()]];
        assert!(signature.iter().all(|value| seen.contains(&value.as_str())), "{key} {signature:?} {seen:?}");
    }
}

/// The public sees versions, not batches: who leaves and comes back with another value before the next version is one
/// whose value was replaced.
#[test]
fn a_value_is_replaced_between_versions_in_one_batch_or_in_two() {
    let replaced = |ward: &Ward| -> Vec<bool> {
        let series = ward.open();
        let mut query = series.store.connection.prepare("SELECT beside FROM changed ORDER BY person").unwrap();
        query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let began = || {
        let ward = Ward::diverse();
        ward.init(Mode::Maintain).unwrap();
        ward
    };
    for (disease, expected) in [("Gout", vec![false]), ("Hypertension", vec![])] {
        let row = format!("a,Male,25,4350,{disease}\n");
        let ward = began();
        ward.delete("a\n").unwrap();
        ward.insert(&row).unwrap();
        assert_eq!(replaced(&ward), expected, "in two batches: {disease}");
        // A person who was away from a version may have changed meanwhile, which no release shows.
        let ward = began();
        ward.delete("a\n").unwrap();
        ward.open().publish_safe(true, &job()).unwrap();
        ward.insert(&row).unwrap();
        assert_eq!(replaced(&ward), [false; 0], "after a version: {disease}");
    }
}
