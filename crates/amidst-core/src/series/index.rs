//! Finds the class that a row joins at the least growth of information loss, without looking at all of them.
//!
//! Classes live in pages of neighbours, and a tree stands over the pages: every node knows a shape over all classes
//! below it, the least and the most that each column of theirs costs, and the fewest rows that one of them has. From
//! these follows how little a row could at best cost below the node; where that is more than the best class found so
//! far, nothing below is looked at. The class that is found is the one that a scan finds: the same growth, computed
//! alike, and the lowest name of equals. Callers that keep classes between batches keep the pages.

use super::class_rules::ClassRules;
use super::classes::Classes;
use super::page_split::{PAGE, cut, paginate};
use super::varint::{Numbers, put};
use crate::ids::SensitiveId;
use crate::local::class::Tally;
use crate::local::shape::{Shape, ShapeWord};

/// The classes of a page that is about to become two.
const FULL: usize = 2 * PAGE;

/// A tree that is this many levels deeper than its pages need is built anew.
const DEEP: u32 = 12;

/// Bounds are sums in another order than costs, so they may be off by a few roundings.
const SLACK: f64 = 1e-9;

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
    /// What the cheapest class costs a row.
    cost: f64,
}

const NONE: u32 = u32::MAX;

/// The pages and the tree over them.
#[derive(Debug, Clone, Default)]
pub(super) struct Index {
    pub pages: Vec<Page>,
    pub next_number: u32,
    nodes: Vec<Node>,
    merged: Vec<ShapeWord>,
    least: Vec<f64>,
    most: Vec<f64>,
    words: usize,
    width: usize,
    /// Whether the tree is another than the one that was kept.
    pub replanted: bool,
}

impl Index {
    /// An index of all classes, in new pages.
    pub fn new(rules: &ClassRules<'_>, classes: &mut Classes) -> Self {
        let mut all: Vec<u32> = (0..classes.len() as u32).collect();
        let mut pages = Vec::new();
        paginate(rules, classes, &mut all, &mut pages);
        let pages = (0u32..).zip(pages).map(|(number, classes)| Page { number, classes, changed: true, node: 0 });
        let pages: Vec<Page> = pages.collect();
        Self::of_pages(rules, classes, pages)
    }

    fn over(rules: &ClassRules<'_>, classes: &mut Classes, pages: Vec<Page>) -> Self {
        let next_number = pages.iter().map(|p| p.number + 1).max().unwrap_or(0);
        for (at, page) in (0u32..).zip(&pages) {
            page.classes.iter().for_each(|&c| classes.pages[c as usize] = at);
        }
        Index { pages, next_number, words: rules.space.words(), width: rules.space.width(), ..Index::default() }
    }

    /// An index of classes that were in pages before, under the tree that [`Index::tree`] wrote down. Where that is not
    /// the tree of these pages, there is a new one.
    pub fn of_tree(rules: &ClassRules<'_>, classes: &mut Classes, pages: Vec<Page>, tree: &[u8]) -> Self {
        let mut index = Self::over(rules, classes, pages);
        let mut numbers = Numbers(tree);
        let mut leaves: Vec<(u32, u32)> = Vec::with_capacity(index.pages.len());
        let mut places: Vec<(u32, u32)> = (0u32..).zip(&index.pages).map(|(at, page)| (page.number, at)).collect();
        places.sort_unstable();
        while let (Some(number), Some(depth)) = (numbers.next(), numbers.next()) {
            let Ok(place) = places.binary_search_by_key(&number, |p| p.0) else { break };
            leaves.push((places[place].1, depth));
        }
        let mut seen: Vec<u32> = leaves.iter().map(|leaf| leaf.0).collect();
        seen.sort_unstable();
        let whole = seen.len() == index.pages.len() && seen.iter().zip(0u32..).all(|(&a, b)| a == b);
        let mut rest = &leaves[..];
        if whole && index.plant(rules, classes, &mut rest, 0, NONE).is_some() && rest.is_empty() {
            return index;
        }
        Self::of_pages(rules, classes, index.pages)
    }

