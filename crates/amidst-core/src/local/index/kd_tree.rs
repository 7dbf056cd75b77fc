//! An index over rows or clusters in the space of quasi tuples, which finds the best without looking at all.
//!
//! A k-d tree whose nodes know the hull over everything below them. A query brings a lower bound for all that lies
//! in a hull; branches are looked at in the order of their bounds and those that cannot hold the best are passed over:
//! the answer is the one that a scan over all items gives, the item with the lower number winning a tie. Items can be
//! removed, and their shapes can grow; when many have, the tree is built anew around what they have become.
//!
//! Costs are compared in billionths: tables are full of rows that agree, so ties are the normal case, and rounding must
//! neither decide them nor keep the tree from passing over all but one of them.
//!
//! **Patience.** In a space of many columns the nearest of far neighbours is hardly nearer than the others, and proving
//! which it is means looking at most of the tree. A tree may therefore be told to look at a number of leaves and then
//! to be content with the best of them. Since the most promising leaves come first, little is lost.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::local::shape::minimum::{MinimumClass, floor, quantum};
use crate::local::shape::{Hull, HullWord, Shape, ShapeWord, Space};

/// Items in a leaf, at the most.
const LEAF: usize = 8;

/// The leaf of an item that is gone for good.
const GONE: u32 = u32::MAX;

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
    least: MinimumClass,
}

/// A k-d tree over items 0, 1, 2, ….
#[derive(Debug, Clone)]
pub struct Tree {
    words: usize,
    nodes: Vec<Node>,
    hull_words: usize,
    /// The hull of each node.
    hulls: Vec<HullWord>,
    /// The items, those of a leaf side by side.
    order: Vec<u32>,
    /// Where each item stands in `order`.
    place_of: Vec<u32>,
    leaf_of: Vec<u32>,
    removed: Vec<bool>,
    /// The shape of each item, in the order of `order`: a leaf is one stretch of memory.
    item_shapes: Vec<ShapeWord>,
    item_least: Vec<MinimumClass>,
    /// How often an item has grown or was removed since the tree was built.
    changes: usize,
    /// Whether to look at every item all the same: the reference that tests compare with.
    pub scan: bool,
    /// How many leaves to look at before the best so far will do.
    pub patience: usize,
}

impl Tree {
    /// A tree over items with these codes, `space.width()` each.
    pub fn new(space: &Space, codes: &[u32], items: usize) -> Self {
        let mut shapes = vec![ShapeWord::default(); items * space.words()];
        for (shape, tuple) in
            shapes.chunks_exact_mut(space.words().max(1)).zip(codes.chunks_exact(space.width().max(1)))
        {
            space.start(shape, tuple);
        }
        Tree::of_shapes(space, &shapes, vec![MinimumClass::default(); items])
    }

    /// A tree over items with these shapes, `space.words()` each.
    pub fn of_shapes(space: &Space, shapes: &Shape, least: Vec<MinimumClass>) -> Self {
        let items = least.len();
        let mut tree = Tree {
            words: space.words(),
            nodes: Vec::new(),
            hull_words: space.hull_words(),
            hulls: Vec::new(),
            order: Vec::new(),
            place_of: vec![GONE; items],
            leaf_of: vec![GONE; items],
            removed: vec![false; items],
            item_shapes: Vec::new(),
            item_least: Vec::new(),
            changes: 0,
            scan: false,
            patience: usize::MAX,
        };
        tree.build(space, shapes, &least, (0..items as u32).map(|i| (i, i)).collect());
        tree
    }

