//! What numbers say before and after: means, quartiles and correlations at the level of the original values.
//!
//! The rows of a class are taken to be spread evenly over the values that a cell covers, as counts on the release are
//! answered (`query_error`). Quartiles lie between values where the shares do. For the owner of a table alone: the
//! figures before follow from the input.

use amidst_core::hierarchy::{Cell, Generalization};
use amidst_core::metric::cell_loss;
use amidst_core::recoding::{Part, Recoding};
use amidst_core::table::{ValueType, number};
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::prepare::Prepared;

/// With more columns of numbers there would be too many pairs to read.
const MOST_COLUMNS: usize = 8;

/// Values times cells up to which columns are looked at.
const MOST_WORK: usize = 50_000_000;

/// What a release keeps of each column, and of the numbers in them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fidelity {
    /// What the cells of each quasi column lose on average, from 0 (nothing) to 1 (everything); a suppressed row loses
    /// all.
    pub loss: Vec<ColumnLoss>,
    /// The columns of numbers.
    pub numbers: Vec<Numbers>,
    /// Pairs of them.
    pub correlations: Vec<Correlation>,
}

/// What one column loses.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnLoss {
    /// The column.
    pub column: String,
    /// The mean loss of its cells.
    pub loss: f64,
}

/// A column of numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Numbers {
    /// The column.
    pub column: String,
    /// In the input.
    pub before: Moments,
    /// In the release.
    pub after: Moments,
}

/// Mean and quartiles.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Moments {
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub deviation: f64,
    /// A quarter of the rows lies below it.
    pub lower_quartile: f64,
    /// Half of the rows does.
    pub median: f64,
    /// Three quarters do.
    pub upper_quartile: f64,
}

/// Pearson's correlation of two columns.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Correlation {
    /// The columns.
    pub columns: [String; 2],
    /// In the input; none where a column has one value.
    pub before: Option<f64>,
    /// In the release.
    pub after: Option<f64>,
}

/// Where the numbers of a column are.
enum Source {
    /// A quasi column: the value of each code, and the mean of what each class's cell covers.
    Quasi(usize, Vec<Option<f64>>, Vec<Option<f64>>),
    /// A sensitive column: the value of each code.
    Sensitive(usize, Vec<Option<f64>>),
}

/// What a recoding keeps of the prepared table.
pub fn fidelity(prepared: &Prepared, recoding: &Recoding) -> Fidelity {
    let sources = sources(prepared, recoding);
    let mut numbers = Vec::new();
    for (name, source) in &sources {
        let (before, after) = spread(prepared, recoding, source);
        if let (Some(before), Some(after)) = (moments(before), moments(after)) {
            numbers.push(Numbers { column: name.clone(), before, after });
        }
    }
    let mut correlations = Vec::new();
    for (i, (a, first)) in sources.iter().enumerate() {
        for (b, second) in &sources[i + 1..] {
            let (mut before, mut after) = (Pairs::default(), Pairs::default());
            recoding.for_each_part(&prepared.set, |part| {
                let rows = part.entry.rows as f64;
                before.add(first.original(prepared, &part), second.original(prepared, &part), rows);
                if part.class.is_some() {
                    after.add(first.published(prepared, &part), second.published(prepared, &part), rows);
                }
            });
            correlations.push(Correlation {
                columns: [a.clone(), b.clone()],
                before: before.correlation(),
                after: after.correlation(),
            });
        }
    }
    Fidelity { loss: losses(prepared, recoding), numbers, correlations }
}

/// The mean loss of each quasi column.
fn losses(prepared: &Prepared, recoding: &Recoding) -> Vec<ColumnLoss> {
    let of_class = |(c, g): (usize, &Generalization)| -> Vec<f64> {
        recoding.classes.iter().map(|cells| cell_loss(g, &cells[c])).collect()
    };
    let prices: Vec<Vec<f64>> = prepared.generalizations.iter().enumerate().map(of_class).collect();
    let mut sums = vec![0.0; prices.len()];
    let mut rows = 0.0;
    recoding.for_each_part(&prepared.set, |part| {
        let count = part.entry.rows as f64;
        rows += count;
        for (sum, prices) in sums.iter_mut().zip(&prices) {
            *sum += count * part.class.and_then(|class| prices.get(class.index())).copied().unwrap_or(1.0);
        }
    });
    let named = prepared.generalizations.iter().zip(sums);
    named
        .map(|(g, sum)| ColumnLoss { column: g.name.clone(), loss: if rows > 0.0 { sum / rows } else { 0.0 } })
        .collect()
}

