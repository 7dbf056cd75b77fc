//! Incognito's iterations over subsets of the quasi-identifier (LeFevre, DeWitt & Ramakrishnan 2005, §3).
//!
//! A table that satisfies a monotone policy satisfies it with respect to every subset of its quasi columns: leaving out
//! a column is putting it to its top. So iteration i searches the nodes of all subsets of i columns, and its candidates
//! are those whose projections on every subset of i − 1 columns were found valid. They are made by joining two valid
//! nodes that agree in all but their last columns, and pruned by looking up the other projections. In a subset the
//! search goes up breadth first; what generalizes a valid node is valid and is not counted (predictive tagging).

use std::collections::HashMap;

use rayon::prelude::*;

use super::key::Key;
use super::walk::Walk;
use crate::search::{Search, SearchError};

/// Above this many nodes in all subsets together the valid ones are not remembered, and the lattice is walked instead.
const MOST_NODES: f64 = 4e6;

/// Which nodes of one subset of the columns are valid.
struct Graph {
    /// The columns, ascending.
    columns: Vec<usize>,
    /// For each column, how far apart two nodes are that differ by one level of it.
    strides: Vec<usize>,
    /// By position.
    valid: Vec<bool>,
}

impl Graph {
    fn new(columns: Vec<usize>, top: &[usize]) -> Self {
        let mut strides = Vec::with_capacity(columns.len());
        let mut nodes = 1;
        for &c in &columns {
            strides.push(nodes);
            nodes *= top[c] + 1;
        }
        Graph { columns, strides, valid: vec![false; nodes] }
    }

    /// The levels at a position, one per column of the subset.
    fn levels(&self, position: usize, top: &[usize]) -> Vec<usize> {
        self.columns.iter().zip(&self.strides).map(|(&c, &stride)| position / stride % (top[c] + 1)).collect()
    }

    fn position(&self, levels: impl Iterator<Item = usize>) -> usize {
        levels.zip(&self.strides).map(|(level, stride)| level * stride).sum()
    }

    /// Marks everything above the valid nodes as valid.
    fn close_upwards(&mut self, top: &[usize]) {
        for (&column, &stride) in self.columns.iter().zip(&self.strides) {
            for position in 0..self.valid.len() {
                if self.valid[position] && position / stride % (top[column] + 1) < top[column] {
                    self.valid[position + stride] = true;
                }
            }
        }
    }
}

/// The minimal valid nodes; `None` where validity does not climb the lattice, or the subsets have too many nodes.
pub(crate) fn minimal<K: Key>(search: &Search<'_>, walk: &Walk<'_, K>) -> Result<Option<Vec<Vec<usize>>>, SearchError> {
    let top = &walk.top;
    let nodes: f64 = top.iter().map(|&h| h as f64 + 2.0).product();
    if !walk.judge.monotone() || nodes > MOST_NODES || search.set.rolled_up() {
        return Ok(None);
    }
    // Without any column there is one node, the top of the lattice.
    let mut known = vec![Graph { columns: Vec::new(), strides: Vec::new(), valid: vec![valid(walk, top)] }];
    let mut minimal = if known[0].valid[0] { vec![top.clone()] } else { Vec::new() };
    for size in 1..=top.len() {
        let index: HashMap<&[usize], usize> = known.iter().enumerate().map(|(i, g)| (&g.columns[..], i)).collect();
        let subsets = join(&known, top.len());
        let found: Vec<(Graph, Vec<Vec<usize>>)> = subsets
            .into_par_iter()
            .map(|columns| {
                search.checkpoint()?;
                let mut graph = Graph::new(columns, top);
                let candidates = candidates(&graph, &known, &index, top);
                let found = search_subset(walk, &mut graph, &candidates);
                Ok((graph, found))
            })
            .collect::<Result<_, SearchError>>()?;
        search.tell(size as f64 / top.len() as f64);
        let (graphs, nodes): (Vec<Graph>, Vec<Vec<Vec<usize>>>) = found.into_iter().unzip();
        known = graphs;
        if size == top.len() {
            minimal = nodes.into_iter().flatten().collect();
        }
    }
    minimal.sort();
    Ok(Some(minimal))
}

