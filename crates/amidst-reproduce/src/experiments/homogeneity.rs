//! The homogeneity attack on all minimal k-anonymous tables: Figures 9 to 12 of the article.

use amidst::Failure;
use amidst::core::internal::lattice::{self, Homogeneity};
use amidst::core::parameter::Parameters;

use crate::experiment::{Chart, Context, Sheet};
use crate::trial::Trial;

/// The values of k in the figures.
pub const KS: [u64; 7] = [2, 5, 10, 15, 20, 30, 50];

/// A row of a figure.
#[derive(Debug, Clone, Copy)]
pub struct Line {
    /// k.
    pub k: u64,
    /// Number of minimal k-anonymous tables.
    pub tables: usize,
    /// Number of tables with homogeneous groups, mean number of such groups, mean number of their rows.
    pub exact: (usize, f64, f64),
    /// The same for groups in which 95 % of the rows agree.
    pub nearly: (usize, f64, f64),
}

/// The rows for every k.
pub fn lines(trial: &Trial, context: &Context<'_>) -> Result<Vec<Line>, Failure> {
    let mut lines = Vec::new();
    for (done, k) in KS.into_iter().enumerate() {
        context.step(done, KS.len())?;
        let requirements = [trial.require("k-anonymity", &[("k", &k.to_string())])?];
        let options = Parameters::default();
        let search = trial.search(&requirements, "height", &options, context.cancel);
        let minimal = lattice::minimal(&search)?;
        let mut found = Vec::new();
        for node in &minimal {
            if let Some(recoding) = lattice::recoding(&search, &node.levels)? {
                found.push(Homogeneity::of(&trial.set, &recoding.groups(&trial.set).0, 0));
            }
        }
        let tables = minimal.len();
        let over = |figures: &dyn Fn(&Homogeneity) -> (u64, u64)| {
            let affected = found.iter().filter(|h| figures(h).0 > 0).count();
            let mean = |sum: u64| sum as f64 / tables.max(1) as f64;
            (affected, mean(found.iter().map(|h| figures(h).0).sum()), mean(found.iter().map(|h| figures(h).1).sum()))
        };
        let (exact, nearly) = (over(&|h| (h.classes, h.rows)), over(&|h| (h.classes_95, h.rows_95)));
        lines.push(Line { k, tables, exact, nearly });
    }
    Ok(lines)
}

/// The rows as a table and as two charts.
pub fn shown(lines: &[Line]) -> (Sheet, Vec<Chart>) {
    let mut table = Sheet::new([
        "k",
        "minimal tables",
        "affected",
        "mean groups affected",
        "mean rows affected",
        "affected at 95 %",
        "mean groups at 95 %",
        "mean rows at 95 %",
    ]);
    for line in lines {
        let mut row = vec![line.k.to_string(), line.tables.to_string()];
        for (affected, groups, rows) in [line.exact, line.nearly] {
            row.extend([affected.to_string(), format!("{groups:.2}"), format!("{rows:.2}")]);
        }
        table.push(row);
    }
    let ks = || lines.iter().map(|l| l.k);
    let mut groups = Chart::new("Groups affected in a minimal table", "k", "mean groups", ks());
    groups.add("all rows agree", lines.iter().map(|l| Some(l.exact.1)).collect());
    groups.add("95 % of the rows agree", lines.iter().map(|l| Some(l.nearly.1)).collect());
    let mut rows = Chart::new("Rows affected in a minimal table", "k", "mean rows", ks());
    rows.add("all rows agree", lines.iter().map(|l| Some(l.exact.2)).collect());
    rows.add("95 % of the rows agree", lines.iter().map(|l| Some(l.nearly.2)).collect());
    (table, vec![groups, rows])
}
