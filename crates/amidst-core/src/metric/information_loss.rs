//! Information loss, IL.
//!
//! **Definition.** Σ over classes of n · (Σ over numeric columns (max − min)/(range of the column) + Σ over categorical
//! columns (height of the lowest common ancestor)/(height of the hierarchy)). It is measured on the *published cell*:
//!
//! | cell | cost |
//! | --- | --- |
//! | any cell of a column with one value in the table | 0 |
//! | node of a numeric column | (highest − lowest coordinate of the table's values it covers)/(range of coordinates) |
//! | node of another column | level/height; 1 where it is called like the top, of whichever level it is |
//! | range | (highest − lowest coordinate)/(range of coordinates); text with an order: on ranks |
//! | set | (values in the set − 1)/(values in the table − 1) |
//!
//! Column weights multiply. They are normalized to an average of 1, so that equal weights change nothing. A suppressed
//! row counts 1 in every column.
//!
//! **Source.** Byun, Kamra, Bertino & Li 2007, "Efficient k-anonymization using clustering techniques"; systematic
//! clustering paper Equation (1); update paper Definition 4, in which the factor |cl| multiplies both sums.

use super::full_domain::{Additive, sum_cells};
use super::{CellCosts, CellLoss, Entry, Input, Metric, NodeCost, Release};
use crate::hierarchy::{Cell, Generalization};

pub(super) const ENTRY: Entry = Entry {
    id: "information-loss",
    title: "information loss (IL)",
    definition: "Σ over classes of n · (Σ numeric (max − min)/(range of the column) + Σ categorical (height of the \
                 lowest common ancestor)/(height of the hierarchy)), columns weighted; a suppressed row counts 1 in \
                 every column",
    citation: "Byun, Kamra, Bertino & Li 2007; systematic clustering paper Equation (1); update paper Definition 4",
    metric: &InformationLoss,
};

#[derive(Debug)]
struct InformationLoss;

impl Metric for InformationLoss {
    fn loss(&self, release: &Release<'_>) -> Option<f64> {
        if release.set.rows == 0 {
            return None;
        }
        let weights = column_weights(release.generalizations);
        let row: f64 = weights.iter().sum();
        Some(sum_cells(release, losses(release.generalizations, weights), row))
    }

    fn cell_loss(&self) -> Option<CellLoss> {
        Some(cell_loss)
    }

    fn weighted(&self) -> bool {
        true
    }

    fn nodes<'a>(&self, input: &Input<'a>) -> Option<Box<dyn NodeCost + 'a>> {
        Some(Box::new(additive(input, 1.0)?))
    }

    fn cells<'a>(&self, input: &Input<'a>) -> Option<CellCosts<'a>> {
        let weights = column_weights(input.generalizations);
        let suppressed = weights.iter().sum();
        let cell = Box::new(losses(input.generalizations, weights));
        Some(CellCosts { cell, suppressed, offset: 0.0, scale: 1.0 })
    }
}

/// The information loss of nodes, times `scale`.
pub(super) fn additive<'a>(input: &Input<'a>, scale: f64) -> Option<Additive<'a>> {
    let weights = column_weights(input.generalizations);
    let row: f64 = weights.iter().sum();
    Additive::new(input, |column, g, cell| weights[column] * cell_loss(g, cell), row, 0.0, scale)
}

/// The weight of each column, normalized to an average of 1. Without a positive weight all count the same.
pub fn column_weights(generalizations: &[Generalization]) -> Vec<f64> {
    let total: f64 = generalizations.iter().map(|g| g.weight).sum();
    if total > 0.0 && total.is_finite() {
        let scale = generalizations.len() as f64 / total;
        generalizations.iter().map(|g| g.weight * scale).collect()
    } else {
        vec![1.0; generalizations.len()]
    }
}

/// What one row loses in one column, from 0 (the value itself) to 1, before weighting.
pub fn cell_loss(g: &Generalization, cell: &Cell) -> f64 {
    if g.active() <= 1 {
        return 0.0;
    }
    match cell {
        Cell::Node { level, value } if g.numeric => {
            let (low, high) = g.levels[*level as usize].extent[*value as usize];
            share(high - low, whole(g))
        }
        Cell::Node { level, value } => share(f64::from(g.level_said(*level, *value)), g.height() as f64),
        Cell::Range { low, high } => share(range(&g.coordinates[*low as usize..=*high as usize]), whole(g)),
        Cell::Set(codes) => share(codes.len() as f64 - 1.0, g.active() as f64 - 1.0),
    }
}

