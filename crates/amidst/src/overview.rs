//! A table as a person looks at it before there is a release: every column in figures, the first rows, and the nodes of
//! each hierarchy with the rows that fall into them.
//!
//! An [`Overview`] keeps the table that it was made from, so that a draft of a policy and a survey of what singles
//! people out need no further reading. Columns that name persons in the first rows are not read to the end, as by
//! `amidst init`.

mod sides;

use std::collections::BTreeMap;
use std::path::Path;

use amidst_core::hierarchy::Generalization;
use amidst_core::table::{Column, Table, ValueType};
use amidst_io::{Format, ReadOptions};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::Failure;
use crate::anonymize::Release;
use crate::audit::survey::{self, Survey};
use crate::init::{InspectedTable, drafted, first_of};
use crate::job::Job;
use crate::policy::{Data, Policy, Role};
use crate::prepare::{PrepareError, Prepared, lacked};
use crate::report::{Bar, Others, histogram};

pub use sides::{CrossTable, GroupLoss, SideColumn, Sides};

/// A table in figures.
#[derive(Debug)]
#[non_exhaustive]
pub struct Overview {
    /// The rows of the table.
    pub rows: u64,
    /// Cells that seem to mean "unknown".
    pub missing: Vec<String>,
    /// All columns, in the order of the table.
    pub columns: Vec<ColumnOverview>,
    input: String,
    inspected: InspectedTable,
}

/// A column in figures.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnOverview {
    /// Its name.
    pub name: String,
    /// The role that `amidst init` would give it.
    pub role: Role,
    /// Why.
    pub why: String,
    /// What was counted; none where the column was not read to the end.
    pub counted: Option<ColumnFigures>,
}

/// What was counted of a column.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnFigures {
    /// The type of its known values.
    pub kind: ValueType,
    /// Cells that seem to be unknown.
    pub missing: u64,
    /// Known values.
    pub distinct: u64,
    /// Rows whose known value no other row has.
    pub uniques: u64,
    /// How the known values are spread; empty where nearly every row has its own.
    pub histogram: Vec<Bar>,
    /// Values that are not listed.
    pub others: Option<Others>,
}

impl Overview {
    /// Reads a table and counts its columns. It is read as a policy states; where none does, that is guessed.
    ///
    /// # Errors
    /// Whatever is wrong with the input, or that the job was stopped.
    pub fn of(input: &str, stated: Option<&Data>, job: &Job<'_>) -> Result<Overview, Failure> {
        let inspected = InspectedTable::stated(input, stated, true, job)?;
        let columns = inspected.header.par_iter().map(|name| column(&inspected, name)).collect();
        let (rows, missing) = (inspected.table.rows as u64, inspected.missing.clone());
        Ok(Overview { rows, missing, columns, input: input.to_string(), inspected })
    }

    /// The policy that `amidst init` drafts, to be kept in `folder`.
    pub fn draft(&self, folder: &Path) -> String {
        drafted(&self.inspected, &self.input, Some(folder))
    }

    /// What singles people out: columns, sets of up to three, minimal sample uniques.
    pub fn survey(&self) -> Survey {
        survey::of_inspected(&self.inspected, &self.input, 3)
    }

    /// The values of a column that the hierarchy in a policy lacks, with their rows; none where the column was not
    /// read, or the hierarchy cannot be built at all. For the owner's eyes.
    pub fn lacking(&self, policy: &Policy, name: &str) -> Vec<(String, u64)> {
        let (Some(position), Some(stated)) = (self.inspected.table.position(name), policy.column(name)) else {
            return Vec::new();
        };
        let column = &self.inspected.table.columns[position];
        let counts = column.counts();
        let known = |value: &str| !value.is_empty() && !policy.data.missing.iter().any(|token| token == value);
        let lacked = lacked(policy, stated, column).into_iter().map(|code| (column.dictionary.value(code), code));
        lacked.filter(|(value, _)| known(value)).map(|(v, code)| (v.to_string(), counts[code as usize])).collect()
    }

    /// The recipe of a hierarchy that fits a column, as a policy writes it; none where the column was not read.
    pub fn suggestion(&self, name: &str) -> Option<String> {
        self.inspected.table.position(name).map(|i| self.inspected.suggestion(i).toml())
    }
}

