//! Safe versions: series whose worlds are all enumerated, and classes that are published again.

use std::collections::{BTreeMap, BTreeSet};

use super::super::past::{PastClass, past};
use super::*;

const HEADER: &str = "id,gender,age,zip,disease\n";

/// All that was published, the oldest version first.
fn published(ward: &Ward) -> Vec<Vec<PastClass>> {
    let series = ward.open();
    let work = series.store.read().unwrap();
    let versions = work.number("SELECT MAX(number) FROM version").unwrap();
    (1..=versions).map(|number| past(&work, number, 1).unwrap()).collect()
}

/// The values that each person has in some world, by trying all worlds.
fn candidates(versions: &[Vec<PastClass>]) -> BTreeMap<u32, BTreeSet<u32>> {
    let mut places: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    let mut left: Vec<BTreeMap<u32, u64>> = Vec::new();
    for class in versions.iter().flatten() {
        class.persons.iter().for_each(|&person| places.entry(person).or_default().push(left.len()));
        left.push(class.counts.iter().map(|(tuple, n)| (tuple[0], *n)).collect());
    }
    let places: Vec<(u32, Vec<usize>)> = places.into_iter().collect();
    let mut found: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    walk(&places, &mut left, &mut Vec::new(), &mut found);
    found
}

fn walk(
    places: &[(u32, Vec<usize>)],
    left: &mut [BTreeMap<u32, u64>],
    given: &mut Vec<u32>,
    found: &mut BTreeMap<u32, BTreeSet<u32>>,
) {
    let Some((_, own)) = places.get(given.len()) else {
        places.iter().zip(given.iter()).for_each(|((person, _), &value)| {
            found.entry(*person).or_default().insert(value);
        });
        return;
    };
    for value in left[own[0]].keys().copied().collect::<Vec<u32>>() {
        if own.iter().all(|&class| left[class].get(&value).is_some_and(|&n| n > 0)) {
            own.iter().for_each(|&class| *left[class].entry(value).or_insert(0) -= 1);
            given.push(value);
            walk(places, left, given, found);
            given.pop();
            own.iter().for_each(|&class| *left[class].entry(value).or_insert(0) += 1);
        }
    }
}

/// A small table, and what its series did.
struct People {
    random: Random,
    next: usize,
    /// Keys that are in the table, and the rows of those who left.
    here: BTreeMap<usize, String>,
    gone: BTreeMap<usize, String>,
}

impl People {
    fn row(&mut self) -> (usize, String) {
        self.next += 1;
        let (age, disease) = (20 + self.random.below(30), self.random.below(5));
        (self.next, format!("p{},Male,{age},4350,d{disease}\n", self.next))
    }

    /// A batch: some leave, some come, some come back.
    fn batch(&mut self) -> (String, String) {
        let (mut insert, mut delete) = (HEADER.to_string(), "id\n".to_string());
        let back: Vec<usize> = self.gone.keys().copied().filter(|_| self.random.below(3) == 0).collect();
        for key in self.here.keys().copied().collect::<Vec<_>>() {
            if self.random.below(6) == 0 {
                delete += &format!("p{key}\n");
                let row = self.here.remove(&key).unwrap();
                self.gone.insert(key, row);
            }
        }
        for key in back {
            let row = self.gone.remove(&key).unwrap();
            insert += &row;
            self.here.insert(key, row);
        }
        for _ in 0..self.random.below(4) {
            let (key, row) = self.row();
            insert += &row;
            self.here.insert(key, row);
        }
        (insert, delete)
    }
}