/// The columns of numbers, quasi ones first.
fn sources(prepared: &Prepared, recoding: &Recoding) -> Vec<(String, Source)> {
    let is_number = |kind: ValueType| matches!(kind, ValueType::Integer | ValueType::Decimal);
    let value = |text: &str| number(text).and_then(|n| n.to_string().parse::<f64>().ok());
    let mut all = Vec::new();
    for (q, (&position, g)) in prepared.quasi.iter().zip(&prepared.generalizations).enumerate() {
        let column = &prepared.table.columns[position];
        if is_number(column.kind) && recoding.classes.len().saturating_mul(g.active()) <= MOST_WORK {
            let values: Vec<Option<f64>> = column.dictionary.iter().map(value).collect();
            let mut known: FxHashMap<&Cell, Option<f64>> = FxHashMap::default();
            let mean = |cell| {
                let covered: Vec<f64> = covered(g, cell).filter_map(|code| values[code as usize]).collect();
                (!covered.is_empty()).then(|| covered.iter().sum::<f64>() / covered.len() as f64)
            };
            let of_class = recoding.classes.iter().map(|cells| *known.entry(&cells[q]).or_insert_with_key(|c| mean(c)));
            let means = of_class.collect();
            all.push((column.name.clone(), Source::Quasi(q, values, means)));
        }
    }
    for (s, (&position, domain)) in prepared.sensitive.iter().zip(&prepared.domains).enumerate() {
        if is_number(prepared.table.columns[position].kind) {
            let values = domain.dictionary.iter().map(value).collect();
            all.push((domain.name.clone(), Source::Sensitive(s, values)));
        }
    }
    all.truncate(MOST_COLUMNS);
    all
}

/// The codes that a cell covers.
fn covered<'a>(g: &'a Generalization, cell: &'a Cell) -> impl Iterator<Item = u32> + 'a {
    (0..g.active() as u32).filter(move |&code| g.covers(cell, code))
}

impl Source {
    fn original(&self, prepared: &Prepared, part: &Part) -> Option<f64> {
        match self {
            Source::Quasi(q, values, _) => values[prepared.set.tuple(part.tuple.index())[*q] as usize],
            Source::Sensitive(s, values) => values[prepared.set.sensitive_code(part.entry.sensitive, *s) as usize],
        }
    }

    fn published(&self, prepared: &Prepared, part: &Part) -> Option<f64> {
        match self {
            Source::Quasi(_, _, means) => part.class.and_then(|class| means[class.index()]),
            Source::Sensitive(..) => self.original(prepared, part),
        }
    }
}

/// The rows of each value, before and after.
type Spread = Vec<(f64, f64)>;

fn spread(prepared: &Prepared, recoding: &Recoding, source: &Source) -> (Spread, Spread) {
    let (values, quasi) = match source {
        Source::Quasi(q, values, _) => (values, Some(*q)),
        Source::Sensitive(_, values) => (values, None),
    };
    let (mut before, mut after) = (vec![0.0; values.len()], vec![0.0; values.len()]);
    let mut of_cell: FxHashMap<&Cell, f64> = FxHashMap::default();
    recoding.for_each_part(&prepared.set, |part| {
        let rows = part.entry.rows as f64;
        let code = match source {
            Source::Quasi(q, ..) => prepared.set.tuple(part.tuple.index())[*q],
            Source::Sensitive(s, _) => prepared.set.sensitive_code(part.entry.sensitive, *s),
        };
        before[code as usize] += rows;
        match (quasi, part.class.and_then(|class| recoding.classes.get(class.index()))) {
            (Some(q), Some(cells)) => *of_cell.entry(&cells[q]).or_default() += rows,
            (None, Some(_)) => after[code as usize] += rows,
            (_, None) => {}
        }
    });
    if let Some(q) = quasi {
        let g = &prepared.generalizations[q];
        for (cell, rows) in of_cell {
            let codes: Vec<u32> = covered(g, cell).filter(|&code| values[code as usize].is_some()).collect();
            codes.iter().for_each(|&code| after[code as usize] += rows / codes.len() as f64);
        }
    }
    let with_values = |rows: Vec<f64>| -> Spread {
        values.iter().zip(rows).filter_map(|(value, rows)| value.filter(|_| rows > 0.0).map(|v| (v, rows))).collect()
    };
    (with_values(before), with_values(after))
}

