//! An index over rows or clusters in the space of quasi tuples, which finds the best without looking at all.
//!
//! A k-d tree whose nodes know the shape over everything below them. Whoever asks brings a lower bound for all that lies
//! in a shape, so branches that cannot hold the best are passed over: the answer is the one that a scan over all items
//! gives, the item with the lower number winning a tie. Items can be removed, and their shapes can grow.
//!
//! Costs are compared in billionths: tables are full of rows that agree, so ties are the normal case, and rounding must
//! neither decide them nor keep the tree from passing over all but one of them.

use super::Space;

/// Items in a leaf, at the most.
const LEAF: usize = 8;

#[derive(Debug, Clone)]
struct Node {
    parent: u32,
    /// The two halves; a leaf has none.
    halves: Option<(u32, u32)>,
    /// Where its items stand in `order`.
    items: (u32, u32),
    /// Items that are not removed.
    live: u32,
    /// The lowest item number.
    lowest: u32,
    /// The least that any item below it has.
    least: Least,
}

/// What every item in a part of the tree has at the least: clusters state it, rows leave it at zero.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Least {
    /// Rows.
    pub rows: f64,
    /// What its shape costs a row.
    pub cost: f64,
}

impl Least {
    fn min(self, other: Least) -> Least {
        Least { rows: self.rows.min(other.rows), cost: self.cost.min(other.cost) }
    }
}

/// A k-d tree over items 0, 1, 2, ….
#[derive(Debug, Clone)]
pub struct Tree {
    words: usize,
    nodes: Vec<Node>,
    /// The shape of each node.
    shapes: Vec<u64>,
    order: Vec<u32>,
    leaf_of: Vec<u32>,
    removed: Vec<bool>,
    /// The shape of each item.
    item_shapes: Vec<u64>,
    item_least: Vec<Least>,
    /// Whether to look at every item all the same: the reference that tests compare with.
    pub scan: bool,
}

impl Tree {
    /// A tree over items with these codes, `space.width()` each.
    pub fn new(space: &Space, codes: &[u32], items: usize) -> Self {
        let mut tree = Tree {
            words: space.words(),
            nodes: Vec::new(),
            shapes: Vec::new(),
            order: (0..items as u32).collect(),
            leaf_of: vec![0; items],
            removed: vec![false; items],
            item_shapes: vec![0; items * space.words()],
            item_least: vec![Least::default(); items],
            scan: false,
        };
        for (shape, tuple) in
            tree.item_shapes.chunks_exact_mut(space.words().max(1)).zip(codes.chunks_exact(space.width().max(1)))
        {
            space.start(shape, tuple);
        }
        if items > 0 {
            let mut order = std::mem::take(&mut tree.order);
            tree.grow(space, codes, &mut order, 0, u32::MAX);
            tree.order = order;
        }
        tree
    }

    fn grow(&mut self, space: &Space, codes: &[u32], items: &mut [u32], first: usize, parent: u32) -> u32 {
        let (width, number) = (space.width(), self.nodes.len() as u32);
        let tuple = |i: u32| &codes[i as usize * width..(i as usize + 1) * width];
        self.nodes.push(Node {
            parent,
            halves: None,
            items: (first as u32, (first + items.len()) as u32),
            live: items.len() as u32,
            lowest: items.iter().copied().min().unwrap_or(0),
            least: Least::default(),
        });
        let mut shape = vec![0; self.words];
        let mut low = vec![f64::INFINITY; width];
        let mut high = vec![f64::NEG_INFINITY; width];
        for (n, &i) in items.iter().enumerate() {
            if n == 0 {
                space.start(&mut shape, tuple(i))
            } else {
                space.add(&mut shape, tuple(i))
            }
            for (c, &code) in tuple(i).iter().enumerate() {
                let place = space.places[c][code as usize];
                low[c] = low[c].min(place);
                high[c] = high[c].max(place);
            }
        }
        self.shapes.extend_from_slice(&shape);
        let widest = (0..width).max_by(|&a, &b| (high[a] - low[a]).total_cmp(&(high[b] - low[b])));
        match widest {
            Some(c) if items.len() > LEAF => {
                let place = |i: u32| space.places[c][tuple(i)[c] as usize];
                let middle = items.len() / 2;
                items.select_nth_unstable_by(middle, |&a, &b| place(a).total_cmp(&place(b)).then(a.cmp(&b)));
                let (left, right) = items.split_at_mut(middle);
                let left = self.grow(space, codes, left, first, number);
                let right = self.grow(space, codes, right, first + middle, number);
                self.nodes[number as usize].halves = Some((left, right));
            }
            _ => items.iter().for_each(|&i| self.leaf_of[i as usize] = number),
        }
        number
    }