/// Random series of a few batches: whatever comes and goes, a safe version can be published, and in no series anybody
/// is left with fewer values than l in the worlds of all versions.
#[test]
fn safe_versions_leave_everybody_what_is_promised() {
    let (mut mended, mut held, mut fakes, mut versions) = (0, 0, 0, 0);
    for seed in 0..24 {
        let l = 2 + seed as usize % 2;
        let mut people = People { random: Random::new(seed), next: 0, here: BTreeMap::new(), gone: BTreeMap::new() };
        let mut table = HEADER.to_string();
        for _ in 0..6 + people.random.below(4) {
            let (key, row) = people.row();
            table += &row;
            people.here.insert(key, row);
        }
        let require = format!("[[require]]\nmodel = \"distinct-l-diversity\"\nl = {l}\n");
        let ward = Ward::new(&table, &require);
        if ward.init(Mode::Maintain).is_err() {
            continue;
        }
        for turn in 0..4 {
            let (insert, delete) = people.batch();
            let batch =
                Batch { insert: Some(ward.file("new.csv", &insert)), delete: Some(ward.file("gone.csv", &delete)) };
            // A table that no longer satisfies the policy as a whole is refused before it is published.
            match ward.open().apply(&batch, &job()) {
                Err(_) => break,
                Ok(done) if done.inserted + done.deleted == 0 => continue,
                Ok(_) => {}
            }
            let plan = ward.open().plan(&job()).unwrap();
            let done = ward.open().publish_safe(false, &job()).unwrap();
            assert!(!done.audit.finds_leaks(), "series {seed}, batch {turn}: {}", done.audit.sentence());
            let planned = plan.safe.as_ref().or(plan.next.as_ref()).unwrap();
            assert_eq!(
                (planned.rows, planned.counterfeits, planned.repair),
                (done.rows, done.counterfeits, done.repair)
            );
            let waiting = done.repair.map_or(0, |r| r.held_back);
            assert_eq!(done.rows + waiting, people.here.len() as u64, "nobody is lost");
            mended += usize::from(done.repair.is_some());
            held += waiting;
            fakes += done.counterfeits;
            versions += 1;
            let all = published(&ward);
            for (person, left) in candidates(&all) {
                assert!(left.len() >= l, "series {seed}, batch {turn}: #{person} has one of {left:?}; {all:?}");
            }
        }
        assert!(!ward.open().audit(&job()).unwrap().finds_leaks());
    }
    assert!(versions > 40 && mended > 15 && held > 3 && fakes > 3, "{versions} {mended} {held} {fakes}");
}

#[test]
fn rows_that_wait_join_when_they_are_enough() {
    let ward = Ward::diverse();
    ward.init(Mode::Maintain).unwrap();
    ward.insert("g,Female,29,4351,Diabetes\n").unwrap();
    let second = ward.open().publish_safe(false, &job()).unwrap();
    assert_eq!((second.rows, second.repair.unwrap().held_back, second.counterfeits), (6, 1, 0));
    assert_eq!(ward.open().log().unwrap().versions[1].held_back, 1);
    let report = fs::read_to_string(ward.dir().join("private/reports/2/report.md")).unwrap();
    assert!(report.contains("1 row is held back"), "{report}");
    let public = fs::read_to_string(ward.dir().join("versions/2/report.md")).unwrap();
    assert!(!public.contains("held back"), "who waits is nobody's business");
    ward.insert("h,Female,30,4351,Flu\ni,Male,24,4351,Obesity\n").unwrap();
    let third = ward.open().publish_safe(false, &job()).unwrap();
    assert_eq!((third.rows, third.repair.unwrap()), (9, Repair { kept: 2, joined: 0, apart: 1, held_back: 0 }));
    let all = published(&ward);
    assert!(all[0].iter().all(|class| all[2].contains(class)), "the classes are those of the first version: {all:?}");
}

#[test]
fn whoever_leaves_is_stood_for_and_may_come_back() {
    let ward = Ward::diverse();
    ward.init(Mode::Maintain).unwrap();
    ward.delete("c\n").unwrap();
    let second = ward.open().publish_safe(false, &job()).unwrap();
    assert_eq!((second.rows, second.counterfeits), (5, 1));
    let release = fs::read_to_string(&second.release).unwrap();
    // Depression is published as before, and the class has the cells of those who are still there.
    assert!(release.contains("Male,[23-25],435*,Depression"), "{release}");
    let certificate = fs::read_to_string(second.folder.join("certificate.json")).unwrap();
    assert!(certificate.contains("counterfeit"), "how many rows stand for nobody is said");
    ward.insert("c,Male,22,4352,Depression\n").unwrap();
    let third = ward.open().publish_safe(false, &job()).unwrap();
    assert_eq!((third.rows, third.counterfeits), (6, 0));
    // Another value is nobody's place: the row waits.
    ward.delete("c\n").unwrap();
    ward.insert("c,Male,22,4352,Flu\n").unwrap();
    let fourth = ward.open().publish_safe(false, &job()).unwrap();
    assert_eq!((fourth.rows, fourth.counterfeits, fourth.repair.unwrap().held_back), (5, 1, 1));
    assert!(!ward.open().audit(&job()).unwrap().finds_leaks());
}