fn column(inspected: &InspectedTable, name: &str) -> ColumnOverview {
    let Some(position) = inspected.table.position(name) else {
        let unread = inspected.unread().iter().find(|(unread, _)| unread == name);
        let why = unread.map_or("not read", |(_, why)| why).to_string();
        return ColumnOverview { name: name.to_string(), role: Role::Identifying, why, counted: None };
    };
    let column = &inspected.table.columns[position];
    let unknown = |value: &str| inspected.missing.iter().any(|token| token == value);
    let mut figures =
        ColumnFigures { kind: column.kind, missing: 0, distinct: 0, uniques: 0, histogram: Vec::new(), others: None };
    let mut known = 0;
    for (value, &count) in column.dictionary.iter().zip(&column.counts()).filter(|(_, n)| **n > 0) {
        if unknown(value) {
            figures.missing += count;
            continue;
        }
        known += count;
        figures.distinct += 1;
        figures.uniques += u64::from(count == 1);
    }
    // A bar for each person tells nothing.
    if figures.distinct * 2 <= known || column.kind.is_numeric() {
        (figures.histogram, figures.others) = match by_period(column, unknown) {
            Some(periods) => (periods, None),
            None => histogram(column, unknown),
        };
    }
    let (role, why) = inspected.role(position);
    ColumnOverview { name: name.to_string(), role, why: why.to_string(), counted: Some(figures) }
}

/// Bars that periods are drawn with, at most.
const PERIODS: usize = 16;

/// Many dates by the shortest of month, year, decade and century that makes few enough bars; none where the column
/// holds few dates, or anything else.
fn by_period(column: &Column, unknown: impl Fn(&str) -> bool) -> Option<Vec<Bar>> {
    let counts = column.counts();
    let held = || column.dictionary.iter().zip(&counts).filter(|(value, n)| **n > 0 && !unknown(value));
    let is_date = |value: &str| {
        let day = value.as_bytes();
        day.len() == 10
            && day.iter().enumerate().all(|(i, b)| if i == 4 || i == 7 { *b == b'-' } else { b.is_ascii_digit() })
    };
    if column.kind != ValueType::Date || held().count() <= PERIODS || !held().all(|(value, _)| is_date(value)) {
        return None;
    }
    let periods = |digits: usize, rest: &str| {
        let mut rows: BTreeMap<String, u64> = BTreeMap::new();
        held().for_each(|(value, &n)| *rows.entry(format!("{}{rest}", &value[..digits])).or_default() += n);
        rows
    };
    let found = [(7, ""), (4, ""), (3, "0s"), (2, "00s")].map(|(digits, rest)| periods(digits, rest));
    let shortest = found.into_iter().find(|rows| rows.len() <= PERIODS)?;
    Some(shortest.into_iter().map(|(label, after)| Bar { label, before: None, after }).collect())
}

/// The first rows of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstRows {
    /// The names of its columns.
    pub header: Vec<String>,
    /// Its first rows, cell by cell.
    pub rows: Vec<Vec<String>>,
}

/// Reads the first rows of a table, as a policy states; where none does, that is guessed.
///
/// # Errors
/// Whatever is wrong with the input.
pub fn first_rows(input: &str, stated: Option<&Data>, most: u64) -> Result<FirstRows, Failure> {
    Ok(shown(&first_of(input, stated, most)?))
}

fn shown(table: &Table) -> FirstRows {
    let rows = (0..table.rows).map(|row| table.columns.iter().map(|c| c.value(row).to_string()).collect());
    FirstRows { rows: rows.collect(), header: table.columns.iter().map(|c| c.name.clone()).collect() }
}

/// The first rows of a release, whatever its format.
///
/// # Errors
/// When the release cannot be read back.
pub fn released_rows(release: &Release, most: u64) -> Result<FirstRows, Failure> {
    let options = ReadOptions { max_rows: Some(most), threads: 1, ..ReadOptions::default() };
    Ok(shown(&read_back(release, &options)?))
}

fn read_back(release: &Release, options: &ReadOptions<'_>) -> Result<Table, Failure> {
    let name = Path::new(&release.name);
    let format = Format::of_path(name).map_err(|e| Failure::Usage(e.to_string()))?;
    Ok(amidst_io::read_from(release.table(), name, format, options).map_err(PrepareError::from)?.table)
}

