//! Finds the class that a row joins at the least growth of information loss, without looking at all of them.
//!
//! Classes live in pages of neighbours, and a tree stands over the pages: every node knows a shape over all classes below
//! it, the least and the most that each column of theirs costs, and the fewest rows that one of them has. From these
//! follows how little a row could at best cost below the node; where that is more than the best class found so far,
//! nothing below is looked at. The class that is found is the one that a scan finds: the same growth, computed alike, and
//! the lowest name of equals. Whoever keeps classes between batches keeps the pages.

use super::house::House;
use crate::local::Tally;

/// The classes of a new page, and of a page that is about to become two.
const PAGE: usize = 12;
const FULL: usize = 2 * PAGE;

/// Bounds are sums in another order than costs, so they may be off by a few roundings.
const SLACK: f64 = 1e-9;

/// What a search does not look at.
#[derive(Debug, Clone, Default)]
pub(super) struct Cold {
    pub tally: Tally,
    /// Its rows; `None` while they are kept elsewhere.
    pub rows: Option<Vec<u32>>,
    /// Rows that joined while the others are kept elsewhere.
    pub joined: Vec<u32>,
    /// The number of rows at which the next split is tried; splitting failed at fewer.
    pub next_split: usize,
    /// The page, by its place.
    pub page: u32,
}

/// The classes by their place. What a search looks at lies side by side.
#[derive(Debug, Clone, Default)]
pub(super) struct Classes {
    pub ids: Vec<u32>,
    pub sizes: Vec<u32>,
    pub costs: Vec<f64>,
    shapes: Vec<u64>,
    words: usize,
    pub cold: Vec<Cold>,
}

impl Classes {
    pub fn new(words: usize) -> Self {
        Classes { words, ..Classes::default() }
    }

    pub fn len(&self) -> usize {
        self.ids.len()
    }

    pub fn shape(&self, at: usize) -> &[u64] {
        &self.shapes[at * self.words..(at + 1) * self.words]
    }

    pub fn shape_mut(&mut self, at: usize) -> &mut [u64] {
        &mut self.shapes[at * self.words..(at + 1) * self.words]
    }

    pub fn push(&mut self, id: u32, size: usize, cost: f64, shape: &[u64], cold: Cold) -> usize {
        self.ids.push(id);
        self.sizes.push(size as u32);
        self.costs.push(cost);
        self.shapes.extend_from_slice(shape);
        self.cold.push(cold);
        self.ids.len() - 1
    }
}

/// Some neighbouring classes.
#[derive(Debug, Clone, Default)]
pub(super) struct Page {
    /// The name by which the owner knows it.
    pub number: u32,
    pub classes: Vec<u32>,
    pub changed: bool,
    /// Its leaf.
    pub node: u32,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    parent: u32,
    /// The two halves; a leaf has none.
    halves: Option<(u32, u32)>,
    /// The page of a leaf.
    page: u32,
    /// The fewest rows of a class; infinite where there is none.
    rows: f64,
}

const NONE: u32 = u32::MAX;

/// The pages and the tree over them.
#[derive(Debug, Clone, Default)]
pub(super) struct Index {
    pub pages: Vec<Page>,
    pub next_number: u32,
    nodes: Vec<Node>,
    merged: Vec<u64>,
    least: Vec<f64>,
    most: Vec<f64>,
    words: usize,
    width: usize,
}

impl Index {
    /// An index of all classes, in new pages.
    pub fn new(house: &House<'_>, classes: &mut Classes) -> Self {
        let mut all: Vec<u32> = (0..classes.len() as u32).collect();
        let mut pages = Vec::new();
        paginate(house, classes, &mut all, &mut pages);
        let pages = (0u32..).zip(pages).map(|(number, classes)| Page { number, classes, changed: true, node: 0 });
        let pages: Vec<Page> = pages.collect();
        Self::of_pages(house, classes, pages)
    }

