//! States that older versions wrote, and states that lack what can be made anew.

use super::*;

#[test]
fn an_older_state_is_brought_up_to_date() {
    let ward = Ward::diverse();
    ward.init(Mode::Maintain).unwrap();
    let path = ward.dir().join("private").join(FILE);
    fs::remove_file(&path).unwrap();
    fs::remove_file(path.with_file_name("state.head")).unwrap();
    let old = rusqlite::Connection::open(&path).unwrap();
    old.execute_batch(MIGRATIONS[0]).unwrap();
    old.pragma_update(None, "user_version", 1).unwrap();
    let header = r#"["id","gender","age","zip","disease"]"#;
    old.execute("INSERT INTO meta VALUES ('mode', 'maintain'), ('header', ?1)", [header]).unwrap();
    let values = [["Male", "Female"], ["25", "31"], ["4350", "4351"], ["Flu", "Cold"]];
    for (column, values) in (0i64..).zip(values) {
        for (code, value) in (0i64..).zip(values) {
            old.execute("INSERT INTO value VALUES (?1, ?2, ?3)", rusqlite::params![column, code, value]).unwrap();
        }
    }
    for person in 1..=4u32 {
        old.execute("INSERT INTO person VALUES (?1, ?2)", rusqlite::params![person, format!("p{person}")]).unwrap();
        let cells = pack([person % 2, person / 2 % 2, 0, person % 2]);
        old.execute("INSERT INTO record VALUES (?1, 0, ?2)", rusqlite::params![person, cells]).unwrap();
    }
    old.execute("INSERT INTO batch VALUES (1, 4, 0, 0, 0, 0, 1)", []).unwrap();
    drop(old);
    let series = ward.open();
    let version: u32 = series.store.connection.query_row("PRAGMA user_version", [], |r| r.get(0)).unwrap();
    assert_eq!(version as usize, MIGRATIONS.len());
    let names = super::state::kept(&series.policy, &series.header);
    let state = State::load(&series.store.read().unwrap(), names).unwrap();
    assert_eq!((state.rows(), state.signatures[0].len()), (4, 0));
    drop(series);
    assert_eq!(ward.insert("q,Male,30,4350,Flu\n").unwrap().rows, 5);
    // A file from the future is left alone.
    let newer = rusqlite::Connection::open(&path).unwrap();
    newer.pragma_update(None, "user_version", 99).unwrap();
    drop(newer);
    assert!(matches!(Store::open(&path), Err(Failure::Usage(_))));
}

/// What every row is in, in the order of the keys.
fn placement(ward: &Ward) -> Vec<(String, u32)> {
    let series = ward.open();
    let sql = "SELECT key, class FROM record JOIN person ON person.id = record.person ORDER BY key";
    let mut query = series.store.connection.prepare(sql).unwrap();
    query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().collect::<Result<_, _>>().unwrap()
}

#[test]
fn a_state_without_kept_classes_goes_on_as_if_it_had_them() {
    let header = "id,gender,age,zip,disease\n";
    let requirements = "[[require]]\nmodel = \"k-anonymity\"\nk = 3\n";
    let wards = [0, 1, 2].map(|_| {
        let ward = Ward::new(&format!("{header}{}", rows(&mut Random::new(2), 0, 90)), requirements);
        ward.init(Mode::Maintain).unwrap();
        ward
    });
    let state = |ward: &Ward| {
        let private = ward.dir().join("private");
        fs::remove_file(private.join("state.head")).unwrap();
        let state = rusqlite::Connection::open(private.join(FILE)).unwrap();
        state
            .execute_batch(
                "ALTER TABLE value DROP COLUMN uses; DROP TABLE undo; DROP TABLE changed;
                 ALTER TABLE history DROP COLUMN tuples; ALTER TABLE history DROP COLUMN beside; DELETE FROM meta WHERE name IN ('seal', 'changes');
                 PRAGMA user_version = 4;",
            )
            .unwrap();
        state
    };
    // One of them as the second step of the state left it, one as the third did, with pages of another kind.
    let old = state(&wards[2]);
    old.execute_batch(
        "DROP TABLE tree; DROP TABLE signed; UPDATE page SET classes = randomblob(96); PRAGMA user_version = 3;",
    )
    .unwrap();
    drop(old);
    let old = state(&wards[1]);
    old.execute_batch(
        "DROP TABLE tree; DROP TABLE signed; DROP TABLE page; DROP TABLE kind; DROP INDEX record_class; DROP INDEX value_text;
         ALTER TABLE value DROP COLUMN rows; DELETE FROM meta WHERE name IN ('counted', 'heights', 'next_class');
         PRAGMA user_version = 2;",
    )
    .unwrap();
    drop(old);
    for turn in 0..3 {
        for ward in &wards {
            ward.insert(&rows(&mut Random::new(50 + turn), 1000 * (turn as usize + 1), 25)).unwrap();
            ward.delete(&(0..7).map(|i| format!("p{}\n", 7 * turn + i)).collect::<String>()).unwrap();
        }
        assert_eq!(placement(&wards[0]), placement(&wards[1]));
        assert_eq!(placement(&wards[0]), placement(&wards[2]));
    }
}
