//! A step of top-down specialization, decided by what the children of a node hold.
//!
//! What is looked at can be added up: the rows of each child by sensitive tuple, and how far they reach in every
//! column. So the rows themselves may be elsewhere, and the same code decides about them ([`crate::partial`]). For
//! that, a step costs `Σ loss(child before any row is pulled) + loss(hull of the rows from which the rest is filled
//! up)`, an upper bound of the loss after pulling: the rows that are pulled are among those, so their hull is no
//! larger.

use crate::control::Control;
use crate::frequency::{Entry, NOBODY};
use crate::hierarchy::Generalization;
use crate::ids::SensitiveId;
use crate::local::class::{Judge, Tally};
use crate::local::shape::{Shape, ShapeWord, Space};

/// The rows of a node that agree in one column, one level down.
#[derive(Debug, Clone)]
pub(crate) struct Child {
    pub tally: Tally,
    pub shape: Vec<ShapeWord>,
}

/// The rows of a child that agree in their sensitive tuple (and person, where those repeat): the last is pulled first.
#[derive(Debug, Clone)]
pub(crate) struct PullableRows {
    pub key: (SensitiveId, u32),
    pub child: usize,
    /// How far they reach.
    pub shape: Vec<ShapeWord>,
    pub units: Units,
    /// For each unit that was pulled, the last of them first, whether it stays with the parent.
    pub pulled: Vec<bool>,
}

/// What is pulled at a time.
#[derive(Debug, Clone)]
pub(crate) enum Units {
    /// One of this number of rows.
    Rows(u64),
    /// All rows of a person with one tuple, the last tuple first: halves of a person would count twice.
    Persons(Vec<u64>),
}

/// What becomes of the children of a node.
#[derive(Debug, Clone)]
pub(crate) struct Branches {
    pub loss: f64,
    /// Whether each child becomes a node of its own; the others go back to the parent.
    pub separate: Vec<bool>,
    /// What is pulled out of children.
    pub pools: Vec<PullableRows>,
}

/// Decides about a step.
pub(crate) struct Specializer<'a> {
    pub space: &'a Space,
    pub judge: &'a Judge<'a>,
    pub control: Control<'a>,
}

/// The level one below the lowest at which all of some codes agree. None when they are the same.
pub(crate) fn level_below(g: &Generalization, codes: impl IntoIterator<Item = u32>) -> Option<usize> {
    let mut codes = codes.into_iter();
    let first = codes.next()? as usize;
    let mut level = 0;
    for code in codes {
        while g.levels.get(level).is_some_and(|l| l.of[code as usize] != l.of[first]) {
            level += 1;
        }
    }
    level.checked_sub(1)
}

impl Units {
    fn get(&self, index: usize) -> Option<u64> {
        match self {
            Units::Rows(rows) => ((index as u64) < *rows).then_some(1),
            Units::Persons(rows) => rows.get(index).copied(),
        }
    }
}

impl PullableRows {
    /// How many rows of each part stay with the parent, given the parts, the last first.
    pub fn taken(&self, rows: impl IntoIterator<Item = u64>) -> Vec<u64> {
        let mut units = self.pulled.iter();
        let mut taken = Vec::new();
        for rows in rows {
            if units.len() == 0 {
                break;
            }
            taken.push(match self.units {
                Units::Rows(_) => units.by_ref().take(rows as usize).filter(|p| **p).count() as u64,
                Units::Persons(_) => units.next().filter(|p| **p).map_or(0, |_| rows),
            });
        }
        taken
    }

    /// How many units stay with the parent.
    pub fn kept(&self) -> usize {
        self.pulled.iter().filter(|p| **p).count()
    }

    fn entry(&self) -> Entry {
        Entry { sensitive: self.key.0, person: self.key.1, rows: 0 }
    }
}