    /// An index of classes that were in pages before.
    pub fn of_pages(house: &House<'_>, classes: &mut Classes, pages: Vec<Page>) -> Self {
        let next_number = pages.iter().map(|p| p.number + 1).max().unwrap_or(0);
        for (at, page) in (0u32..).zip(&pages) {
            page.classes.iter().for_each(|&c| classes.cold[c as usize].page = at);
        }
        let (words, width) = (house.space.words(), house.space.width());
        let mut index = Index { pages, next_number, words, width, ..Index::default() };
        let mut all: Vec<u32> = (0..index.pages.len() as u32).collect();
        if !all.is_empty() {
            let mut merged = vec![0; all.len() * words];
            for (page, shape) in index.pages.iter().zip(merged.chunks_exact_mut(words.max(1))) {
                for (i, &class) in page.classes.iter().enumerate() {
                    match i {
                        0 => shape.copy_from_slice(classes.shape(class as usize)),
                        _ => house.space.merge(shape, classes.shape(class as usize)),
                    }
                }
            }
            index.grow(house, classes, &merged, &mut all, NONE);
        }
        index
    }

    fn node(&mut self, parent: u32, page: u32) -> u32 {
        let at = self.nodes.len();
        self.nodes.push(Node { parent, halves: None, page, rows: f64::INFINITY });
        self.merged.resize((at + 1) * self.words, 0);
        self.least.resize((at + 1) * self.width, 0.0);
        self.most.resize((at + 1) * self.width, 0.0);
        if let Some(page) = self.pages.get_mut(page as usize) {
            page.node = at as u32;
        }
        at as u32
    }

    fn grow(&mut self, house: &House<'_>, classes: &Classes, merged: &[u64], pages: &mut [u32], parent: u32) -> u32 {
        if let [page] = pages {
            let at = self.node(parent, *page);
            self.summarize(house, classes, at);
            return at;
        }
        let at = self.node(parent, NONE);
        let second = cut(house, pages, |page| &merged[page as usize * self.words..(page as usize + 1) * self.words]);
        let (low, high) = pages.split_at_mut(second);
        let halves = (self.grow(house, classes, merged, low, at), self.grow(house, classes, merged, high, at));
        self.nodes[at as usize].halves = Some(halves);
        self.summarize(house, classes, at);
        at
    }

    /// Computes what a node knows from what is directly below it.
    fn summarize(&mut self, house: &House<'_>, classes: &Classes, at: u32) {
        let (words, width) = (self.words, self.width);
        let node = self.nodes[at as usize];
        let (w, c) = (at as usize * words, at as usize * width);
        if let Some((low, high)) = node.halves {
            let (a, b) = (low as usize, high as usize);
            self.nodes[at as usize].rows = self.nodes[a].rows.min(self.nodes[b].rows);
            // An empty half has nothing to say.
            let (a, b) = if self.nodes[a].rows.is_infinite() { (b, b) } else { (a, b) };
            let b = if self.nodes[b].rows.is_infinite() { a } else { b };
            self.merged.copy_within(a * words..(a + 1) * words, w);
            let (start, rest) = self.merged.split_at_mut(w + words);
            // Halves come after the node that they are halves of.
            let other = &rest[b * words - (w + words)..(b + 1) * words - (w + words)];
            house.space.merge(&mut start[w..], other);
            for column in 0..width {
                self.least[c + column] = self.least[a * width + column].min(self.least[b * width + column]);
                self.most[c + column] = self.most[a * width + column].max(self.most[b * width + column]);
            }
            return;
        }
        self.least[c..c + width].fill(f64::INFINITY);
        self.most[c..c + width].fill(0.0);
        let mut rows = f64::INFINITY;
        for (i, &class) in self.pages[node.page as usize].classes.iter().enumerate() {
            let shape = classes.shape(class as usize);
            if i == 0 {
                self.merged[w..w + words].copy_from_slice(shape);
            } else {
                house.space.merge(&mut self.merged[w..w + words], shape);
            }
            for column in 0..width {
                let cost = house.space.column_cost(shape, column);
                self.least[c + column] = self.least[c + column].min(cost);
                self.most[c + column] = self.most[c + column].max(cost);
            }
            rows = rows.min(f64::from(classes.sizes[class as usize]));
        }
        self.nodes[at as usize].rows = rows;
    }

    /// Takes note that a class has changed.
    pub fn refresh(&mut self, house: &House<'_>, classes: &Classes, class: usize) {
        let page = &mut self.pages[classes.cold[class].page as usize];
        page.changed = true;
        let mut at = page.node;
        while at != NONE {
            self.summarize(house, classes, at);
            at = self.nodes[at as usize].parent;
        }
    }

