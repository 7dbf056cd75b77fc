//! Mondrian and top-down on a table that the driver cannot gather: the cluster sums up parts, divides them, and keeps
//! what becomes of each tuple.
//!
//! Combinations are kept with the *turns* of their quasi values: numbers in whose order the first and the last of some
//! values tell the cell over all of them. So one aggregate over all columns at once (GROUPING SETS) tells, for each
//! value of each column, its rows and how far they reach in every column, which is what a cut is chosen by.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use amidst::Failure;
use amidst::core::frequency::FrequencySet;
use amidst::core::ids::SensitiveId;
use amidst::core::internal::partial::{
    Assembled, Combinations, Counts, Divided, DivisibleTable, Line, PartialClass, PartialSearch, Removed, SplitRows,
    Summary, TailQuery,
};
use amidst::prepare::Prepared;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch, UInt32Array};
use datafusion::arrow::datatypes::{DataType, Field, Int64Type, Schema, UInt32Type, UInt64Type};

use super::placement::Placement;
use super::recode::write;
use super::rolled::Rolled;
use super::session::{broken, local, parquet};
use super::sql;

/// Values that a cell may be a set of, at the most.
const MOST_IN_SETS: usize = 4096;

impl Rolled<'_> {
    /// What becomes of each tuple, once a table was cut.
    pub fn placement(&self) -> Option<Placement> {
        self.placement.borrow_mut().take()
    }

    pub(super) fn widths(&self) -> (usize, usize) {
        (self.shape.quasi.len(), self.shape.sensitive.len())
    }

    /// The columns of the combinations in parts, without the part: turns, sensitive codes and the count.
    pub(super) fn part_columns(&self) -> Vec<String> {
        let (quasi, sensitive) = self.widths();
        let names = (0..quasi).map(|q| format!("r{q}")).chain((0..sensitive).map(|s| format!("s{s}")));
        names.chain(["n".to_string()]).collect()
    }

    fn parts_file(&self, round: usize) -> PathBuf {
        self.place.folder.join(format!("parts-{round}.parquet"))
    }

    /// Writes the parts of the next round, and makes them known as `s`.
    pub(super) fn next_round(&self, statement: &str) -> Result<(), Failure> {
        let round = self.parts.borrow().round + 1;
        let file = self.parts_file(round);
        self.copy(statement, &file)?;
        // Best effort: the whole folder goes in the end.
        let _ = std::fs::remove_file(self.parts_file(round - 1));
        self.parts.borrow_mut().round = round;
        self.place.open("s", &file)
    }

    fn copy(&self, statement: &str, to: &Path) -> Result<(), Failure> {
        let to = sql::text(&to.to_string_lossy());
        self.place.run(&format!("COPY ({statement}) TO {to} STORED AS PARQUET")).map(|_| ())
    }

    /// Writes a small table of numbers and makes it known.
    pub(super) fn numbers(&self, name: &str, columns: Vec<(String, Vec<u32>)>) -> Result<(), Failure> {
        let file = self.place.folder.join(format!("{name}.parquet"));
        write(&numbers(columns)?, &file)?;
        self.place.open(name, &file)
    }

    /// A file for the classes of more tuples.
    fn next_placed(&self) -> PathBuf {
        let mut parts = self.parts.borrow_mut();
        let file = self.place.folder.join(format!("placed-{}.parquet", parts.placed.len()));
        parts.placed.push(file.clone());
        file
    }

    /// What tells how far rows reach in a column, and how many columns of the result that takes.
    fn reach(&self, pieces: &PartialSearch<'_>, q: usize) -> (String, usize) {
        if pieces.spans(q) {
            return (format!("min(r{q}), max(r{q})"), 2);
        }
        let words = pieces.turns(q).len().div_ceil(64).max(1);
        let word = |w: usize| {
            let bit = format!("arrow_cast(1, 'UInt64') << arrow_cast(r{q} % 64, 'UInt64')");
            format!("bit_or(CASE WHEN r{q} / 64 = {w} THEN {bit} ELSE arrow_cast(0, 'UInt64') END)")
        };
        ((0..words).map(word).collect::<Vec<_>>().join(", "), words)
    }
}

/// A table of numbers.
pub fn numbers(columns: Vec<(String, Vec<u32>)>) -> Result<RecordBatch, Failure> {
    let fields: Vec<Field> = columns.iter().map(|(name, _)| Field::new(name, DataType::UInt32, true)).collect();
    let arrays = columns.into_iter().map(|(_, column)| Arc::new(UInt32Array::from(column)) as ArrayRef).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(|e| broken(e.into()))
}

pub(super) fn unreadable() -> Failure {
    Failure::Io("what the cluster counted cannot be read back".to_string())
}

