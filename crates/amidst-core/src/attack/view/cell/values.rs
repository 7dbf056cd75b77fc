//! The distinct values of a column, sorted so that a label finds those it covers without a look at all of them.

use std::ops::Range;

use jiff::civil::Date;

use super::{Cell, End, Point, Reading, calendar, fits, reaches};
use crate::attack::view::Covers;
use crate::table::Column;

/// The distinct values of a column, ready to be asked for by label.
#[derive(Debug)]
pub(in crate::attack) struct Values {
    cells: Vec<Cell>,
    /// Plain values by their text, sorted.
    texts: Vec<(String, u32)>,
    /// Plain values that are numbers or days, sorted; the days come last.
    points: Vec<(Point, u32)>,
    /// Numbers that may also be years, with their first and last day, sorted.
    years: Vec<(Date, Date, u32)>,
    /// Values with other readings, which every label is compared with.
    wide: Vec<u32>,
    /// Values that are unknown, which every label fits.
    unknown: Vec<u32>,
    /// Where each value stands: those that are numbers or days as these are sorted, then the others.
    places: Vec<u32>,
}

/// Some of the values: ascending runs of places, each from its first to before its last.
pub(in crate::attack) type Runs = Vec<(u32, u32)>;

impl Values {
    /// The values of `column`; `covers` tells what hierarchy labels mean, where it is known.
    pub fn of(column: &Column, covers: Option<&Covers>) -> Values {
        let cells = column.dictionary.iter().map(|value| Cell::parse(value, covers)).collect();
        let mut values = Values {
            cells,
            texts: Vec::new(),
            points: Vec::new(),
            years: Vec::new(),
            wide: Vec::new(),
            unknown: Vec::new(),
            places: Vec::new(),
        };
        for ((code, text), cell) in (0u32..).zip(column.dictionary.iter()).zip(&values.cells) {
            if text.trim().is_empty() {
                values.unknown.push(code);
                continue;
            }
            let (text, point) = match cell.readings.as_slice() {
                [Reading::Exact(value)] => value,
                [Reading::Exact(value), further]
                    if value.0.len() == 4 && calendar(&value.0).as_ref() == Some(further) =>
                {
                    match further {
                        Reading::Range { low: Some((Point::Day(low), _)), high: Some((Point::Day(high), _)) } => {
                            values.years.push((*low, *high, code));
                        }
                        _ => continue,
                    }
                    value
                }
                _ => {
                    values.wide.push(code);
                    continue;
                }
            };
            values.texts.push((text.clone(), code));
            values.points.extend(point.map(|point| (point, code)));
        }
        values.texts.sort_unstable();
        values.points.sort_unstable_by(|a, b| order(&a.0, &b.0).then(a.1.cmp(&b.1)));
        values.years.sort_unstable();
        values.places = vec![u32::MAX; values.cells.len()];
        let mut next = 0;
        let others = 0..values.cells.len() as u32;
        for code in values.points.iter().map(|p| p.1).chain(others) {
            let place = &mut values.places[code as usize];
            if *place == u32::MAX {
                *place = next;
                next += 1;
            }
        }
        values
    }

