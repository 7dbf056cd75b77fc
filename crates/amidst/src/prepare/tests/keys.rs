//! What tells persons apart: several columns together, keys that look alike, rows without a key.

use super::*;

#[test]
fn several_keys_tell_persons_apart_together() {
    let data =
        "first,last,zip,pay\nAnn,Ash,1,a\nAnn,Boyd,1,b\nAnn,Ash,1,a\nBea,\"Boyd, Ann\",1,b\n\"Bea, Boyd\",Ann,1,b\n";
    let keys = "[columns.first]\nrole = \"key\"\n\n[columns.last]\nrole = \"key\"\n\n";
    let p = load(data, &format!("{keys}{PAY}")).unwrap();
    let key = &p.table.columns[p.key.unwrap()];
    let people: Vec<&str> = (0..p.table.rows).map(|row| key.value(row)).collect();
    assert_eq!(people, ["Ann, Ash", "Ann, Boyd", "Ann, Ash", r"Bea, Boyd\, Ann", r"Bea\, Boyd, Ann"]);
    assert!(p.set.persons);
}

#[test]
fn keys_that_look_alike_are_one_person() {
    let data = "id,zip,pay\nAnn@x.org,1,a\nann@X.org,1,b\nbob@x.org,1,b\n";
    let p = load(data, &format!("[columns.id]\nrole = \"key\"\n\n{PAY}")).unwrap();
    assert!(p.set.persons && p.remarks.iter().any(|r| r.contains("1 group of keys of `id`")), "{:?}", p.remarks);
    let key = &p.table.columns[p.key.unwrap()];
    assert!(key.codes.get(0) == key.codes.get(1) && key.codes.get(0) != key.codes.get(2));
}

#[test]
fn rows_without_a_key_are_nobody_s() {
    let data = "id,zip,pay\np1,1,a\n,1,b\n?,1,b\np2,1,?\n";
    let keep = "[data]\ninput = \"data.csv\"\nmissing = [\"?\"]\nmissing_rows = \"keep\"\n";
    let policy = format!("[columns.id]\nrole = \"key\"\n\n{PAY}").replace("[data]\ninput = \"data.csv\"\n", "");
    let p = load(data, &format!("{keep}\n{policy}")).unwrap();
    assert_eq!((p.table.rows, p.rows_dropped_missing), (2, 2));
}