/// What cells lose in each column, times its weight. Ranges of a column whose codes follow the number line, as they
/// mostly do, are told by their ends, however many values they cover.
fn losses(
    generalizations: &[Generalization],
    weights: Vec<f64>,
) -> impl Fn(usize, &Generalization, &Cell) -> f64 + use<> {
    let ascending: Vec<bool> = generalizations.iter().map(|g| g.coordinates.is_sorted()).collect();
    move |column, g, cell| {
        let loss = match cell {
            Cell::Range { low, high } if ascending[column] && g.active() > 1 => {
                share(g.coordinates[*high as usize] - g.coordinates[*low as usize], whole(g))
            }
            _ => cell_loss(g, cell),
        };
        weights[column] * loss
    }
}

/// Highest − lowest of a whole column: what its top covers.
fn whole(g: &Generalization) -> f64 {
    match g.levels.last() {
        Some(top) if top.of.len() == g.coordinates.len() => {
            let hull = |(low, high): (f64, f64), own: &(f64, f64)| (low.min(own.0), high.max(own.1));
            let (low, high) = top.extent.iter().fold((f64::INFINITY, f64::NEG_INFINITY), hull);
            if low <= high { high - low } else { 0.0 }
        }
        _ => range(&g.coordinates),
    }
}

/// Highest − lowest. Codes may follow a stated order rather than the number line, so the ends need not be the extremes.
fn range(coordinates: &[f64]) -> f64 {
    let (low, high) =
        coordinates.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| (low.min(x), high.max(x)));
    if low <= high { high - low } else { 0.0 }
}

