//! How a local recoding cuts the table: its classes as rectangles over the two quasi columns that still tell the most.
//!
//! A column's values stand side by side, each as wide as every other, in their order; the leaves of a hierarchy stand
//! as its nodes hold them. A set is drawn from its first to its last value. Labels are those of the release, so the
//! picture shows no value that the release does not show.

use std::collections::BTreeMap;

use amidst_core::frequency::{self, Groups};
use amidst_core::hierarchy::{Cell, Generalization, Generalize};
use amidst_core::recoding::Recoding;
use serde::Serialize;

/// How a local recoding cuts the table, seen in the two quasi columns that tell the most about a person.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Partition {
    /// The column across and the column upward.
    pub columns: [String; 2],
    /// All classes.
    pub classes: u64,
    /// The persons in them.
    pub persons: u64,
    /// The distinct rectangles that they cover.
    pub regions: u64,
    /// How many of these are listed: those of the most persons.
    pub drawn: u64,
    /// The persons in those.
    pub drawn_persons: u64,
    /// The rectangles, those of the most persons first.
    pub boxes: Vec<PartitionBox>,
}

/// Classes that cover the same rectangle.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PartitionBox {
    /// What the release prints in the two columns.
    pub labels: [String; 2],
    /// Where it begins in each column, as a share of the column's values.
    pub from: [f64; 2],
    /// Where it ends.
    pub to: [f64; 2],
    /// The classes in it.
    pub classes: u64,
    /// The persons in those.
    pub persons: u64,
}

/// How many rectangles are drawn: more of them would hide each other.
const DRAWN: usize = 200;

/// The picture of a local recoding with the persons `classes`; none where fewer than two columns tell anything.
pub fn partition(recoding: &Recoding, generalizations: &[Generalization], classes: &Groups) -> Option<Partition> {
    if recoding.levels.is_some() {
        return None;
    }
    let filled = || {
        let classes = (0u32..).zip(recoding.classes.iter().zip(classes.iter()));
        // Masked rows are told as suppressed; their box would be the whole picture.
        let shown = classes.filter(|(class, _)| recoding.masked != Some(*class)).map(|(_, class)| class);
        shown.map(|(cells, entries)| (cells, frequency::size(entries))).filter(|(_, persons)| *persons > 0)
    };
    // The bits that a column's cells tell of a person's value, on average: 0 for a column of nothing but `*`.
    let bits = |(at, g): (usize, &Generalization)| {
        let told = |(cells, persons): (&Vec<Cell>, u64)| {
            let left = cells.get(at).map_or(1.0, |cell| g.active() as f64 / g.covered_active(cell).max(1) as f64);
            persons as f64 * left.log2()
        };
        (at, filled().map(told).sum::<f64>())
    };
    let mut columns: Vec<(usize, f64)> = generalizations.iter().enumerate().map(bits).filter(|c| c.1 > 0.0).collect();
    columns.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let [(across, _), (up, _), ..] = columns[..] else { return None };
    let axes = [across, up].map(|at| Axis::new(at, generalizations.get(at)));
    // Classes that differ only in the other columns lie upon each other.
    let mut places: BTreeMap<[(usize, usize); 2], PartitionBox> = BTreeMap::new();
    let (mut all, mut persons) = (0, 0);
    for (cells, size) in filled() {
        all += 1;
        persons += size;
        let spans = [axes[0].span(cells), axes[1].span(cells)];
        let place = places.entry(spans).or_insert_with(|| PartitionBox {
            labels: [axes[0].label(cells), axes[1].label(cells)],
            from: [axes[0].share(spans[0].0), axes[1].share(spans[1].0)],
            to: [axes[0].share(spans[0].1 + 1), axes[1].share(spans[1].1 + 1)],
            classes: 0,
            persons: 0,
        });
        place.classes += 1;
        place.persons += size;
    }
    let regions = places.len() as u64;
    let mut boxes: Vec<PartitionBox> = places.into_values().collect();
    // The order of the map decides between boxes of as many persons.
    boxes.sort_by_key(|b| std::cmp::Reverse(b.persons));
    boxes.truncate(DRAWN);
    Some(Partition {
        columns: [across, up].map(|at| generalizations.get(at).map(|g| g.name.clone()).unwrap_or_default()),
        classes: all,
        persons,
        regions,
        drawn: boxes.len() as u64,
        drawn_persons: boxes.iter().map(|b| b.persons).sum(),
        boxes,
    })
}

/// One of the two columns.
struct Axis<'a> {
    at: usize,
    generalization: Option<&'a Generalization>,
    /// The first and last place of each value of each level.
    nodes: Vec<Vec<(usize, usize)>>,
    values: usize,
}

