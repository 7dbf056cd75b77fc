//! Small tables in temporary folders, prepared whole.

mod keys;
mod spellings;

use std::fs;
use std::path::Path;

use super::*;
use crate::job::Control;
use crate::policy::ConsentMode;
use crate::policy_check::{Finding, check};
use amidst_core::ids::EntryId;
use amidst_core::table::ValueType;

const DATA: &str = "name,age,zip,disease,visits
Ann,34,14248,Flu,1
Bob,27,14249,Cancer,2
Cleo,?,14248,Flu,1
Dan,34,14248,Flu,3
";

const POLICY: &str = r#"[data]
input = "data.csv"
missing = ["?"]

[columns.name]
role = "identifying"

[columns.age]
role = "quasi"
hierarchy = { intervals = [10, 20] }

[columns.zip]
role = "quasi"
hierarchy = { mask = { length = 5 } }
weight = 2

[columns.disease]
role = "sensitive"

[columns."*"]
role = "insensitive"

[[require]]
model = "k-anonymity"
k = 2
"#;

/// A folder with a table and a policy.
fn folder(data: &str, policy: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("data.csv"), data).unwrap();
    fs::write(folder.path().join("policy.toml"), policy).unwrap();
    folder
}

fn load_in(folder: &Path) -> Result<Prepared, PrepareError> {
    let policy = Policy::read(&folder.join("policy.toml")).unwrap_or_else(|e| panic!("{e}"));
    Prepared::load(&policy, &LoadOptions::default())
}

fn load(data: &str, policy: &str) -> Result<Prepared, PrepareError> {
    load_in(folder(data, policy).path())
}

/// The message, with the folder's name taken out.
fn message(data: &str, policy: &str) -> String {
    let folder = folder(data, policy);
    let error = load_in(folder.path()).expect_err("should not fit");
    assert_eq!(error.exit_code(), 2);
    error.to_string().replace(&format!("{}/", folder.path().display()), "")
}

fn lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim_end).collect()
}

#[test]
fn a_table_is_prepared() {
    let p = load(DATA, POLICY).unwrap();
    assert_eq!((p.rows_in, p.rows_dropped_missing, p.table.rows), (4, 1, 3));
    assert_eq!(p.header, ["name", "age", "zip", "disease", "visits"]);
    assert!(p.table.column("name").is_none(), "identifying columns are not kept");
    assert_eq!(p.roles, [Role::Quasi, Role::Quasi, Role::Sensitive, Role::Insensitive]);
    assert_eq!((&p.quasi[..], &p.sensitive[..]), (&[0, 1][..], &[2][..]));
    assert_eq!(p.table.columns[0].kind, ValueType::Integer);
    assert_eq!((p.generalizations[0].height(), p.generalizations[1].height()), (3, 5));
    assert!(p.generalizations[0].numeric && !p.generalizations[1].numeric);
    assert_eq!(p.generalizations[1].weight, 2.0);
    assert_eq!((p.set.len(), p.set.rows), (2, 3));
    assert_eq!(p.entry_of_row, [1, 0, 1].map(EntryId));
    assert_eq!(p.domains[0].dictionary.iter().collect::<Vec<_>>(), ["Cancer", "Flu"]);
    assert_eq!(p.requirements.len(), 1);
}

#[test]
fn what_was_guessed_is_written_out() {
    let folder = folder(DATA, POLICY);
    let path = folder.path().join("policy.toml");
    let policy = Policy::read(&path).unwrap();
    let prepared = Prepared::load(&policy, &LoadOptions::default()).unwrap();
    let resolved = policy.resolved(&prepared);
    assert_eq!(resolved.column("age").unwrap().kind, Some(ValueType::Integer));
    assert_eq!(Policy::parse(&resolved.to_toml(), &path).unwrap(), resolved);
}

#[test]
fn unknown_rows_can_stay() {
    let p = load(DATA, &POLICY.replace("missing = [\"?\"]", "missing = [\"?\"]\nmissing_rows = \"keep\"")).unwrap();
    assert_eq!((p.rows_dropped_missing, p.table.rows), (0, 4));
    assert_eq!(p.table.columns[0].kind, ValueType::Integer, "unknown does not make the column text");
    let age = &p.generalizations[0];
    let unknown = p.table.columns[0].dictionary.code("?").unwrap();
    assert_eq!(age.levels[1].labels[age.levels[1].of[unknown as usize] as usize], "?");
}