/// A column of codes.
pub(super) fn codes(batch: &RecordBatch, column: usize) -> Result<&UInt32Array, Failure> {
    let column = batch.columns().get(column).and_then(|c| c.as_primitive_opt::<UInt32Type>());
    column.ok_or_else(unreadable)
}

/// A column of counts.
pub(super) fn counts(batch: &RecordBatch, column: usize) -> Result<Vec<u64>, Failure> {
    let column = batch.columns().get(column).and_then(|c| c.as_primitive_opt::<Int64Type>());
    Ok(column.ok_or_else(unreadable)?.values().iter().map(|&n| n.unsigned_abs()).collect())
}

/// The sensitive tuple of a row, whose codes begin at a column.
fn sensitive(
    pieces: &PartialSearch<'_>,
    batch: &RecordBatch,
    first: usize,
    width: usize,
    row: usize,
) -> Result<SensitiveId, Failure> {
    let tuple: Result<Vec<u32>, Failure> =
        (first..first + width).map(|column| Ok(codes(batch, column)?.value(row))).collect();
    pieces.sensitive(&tuple?).ok_or_else(unreadable)
}

/// Which of some parts, as a condition.
pub(super) fn among(parts: &[u32]) -> String {
    let parts: Vec<String> = parts.iter().map(u32::to_string).collect();
    format!("p IN ({})", parts.join(", "))
}