    /// The number of items that are not removed.
    pub fn len(&self) -> usize {
        self.nodes.first().map_or(0, |n| n.live as usize)
    }

    /// Whether every item is removed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes an item out; the shapes above it shrink.
    pub fn remove(&mut self, space: &Space, item: u32) {
        if std::mem::replace(&mut self.removed[item as usize], true) {
            return;
        }
        self.count(item, |live| *live -= 1);
        self.tighten(space, item, false);
    }

    /// Puts an item back.
    pub fn restore(&mut self, space: &Space, item: u32) {
        if std::mem::replace(&mut self.removed[item as usize], false) {
            self.count(item, |live| *live += 1);
            // Branches that were empty kept an old shape, so nothing may be taken as unchanged.
            self.tighten(space, item, true);
        }
    }

    fn count(&mut self, item: u32, change: impl Fn(&mut u32)) {
        let mut node = self.leaf_of[item as usize];
        while let Some(n) = self.nodes.get_mut(node as usize) {
            change(&mut n.live);
            node = n.parent;
        }
    }

    /// Whether an item is removed.
    pub fn removed(&self, item: u32) -> bool {
        self.removed[item as usize]
    }

    /// Tells that an item has grown.
    pub fn grown(&mut self, space: &Space, item: u32, shape: &[u64], least: Least) {
        let at = item as usize * self.words;
        self.item_shapes[at..at + self.words].copy_from_slice(shape);
        self.item_least[item as usize] = least;
        self.tighten(space, item, false);
    }

    /// Computes the nodes above an item anew, as far as they change or else to the root.
    fn tighten(&mut self, space: &Space, item: u32, to_the_root: bool) {
        let words = self.words;
        let mut shape = vec![0; words];
        let mut node = self.leaf_of[item as usize];
        while let Some(n) = self.nodes.get(node as usize) {
            let mut least: Option<Least> = None;
            let mut cover = |other: &[u64], has: Least| {
                match least {
                    None => shape.copy_from_slice(other),
                    Some(_) => space.merge(&mut shape, other),
                }
                least = Some(least.map_or(has, |l| l.min(has)));
            };
            match n.halves {
                None => {
                    for &i in &self.order[n.items.0 as usize..n.items.1 as usize] {
                        if !self.removed[i as usize] {
                            let at = i as usize * words;
                            cover(&self.item_shapes[at..at + words], self.item_least[i as usize]);
                        }
                    }
                }
                Some((left, right)) => {
                    for half in [left as usize, right as usize] {
                        if self.nodes[half].live > 0 {
                            cover(&self.shapes[half * words..(half + 1) * words], self.nodes[half].least);
                        }
                    }
                }
            }
            let (at, parent) = (node as usize * words, n.parent);
            if let Some(least) = least {
                if !to_the_root && self.shapes[at..at + words] == shape && self.nodes[node as usize].least == least {
                    break;
                }
                self.shapes[at..at + words].copy_from_slice(&shape);
                self.nodes[node as usize].least = least;
            }
            node = parent;
        }
    }

    /// Shows the halves of a node, or its items when it is a leaf; the root has the number 0.
    pub fn open(&self, node: u32, mut half: impl FnMut(u32, &[u64]), item: impl FnMut(u32)) {
        let Some(n) = self.nodes.get(node as usize).filter(|n| n.live > 0) else { return };
        match n.halves {
            None => {
                let items = self.order[n.items.0 as usize..n.items.1 as usize].iter().copied();
                items.filter(|&i| !self.removed[i as usize]).for_each(item);
            }
            Some((left, right)) => {
                for h in [left, right] {
                    if self.nodes[h as usize].live > 0 {
                        half(h, self.shape(h));
                    }
                }
            }
        }
    }

    /// The shape over everything below a node.
    pub fn shape(&self, node: u32) -> &[u64] {
        &self.shapes[node as usize * self.words..(node as usize + 1) * self.words]
    }

