//! The Adult table as the benches of local recoding look at it: the first 30,162 rows without unknowns, seven quasi
//! columns, each ordered (text by its path in the hierarchy, top label first) and generalized to ranges of ranks, and
//! occupation.

#![allow(dead_code)] // Each bench uses what it needs.

use std::path::{Path, PathBuf};

use amidst_core::hierarchy::{Cell, Generalization, Generalize};
use amidst_core::metric::{self, CellCosts, Input, Metric, Release};
use amidst_core::model;
use amidst_core::parameter::{Parameters, Value};
use amidst_core::requirement::Requirement;
use amidst_core::requirement::SensitiveDomain;
use amidst_core::table::{Column, Table, ValueType};

pub const ROWS: usize = 30_162;
pub const QUASI: [&str; 7] = ["age", "workclass", "education", "marital-status", "race", "sex", "native-country"];

/// The loss of the figures: mean over rows and columns of (highest − lowest rank)/(ranks − 1).
#[derive(Debug)]
pub struct RankLoss;

impl Metric for RankLoss {
    fn cells<'a>(&self, input: &Input<'a>) -> Option<CellCosts<'a>> {
        let cell = Box::new(|_: usize, g: &Generalization, cell: &Cell| match cell {
            Cell::Range { low, high } => f64::from(high - low) / (g.active().max(2) - 1) as f64,
            _ => 1.0,
        });
        let suppressed = input.generalizations.len() as f64;
        Some(CellCosts { cell, suppressed, offset: 0.0, scale: 1.0 / (suppressed * input.set.rows as f64) })
    }

    fn loss(&self, release: &Release<'_>) -> Option<f64> {
        let mut total = 0.0;
        release.recoding.for_each_part(release.set, |part| {
            if let Some(class) = part.class {
                let cells = release.recoding.classes[class.index()].iter().zip(&release.set.domains);
                let cost: f64 = cells
                    .map(|(cell, &n)| match cell {
                        Cell::Range { low, high } => f64::from(high - low) / (n - 1) as f64,
                        _ => 1.0,
                    })
                    .sum();
                total += cost * part.entry.rows as f64;
            }
        });
        Some(total / (release.set.rows * release.set.width as u64) as f64)
    }
}

pub static METRIC: metric::Entry =
    metric::Entry { id: "rank-loss", title: "", definition: "", citation: "", metric: &RankLoss };

pub fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/adult")
}

/// The columns of the Adult table, the sensitive one last.
pub fn adult(rows: usize) -> Option<Table> {
    let text = std::fs::read_to_string(data().join("adult.csv")).ok()?;
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next()?.split(',').collect();
    let names: Vec<&str> = QUASI.iter().copied().chain(["occupation"]).collect();
    let at: Vec<usize> = names.iter().map(|n| header.iter().position(|h| h == n)).collect::<Option<_>>()?;
    let mut columns: Vec<Column> = names.iter().map(|n| Column::new(*n)).collect();
    for line in lines.filter(|l| !l.split(',').any(|v| v.trim() == "?")).take(rows) {
        let cells: Vec<&str> = line.split(',').collect();
        columns.iter_mut().zip(&at).for_each(|(column, &a)| column.push(cells[a]));
    }
    for column in &mut columns {
        let mut order = Vec::new();
        if column.name == "age" {
            column.kind = ValueType::Integer;
        } else if let Ok(text) = std::fs::read_to_string(data().join(format!("hierarchies_arx/{}.csv", column.name))) {
            let mut paths: Vec<Vec<&str>> = text.lines().map(|l| l.split(';').rev().collect()).collect();
            paths.sort();
            order = paths.iter().filter_map(|p| p.last().map(|v| v.to_string())).collect();
        }
        column.sort(&order);
    }
    Some(Table { rows: columns[0].codes.len(), columns })
}

pub fn generalizations(table: &Table) -> Vec<Generalization> {
    (table.columns[..table.columns.len() - 1].iter())
        .map(|column| {
            let mut g = Generalization::bind(column, None).expect("without a hierarchy nothing is lacking");
            g.generalize = Generalize::Ranges;
            g.numeric = false;
            g.coordinates = (0..g.active()).map(|c| c as f64).collect();
            g
        })
        .collect()
}

pub fn requirement(table: &Table, id: &str, parameters: &[(&str, &str)]) -> Option<Requirement> {
    let mut all = Parameters::default();
    parameters.iter().for_each(|(key, value)| all.set(key, Value::Text(value.to_string())));
    stated(table, id, all)
}

pub fn stated(table: &Table, id: &str, stated: Parameters) -> Option<Requirement> {
    let entry = model::find(id)?;
    let column = table.columns.last()?;
    let domain = SensitiveDomain { dictionary: column.dictionary.clone(), ..SensitiveDomain::default() };
    let on = if entry.sensitive == model::Sensitive::None { vec![] } else { vec![0] };
    match Requirement::new(entry, stated, on, &[domain]) {
        Ok(requirement) => Some(requirement),
        Err(error) => panic!("{id}: {error}"),
    }
}

/// The seconds of processor time that this process has used, where the system tells.
pub fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // After the name in brackets; user and system time are the 14th and 15th field, in hundredths.
    let fields: Vec<&str> = stat.rsplit_once(')').map_or("", |s| s.1).split_whitespace().collect();
    fields.iter().skip(11).take(2).filter_map(|f| f.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// The same for the thread that asks.
pub fn thread_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit_once(')').map_or("", |s| s.1).split_whitespace().collect();
    fields.iter().skip(11).take(2).filter_map(|f| f.parse::<f64>().ok()).sum::<f64>() / 100.0
}