/// The subsets of one more column: two that agree in all but their last column are joined.
fn join(known: &[Graph], columns: usize) -> Vec<Vec<usize>> {
    let next = |g: &Graph| g.columns.last().map_or(0, |&c| c + 1);
    known.iter().flat_map(|g| (next(g)..columns).map(|c| g.columns.iter().copied().chain([c]).collect())).collect()
}

/// The positions of the nodes of a subset whose projections are all valid, ascending.
fn candidates(graph: &Graph, known: &[Graph], index: &HashMap<&[usize], usize>, top: &[usize]) -> Vec<usize> {
    let width = graph.columns.len();
    // The projection that leaves out each column; the last is where the nodes are taken from.
    let projections: Vec<Option<&Graph>> = (0..width)
        .map(|left_out| {
            let columns: Vec<usize> = (0..width).filter(|&i| i != left_out).map(|i| graph.columns[i]).collect();
            index.get(&columns[..]).map(|&i| &known[i])
        })
        .collect();
    let holds = |left_out: usize, levels: &[usize]| {
        let others = levels.iter().enumerate().filter(|&(i, _)| i != left_out).map(|(_, &l)| l);
        projections[left_out].is_some_and(|p| p.valid[p.position(others)])
    };
    let (Some(Some(prefix)), Some(&last), Some(&stride)) =
        (projections.last(), graph.columns.last(), graph.strides.last())
    else {
        return Vec::new();
    };
    let mut candidates = Vec::new();
    for level in 0..=top[last] {
        for position in (0..prefix.valid.len()).filter(|&p| prefix.valid[p]) {
            let joined = position + level * stride;
            let levels = graph.levels(joined, top);
            if (0..width - 1).all(|left_out| holds(left_out, &levels)) {
                candidates.push(joined);
            }
        }
    }
    candidates
}

/// Searches the candidates of one subset from the lowest up, marks the valid nodes and returns the minimal ones, with
/// all other columns at their top.
fn search_subset<K: Key>(walk: &Walk<'_, K>, graph: &mut Graph, candidates: &[usize]) -> Vec<Vec<usize>> {
    let top = &walk.top;
    let whole = |levels: &[usize]| {
        let mut node = top.clone();
        graph.columns.iter().zip(levels).for_each(|(&c, &l)| node[c] = l);
        node
    };
    let mut nodes: Vec<(usize, Vec<usize>)> =
        candidates.iter().map(|&p| graph.levels(p, top)).map(|l| (l.iter().sum(), l)).collect();
    nodes.sort();
    // Every candidate generalizes this node, so all can be rolled up from it.
    let Some((_, first)) = nodes.first() else { return Vec::new() };
    let mut meet = first.clone();
    nodes.iter().for_each(|(_, levels)| meet.iter_mut().zip(levels).for_each(|(m, &l)| *m = (*m).min(l)));
    let source = walk.base.roll_up(&walk.layout, &whole(&meet), walk.judge.carry);
    let mut minimal: Vec<Vec<usize>> = Vec::new();
    for (_, levels) in &nodes {
        if minimal.iter().any(|m| super::layout::finer(m, levels)) {
            continue;
        }
        let mut own = source.roll_up(&walk.layout, &whole(levels), walk.judge.carry);
        walk.judged.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if walk.judge.judge(&mut own.classes, false).valid {
            minimal.push(levels.clone());
        }
    }
    let found = minimal.iter().map(|m| whole(m)).collect();
    for levels in minimal {
        let position = graph.position(levels.into_iter());
        graph.valid[position] = true;
    }
    graph.close_upwards(top);
    found
}

/// Whether a node is valid.
fn valid<K: Key>(walk: &Walk<'_, K>, levels: &[usize]) -> bool {
    let mut snapshot = walk.snapshot(levels);
    walk.judge.judge(&mut snapshot.classes, false).valid
}
