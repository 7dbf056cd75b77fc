//! Damaged states, and what a state still knows of those who left: nothing is read by halves, nothing that was erased
//! is found again.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use super::*;

/// Rows `from..to` of a table with enough variety for pages, classes and values.
fn rows(from: u32, to: u32) -> String {
    let row = |i: u32| {
        let (gender, disease) = (["Male", "Female"][i as usize % 2], ["Flu", "Angina", "Obesity"][i as usize % 3]);
        format!("p{i:04},{gender},{},4{:03},{disease}\n", 20 + i * 7 % 60, i * 13 % 400)
    };
    (from..to).map(row).collect()
}

fn ward() -> Ward {
    let head = "id,gender,age,zip,disease\n";
    let ward = Ward::new(&format!("{head}{}", rows(0, 120)), "[[require]]\nmodel = \"k-anonymity\"\nk = 3\n");
    ward.init(Mode::Maintain).unwrap();
    ward.insert(&rows(120, 140)).unwrap();
    ward.delete("p0003\np0017\n").unwrap();
    ward
}

/// Everything that the state says.
fn dump(series: &Series) -> Vec<String> {
    let connection = &series.store.connection;
    let mut all = Vec::new();
    for table in super::super::seal::TABLES {
        let mut query = connection.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns = query.column_count();
        let mut rows = query.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            all.push(format!("{table} {:?}", (0..columns).map(|i| row.get_ref(i).unwrap()).collect::<Vec<_>>()));
        }
    }
    all
}

/// A copy of a series, private part and all.
fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copied(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

/// One byte or more of a file changed, moved or cut off.
fn mutant(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for _ in 0..1 + random.below(3) {
        if out.is_empty() {
            break;
        }
        let length = out.len();
        let at = if random.below(4) == 0 { random.below(length.min(200)) } else { random.below(length) };
        match random.below(8) {
            0..=2 => out[at] ^= 1 << random.below(8),
            3 => out[at] = random.below(256) as u8,
            4 => out.truncate(at),
            5 => {
                let number = [0u32, 1, u32::MAX, 1 << 31, length as u32][random.below(5)];
                out[at..].iter_mut().zip(number.to_be_bytes()).for_each(|(to, from)| *to = from);
            }
            6 => {
                // A page over another.
                let (from, to) = (random.below(length) & !4095, at & !4095);
                let page = out[from..(from + 4096).min(length)].to_vec();
                out[to..].iter_mut().zip(page).for_each(|(to, from)| *to = from);
            }
            _ => out[at..(at + 64).min(length)].fill(0),
        }
    }
    out
}

fn mutants(default: usize) -> usize {
    std::env::var("AMIDST_MUTANTS").ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

/// What `work` returns; a panic is a failure of the test.
fn calm<T>(number: usize, work: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| panic!("mutant {number} makes it panic"))
}

#[test]
fn a_damaged_state_is_refused_or_is_what_it_was() {
    let ward = ward();
    let whole = dump(&ward.open());
    let file = ward.dir().join("private").join(FILE);
    let bytes = fs::read(&file).unwrap();
    let mut random = Random::new(15);
    let (mut refused, count) = (0, mutants(600));
    for number in 0..count {
        fs::write(&file, mutant(&bytes, &mut random)).unwrap();
        for end in ["-wal", "-shm"] {
            let _ = fs::remove_file(file.with_file_name(format!("{FILE}{end}")));
        }
        match calm(number, || Series::open(&ward.dir())) {
            Ok(series) => assert_eq!(dump(&series), whole, "mutant {number} is taken for a state"),
            Err(failure) => {
                let message = failure.to_string();
                assert_eq!(failure.exit_code(), 2, "mutant {number}: {message}");
                assert!(message.contains("backup") || message.contains("no state"), "{message}");
                refused += 1;
            }
        }
    }
    assert!(refused * 2 > count, "only {refused} of {count} were refused");
}

/// A state too large to be checked whenever it is opened.
fn opened(folder: &Path) -> Result<Series, Failure> {
    Series::over(folder, Store::open_within(&folder.join("private").join(FILE), 0)?)
}

#[test]
fn nothing_is_published_from_a_damaged_state() {
    let ward = ward();
    let original = ward.dir();
    let copy = ward.folder.path().join("copy");
    let bytes = fs::read(original.join("private").join(FILE)).unwrap();
    let published = |folder: &Path| -> Result<(String, Vec<u64>), Failure> {
        let mut series = opened(folder)?;
        let log = series.log()?;
        let published = series.publish(true, &job())?;
        Ok((fs::read_to_string(&published.release).unwrap(), log.batches.iter().map(|b| b.inserted).collect()))
    };
    copied(&original, &copy);
    let expected = published(&copy).unwrap();
    let more = ward.file("more.csv", &format!("id,gender,age,zip,disease\n{}", rows(200, 204)));
    let mut random = Random::new(16);
    for number in 0..mutants(60) {
        fs::remove_dir_all(&copy).unwrap();
        copied(&original, &copy);
        fs::write(copy.join("private").join(FILE), mutant(&bytes, &mut random)).unwrap();
        // A batch may be taken by a state whose damage it does not meet; a version is never made of it.
        if number % 2 == 0 {
            let batch = Batch { insert: Some(more.clone()), delete: None };
            let applied = calm(number, || opened(&copy).and_then(|mut series| series.apply(&batch, &job())));
            assert!(applied.as_ref().err().is_none_or(|e| e.exit_code() <= 2), "mutant {number}: {applied:?}");
            let same = calm(number, || published(&copy));
            assert!(same.as_ref().err().is_none_or(|e| e.exit_code() == 2), "mutant {number}: {same:?}");
            continue;
        }
        match calm(number, || published(&copy)) {
            Ok(found) => assert_eq!(found, expected, "mutant {number} was published"),
            Err(failure) => assert_eq!(failure.exit_code(), 2, "mutant {number}: {failure}"),
        }
    }
}

#[test]
fn a_state_that_lost_its_log_is_refused() {
    let ward = ward();
    let copy = ward.folder.path().join("copy");
    let series = ward.open();
    ward.insert(&rows(140, 144)).unwrap();
    // The first connection keeps the log from being merged into the file.
    copied(&ward.dir(), &copy);
    let log = copy.join("private").join(format!("{FILE}-wal"));
    assert!(log.metadata().unwrap().len() > 0);
    let whole = fs::read(&log).unwrap();
    let _ = fs::remove_file(copy.join("private").join(format!("{FILE}-shm")));
    fs::remove_file(&log).unwrap();
    let lost = Series::open(&copy).unwrap_err();
    assert!(lost.exit_code() == 2 && lost.to_string().contains("lost"), "{lost}");
    let mut damaged = whole.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 4;
    fs::remove_dir_all(&copy).unwrap();
    copied(&ward.dir(), &copy);
    let _ = fs::remove_file(copy.join("private").join(format!("{FILE}-shm")));
    fs::write(&log, &damaged).unwrap();
    assert_eq!(Series::open(&copy).unwrap_err().exit_code(), 2);
    drop(series);
}

#[test]
fn the_policy_of_a_series_stays_what_it_was() {
    let ward = ward();
    let policy = ward.dir().join("private/policy.toml");
    let text = fs::read_to_string(&policy).unwrap();
    fs::write(&policy, text.replace("k = 3", "k = 2")).unwrap();
    let refused = Series::open(&ward.dir()).unwrap_err();
    assert!(refused.exit_code() == 2 && refused.to_string().contains("policy"), "{refused}");
    fs::write(&policy, text).unwrap();
    ward.open();
}

/// Whether a file of the private part has `text` in it.
fn holds(folder: &Path, text: &str) -> bool {
    fs::read_dir(folder.join("private")).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        path.is_file() && fs::read(&path).unwrap().windows(text.len()).any(|window| window == text.as_bytes())
    })
}