    /// Takes note that the class `new` was made of rows of the class `old`, which has changed, too.
    pub fn add_beside(&mut self, house: &House<'_>, classes: &mut Classes, old: usize, new: usize) {
        let at = classes.cold[old].page;
        classes.cold[new].page = at;
        self.pages[at as usize].classes.push(new as u32);
        if self.pages[at as usize].classes.len() > FULL {
            self.divide(house, classes, at);
        }
        self.refresh(house, classes, old);
    }

    /// Adds a class wherever it may be; returns false when there is no page yet.
    pub fn add(&mut self, house: &House<'_>, classes: &mut Classes, new: usize) -> bool {
        let beside = self.pages.iter().rev().find_map(|p| p.classes.first());
        match beside {
            Some(&beside) => self.add_beside(house, classes, beside as usize, new),
            None => return false,
        }
        true
    }

    /// A page becomes two.
    fn divide(&mut self, house: &House<'_>, classes: &mut Classes, at: u32) {
        let mut low = std::mem::take(&mut self.pages[at as usize].classes);
        let second = cut(house, &mut low, |class| classes.shape(class as usize));
        let high = low.split_off(second);
        let new = self.pages.len() as u32;
        high.iter().for_each(|&c| classes.cold[c as usize].page = new);
        let leaf = self.pages[at as usize].node;
        self.pages[at as usize].classes = low;
        self.pages.push(Page { number: self.next_number, classes: high, changed: true, node: 0 });
        self.next_number += 1;
        let halves = (self.node(leaf, at), self.node(leaf, new));
        let node = &mut self.nodes[leaf as usize];
        (node.halves, node.page) = (Some(halves), NONE);
        self.summarize(house, classes, halves.0);
        self.summarize(house, classes, halves.1);
    }

    /// Takes note that a class is no more.
    pub fn remove(&mut self, house: &House<'_>, classes: &Classes, class: usize) {
        let page = &mut self.pages[classes.cold[class].page as usize];
        page.classes.retain(|&c| c as usize != class);
        self.refresh(house, classes, class);
    }

    /// How little a row costs at the least below a node.
    fn bound(&self, house: &House<'_>, at: u32, codes: &[u32]) -> f64 {
        let node = &self.nodes[at as usize];
        if node.rows.is_infinite() {
            return f64::INFINITY;
        }
        let (w, c) = (at as usize * self.words, at as usize * self.width);
        let (least, most) = (&self.least[c..c + self.width], &self.most[c..c + self.width]);
        let (cost, growth) = house.space.bound_with(&self.merged[w..w + self.words], least, most, codes);
        node.rows * growth + cost
    }

    /// The class that a row joins at the least growth, among those that stay valid with it; the lowest name of equals.
    pub fn best(&self, house: &House<'_>, classes: &Classes, codes: &[u32], kind: u32) -> Option<usize> {
        let mut best: Option<(f64, usize)> = None;
        let mut open: Vec<(f64, u32)> = Vec::with_capacity(32);
        if !self.nodes.is_empty() {
            open.push((0.0, 0));
        }
        while let Some((low, at)) = open.pop() {
            if low.is_infinite() || best.is_some_and(|(growth, _)| low > growth + SLACK * (1.0 + growth)) {
                continue;
            }
            let node = &self.nodes[at as usize];
            if let Some((a, b)) = node.halves {
                let (a, b) = ((self.bound(house, a, codes), a), (self.bound(house, b, codes), b));
                // The nearer one is looked at first: it is pushed last.
                open.extend(if a.0 <= b.0 { [b, a] } else { [a, b] });
                continue;
            }
            for &class in &self.pages[node.page as usize].classes {
                best = better(house, classes, codes, kind, best, class as usize);
            }
        }
        best.map(|(_, class)| class)
    }
}

/// How many items decide where a cut goes; more of them would hardly decide otherwise.
const SAMPLE: usize = 128;