#[test]
fn a_new_row_takes_the_place_of_one_that_left() {
    let ward = Ward::diverse();
    ward.init(Mode::Maintain).unwrap();
    ward.delete("c\n").unwrap();
    ward.insert("g,Male,24,4351,Depression\n").unwrap();
    // The one who came has the value of the one who left, so there is nothing to subtract.
    let second = ward.open().publish_safe(false, &job()).unwrap();
    assert_eq!((second.rows, second.counterfeits, second.audit.columns[0].findings.certain), (6, 0, 0));
    ward.delete("g\na\n").unwrap();
    ward.insert("h,Male,24,4351,Hypertension\n").unwrap();
    let third = ward.open().publish_safe(false, &job()).unwrap();
    assert_eq!((third.rows, third.counterfeits), (5, 1));
    for (person, left) in candidates(&published(&ward)) {
        assert!(left.len() >= 2, "#{person} has one of {left:?}");
    }
}

#[test]
fn what_leaked_before_is_not_made_worse() {
    let ward = Ward::diverse();
    ward.init(Mode::Maintain).unwrap();
    ward.insert("g,Female,29,4351,Diabetes\n").unwrap();
    let second = ward.open().publish(true, &job()).unwrap();
    assert_eq!((second.audit.exposed, second.audit.newly.len()), (1, 1));
    ward.insert("h,Female,30,4351,Cough\n").unwrap();
    let refused = ward.open().publish_safe(false, &job()).unwrap_err();
    let Failure::Advised(advised) = &refused else { panic!("{refused}") };
    assert!(
        refused.exit_code() == 1 && matches!(advised.remedy, Remedy::PublishSafe { exposed: true, .. }),
        "{refused}"
    );
    let third = ward.open().publish_safe(true, &job()).unwrap();
    assert_eq!((third.audit.exposed, third.audit.newly.len()), (1, 0));
}

/// Everybody with one of two values leaves: those who are left satisfy nothing, and the deletion counts all the same.
#[test]
fn whoever_is_to_be_deleted_is_though_the_rest_lacks_something() {
    let row = |id: usize, disease: &str| format!("p{id},Male,{},4350,{disease}\n", 20 + id);
    let table = [row(1, "Flu"), row(2, "Gout"), row(3, "Flu"), row(4, "Gout")].concat();
    let require = "[[require]]\nmodel = \"distinct-l-diversity\"\nl = 2\n";
    let ward = Ward::new(&format!("{HEADER}{table}"), require);
    ward.init(Mode::Maintain).unwrap();
    let gone = ward.file("gone.csv", "id\np2\np4\n");
    let done = ward.open().apply(&Batch { insert: None, delete: Some(gone) }, &job()).unwrap();
    assert_eq!((done.deleted, done.rows), (2, 2));
    let plan = ward.open().plan(&job()).unwrap();
    assert!(!plan.publishable() && !plan.next.unwrap().satisfies && plan.safe.unwrap().satisfies);
    for allow_leak in [false, true] {
        let told = ward.open().publish_plain(allow_leak, &job()).unwrap_err().to_string();
        assert!(told.contains("satisfy distinct-l-diversity in no way"), "{told}");
    }
    // One more who does not help waits with them; taken back, it is as it was.
    let more = ward.file("more.csv", &format!("{HEADER}{}", row(5, "Flu")));
    ward.open().apply(&Batch { insert: Some(more.clone()), delete: None }, &job()).unwrap();
    ward.open().undo().unwrap();
    ward.open().apply(&Batch { insert: Some(more), delete: None }, &job()).unwrap();
    let safe = ward.open().publish_safe(false, &job()).unwrap();
    assert_eq!((safe.version, safe.counterfeits, safe.audit.finds_leaks()), (2, 2, false));
    assert_eq!(candidates(&published(&ward)).values().map(BTreeSet::len).min(), Some(2));
    // With others the rows get classes anew, and go on as usual.
    let others = ward.file("others.csv", &format!("{HEADER}{}{}", row(6, "Gout"), row(7, "Gout")));
    ward.open().apply(&Batch { insert: Some(others), delete: None }, &job()).unwrap();
    let third = ward.open().publish_safe(false, &job()).unwrap();
    assert!(third.judged.holds && !third.audit.finds_leaks());
    assert!(candidates(&published(&ward)).values().all(|values| values.len() >= 2));
    let last = ward.file("last.csv", &format!("{HEADER}{}{}", row(8, "Gout"), row(9, "Flu")));
    ward.open().apply(&Batch { insert: Some(last), delete: None }, &job()).unwrap();
    assert!(!ward.open().publish_safe(false, &job()).unwrap().audit.finds_leaks());
}
