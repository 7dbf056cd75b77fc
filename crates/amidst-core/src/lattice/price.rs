//! What nodes cost, and how costs compare.

use std::cmp::Ordering;

use super::by_class::ByClass;
use super::judge::{Judge, MustSuppress};
use super::recode;
use super::snapshot::Classes;
use crate::frequency::{Entry, FrequencySet, Groups, NOBODY};
use crate::hierarchy::Generalization;
use crate::ids::SensitiveId;
use crate::metric::full_domain::{Adds, Counted};
use crate::metric::{self, Input, Node, NodeCost, Release};
use crate::search::{Search, Suppressed};

/// Prices the nodes of one search by one metric.
#[derive(Debug)]
pub(crate) struct Pricer<'a> {
    set: &'a FrequencySet,
    generalizations: &'a [Generalization],
    k: u64,
    masked: bool,
    entry: &'static metric::Entry,
    nodes: Option<Box<dyn NodeCost + 'a>>,
}

/// A cost as searches compare it: to forty binary digits, so that costs which are equal but for rounding tie.
pub(crate) fn rounded(cost: f64) -> f64 {
    const DROPPED: u64 = 12;
    if cost == 0.0 || !cost.is_finite() {
        return if cost == 0.0 { 0.0 } else { cost };
    }
    f64::from_bits((cost.to_bits() + (1 << (DROPPED - 1))) & !((1 << DROPPED) - 1))
}

/// The order of candidates: the cheaper, then the lower, then the one whose levels come first.
pub(crate) fn compare(a: (f64, &[usize]), b: (f64, &[usize])) -> Ordering {
    let height = |levels: &[usize]| levels.iter().sum::<usize>();
    rounded(a.0).total_cmp(&rounded(b.0)).then_with(|| height(a.1).cmp(&height(b.1))).then_with(|| a.1.cmp(b.1))
}

impl<'a> Pricer<'a> {
    /// A pricer for the nodes of a search, by any metric.
    pub fn new(search: &Search<'a>, entry: &'static metric::Entry) -> Self {
        let input = Input { set: search.set, generalizations: search.generalizations, k: search.k };
        Pricer {
            set: search.set,
            generalizations: search.generalizations,
            k: search.k,
            masked: search.suppressed == Suppressed::Mask,
            entry,
            nodes: entry.metric.nodes(&input),
        }
    }

    /// Whether pricing looks at sensitive values.
    pub fn needs_groups(&self) -> bool {
        self.nodes.as_ref().is_some_and(|n| n.needs_groups())
    }

    /// Whether pricing needs the class of each tuple.
    pub fn needs_tuples(&self) -> bool {
        self.nodes.is_none()
    }

    /// Whether a node with nothing suppressed costs no more than anything above it.
    pub fn monotone(&self) -> bool {
        self.nodes.as_ref().is_some_and(|n| n.monotone())
    }

    /// What a node and everything above it costs at least, known from its levels.
    pub fn lower_bound(&self, levels: &[usize]) -> f64 {
        self.nodes.as_ref().and_then(|n| n.lower_bound(levels)).unwrap_or(f64::NEG_INFINITY)
    }

    /// The same, once the classes are known and at most `limit` rows may be suppressed.
    pub fn bound(&self, judge: &Judge<'_>, classes: &Classes, limit: u64) -> f64 {
        let Some(nodes) = &self.nodes else { return f64::NEG_INFINITY };
        if nodes.monotone()
            && let Some(loss) = nodes.loss_of(&self.counted(classes, &[]))
        {
            return metric::full_domain::round_down(loss, loss);
        }
        self.with_node(judge, classes, &[], |node| nodes.bound(node, limit)).unwrap_or(f64::NEG_INFINITY)
    }

    /// What a node and everything above it up to some limit costs at least, when the classes in `must_suppress`
    /// (ascending) are suppressed in all of it, and `partly` rows of the others.
    pub fn must_suppress_bound(&self, judge: &Judge<'_>, classes: &Classes, must_suppress: &[u32], partly: u64) -> f64 {
        let nodes = self.nodes.as_ref().filter(|n| n.suppression_costs());
        let loss = nodes.and_then(|nodes| {
            let more = partly as f64 * nodes.suppressing_adds(&classes.levels, &classes.rows, self.masked);
            Some(self.node_loss(nodes.as_ref(), judge, classes, must_suppress)? + more)
        });
        loss.map_or(f64::NEG_INFINITY, |loss| metric::full_domain::round_down(loss, loss))
    }

    /// Whether what a node costs with nothing suppressed is known before its classes are.
    pub fn known_by_levels(&self) -> bool {
        self.nodes.as_ref().is_some_and(|n| n.known_by_levels())
    }

    /// What suppressing some rows adds at most.
    pub fn adds_at_most(&self, rows: u64) -> f64 {
        self.nodes.as_ref().map_or(f64::INFINITY, |n| n.adds_at_most(rows, self.masked))
    }

    /// What the suppression that a node is known to force on all finer ones adds at least in it and in each of them.
    pub fn adds_below(&self, classes: &Classes, must_suppress: &MustSuppress) -> Option<Adds> {
        let counted = self.counted(classes, &must_suppress.classes);
        self.nodes.as_ref().and_then(|nodes| nodes.adds_below(&counted, &must_suppress.partly))
    }