    /// The item with the least cost that is clearly below `limit`, given a lower bound for everything in a shape. `cost` says
    /// `None` for items that do not count.
    pub fn least(
        &self,
        limit: f64,
        bound: impl Fn(&[u64], Least) -> f64,
        mut cost: impl FnMut(u32) -> Option<f64>,
    ) -> Option<(f64, u32)> {
        let mut best = Best { cost: quantum(limit), item: 0, exact: None };
        if self.scan {
            for item in (0..self.removed.len() as u32).filter(|&i| !self.removed[i as usize]) {
                if let Some(c) = cost(item) {
                    best.try_item(c, item);
                }
            }
        } else if !self.is_empty() {
            self.visit(0, floor(bound(self.shape(0), self.nodes[0].least)), &bound, &mut cost, &mut best);
        }
        best.exact.map(|cost| (cost, best.item))
    }

    fn visit(
        &self,
        node: u32,
        here: f64,
        bound: &impl Fn(&[u64], Least) -> f64,
        cost: &mut impl FnMut(u32) -> Option<f64>,
        best: &mut Best,
    ) {
        let n = &self.nodes[node as usize];
        if n.live == 0 || here > best.cost || (here == best.cost && n.lowest >= best.item) {
            return;
        }
        match n.halves {
            None => {
                for &item in &self.order[n.items.0 as usize..n.items.1 as usize] {
                    if !self.removed[item as usize]
                        && let Some(c) = cost(item)
                    {
                        best.try_item(c, item);
                    }
                }
            }
            Some((left, right)) => {
                let of = |node: u32| floor(bound(self.shape(node), self.nodes[node as usize].least));
                let (a, b) = (of(left), of(right));
                let left_first = (a, self.nodes[left as usize].lowest) <= (b, self.nodes[right as usize].lowest);
                let halves = if left_first { [(left, a), (right, b)] } else { [(right, b), (left, a)] };
                for (half, least) in halves {
                    self.visit(half, least, bound, cost, best);
                }
            }
        }
    }
}

/// The best item so far; at first the limit, which no item ties with.
struct Best {
    cost: f64,
    item: u32,
    exact: Option<f64>,
}

impl Best {
    fn try_item(&mut self, cost: f64, item: u32) {
        let rounded = quantum(cost);
        if rounded < self.cost || (rounded == self.cost && item < self.item) {
            *self = Best { cost: rounded, item, exact: Some(cost) };
        }
    }
}

/// A cost in billionths.
pub fn quantum(cost: f64) -> f64 {
    (cost * 1e9).round()
}

/// A lower bound in billionths, a hair lower so that its own rounding never lifts it above what it bounds.
pub fn floor(bound: f64) -> f64 {
    quantum(bound - 1e-12)
}

/// Whether a cost is worth comparing with the best so far, or clearly above it.
pub fn clearly_above(cost: f64, best: f64) -> bool {
    cost > best + 2e-9
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::Random;
    use crate::local::fixture::Fixture;

    #[test]
    fn the_tree_finds_what_a_scan_finds() {
        let fixture = Fixture::random(5, 300, false);
        let space = Space::new(&fixture.generalizations);
        let set = &fixture.set;
        let mut tree = Tree::new(&space, &set.tuples, set.len());
        let mut random = Random::new(1);
        let mut shape = vec![0; space.words()];
        for round in 0..200 {
            space.start(&mut shape, set.tuple(random.below(set.len())));
            for _ in 0..random.below(4) {
                space.add(&mut shape, set.tuple(random.below(set.len())));
            }
            let ask = |tree: &Tree| {
                let near = tree.least(
                    f64::INFINITY,
                    |s, _| space.cost(&shape) + space.stretch(&shape, s),
                    |i| Some(space.cost_with(&shape, set.tuple(i as usize))),
                );
                let far = tree.least(
                    f64::INFINITY,
                    |s, _| -space.cost_merged(&shape, s),
                    |i| Some(-space.cost_with(&shape, set.tuple(i as usize))),
                );
                (near.map(|n| n.1), far.map(|f| f.1))
            };
            let found = ask(&tree);
            tree.scan = true;
            assert_eq!(found, ask(&tree));
            tree.scan = false;
            match round % 3 {
                0 => tree.restore(&space, random.below(set.len()) as u32),
                _ => (0..4).for_each(|_| tree.remove(&space, random.below(set.len()) as u32)),
            }
        }
    }
}