/// Mean, deviation and quartiles of weighted values; none without any.
fn moments(mut spread: Spread) -> Option<Moments> {
    spread.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = spread.iter().map(|s| s.1).sum();
    if total <= 0.0 {
        return None;
    }
    let mean = spread.iter().map(|(v, n)| v * n).sum::<f64>() / total;
    let variance = spread.iter().map(|(v, n)| n * (v - mean) * (v - mean)).sum::<f64>() / total;
    let quartile = |share: f64| {
        let mut below = 0.0;
        let mut last = spread[0].0;
        for &(value, rows) in &spread {
            below += rows;
            last = value;
            if below >= share * total - 1e-9 * total {
                break;
            }
        }
        last
    };
    Some(Moments {
        mean,
        deviation: variance.max(0.0).sqrt(),
        lower_quartile: quartile(0.25),
        median: quartile(0.5),
        upper_quartile: quartile(0.75),
    })
}

/// Sums over pairs of numbers.
#[derive(Default)]
struct Pairs {
    rows: f64,
    sums: [f64; 2],
    squares: [f64; 2],
    product: f64,
    /// The first pair, which is taken off all others so that no digits are lost.
    origin: Option<[f64; 2]>,
}

impl Pairs {
    fn add(&mut self, a: Option<f64>, b: Option<f64>, rows: f64) {
        let (Some(a), Some(b)) = (a, b) else { return };
        let origin = *self.origin.get_or_insert([a, b]);
        let (a, b) = (a - origin[0], b - origin[1]);
        self.rows += rows;
        self.sums[0] += rows * a;
        self.sums[1] += rows * b;
        self.squares[0] += rows * a * a;
        self.squares[1] += rows * b * b;
        self.product += rows * a * b;
    }

    fn correlation(&self) -> Option<f64> {
        if self.rows <= 0.0 {
            return None;
        }
        let variance = |i: usize| self.squares[i] / self.rows - (self.sums[i] / self.rows).powi(2);
        let covariance = self.product / self.rows - self.sums[0] * self.sums[1] / (self.rows * self.rows);
        let scale = (variance(0) * variance(1)).sqrt();
        (scale > 1e-12).then(|| (covariance / scale).clamp(-1.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_and_moments_are_those_of_the_rows() {
        let of = |values: &[(f64, f64)]| moments(values.to_vec()).unwrap();
        let found = of(&[(4.0, 1.0), (1.0, 1.0), (3.0, 1.0), (2.0, 1.0)]);
        assert_eq!((found.mean, found.lower_quartile, found.median, found.upper_quartile), (2.5, 1.0, 2.0, 3.0));
        assert!((found.deviation - 1.25f64.sqrt()).abs() < 1e-12);
        assert_eq!(of(&[(7.0, 5.0)]).deviation, 0.0);
        assert_eq!(moments(Vec::new()), None);
    }

    #[test]
    fn correlations_are_one_on_a_line_and_none_without_spread() {
        let mut pairs = Pairs::default();
        (0..10).for_each(|i| pairs.add(Some(1e6 + f64::from(i)), Some(-2.0 * f64::from(i)), 1.0));
        assert!((pairs.correlation().unwrap() + 1.0).abs() < 1e-9);
        let mut flat = Pairs::default();
        (0..5).for_each(|i| flat.add(Some(3.0), Some(f64::from(i)), 1.0));
        assert_eq!(flat.correlation(), None);
    }
}