#[test]
fn columns_must_be_there_and_covered() {
    let text = message(DATA, &POLICY.replace("[columns.disease]", "[columns.desease]"));
    let expected = "\
error: the data has no column `desease`
  --> policy.toml:17:10
   |
17 | [columns.desease]
   |          ^^^^^^^ no such column
   |
   = help: did you mean `disease`?";
    assert_eq!(lines(&text), lines(expected));
    let text = message(DATA, &POLICY.replace("[columns.\"*\"]\nrole = \"insensitive\"\n", ""));
    assert!(text.contains("the data has a column that the policy does not name: `visits`"), "{text}");
    assert!(text.contains("[columns.\"*\"]"), "{text}");
}

#[test]
fn a_stated_type_must_fit() {
    let policy = POLICY.replace("[columns.zip]\nrole = \"quasi\"", "[columns.zip]\nrole = \"quasi\"\ntype = \"date\"");
    let text = message(DATA, &policy);
    let first = text.lines().next().unwrap();
    assert_eq!(
        first,
        "error: column `zip` is stated to be date, but these are not: 2 values, in 3 rows; the first is on line 2 of data.csv, \
         written like “99999”"
    );
}

#[test]
fn values_that_a_hierarchy_lacks_are_placed() {
    let policy = POLICY.replace("{ mask = { length = 5 } }", "{ file = \"zip.csv\" }");
    let folder = folder(DATA, &policy);
    fs::write(folder.path().join("zip.csv"), "14248;1424*;*\n").unwrap();
    let text = load_in(folder.path()).unwrap_err().to_string();
    assert!(text.contains("the hierarchy of `zip` lacks 1 value, in 1 row; the first is on line 3 of"), "{text}");
    fs::write(folder.path().join("zip.csv"), "14248;1424*;*\n14249;1424*\n").unwrap();
    let text = load_in(folder.path()).unwrap_err().to_string();
    assert!(text.contains("line 2"), "{text}");
    fs::remove_file(folder.path().join("zip.csv")).unwrap();
    let text = load_in(folder.path()).unwrap_err().to_string();
    assert!(text.contains("no such file") && text.contains("hierarchy = { file"), "{text}");
}

#[test]
fn lines_are_those_of_the_file_although_rows_are_dropped() {
    let data = "age,zip,disease\n?,1,a\n?,1,a\n3,2,b\nx,2,b\n";
    let policy = POLICY
        .replace("[columns.name]\nrole = \"identifying\"\n", "")
        .replace("{ mask = { length = 5 } }", "{ suppress = true }")
        .replace("[columns.age]\nrole = \"quasi\"", "[columns.age]\nrole = \"quasi\"\ntype = \"integer\"");
    let text = message(data, &policy);
    assert!(text.contains("1 value, in 1 row; the first is on line 5 of data.csv"), "{text}");
}

#[test]
fn an_order_ranks_all_values() {
    let order = |list: &str| POLICY.replace("role = \"sensitive\"", &format!("role = \"sensitive\"\norder = {list}"));
    let p = load(DATA, &order("[\"Flu\", \"Cancer\"]")).unwrap();
    assert_eq!(p.domains[0].dictionary.iter().collect::<Vec<_>>(), ["Flu", "Cancer"]);
    assert!(p.domains[0].ordered);
    let text = message(DATA, &order("[\"Flu\"]"));
    assert!(text.contains("the order of `disease` lacks 1 value, in 1 row; the first is on line 3"), "{text}");
    let ranges = POLICY.replace(
        "hierarchy = { mask = { length = 5 } }",
        "hierarchy = { order = [14249, 14248] }\ngeneralize = \"ranges\"",
    );
    let p = load(DATA, &ranges).unwrap();
    assert_eq!(p.table.columns[1].dictionary.iter().collect::<Vec<_>>(), ["14249", "14248"]);
    assert_eq!((p.generalizations[1].numeric, &p.generalizations[1].coordinates[..]), (true, &[0.0, 1.0][..]));
}

