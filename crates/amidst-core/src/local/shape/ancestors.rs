//! The nodes of one column's hierarchy, laid out for the question that clustering asks most: where do two of them meet?

use crate::hierarchy::Generalization;

/// Above this many values a table of all pairs would not stay in the processor's cache.
const PAIRS: usize = 1024;

/// A node is a level and any code below it.
pub(in crate::local) type Node = (u32, u32);

/// Values, or nodes where the values are more, that a set of marks can tell apart.
const MARKS: usize = 128;

/// Marks of some values of a column.
pub(in crate::local) type Marks = [u64; MARKS / 64];

/// A node above a code, for the question how far up a code meets any of some values.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::local) struct Ring {
    /// The values below the node.
    pub(in crate::local) marks: Marks,
    /// What the node costs a row.
    pub(in crate::local) cost: f64,
}

/// The nodes above each code, and what they cost.
#[derive(Debug, Clone)]
pub(in crate::local) struct Nodes {
    codes: usize,
    /// `value[level · codes + code]`: the node above a code.
    value: Vec<u32>,
    /// `cost[level · codes + code]`: what the node above a code costs a row.
    cost: Vec<f64>,
    /// `middle[level · codes + code]`: where the node above a code lies among the places of the codes.
    middle: Vec<f64>,
    /// `rank[level · codes + code]`: the place of the node above a code among those with the same node above them.
    rank: Vec<u32>,
    /// `below[level · codes + code]`: how many nodes are right below the node above a code.
    below: Vec<u32>,
    /// `pairs[a · codes + b]`: the level at which two codes meet; empty when there are too many.
    pairs: Vec<u8>,
    /// `rings[code · levels + level]`: the node above a code.
    rings: Vec<Ring>,
    /// Whether marks stand for single values, not for nodes above them.
    exact: bool,
    /// The words that marks need.
    mark_words: usize,
    levels: u32,
    /// `grade[level · codes + code]`: the place of the node's cost among `grades`.
    grade: Vec<u32>,
    /// What nodes cost, ascending.
    grades: Vec<f64>,
    /// `turn[level · codes + code]`: the turn of the node above a code among all nodes, by their middles.
    turn: Vec<u32>,
    /// A node of each turn.
    of_turn: Vec<Node>,
}

impl Nodes {
    /// `cost` says what a node costs, by level and number; `places` where each code lies.
    pub(in crate::local) fn new(g: &Generalization, places: &[f64], cost: impl Fn(usize, usize) -> f64) -> Self {
        let codes = g.active();
        let mut nodes = Nodes {
            codes,
            value: Vec::new(),
            cost: Vec::new(),
            middle: Vec::new(),
            rank: Vec::new(),
            below: Vec::new(),
            pairs: Vec::new(),
            rings: Vec::new(),
            exact: true,
            mark_words: 1,
            levels: g.levels.len() as u32,
            grade: Vec::new(),
            grades: Vec::new(),
            turn: Vec::new(),
            of_turn: Vec::new(),
        };
        for (level, l) in g.levels.iter().enumerate() {
            // Values that only a population has stand behind those of the table; no class is made of them.
            let of = &l.of[..codes.min(l.of.len())];
            let count = of.iter().max().map_or(0, |&m| m as usize + 1);
            let mut extent = vec![(f64::INFINITY, f64::NEG_INFINITY); count];
            for (&node, &place) in of.iter().zip(places) {
                let (low, high) = &mut extent[node as usize];
                (*low, *high) = (low.min(place), high.max(place));
            }
            nodes.value.extend_from_slice(of);
            nodes.cost.extend(of.iter().map(|&node| cost(level, node as usize)));
            nodes.middle.extend(of.iter().map(|&node| (extent[node as usize].0 + extent[node as usize].1) / 2.0));
        }
        if codes <= PAIRS && g.levels.len() <= usize::from(u8::MAX) {
            let pair = |i: usize| nodes.search((0, (i / codes) as u32), (0, (i % codes) as u32)) as u8;
            nodes.pairs = (0..codes * codes).map(pair).collect();
        }
        nodes.take_ranks();
        nodes.draw_rings();
        nodes.take_turns();
        nodes
    }

    fn take_ranks(&mut self) {
        self.rank = vec![0; self.value.len()];
        self.below = vec![0; self.value.len()];
        for level in 1..self.levels {
            let (own, above) = (self.level(level - 1), self.level(level));
            let count = |of: &[u32]| of.iter().max().map_or(0, |&m| m as usize + 1);
            let mut parent = vec![0; count(own)];
            own.iter().zip(above).for_each(|(&node, &above)| parent[node as usize] = above);
            let mut next = vec![0; count(above)];
            // Nodes that no value has take a rank too; they are empty wherever ranks are counted.
            let take = |&above: &u32| {
                next[above as usize] += 1;
                next[above as usize] - 1
            };
            let ranks: Vec<u32> = parent.iter().map(take).collect();
            let ranks: Vec<u32> = own.iter().map(|&node| ranks[node as usize]).collect();
            let below: Vec<u32> = above.iter().map(|&node| next[node as usize]).collect();
            let at = level as usize * self.codes;
            self.rank[at - self.codes..at].copy_from_slice(&ranks);
            self.below[at..at + self.codes].copy_from_slice(&below);
        }
    }

