use crate::test_folder::TestFolder;

#[test]
fn experiments_are_listed_run_and_shown() {
    let scratch = TestFolder::new();
    let listed = scratch.amidst(&["reproduce", "--list"]).stdout;
    assert!(listed.contains("article-figures-9-11") && listed.contains("clustering-tables"), "{listed}");
    let call = ["reproduce", "clustering-tables", "survey-tables", "--quick", "--out", "found", "--json"];
    let found = scratch.amidst(&call).json(0);
    assert_eq!(found["stand_in"], true);
    assert_eq!(found["experiments"].as_array().unwrap().len(), 2);
    let printed = found["printed_numbers"].as_u64().unwrap();
    // Table 1 of the survey and the loss of the clustering paper differ from what is printed.
    assert!(found["printed_numbers_found"].as_u64().unwrap() < printed);
    for file in ["reproduce.html", "reproduce.json", "clustering-tables.csv", "results/survey-tables.json"] {
        assert!(scratch.path("found").join(file).exists(), "{file}");
    }
    let text = scratch.amidst(&["reproduce", "survey-tables", "--quick"]).stdout;
    assert!(text.contains("Table 1 is 3-anonymous"), "{text}");
}

#[test]
fn slips_are_told() {
    let scratch = TestFolder::new();
    scratch.amidst(&["reproduce", "artcle"]).fails(2, &["did you mean `article`"]);
    scratch
        .amidst(&["reproduce", "survey-tables", "--data", "nowhere"])
        .fails(2, &["adult.data", "archive.ics.uci.edu"]);
    assert!(scratch.names().is_empty());
}

#[test]
fn a_share_of_a_table_is_drawn() {
    let scratch = TestFolder::new();
    let rows: String = (0..2_000).map(|n| format!("{n},\"a,{n}\"\n")).collect();
    scratch.file("all.csv", &format!("id,text\n{rows}"));
    let call = ["sample", "--from", "all.csv", "--share", "1/4", "--seed", "3", "--out", "some.csv"];
    assert_eq!(scratch.amidst(&call).code, 0);
    let drawn = scratch.read("some.csv");
    assert!((400..600).contains(&drawn.lines().count()), "{}", drawn.lines().count());
    assert!(drawn.lines().skip(1).all(|line| rows.contains(line)), "rows are whole and unchanged");
    assert_eq!(scratch.amidst(&["sample", "--from", "all.csv", "--share", "0.25", "--seed", "3"]).stdout, drawn);
    // Nothing is replaced without --force, and invalid arguments are reported.
    scratch.amidst(&call).fails(2, &["some.csv"]);
    scratch.amidst(&["sample", "--from", "all.csv", "--share", "5"]).fails(2, &["between 0 and 1"]);
    scratch.amidst(&["sample", "--from", "all.csv"]).fails(2, &["--share"]);
}