#[test]
fn waived_rows_are_not_counted() {
    let data = "age,zip,disease,ok\n34,14248,Flu,no\n34,14248,Flu,yes\n27,14249,Flu,?\n";
    let policy =
        POLICY.replace("[columns.name]\nrole = \"identifying\"", "[columns.ok]\nrole = \"consent\"\nmode = \"join\"");
    let p = load(data, &policy).unwrap();
    let waived = p.waived.unwrap();
    assert_eq!((waived.mode, waived.rows), (ConsentMode::Join, vec![1]));
    assert_eq!((p.set.rows, &p.entry_of_row[..]), (2, &[EntryId(1), NO_ENTRY, EntryId(0)][..]));
    assert_eq!(p.table.rows, 3, "an unknown consent is no unknown row");
}

#[test]
fn a_key_counts_persons() {
    let data = "age,zip,disease,who\n34,14248,Flu,p\n34,14248,Flu,p\n27,14249,Flu,q\n";
    let policy = POLICY.replace("[columns.name]\nrole = \"identifying\"", "[columns.who]\nrole = \"key\"");
    let p = load(data, &policy).unwrap();
    assert!(p.set.persons);
    assert_eq!(p.key, Some(3));
}

#[test]
fn people_of_a_population_need_not_be_whole() {
    let policy = POLICY.to_string() + "\n[[require]]\nmodel = \"k-map\"\nk = 3\npopulation = \"people.csv\"\n";
    let folder = folder(DATA, &policy);
    let with = |counts: [&str; 3]| {
        let [a, b, c] = counts;
        fs::write(
            folder.path().join("people.csv"),
            format!("zip,count,age\n14248,{a},34\n14248,{b},34\n14249,{c},27\n"),
        )
        .unwrap();
        load_in(folder.path())
    };
    let p = with(["0.5", " 1/3 ", "2"]).unwrap();
    let population = p.populations[1].as_ref().unwrap();
    // The table has (27, 14249) and (34, 14248).
    assert_eq!((&population.totals[..], population.scale), (&[12, 5][..], 6));
    // As a survey writes its weights.
    let p = with(["1523.8472938471233", "0.30000000000000003", "1e3"]).unwrap();
    assert_eq!(p.populations[1].as_ref().unwrap().scale, 10u128.pow(17));
    for counts in [["1", "-2", "1"], ["many", "1", "1"], ["1e-60", "1", "1"], ["1e38", "1e38", "3e38"]] {
        let error = with(counts).unwrap_err().to_string();
        assert!(error.contains("`count`"), "{counts:?}: {error}");
    }
}

#[test]
fn sensitive_values_become_labels_of_their_hierarchy() {
    let tree = "hierarchy = { taxonomy = { Any = { Lung = [\"Flu\", \"Cold\"], Other = [\"HIV\"] } } }\nlevel = 1\n";
    let policy = POLICY.replace(
        "[columns.disease]\nrole = \"sensitive\"\n",
        &format!("[columns.disease]\nrole = \"sensitive\"\n{tree}"),
    );
    assert!(policy.contains("level = 1"), "the fixture has changed");
    let data = "age,zip,disease,name\n34,14248,Flu,a\n34,14248,Cold,b\n27,14249,HIV,c\n27,14249,Flu,d\n";
    let p = load(data, &policy).unwrap();
    let column = &p.table.columns[p.sensitive[0]];
    assert_eq!(column.dictionary.iter().collect::<Vec<_>>(), ["Lung", "Other"]);
    assert_eq!((0..4).map(|row| column.value(row)).collect::<Vec<_>>(), ["Lung", "Lung", "Other", "Lung"]);
    assert_eq!(p.published_labels["disease"]["Cold"], "Lung");
    // What is above the labels stays a hierarchy.
    assert_eq!(p.domains[0].levels.as_ref().unwrap().len(), 2);
    let wrong = |from: &str, to: &str| load(data, &policy.replace(from, to)).unwrap_err().to_string();
    assert!(wrong("level = 1", "level = 3").contains("2 levels above"));
    assert!(wrong("\"HIV\"", "\"AIDS\"").contains("lacks"));
    assert!(wrong("level = 1", "level = 1\norder = [\"Lung\"]").contains("lacks 1 of the labels"));
    assert!(load(data, &policy.replace("level = 1", "level = 1\norder = [\"Other\", \"Lung\"]")).is_ok());
}

