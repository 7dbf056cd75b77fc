//! Texts that are one value: numbers, days and unknown cells, written differently.

use super::*;

fn texts(prepared: &Prepared, column: usize) -> Vec<String> {
    let column = &prepared.table.columns[column];
    (0..prepared.table.rows).map(|row| column.value(row).to_string()).collect()
}

#[test]
fn numbers_written_differently_are_one_value() {
    let data = "zip,pay\n01,3000\n1,3000.0\n1,3000.00\n2,3e3\n2,-0\n2,0.0\n2,\" 7\"\n";
    let p = load(data, PAY).unwrap();
    assert_eq!(texts(&p, 1), ["3000", "3000", "3000", "3000", "-0", "-0", " 7"]);
    assert_eq!((p.domains[0].dictionary.len(), p.domains[0].dictionary.code("3000.00")), (3, Some(2)));
    assert_eq!(texts(&p, 0), ["1", "1", "1", "2", "2", "2", "2"]);
    assert_eq!(p.set.len(), 2, "two classes of raw tuples");
    // The text that a requirement names stays, for the checker looks for it in the release.
    let bounded = "[[require]]\nmodel = \"simple-alpha-k-anonymity\"\nvalue = \"3000.0\"\nalpha = 0.5\nk = 2\n";
    let p = load(data, &format!("{PAY}{bounded}")).unwrap();
    assert_eq!(texts(&p, 1)[..4], ["3000.0"; 4]);
    // Text is text, and a mask tells 01 from 1.
    let text = PAY.replace("role = \"sensitive\"", "role = \"sensitive\"\ntype = \"text\"");
    assert_eq!(load(data, &text).unwrap().domains[0].dictionary.len(), 7);
    let mask = PAY.replace("role = \"quasi\"", "role = \"quasi\"\nhierarchy = { mask = { length = 2 } }");
    assert_eq!(texts(&load(data, &mask).unwrap(), 0)[..2], ["01", "1"]);
}

#[test]
fn days_written_differently_are_one_value() {
    let p = load("zip,pay\n1,2020-01-31\n1,20200131\n1,2020-02-01\n", PAY).unwrap();
    assert_eq!(p.table.columns[1].kind, ValueType::Date);
    assert_eq!(texts(&p, 1), ["2020-01-31", "2020-01-31", "2020-02-01"]);
}

#[test]
fn all_unknowns_of_a_column_are_one_value() {
    let keep = PAY.replace("\"data.csv\"\n", "\"data.csv\"\nmissing = [\"?\", \"\"]\nmissing_rows = \"keep\"\n");
    let p = load("zip,pay\n,?\nx,\n?,a\n", &keep).unwrap();
    assert_eq!(texts(&p, 1), ["?", "?", "a"]);
    assert_eq!((texts(&p, 0), p.set.len()), (["?", "x", "?"].map(String::from).to_vec(), 2));
}