/// The levels of a hierarchy, from the values to the top.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    /// The column.
    pub column: String,
    /// The nodes of each level; level 0 is the values.
    pub levels: Vec<Vec<TreeNode>>,
}

/// A node of a hierarchy with what falls into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeNode {
    /// What a release would print.
    pub label: String,
    /// The rows of the table that fall into it.
    pub rows: u64,
    /// The values of the table that fall into it.
    pub values: u64,
    /// Its parent among the nodes of the next level; 0 at the top.
    pub parent: usize,
}

/// The hierarchy of every quasi column, with the rows that fall into each node.
pub fn trees(prepared: &Prepared) -> Vec<Tree> {
    prepared.generalizations.par_iter().zip(&prepared.quasi).map(|(g, &column)| tree(prepared, g, column)).collect()
}

fn tree(prepared: &Prepared, generalization: &Generalization, column: usize) -> Tree {
    let counts = prepared.counts(column);
    let level = |level: &amidst_core::hierarchy::GeneralizedLevel| {
        let mut rows = vec![0u64; level.labels.len()];
        for (&node, &count) in level.of.iter().zip(&counts) {
            rows[node as usize] += count;
        }
        let node = |(i, label): (usize, &String)| TreeNode {
            label: label.clone(),
            rows: rows[i],
            values: level.active[i],
            parent: level.up.get(i).map_or(0, |&parent| parent as usize),
        };
        level.labels.iter().enumerate().map(node).collect()
    };
    Tree { column: generalization.name.clone(), levels: generalization.levels.iter().map(level).collect() }
}

/// How much two columns say about each other, before and after: Cramér's V with Bergsma's correction, from 0 to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Association {
    /// The two columns.
    pub columns: (String, String),
    /// In the original table.
    pub before: f64,
    /// In the release.
    pub after: f64,
}

/// How much each two published columns say about each other, what an analyst of either would see. Those that lost most
/// come first.
///
/// # Errors
/// When the release cannot be read back.
pub fn associations(prepared: &Prepared, release: &Release) -> Result<Vec<Association>, Failure> {
    let after = read_back(release, &ReadOptions::default())?;
    let shared: Vec<(&Column, &Column)> = (after.columns.iter())
        .filter_map(|column| Some((prepared.table.column(&column.name)?, column)))
        .take(MOST_PAIRED)
        .collect();
    let pairs: Vec<(usize, usize)> =
        (0..shared.len()).flat_map(|i| (i + 1..shared.len()).map(move |j| (i, j))).collect();
    let mut found: Vec<Association> = pairs
        .into_par_iter()
        .map(|(i, j)| Association {
            columns: (shared[i].0.name.clone(), shared[j].0.name.clone()),
            before: cramers_v(shared[i].0, shared[j].0),
            after: cramers_v(shared[i].1, shared[j].1),
        })
        .collect();
    found.sort_by(|a, b| (b.before - b.after).total_cmp(&(a.before - a.after)).then_with(|| a.columns.cmp(&b.columns)));
    Ok(found)
}

/// Columns that are paired at most.
const MOST_PAIRED: usize = 20;