    /// The tree below a depth, from the leaves that are left of those written down; `None` when they are no tree.
    fn plant(
        &mut self,
        rules: &ClassRules<'_>,
        classes: &Classes,
        leaves: &mut &[(u32, u32)],
        depth: u32,
        parent: u32,
    ) -> Option<u32> {
        let (&(page, deep), rest) = leaves.split_first()?;
        if deep < depth || deep > depth_of(self.pages.len()) {
            return None;
        }
        if deep == depth {
            *leaves = rest;
            let at = self.node(parent, page);
            self.summarize(rules, classes, at);
            return Some(at);
        }
        let at = self.node(parent, NONE);
        let low = self.plant(rules, classes, leaves, depth + 1, at)?;
        let high = self.plant(rules, classes, leaves, depth + 1, at)?;
        self.nodes[at as usize].halves = Some((low, high));
        self.summarize(rules, classes, at);
        Some(at)
    }

    /// The tree, for callers that keep the pages: from left to right the number of each page and its depth, which
    /// together tell the tree. Nothing when it has become too deep to be worth keeping.
    pub fn tree(&self) -> Vec<u8> {
        let mut leaves = Vec::new();
        if !self.nodes.is_empty() {
            self.leaves(0, 0, &mut leaves);
        }
        let mut bytes = Vec::with_capacity(4 * leaves.len());
        if leaves.iter().all(|leaf| leaf.1 <= depth_of(leaves.len())) {
            leaves.iter().for_each(|&(number, depth)| {
                put(&mut bytes, number);
                put(&mut bytes, depth);
            });
        }
        bytes
    }

    /// Halves without classes are left out.
    fn leaves(&self, at: u32, depth: u32, leaves: &mut Vec<(u32, u32)>) {
        let node = &self.nodes[at as usize];
        if node.rows.is_infinite() {
            return;
        }
        let Some((low, high)) = node.halves else {
            leaves.push((self.pages[node.page as usize].number, depth));
            return;
        };
        let alone = [low, high].iter().any(|&half| self.nodes[half as usize].rows.is_infinite());
        let below = if alone { depth } else { depth + 1 };
        self.leaves(low, below, leaves);
        self.leaves(high, below, leaves);
    }

    /// An index of classes that were in pages before, under a new tree.
    pub fn of_pages(rules: &ClassRules<'_>, classes: &mut Classes, pages: Vec<Page>) -> Self {
        let mut index = Index { replanted: true, ..Self::over(rules, classes, pages) };
        let words = index.words;
        let mut all: Vec<u32> = (0..index.pages.len() as u32).collect();
        if !all.is_empty() {
            let mut merged = vec![ShapeWord::default(); all.len() * words];
            for (page, shape) in index.pages.iter().zip(merged.chunks_exact_mut(words.max(1))) {
                for (i, &class) in page.classes.iter().enumerate() {
                    match i {
                        0 => shape.copy_from_slice(classes.shape(class as usize)),
                        _ => rules.space.merge(shape, classes.shape(class as usize)),
                    }
                }
            }
            index.grow(rules, classes, &merged, &mut all, NONE);
        }
        index
    }

    fn node(&mut self, parent: u32, page: u32) -> u32 {
        let at = self.nodes.len();
        self.nodes.push(Node { parent, halves: None, page, rows: f64::INFINITY, cost: f64::INFINITY });
        self.merged.resize((at + 1) * self.words, ShapeWord::default());
        self.least.resize((at + 1) * self.width, 0.0);
        self.most.resize((at + 1) * self.width, 0.0);
        if let Some(page) = self.pages.get_mut(page as usize) {
            page.node = at as u32;
        }
        at as u32
    }

    fn grow(
        &mut self,
        rules: &ClassRules<'_>,
        classes: &Classes,
        merged: &Shape,
        pages: &mut [u32],
        parent: u32,
    ) -> u32 {
        if let [page] = pages {
            let at = self.node(parent, *page);
            self.summarize(rules, classes, at);
            return at;
        }
        let at = self.node(parent, NONE);
        let second = cut(rules, pages, |page| &merged[page as usize * self.words..(page as usize + 1) * self.words]);
        let (low, high) = pages.split_at_mut(second);
        let halves = (self.grow(rules, classes, merged, low, at), self.grow(rules, classes, merged, high, at));
        self.nodes[at as usize].halves = Some(halves);
        self.summarize(rules, classes, at);
        at
    }

