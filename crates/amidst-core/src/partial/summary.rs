//! The summary of a part: for each value of each column its rows, their sensitive values and their shape.

use std::ops::Range;

use crate::frequency::{Entry, NOBODY};
use crate::ids::SensitiveId;
use crate::local::class::{Judge, Tally};
use crate::local::mondrian::cut::{Slots, Source};
use crate::local::shape::{Cuts, Shape, ShapeWord, Space};

use super::PartialSearch;

/// A part of the table, added up by the values of each column.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    pub(super) columns: Vec<Lines>,
}

/// Rows of a part that have a value in common (and a sensitive tuple, where those matter), line by line.
#[derive(Debug, Clone, Default)]
pub(super) struct Lines {
    pub code: Vec<u32>,
    sensitive: Vec<SensitiveId>,
    rows: Vec<u64>,
    /// Distinct combinations of quasi and sensitive values.
    pub combinations: Vec<u64>,
    /// How far the rows reach in every column.
    shapes: Vec<ShapeWord>,
}

/// A line of a summary: the rows of a part that have `code` in `column`, or some of them.
#[derive(Debug, Clone, Copy)]
pub struct Line {
    /// The column.
    pub column: usize,
    /// Its code.
    pub code: u32,
    /// The sensitive tuple; any where cuts do not depend on sensitive values.
    pub sensitive: SensitiveId,
    /// How many rows.
    pub rows: u64,
    /// How many distinct combinations of quasi and sensitive values they have.
    pub combinations: u64,
}

impl PartialSearch<'_> {
    /// Adds a line to a summary. `reach` has, for each column, codes that span the cell over those of the rows.
    pub fn add(&self, summary: &mut Summary, line: Line, reach: &[Vec<u32>]) {
        summary.columns.resize_with(self.space.width(), Lines::default);
        let first: Option<Vec<u32>> = reach.iter().map(|codes| codes.first().copied()).collect();
        let (Some(lines), Some(first)) = (summary.columns.get_mut(line.column), first) else { return };
        let start = lines.shapes.len();
        lines.shapes.resize(start + self.space.words(), ShapeWord::default());
        let shape = &mut lines.shapes[start..];
        self.space.start(shape, &first);
        for (column, codes) in reach.iter().enumerate() {
            codes.iter().for_each(|&code| self.space.stretch_column(shape, column, code));
        }
        lines.code.push(line.code);
        lines.sensitive.push(line.sensitive);
        lines.rows.push(line.rows);
        lines.combinations.push(line.combinations);
    }
}

impl Lines {
    pub(super) fn shape(&self, line: usize, space: &Space) -> &Shape {
        &self.shapes[line * space.words()..(line + 1) * space.words()]
    }

    pub(super) fn entry(&self, line: u32) -> Entry {
        let line = line as usize;
        Entry { sensitive: self.sensitive[line], person: NOBODY, rows: self.rows[line] }
    }
}

impl Summary {
    /// The tightest shape over the part.
    pub(super) fn shape(&self, space: &Space) -> Option<Vec<ShapeWord>> {
        let mut shapes = self.columns.first()?.shapes.chunks_exact(space.words().max(1));
        let mut shape = shapes.next()?.to_vec();
        shapes.for_each(|other| space.merge(&mut shape, other));
        Some(shape)
    }

    /// The rows of the part.
    pub(super) fn rows(&self) -> u64 {
        self.columns.first().map_or(0, |lines| lines.rows.iter().sum())
    }

    /// What the part holds.
    pub(super) fn tally(&self, judge: &Judge<'_>) -> Tally {
        let lines = self.columns.first();
        judge.tally(lines.into_iter().flat_map(|lines| (0..lines.code.len() as u32).map(|line| lines.entry(line))))
    }

    /// The part, to be cut.
    pub(super) fn source<'a>(&'a self, space: &'a Space, judge: &'a Judge<'a>) -> impl Source {
        Summarized { summary: self, space, judge, slots: Slots::default(), column: 0, order: vec![], first: vec![] }
    }
}

struct Summarized<'a> {
    summary: &'a Summary,
    space: &'a Space,
    judge: &'a Judge<'a>,
    slots: Slots,
    column: usize,
    /// Lines by slot: those of slot s are `order[first[s]..first[s + 1]]`.
    order: Vec<u32>,
    first: Vec<usize>,
}

impl Summarized<'_> {
    fn entries(&self, slots: Range<usize>) -> impl Iterator<Item = Entry> {
        let lines = &self.summary.columns[self.column];
        self.order[self.first[slots.start]..self.first[slots.end]].iter().map(|&line| lines.entry(line))
    }
}

impl Source for Summarized<'_> {
    fn fill(&mut self, shape: &Shape, column: usize) -> bool {
        let (words, lines) = (self.space.words(), &self.summary.columns[column]);
        let group: &[u32] = match self.space.cuts(shape, column) {
            Cuts::None => return false,
            Cuts::Ordered { .. } => &[],
            Cuts::Grouped { group, .. } => group,
        };
        let key = |line: u32| {
            let code = lines.code[line as usize];
            group.get(code as usize).copied().unwrap_or(code)
        };
        self.column = column;
        self.order = (0..lines.code.len() as u32).collect();
        self.order.sort_by_key(|&line| key(line));
        self.slots = Slots::default();
        self.first = vec![0];
        for same in self.order.chunk_by(|&a, &b| key(a) == key(b)) {
            self.slots.key.push(key(same[0]));
            self.slots.rows.push(same.iter().map(|&line| lines.rows[line as usize]).sum());
            let of = |line: u32| &lines.shapes[line as usize * words..(line as usize + 1) * words];
            let mut shape = of(same[0]).to_vec();
            same.iter().for_each(|&line| self.space.merge(&mut shape, of(line)));
            self.slots.shapes.extend(shape);
            self.first.push(self.first.last().copied().unwrap_or(0) + same.len());
        }
        true
    }

    fn slots(&self) -> &Slots {
        &self.slots
    }

    fn shift(&self, slots: Range<usize>, from: &mut Tally, to: &mut Tally) {
        self.entries(slots).for_each(|entry| from.shift(to, entry, entry.rows));
    }

    fn tally(&self, slots: Range<usize>) -> Tally {
        self.judge.tally(self.entries(slots))
    }
}
