//! The nodes of one column's hierarchy, laid out for the question that clustering asks most: where do two of them meet?

use crate::hierarchy::Generalization;

/// Above this many values a table of all pairs would not stay in the processor's cache.
const PAIRS: usize = 1024;

/// A node is a level and any code below it.
pub(super) type Node = (u32, u32);

/// The nodes above each code, and what they cost.
#[derive(Debug, Clone)]
pub(super) struct Nodes {
    codes: usize,
    /// `value[level · codes + code]`: the node above a code.
    value: Vec<u32>,
    /// `cost[level · codes + code]`: what the node above a code costs a row.
    cost: Vec<f64>,
    /// `middle[level · codes + code]`: where the node above a code lies among the places of the codes.
    middle: Vec<f64>,
    /// `pairs[a · codes + b]`: the level at which two codes meet; empty when there are too many.
    pairs: Vec<u8>,
}

impl Nodes {
    /// `cost` says what a node costs, by level and number; `places` where each code lies.
    pub(super) fn new(g: &Generalization, places: &[f64], cost: impl Fn(usize, usize) -> f64) -> Self {
        let codes = g.active();
        let mut nodes = Nodes { codes, value: Vec::new(), cost: Vec::new(), middle: Vec::new(), pairs: Vec::new() };
        for (level, l) in g.levels.iter().enumerate() {
            let count = l.of.iter().max().map_or(0, |&m| m as usize + 1);
            let mut extent = vec![(f64::INFINITY, f64::NEG_INFINITY); count];
            for (&node, &place) in l.of.iter().zip(places) {
                let (low, high) = &mut extent[node as usize];
                (*low, *high) = (low.min(place), high.max(place));
            }
            nodes.value.extend_from_slice(&l.of);
            nodes.cost.extend(l.of.iter().map(|&node| cost(level, node as usize)));
            nodes.middle.extend(l.of.iter().map(|&node| (extent[node as usize].0 + extent[node as usize].1) / 2.0));
        }
        if codes <= PAIRS && g.levels.len() <= usize::from(u8::MAX) {
            let pair = |i: usize| nodes.search((0, (i / codes) as u32), (0, (i % codes) as u32)) as u8;
            nodes.pairs = (0..codes * codes).map(pair).collect();
        }
        nodes
    }

    fn at(&self, level: u32, code: u32) -> usize {
        level as usize * self.codes + code as usize
    }

    /// The node above a code.
    pub(super) fn value(&self, (level, code): Node) -> u32 {
        self.value[self.at(level, code)]
    }

    /// What a node costs a row.
    #[inline]
    pub(super) fn cost(&self, (level, code): Node) -> f64 {
        self.cost[self.at(level, code)]
    }

    /// Where a node lies.
    pub(super) fn middle(&self, (level, code): Node) -> f64 {
        self.middle[self.at(level, code)]
    }

    /// The number of levels, that of the codes included.
    pub(super) fn levels(&self) -> u32 {
        self.value.len().checked_div(self.codes).unwrap_or(0) as u32
    }

    /// The node of each code at a level.
    pub(super) fn level(&self, level: u32) -> &[u32] {
        &self.value[level as usize * self.codes..(level as usize + 1) * self.codes]
    }

    /// The lowest level at which two nodes meet.
    #[inline]
    pub(super) fn meet(&self, a: Node, b: Node) -> u32 {
        match self.pairs.get(a.1 as usize * self.codes + b.1 as usize) {
            Some(&level) => u32::from(level).max(a.0).max(b.0),
            None => self.search(a, b),
        }
    }

    fn search(&self, a: Node, b: Node) -> u32 {
        let mut level = a.0.max(b.0);
        while self.value((level, a.1)) != self.value((level, b.1)) {
            level += 1;
        }
        level
    }
}
