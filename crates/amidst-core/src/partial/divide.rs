//! How a part is divided: the algorithm's own choice of a cut, made from the [`Summary`] of the part.

use std::sync::Arc;

use super::{DivisionRule, PartialSearch, Place, Summary};
use crate::control::Control;
use crate::ids::SensitiveId;
use crate::local::mondrian::cut::{Chooser, CutKind, Memory};
use crate::local::shape::Cuts;
use crate::local::top_down::specialize::{Branches, Child, PullableRows, Specializer, level_below, pools_of};

/// How a part is divided.
#[derive(Debug, Clone)]
pub struct Division {
    /// The quasi column that decides.
    pub column: usize,
    /// The side of each of its codes that the part has.
    pub sides: Vec<(u32, u32)>,
    /// How many distinct combinations each side has at the most.
    pub combinations: Vec<u64>,
    /// Rows that go to the rest, whatever their side.
    pub pulled: Vec<Pulled>,
    /// The side of what stays at its level in the column.
    rest: Option<u32>,
}

/// Rows that are pulled out of a side.
#[derive(Debug, Clone)]
pub struct Pulled {
    /// The side.
    pub side: u32,
    /// The sensitive tuple of the rows.
    pub sensitive: SensitiveId,
    pool: PullableRows,
}

impl Pulled {
    /// How many combinations must be looked at, at the most, to know the rows: the last ones of the side that have the
    /// sensitive tuple, in the order of their quasi codes.
    pub fn looked_at(&self) -> u64 {
        self.pool.pulled.len() as u64
    }

    /// The rows that are pulled out of each of those combinations, given their rows, the last combination first.
    pub fn taken(&self, rows: impl IntoIterator<Item = u64>) -> Vec<u64> {
        self.pool.taken(rows)
    }
}

impl Division {
    /// The side that rows are pulled to.
    pub fn rest(&self) -> Option<u32> {
        self.rest
    }

    /// The side of a code.
    pub fn side(&self, code: u32) -> Option<u32> {
        let at = self.sides.binary_search_by_key(&code, |side| side.0).ok()?;
        self.sides.get(at).map(|side| side.1)
    }

    /// The place of a side of a part.
    pub fn place(&self, of: &Place, side: u32) -> Arc<Place> {
        let mut place = of.clone();
        place.sides.push(side);
        if let (true, Some(stuck)) = (self.rest == Some(side), place.stuck.get_mut(self.column)) {
            *stuck = true;
        }
        Arc::new(place)
    }
}

