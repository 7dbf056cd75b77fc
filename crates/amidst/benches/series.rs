//! The update paper's experiments: maintaining against anonymizing anew, on the Adult table.
//!
//! `cargo bench -p amidst --bench series [ALGORITHM] [FIGURE.svg]`: 10,000 rows, inserts from 0.5 % to 50 %, deletes from 50
//! to 5,000 rows, l = 2 and 4; then 1 % into the whole table; then counterfeits of an m-invariant series with m = 4 when
//! 5 % of the rows change from version to version. Times are of the classes alone, without reading and writing.

#![allow(clippy::print_stdout)] // A bench exists to print its table.
#![allow(clippy::unwrap_used)] // And may stop where it stands.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use amidst::anonymize::{Job, class_of_rows, search, task};
use amidst::core::local::{Random, Space};
use amidst::core::series::{Maintained, Signed, UNPLACED, m_invariant, maintain};
use amidst::core::table::Table;
use amidst::policy::Policy;
use amidst::prepare::{LoadOptions, Prepared};

static CANCEL: AtomicBool = AtomicBool::new(false);

const COLUMNS: [&str; 7] = ["age", "workclass", "education", "native-country", "marital-status", "race", "sex"];

fn job() -> Job<'static> {
    Job { cancel: &CANCEL, progress: &|_, _| (), threads: 0 }
}

fn policy(data: &Path, algorithm: &str, l: u64) -> Policy {
    let mut text =
        "[data]\ninput = \"adult.csv\"\nmissing = [\"?\"]\n[columns.\"*\"]\nrole = \"identifying\"\n".to_string();
    for name in COLUMNS {
        let file = format!("hierarchy = {{ file = \"hierarchies_arx/{name}.csv\" }}");
        let (kind, recipe) = if name == "age" { ("integer", "generalize = \"ranges\"") } else { ("text", &file[..]) };
        writeln!(text, "[columns.{name}]\nrole = \"quasi\"\ntype = \"{kind}\"\n{recipe}").unwrap();
    }
    writeln!(text, "[columns.occupation]\nrole = \"sensitive\"\n[[require]]\nmodel = \"distinct-l-diversity\"")
        .unwrap();
    writeln!(text, "l = {l}\n[search]\nalgorithm = \"{algorithm}\"").unwrap();
    Policy::parse(&text, &data.join("policy.toml")).unwrap()
}

/// The rows of `table` that `keep` names.
fn rows(policy: &Policy, table: &Table, keep: impl Fn(usize) -> bool) -> Prepared {
    let mut part = table.clone();
    part.retain(&(0..table.rows).map(keep).collect::<Vec<_>>());
    Prepared::of_table(policy, part, &LoadOptions::default()).unwrap()
}

/// The classes that the policy's algorithm finds, and the seconds it takes.
fn anew(policy: &Policy, prepared: &Prepared) -> (Vec<u32>, f64) {
    let start = Instant::now();
    let (_, found, _) = search(policy, prepared, &job()).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    (class_of_rows(&prepared.set, &found.recoding.assignment, &prepared.entry_of_row), seconds)
}

/// Brings classes up to date; what came of it, and the seconds it takes.
fn update(policy: &Policy, prepared: &Prepared, class_of: &mut [u32]) -> (Maintained, f64) {
    let task = task(policy, prepared, &CANCEL, &|_| ()).unwrap();
    let start = Instant::now();
    let report = maintain(&task, &prepared.entry_of_row, class_of).unwrap();
    (report, start.elapsed().as_secs_f64())
}

/// One experiment: loss and seconds of maintaining, and of starting over.
struct Point {
    what: &'static str,
    l: u64,
    rows: usize,
    loss: [f64; 2],
    seconds: [f64; 2],
}

impl Point {
    fn print(&self) {
        let ([m, a], [tm, ta]) = (self.loss, self.seconds);
        println!(
            "{:<8} {:>2} {:>7} {m:>10.1} {a:>10.1} {:>7.3} {tm:>9.4} {ta:>9.4} {:>7.2} %",
            self.what,
            self.l,
            self.rows,
            m / a,
            100.0 * tm / ta
        );
    }
}

/// Base rows in their classes, then some more rows, or some fewer.
fn point(policy: &Policy, table: &Table, l: u64, base: usize, change: isize) -> Point {
    let (first, _) = anew(policy, &rows(policy, table, |r| r < base));
    let (prepared, mut class_of, what) = if change >= 0 {
        let all = base + change as usize;
        let mut class_of = first;
        class_of.resize(all, UNPLACED);
        (rows(policy, table, |r| r < all), class_of, "insert")
    } else {
        // Which rows go has nothing to do with where they stand.
        let mut order: Vec<usize> = (0..base).collect();
        Random::new(1).shuffle(&mut order);
        let mut gone = vec![false; table.rows];
        order[..change.unsigned_abs()].iter().for_each(|&r| gone[r] = true);
        let class_of = first.iter().enumerate().filter(|(r, _)| !gone[*r]).map(|(_, &c)| c).collect();
        (rows(policy, table, |r| r < base && !gone[r]), class_of, "delete")
    };
    let (report, maintaining) = update(policy, &prepared, &mut class_of);
    let (mut scratch, starting_over) = anew(policy, &prepared);
    let (anew, _) = update(policy, &prepared, &mut scratch);
    Point {
        what,
        l,
        rows: change.unsigned_abs(),
        loss: [report.loss, anew.loss],
        seconds: [maintaining, starting_over],
    }
}