    /// Computes what a node knows from what is directly below it.
    fn summarize(&mut self, rules: &ClassRules<'_>, classes: &Classes, at: u32) {
        let (words, width) = (self.words, self.width);
        let node = self.nodes[at as usize];
        let (w, c) = (at as usize * words, at as usize * width);
        if let Some((low, high)) = node.halves {
            let (a, b) = (low as usize, high as usize);
            self.nodes[at as usize].rows = self.nodes[a].rows.min(self.nodes[b].rows);
            self.nodes[at as usize].cost = self.nodes[a].cost.min(self.nodes[b].cost);
            // An empty half has nothing to say.
            let (a, b) = if self.nodes[a].rows.is_infinite() { (b, b) } else { (a, b) };
            let b = if self.nodes[b].rows.is_infinite() { a } else { b };
            self.merged.copy_within(a * words..(a + 1) * words, w);
            let (start, rest) = self.merged.split_at_mut(w + words);
            // Halves come after the node that they are halves of.
            let other = &rest[b * words - (w + words)..(b + 1) * words - (w + words)];
            rules.space.merge(&mut start[w..], other);
            for column in 0..width {
                self.least[c + column] = self.least[a * width + column].min(self.least[b * width + column]);
                self.most[c + column] = self.most[a * width + column].max(self.most[b * width + column]);
            }
            return;
        }
        self.least[c..c + width].fill(f64::INFINITY);
        self.most[c..c + width].fill(0.0);
        let (mut rows, mut least) = (f64::INFINITY, f64::INFINITY);
        for (i, &class) in self.pages[node.page as usize].classes.iter().enumerate() {
            let shape = classes.shape(class as usize);
            if i == 0 {
                self.merged[w..w + words].copy_from_slice(shape);
            } else {
                rules.space.merge(&mut self.merged[w..w + words], shape);
            }
            for column in 0..width {
                let cost = rules.space.column_cost(shape, column);
                self.least[c + column] = self.least[c + column].min(cost);
                self.most[c + column] = self.most[c + column].max(cost);
            }
            rows = rows.min(f64::from(classes.sizes[class as usize]));
            least = least.min(classes.costs[class as usize]);
        }
        (self.nodes[at as usize].rows, self.nodes[at as usize].cost) = (rows, least);
    }

    /// Takes note that a class has changed.
    pub fn refresh(&mut self, rules: &ClassRules<'_>, classes: &Classes, class: usize) {
        let page = &mut self.pages[classes.pages[class] as usize];
        page.changed = true;
        let mut at = page.node;
        while at != NONE {
            self.summarize(rules, classes, at);
            at = self.nodes[at as usize].parent;
        }
    }

    /// Takes note that the class `new` was made of rows of the class `old`, which has changed, too.
    pub fn add_beside(&mut self, rules: &ClassRules<'_>, classes: &mut Classes, old: usize, new: usize) {
        let at = classes.pages[old];
        classes.pages[new] = at;
        self.pages[at as usize].classes.push(new as u32);
        if self.pages[at as usize].classes.len() > FULL {
            self.divide(rules, classes, at);
        }
        self.refresh(rules, classes, old);
    }

    /// Adds a class wherever it may be; returns false when there is no page yet.
    pub fn add(&mut self, rules: &ClassRules<'_>, classes: &mut Classes, new: usize) -> bool {
        let beside = self.pages.iter().rev().find_map(|p| p.classes.first());
        match beside {
            Some(&beside) => self.add_beside(rules, classes, beside as usize, new),
            None => return false,
        }
        true
    }