impl PartialSearch<'_> {
    /// How a part is divided; `None` when it is a class.
    pub fn divide(&self, summary: &Summary, place: &Place) -> Option<Division> {
        match self.way {
            DivisionRule::Mondrian { median } => self.cut(summary, median),
            DivisionRule::TopDown => self.specialize(summary, &place.stuck),
        }
    }

    /// Where Mondrian cuts.
    fn cut(&self, summary: &Summary, median: bool) -> Option<Division> {
        let (shape, tally) = (summary.shape(&self.space)?, summary.tally(&self.judge));
        let control = Control::default();
        let chooser = Chooser { space: &self.space, counted: None, judge: &self.judge, control, median };
        let mut source = summary.source(&self.space, &self.judge);
        let cut = chooser.best(&mut source, &mut Memory::default(), &shape, tally.rows)?;
        let group: &[u32] = match self.space.cuts(&shape, cut.column) {
            Cuts::Grouped { group, .. } => group,
            _ => &[],
        };
        let lines = summary.columns.get(cut.column)?;
        let mut nodes: Vec<u32> = match cut.kind {
            CutKind::Each => lines.code.iter().map(|&code| group[code as usize]).collect(),
            _ => Vec::new(),
        };
        nodes.sort_unstable();
        nodes.dedup();
        let side = |code: u32| match cut.kind {
            CutKind::Below(last) => u32::from(code > last),
            CutKind::One(node) => u32::from(group[code as usize] != node),
            CutKind::Each => nodes.partition_point(|&node| node < group[code as usize]) as u32,
            // Only where rows that agree may part.
            CutKind::Half(_) => 0,
        };
        let mut combinations = vec![0; nodes.len().max(2)];
        let mut sides = Vec::new();
        for (&code, more) in lines.code.iter().zip(&lines.combinations) {
            sides.push((code, side(code)));
            combinations[side(code) as usize] += more;
        }
        sides.sort_unstable();
        sides.dedup();
        Some(Division { column: cut.column, sides, combinations, pulled: Vec::new(), rest: None })
    }

    /// What top-down specialization does.
    fn specialize(&self, summary: &Summary, stuck: &[bool]) -> Option<Division> {
        let loss = self.space.cost(&summary.shape(&self.space)?) * summary.rows() as f64;
        let mut best: Option<(usize, Branched)> = None;
        for column in (0..self.space.width()).filter(|&c| stuck.get(c) != Some(&true)) {
            let Some(branched) = self.branch(summary, column) else { continue };
            let less = |b: &(usize, Branched)| branched.branches.loss < b.1.branches.loss;
            if branched.branches.loss <= loss && best.as_ref().is_none_or(less) {
                best = Some((column, branched));
            }
        }
        let (column, Branched { child_of, branches }) = best?;
        let Branches { separate, pools, .. } = branches;
        // Children in their order, and what stays behind after them.
        let separated = separate.iter().filter(|s| **s).count() as u32;
        let mut side_of = vec![separated; separate.len()];
        (0..).zip(side_of.iter_mut().zip(&separate).filter(|s| *s.1)).for_each(|(next, (side, _))| *side = next);
        let rest = (side_of.len() as u32 > separated).then_some(separated);
        let mut combinations = vec![0; separated as usize + usize::from(rest.is_some())];
        let lines = summary.columns.get(column)?;
        let mut sides = Vec::new();
        for ((&code, more), &child) in lines.code.iter().zip(&lines.combinations).zip(&child_of) {
            sides.push((code, side_of[child]));
            combinations[side_of[child] as usize] += more;
        }
        sides.sort_unstable();
        sides.dedup();
        let pulled: Vec<Pulled> =
            (pools.into_iter()).map(|pool| Pulled { side: side_of[pool.child], sensitive: pool.key.0, pool }).collect();
        if let Some(last) = combinations.last_mut() {
            *last += pulled.iter().map(|p| p.pool.kept() as u64).sum::<u64>();
        }
        Some(Division { column, sides, combinations, pulled, rest })
    }

    fn branch(&self, summary: &Summary, column: usize) -> Option<Branched> {
        let (g, lines) = (self.search.generalizations.get(column)?, summary.columns.get(column)?);
        let below = g.levels.get(level_below(g, lines.code.iter().copied())?)?;
        let label = |line: usize| below.of[lines.code[line] as usize];
        let mut order: Vec<usize> = (0..lines.code.len()).collect();
        order.sort_by_key(|&line| label(line));
        let mut child_of = vec![0; order.len()];
        let mut children = Vec::new();
        for same in order.chunk_by(|&a, &b| label(a) == label(b)) {
            let mut shape = lines.shape(same[0], &self.space).to_vec();
            for &line in same {
                child_of[line] = children.len();
                self.space.merge(&mut shape, lines.shape(line, &self.space));
            }
            let tally = self.judge.tally(same.iter().map(|&line| lines.entry(line as u32)));
            children.push(Child { tally, shape });
        }
        let control = Control::default();
        let specializer = Specializer { space: &self.space, judge: &self.judge, control };
        let branches = specializer.specialize(&mut children, |separate| {
            let separated = (0..child_of.len()).filter(|&line| separate[child_of[line]]);
            let lines = separated.map(|line| {
                let entry = lines.entry(line as u32);
                (child_of[line], entry.sensitive, entry.rows, lines.shape(line, &self.space))
            });
            pools_of(&self.space, lines)
        })?;
        Some(Branched { child_of, branches })
    }
}

/// A part specialized on a column.
struct Branched {
    /// The child of each line.
    child_of: Vec<usize>,
    branches: Branches,
}
