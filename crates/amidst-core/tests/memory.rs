//! Every attack and every metric on columns of 10⁵ distinct values beside a sensitive one of 10⁴, and Mondrian with
//! sets of as many, in an address space in which nothing that grows with the product of two of them has room.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::process::Command;

use amidst_core::algorithm;
use amidst_core::attack::{
    ATTACKS, Covering, External, Extra, Original, People, PopulationKnowledge, Published, Target, fit,
    labels_of_recoding, members,
};
use amidst_core::frequency::FrequencySet;
use amidst_core::hierarchy::{Cell, Generalization, Generalize};
use amidst_core::internal::worlds::{Version, VersionClass};
use amidst_core::metric::{self, METRICS};
use amidst_core::model;
use amidst_core::parameter::{Parameters, Value};
use amidst_core::recoding::{Assignment, Recoding};
use amidst_core::requirement::{Requirement, SensitiveDomain};
use amidst_core::search::Search;
use amidst_core::table::{Column, Table, ValueType};

/// The address space, in KiB.
const SPACE: u64 = 1_000_000;

const ROWS: u32 = 100_000;
const VALUES: u32 = 10_000;
/// Numbers without a common divisor with the rows: multiples of a row by one of them are all different.
const FACTORS: [u32; 4] = [7_919, 17_389, 61_253, 90_001];

#[test]
fn attacks_and_metrics_need_room_for_what_occurs_only() {
    passes_in_little_space("everything_is_tried");
}

#[test]
fn mondrian_needs_room_for_the_values_of_sets_only_where_they_occur() {
    passes_in_little_space("sets_are_searched");
}

/// Runs an ignored test in a process of its own.
fn passes_in_little_space(name: &str) {
    let output = Command::new("sh")
        .arg("-c")
        .arg(format!("ulimit -v {SPACE}; exec \"$0\" \"$@\""))
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", name, "--ignored", "--test-threads=1"])
        .output()
        .unwrap();
    let (told, wrong) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && told.contains("1 passed"), "{}: {told} {wrong}", output.status);
}

/// The code of a row in a column.
fn code(row: u32, column: usize) -> u32 {
    (u64::from(row) * u64::from(FACTORS[column]) % u64::from(ROWS)) as u32
}

/// Four columns in which every row has a number of its own, and a sensitive one.
fn table() -> Table {
    let number = |column: usize| {
        let values: Vec<String> = (0..ROWS).map(|row| code(row, column).to_string()).collect();
        let mut made = Column::from_values(&format!("c{column}"), values.iter().map(String::as_str));
        made.kind = ValueType::Integer;
        made.sort(&[]);
        made
    };
    let mut columns: Vec<Column> = (0..FACTORS.len()).map(number).collect();
    let values: Vec<String> = (0..ROWS).map(|row| format!("d{:05}", row.wrapping_mul(31) % VALUES)).collect();
    columns.push(Column::from_values("disease", values.iter().map(String::as_str)));
    Table { columns, rows: ROWS as usize }
}

/// The rows in boxes that overlap in no point, but in every single column with a great many others: halves of halves,
/// by one column after the other.
fn boxes(mut rows: Vec<u32>, column: usize, found: &mut Vec<Vec<u32>>) {
    if rows.len() < 40 {
        found.push(rows);
        return;
    }
    rows.sort_unstable_by_key(|&row| code(row, column));
    let upper = rows.split_off(rows.len() / 2);
    let next = (column + 1) % FACTORS.len();
    boxes(rows, next, found);
    boxes(upper, next, found);
}

/// What boxes publish.
fn recoding(set: &FrequencySet, boxes: &[Vec<u32>]) -> Recoding {
    // Every row has numbers of its own, so the first tells which row a tuple is.
    let mut row_of = vec![0; ROWS as usize];
    (0..ROWS).for_each(|row| row_of[code(row, 0) as usize] = row);
    let mut class_of_row = vec![0; ROWS as usize];
    let mut classes = Vec::new();
    for (class, rows) in (0u32..).zip(boxes) {
        rows.iter().for_each(|&row| class_of_row[row as usize] = class);
        let cell = |column: usize| {
            let codes = || rows.iter().map(|&row| code(row, column));
            Cell::Range { low: codes().min().unwrap(), high: codes().max().unwrap() }
        };
        classes.push((0..FACTORS.len()).map(cell).collect());
    }
    let class = |tuple: usize| class_of_row[row_of[set.tuple(tuple)[0] as usize] as usize];
    let assignment = Assignment::Tuples((0..set.len()).map(class).collect());
    Recoding { classes, assignment, levels: None, masked: None, shown: None }
}