    /// A page becomes two.
    fn divide(&mut self, rules: &ClassRules<'_>, classes: &mut Classes, at: u32) {
        let mut low = std::mem::take(&mut self.pages[at as usize].classes);
        let second = cut(rules, &mut low, |class| classes.shape(class as usize));
        let high = low.split_off(second);
        let new = self.pages.len() as u32;
        high.iter().for_each(|&c| classes.pages[c as usize] = new);
        let leaf = self.pages[at as usize].node;
        self.pages[at as usize].classes = low;
        self.pages.push(Page { number: self.next_number, classes: high, changed: true, node: 0 });
        self.next_number += 1;
        self.replanted = true;
        let halves = (self.node(leaf, at), self.node(leaf, new));
        let node = &mut self.nodes[leaf as usize];
        (node.halves, node.page) = (Some(halves), NONE);
        self.summarize(rules, classes, halves.0);
        self.summarize(rules, classes, halves.1);
    }

    /// Takes note that a class is no more.
    pub fn remove(&mut self, rules: &ClassRules<'_>, classes: &Classes, class: usize) {
        let page = &mut self.pages[classes.pages[class] as usize];
        page.classes.retain(|&c| c as usize != class);
        self.replanted |= page.classes.is_empty();
        self.refresh(rules, classes, class);
    }

    /// How little a row costs at the least below a node.
    fn bound(&self, rules: &ClassRules<'_>, at: u32, codes: &[u32]) -> f64 {
        let node = &self.nodes[at as usize];
        if node.rows.is_infinite() {
            return f64::INFINITY;
        }
        let (w, c) = (at as usize * self.words, at as usize * self.width);
        let (least, most) = (&self.least[c..c + self.width], &self.most[c..c + self.width]);
        let (cost, growth) = rules.space.bound_with(&self.merged[w..w + self.words], least, most, codes);
        // Whatever is below costs more by the growth at least, too.
        node.rows * growth + cost.max(node.cost + growth)
    }

    /// The class that a row joins at the least growth, among those that stay valid with it; the lowest name of equals.
    pub fn best(
        &self,
        rules: &ClassRules<'_>,
        classes: &Classes,
        codes: &[u32],
        sensitive: SensitiveId,
    ) -> Option<usize> {
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
                let (a, b) = ((self.bound(rules, a, codes), a), (self.bound(rules, b, codes), b));
                // The nearer one is looked at first: it is pushed last.
                open.extend(if a.0 <= b.0 { [b, a] } else { [a, b] });
                continue;
            }
            for &class in &self.pages[node.page as usize].classes {
                best = better(rules, classes, codes, sensitive, best, class as usize);
            }
        }
        best.map(|(_, class)| class)
    }
}

/// The deepest leaf that a tree over `pages` pages may have.
fn depth_of(pages: usize) -> u32 {
    2 * pages.max(1).ilog2() + DEEP
}

/// The better of `best` and `class`.
fn better(
    rules: &ClassRules<'_>,
    classes: &Classes,
    codes: &[u32],
    sensitive: SensitiveId,
    best: Option<(f64, usize)>,
    class: usize,
) -> Option<(f64, usize)> {
    let (rows, cost) = (f64::from(classes.sizes[class]), classes.costs[class]);
    let limit = best.map_or(f64::INFINITY, |(least, _)| least);
    let Some(growth) = rules.growth_up_to(rows, cost, classes.shape(class), codes, limit) else { return best };
    let wins = match best {
        None => true,
        Some((least, first)) => growth < least || (growth == least && classes.ids[class] < classes.ids[first]),
    };
    let accepts = || {
        let mut tally = Tally::default();
        classes.tally(class, &mut tally);
        rules.accepts(tally, sensitive)
    };
    if wins && (rules.grows_safely || accepts()) { Some((growth, class)) } else { best }
}

/// What [`Index::best`] must find, by looking at every class, without a shortcut.
#[cfg(test)]
pub(super) fn scan(rules: &ClassRules<'_>, classes: &Classes, codes: &[u32], sensitive: SensitiveId) -> Option<usize> {
    let growth = |at: usize| rules.growth(f64::from(classes.sizes[at]), classes.costs[at], classes.shape(at), codes);
    let accepts = |at: &usize| {
        let mut tally = Tally::default();
        classes.tally(*at, &mut tally);
        rules.grows_safely || rules.accepts(tally, sensitive)
    };
    let valid = classes.live().filter(accepts).map(|at| (growth(at), classes.ids[at], at));
    valid.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))).map(|(_, _, at)| at)
}