impl DivisibleTable for Rolled<'_> {
    fn begin(&self, pieces: &PartialSearch<'_>) -> Result<(), Failure> {
        let (mut cells, mut joins, mut turn_of) = (Vec::new(), String::new(), Vec::new());
        for (q, position) in self.shape.quasi.iter().enumerate() {
            let turns = pieces.turns(q);
            if !pieces.spans(q) && turns.len() > MOST_IN_SETS {
                return Err(Failure::Usage(format!(
                    "column `{}` is generalized to sets of its {} values, more than the {MOST_IN_SETS} that a table too large \
                     to gather may have; give it a hierarchy or an order",
                    self.shape.generalizations[q].name,
                    turns.len()
                )));
            }
            let mut of = vec![0; turns.len()];
            (0u32..).zip(turns).for_each(|(turn, &code)| of[code as usize] = turn);
            if of.is_sorted() {
                cells.push(format!("s.c{position} AS r{q}"));
            } else {
                let known = vec![("v".to_string(), (0..of.len() as u32).collect()), ("g".to_string(), of.clone())];
                self.numbers(&format!("turns{q}"), known)?;
                joins += &format!(" JOIN turns{q} ON s.c{position} = turns{q}.v");
                cells.push(format!("turns{q}.g AS r{q}"));
            }
            turn_of.push(of);
        }
        cells.extend(self.shape.sensitive.iter().enumerate().map(|(s, position)| format!("s.c{position} AS s{s}")));
        self.parts.borrow_mut().turn_of = turn_of;
        self.register(&vec![0; self.shape.quasi.len()])?;
        self.next_round(&format!("SELECT {}, s.n AS n, arrow_cast(0, 'UInt32') AS p FROM s{joins}", cells.join(", ")))
    }

    fn summaries(&self, pieces: &PartialSearch<'_>, parts: &[u32]) -> Result<Vec<Summary>, Failure> {
        let (quasi, all) = self.widths();
        let looked_at = if pieces.looks_at_sensitive() { all } else { 0 };
        let values: Vec<String> = (0..looked_at).map(|s| format!("s{s}")).collect();
        let mut select: Vec<String> =
            ["p".to_string()].into_iter().chain((0..quasi).map(|q| format!("r{q}"))).collect();
        select.extend(values.iter().cloned());
        let mut sets = Vec::new();
        let mut widths = Vec::new();
        for q in 0..quasi {
            let by: Vec<String> =
                ["p".to_string(), format!("r{q}")].into_iter().chain(values.iter().cloned()).collect();
            sets.push(format!("({})", by.join(", ")));
        }
        select.extend(["sum(n)".to_string(), "count(*)".to_string()]);
        for q in 0..quasi {
            let (reach, width) = self.reach(pieces, q);
            select.push(reach);
            widths.push(width);
        }
        let batches = self.place.run(&format!(
            "SELECT {} FROM s WHERE {} GROUP BY GROUPING SETS ({})",
            select.join(", "),
            among(parts),
            sets.join(", ")
        ))?;
        let mut summaries = vec![Summary::default(); parts.len()];
        for batch in &batches {
            let first = 1 + quasi + looked_at;
            let (rows, combinations) = (counts(batch, first)?, counts(batch, first + 1)?);
            for row in 0..batch.num_rows() {
                let part = codes(batch, 0)?.value(row);
                let summary = parts.iter().position(|&p| p == part).and_then(|p| summaries.get_mut(p));
                let summary = summary.ok_or_else(unreadable)?;
                let mut column = None;
                for q in 0..quasi {
                    let turns = codes(batch, 1 + q)?;
                    if turns.is_valid(row) {
                        column = Some((q, turns.value(row)));
                    }
                }
                let (column, turn) = column.ok_or_else(unreadable)?;
                let line = Line {
                    column,
                    code: code(pieces, column, turn)?,
                    sensitive: match looked_at {
                        0 => SensitiveId(0),
                        width => sensitive(pieces, batch, 1 + quasi, width, row)?,
                    },
                    rows: rows[row],
                    combinations: combinations[row],
                };
                let mut next = first + 2;
                let mut reach = Vec::with_capacity(quasi);
                for (q, &width) in widths.iter().enumerate() {
                    reach.push(reached(pieces, batch, q, next, width, row)?);
                    next += width;
                }
                pieces.add(summary, line, &reach);
            }
        }
        Ok(summaries)
    }

    fn last(&self, pieces: &PartialSearch<'_>, asked: &[TailQuery]) -> Result<Vec<Combinations>, Failure> {
        self.last_of(pieces, asked)
    }

    fn divide(&self, pieces: &PartialSearch<'_>, divided: &[Divided], gone: &[Removed]) -> Result<(), Failure> {
        let (mut part, mut key, mut to) = (Vec::new(), Vec::new(), Vec::new());
        for d in divided {
            let turn_of = &self.parts.borrow().turn_of[d.division.column];
            for &(code, side) in &d.division.sides {
                part.push(d.part);
                key.push(turn_of[code as usize]);
                to.push(d.first + side);
            }
        }
        self.numbers("d", vec![("o".to_string(), part), ("k".to_string(), key), ("t".to_string(), to)])?;
        let columns: Vec<String> = self.part_columns().iter().map(|c| format!("s.{c} AS {c}")).collect();
        let key = deciding(divided.iter().map(|d| (d.division.column, d.part)));
        let without = self.without(pieces, gone)?;
        self.next_round(&format!(
            "SELECT {}, d.t AS p FROM s JOIN d ON s.p = d.o AND {key} = d.k{without}",
            columns.join(", ")
        ))
    }

    fn gather_parts(&self, pieces: &PartialSearch<'_>, parts: &[u32]) -> Result<Vec<FrequencySet>, Failure> {
        let (quasi, width) = self.widths();
        let file = self.place.folder.join("gathered.parquet");
        self.copy(&format!("SELECT {}, p FROM s WHERE {}", self.part_columns().join(", "), among(parts)), &file)?;
        let batches = self.place.runtime.block_on(async {
            let context = local()?;
            parquet(&context, "g", &file).await?;
            let frame = context.sql("SELECT * FROM g").await.map_err(broken)?;
            frame.collect().await.map_err(broken)
        })?;
        let place: rustc_hash::FxHashMap<u32, usize> = parts.iter().enumerate().map(|(i, &p)| (p, i)).collect();
        let mut tuples: Vec<(Vec<u32>, Counts)> = vec![Default::default(); parts.len()];
        for batch in &batches {
            let rows = counts(batch, quasi + width)?;
            let part = codes(batch, quasi + width + 1)?;
            for (row, rows) in rows.into_iter().enumerate() {
                let to = place.get(&part.value(row)).and_then(|&i| tuples.get_mut(i)).ok_or_else(unreadable)?;
                for q in 0..quasi {
                    to.0.push(code(pieces, q, codes(batch, q)?.value(row))?);
                }
                to.1.push((sensitive(pieces, batch, quasi, width, row)?, rows));
            }
        }
        drop(batches);
        Ok(tuples.into_iter().map(|(codes, counts)| pieces.part(&codes, &counts)).collect())
    }

    fn place(&self, _pieces: &PartialSearch<'_>, tuples: &[u32], classes: &[u32]) -> Result<(), Failure> {
        let file = self.next_placed();
        let parts = self.parts.borrow();
        let width = parts.turn_of.len().max(1);
        let mut columns: Vec<(String, Vec<u32>)> = Vec::new();
        for (q, turn_of) in parts.turn_of.iter().enumerate() {
            let turns = tuples.chunks_exact(width).map(|tuple| turn_of[tuple[q] as usize]);
            columns.push((format!("k{q}"), turns.collect()));
        }
        columns.push(("x".to_string(), classes.to_vec()));
        write(&numbers(columns)?, &file)
    }

    fn place_whole(&self, pieces: &PartialSearch<'_>, part: u32, class: u32) -> Result<(Vec<u32>, Counts), Failure> {
        let (quasi, width) = self.widths();
        let turns: Vec<String> = (0..quasi).map(|q| format!("r{q}")).collect();
        let named: Vec<String> = (0..quasi).map(|q| format!("r{q} AS k{q}")).collect();
        let (named, by) = (named.join(", "), turns.join(", "));
        let batches = self.place.run(&format!("SELECT {by} FROM s WHERE p = {part} ORDER BY {by} LIMIT 1"))?;
        let Some(batch) = batches.iter().find(|b| b.num_rows() > 0) else { return Ok(Default::default()) };
        let file = self.next_placed();
        let tuples = format!("SELECT {by} FROM s WHERE p = {part} GROUP BY {by}");
        self.copy(&format!("SELECT {named}, arrow_cast({class}, 'UInt32') AS x FROM ({tuples})"), &file)?;
        let first: Result<Vec<u32>, Failure> = (0..quasi).map(|q| code(pieces, q, codes(batch, q)?.value(0))).collect();
        let values: Vec<String> = (0..width).map(|s| format!("s{s}")).collect();
        let (list, by) = match values.is_empty() {
            true => (String::new(), String::new()),
            false => (format!("{}, ", values.join(", ")), format!(" GROUP BY {}", values.join(", "))),
        };
        let mut counted = Counts::new();
        for batch in &self.place.run(&format!("SELECT {list}sum(n) FROM s WHERE p = {part}{by}"))? {
            for (row, rows) in counts(batch, width)?.into_iter().enumerate() {
                counted.push((sensitive(pieces, batch, 0, width, row)?, rows));
            }
        }
        counted.sort_unstable();
        Ok((first?, counted))
    }

    fn gather_classes(
        &self,
        pieces: &PartialSearch<'_>,
        classes: &[PartialClass],
        assembled: &Assembled,
        dealt: Vec<SplitRows>,
    ) -> Result<Prepared, Failure> {
        let whole = pieces.whole();
        let tuple = |s: usize| {
            (0..whole.sensitive_width).map(move |c| whole.sensitive_code(SensitiveId(s as u32), c)).collect()
        };
        let parts = self.parts.borrow();
        *self.placement.borrow_mut() = Some(Placement {
            files: parts.placed.clone(),
            turn_of: parts.turn_of.clone(),
            class_of: assembled.class_of.clone(),
            omitted: assembled.omitted.clone(),
            dealt,
            sensitive: (0..whole.sensitive_count()).map(tuple).collect(),
        });
        let rows = || classes.iter().flat_map(|class| class.counts.iter().map(move |&count| (class, count)));
        let codes = (0..self.enumerated.columns.len()).map(|position| {
            let quasi = self.shape.quasi.iter().position(|&q| q == position);
            let sensitive = self.shape.sensitive.iter().position(|&s| s == position);
            let code = |(class, (tuple, _)): (&PartialClass, (SensitiveId, u64))| match (quasi, sensitive) {
                (Some(q), _) => class.first[q],
                (_, Some(s)) => whole.sensitive_code(tuple, s),
                _ => 0,
            };
            rows().map(code).collect()
        });
        let top = self.shape.generalizations.iter().map(|g| g.height()).collect();
        self.prepared(codes.collect(), rows().map(|(_, (_, rows))| rows).collect(), top)
    }
}