#[test]
fn of_those_who_left_only_the_key_stays() {
    for mode in [Mode::Maintain, Mode::MInvariant] {
        let model = match mode {
            Mode::Maintain => "model = \"distinct-l-diversity\"\nl = 2\n",
            Mode::MInvariant => "model = \"m-invariance\"\nm = 2\n",
        };
        let note = &format!("[columns.note]\nrole = \"insensitive\"\naccept = \"a test\"\n[[require]]\n{model}");
        let noted = |rows: &str| rows.lines().map(|row| format!("{row},plain\n")).collect::<String>();
        let head = "id,gender,age,zip,disease,note\n";
        let ward = Ward::new(&format!("{head}{}", noted(&rows(0, 60))), note);
        ward.init(mode).unwrap();
        let batch = |name: &str, text: String, delete: bool| {
            let file = Some(ward.file(name, &text));
            if delete { Batch { insert: None, delete: file } } else { Batch { insert: file, delete: None } }
        };
        // The series stays open, as in a program that serves many batches, so that nothing is tidied up at its end.
        let mut series = ward.open();
        let canaries = "leaver-key-77,Male,41,4977,Flu,canary-note\nstayer,Male,41,4001,Angina,plain\n";
        series.apply(&batch("in.csv", format!("{head}{canaries}"), false), &job()).unwrap();
        assert!(holds(&ward.dir(), "canary-note") && holds(&ward.dir(), "4977"));
        series.apply(&batch("out.csv", "id\nleaver-key-77\n".to_string(), true), &job()).unwrap();
        // As long as the batch can be taken back, the state remembers what it deleted.
        series.publish(true, &job()).unwrap();
        for gone in ["canary-note", "4977"] {
            assert!(!holds(&ward.dir(), gone), "{} {gone}", mode.name());
        }
        // Needed, so that the person does not come back under another signature.
        assert!(holds(&ward.dir(), "leaver-key-77"));
        series.check().unwrap();
        // The value may come again, and the series goes on.
        let again = "comer,Male,42,4977,Flu,canary-note\ncomer2,Male,42,4977,Angina,plain\n";
        series.apply(&batch("in.csv", format!("{head}{again}"), false), &job()).unwrap();
        series.publish(true, &job()).unwrap();
        series.check().unwrap();
    }
}
