//! The series as a library: batches, versions, old files, locks, full disks.

mod batches;
mod commitment;
mod damage;
mod older_state;
mod safe;

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use amidst_core::internal::random::Random;
use tempfile::TempDir;

use super::packed::pack;
use super::state::State;
use super::store::{FILE, MIGRATIONS, Store};
use super::*;
use crate::job::Job;

/// Table 1 of the update paper, with a key.
const PATIENTS: &str = "id,gender,age,zip,disease\n\
a,Male,25,4350,Hypertension\nb,Male,23,4351,Hypertension\nc,Male,22,4352,Depression\n\
d,Female,28,4353,Chest Pain\ne,Female,34,4352,Obesity\nf,Female,31,4350,Flu\n";

const COLUMNS: &str = r#"[data]
input = "patients.csv"
[columns.id]
role = "key"
[columns.gender]
role = "quasi"
hierarchy = { taxonomy = { Person = ["Male", "Female"] } }
[columns.age]
role = "quasi"
type = "integer"
generalize = "ranges"
[columns.zip]
role = "quasi"
hierarchy = { mask = { length = 4, from = "right" } }
[columns.disease]
role = "sensitive"
"#;

struct Ward {
    folder: TempDir,
}

impl Ward {
    fn new(patients: &str, requirements: &str) -> Self {
        let ward = Ward { folder: tempfile::tempdir().unwrap() };
        ward.file("patients.csv", patients);
        ward.file("policy.toml", &format!("{COLUMNS}{requirements}"));
        ward
    }

    fn diverse() -> Self {
        let l = "[[require]]\nmodel = \"distinct-l-diversity\"\nl = 2\n";
        Ward::new(PATIENTS, &format!("[[require]]\nmodel = \"k-anonymity\"\nk = 3\n{l}"))
    }

    fn file(&self, name: &str, content: &str) -> String {
        let path = self.folder.path().join(name);
        fs::write(&path, content).unwrap();
        path.display().to_string()
    }

    fn dir(&self) -> PathBuf {
        self.folder.path().join("ward")
    }

    fn init(&self, mode: Mode) -> Result<Published, Failure> {
        self.begin(mode, First::default())
    }

    fn begin(&self, mode: Mode, first: First) -> Result<Published, Failure> {
        let policy = Policy::read(&self.folder.path().join("policy.toml")).unwrap();
        init(&self.dir(), &policy, Some(mode), first, &job())
    }

    fn open(&self) -> Series {
        Series::open(&self.dir()).unwrap()
    }

    fn insert(&self, rows: &str) -> Result<Applied, Failure> {
        let file = self.file("new.csv", &format!("id,gender,age,zip,disease\n{rows}"));
        self.open().apply(&Batch { insert: Some(file), delete: None }, &job())
    }

    fn delete(&self, keys: &str) -> Result<Applied, Failure> {
        let file = self.file("gone.csv", &format!("id\n{keys}"));
        self.open().apply(&Batch { insert: None, delete: Some(file) }, &job())
    }
}

fn job() -> Job<'static> {
    static CANCEL: AtomicBool = AtomicBool::new(false);
    Job { cancel: &CANCEL, progress: &|_, _| (), threads: 1, ..Job::default() }
}

