//! A table as it is published: at a node, with single cells become the top and some tuples left out, and which tuples
//! are in classes that fail in some set.

use rustc_hash::FxHashMap;

use super::Sets;
use crate::cells::published;
use crate::frequency::Groups;
use crate::hierarchy::Cell;
use crate::metric::{self, column_weights};
use crate::model::Needs;
use crate::requirement::Evaluator;
use crate::search::Search;
use crate::search::own_distribution::compares;

/// A set of columns, one bit each.
pub(super) type Stars = u64;

/// The most columns that a pattern of stars holds.
pub(super) const MOST_COLUMNS: usize = 64;

/// The code of a cell that is the top.
const TOP: u32 = u32::MAX;

/// What the table and the policy are, for every node.
pub(super) struct View<'s, 'a> {
    pub search: &'s Search<'a>,
    pub sets: &'s Sets,
    /// What a row loses by column, level and value, and by being left out.
    prices: Vec<Vec<Vec<f64>>>,
    row: f64,
    /// The rows of each tuple.
    pub rows: Vec<u64>,
    evaluator: Evaluator<'a>,
    /// Whether what is published must be compared with itself once rows are left out.
    compared: bool,
}

/// What is published of every tuple.
#[derive(Debug, Clone)]
pub(super) struct Published {
    pub levels: Vec<usize>,
    /// The cells of each tuple that become the top beyond what the levels make of them.
    pub stars: Vec<Stars>,
    /// The tuples that are left out.
    pub out: Vec<bool>,
}

impl<'s, 'a> View<'s, 'a> {
    pub fn new(search: &'s Search<'a>, sets: &'s Sets) -> Self {
        let weights = column_weights(search.generalizations);
        let loss = search.metric.metric.cell_loss().unwrap_or(metric::cell_loss);
        let prices = (search.generalizations.iter().zip(&weights))
            .map(|(g, weight)| {
                let price = |level: usize, value: usize| weight * loss(g, &published(g, level, value as u32));
                let of_level = |level: usize| (0..g.levels[level].labels.len()).map(|v| price(level, v)).collect();
                (0..g.levels.len()).map(of_level).collect()
            })
            .collect();
        View {
            search,
            sets,
            prices,
            row: weights.iter().sum(),
            rows: search.set.groups.iter().map(crate::frequency::rows).collect(),
            evaluator: Evaluator::new(search.set, search.requirements),
            compared: search.requirements.iter().any(compares),
        }
    }

    /// Whether prices are what the metric says, so that the cheaper by price is the better.
    pub fn exact_prices(&self) -> bool {
        let metric = self.search.metric.metric;
        let weights = self.search.generalizations.windows(2).all(|pair| pair[0].weight == pair[1].weight);
        metric.cell_loss().is_some() && (weights || metric.weighted())
    }

    /// Nothing but the levels of a node.
    pub fn plain(&self, levels: &[usize]) -> Published {
        let tuples = self.search.set.len();
        Published { levels: levels.to_vec(), stars: vec![0; tuples], out: vec![false; tuples] }
    }

    /// What a row of a tuple loses in a column at a level.
    fn price(&self, tuple: usize, column: usize, level: usize) -> f64 {
        let g = &self.search.generalizations[column];
        let code = self.search.set.tuple(tuple)[column];
        self.prices[column][level][g.levels[level].of[code as usize] as usize]
    }

    /// What a row of a tuple loses more by further stars.
    pub fn extra(&self, published: &Published, tuple: usize, stars: Stars) -> f64 {
        let more = stars & !published.stars[tuple];
        (0..published.levels.len())
            .filter(|c| more >> c & 1 == 1)
            .map(|c| {
                self.price(tuple, c, self.search.generalizations[c].height())
                    - self.price(tuple, c, published.levels[c])
            })
            .sum()
    }

    /// What a row of a tuple loses.
    pub fn lost(&self, published: &Published, tuple: usize) -> f64 {
        if published.out[tuple] {
            return self.row;
        }
        let level = |c: usize| match published.stars[tuple] >> c & 1 {
            1 => self.search.generalizations[c].height(),
            _ => published.levels[c],
        };
        (0..published.levels.len()).map(|c| self.price(tuple, c, level(c))).sum()
    }

    /// What all rows lose.
    pub fn cost(&self, published: &Published) -> f64 {
        (0..self.rows.len()).map(|t| self.rows[t] as f64 * self.lost(published, t)).sum()
    }