    fn draw_rings(&mut self) {
        let levels = self.levels;
        let count = |level: u32| self.level(level).iter().max().map_or(0, |&m| m as usize + 1);
        let marked = (0..levels).find(|&level| count(level) <= MARKS).unwrap_or(0);
        let mark_words = if count(marked) > 64 { 2 } else { 1 };
        let mut rings = vec![Ring::default(); self.codes * levels as usize];
        for level in 0..levels {
            // Below the marked level a node shows as the one above it.
            let mut below = vec![Marks::default(); count(level.max(marked))];
            for (&node, &mark) in self.level(level.max(marked)).iter().zip(self.level(marked)) {
                below[node as usize][mark as usize / 64 % 2] |= 1 << (mark % 64);
            }
            for (code, &node) in self.level(level.max(marked)).iter().enumerate() {
                let cost = self.cost((level, code as u32));
                rings[code * levels as usize + level as usize] = Ring { marks: below[node as usize], cost };
            }
        }
        (self.rings, self.exact, self.mark_words) = (rings, marked == 0, mark_words);
        self.grades = self.cost.clone();
        self.grades.sort_by(f64::total_cmp);
        self.grades.dedup();
        self.grade = self.cost.iter().map(|cost| self.grades.partition_point(|g| g < cost) as u32).collect();
    }

    fn take_turns(&mut self) {
        let mut middles: Vec<(f64, Node)> = (0..self.middle.len())
            .map(|at| (self.middle[at], ((at / self.codes) as u32, (at % self.codes) as u32)))
            .collect();
        middles.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        self.turn = vec![0; middles.len()];
        for same in middles.chunk_by(|a, b| a.0 == b.0) {
            for &(_, (level, code)) in same {
                self.turn[level as usize * self.codes + code as usize] = self.of_turn.len() as u32;
            }
            self.of_turn.push(same[0].1);
        }
    }

    /// The nodes above a code, from a level on.
    #[inline]
    pub(in crate::local) fn rings(&self, (level, code): Node) -> &[Ring] {
        let levels = self.levels as usize;
        &self.rings[code as usize * levels + level as usize..(code as usize + 1) * levels]
    }

    /// Whether marks stand for single values.
    pub(in crate::local) fn exact(&self) -> bool {
        self.exact
    }

    /// The words that marks need: the others are empty.
    #[inline]
    pub(in crate::local) fn mark_words(&self) -> usize {
        self.mark_words
    }

    /// The place of a node's cost among all costs, ascending.
    pub(in crate::local) fn grade(&self, (level, code): Node) -> u32 {
        self.grade[self.at(level, code)]
    }

    /// The cost with this place.
    #[inline]
    pub(in crate::local) fn graded(&self, grade: u32) -> f64 {
        self.grades[grade as usize]
    }

    /// The turn of a node among all nodes, by their middles.
    pub(in crate::local) fn turn(&self, (level, code): Node) -> u32 {
        self.turn[self.at(level, code)]
    }

    /// How much more the node over two turns costs than the costlier of both.
    pub(in crate::local) fn between(&self, a: u32, b: u32) -> f64 {
        let (a, b) = (self.of_turn[a as usize], self.of_turn[b as usize]);
        self.cost((self.meet(a, b), a.1)) - self.cost(a).max(self.cost(b))
    }

    fn at(&self, level: u32, code: u32) -> usize {
        level as usize * self.codes + code as usize
    }

    /// The node above a code.
    pub(in crate::local) fn value(&self, (level, code): Node) -> u32 {
        self.value[self.at(level, code)]
    }

    /// What a node costs a row.
    #[inline]
    pub(in crate::local) fn cost(&self, (level, code): Node) -> f64 {
        self.cost[self.at(level, code)]
    }

    /// Where a node lies.
    pub(in crate::local) fn middle(&self, (level, code): Node) -> f64 {
        self.middle[self.at(level, code)]
    }

    /// The number of levels, that of the codes included.
    pub(in crate::local) fn levels(&self) -> u32 {
        self.levels
    }

    /// The node of each code at a level.
    pub(in crate::local) fn level(&self, level: u32) -> &[u32] {
        &self.value[level as usize * self.codes..(level as usize + 1) * self.codes]
    }

    /// For each code, the place of its node among those right below the same one, at a level.
    pub(in crate::local) fn ranks(&self, level: u32) -> &[u32] {
        &self.rank[level as usize * self.codes..(level as usize + 1) * self.codes]
    }

    /// How many nodes are right below one.
    pub(in crate::local) fn below(&self, (level, code): Node) -> usize {
        self.below[self.at(level, code)] as usize
    }

    /// The lowest level, from one on at which a code lies below the node, at which another does, too.
    #[inline]
    pub(in crate::local) fn climb(&self, (level, code): Node, other: u32) -> u32 {
        match self.value((level, code)) == self.value((level, other)) {
            true => level,
            false => self.search((level, code), (level, other)),
        }
    }

    /// The lowest level at which two nodes meet.
    #[inline]
    pub(in crate::local) fn meet(&self, a: Node, b: Node) -> u32 {
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
