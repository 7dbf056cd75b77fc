//! Random tables, policies and releases.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use amidst::Failure;
use amidst::anonymize::{Options, anonymize};
use amidst::core::recoding::SUPPRESSED;
use amidst::job::Job;
use amidst::policy::Policy;
use amidst::prepare::{LoadOptions, Prepared};
use amidst::release::class_of_rows;
use amidst::search::{Chosen, search};

/// A small deterministic generator.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % n as u64) as usize
    }

    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        (1..list.len()).rev().for_each(|i| list.swap(i, self.below(i + 1)));
    }
}

const HEADER: [&str; 6] = ["age", "zip", "sex", "disease", "pay", "ward"];
const DISEASES: [&str; 5] = ["Flu", "Cold", "Asthma", "Cancer", "Zoster"];

/// Models that a policy may require in addition to k-anonymity, with further parameters.
const MODELS: [(&str, &str); 16] = [
    ("k-anonymity", "k = 2"),
    ("distinct-l-diversity", "on = \"disease\"\nl = 2"),
    ("entropy-l-diversity", "on = \"disease\"\nl = 1.4"),
    ("recursive-c-l-diversity", "on = \"disease\"\nc = 6\nl = 2"),
    ("t-closeness", "on = \"disease\"\nt = 0.4\ndistance = \"equal\""),
    ("t-closeness", "on = \"disease\"\nt = 0.3\ndistance = \"ordered\""),
    ("t-closeness", "on = \"pay\"\nt = 0.3\ndistance = \"ordered\""),
    ("t-closeness", "on = \"disease\"\nt = 0.35\ndistance = \"hierarchical\""),
    ("t-closeness", "on = \"disease\"\nt = 0.7\ndistance = \"kl\""),
    ("t-closeness", "on = \"disease\"\nt = 0.2\ndistance = \"js\""),
    ("beta-likeness", "on = \"disease\"\nbeta = 4"),
    ("beta-likeness", "on = \"disease\"\nbeta = 4\nenhanced = true"),
    ("delta-disclosure", "on = \"disease\"\ndelta = 4"),
    ("general-alpha-k-anonymity", "on = \"disease\"\nalpha = 0.8\nk = 3"),
    ("distinct-l-alpha-diversity", "on = \"disease\"\nl = 2\nalpha = 1"),
    ("entropy-l-alpha-diversity", "on = \"disease\"\nl = 1\nalpha = 1"),
];

const ALGORITHMS: [&str; 9] = [
    "optimal",
    "incognito",
    "samarati",
    "mondrian",
    "top-down",
    "systematic",
    "k-member",
    "one-pass-k-means",
    "portfolio",
];

const FORMATS: [&str; 4] = ["csv", "parquet", "jsonl", "arrow"];

/// A table and a policy.
pub struct Case {
    pub rows: Vec<Vec<String>>,
    pub policy: String,
    pub algorithm: &'static str,
    pub model: &'static str,
    masks: bool,
}

/// What was published.
pub struct Released {
    /// The rows, sorted.
    pub rows: Vec<Vec<String>>,
    /// The files of the public part.
    pub files: BTreeMap<String, Vec<u8>>,
    /// The table.
    pub table: PathBuf,
    /// How many rows were suppressed.
    pub suppressed: u64,
}

impl Case {
    pub fn draw(random: &mut Random) -> Case {
        Case::of(random, &MODELS)
    }

    /// A case with a requirement that compares classes with the whole table.
    pub fn draw_comparing(random: &mut Random) -> Case {
        Case::of(random, &MODELS[4..13])
    }

    fn of(random: &mut Random, models: &[(&'static str, &'static str)]) -> Case {
        let mut rows = Vec::new();
        for group in 0..3 + random.below(4) {
            for _ in 0..6 + random.below(9) {
                let (age, zip) = (20 + 10 * (group % 3) + random.below(3), 14_000 + 100 * group + random.below(2));
                let diseases = 3 + random.below(2);
                rows.push(row(random, age, zip, diseases));
            }
        }
        // A few rows that are unlike all others.
        for _ in 0..1 + random.below(4) {
            let (age, zip) = (80 + random.below(19), 90_000 + random.below(9_999));
            rows.push(row(random, age, zip, DISEASES.len()));
        }
        random.shuffle(&mut rows);
        let (model, parameters) = random.pick(models);
        let algorithm = random.pick(&ALGORITHMS);
        let masks = random.below(4) == 0;
        let policy = format!(
            "[data]\ninput = \"people.csv\"\nmissing = []\n\
             [columns.age]\nrole = \"quasi\"\nhierarchy = {{ intervals = [5, 10, 50] }}\n\
             [columns.zip]\nrole = \"quasi\"\nhierarchy = {{ mask = {{ length = 5 }} }}\n\
             [columns.sex]\nrole = \"quasi\"\nhierarchy = {{ suppress = true }}\n\
             [columns.disease]\nrole = \"sensitive\"\norder = {DISEASES:?}\n\
             hierarchy = {{ taxonomy = {{ Any = {{ Lungs = [\"Flu\", \"Cold\", \"Asthma\"], Other = [\"Cancer\", \"Zoster\"] }} }} }}\n\
             categories = [[\"Cancer\", \"Zoster\"], [\"Asthma\"], [\"Flu\", \"Cold\"]]\n\
             [columns.pay]\nrole = \"sensitive\"\n[columns.ward]\nrole = \"insensitive\"\naccept = \"a test\"\n\
             [[require]]\nmodel = \"k-anonymity\"\nk = 3\n[[require]]\nmodel = \"{model}\"\n{parameters}\n\
             [search]\nalgorithm = \"{algorithm}\"\nmax_suppression = \"{}\"\nsuppressed = \"{}\"\nseed = {}\n\
             [output]\nfile = \"release.{}\"\n",
            random.pick(&["1/10", "1/4", "1/2"]),
            if masks { "mask" } else { "drop" },
            random.below(1000),
            random.pick(&FORMATS),
        );
        Case { rows, policy, algorithm, model, masks }
    }