/// Cramér's V of two columns of one table, with the bias correction of Bergsma 2013.
fn cramers_v(a: &Column, b: &Column) -> f64 {
    let n = a.codes.len() as f64;
    let mut cells: FxHashMap<(u32, u32), u64> = FxHashMap::default();
    let mut second = Vec::with_capacity(b.codes.len());
    b.codes.for_each(|code| second.push(code));
    let mut row = 0;
    a.codes.for_each(|code| {
        *cells.entry((code, second[row])).or_default() += 1;
        row += 1;
    });
    let (rows, columns) = (a.counts(), b.counts());
    let kinds = |counts: &[u64]| counts.iter().filter(|&&n| n > 0).count() as f64;
    let (r, c) = (kinds(&rows), kinds(&columns));
    if n < 2.0 || r < 2.0 || c < 2.0 {
        return 0.0;
    }
    let share = |(&(i, j), &n): (&(u32, u32), &u64)| {
        (n as f64).powi(2) / (rows[i as usize] as f64 * columns[j as usize] as f64)
    };
    let mut shares: Vec<f64> = cells.iter().map(share).collect();
    // Sums of floating-point numbers depend on their order, and that of a map on nothing.
    shares.sort_by(f64::total_cmp);
    let phi = (shares.iter().sum::<f64>() - 1.0 - (r - 1.0) * (c - 1.0) / (n - 1.0)).max(0.0);
    let corrected = |k: f64| k - (k - 1.0).powi(2) / (n - 1.0);
    let least = (corrected(r) - 1.0).min(corrected(c) - 1.0);
    if least <= 0.0 { 0.0 } else { (phi / least).sqrt().min(1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{intervals, k_anonymity};
    use crate::prepare::LoadOptions;

    const REQUIRED: &str = "[[require]]\nmodel = \"k-anonymity\"\nk = 2\n";

    fn written(text: &str) -> (tempfile::TempDir, String) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("t.csv");
        std::fs::write(&file, text).unwrap();
        (folder, file.to_str().unwrap().to_string())
    }

    #[test]
    fn columns_are_counted_without_unknown_cells() {
        let rows: String = (0..60).map(|i| format!("p{i:03},{},{}\n", i % 7, ["f", "m", "?"][i % 3])).collect();
        let (folder, file) = written(&format!("name,ward,sex\n{rows}"));
        let overview = Overview::of(&file, None, &Job::default()).unwrap();
        assert_eq!(overview.rows, 60);
        let figures: Vec<_> = overview.columns.iter().map(|c| c.counted.clone().unwrap()).collect();
        assert_eq!((figures[0].distinct, figures[0].uniques, figures[0].histogram.len()), (60, 60, 0));
        assert_eq!((figures[2].distinct, figures[2].missing, figures[2].uniques), (2, 20, 0));
        assert_eq!(figures[1].histogram.iter().map(|b| b.after).sum::<u64>(), 60);
        let draft = crate::init::draft(&file, Some(folder.path())).unwrap();
        assert_eq!(overview.draft(folder.path()), draft, "a draft is that of `amidst init`");
        assert!(overview.suggestion("ward").is_some_and(|recipe| recipe.starts_with('{')));
        let first = first_rows(&file, None, 2).unwrap();
        assert_eq!((first.header, first.rows.len()), (["name", "ward", "sex"].map(String::from).to_vec(), 2));
    }

    #[test]
    fn many_dates_are_drawn_by_the_period_that_makes_few_bars() {
        let bars = |dates: &[String]| {
            let mut column = Column::from_values("d", dates.iter().map(String::as_str));
            column.kind = ValueType::Date;
            by_period(&column, |value| value == "?")
                .map(|bars| bars.into_iter().map(|b| (b.label, b.after)).collect::<Vec<_>>())
        };
        let dates = |years: std::ops::Range<u32>| -> Vec<String> {
            years.flat_map(|year| (1..=12).map(move |month| format!("{year}-{month:02}-15"))).collect()
        };
        let by_year = bars(&dates(1990..1993)).unwrap();
        assert_eq!(by_year, ["1990", "1991", "1992"].map(|year| (year.to_string(), 12)));
        let by_decade = bars(&[dates(1940..2006), vec!["?".to_string()]].concat()).unwrap();
        assert_eq!((by_decade[0].clone(), by_decade.len()), (("1940s".to_string(), 120), 7));
        assert_eq!(bars(&dates(1990..1991)), None, "a dozen dates are a dozen bars");
        assert_eq!(bars(&[dates(1990..1993), vec!["3/4/1990".to_string()]].concat()), None);
    }

    #[test]
    fn a_table_is_read_as_its_policy_says() {
        let rows: String = (0..60).map(|i| format!("{},{};x{}\n", i % 7, i % 3, i % 5)).collect();
        let (_folder, file) = written(&format!("a;b\n{rows}"));
        let policy = |data: &str| {
            Policy::parse(&format!("[data]\n{data}\n[columns.b]\nrole = \"quasi\"\n{REQUIRED}"), Path::new("p.toml"))
        };
        let header = |data: Option<&Data>| first_rows(&file, data, 3).unwrap();
        let guessed = header(None);
        assert_eq!((guessed.header.len(), guessed.rows[1][0].as_str()), (2, "1,1"), "{guessed:?}");
        let comma = policy("separator = \",\"").unwrap_or_else(|errors| panic!("{errors}"));
        assert!(first_rows(&file, Some(&comma.data), 3).is_err(), "what is stated is not guessed");
        let stated = policy("decimal = \",\"\nmissing = [\"x0\"]").unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!(header(Some(&stated.data)).rows[1][0], "1.1");
        let overview = Overview::of(&file, Some(&stated.data), &Job::default()).unwrap();
        let figures: Vec<_> = overview.columns.iter().map(|c| c.counted.clone().unwrap()).collect();
        assert_eq!((figures[0].kind, figures[1].missing), (ValueType::Decimal, 12));
    }

    #[test]
    fn a_table_in_an_old_encoding_is_shown() {
        let (_folder, file) = written("");
        let rows = b"M\xfcller;81,6\n".repeat(20);
        std::fs::write(&file, [b"Name;Gr\xf6\xdfe\n".to_vec(), rows].concat()).unwrap();
        let first = first_rows(&file, None, 2).unwrap();
        assert_eq!((first.header[1].as_str(), first.rows[0][0].as_str()), ("Größe", "Müller"));
    }

    #[test]
    fn values_that_a_hierarchy_lacks_are_counted() {
        let (_folder, file) = written("ward,sex\nnorth,f\nsouth,m\neast,f\neast,m\n?,f\n");
        let overview = Overview::of(&file, None, &Job::default()).unwrap();
        let text = |recipe: &str| {
            format!("[data]\nmissing = [\"?\"]\n[columns.ward]\nrole = \"quasi\"\nhierarchy = {recipe}\n{REQUIRED}")
        };
        let policy = |recipe: &str| Policy::parse(&text(recipe), Path::new("p.toml")).unwrap();
        let short = policy("{ taxonomy = { Any = { A = [\"north\", \"south\"] } } }");
        assert_eq!(overview.lacking(&short, "ward"), [("east".to_string(), 2)]);
        assert!(overview.lacking(&policy("{ suppress = true }"), "ward").is_empty());
        assert!(overview.lacking(&policy("{ file = \"absent.csv\" }"), "ward").is_empty());
        assert!(overview.lacking(&short, "sex").is_empty());
    }

    #[test]
    fn association_is_nothing_for_chance_and_one_for_copies() {
        let values: Vec<String> = (0..400).map(|i| (i % 4).to_string()).collect();
        let other: Vec<String> = (0..400).map(|i| (i / 4 % 5).to_string()).collect();
        let column = |name: &str, values: &[String]| Column::from_values(name, values.iter().map(String::as_str));
        let (a, b) = (column("a", &values), column("b", &other));
        assert!(cramers_v(&a, &b) < 1e-9, "independent by construction");
        assert!((cramers_v(&a, &column("c", &values)) - 1.0).abs() < 0.02);
        assert_eq!(cramers_v(&a, &column("d", &vec!["x".to_string(); 400])), 0.0);
        let table = amidst_core::table::Table { columns: vec![a, b], rows: 400 };
        let policy =
            Policy::builder().quasi("a", intervals([2])).sensitive("b").require(k_anonymity(2)).build().unwrap();
        let prepared = Prepared::of_table(&policy, table.clone(), &LoadOptions::default()).unwrap();
        let release = crate::anonymize::anonymize_table(&policy, table, &Job::default()).unwrap();
        let found = associations(&prepared, &release).unwrap();
        assert_eq!((found.len(), found[0].columns.0.as_str()), (1, "a"));
    }

    #[test]
    fn every_level_of_a_tree_holds_all_rows() {
        let (_folder, file) = written("age\n21\n22\n22\n35\n47\n");
        let policy = Policy::builder().quasi("age", intervals([10, 20])).require(k_anonymity(2)).build().unwrap();
        let load = LoadOptions { input: Some(file), ..LoadOptions::default() };
        let prepared = Prepared::load(&policy, &load).unwrap();
        let tree = &trees(&prepared)[0];
        for level in &tree.levels {
            assert_eq!(level.iter().map(|node| node.rows).sum::<u64>(), 5);
        }
        for (below, above) in tree.levels.iter().zip(&tree.levels[1..]) {
            let mut rows = vec![0; above.len()];
            below.iter().for_each(|node| rows[node.parent] += node.rows);
            assert_eq!(rows, above.iter().map(|node| node.rows).collect::<Vec<_>>());
        }
        assert_eq!(tree.levels.last().map(Vec::len), Some(1));
    }
}