impl<'a> Axis<'a> {
    fn new(at: usize, generalization: Option<&'a Generalization>) -> Axis<'a> {
        let mut axis = Axis { at, generalization, nodes: Vec::new(), values: 1 };
        let Some(g) = generalization else { return axis };
        axis.values = g.active().max(1);
        let mut order: Vec<usize> = (0..g.active()).collect();
        if g.generalize == Generalize::Hierarchy {
            order.sort_by_key(|&code| g.levels.iter().rev().map(|l| l.of.get(code).copied()).collect::<Vec<_>>());
        }
        for level in &g.levels {
            let mut spans = vec![(usize::MAX, 0); level.labels.len()];
            for (place, &code) in order.iter().enumerate() {
                if let Some(span) = level.of.get(code).and_then(|&value| spans.get_mut(value as usize)) {
                    *span = (span.0.min(place), span.1.max(place));
                }
            }
            axis.nodes.push(spans);
        }
        axis
    }

    /// The first and last place that the column's cell covers.
    fn span(&self, cells: &[Cell]) -> (usize, usize) {
        let whole = (0, self.values - 1);
        match cells.get(self.at) {
            Some(Cell::Node { level, value }) => {
                let spans = self.nodes.get(*level as usize);
                spans.and_then(|s| s.get(*value as usize)).copied().filter(|s| s.0 <= s.1).unwrap_or(whole)
            }
            Some(Cell::Range { low, high }) => (*low as usize, *high as usize),
            Some(Cell::Set(codes)) => match (codes.first(), codes.last()) {
                (Some(first), Some(last)) => (*first as usize, *last as usize),
                _ => whole,
            },
            None => whole,
        }
    }

    fn label(&self, cells: &[Cell]) -> String {
        let cell = self.generalization.zip(cells.get(self.at));
        cell.map(|(g, cell)| g.label(cell).into_owned()).unwrap_or_default()
    }

    fn share(&self, place: usize) -> f64 {
        place as f64 / self.values as f64
    }
}

#[cfg(test)]
mod tests {
    use amidst_core::frequency::{Entry, NOBODY};
    use amidst_core::hierarchy::{Hierarchy, Level};
    use amidst_core::ids::SensitiveId;
    use amidst_core::recoding::Assignment;
    use amidst_core::table::Column;

    use super::*;

    fn recoding(classes: Vec<Vec<Cell>>) -> Recoding {
        Recoding { classes, assignment: Assignment::Tuples(Vec::new()), levels: None, masked: None, shown: None }
    }

    fn persons(sizes: &[u64]) -> Groups {
        let entry = |(class, &rows): (u32, &u64)| (class, Entry { sensitive: SensitiveId(0), person: NOBODY, rows });
        Groups::collect(sizes.len(), (0u32..).zip(sizes).map(entry).collect())
    }

    fn numbers(name: &str, n: u32) -> Generalization {
        let values: Vec<String> = (0..n).map(|i| (10 + i).to_string()).collect();
        let column = Column::from_values(name, values.iter().map(String::as_str));
        Generalization { generalize: Generalize::Ranges, ..Generalization::bind(&column, None).unwrap() }
    }

    #[test]
    fn the_columns_that_tell_the_most_are_drawn() {
        let columns = [numbers("sex", 2), numbers("age", 8), numbers("zip", 4)];
        let range = |low: u32, high: u32| Cell::Range { low, high };
        let recoding = recoding(vec![
            vec![range(0, 0), range(0, 3), range(0, 0)],
            vec![range(1, 1), range(0, 3), range(0, 0)],
            vec![range(0, 1), range(4, 5), range(1, 3)],
            vec![range(0, 1), range(4, 7), range(1, 3)],
        ]);
        // Bits: 16 persons know their sex, zip tells 2 bits of them and log 4/3 of ten, age 1 of 20 and 2 of six.
        let found = partition(&recoding, &columns, &persons(&[8, 8, 6, 4])).unwrap();
        assert_eq!(found.columns, ["zip", "age"]);
        assert_eq!((found.classes, found.persons, found.regions, found.drawn), (4, 26, 3, 3));
        let first = &found.boxes[0];
        assert_eq!((first.classes, first.persons, first.labels.clone()), (2, 16, ["10".into(), "[10-13]".into()]));
        assert_eq!((first.from, first.to), ([0.0, 0.0], [0.25, 0.5]));
        assert_eq!((found.boxes[1].from, found.boxes[1].to), ([0.25, 0.5], [1.0, 0.75]));
        assert_eq!(partition(&recoding, &columns[..1], &persons(&[8, 8, 6, 4])), None);
    }

    #[test]
    fn the_leaves_of_a_node_stand_side_by_side() {
        let column = Column::from_values("country", ["a", "b", "c", "d"]);
        let odd = Level::by_key([true, false, true, false], |o| if o { "odd".into() } else { "even".into() });
        let leaves = ["a", "b", "c", "d"].into_iter().collect();
        let hierarchy = Hierarchy { leaves, levels: vec![odd, Level::top(4)] };
        let country = Generalization::bind(&column, Some(&hierarchy)).unwrap();
        let node = |level: u32, value: u32| vec![Cell::Node { level, value }, Cell::Range { low: 0, high: 0 }];
        let recoding = recoding(vec![node(1, 0), node(1, 1)]);
        let found = partition(&recoding, &[country, numbers("age", 2)], &persons(&[5, 5])).unwrap();
        let country = usize::from(found.columns[0] != "country");
        let mut spans: Vec<(f64, f64)> = found.boxes.iter().map(|b| (b.from[country], b.to[country])).collect();
        spans.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert_eq!(spans, [(0.0, 0.5), (0.5, 1.0)]);
    }

    #[test]
    fn too_many_boxes_are_cut_and_counted() {
        let columns = [numbers("a", 30), numbers("b", 30)];
        let cell = |at: u32| Cell::Range { low: at, high: at };
        let classes = (0..900).map(|i| vec![cell(i / 30), cell(i % 30)]).collect();
        let sizes: Vec<u64> = (0..900).map(|i| 5 + i % 7).collect();
        let found = partition(&recoding(classes), &columns, &persons(&sizes)).unwrap();
        assert_eq!((found.regions, found.drawn, found.boxes.len()), (900, DRAWN as u64, DRAWN));
        assert!(found.boxes.windows(2).all(|w| w[0].persons >= w[1].persons));
        assert!(found.drawn_persons < found.persons);
    }
}