/// Orders items so that two parts are apart, and tells where the second begins: in the column where the shapes over both
/// parts say most about the classes below them, between values, as near to the middle as values allow.
fn cut<'s>(house: &House<'_>, items: &mut [u32], shape_of: impl Fn(u32) -> &'s [u64]) -> usize {
    let space = &house.space;
    let step = items.len().div_ceil(SAMPLE);
    let sample: Vec<&[u64]> = items.iter().step_by(step).map(|&item| shape_of(item)).collect();
    let mut best: Option<(f64, usize, f64)> = None;
    for column in 0..space.width() {
        let mut keys: Vec<f64> = sample.iter().map(|shape| space.middle(shape, column)).collect();
        let (low, high) = keys.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &k| (l.min(k), h.max(k)));
        if low == high {
            continue;
        }
        let middle = keys.len() / 2;
        let median = *keys.select_nth_unstable_by(middle, f64::total_cmp).1;
        // The second part begins at the median, or at the next value where that is nearer to the middle.
        let before = sample.iter().filter(|shape| space.middle(shape, column) < median).count();
        let after = sample.iter().filter(|shape| space.middle(shape, column) <= median).count();
        let above =
            sample.iter().map(|s| space.middle(s, column)).filter(|&k| k > median).fold(f64::INFINITY, f64::min);
        let at = if before == 0 || (after < sample.len() && after - middle < middle - before) { above } else { median };
        let vague = vagueness(house, &sample, |shape| space.middle(shape, column) < at)
            + vagueness(house, &sample, |shape| space.middle(shape, column) >= at);
        if best.is_none_or(|(least, ..)| vague < least) {
            best = Some((vague, column, at));
        }
    }
    let Some((_, column, at)) = best else { return items.len() / 2 };
    items.sort_unstable_by_key(|&item| (space.middle(shape_of(item), column) >= at, item));
    let second = items.partition_point(|&item| space.middle(shape_of(item), column) < at);
    second.clamp(1, items.len() - 1)
}

/// How much more the shape over some shapes costs than the cheapest of them, column by column, for all of them.
fn vagueness(house: &House<'_>, sample: &[&[u64]], within: impl Fn(&[u64]) -> bool) -> f64 {
    let space = &house.space;
    let mut merged: Vec<u64> = Vec::new();
    let mut least = vec![f64::INFINITY; space.width()];
    let mut number = 0.0;
    for shape in sample.iter().filter(|shape| within(shape)) {
        if merged.is_empty() {
            merged = shape.to_vec();
        } else {
            space.merge(&mut merged, shape);
        }
        for (column, least) in least.iter_mut().enumerate() {
            *least = least.min(space.column_cost(shape, column));
        }
        number += 1.0;
    }
    if number == 0.0 {
        return 0.0;
    }
    number * least.iter().enumerate().map(|(column, least)| space.column_cost(&merged, column) - least).sum::<f64>()
}

/// Puts classes into pages of neighbours.
fn paginate(house: &House<'_>, classes: &Classes, some: &mut [u32], pages: &mut Vec<Vec<u32>>) {
    if some.len() <= PAGE {
        if !some.is_empty() {
            some.sort_unstable();
            pages.push(some.to_vec());
        }
        return;
    }
    let second = cut(house, some, |class| classes.shape(class as usize));
    let (low, high) = some.split_at_mut(second);
    paginate(house, classes, low, pages);
    paginate(house, classes, high, pages);
}

/// The better of `best` and `class`.
fn better(
    house: &House<'_>,
    classes: &Classes,
    codes: &[u32],
    kind: u32,
    best: Option<(f64, usize)>,
    class: usize,
) -> Option<(f64, usize)> {
    let growth = house.growth(f64::from(classes.sizes[class]), classes.costs[class], classes.shape(class), codes);
    let wins = match best {
        None => true,
        Some((least, first)) => growth < least || (growth == least && classes.ids[class] < classes.ids[first]),
    };
    if wins && house.accepts(&classes.cold[class].tally, kind) { Some((growth, class)) } else { best }
}

/// What [`Index::best`] must find, by looking at every class.
#[cfg(test)]
pub(super) fn scan(house: &House<'_>, classes: &Classes, codes: &[u32], kind: u32) -> Option<usize> {
    let found = (0..classes.len()).fold(None, |best, class| better(house, classes, codes, kind, best, class));
    found.map(|(_, class)| class)
}