/// The turn that decides about a combination: that of the column by which its part is looked at.
pub(super) fn deciding(looked_at: impl Iterator<Item = (usize, u32)>) -> String {
    let mut by: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    looked_at.for_each(|(column, part)| by.entry(column).or_default().push(part));
    let case = |(q, parts): (&usize, &Vec<u32>)| format!(" WHEN s.{} THEN s.r{q}", among(parts));
    format!("(CASE{} END)", by.iter().map(case).collect::<String>())
}

/// The code that has a turn.
pub(super) fn code(pieces: &PartialSearch<'_>, column: usize, turn: u32) -> Result<u32, Failure> {
    pieces.turns(column).get(turn as usize).copied().ok_or_else(unreadable)
}

/// Codes that span what rows have in a column, from the `width` columns of the result from `first` on.
fn reached(
    pieces: &PartialSearch<'_>,
    batch: &RecordBatch,
    q: usize,
    first: usize,
    width: usize,
    row: usize,
) -> Result<Vec<u32>, Failure> {
    if pieces.spans(q) {
        let ends = [codes(batch, first)?.value(row), codes(batch, first + 1)?.value(row)];
        return ends.into_iter().map(|turn| code(pieces, q, turn)).collect();
    }
    let mut reached = Vec::new();
    for w in 0..width {
        let words = batch.columns().get(first + w).and_then(|c| c.as_primitive_opt::<UInt64Type>());
        let word = words.ok_or_else(unreadable)?.value(row);
        reached.extend((0..64u32).filter(|b| word >> b & 1 == 1).map(|b| w as u32 * 64 + b));
    }
    Ok(reached)
}