impl Specializer<'_> {
    /// What becomes of the children of a node; none when they cannot be told apart. `pools` has the rows of the
    /// children that stand by themselves, and is asked for only if some of them are needed in the parent.
    pub fn specialize(
        &self,
        children: &mut [Child],
        pools: impl FnOnce(&[bool]) -> Vec<PullableRows>,
    ) -> Option<Branches> {
        let (space, judge) = (self.space, self.judge);
        let mut separate: Vec<bool> =
            children.iter().map(|c| judge.holds_over(&c.tally, || Some(space.cells(&c.shape)))).collect();
        if !separate.contains(&true) {
            return None;
        }
        let mut rest: Option<Child> = None;
        for (child, _) in children.iter().zip(&separate).filter(|(_, separate)| !**separate) {
            self.gather(&mut rest, child);
        }
        let mut pulled = Vec::new();
        if let Some(rest) = &mut rest
            && !self.holds(rest)
        {
            let pools = pools(&separate);
            loop {
                let open = pools.iter().filter(|pool| separate[pool.child]).cloned().collect();
                if let Some(found) = self.pull(children, open, &mut rest.tally) {
                    found.iter().for_each(|pool| space.merge(&mut rest.shape, &pool.shape));
                    pulled = found;
                    break;
                }
                // No child can spare enough rows: a whole one goes back.
                let whole = self.whole(children, &separate, rest)?;
                separate[whole] = false;
                judge.merge(&mut rest.tally, &children[whole].tally);
                space.merge(&mut rest.shape, &children[whole].shape);
                if self.holds(rest) {
                    break;
                }
            }
        }
        let separated = children.iter().zip(&separate).filter(|(_, separate)| **separate);
        let total =
            separated.map(|(child, _)| self.loss(child)).sum::<f64>() + rest.as_ref().map_or(0.0, |r| self.loss(r));
        Some(Branches { loss: total, separate, pools: pulled })
    }

    fn loss(&self, child: &Child) -> f64 {
        self.space.cost(&child.shape) * child.tally.rows as f64
    }

    fn holds(&self, child: &Child) -> bool {
        self.judge.holds_over(&child.tally, || Some(self.space.cells(&child.shape)))
    }

    fn gather(&self, rest: &mut Option<Child>, child: &Child) {
        match rest {
            None => *rest = Some(child.clone()),
            Some(rest) => {
                self.judge.merge(&mut rest.tally, &child.tally);
                self.space.merge(&mut rest.shape, &child.shape);
            }
        }
    }

    /// The child that goes back to the parent as a whole: of those with which the parent holds, or of all where it
    /// holds with none, the one whose rows lose least by it. None when it is the last that separate.
    fn whole(&self, children: &[Child], separate: &[bool], rest: &Child) -> Option<usize> {
        let separated: Vec<usize> = (0..children.len()).filter(|&c| separate[c]).collect();
        if separated.len() < 2 {
            return None;
        }
        let priced = separated.into_iter().map(|c| {
            let mut together = Some(rest.clone());
            self.gather(&mut together, &children[c]);
            let (holds, loss) = together.as_ref().map_or((false, 0.0), |t| (self.holds(t), self.loss(t)));
            (!holds, loss - self.loss(&children[c]), c)
        });
        priced.min_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2))).map(|(_, _, c)| c)
    }

    /// Pulls just enough rows out of the children for the parent to hold; none when that cannot be done. It is not even
    /// tried where a population counts: which row lets a class match more people depends on all the others.
    fn pull(
        &self,
        children: &mut [Child],
        mut pools: Vec<PullableRows>,
        parent: &mut Tally,
    ) -> Option<Vec<PullableRows>> {
        if self.judge.needs_population() {
            return None;
        }
        // Where pulling fails in the end, the children keep their rows.
        let mut left: Vec<Tally> = children.iter().map(|c| c.tally.clone()).collect();
        let tally = &mut parent.clone();
        let have = |tally: &Tally, key: (SensitiveId, u32)| {
            tally.counts.binary_search_by_key(&key, |c| c.0).map_or(0, |i| tally.counts[i].1)
        };
        let mut order: Vec<usize> = (0..pools.len()).collect();
        let mut steps: Vec<(usize, usize, u64)> = Vec::new();
        while !self.judge.holds(tally) {
            // Whoever asked for the classes then looks at it again.
            if self.control.checkpoint().is_err() {
                return None;
            }
            order.sort_by_key(|&p| {
                let PullableRows { key, child, .. } = pools[p];
                (have(tally, key), u64::MAX - left[child].rows, key, child)
            });
            let chosen = order.iter().find_map(|&p| {
                let pool = &pools[p];
                let rows = pool.units.get(pool.pulled.len())?;
                let mut less = left[pool.child].clone();
                self.judge.remove(&mut less, pool.entry(), rows);
                self.judge.holds(&less).then_some((p, rows, less))
            });
            let (p, rows, less) = chosen?;
            let pool = &mut pools[p];
            left[pool.child] = less;
            self.judge.add(tally, pool.entry(), rows);
            steps.push((p, pool.pulled.len(), rows));
            pool.pulled.push(true);
        }
        // Just enough: what the parent can do without goes back down.
        for (p, unit, rows) in steps.into_iter().rev() {
            let pool = &mut pools[p];
            let (mut less, mut more) = (tally.clone(), left[pool.child].clone());
            self.judge.remove(&mut less, pool.entry(), rows);
            self.judge.add(&mut more, pool.entry(), rows);
            if self.judge.holds(&less) && self.judge.holds(&more) {
                *tally = less;
                left[pool.child] = more;
                pool.pulled[unit] = false;
            }
        }
        *parent = tally.clone();
        children.iter_mut().zip(left).for_each(|(child, left)| child.tally = left);
        pools.retain(|pool| pool.kept() > 0);
        pools.sort_by_key(|pool| (pool.child, pool.key));
        Some(pools)
    }
}

/// The rows of children by sensitive tuple, for [`Specializer::specialize`]: children, sensitive tuples, rows and
/// shapes of what was added up.
pub(crate) fn pools_of<'a>(
    space: &Space,
    lines: impl Iterator<Item = (usize, SensitiveId, u64, &'a Shape)>,
) -> Vec<PullableRows> {
    let mut lines: Vec<(usize, SensitiveId, u64, &Shape)> = lines.collect();
    lines.sort_by_key(|line| (line.0, line.1));
    let pools = lines.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).map(|same| {
        let mut shape = same[0].3.to_vec();
        same[1..].iter().for_each(|line| space.merge(&mut shape, line.3));
        let units = Units::Rows(same.iter().map(|line| line.2).sum());
        PullableRows { key: (same[0].1, NOBODY), child: same[0].0, shape, units, pulled: Vec::new() }
    });
    pools.collect()
}