#[test]
fn a_population_shares_the_tuples() {
    let policy = POLICY.to_string() + "\n[[require]]\nmodel = \"k-map\"\nk = 3\npopulation = \"people.csv\"\n";
    let folder = folder(DATA, &policy.replace("missing = [\"?\"]", "missing = [\"?\", \"NA\"]"));
    let people = "zip,count,age\n14248,5,34\n14248,1,34\n99999,7,34\n14249,2,60\nNA,9,27\n";
    fs::write(folder.path().join("people.csv"), people).unwrap();
    let p = load_in(folder.path()).unwrap();
    // The table has (27, 14249) and (34, 14248); the population adds (34, 99999) and (60, 14249).
    let population = p.populations[1].as_ref().unwrap();
    assert!(p.populations[0].is_none());
    assert_eq!((p.set.len(), &population.totals[..]), (4, &[0, 6, 7, 2][..]));
    assert_eq!((p.set.groups.get(2).len(), p.set.groups.get(3).len()), (0, 0));
    let (age, zip) = (&p.generalizations[0], &p.generalizations[1]);
    assert_eq!((age.active(), zip.active()), (2, 2), "the active domain is the table's");
    let far = p.set.tuple(2)[1] as usize;
    let label = |level: usize| zip.levels[level].labels[zip.levels[level].of[far] as usize].as_str();
    assert_eq!([label(0), label(1), label(5)], ["99999", "9999*", "*"]);
    let old = p.set.tuple(3)[0] as usize;
    assert_eq!(age.levels[3].of[old], age.levels[3].of[0]);
    for g in [age, zip] {
        for level in 0..g.height() {
            for (code, &value) in g.levels[level].of.iter().enumerate() {
                assert_eq!(g.levels[level].up[value as usize], g.levels[level + 1].of[code]);
            }
        }
    }
    fs::write(folder.path().join("people.csv"), "zip\n14248\n").unwrap();
    let text = load_in(folder.path()).unwrap_err().to_string();
    assert!(text.contains("the population lacks the column age"), "{text}");
}

#[test]
fn models_see_their_column() {
    let with = |require: &str| format!("{POLICY}\n[[require]]\nmodel = {require}\n");
    assert!(load(DATA, &with("\"t-closeness\"\nt = 0.2")).is_ok());
    let text = message(DATA, &with("\"t-closeness\"\nt = 0.2\ndistance = \"ordered\""));
    assert!(text.contains("distance = \"ordered\"") && text.contains("^^^^^^^^^"), "{text}");
    let hierarchy = "role = \"sensitive\"\nhierarchy = { taxonomy = { Any = { Ill = [\"Flu\", \"Cancer\"] } } }";
    let policy =
        with("\"t-closeness\"\nt = 0.2\ndistance = \"hierarchical\"").replace("role = \"sensitive\"", hierarchy);
    let p = load(DATA, &policy).unwrap();
    assert_eq!(p.domains[0].levels.as_ref().unwrap().first().unwrap(), &[0, 1]);
}

/// The first line of a table without a header is somebody's, and is not quoted as a list of names.
#[test]
fn a_first_line_of_values_is_not_taken_for_names() {
    let text = message("Ann,34,14248,Flu\nBob,35,14249,HIV\n", POLICY);
    assert!(text.contains("header = false") && text.contains("column1"), "{text}");
    assert!(!text.contains("Ann") && !text.contains("14248"), "{text}");
    // Years and counted columns are names, and so are words.
    let text = message("name,2019,2020,2021\nAnn,34,14248,3\n", POLICY);
    assert!(text.contains("the data has no column `age`") && !text.contains("header = false"), "{text}");
}