/// Counterfeits of an m-invariant series in which 5 % of the rows go and as many come from version to version.
fn counterfeits(policy: &Policy, table: &Table, m: usize) {
    let (all, versions) = (table.rows, 6);
    let whole = rows(policy, table, |_| true);
    let (set, space) = (&whole.set, Space::new(&whole.generalizations));
    let tuple_of = set.tuple_of_entry();
    let mut order: Vec<usize> = (0..all).collect();
    Random::new(2).shuffle(&mut order);
    let churn = all / 25;
    let size = all - versions * churn;
    let mut signatures: Vec<Vec<u32>> = vec![Vec::new(); all];
    for version in 0..versions {
        let present = &order[version * churn..version * churn + size];
        let signed: Vec<Signed<'_>> = present
            .iter()
            .map(|&r| {
                let entry = whole.entry_of_row[r] as usize;
                let value = set.sensitive_code(set.groups.entries[entry].sensitive, 0);
                Signed { codes: set.tuple(tuple_of[entry] as usize), value, signature: &signatures[r] }
            })
            .collect();
        let start = Instant::now();
        let made = m_invariant(&space, &signed, set.sensitive_domains[0], m).unwrap();
        let seconds = start.elapsed().as_secs_f64();
        let share = 100.0 * made.counterfeits.len() as f64 / size as f64;
        let churned = 100.0 * churn as f64 / size as f64;
        println!(
            "version {}: {size} rows, {churned:.1} % changed, {} classes, {} counterfeits ({share:.3} %), {seconds:.2} s",
            version + 1,
            made.signatures.len(),
            made.counterfeits.len()
        );
        for (&r, &class) in present.iter().zip(&made.class_of) {
            signatures[r] = made.signatures[class as usize].clone();
        }
    }
}

/// What a panel shows of a point: maintained, and anew.
type Figure = fn(&Point) -> [f64; 2];

/// Loss (left) and seconds (right) against the rows inserted, maintained in dark, anew in light, a pair of lines per l.
fn figure(points: &[Point]) -> String {
    let mut svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 720 300\" font-family=\"sans-serif\" \
                   font-size=\"11\">\n"
        .to_string();
    let inserts: Vec<&Point> = points.iter().filter(|p| p.what == "insert").collect();
    let most = inserts.iter().map(|p| p.rows).max().unwrap_or(1) as f64;
    let pick: [(&str, Figure); 2] = [("loss", |p| p.loss), ("seconds", |p| p.seconds)];
    for (panel, (title, value)) in pick.into_iter().enumerate() {
        let left = 40.0 + 360.0 * panel as f64;
        let high = inserts.iter().flat_map(|p| value(p)).fold(1e-9, f64::max);
        writeln!(svg, "<text x=\"{left}\" y=\"20\">{title} by rows inserted (top: {high:.3})</text>").unwrap();
        writeln!(svg, "<path d=\"M{left} 30V270H{}\" fill=\"none\" stroke=\"#888\"/>", left + 300.0).unwrap();
        for (l, dash) in [(2, "none"), (4, "5 3")] {
            for (way, colour) in [(0, "#123"), (1, "#9bd")] {
                let at = |p: &&&Point| {
                    let (x, y) = (left + 300.0 * p.rows as f64 / most, 270.0 - 235.0 * value(p)[way] / high);
                    format!("{x:.1},{y:.1}")
                };
                let line: Vec<String> = inserts.iter().filter(|p| p.l == l).map(|p| at(&p)).collect();
                writeln!(
                    svg,
                    "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" \
                     stroke-dasharray=\"{dash}\"/>",
                    line.join(" ")
                )
                .unwrap();
            }
        }
    }
    svg.push_str(
        "<text x=\"40\" y=\"292\">dark: maintained, light: anew; solid: l = 2, dashed: l = 4</text>\n</svg>\n",
    );
    svg
}

fn main() {
    let data = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/adult");
    let words: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let (figures, named): (Vec<String>, Vec<String>) = words.into_iter().partition(|w| w.ends_with(".svg"));
    let algorithm = named.first().map_or("mondrian", String::as_str);
    if !data.join("adult.csv").is_file() {
        println!("skipped: there is no Adult table");
        return;
    }
    let options = LoadOptions::default();
    println!("against {algorithm}\n         l    rows maintained       anew   ratio   seconds      anew   share");
    let mut points = Vec::new();
    for l in [2, 4] {
        let policy = policy(&data, algorithm, l);
        let table = Prepared::load(&policy, &options).unwrap().table;
        for change in [50, 100, 500, 1000, 2500, 5000, -50, -500, -1000, -2500, -5000] {
            points.push(point(&policy, &table, l, 10_000, change));
            points[points.len() - 1].print();
        }
        let one_percent = table.rows / 101;
        point(&policy, &table, l, table.rows - one_percent, one_percent as isize).print();
    }
    for file in figures {
        std::fs::write(&file, figure(&points)).unwrap();
        println!("figure in {file}");
    }
    let policy = policy(&data, algorithm, 2);
    counterfeits(&policy, &Prepared::load(&policy, &options).unwrap().table, 4);
}
