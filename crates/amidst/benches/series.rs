//! The update paper's experiments: maintaining against anonymizing anew, on the Adult table.
//!
//! `cargo bench -p amidst --bench series [ALGORITHM] [FIGURE.svg]`: 10,000 rows, inserts from 0.5 % to 50 %, deletes
//! from 50 to 5,000 rows, l = 2 and 4; then 1 % into the whole table; then counterfeits of an m-invariant series with m
//! = 4 when 5 % of the rows change from version to version. The figure goes to `series.svg` in the folder for temporary
//! files unless another is named.
//!
//! Times are those of the processor for the classes alone, without reading and writing. *Maintained* is the batch on
//! classes that are in memory, *loaded* also makes them from what is kept of them between batches; *anew* is what the
//! first version of a series does: the search, and the splits of what it finds.

#![allow(clippy::print_stdout)] // A bench exists to print its table.
#![allow(clippy::unwrap_used)] // And may stop where it stands.

mod adult;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use amidst::core::internal::local::shape::Space;
use amidst::core::internal::random::Random;
use amidst::core::internal::series::{
    Loader, Maintained, MaintainedClasses, OwnIds, RowSource, Rows, Signed, m_invariant, marginal, refine,
};
use amidst::core::search::{Search, SearchError};
use amidst::core::table::Table;
use amidst::job::Job;
use amidst::plan::task;
use amidst::policy::Policy;
use amidst::prepare::{LoadOptions, Prepared};
use amidst::release::class_of_rows;
use amidst::search::search;

static CANCEL: AtomicBool = AtomicBool::new(false);

fn job() -> Job<'static> {
    Job { cancel: &CANCEL, progress: &|_, _| (), threads: 0, ..Job::default() }
}

fn policy(data: &Path, algorithm: &str, l: u64) -> Policy {
    let asked =
        format!("[[require]]\nmodel = \"distinct-l-diversity\"\nl = {l}\n[search]\nalgorithm = \"{algorithm}\"\n");
    adult::policy(data, &asked)
}

/// The rows of `table` that `keep` names.
fn rows(policy: &Policy, table: &Table, keep: impl Fn(usize) -> bool) -> Prepared {
    let mut part = table.clone();
    part.retain(&(0..table.rows).map(keep).collect::<Vec<_>>());
    Prepared::of_table(policy, part, &LoadOptions::default()).unwrap()
}

/// Seconds that the processor has worked for this process; others may be using the machine, too.
fn cpu() -> f64 {
    let one = |task: std::fs::DirEntry| -> Option<f64> {
        std::fs::read_to_string(task.path().join("schedstat")).ok()?.split(' ').next()?.parse().ok()
    };
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let total: f64 = tasks.filter_map(one).sum();
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    // Where the system does not tell, the clock must do.
    if total > 0.0 { total / 1e9 } else { START.get_or_init(Instant::now).elapsed().as_secs_f64() }
}

/// The classes of the first version of a series, what they cost, and the seconds it takes.
fn anew(policy: &Policy, prepared: &Prepared) -> (Vec<u32>, f64, f64) {
    let start = cpu();
    let found = search(policy, prepared, &job()).unwrap().found;
    let mut classes = class_of_rows(&prepared.set, &found.recoding.assignment, &prepared.entry_of_row);
    let task = task(policy, prepared, &job()).unwrap();
    let refined = refine(&task, &prepared.entry_of_row, &mut classes).unwrap();
    (classes, refined.loss, cpu() - start)
}

/// The rows of a table by the class they are in.
struct Known<'p> {
    prepared: &'p Prepared,
    tuple_of: Vec<u32>,
    members: BTreeMap<u32, Vec<u32>>,
}

impl Known<'_> {
    fn add(&self, rows: &mut Rows, row: u32) -> u32 {
        let (set, entry) = (&self.prepared.set, self.prepared.entry_of_row[row as usize].index());
        rows.push(row, set.tuple(self.tuple_of[entry] as usize), set.groups.entries[entry].sensitive)
    }
}

impl RowSource for Known<'_> {
    type Error = SearchError;

    fn members(&mut self, class: u32, rows: &mut Rows) -> Result<Vec<u32>, SearchError> {
        let members = self.members.get(&class).cloned().unwrap_or_default();
        Ok(members.into_iter().map(|row| self.add(rows, row)).collect())
    }
}