#[test]
fn an_audit_names_columns_once() {
    let folder = folder(DATA, "");
    let data = folder.path().join("data.csv");
    let names = |list: &[&str]| list.iter().map(|s| s.to_string()).collect::<Vec<_>>();
    let load = |quasi: &[&str], sensitive: &[&str]| {
        let policy = Policy::for_audit(data.to_str().unwrap(), &names(quasi), &names(sensitive));
        Prepared::load(&policy, &LoadOptions::default())
    };
    let p = load(&["age", "zip"], &["disease"]).unwrap();
    assert_eq!((p.quasi.len(), p.sensitive.len(), p.table.columns.len(), p.table.rows), (2, 1, 3, 4));
    let text = load(&["age", "disease"], &["disease"]).unwrap_err().to_string();
    assert!(text.contains("column `disease` is named twice"), "{text}");
    let text = load(&["agee"], &[]).unwrap_err().to_string();
    assert!(text.contains("the data has no column `agee`") && text.contains("did you mean `age`?"), "{text}");
}

#[test]
fn nothing_left_is_an_error() {
    let text = message("name,age,zip,disease\nAnn,?,1,Flu\n", POLICY);
    assert!(text.contains("every row has an unknown cell"), "{text}");
}

#[test]
fn the_input_must_be_there() {
    let folder = folder(DATA, &POLICY.replace("data.csv", "date.csv"));
    let error = load_in(folder.path()).unwrap_err();
    assert_eq!(error.exit_code(), 2);
    assert!(error.to_string().contains("Did you mean data.csv?"), "{error}");
    let policy = Policy::parse(&POLICY.replace("input = \"data.csv\"\n", ""), Path::new("p.toml")).unwrap();
    let error = Prepared::load(&policy, &LoadOptions::default()).unwrap_err();
    assert!(error.to_string().contains("the policy names no input"), "{error}");
}

#[test]
fn a_check_tells_what_is_right() {
    let folder =
        folder(DATA, &POLICY.replace("role = \"insensitive\"\n", "role = \"insensitive\"\naccept = \"a test\"\n"));
    let policy = Policy::read(&folder.path().join("policy.toml")).unwrap();
    let findings = check(&policy, &LoadOptions::default());
    let Finding::Fits(summary) = &findings[0] else { panic!("{findings:?}") };
    assert_eq!((summary.rows, summary.rows_dropped_missing, summary.columns.len()), (4, 1, 5));
    assert_eq!(summary.columns[1].height, Some(3));
    assert_eq!((summary.columns[0].distinct, summary.columns[3].distinct), (None, Some(2)));
    assert!(findings.iter().all(|f| !f.is_error()));
    assert!(matches!(&findings[1], Finding::Remark(text) if text.contains("disease")));
}

#[test]
fn a_check_tells_everything_wrong_at_once() {
    let policy = POLICY
        .replace("{ intervals = [10, 20] }", "{ intervals = [20, 10] }")
        .replace("{ mask = { length = 5 } }", "{ file = \"nowhere.csv\" }");
    let folder = folder(DATA, &policy);
    let policy = Policy::read(&folder.path().join("policy.toml")).unwrap();
    let findings = check(&policy, &LoadOptions::default());
    let [Finding::Wrong(errors)] = &findings[..] else { panic!("{findings:?}") };
    assert_eq!(errors.list.len(), 2, "{errors}");
}

#[test]
fn loading_stops_when_asked() {
    let folder = folder(DATA, POLICY);
    let policy = Policy::read(&folder.path().join("policy.toml")).unwrap();
    let stop = std::sync::atomic::AtomicBool::new(true);
    let options = LoadOptions { control: Control { cancel: &stop, ..Control::default() }, ..LoadOptions::default() };
    assert!(matches!(Prepared::load(&policy, &options), Err(PrepareError::Cancelled)));
}

/// A policy for the columns `zip` and `pay`.
const PAY: &str = r#"[data]
input = "data.csv"
[columns.zip]
role = "quasi"
[columns.pay]
role = "sensitive"
[[require]]
model = "distinct-l-diversity"
l = 2
"#;