    /// Builds the tree over some items, each with the place of its shape among `shapes`.
    fn build(&mut self, space: &Space, shapes: &Shape, least: &[MinimumClass], mut items: Vec<(u32, u32)>) {
        let (words, width) = (self.words, space.width());
        self.nodes.clear();
        self.changes = 0;
        let shape = |at: u32| &shapes[at as usize * words..(at as usize + 1) * words];
        let mut centres = vec![0.0; shapes.len() / words.max(1) * width];
        for &(_, at) in &items {
            for c in 0..width {
                centres[at as usize * width + c] = space.centre(shape(at), c);
            }
        }
        if !items.is_empty() {
            self.grow(space, &centres, &mut items, 0, GONE);
        }
        self.order = items.iter().map(|i| i.0).collect();
        self.item_shapes = items.iter().flat_map(|i| shape(i.1)).copied().collect();
        self.item_least = items.iter().map(|i| least[i.1 as usize]).collect();
        for (place, &(item, _)) in items.iter().enumerate() {
            self.place_of[item as usize] = place as u32;
        }
        // Halves come after their parent, so backwards every node finds its halves done.
        self.hulls = vec![HullWord::default(); self.nodes.len() * self.hull_words];
        let mut scratch = vec![HullWord::default(); 2 * self.hull_words];
        for node in (0..self.nodes.len()).rev() {
            self.refresh(space, node, &mut scratch);
        }
    }

    fn grow(&mut self, space: &Space, centres: &[f64], items: &mut [(u32, u32)], first: usize, parent: u32) -> u32 {
        let (width, number) = (space.width(), self.nodes.len() as u32);
        self.nodes.push(Node {
            parent,
            halves: None,
            items: (first as u32, (first + items.len()) as u32),
            live: items.len() as u32,
            lowest: items.iter().map(|i| i.0).min().unwrap_or(0),
            least: MinimumClass::default(),
        });
        if items.len() <= LEAF {
            items.iter().for_each(|i| self.leaf_of[i.0 as usize] = number);
            return number;
        }
        let middle = match widest(space, centres, items) {
            Some(column) => part(space, column, items, |i| centres[i.1 as usize * width + column]),
            // All on one point: then by number, so that of equals the first is found first.
            None => {
                items.sort_unstable();
                items.len() / 2
            }
        };
        let (left, right) = items.split_at_mut(middle);
        let left = self.grow(space, centres, left, first, number);
        let right = self.grow(space, centres, right, first + middle, number);
        self.nodes[number as usize].halves = Some((left, right));
        number
    }