/// The boxes as a version of a series, in which everybody is known.
fn version(boxes: &[Vec<u32>]) -> Version {
    let class = |rows: &Vec<u32>| {
        let mut persons = rows.clone();
        persons.sort_unstable();
        let mut values: Vec<u32> = rows.iter().map(|row| row.wrapping_mul(31) % VALUES).collect();
        values.sort_unstable();
        let histogram = values.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u64)).collect();
        VersionClass { persons, histogram }
    };
    Version { classes: boxes.iter().map(class).collect() }
}

#[test]
#[ignore = "run by a test above, in a process of its own"]
fn sets_are_searched() {
    let table = table();
    let (set, _) = FrequencySet::count(&table, &[0, 1], &[], None);
    let of = |(column, way): (usize, Generalize)| {
        let mut of = Generalization::bind(&table.columns[column], None).unwrap();
        of.generalize = way;
        of
    };
    let generalizations: Vec<Generalization> = [(0, Generalize::Ranges), (1, Generalize::Sets)].map(of).into();
    let k = Parameters::from_pairs([("k", Value::Number(5.into()))]);
    let requirements = [Requirement::new(model::find("k-anonymity").unwrap(), k, Vec::new(), &[]).unwrap()];
    let search = Search::new(&set, &generalizations, &requirements);
    let found = algorithm::find("mondrian").unwrap().algorithm.search(&search).unwrap();
    assert!(found.recoding.classes.len() > ROWS as usize / 10);
}

#[test]
#[ignore = "run by a test above, in a process of its own"]
fn everything_is_tried() {
    let table = table();
    let quasi: Vec<usize> = (0..FACTORS.len()).collect();
    let (set, _) = FrequencySet::count(&table, &quasi, &[FACTORS.len()], None);
    let generalizations: Vec<Generalization> =
        quasi.iter().map(|&c| Generalization::bind(&table.columns[c], None).unwrap()).collect();
    let (mut first, mut second) = (Vec::new(), Vec::new());
    boxes((0..ROWS).collect(), 0, &mut first);
    boxes((0..ROWS).collect(), 2, &mut second);
    let recoding = recoding(&set, &first);
    let (groups, suppressed) = recoding.groups(&set);
    for entry in METRICS {
        let release = metric::Release {
            set: &set,
            generalizations: &generalizations,
            recoding: &recoding,
            groups: &groups,
            suppressed,
            k: 5,
        };
        let loss = entry.metric.loss(&release);
        assert!(loss.is_none_or(f64::is_finite), "{}", entry.id);
        let top = vec![1; FACTORS.len()];
        entry.metric.nodes(&release.input()).map(|nodes| nodes.lower_bound(&top));
    }

    let column = &table.columns[FACTORS.len()];
    let domains = [SensitiveDomain {
        name: column.name.clone(),
        dictionary: column.dictionary.clone(),
        ..SensitiveDomain::default()
    }];
    let labels = labels_of_recoding(&recoding, &generalizations);
    let published = Published::new(&set, &groups, &domains).with_labels(&labels);
    let target = Target::new(published, 0);
    let external = External { table: &table, covers: &[] };
    let fits = fit(&published, &external, &[FACTORS.len()]).unwrap();
    assert!(fits.iter().all(|classes| classes.len() == 1), "the boxes do not overlap");
    let codes: Vec<u32> = (0..column.dictionary.len() as u32).collect();
    let people = People::of(&fits.tuples, &codes);
    let population = PopulationKnowledge { people: &people, covered: Covering::Spread(&fits) };
    let members = members(&published, &fits);
    let versions = [version(&first), version(&second)];
    let extra = Extra {
        external: Some(&external),
        population: Some(&population),
        original: Some(Original::Members(&members)),
        versions: Some(&versions),
    };
    for entry in ATTACKS {
        let mut parameters = Parameters::default();
        if entry.parameters.iter().any(|p| p.name == "distinct") {
            parameters.set("distinct", Value::Number(2.into()));
        }
        let findings = entry.run(&target, &extra, &parameters);
        // Values without categories have no similarity.
        assert!(findings.is_ok() || entry.id == "similarity", "{}: {findings:?}", entry.id);
    }
}