    /// What a row that is left out loses more.
    pub fn dropped_extra(&self, published: &Published, tuple: usize) -> f64 {
        self.row - self.lost(published, tuple)
    }

    /// The published cells of a tuple in the columns of a set, where it is given further stars.
    pub fn key(&self, published: &Published, tuple: usize, set: usize, more: Stars) -> Vec<u32> {
        let codes = self.search.set.tuple(tuple);
        let stars = published.stars[tuple] | more;
        let cell = |&c: &usize| {
            let g = &self.search.generalizations[c];
            let level = if stars >> c & 1 == 1 { g.height() } else { published.levels[c] };
            match published_cell(g, level, codes[c]) {
                (at, _) if at == g.height() => TOP,
                (_, value) => value,
            }
        };
        self.sets[set].iter().map(cell).collect()
    }

    /// The class of each tuple in a set, in the order of their first tuples; none for tuples that are left out.
    pub fn classes(&self, published: &Published, set: usize) -> (Vec<Option<u32>>, usize) {
        let mut index: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
        let class = |tuple: usize| {
            (!published.out[tuple] && self.rows[tuple] > 0).then(|| {
                let fresh = index.len() as u32;
                *index.entry(self.key(published, tuple, set, 0)).or_insert(fresh)
            })
        };
        let of: Vec<Option<u32>> = (0..self.rows.len()).map(class).collect();
        (of, index.len())
    }

    /// The entries of groups of tuples.
    pub fn groups(&self, of: &[Option<u32>], count: usize) -> Groups {
        let mut pairs = Vec::with_capacity(self.search.set.groups.entries.len());
        for (tuple, group) in of.iter().enumerate() {
            if let Some(group) = group {
                pairs.extend(self.search.set.groups.get(tuple).iter().map(|&e| (*group, e)));
            }
        }
        Groups::collect(count, pairs)
    }

    /// Judges classes of this release; what is published is asked for where it must be compared with itself.
    pub fn judge(&self, published: &Published) -> Judge<'_, 'a> {
        let left_out = published.out.iter().zip(&self.rows).any(|(&out, &rows)| out && rows > 0);
        let own = (self.compared && left_out).then(|| {
            let kept: Vec<Option<u32>> = published.out.iter().map(|&out| (!out).then_some(0)).collect();
            Evaluator::of_release(self.search.set, self.search.requirements, &self.groups(&kept, 1))
        });
        Judge { evaluator: &self.evaluator, own }
    }

    /// The tuples whose class in a set fails, with the numbers of those classes.
    pub fn failing(&self, published: &Published, set: usize) -> Vec<u32> {
        let judge = self.judge(published);
        let (of, count) = self.classes(published, set);
        let groups = self.groups(&of, count);
        let fails: Vec<bool> = groups.iter().map(|entries| !judge.holds(entries)).collect();
        let failing =
            |(tuple, class): (usize, &Option<u32>)| class.filter(|&c| fails[c as usize]).map(|_| tuple as u32);
        of.iter().enumerate().filter_map(failing).collect()
    }

    /// Whether what requirements say of the release as a whole holds in every set.
    pub fn whole(&self, published: &Published) -> bool {
        let requirements = self.search.requirements;
        let asked: Vec<usize> =
            (0..requirements.len()).filter(|&r| requirements[r].needs() == Needs::Release).collect();
        asked.is_empty()
            || (0..self.sets.len()).all(|set| {
                let (of, count) = self.classes(published, set);
                let groups = self.groups(&of, count);
                asked.iter().all(|&r| self.evaluator.judge(r, &groups).0)
            })
    }
}

/// The level and value that a code is published as: what is called like the top is the top.
fn published_cell(g: &crate::hierarchy::Generalization, level: usize, code: u32) -> (usize, u32) {
    match published(g, level, g.levels[level].of[code as usize]) {
        Cell::Node { level, value } => (level as usize, value),
        _ => (g.height(), 0),
    }
}

/// Judges single classes.
pub(super) struct Judge<'v, 'a> {
    evaluator: &'v Evaluator<'a>,
    own: Option<Evaluator<'a>>,
}

impl Judge<'_, '_> {
    /// Whether a class satisfies every requirement on classes.
    pub fn holds(&self, entries: &[crate::frequency::Entry]) -> bool {
        entries.is_empty()
            || self.evaluator.holds_all(entries) && self.own.as_ref().is_none_or(|own| own.holds_compared(entries))
    }
}