/// What is kept of the classes of some rows between batches: the pages, and the tree over them.
fn kept(search: &Search<'_>, prepared: &Prepared, class_of: &[u32]) -> (Vec<(u32, Vec<u8>)>, Vec<u8>) {
    let (maintained, _) =
        MaintainedClasses::of_table(search, &prepared.entry_of_row[..class_of.len()], class_of).unwrap();
    (maintained.changed_pages(&OwnIds).collect(), maintained.changed_tree().unwrap())
}

/// Brings classes up to date, from what is kept of them; what came of it, and the seconds it takes without and with
/// making the classes from what is kept.
fn update(policy: &Policy, prepared: &Prepared, class_of: &[u32], gone: &BTreeSet<u32>) -> (Maintained, f64, f64) {
    let whole = task(policy, prepared, &job()).unwrap();
    let (pages, tree) = kept(&whole, prepared, class_of);
    let next = class_of.iter().max().map_or(0, |&c| c + 1);
    let stats = marginal(&prepared.set);
    let slim = Search { set: &stats, ..whole };
    let mut members: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let mut leaving: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (row, &class) in (0u32..).zip(class_of) {
        members.entry(class).or_default().push(row);
        if gone.contains(&row) {
            leaving.entry(class).or_default().push(row);
        }
    }
    let mut roster = Known { prepared, tuple_of: prepared.set.tuple_of_entry(), members };
    let start = cpu();
    let mut loader = Loader::new(&slim).unwrap();
    assert!(pages.iter().all(|(number, bytes)| loader.page(*number, bytes, &OwnIds)));
    let mut maintained = loader.finish(&tree, next);
    let loaded = cpu();
    let new = class_of.len() as u32..prepared.table.rows as u32;
    let new = new.map(|row| roster.add(&mut maintained.rows, row)).collect();
    let report = maintained.apply(&leaving, new, &mut roster).unwrap();
    let end = cpu();
    (report, end - loaded, end - start)
}

/// One experiment: loss of maintaining and of starting over; seconds of maintaining, of that with loading, and of
/// starting over.
struct Point {
    what: &'static str,
    l: u64,
    rows: usize,
    loss: [f64; 2],
    seconds: [f64; 3],
}

impl Point {
    fn print(&self) {
        let ([m, a], [tm, tl, ta]) = (self.loss, self.seconds);
        println!(
            "{:<8} {:>2} {:>7} {m:>10.1} {a:>10.1} {:>7.3} {tm:>10.4} {tl:>9.4} {ta:>9.4} {:>7.2} % {:>7.2} %",
            self.what,
            self.l,
            self.rows,
            m / a,
            100.0 * tm / ta,
            100.0 * tl / ta
        );
    }
}

