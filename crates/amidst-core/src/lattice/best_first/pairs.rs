//! The coarsest nodes that tell something: those with one or two columns below their top.
//!
//! Such a node has few classes, and all nodes that have these two columns no higher are below it. Where two columns
//! alone make many rows fail, it shows that of a large part of the lattice, most of which would otherwise have to be
//! ruled out piece by piece: nodes that are looked at for the sake of others are never dearer than the best one known.

use std::ops::ControlFlow;

use rayon::prelude::*;

use super::BestFirst;
use crate::lattice::find::lock;
use crate::lattice::key::Key;
use crate::lattice::snapshot::Snapshot;
use crate::search::SearchError;

impl<K: Key> BestFirst<'_, '_, K> {
    /// Judges every node that has two columns below their tops, if that may tell what finer nodes must suppress.
    pub(super) fn judge_pairs(&self) -> Result<(), SearchError> {
        let (bottom, top) = (&self.grid.bottom, &self.grid.top);
        let columns: Vec<usize> = (0..top.len()).filter(|&c| bottom[c] < top[c]).collect();
        let judge = &self.walk.judge;
        // Where costs are not known from the levels, classes of finer nodes tell more.
        let told = judge.limit > 0 && judge.can_rule_out() && self.pricer.known_by_levels();
        if !told || columns.len() <= FEW || self.search.control.overdue() {
            return Ok(());
        }
        // Any two columns are in two of three groups: three large snapshots serve all pairs.
        let group = |first: usize| columns.iter().copied().skip(first).step_by(3);
        for (one, other) in [(0, 1), (0, 2), (1, 2)] {
            let both: Vec<usize> = group(one).chain(group(other)).collect();
            self.hold(self.project(&self.walk.base, &both));
        }
        let pairs: Vec<[usize; 2]> =
            columns.iter().flat_map(|&a| columns.iter().filter(move |&&b| a < b).map(move |&b| [a, b])).collect();
        pairs.into_par_iter().try_for_each(|pair| self.judge_pair(pair))
    }

    /// The finest node with all but these columns at their tops.
    fn project(&self, source: &Snapshot<K>, columns: &[usize]) -> Snapshot<K> {
        source.roll_up(&self.walk.layout, &self.lowest(columns), self.walk.judge.carry)
    }

    fn lowest(&self, columns: &[usize]) -> Vec<usize> {
        let mut levels = self.grid.top.clone();
        columns.iter().for_each(|&c| levels[c] = self.grid.bottom[c]);
        levels
    }

    fn judge_pair(&self, pair: [usize; 2]) -> Result<(), SearchError> {
        let low = self.lowest(&pair);
        let source = self.source(&low, true);
        let mut finest = self.project(source.as_deref().unwrap_or(&self.walk.base), &pair);
        self.search.checkpoint()?;
        if self.search.control.overdue() || self.walk.judge.must_suppress(&mut finest.classes).rows == 0 {
            return Ok(());
        }
        let mut nodes = Vec::new();
        self.grid.between(&low, &self.grid.top, &[], |node, _| {
            nodes.push(node);
            ControlFlow::Continue(())
        });
        // The coarsest first: what is closed by it is not looked at.
        nodes.sort_by_key(|&node| std::cmp::Reverse(self.grid.levels(node).iter().sum::<usize>()));
        nodes.into_iter().for_each(|node| self.judge_alone(node, &finest));
        Ok(())
    }

    /// Judges a node for what it tells of those below it.
    fn judge_alone(&self, node: usize, source: &Snapshot<K>) {
        if std::mem::replace(&mut lock(&self.state).nodes[node].closed, true) {
            return;
        }
        let (walk, judge) = (self.walk, &self.walk.judge);
        let levels = self.grid.levels(node);
        walk.judged.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let mut own = source.roll_up(&walk.layout, &levels, judge.carry);
        let most = self.pricer.most_suppressed(&levels, self.best.ceiling());
        let outcome = judge.judge_up_to(&mut own.classes, false, most);
        if outcome.valid {
            self.best.offer(self.pricer.cost(judge, &own.classes, &outcome.suppressed), &levels);
        }
        if !outcome.suppressed.is_empty() {
            let must_suppress = judge.must_suppress(&mut own.classes);
            if must_suppress.rows > 0 {
                self.rule_out(node, &own.classes, &must_suppress);
            }
        }
    }
}

/// With so few columns below their tops, nodes of two are not much coarser than the others.
const FEW: usize = 2;
