//! Finds the class that a row joins at the least growth of information loss, without looking at all of them.
//!
//! A tree over the classes: every node knows a shape over all classes below it, the least and the most that each column
//! of theirs costs, and the fewest rows that one of them has. From these follows how little a row could at best cost
//! below the node; where that is more than the best class found so far, nothing below is looked at. The class that is
//! found is the one that a scan finds: the same growth, computed alike, and the first of equals.

use super::maintain::{Class, House};

/// The most classes that a leaf starts with.
const LEAF: usize = 8;

/// Bounds are sums in another order than costs, so they may be off by a few roundings.
const SLACK: f64 = 1e-9;

struct Node {
    parent: Option<u32>,
    children: Option<(u32, u32)>,
    /// The classes of a leaf.
    classes: Vec<u32>,
    merged: Vec<u64>,
    least: Vec<f64>,
    most: Vec<f64>,
    rows: f64,
}

/// The tree.
pub(super) struct Index {
    nodes: Vec<Node>,
    leaf_of: Vec<u32>,
}

impl Index {
    /// An index of some classes, none of them empty.
    pub fn new(house: &House<'_>, classes: &[Class]) -> Self {
        let mut index = Index { nodes: Vec::new(), leaf_of: vec![0; classes.len()] };
        let all = (0..classes.len() as u32).collect();
        index.grow(house, classes, all, None);
        index
    }

    fn grow(&mut self, house: &House<'_>, classes: &[Class], mut members: Vec<u32>, parent: Option<u32>) -> u32 {
        let at = self.nodes.len() as u32;
        let width = house.space.width();
        self.nodes.push(Node {
            parent,
            children: None,
            classes: Vec::new(),
            merged: vec![0; house.space.words()],
            least: vec![0.0; width],
            most: vec![0.0; width],
            rows: 0.0,
        });
        if members.len() <= LEAF {
            for &class in &members {
                self.leaf_of[class as usize] = at;
            }
            self.nodes[at as usize].classes = members;
        } else {
            let place = |class: u32, column: usize| {
                let code = classes[class as usize].rows.first().map_or(0, |&row| house.codes(row)[column]);
                house.space.places[column][code as usize]
            };
            let spread = |column: usize| {
                let places = members.iter().map(|&c| place(c, column));
                let (low, high) = places.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), p| (l.min(p), h.max(p)));
                high - low
            };
            let spreads: Vec<f64> = (0..width).map(spread).collect();
            let widest = (0..width).max_by(|&a, &b| spreads[a].total_cmp(&spreads[b])).unwrap_or(0);
            if width > 0 {
                members.sort_by(|&a, &b| place(a, widest).total_cmp(&place(b, widest)).then(a.cmp(&b)));
            }
            let upper = members.split_off(members.len() / 2);
            let low = self.grow(house, classes, members, Some(at));
            let high = self.grow(house, classes, upper, Some(at));
            self.nodes[at as usize].children = Some((low, high));
        }
        self.summarize(house, classes, at);
        at
    }

    /// Computes what a node knows from what is directly below it.
    fn summarize(&mut self, house: &House<'_>, classes: &[Class], at: u32) {
        let space = &house.space;
        let mut node = std::mem::replace(
            &mut self.nodes[at as usize],
            Node {
                parent: None,
                children: None,
                classes: Vec::new(),
                merged: Vec::new(),
                least: Vec::new(),
                most: Vec::new(),
                rows: 0.0,
            },
        );
        if let Some((low, high)) = node.children {
            let (a, b) = (&self.nodes[low as usize], &self.nodes[high as usize]);
            node.merged.copy_from_slice(&a.merged);
            space.merge(&mut node.merged, &b.merged);
            for column in 0..node.least.len() {
                node.least[column] = a.least[column].min(b.least[column]);
                node.most[column] = a.most[column].max(b.most[column]);
            }
            node.rows = a.rows.min(b.rows);
        } else {
            node.least.fill(f64::INFINITY);
            node.most.fill(0.0);
            node.rows = f64::INFINITY;
            for (i, &class) in node.classes.iter().enumerate() {
                let class = &classes[class as usize];
                if i == 0 {
                    node.merged.copy_from_slice(&class.shape);
                } else {
                    space.merge(&mut node.merged, &class.shape);
                }
                for column in 0..node.least.len() {
                    let cost = space.column_cost(&class.shape, column);
                    node.least[column] = node.least[column].min(cost);
                    node.most[column] = node.most[column].max(cost);
                }
                node.rows = node.rows.min(class.rows.len() as f64);
            }
        }
        self.nodes[at as usize] = node;
    }

    /// Takes note that a class has changed.
    pub fn refresh(&mut self, house: &House<'_>, classes: &[Class], class: usize) {
        let mut at = self.leaf_of.get(class).copied();
        while let Some(node) = at {
            self.summarize(house, classes, node);
            at = self.nodes[node as usize].parent;
        }
    }

    /// Takes note that the class `new` was made of rows of the class `old`, which has changed, too.
    pub fn add_beside(&mut self, house: &House<'_>, classes: &[Class], old: usize, new: usize) {
        let leaf = self.leaf_of[old];
        self.leaf_of.resize(self.leaf_of.len().max(new + 1), leaf);
        self.nodes[leaf as usize].classes.push(new as u32);
        self.refresh(house, classes, old);
    }

    /// The class that the row joins at the least growth, among those that stay valid with it; the first of equals.
    pub fn best(&self, house: &House<'_>, classes: &[Class], row: u32) -> Option<usize> {
        let codes = house.codes(row);
        let bound = |at: u32| {
            let node = &self.nodes[at as usize];
            let (cost, growth) = house.space.bound_with(&node.merged, &node.least, &node.most, codes);
            node.rows * growth + cost
        };
        let mut best: Option<(f64, usize)> = None;
        let mut open: Vec<(f64, u32)> = vec![(0.0, 0)];
        while let Some((low, at)) = open.pop() {
            if best.is_some_and(|(growth, _)| low > growth + SLACK * (1.0 + growth)) {
                continue;
            }
            let node = &self.nodes[at as usize];
            if let Some((a, b)) = node.children {
                let (a, b) = ((bound(a), a), (bound(b), b));
                // The nearer one is looked at first: it is pushed last.
                open.extend(if a.0 <= b.0 { [b, a] } else { [a, b] });
                continue;
            }
            for &class in &node.classes {
                best = better(house, classes, row, codes, best, class as usize);
            }
        }
        best.map(|(_, class)| class)
    }
}

/// The better of `best` and `class`.
fn better(
    house: &House<'_>,
    classes: &[Class],
    row: u32,
    codes: &[u32],
    best: Option<(f64, usize)>,
    class: usize,
) -> Option<(f64, usize)> {
    let growth = house.growth(&classes[class], codes);
    let wins = match best {
        None => true,
        Some((least, first)) => growth < least || (growth == least && class < first),
    };
    if wins && house.accepts(&classes[class], row) { Some((growth, class)) } else { best }
}

/// What [`Index::best`] must find, by looking at every class.
#[cfg(test)]
pub(super) fn scan(house: &House<'_>, classes: &[Class], row: u32) -> Option<usize> {
    let codes = house.codes(row);
    let found = (0..classes.len()).fold(None, |best, class| better(house, classes, row, codes, best, class));
    found.map(|(_, class)| class)
}