    /// Builds the tree anew once half of it has changed. Items that are removed by then are gone for good.
    pub fn renew(&mut self, space: &Space) {
        if self.scan || self.changes <= self.len() / 2 + LEAF {
            return;
        }
        let (shapes, least) = (std::mem::take(&mut self.item_shapes), std::mem::take(&mut self.item_least));
        let mut live = Vec::with_capacity(self.len());
        for (place, &item) in self.order.iter().enumerate() {
            if self.removed[item as usize] {
                (self.leaf_of[item as usize], self.place_of[item as usize]) = (GONE, GONE);
            } else {
                live.push((item, place as u32));
            }
        }
        // Items that agree in everything would stand as the last tree left them; their numbers order them instead.
        live.sort_unstable();
        self.build(space, &shapes, &least, live);
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

    /// Puts an item back, unless it is gone for good.
    pub fn restore(&mut self, space: &Space, item: u32) {
        if self.leaf_of[item as usize] != GONE && std::mem::replace(&mut self.removed[item as usize], false) {
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
    pub fn grown(&mut self, space: &Space, item: u32, shape: &Shape, least: MinimumClass) {
        let place = self.place_of[item as usize] as usize;
        if let Some(has) = self.item_least.get_mut(place) {
            *has = least;
            self.item_shapes[place * self.words..(place + 1) * self.words].copy_from_slice(shape);
            self.tighten(space, item, false);
        }
    }

    /// Computes the nodes above an item anew, as far as they change or else to the root.
    fn tighten(&mut self, space: &Space, item: u32, to_the_root: bool) {
        self.changes += 1;
        let mut scratch = vec![HullWord::default(); 2 * self.hull_words];
        let mut node = self.leaf_of[item as usize];
        while let Some(n) = self.nodes.get(node as usize) {
            let parent = n.parent;
            if !self.refresh(space, node as usize, &mut scratch) && !to_the_root {
                break;
            }
            node = parent;
        }
    }

    /// Computes a node anew from what is below it; whether that changed anything that counts. Needs two hulls to work
    /// on.
    fn refresh(&mut self, space: &Space, node: usize, scratch: &mut Hull) -> bool {
        let (words, hull_words, n) = (self.words, self.hull_words, &self.nodes[node]);
        let (hull, one) = scratch.split_at_mut(hull_words);
        let mut least: Option<MinimumClass> = None;
        let mut cover = |other: &Hull, has: MinimumClass| {
            match least {
                None => hull.copy_from_slice(other),
                Some(_) => space.widen(hull, other),
            }
            least = Some(least.map_or(has, |l| l.min(has)));
        };
        match n.halves {
            None => {
                for place in n.items.0 as usize..n.items.1 as usize {
                    if !self.removed[self.order[place] as usize] {
                        space.hull(&self.item_shapes[place * words..(place + 1) * words], one);
                        cover(one, self.item_least[place]);
                    }
                }
            }
            Some((left, right)) => {
                for half in [left as usize, right as usize] {
                    if self.nodes[half].live > 0 {
                        cover(&self.hulls[half * hull_words..(half + 1) * hull_words], self.nodes[half].least);
                    }
                }
            }
        }
        // An empty branch keeps what it had; its parent no longer looks at it.
        let Some(least) = least else { return true };
        let known = &mut self.hulls[node * hull_words..(node + 1) * hull_words];
        if known == hull && self.nodes[node].least == least {
            return false;
        }
        known.copy_from_slice(hull);
        self.nodes[node].least = least;
        true
    }

    /// Shows the halves of a node, or its items when it is a leaf; the root has the number 0.
    pub fn open(&self, node: u32, mut half: impl FnMut(u32, &Hull), item: impl FnMut(u32)) {
        let Some(n) = self.nodes.get(node as usize).filter(|n| n.live > 0) else { return };
        match n.halves {
            None => {
                let items = self.order[n.items.0 as usize..n.items.1 as usize].iter().copied();
                items.filter(|&i| !self.removed[i as usize]).for_each(item);
            }
            Some((left, right)) => {
                for h in [left, right] {
                    if self.nodes[h as usize].live > 0 {
                        half(h, self.hull(h));
                    }
                }
            }
        }
    }

    /// The hull over everything below a node.
    pub fn hull(&self, node: u32) -> &Hull {
        &self.hulls[node as usize * self.hull_words..(node as usize + 1) * self.hull_words]
    }

    /// The item with the least cost that is clearly below `limit`, given a lower bound for everything in a hull. `cost`
    /// is told an item with its shape and what it has, and says `None` for items that do not count. `bound` is also
    /// told the best so far: a bound above it need not be tight.
    pub fn least(
        &self,
        limit: f64,
        bound: impl Fn(&Hull, MinimumClass, f64) -> f64,
        mut cost: impl FnMut(u32, &Shape, MinimumClass) -> Option<f64>,
    ) -> Option<(f64, u32)> {
        let mut best = Best { cost: quantum(limit), item: 0, exact: None };
        let mut look = |place: usize, best: &mut Best| {
            let item = self.order[place];
            if !self.removed[item as usize] {
                let shape = &self.item_shapes[place * self.words..(place + 1) * self.words];
                if let Some(c) = cost(item, shape, self.item_least[place]) {
                    best.try_item(c, item);
                }
            }
        };
        if self.scan {
            let places = self.place_of.iter().filter(|&&p| p != GONE);
            places.for_each(|&place| look(place as usize, &mut best));
            return best.exact.map(|cost| (cost, best.item));
        }
        if self.is_empty() {
            return None;
        }
        let of = |node: u32, best: &Best| {
            Total(floor(bound(self.hull(node), self.nodes[node as usize].least, best.cost * 1e-9)))
        };
        let hopeless = |best: &Best, Total(bound): Total, node: u32| {
            bound > best.cost || (bound == best.cost && self.nodes[node as usize].lowest >= best.item)
        };
        let mut waiting = BinaryHeap::with_capacity(64);
        waiting.push(Reverse((of(0, &best), 0)));
        let mut leaves = 0;
        while let Some(Reverse((here, mut node))) = waiting.pop() {
            if here.0 > best.cost || (leaves >= self.patience && best.exact.is_some()) {
                break;
            }
            let mut here = here;
            // Down the more promising half; the other waits.
            while !hopeless(&best, here, node) {
                let n = &self.nodes[node as usize];
                let Some((left, right)) = n.halves else {
                    leaves += 1;
                    (n.items.0 as usize..n.items.1 as usize).for_each(|place| look(place, &mut best));
                    break;
                };
                let live = |node: u32| self.nodes[node as usize].live > 0;
                let (near, far) = match (live(left), live(right)) {
                    (true, true) => {
                        let (a, b) = (of(left, &best), of(right, &best));
                        let left_first =
                            (a, self.nodes[left as usize].lowest) <= (b, self.nodes[right as usize].lowest);
                        if left_first { ((a, left), (b, right)) } else { ((b, right), (a, left)) }
                    }
                    (false, false) => break,
                    (l, _) => {
                        node = if l { left } else { right };
                        here = of(node, &best);
                        continue;
                    }
                };
                if !hopeless(&best, far.0, far.1) {
                    waiting.push(Reverse(far));
                }
                (here, node) = near;
            }
        }
        best.exact.map(|cost| (cost, best.item))
    }
}

/// The column in which the items' centres lie widest apart; `None` when they all lie on one point.
fn widest(space: &Space, centres: &[f64], items: &[(u32, u32)]) -> Option<usize> {
    let width = space.width();
    let mut best = None;
    let mut most = 0.0;
    for c in 0..width {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for &(_, at) in items {
            let x = centres[at as usize * width + c];
            (low, high) = (low.min(x), high.max(x));
        }
        let apart = space.apart(c, low, high);
        if apart > most {
            (best, most) = (Some(c), apart);
        }
    }
    best
}

/// Parts the items near the middle but never between equal values: columns of few values are then soon told apart.
fn part(space: &Space, column: usize, items: &mut [(u32, u32)], value: impl Fn(&(u32, u32)) -> f64) -> usize {
    if space.hierarchical(column) {
        return part_branches(space, column, items, value);
    }
    let middle = items.len() / 2;
    items.select_nth_unstable_by(middle, |a, b| value(a).total_cmp(&value(b)).then(a.0.cmp(&b.0)));
    let at = value(&items[middle]);
    let below = items.iter().filter(|i| value(i) < at).count();
    let upto = items.iter().filter(|i| value(i) <= at).count();
    let chosen = if below.abs_diff(middle) < upto.abs_diff(middle) || upto == items.len() { below } else { upto };
    part_by(items, |i| if chosen == below { value(i) < at } else { value(i) <= at })
}

/// Parts the items between two branches of a hierarchy, the higher up the better, with a quarter of them on each side
/// at the least where that is possible.
fn part_branches(space: &Space, column: usize, items: &mut [(u32, u32)], turn: impl Fn(&(u32, u32)) -> f64) -> usize {
    let (low, high) = items.iter().fold((usize::MAX, 0), |(low, high), i| {
        let turn = turn(i) as usize;
        (low.min(turn), high.max(turn))
    });
    let mut count = vec![0; high - low + 1];
    items.iter().for_each(|i| count[turn(i) as usize - low] += 1);
    let (mut before, mut last) = (0, low);
    let mut best: Option<((bool, f64, usize), usize)> = None;
    for (at, n) in (low..).zip(count).filter(|c| c.1 > 0) {
        if before > 0 {
            let least = before.min(items.len() - before);
            let balanced = least * 4 >= items.len();
            let apart = if balanced { space.apart(column, last as f64, at as f64) } else { 0.0 };
            let worth = (balanced, apart, least);
            if best.is_none_or(|b| worth > b.0) {
                best = Some((worth, at));
            }
        }
        (before, last) = (before + n, at);
    }
    let cut = best.map_or(high, |b| b.1) as f64;
    part_by(items, |i| turn(i) < cut)
}

/// Brings the items for which `left` says so to the front, in their order; their number.
fn part_by(items: &mut [(u32, u32)], left: impl Fn(&(u32, u32)) -> bool) -> usize {
    let (left, right): (Vec<_>, Vec<_>) = items.iter().partition(|i| left(i));
    items[..left.len()].copy_from_slice(&left);
    items[left.len()..].copy_from_slice(&right);
    left.len()
}

/// A float with a total order.
#[derive(Debug, PartialEq, Clone, Copy)]
pub(in crate::local) struct Total(pub(in crate::local) f64);

impl Eq for Total {}

impl PartialOrd for Total {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Total {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
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

#[cfg(test)]
mod tests;