fn usage(result: Result<Applied, Failure>, part: &str) {
    match result {
        Err(Failure::Usage(message)) => assert!(message.contains(part), "{message}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_papers_table_becomes_its_two_classes() {
    let ward = Ward::diverse();
    let first = ward.init(Mode::Maintain).unwrap();
    assert_eq!((first.version, first.rows, first.judged.class_count()), (1, 6, 2));
    let release = fs::read_to_string(&first.release).unwrap();
    assert!(release.contains("Male,[22-25],435*,Depression"), "{release}");
    assert!(release.contains("Female,[28-34],435*,Flu"), "{release}");
    assert!(!release.contains("id"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |name: &str| fs::metadata(ward.dir().join(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("private"), mode("versions/1")), (0o700, 0o755));
        let private = || -> Vec<(std::path::PathBuf, bool)> {
            let mut found = Vec::new();
            let mut open = vec![ward.dir().join("private")];
            while let Some(path) = open.pop() {
                let entries = fs::read_dir(&path).into_iter().flatten().flatten();
                open.extend(entries.map(|entry| entry.path()));
                found.push((path.clone(), path.is_dir()));
            }
            found
        };
        let closed = |when: &str| {
            for (path, folder) in private() {
                let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
                assert_eq!(mode, if folder { 0o700 } else { 0o600 }, "{when}: {}", path.display());
            }
        };
        closed("after it began");
        let held = ward.open();
        assert!(private().iter().any(|(path, _)| path.ends_with("state.sqlite-wal")));
        closed("while it is open");
        drop(held);
        // One that an older program made is closed when it is opened.
        for (path, folder) in private() {
            fs::set_permissions(path, fs::Permissions::from_mode(if folder { 0o755 } else { 0o644 })).unwrap();
        }
        let _held = ward.open();
        fs::set_permissions(ward.dir().join("private"), fs::Permissions::from_mode(0o700)).unwrap();
        closed("after an older one was opened");
    }
}

#[test]
fn one_row_more_leaks_and_is_refused() {
    let ward = Ward::diverse();
    ward.init(Mode::Maintain).unwrap();
    ward.insert("g,Female,29,4351,Diabetes\n").unwrap();
    let refused = ward.open().publish(false, &job()).unwrap_err();
    assert_eq!(refused.exit_code(), 1, "{refused}");
    assert_eq!(fs::read_dir(ward.dir().join("versions")).unwrap().count(), 1);
    let second = ward.open().publish(true, &job()).unwrap();
    assert!(second.audit.finds_leaks());
    let worst = &second.audit.columns[0].worst[0];
    assert_eq!((worst.values.as_slice(), worst.versions.as_slice()), (&["Diabetes".to_string()][..], &[1, 2][..]));
    let certificate = fs::read_to_string(second.folder.join("certificate.json")).unwrap();
    assert!(certificate.contains("Published with allow-leak"));
    assert!(ward.open().log().unwrap().versions[1].leaks);
}

#[test]
fn what_does_not_fit_leaves_everything_as_it_was() {
    let ward = Ward::diverse();
    ward.init(Mode::Maintain).unwrap();
    usage(ward.insert("a,Male,30,4350,Flu\n"), "on line 2 of");
    usage(ward.insert("x,Male,30,4350,Flu\nx,Male,31,4350,Flu\n"), "on line 3 of");
    usage(ward.delete("nobody\n"), "on line 2 of");
    usage(ward.delete("a\na\n"), "twice");
    let other = ward.file("other.csv", "id,gender,age,zip,illness\nx,Male,30,4350,Flu\n");
    usage(ward.open().apply(&Batch { insert: Some(other), delete: None }, &job()), "`illness`");
    let lacking = ward.insert("x,Robot,30,4350,Flu\n").unwrap_err();
    assert_eq!(lacking.exit_code(), 2, "{lacking}");
    let old = ward.insert("x,Male,thirty,4350,Flu\n").unwrap_err();
    assert_eq!(old.exit_code(), 2, "{old}");
    assert_eq!(ward.delete("a\nb\nc\nd\ne\nf\n").unwrap_err().exit_code(), 1);
    let log = ward.open().log().unwrap();
    assert_eq!((log.batches.len(), log.versions.len()), (1, 1));
    assert!(matches!(ward.open().publish(false, &job()), Err(Failure::Usage(_))), "nothing has changed");
    // Without a key there is no series.
    let keyless = Policy::parse(&COLUMNS.replace("\"key\"", "\"identifying\""), &ward.folder.path().join("p.toml"));
    let error =
        init(&ward.folder.path().join("other"), &keyless.unwrap(), Some(Mode::Maintain), None, &job()).unwrap_err();
    assert_eq!(error.exit_code(), 2);
    assert!(!ward.folder.path().join("other").exists());
}

#[test]
fn a_key_in_both_files_is_replaced() {
    let ward = Ward::diverse();
    ward.init(Mode::Maintain).unwrap();
    let insert = ward.file("new.csv", "id,gender,age,zip,disease\na,Male,26,4350,Flu\n");
    let delete = ward.file("gone.csv", "id,gender,age,zip,disease\na,Male,25,4350,Hypertension\n");
    let done = ward.open().apply(&Batch { insert: Some(insert), delete: Some(delete) }, &job()).unwrap();
    assert_eq!((done.inserted, done.deleted, done.rows), (1, 1, 6));
}

#[test]
fn a_second_writer_is_told() {
    let ward = Ward::diverse();
    ward.init(Mode::Maintain).unwrap();
    let mut busy = ward.open();
    let _work = busy.store.write().unwrap();
    let error = ward.delete("a\n").unwrap_err();
    assert!(error.to_string().contains("locked") && error.exit_code() == 3, "{error}");
    // Readers do not wait.
    assert_eq!(ward.open().log().unwrap().batches.len(), 1);
}

fn rows(random: &mut Random, first: usize, count: usize) -> String {
    let row = |i: usize, random: &mut Random| {
        format!(
            "p{i},{},{},{},d{}\n",
            ["Male", "Female"][random.below(2)],
            20 + random.below(40),
            4350 + random.below(30),
            random.below(9)
        )
    };
    (first..first + count).map(|i| row(i, random)).collect()
}

#[test]
fn a_full_disk_changes_nothing() {
    let ward = Ward::diverse();
    ward.init(Mode::Maintain).unwrap();
    let file = ward.file("new.csv", &format!("id,gender,age,zip,disease\n{}", rows(&mut Random::new(1), 0, 3000)));
    let batch = Batch { insert: Some(file), delete: None };
    let mut series = ward.open();
    series.store.connection.execute_batch("PRAGMA max_page_count = 30").unwrap();
    let error = series.apply(&batch, &job()).unwrap_err();
    assert!(error.to_string().contains("full") && error.exit_code() == 3, "{error}");
    drop(series);
    assert_eq!(ward.open().log().unwrap().batches.len(), 1);
    assert_eq!(ward.open().apply(&batch, &job()).unwrap().rows, 3006);
}

#[test]
fn a_version_that_cannot_be_put_in_place_is_told_and_waits() {
    let ward = Ward::diverse();
    ward.init(Mode::Maintain).unwrap();
    ward.insert("g,Female,29,4351,Diabetes\n").unwrap();
    // Somebody else's folder is left alone.
    let place = ward.dir().join("versions/2");
    fs::create_dir(&place).unwrap();
    let error = ward.open().publish(true, &job()).unwrap_err();
    assert!(error.to_string().contains("in the way") && error.exit_code() == 2, "{error}");
    assert_eq!(ward.open().log().unwrap().versions.len(), 1);
    fs::remove_dir(&place).unwrap();
    // A folder of versions that is gone is made again.
    fs::rename(ward.dir().join("versions"), ward.dir().join("elsewhere")).unwrap();
    let version = ward.open().publish(true, &job()).unwrap();
    assert!(version.release.is_file() && !ward.dir().join("private/staged").exists());
}

#[test]
fn a_state_that_is_none_is_told() {
    let ward = Ward::diverse();
    ward.init(Mode::Maintain).unwrap();
    let state = ward.dir().join("private").join(FILE);
    for content in ["", "this is no database, however long the text may be that stands in its place"] {
        fs::write(&state, content).unwrap();
        let error = Series::open(&ward.dir()).unwrap_err();
        assert!(error.to_string().contains("no state of a series") && error.exit_code() == 2, "{error}");
    }
    let twice = ward.init(Mode::Maintain).unwrap_err();
    assert!(twice.to_string().contains("exists already") && !twice.to_string().contains("--"), "{twice}");
}

/// A policy that does not follow from m: the entropy of signatures is looked at, and the whole table.
#[test]
fn numbers_foretell_whether_an_m_invariant_version_satisfies_its_policy() {
    let header = "id,gender,age,zip,disease\n";
    let m = "[[require]]\nmodel = \"m-invariance\"\nm = 3\n";
    let policies = [
        "[[require]]\nmodel = \"t-closeness\"\nt = 0.8\n",
        "[[require]]\nmodel = \"t-closeness\"\nt = 0.69\n",
        "[[require]]\nmodel = \"recursive-c-l-diversity\"\nc = 2\nl = 3\n",
    ];
    let mut promised = 0;
    for (turn, policy) in (0u64..).zip(policies) {
        let mut random = Random::new(turn);
        let ward = Ward::new(&format!("{header}{}", rows(&mut random, 0, 150)), &format!("{m}{policy}"));
        if ward.init(Mode::MInvariant).is_err() {
            continue;
        }
        for batch in 0..6 {
            let first = 1000 * (batch + 1);
            let insert = ward.file("new.csv", &format!("{header}{}", rows(&mut random, first, 8)));
            let gone: String = (0..5).map(|i| format!("p{}\n", 10 * batch + i)).collect();
            let delete = ward.file("gone.csv", &format!("id\n{gone}"));
            let done = ward.open().apply(&Batch { insert: Some(insert), delete: Some(delete) }, &job());
            let series = ward.open();
            let names = super::state::kept(&series.policy, &series.header);
            let work = series.store.read().unwrap();
            let domain = domain::Domain::load(&work, &series.policy, &names).unwrap();
            let predicted = forecast::satisfied(&work, &series.policy, &names, &domain, &job()).unwrap();
            let state = State::load(&work, names).unwrap();
            let composed = compose::compose(&series.policy, Mode::MInvariant, &state, &job());
            promised += usize::from(predicted);
            // Whatever was applied can be composed, and what numbers promise is kept.
            assert!(composed.is_ok() || (done.is_err() && !predicted), "turn {turn}, batch {batch}");
            // Counting along is counting.
            let counted = |work: &store::Work<'_>| {
                let sql = "SELECT hex(signature), value, rows FROM signed WHERE rows > 0 ORDER BY 1, 2";
                let mut query = work.transaction.prepare(sql).unwrap();
                let rows =
                    query.query_map([], |r| Ok((r.get::<_, String>(0)?, r.get::<_, u32>(1)?, r.get::<_, u32>(2)?)));
                rows.unwrap().collect::<Result<Vec<_>, _>>().unwrap()
            };
            let along = counted(&work);
            drop(work);
            drop(series);
            let mut series = ward.open();
            let work = series.store.write().unwrap();
            work.transaction.execute("DELETE FROM meta WHERE name = 'signed'", []).unwrap();
            forecast::count_all(&work, 3).unwrap();
            assert_eq!(counted(&work), along);
            drop(work);
            if batch % 2 == 1 {
                series.publish(false, &job()).unwrap();
            }
        }
    }
    assert!(promised >= 6, "{promised} batches were promised to be fine");
}

#[test]
fn any_sequence_of_batches_keeps_everybody_in_one_valid_class() {
    let mut random = Random::new(9);
    let header = "id,gender,age,zip,disease\n";
    let policies = [
        "[[require]]\nmodel = \"k-anonymity\"\nk = 4\n[[require]]\nmodel = \"distinct-l-diversity\"\nl = 3\n",
        "[[require]]\nmodel = \"entropy-l-diversity\"\nl = 2.5\n",
        "[[require]]\nmodel = \"k-anonymity\"\nk = 2\n",
    ];
    for requirements in policies {
        let ward = Ward::new(&format!("{header}{}", rows(&mut random, 0, 120)), requirements);
        ward.init(Mode::Maintain).unwrap();
        let mut present: Vec<usize> = (0..120).collect();
        for turn in 0..5 {
            random.shuffle(&mut present);
            let gone = present.split_off(present.len() - 1 - random.below(40));
            let delete = ward.file("gone.csv", &gone.iter().fold("id\n".to_string(), |t, p| format!("{t}p{p}\n")));
            let first = 1000 * (turn + 1);
            let count = 1 + random.below(60);
            let insert = ward.file("new.csv", &format!("{header}{}", rows(&mut random, first, count)));
            let batch = Batch { insert: Some(insert), delete: Some(delete) };
            let done = ward.open().apply(&batch, &job()).unwrap();
            present.extend(first..first + count);
            assert_eq!((done.rows, done.inserted), (present.len() as u64, count as u64));
            let series = ward.open();
            let names = super::state::kept(&series.policy, &series.header);
            assert!(snapshot::agrees(&series.store.read().unwrap(), &series.policy, &names), "turn {turn}");
            drop(series);
            // The independent checker agrees.
            let version = ward.open().publish(true, &job()).unwrap();
            assert_eq!(version.rows, present.len() as u64);
        }
        assert_eq!(ward.open().audit(&job()).unwrap().versions, 6);
    }
}

#[test]
fn m_invariant_versions_never_leak() {
    let mut random = Random::new(4);
    let header = "id,gender,age,zip,disease\n";
    // Classes must be larger than m asks.
    let requirements = "[[require]]\nmodel = \"m-invariance\"\nm = 3\n[[require]]\nmodel = \"k-anonymity\"\nk = 4\n";
    let ward = Ward::new(&format!("{header}{}", rows(&mut random, 0, 200)), requirements);
    ward.init(Mode::MInvariant).unwrap();
    let mut present: Vec<usize> = (0..200).collect();
    for turn in 0..4 {
        random.shuffle(&mut present);
        let gone = present.split_off(present.len() - 15);
        let delete = ward.file("gone.csv", &gone.iter().fold("id\n".to_string(), |t, p| format!("{t}p{p}\n")));
        let first = 1000 * (turn + 1);
        let insert = ward.file("new.csv", &format!("{header}{}", rows(&mut random, first, 10)));
        ward.open().apply(&Batch { insert: Some(insert), delete: Some(delete) }, &job()).unwrap();
        present.extend(first..first + 10);
        let version = ward.open().publish(false, &job()).unwrap();
        let certificate = fs::read_to_string(version.folder.join("certificate.json")).unwrap();
        let certificate: serde_json::Value = serde_json::from_str(&certificate).unwrap();
        assert_eq!(certificate["counterfeits"], version.counterfeits);
        assert_eq!(certificate["rows_out"], version.rows + version.counterfeits);
    }
    // One row alone, which a maintained series would betray.
    ward.insert("alone,Male,30,4350,d1\n").unwrap();
    let last = ward.open().publish(false, &job()).unwrap();
    assert!(last.counterfeits > 0 && !last.audit.finds_leaks());
    let audit = ward.open().audit(&job()).unwrap();
    assert!(audit.versions == 6 && audit.columns[0].findings.fewest >= Some(3));
}

#[test]
fn a_hierarchy_that_grows_with_its_values_is_no_trouble() {
    // Longer codes make the mask longer, so that every level means something else than before.
    let ward = Ward::new(PATIENTS, "[[require]]\nmodel = \"k-anonymity\"\nk = 3\n");
    let policy = fs::read_to_string(ward.folder.path().join("policy.toml")).unwrap();
    ward.file("policy.toml", &policy.replace("{ length = 4, from = \"right\" }", "{ from = \"right\" }"));
    ward.init(Mode::Maintain).unwrap();
    ward.insert("g,Male,24,435012,Flu\nh,Male,24,435013,Flu\ni,Male,24,435014,Flu\n").unwrap();
    let series = ward.open();
    let names = super::state::kept(&series.policy, &series.header);
    assert!(snapshot::agrees(&series.store.read().unwrap(), &series.policy, &names));
    drop(series);
    assert_eq!(ward.open().publish(true, &job()).unwrap().rows, 9);
}

/// The Adult table with m = 4, when 5 % of the rows change from version to version.
#[test]
fn few_counterfeits_on_adult() {
    let adult = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/adult");
    if !adult.join("adult.csv").is_file() {
        println!("skipped: there is no Adult table");
        return;
    }
    let text = "[data]\ninput = \"adult.csv\"\nmissing = [\"?\"]\n[columns.\"*\"]\nrole = \"identifying\"\n\
                [columns.age]\nrole = \"quasi\"\ntype = \"integer\"\ngeneralize = \"ranges\"\n\
                [columns.occupation]\nrole = \"sensitive\"\n[[require]]\nmodel = \"m-invariance\"\nm = 4\n";
    let policy = Policy::parse(text, &adult.join("policy.toml")).unwrap();
    let whole = crate::prepare::Prepared::load(&policy, &crate::prepare::LoadOptions::default()).unwrap();
    let (set, space) = (&whole.set, amidst_core::internal::local::shape::Space::new(&whole.generalizations));
    let tuple_of = set.tuple_of_entry();
    let (all, versions) = (whole.entry_of_row.len(), 6);
    let churn = all / 25;
    let size = all - versions * churn;
    let mut signatures: Vec<Vec<u32>> = vec![Vec::new(); all];
    for version in 0..versions {
        let present = version * churn..version * churn + size;
        let row = |r: usize| {
            let entry = whole.entry_of_row[r].index();
            let value = set.sensitive_code(set.groups.entries[entry].sensitive, 0);
            amidst_core::internal::series::Signed {
                codes: set.tuple(tuple_of[entry] as usize),
                value,
                signature: &signatures[r],
            }
        };
        let signed: Vec<_> = present.clone().map(row).collect();
        let made = amidst_core::internal::series::m_invariant(&space, &signed, set.sensitive_domains[0], 4).unwrap();
        let share = made.counterfeits.len() as f64 / size as f64;
        assert!(share < 0.01, "version {}: {share}", version + 1);
        for (r, &class) in present.zip(&made.class_of) {
            signatures[r] = made.signatures[class as usize].clone();
        }
    }
}

#[test]
fn a_value_written_differently_is_no_new_value() {
    let codes = ["Hypertension", "Depression", "Chest Pain", "Obesity", "Flu"];
    let numbered = |text: &str| {
        let number = |text: String, (i, name): (usize, &&str)| text.replace(name, &(i + 1).to_string());
        codes.iter().enumerate().fold(text.to_string(), number)
    };
    let l = "[[require]]\nmodel = \"distinct-l-diversity\"\nl = 2\n";
    let ward = Ward::new(&numbered(PATIENTS), &format!("[[require]]\nmodel = \"k-anonymity\"\nk = 3\n{l}"));
    ward.init(Mode::Maintain).unwrap();
    ward.insert("g,Male,023,4351,05\nh,Male,24,4351,5\ni,Male,24,4351,006\nj,Male,24,4351,6\n").unwrap();
    let series = ward.open();
    let of = |column: usize| {
        let mut query = series.store.connection.prepare("SELECT text FROM value WHERE col = ?1 ORDER BY code").unwrap();
        let texts = query.query_map([column as i64], |row| row.get::<_, String>(0)).unwrap();
        texts.map(Result::unwrap).collect::<Vec<_>>()
    };
    let names = state::kept(&series.policy, &series.header);
    let position = |name: &str| names.iter().position(|n| n == name).unwrap();
    assert_eq!(of(position("disease")), ["1", "2", "3", "4", "5", "6"]);
    assert!(!of(position("age")).contains(&"023".to_string()));
}