    /// The most rows that a node may suppress and cost no more than `ceiling`.
    pub fn most_suppressed(&self, levels: &[usize], ceiling: f64) -> u64 {
        match &self.nodes {
            Some(nodes) if ceiling.is_finite() => nodes.most_suppressed(levels, ceiling, self.masked),
            _ => u64::MAX,
        }
    }

    fn counted<'c>(&'c self, classes: &'c Classes, suppressed: &'c [u32]) -> Counted<'c> {
        let Classes { levels, first, rows, .. } = classes;
        let lost = classes.lost.as_deref().map(|lost| &lost.rows);
        Counted { set: self.set, levels, first, rows, suppressed, masked: self.masked, lost }
    }

    fn node_loss(&self, nodes: &dyn NodeCost, judge: &Judge<'_>, classes: &Classes, suppressed: &[u32]) -> Option<f64> {
        let quick = nodes.loss_of(&self.counted(classes, suppressed));
        quick.or_else(|| self.with_node(judge, classes, suppressed, |node| nodes.loss(node)))
    }

    /// Whether rows that must be suppressed raise the bound.
    pub fn suppression_costs(&self) -> bool {
        self.nodes.as_ref().is_some_and(|n| n.suppression_costs())
    }

    /// What a node costs when some of its classes (ascending) are suppressed. A cost that is not defined counts as
    /// infinite.
    pub fn cost(&self, judge: &Judge<'_>, classes: &Classes, suppressed: &[u32]) -> f64 {
        let cost = match &self.nodes {
            Some(nodes) => self.node_loss(nodes.as_ref(), judge, classes, suppressed),
            None => {
                let recoding = recode::recoding(
                    self.set,
                    self.generalizations,
                    classes,
                    suppressed,
                    if self.masked { Suppressed::Mask } else { Suppressed::Drop },
                );
                let (groups, suppressed) = recoding.groups(self.set);
                self.entry.metric.loss(&Release {
                    set: self.set,
                    generalizations: self.generalizations,
                    recoding: &recoding,
                    groups: &groups,
                    suppressed,
                    k: self.k,
                })
            }
        };
        cost.unwrap_or(f64::INFINITY)
    }

    fn with_node<R>(
        &self,
        judge: &Judge<'_>,
        classes: &Classes,
        suppressed: &[u32],
        price: impl FnOnce(&Node<'_>) -> R,
    ) -> R {
        let needs_values = self.nodes.as_ref().is_some_and(|n| n.needs_values(!suppressed.is_empty()));
        let mut values = Vec::new();
        // Classes without rows (tuples of a population alone) are not published.
        let published: Vec<u32> = (0..classes.len() as u32).filter(|&c| classes.rows[c as usize] > 0).collect();
        if needs_values {
            values.reserve(published.len() * self.set.width);
            for &class in &published {
                let codes = self.set.tuple(classes.first[class as usize] as usize);
                for ((&code, g), &level) in codes.iter().zip(self.generalizations).zip(&classes.levels) {
                    values.push(g.levels[level].of[code as usize]);
                }
            }
        }
        let rows: Vec<u64> = published.iter().map(|&c| classes.rows[c as usize]).collect();
        let mut flags = Vec::new();
        if !suppressed.is_empty() {
            let mut next = suppressed.iter().peekable();
            flags.extend(published.iter().map(|c| next.next_if_eq(&c).is_some()));
        }
        let groups = self.needs_groups().then(|| self.groups(judge, classes, &published));
        price(&Node {
            levels: &classes.levels,
            values: &values,
            rows: &rows,
            groups: groups.as_ref(),
            suppressed: &flags,
            masked: self.masked,
        })
    }

    /// The entries of each published class.
    fn groups(&self, judge: &Judge<'_>, classes: &Classes, published: &[u32]) -> Groups {
        let mut groups = Groups { offsets: Vec::with_capacity(published.len() + 1), entries: Vec::new() };
        groups.offsets.push(0);
        let whole = judge.whole_view();
        let by = whole.is_none().then(|| ByClass::new(self.set, classes, false));
        let mut pairs = Vec::new();
        for &class in published {
            match (&by, whole) {
                (Some(by), _) => groups.entries.extend_from_slice(by.entries.get(class as usize)),
                (None, Some(view)) => {
                    pairs.clear();
                    classes.views[view].read(class as usize, &mut pairs);
                    // The projections on all sensitive columns are numbered as the sensitive tuples themselves are.
                    let entry =
                        |&(number, rows): &(u32, u64)| Entry { sensitive: SensitiveId(number), person: NOBODY, rows };
                    groups.entries.extend(pairs.iter().map(entry));
                }
                (None, None) => {}
            }
            groups.offsets.push(groups.entries.len());
        }
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_that_differ_by_rounding_tie() {
        let thirds = (0..30).map(|_| 1.0 / 3.0).sum::<f64>();
        assert_eq!(rounded(thirds), rounded(10.0));
        assert!(rounded(10.0) < rounded(10.0 + 1e-9));
        assert_eq!(compare((1.0, &[2, 0]), (1.0, &[0, 1])), Ordering::Greater);
        assert_eq!(compare((1.0, &[0, 1]), (1.0, &[1, 0])), Ordering::Less);
    }
}