    pub fn parsed(&self, folder: &Path) -> Policy {
        Policy::parse(&self.policy, &folder.join("policy.toml")).unwrap()
    }

    /// The indexes of the suppressed rows.
    pub fn suppressed(&self) -> Vec<usize> {
        let place = tempfile::tempdir().unwrap();
        write(&place.path().join("people.csv"), &self.rows);
        let policy = self.parsed(place.path());
        let prepared = Prepared::load(&policy, &LoadOptions::default()).unwrap();
        let cancel = AtomicBool::new(false);
        let Ok(Chosen { found, .. }) = search(&policy, &prepared, &job(&cancel)) else { return Vec::new() };
        let recoding = &found.recoding;
        let gone = |class: u32| class == SUPPRESSED || Some(class) == recoding.masked;
        let classes = class_of_rows(&prepared.set, &recoding.assignment, &prepared.entry_of_row);
        (0..classes.len()).filter(|&row| gone(classes[row])).collect()
    }

    /// The rows with other values in the suppressed ones: in all columns, or in those that are not published.
    pub fn changed(&self, suppressed: &[usize], random: &mut Random) -> Vec<Vec<String>> {
        let mut rows = self.rows.clone();
        for &at in suppressed {
            let (age, zip) = (80 + random.below(19), 90_000 + random.below(9_999));
            let other = row(random, age, zip, DISEASES.len());
            for column in 0..HEADER.len() {
                // A masked row is published except for its quasi cells.
                if random.below(3) > 0 && !(self.masks && column > 2) {
                    rows[at][column] = other[column].clone();
                }
            }
            if !self.masks && !self.policy.contains("on = \"pay\"") && random.below(3) == 0 {
                // In the input this is then no longer a column of numbers.
                rows[at][4] = "unpaid".to_string();
                rows[at][5] = "7a".to_string();
            }
        }
        rows
    }

    /// Publishes the rows; `None` where that is impossible.
    pub fn release(&self, place: &Path, name: &str, rows: &[Vec<String>]) -> Option<Released> {
        let folder = place.join(name);
        std::fs::create_dir(&folder).unwrap();
        write(&folder.join("people.csv"), rows);
        let policy = self.parsed(&folder);
        let cancel = AtomicBool::new(false);
        let options = Options { out: Some(folder.join("out")), ..Options::default() };
        let done = match anonymize(&policy, &options, &job(&cancel)) {
            Ok(done) => done,
            Err(failure) if failure.is_impossible() => return None,
            Err(Failure::Usage(why)) if why.contains("cannot") || why.contains("needs") => return None,
            Err(other) => panic!("{other}\n{}", self.policy),
        };
        let table = done.outputs.release.clone();
        let public = folder.join("out").join("public");
        let files = std::fs::read_dir(&public).unwrap().map(|file| {
            let path = file.unwrap().path();
            (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap())
        });
        Some(Released { rows: cells(&table), files: files.collect(), suppressed: done.judged.suppressed, table })
    }
}

fn job(cancel: &AtomicBool) -> Job<'_> {
    Job { cancel, progress: &|_, _| {}, threads: 1, ..Job::default() }
}

fn row(random: &mut Random, age: usize, zip: usize, diseases: usize) -> Vec<String> {
    let sex = random.pick(&["f", "m"]);
    let disease = DISEASES[random.below(diseases)];
    let pay = 100 * random.below(4);
    vec![age.to_string(), zip.to_string(), sex.into(), disease.into(), pay.to_string(), random.below(3).to_string()]
}

fn write(path: &Path, rows: &[Vec<String>]) {
    let lines = std::iter::once(HEADER.join(",")).chain(rows.iter().map(|row| row.join(",")));
    std::fs::write(path, lines.map(|line| line + "\n").collect::<String>()).unwrap();
}

/// The rows of a table, sorted.
fn cells(table: &Path) -> Vec<Vec<String>> {
    let read = amidst::io::read(table.to_str().unwrap(), &amidst::io::ReadOptions::default()).unwrap().table;
    let row = |row: usize| read.columns.iter().map(|column| column.value(row).to_string()).collect();
    let mut rows: Vec<Vec<String>> = (0..read.rows).map(row).collect();
    rows.sort();
    rows
}