/// part / whole, 0 when there is nothing to lose.
fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frequency::FrequencySet;
    use crate::hierarchy::{Hierarchy, Level};
    use crate::metric::fixture::{agrees, cases, covered};
    use crate::recoding::{Assignment, Recoding};
    use crate::table::{Column, Table};

    #[test]
    fn cells_are_measured_row_by_row() {
        let coordinate = |g: &Generalization, code: u32| match g.name.as_str() {
            "age" => [20.0, 24.0, 31.0, 38.0, 60.0][code as usize],
            _ => f64::from(code),
        };
        let cell = |g: &Generalization, cell: &Cell, _: u32| {
            let codes = covered(g, cell);
            let (low, high) = (coordinate(g, codes[0]), coordinate(g, codes[codes.len() - 1]));
            match (g.name.as_str(), cell) {
                ("age", Cell::Node { .. } | Cell::Range { .. }) => (high - low) / 40.0,
                (_, Cell::Node { level, .. }) => f64::from(*level) / g.height() as f64,
                (_, Cell::Range { .. }) => (high - low) / (g.active() as f64 - 1.0),
                (_, Cell::Set(_)) => (codes.len() as f64 - 1.0) / (g.active() as f64 - 1.0),
            }
        };
        agrees(&InformationLoss, |case| Some(case.sum_cells(cell, |_, _| 1.0)));
        assert_eq!(InformationLoss.loss(&cases()[3].release()), Some(30.0));
    }

    #[test]
    fn weights_are_normalized() {
        let mut case = cases().remove(1);
        let plain = InformationLoss.loss(&case.release()).unwrap();
        case.generalizations.iter_mut().for_each(|g| g.weight = 7.0);
        assert!((InformationLoss.loss(&case.release()).unwrap() - plain).abs() < 1e-12);
        // All the weight on sex, which this release leaves as it is.
        case.generalizations.iter_mut().for_each(|g| g.weight = if g.name == "sex" { 1.0 } else { 0.0 });
        assert_eq!(InformationLoss.loss(&case.release()), Some(0.0));
    }

    /// `*` tells the same whichever level it is of; so it must cost the same by every metric.
    #[test]
    fn what_is_called_like_the_top_costs_as_much_as_the_top() {
        let levels = |top_at_once: bool| {
            let first = if top_at_once { "*" } else { "tens" };
            vec![
                Level { labels: vec![first.into(), "20".into(), "35".into()], of_leaf: vec![0, 0, 1, 2] },
                Level { labels: vec!["*".into()], of_leaf: vec![0; 4] },
            ]
        };
        let column = Column::from_values("age", ["10", "15", "20", "35"]);
        let leaves = || ["10", "15", "20", "35"].into_iter().collect();
        for numeric in [false, true] {
            let g = |top_at_once| {
                let h = Hierarchy { leaves: leaves(), levels: levels(top_at_once) };
                Generalization::bind_as(&column, Some(&h), numeric).unwrap()
            };
            let cell = |level, value| Cell::Node { level, value };
            for id in ["gcp", "loss", "precision"] {
                let input = FrequencySet::count(&Table { columns: vec![column.clone()], rows: 4 }, &[0], &[], None).0;
                let priced = |g: &Generalization, cell: &Cell| {
                    let one = std::slice::from_ref(g);
                    let input = Input { set: &input, generalizations: one, k: 1 };
                    let costs = crate::metric::find(id).unwrap().metric.cells(&input).unwrap();
                    (costs.cell)(0, g, cell)
                };
                let (ragged, named) = (g(true), g(false));
                assert_eq!(priced(&ragged, &cell(1, 0)), priced(&ragged, &cell(2, 0)), "{id}, {numeric}");
                assert!(priced(&named, &cell(1, 0)) < priced(&named, &cell(2, 0)), "{id}, {numeric}");
                assert_eq!(priced(&ragged, &cell(1, 1)), priced(&named, &cell(1, 1)), "{id}, {numeric}");
            }
        }
    }

    /// The worked example of the systematic clustering paper, by its Equation (1).
    #[test]
    fn three_clusters_of_patients() {
        let columns = [
            ("zip", ["4350", "4351", "4352", "4350", "4350", "4350", "4352", "4352", "4352"]),
            ("gender", ["Male", "Male", "Male", "Male", "Female", "Female", "Male", "Female", "Male"]),
            ("age", ["24", "25", "26", "35", "40", "38", "41", "42", "43"]),
            ("education", ["9th", "10th", "9th", "9th", "10th", "11th", "9th", "10th", "10th"]),
            (
                "disease",
                ["Flue", "Cancer", "HIV+", "Diabetes", "Diabetes", "Diabetes", "Flue", "Heart disease", "Cancer"],
            ),
        ];
        let mut table = Table { columns: columns.map(|(n, v)| Column::from_values(n, v)).into(), rows: 9 };
        table.columns[0].kind = crate::table::ValueType::Text;
        let education = Hierarchy {
            leaves: ["9th", "10th", "11th", "12th"].into_iter().collect(),
            levels: vec![
                Level { labels: vec!["Primary".into(), "Secondary".into()], of_leaf: vec![0, 0, 1, 1] },
                Level { labels: vec!["Educated".into()], of_leaf: vec![0; 4] },
            ],
        };
        let (set, entry_of) = FrequencySet::count(&table, &[0, 1, 2, 3], &[4], None);
        let generalizations: Vec<Generalization> =
            (0..4).map(|c| Generalization::bind(&table.columns[c], (c == 3).then_some(&education)).unwrap()).collect();
        // Rows 1–3, 4–6 and 7–9 in the lowest cells that cover them.
        let classes: Vec<Vec<Cell>> = (0..3)
            .map(|class| {
                let codes = |column: usize| (3 * class..3 * class + 3).map(move |row| (row, column));
                let lowest = |c: usize| {
                    generalizations[c].lowest_common_node(codes(c).map(|(row, c)| table.columns[c].codes.get(row)))
                };
                let ages = || codes(2).map(|(row, c)| table.columns[c].codes.get(row));
                let age = Cell::Range { low: ages().min().unwrap(), high: ages().max().unwrap() };
                vec![lowest(0), lowest(1), age, lowest(3)]
            })
            .collect();
        let tuple_of_entry = set.tuple_of_entry();
        let mut class_of = vec![0; set.len()];
        for (row, entry) in entry_of.iter().enumerate() {
            class_of[tuple_of_entry[entry.index()] as usize] = row as u32 / 3;
        }
        let recoding =
            Recoding { classes, assignment: Assignment::Tuples(class_of), levels: None, masked: None, shown: None };
        let (groups, suppressed) = recoding.groups(&set);
        let release = Release {
            set: &set,
            generalizations: &generalizations,
            recoding: &recoding,
            groups: &groups,
            suppressed,
            k: 3,
        };
        let loss = InformationLoss.loss(&release).unwrap();
        assert!((loss - 16.42105263).abs() < 1e-8, "{loss}");
    }
}