    /// Where each value stands in the order that runs are told in.
    pub fn places(&self) -> &[u32] {
        &self.places
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Writes the places of the values that fit `label` into `runs`, in place of what was there. What a range covers is
    /// one run, however many values that are; `found` is of no use afterwards.
    pub fn runs_of(&self, label: &Cell, found: &mut Vec<u32>, runs: &mut Runs) {
        runs.clear();
        found.clear();
        if label.readings.contains(&Reading::Any) {
            runs.push((0, self.len() as u32));
            return;
        }
        found.extend(&self.unknown);
        found.extend(self.wide.iter().filter(|&&code| label.meets(&self.cells[code as usize])));
        for reading in &label.readings {
            match reading {
                Reading::Any => {}
                Reading::Exact(value) => self.same(value, found),
                Reading::Set(members) => members.iter().for_each(|member| self.same(member, found)),
                Reading::Range { low, high } => {
                    // Points stand where they are sorted.
                    let between = self.between(low, high);
                    runs.push((between.start as u32, between.end as u32));
                    self.in_years(low, high, found);
                }
                Reading::Mask(mask) => {
                    let start: String = mask.iter().map_while(|place| *place).collect();
                    let from = self.texts.partition_point(|t| t.0 < start);
                    let alike = self.texts[from..].iter().take_while(|t| t.0.starts_with(&start));
                    found.extend(alike.filter(|t| fits(&t.0, mask)).map(|t| t.1));
                    // Masked digits of a day may lie in a year.
                    let cell = |year: &(Date, Date, u32)| &self.cells[year.2 as usize];
                    let met = self.years.iter().filter(|&year| cell(year).readings.iter().any(|r| r.meets(reading)));
                    found.extend(met.map(|year| year.2));
                }
            }
        }
        runs.extend(found.iter().map(|&code| (self.places[code as usize], self.places[code as usize] + 1)));
        runs.retain(|run| run.0 < run.1);
        runs.sort_unstable();
        runs.dedup_by(|next, run| {
            let joined = next.0 <= run.1;
            run.1 = if joined { run.1.max(next.1) } else { run.1 };
            joined
        });
    }

    /// The values that are the same text or lie at the same place.
    fn same(&self, (text, point): &super::Value, found: &mut Vec<u32>) {
        let from = self.texts.partition_point(|t| t.0 < *text);
        found.extend(self.texts[from..].iter().take_while(|t| t.0 == *text).map(|t| t.1));
        if let Some(point) = point {
            let here = Some((*point, true));
            found.extend(self.points[self.between(&here, &here)].iter().map(|p| p.1));
            self.in_years(&here, &here, found);
        }
    }

    /// Where the points from `low` to `high` stand.
    fn between(&self, low: &End, high: &End) -> Range<usize> {
        let days = self.points.partition_point(|p| matches!(p.0, Point::Number(_)));
        let (start, own) = match (low, high) {
            (Some((Point::Day(_), _)), Some((Point::Number(_), _))) => return 0..0,
            (Some((Point::Number(_), _)), Some((Point::Day(_), _))) => return 0..0,
            (Some((Point::Day(_), _)), _) | (_, Some((Point::Day(_), _))) => (days, &self.points[days..]),
            _ => (0, &self.points[..days]),
        };
        let here = |point: &Point| Some((*point, true));
        let from = own.partition_point(|p| !reaches(low, &here(&p.0)));
        let to = own.partition_point(|p| reaches(&here(&p.0), high));
        start + from..start + to.max(from)
    }

    /// The years that days from `low` to `high` fall into.
    fn in_years(&self, low: &End, high: &End, found: &mut Vec<u32>) {
        if [low, high].into_iter().flatten().any(|end| matches!(end.0, Point::Number(_))) {
            return;
        }
        let day = |day: Date| Some((Point::Day(day), true));
        // Years do not overlap, so both ends are in order.
        let from = self.years.partition_point(|year| !reaches(low, &day(year.1)));
        let to = self.years.partition_point(|year| reaches(&day(year.0), high));
        found.extend(self.years[from..to.max(from)].iter().map(|year| year.2));
    }
}

fn order(a: &Point, b: &Point) -> std::cmp::Ordering {
    // Points of two kinds compare by their kind, those of one kind always.
    a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXTS: [&str; 44] = [
        "",
        " ",
        "*",
        "**",
        "7",
        " 7",
        "7.0",
        "12",
        "1*",
        "1.50",
        "1.5",
        "-3",
        "[0-9]",
        "[-5--1]",
        "(1, 2]",
        "[0.1, 2[",
        "20-29",
        "<10",
        ">=12",
        "≤7",
        ">2019-12-31",
        "<2021",
        "2020",
        "2019",
        "1000",
        "202*",
        "2020s",
        "2020-05",
        "2020-Q2",
        "2020-W07",
        "2020-05-01",
        "2020-12-31",
        "202*-01-01",
        "2020-01-01",
        "[2020-05-01-2021-01-01]",
        "[5, 2020-01-01]",
        "{a,b}",
        "{7,2020}",
        "{2020-05-01,x}",
        "a",
        "b",
        "America",
        "USA",
        "U*A",
    ];

    proptest! {
        #[test]
        fn a_label_finds_what_comparing_every_value_finds(
            values in prop::collection::vec(0..TEXTS.len(), 1..20),
            known in any::<bool>(),
        ) {
            let mut covers = Covers::default();
            covers.add("America", "USA");
            covers.add("7", "12");
            covers.add("[0-9]", "a");
            let covers = known.then_some(&covers);
            let column = Column::from_values("c", values.iter().map(|&v| TEXTS[v]));
            let sorted = Values::of(&column, covers);
            let (mut scratch, mut runs) = (Vec::new(), Runs::new());
            for label in TEXTS {
                let label = Cell::parse(label, covers);
                sorted.runs_of(&label, &mut scratch, &mut runs);
                prop_assert!(runs.iter().all(|run| run.0 < run.1) && runs.windows(2).all(|w| w[0].1 < w[1].0));
                let within = |code: u32| runs.iter().any(|run| (run.0..run.1).contains(&sorted.places()[code as usize]));
                let found: Vec<u32> = (0..sorted.len() as u32).filter(|&code| within(code)).collect();
                let fits = |value: &str| value.trim().is_empty() || label.meets(&Cell::parse(value, covers));
                let expected: Vec<u32> =
                    (0u32..).zip(column.dictionary.iter()).filter(|(_, v)| fits(v)).map(|(code, _)| code).collect();
                prop_assert_eq!(&found, &expected, "{:?} among {:?}", label, column.dictionary);
            }
        }
    }
}