#[test]
fn values_that_nobody_has_are_told() {
    let more = r#"[[require]]
model = "simple-alpha-k-anonymity"
value = "hiv"
alpha = 0.5
k = 2
[[require]]
model = "complete-alpha-k-anonymity"
alpha = { Flue = 0.5, Mumps = 0.2, HIV = 0.5 }
k = 2
[[require]]
model = "entropy-l-diversity"
dont_care = ["flu"]
l = 1
"#;
    let data = "zip,pay\n1,HIV\n1,Flu\n";
    let p = load(data, &format!("{PAY}{more}")).unwrap();
    let expected = [
        "no row has the value `hiv` of column `pay`, named by `value` of simple-alpha-k-anonymity; did you mean `HIV`?",
        "no row has the value `Flue` of column `pay`, named by `alpha` of complete-alpha-k-anonymity; did you mean `Flu`?",
        "no row has the value `Mumps` of column `pay`, named by `alpha` of complete-alpha-k-anonymity",
        "no row has the value `flu` of column `pay`, named by `dont_care` of entropy-l-diversity; did you mean `Flu`?",
    ];
    assert_eq!(p.remarks, expected);
    let categories = "role = \"sensitive\"\ncategories = [[\"HIV\", \"hlv\"], [\"Flu\", \"Chickenpox\"]]";
    let p = load(data, &PAY.replace("role = \"sensitive\"", categories)).unwrap();
    assert_eq!(p.remarks.len(), 1, "{:?}", p.remarks);
    assert!(p.remarks[0].contains("`hlv`"), "{:?}", p.remarks);
    assert!(load(data, PAY).unwrap().remarks.is_empty());
}

#[test]
fn a_policy_that_requires_nothing_or_cannot_be_written_does_not_pass() {
    for (policy, told) in [
        (PAY.split("[[require]]").next().unwrap().to_string(), "requires nothing"),
        (format!("{PAY}[output]\nfile = \"certificate.json\"\n"), "cannot be written as a release"),
    ] {
        let folder = folder("zip,pay\n1,a\n1,b\n2,b\n", &policy);
        let policy = Policy::read(&folder.path().join("policy.toml")).unwrap();
        let findings = check(&policy, &LoadOptions::default());
        assert_eq!(findings[0].exit_code(), 2);
        assert!(format!("{:?}", findings[0]).contains(told), "{findings:?}");
    }
}

#[test]
fn a_check_tells_what_no_release_can_satisfy() {
    let folder = folder("zip,pay\n1,a\n1,b\n2,b\n", &format!("{PAY}[[require]]\nmodel = \"k-anonymity\"\nk = 4\n"));
    let policy = Policy::read(&folder.path().join("policy.toml")).unwrap();
    let findings = check(&policy, &LoadOptions::default());
    let Finding::Impossible(why) = &findings[0] else { panic!("{findings:?}") };
    let message = &why.message;
    assert!(message.contains("k-anonymity with k = 4") && message.contains("is 3"), "{message}");
    assert_eq!(findings[0].exit_code(), 1);
}

#[test]
fn what_is_possible_is_told_where_nothing_is_found() {
    let alpha = "[[require]]\nmodel = \"general-alpha-k-anonymity\"\nk = 2\nalpha = 0.5\n";
    let ranges = PAY.replace("role = \"quasi\"", "role = \"quasi\"\ngeneralize = \"ranges\"");
    let policy = format!("{ranges}{alpha}[search]\nalgorithm = \"mondrian\"\nmax_suppression = 1\n");
    let folder = folder("zip,pay\n1,a\n2,a\n3,a\n4,a\n5,b\n", &policy);
    let policy = Policy::read(&folder.path().join("policy.toml")).unwrap();
    let prepared = Prepared::load(&policy, &LoadOptions::default()).unwrap();
    let job = Control { threads: 1, ..Control::default() };
    let error = crate::search::search(&policy, &prepared, &job).err().unwrap().to_string();
    assert!(error.contains("general-alpha-k-anonymity") && error.contains("alpha in this table is 0.8"), "{error}");
    let obstacle = crate::explore::obstacle(&policy, &prepared).unwrap().unwrap();
    assert!(obstacle.message.contains("alpha in this table is 0.8"), "{}", obstacle.message);
}