/// Base rows in their classes, then some more rows, or some fewer.
fn point(policy: &Policy, table: &Table, l: u64, base: usize, change: isize) -> Point {
    let first = rows(policy, table, |r| r < base);
    let (class_of, ..) = anew(policy, &first);
    let (what, report, alone, loaded, after) = if change >= 0 {
        let all = base + change as usize;
        let after = rows(policy, table, |r| r < all);
        let (report, alone, loaded) = update(policy, &after, &class_of, &BTreeSet::new());
        ("insert", report, alone, loaded, after)
    } else {
        // Which rows go has nothing to do with where they stand.
        let mut order: Vec<usize> = (0..base).collect();
        Random::new(1).shuffle(&mut order);
        let gone: BTreeSet<u32> = order[..change.unsigned_abs()].iter().map(|&r| r as u32).collect();
        let (report, alone, loaded) = update(policy, &first, &class_of, &gone);
        ("delete", report, alone, loaded, rows(policy, table, |r| r < base && !gone.contains(&(r as u32))))
    };
    let (_, loss, starting_over) = anew(policy, &after);
    Point { what, l, rows: change.unsigned_abs(), loss: [report.loss, loss], seconds: [alone, loaded, starting_over] }
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
                let entry = whole.entry_of_row[r].index();
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

/// What a panel shows: its title, which experiments, and the figures of a point, maintained and anew.
type Panel = (&'static str, &'static str, fn(&Point) -> [f64; 2]);

const PANELS: [Panel; 4] = [
    ("loss by rows inserted", "insert", |p| p.loss),
    ("seconds by rows inserted", "insert", |p| [p.seconds[0], p.seconds[2]]),
    ("loss by rows deleted", "delete", |p| p.loss),
    ("seconds by rows deleted", "delete", |p| [p.seconds[0], p.seconds[2]]),
];

/// Loss (left) and seconds (right) against the rows inserted (above) and deleted (below).
fn figure(algorithm: &str, points: &[Point]) -> String {
    let mut svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 800 660\" width=\"800\" height=\"660\" \
                   font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"800\" height=\"660\" fill=\"#fff\"/>\n"
        .to_string();
    for (panel, (title, what, value)) in PANELS.into_iter().enumerate() {
        let (left, bottom) = (70.0 + 400.0 * (panel % 2) as f64, 260.0 + 300.0 * (panel / 2) as f64);
        let shown: Vec<&Point> = points.iter().filter(|p| p.what == what).collect();
        let most = shown.iter().map(|p| p.rows).max().unwrap_or(1) as f64;
        let high = shown.iter().flat_map(|p| value(p)).fold(1e-9, f64::max);
        writeln!(svg, "<text x=\"{left}\" y=\"{}\" font-weight=\"bold\">{title}</text>", bottom - 225.0).unwrap();
        for step in 0..=4 {
            let (share, digits) = (f64::from(step) / 4.0, if high < 10.0 { 3 } else { 0 });
            let (x, y) = (left + 300.0 * share, bottom - 200.0 * share);
            writeln!(
                svg,
                "<path d=\"M{left} {y}h300\" stroke=\"#ddd\"/><text x=\"{}\" y=\"{}\" text-anchor=\"end\">{:.digits$}\
                 </text><text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{:.0}</text>",
                left - 6.0,
                y + 4.0,
                high * share,
                bottom + 18.0,
                most * share
            )
            .unwrap();
        }
        for (l, dash) in [(2, "none"), (4, "5 3")] {
            for (way, colour) in [(0, "#b33"), (1, "#36a")] {
                let own = || shown.iter().filter(|p| p.l == l);
                let at = |p: &Point| (left + 300.0 * p.rows as f64 / most, bottom - 200.0 * value(p)[way] / high);
                let line: Vec<String> = own().map(|p| at(p)).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
                writeln!(
                    svg,
                    "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" \
                     stroke-dasharray=\"{dash}\"/>",
                    line.join(" ")
                )
                .unwrap();
                for (x, y) in own().map(|p| at(p)) {
                    writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>").unwrap();
                }
            }
        }
    }
    let key = [("#b33", "none", "maintained, l = 2"), ("#b33", "5 3", "maintained, l = 4")];
    let anew = [("#36a", "none", "anew, l = 2"), ("#36a", "5 3", "anew, l = 4")];
    for (i, (colour, dash, text)) in key.into_iter().chain(anew).enumerate() {
        let x = 70 + 175 * i;
        writeln!(
            svg,
            "<path d=\"M{x} 616h30\" stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dash}\"/><text \
             x=\"{}\" y=\"620\">{text}</text>",
            x + 38
        )
        .unwrap();
    }
    let note = format!("Adult, 10,000 rows, distinct l-diversity of the occupation; anew with {algorithm}");
    writeln!(svg, "<text x=\"70\" y=\"646\" fill=\"#555\">{note}</text>\n</svg>").unwrap();
    svg
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let (figures, named): (Vec<String>, Vec<String>) = words.into_iter().partition(|w| w.ends_with(".svg"));
    let algorithm = named.first().map_or("mondrian", String::as_str);
    let Some(data) = adult::folder() else { return };
    let options = LoadOptions::default();
    println!("against {algorithm}");
    println!("         l    rows       loss  loss anew   ratio maintained    loaded      anew     share  with loading");
    let mut points = Vec::new();
    for l in [2, 4] {
        let policy = policy(&data, algorithm, l);
        let table = Prepared::load(&policy, &options).unwrap().table;
        for change in [50, 100, 500, 1000, 2500, 5000, -50, -100, -500, -1000, -2500, -5000] {
            points.push(point(&policy, &table, l, 10_000, change));
            points[points.len() - 1].print();
        }
        let one_percent = table.rows / 101;
        point(&policy, &table, l, table.rows - one_percent, one_percent as isize).print();
    }
    let file = figures.first().map_or_else(|| std::env::temp_dir().join("series.svg"), PathBuf::from);
    std::fs::write(&file, figure(algorithm, &points)).unwrap();
    println!("figure in {}", file.display());
    let policy = policy(&data, algorithm, 2);
    counterfeits(&policy, &Prepared::load(&policy, &options).unwrap().table, 4);
}
