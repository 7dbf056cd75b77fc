//! What a node is worth: which of its classes fail, whether suppressing them is allowed, and whether anything finer can
//! still be hoped for.
//!
//! Verdicts travel up the lattice with the classes. A class made of one finer class is judged as that one was; a
//! monotone requirement that holds for every part of a merged class holds for the class; one that no merge can break
//! ([`strong`]) holds when it holds for any part. Only what is left is judged, the cheapest requirement first.
//!
//! Suppression. A class that fails is suppressed whole. A requirement on the whole release is looked at afterwards, on
//! the classes that are left; where it fails and rows may still be left out, the smallest classes follow (the first of
//! equals first) until it holds. Masked rows form one class that must satisfy everything itself: a node whose
//! failing rows together still fail is not valid. A node that would publish no row at all is not valid either.

use super::by_class::ByClass;
use super::sensitive_view::SensitiveView;
use super::snapshot::{Carry, Classes, FAILS};
use crate::class::{Class, Sizes};
use crate::frequency;
use crate::model::Needs;
use crate::requirement::{Evaluator, Requirement};
use crate::search::{Search, Suppressed, need};

/// What was found out about a node.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outcome {
    /// Whether the node can be published, with its failing classes suppressed.
    pub valid: bool,
    /// Whether neither the node nor anything finer can be published.
    pub hopeless: bool,
    /// The suppressed classes, ascending; complete when the node is valid.
    pub suppressed: Vec<u32>,
    /// Their rows.
    pub suppressed_rows: u64,
}

/// What every finer node must suppress.
#[derive(Debug, Clone, Default)]
pub(crate) struct MustSuppress {
    /// The classes of which nothing can be saved, ascending.
    pub classes: Vec<u32>,
    /// The rows that must be suppressed at least.
    pub rows: u64,
    /// Of other classes, ascending, how many rows must be suppressed at least; it is not known which.
    pub partly: Vec<(u32, u64)>,
}

/// How one requirement reads a class.
#[derive(Debug)]
struct Rule {
    /// Its position in the policy.
    requirement: usize,
    /// The view it looks at, if any.
    view: Option<usize>,
    /// Its bit in a verdict; zero when there are more requirements than bits.
    bit: u32,
    /// Whether it holds for every merged class when it holds for all parts.
    monotone: bool,
    /// Whether it holds for every merged class when it holds for any part.
    strong: bool,
}

/// Judges the nodes of one search.
#[derive(Debug)]
pub(crate) struct Judge<'a> {
    search: SearchParts<'a>,
    /// Tests single classes.
    pub evaluator: Evaluator<'a>,
    /// What requirements see of the sensitive columns.
    pub views: Vec<SensitiveView>,
    /// The number of rows that may be left out.
    pub limit: u64,
    rules: Vec<Rule>,
    release: Vec<usize>,
    /// No class of fewer rows satisfies all requirements on classes.
    least_rows: u64,
    /// How verdicts survive a merge.
    pub carry: Carry,
    /// Whether classes are judged from their entries: persons repeat, tuples matter, or counts are very large.
    pub from_entries: bool,
    /// Whether some requirement looks at tuples, those without rows included.
    pub all_tuples: bool,
}

/// The parts of a search that judging needs.
#[derive(Debug, Clone, Copy)]
struct SearchParts<'a> {
    set: &'a crate::frequency::FrequencySet,
    requirements: &'a [Requirement],
    suppressed: Suppressed,
}

impl<'a> Judge<'a> {
    /// A judge for a search. `whole` asks for a view of all sensitive columns, for metrics that look at them.
    pub fn new(search: &Search<'a>, whole: bool) -> Self {
        Self::with_limit(search, whole, search.suppression_limit())
    }

    /// The same judge, when `limit` rows may be left out.
    pub fn with_limit(search: &Search<'a>, whole: bool, limit: u64) -> Self {
        let (set, requirements) = (search.set, search.requirements);
        let all_tuples = requirements.iter().any(|r| r.models.iter().any(|m| m.needs() == Needs::Tuples));
        let from_entries = set.persons || all_tuples || set.rows > u64::from(u32::MAX);
        let mut views: Vec<SensitiveView> = Vec::new();
        if whole && set.sensitive_width > 0 && !from_entries {
            views.push(SensitiveView::new(set, &(0..set.sensitive_width).collect::<Vec<_>>()));
        }
        let mut rules = Vec::new();
        let mut release = Vec::new();
        for (i, r) in requirements.iter().enumerate() {
            let needs = r.needs();
            if needs == Needs::Release {
                release.push(i);
                continue;
            }
            let view = (needs >= Needs::Histogram && !r.on.is_empty() && !from_entries).then(|| {
                views.iter().position(|f| f.columns == r.on).unwrap_or_else(|| {
                    views.push(SensitiveView::new(set, &r.on));
                    views.len() - 1
                })
            });
            let monotone = r.monotone(set);
            rules.push(Rule { requirement: i, view, bit: 0, monotone, strong: monotone && r.preserved_by_insertion() });
        }
        // The cheapest first; those that a merge cannot break before the others, so that a class that fails one of
        // them is known to.
        rules.sort_by_key(|r| (!r.strong, requirements[r.requirement].needs(), r.requirement));
        let mut carry = Carry::default();
        for (i, rule) in rules.iter_mut().enumerate().take(31) {
            rule.bit = 1 << i;
            carry.monotone |= if rule.monotone { rule.bit } else { 0 };
            carry.strong |= if rule.strong { rule.bit } else { 0 };
        }
        let evaluator = Evaluator::new(set, requirements);
        let least_rows = if from_entries { 1 } else { need::least_rows(requirements, &evaluator) };
        Judge {
            evaluator,
            least_rows,
            search: SearchParts { set, requirements, suppressed: search.suppressed },
            views,
            limit,
            rules,
            release,
            carry,
            from_entries,
            all_tuples,
        }
    }

    /// The view of all sensitive columns in their own order, whose projections are the sensitive tuples.
    pub fn whole_view(&self) -> Option<usize> {
        let all = |f: &SensitiveView| f.columns.len() == self.search.set.sensitive_width && f.columns.is_sorted();
        if self.from_entries { None } else { self.views.iter().position(all) }
    }

    /// Whether a node that generalizes a valid one is always valid.
    pub fn monotone(&self) -> bool {
        let requirements = self.search.requirements;
        if self.limit == 0 {
            requirements.iter().all(|r| r.monotone(self.search.set))
        } else {
            // Rows that fail become fewer on the way up, but a mask class that shrinks may fail.
            self.search.suppressed == Suppressed::Drop && self.release.is_empty() && self.rules.iter().all(|r| r.strong)
        }
    }

    /// Judges a node. Unless `thorough`, stops as soon as it is known to be invalid.
    pub fn judge(&self, classes: &mut Classes, thorough: bool) -> Outcome {
        self.judge_up_to(classes, thorough, u64::MAX)
    }

    /// The same, where a node that suppresses more than `most` rows is as good as invalid.
    pub fn judge_up_to(&self, classes: &mut Classes, thorough: bool, most: u64) -> Outcome {
        let most = most.min(self.limit);
        let mut outcome = Outcome::default();
        let entries = self.from_entries.then(|| ByClass::new(self.search.set, classes, self.all_tuples));
        let mut strong_rows = 0;
        let mut monotone_failure = false;
        let mut scratch = Scratch::default();
        for class in 0..classes.len() {
            let rows = classes.rows[class];
            if rows == 0 {
                continue;
            }
            let verdict = classes.verdicts[class];
            let failing = if verdict & FAILS == 0 {
                let failing = self.failing_rule(classes, class, entries.as_ref(), &mut scratch);
                if failing.is_some() {
                    classes.verdicts[class] |= FAILS;
                }
                failing
            } else {
                // The first rule whose bit is missing is the one that failed.
                self.rules.iter().position(|r| verdict & r.bit == 0)
            };
            if let Some(rule) = failing {
                outcome.suppressed.push(class as u32);
                outcome.suppressed_rows += rows;
                let rule = &self.rules[rule];
                strong_rows += if rule.strong { rows } else { 0 };
                monotone_failure |= rule.monotone;
                outcome.hopeless = strong_rows > self.limit || (self.limit == 0 && monotone_failure);
                if !thorough && outcome.suppressed_rows > most {
                    return outcome;
                }
            }
        }
        outcome.valid = outcome.suppressed_rows <= self.limit
            && self.release_holds(classes, entries.as_ref(), &mut outcome)
            && self.mask_holds(classes, entries.as_ref(), &outcome)
            && (outcome.suppressed.is_empty()
                || self.search.suppressed == Suppressed::Mask
                || outcome.suppressed_rows < self.search.set.rows);
        outcome
    }

    /// What every finer node must suppress.
    ///
    /// A class that fails a requirement which no merge can break fails it in every part. Of one that fails another
    /// monotone requirement parts may be published; but these satisfy it as a whole, so no more rows than the
    /// largest part of the class that does ([`crate::model::PrivacyModel::most_kept`]). Where these are fewer than any
    /// class must have, nothing of it is published.
    pub fn must_suppress(&self, classes: &mut Classes) -> MustSuppress {
        let entries =
            (self.from_entries && self.has_strong()).then(|| ByClass::new(self.search.set, classes, self.all_tuples));
        let mut scratch = Scratch::default();
        let mut must_suppress = MustSuppress::default();
        let lost = classes.lost_class();
        for class in 0..classes.len() {
            let rows = classes.rows[class];
            let mut kept = if lost == Some(class) { 0 } else { rows };
            for (i, rule) in self.rules.iter().enumerate() {
                if rows == 0 || kept == 0 || classes.verdicts[class] & rule.bit != 0 || !self.rules_out(rule) {
                    continue;
                }
                if self.holds_noted(classes, class, entries.as_ref(), &mut scratch, i) {
                    continue;
                }
                kept = match &self.search.requirements[rule.requirement].models[..] {
                    [model] if !rule.strong => {
                        let whole = Class { size: rows, histogram: &scratch.pairs, tuples: &[] };
                        kept.min(model.most_kept(&whole, &self.evaluator.tables(rule.requirement)[0]))
                    }
                    _ if rule.strong => 0,
                    _ => kept,
                };
            }
            // What is kept is published in classes that are no smaller than every class must be.
            if kept < self.least_rows {
                kept = 0;
            }
            if kept == 0 && rows > 0 {
                must_suppress.classes.push(class as u32);
            } else if kept < rows {
                must_suppress.partly.push((class as u32, rows - kept));
            }
            must_suppress.rows += rows - kept;
        }
        must_suppress
    }

    /// What every finer node must suppress, as far as the sizes of classes tell: those that are smaller than any class
    /// may be, or fail a requirement on sizes which no merge can break. `None` where nothing is asked of sizes, or
    /// these are not the rows of a class.
    pub fn must_suppress_by_size(&self, classes: &Classes) -> Option<MustSuppress> {
        let rules: Vec<&Rule> = self.rules.iter().filter(|r| r.strong && r.view.is_none()).collect();
        if (rules.is_empty() && self.least_rows <= 1) || self.from_entries {
            return None;
        }
        let mut scratch = Scratch::default();
        let mut must_suppress = MustSuppress::default();
        let lost = classes.lost_class();
        for (class, &rows) in (0u32..).zip(&classes.rows) {
            let mut holds = || rules.iter().all(|rule| self.rule_holds(rule, rows, &mut scratch));
            if rows > 0 && (rows < self.least_rows || lost == Some(class as usize) || !holds()) {
                must_suppress.classes.push(class);
                must_suppress.rows += rows;
            }
        }
        Some(must_suppress)
    }

    /// Whether a class that fails the rule is known to lose rows in every finer node.
    fn rules_out(&self, rule: &Rule) -> bool {
        rule.strong || (rule.monotone && rule.view.is_some_and(|f| self.views[f].columns.len() == 1))
    }

    /// Whether some requirement tells what finer nodes must suppress.
    pub fn can_rule_out(&self) -> bool {
        self.rules.iter().any(|r| self.rules_out(r))
    }

    /// Whether neither a node nor anything finer can be published, as far as can be told.
    pub fn hopeless(&self, classes: &mut Classes) -> bool {
        if self.limit == 0 {
            self.judge(classes, false).hopeless
        } else {
            self.must_suppress(classes).rows > self.limit
        }
    }

    /// Whether some requirement is one that no merge can break.
    fn has_strong(&self) -> bool {
        self.rules.first().is_some_and(|r| r.strong)
    }

    /// The first rule that the class fails; notes in its verdict those that hold.
    fn failing_rule(
        &self,
        classes: &mut Classes,
        class: usize,
        entries: Option<&ByClass>,
        scratch: &mut Scratch,
    ) -> Option<usize> {
        for (i, rule) in self.rules.iter().enumerate() {
            if classes.verdicts[class] & rule.bit == 0 && !self.holds_noted(classes, class, entries, scratch, i) {
                return Some(i);
            }
        }
        None
    }

    /// Whether a class satisfies a rule; notes in its verdict when it does. Leaves the histogram that was looked at, if
    /// any, in `scratch.pairs`.
    fn holds_noted(
        &self,
        classes: &mut Classes,
        class: usize,
        entries: Option<&ByClass>,
        scratch: &mut Scratch,
        rule: usize,
    ) -> bool {
        let rule = &self.rules[rule];
        let holds = match entries {
            Some(by) => self.evaluator.holds_covering(rule.requirement, by.entries.get(class), by.tuples(class)),
            None => {
                scratch.pairs.clear();
                if let Some(view) = rule.view {
                    classes.views[view].read(class, &mut scratch.pairs);
                }
                self.rule_holds(rule, classes.rows[class], scratch)
            }
        };
        if holds {
            classes.verdicts[class] |= rule.bit;
        }
        holds
    }

    /// Whether a class of `size` rows whose view is in `scratch.pairs` satisfies a rule.
    fn rule_holds(&self, rule: &Rule, size: u64, scratch: &mut Scratch) -> bool {
        let r = &self.search.requirements[rule.requirement];
        let tables = self.evaluator.tables(rule.requirement);
        let Some(view) = rule.view.map(|f| &self.views[f]) else {
            let class = Class { size, histogram: &[], tuples: &[] };
            return r.models.iter().zip(tables).all(|(m, t)| m.holds(&class, t));
        };
        if let [model] = &r.models[..] {
            scratch.pairs.iter_mut().for_each(|p| p.0 = view.value(p.0, 0));
            return model.holds(&Class { size, histogram: &scratch.pairs, tuples: &[] }, &tables[0]);
        }
        // Definition 4.6: for each column in turn, blocks of rows that agree in the others.
        for (i, model) in r.models.iter().enumerate() {
            let blocks = &view.blocks[i];
            scratch.blocks.clear();
            scratch.blocks.extend(scratch.pairs.iter().map(|&(s, n)| (blocks[s as usize], view.value(s, i), n)));
            scratch.blocks.sort_unstable();
            for block in scratch.blocks.chunk_by(|a, b| a.0 == b.0) {
                scratch.histogram.clear();
                scratch.histogram.extend(block.iter().map(|&(_, value, n)| (value, n)));
                if !model.holds(&Class::of(&scratch.histogram), &tables[i]) {
                    return false;
                }
            }
        }
        true
    }

    /// Whether the requirements on the whole release hold, suppressing the smallest classes as far as allowed.
    fn release_holds(&self, classes: &Classes, entries: Option<&ByClass>, outcome: &mut Outcome) -> bool {
        if self.release.is_empty() {
            return true;
        }
        let size = |class: usize| match entries {
            Some(by) => frequency::size(by.entries.get(class)),
            None => classes.rows[class],
        };
        let mut suppressed = vec![false; classes.len()];
        outcome.suppressed.iter().for_each(|&c| suppressed[c as usize] = true);
        let mut left: Vec<(u64, u32)> = (0..classes.len())
            .filter(|&c| classes.rows[c] > 0 && !suppressed[c])
            .map(|c| (size(c), c as u32))
            .collect();
        left.sort_unstable();
        let mask = self.search.suppressed == Suppressed::Mask;
        let mut next = 0;
        loop {
            let mut sizes: Vec<u64> = left[next..].iter().map(|l| l.0).collect();
            if mask && !outcome.suppressed.is_empty() {
                sizes.push(self.mask_size(classes, entries, outcome));
            }
            let sizes = Sizes::collect(sizes);
            let models = self.release.iter().flat_map(|&r| &self.search.requirements[r].models);
            if models.into_iter().all(|m| m.holds_release(&sizes)) {
                outcome.suppressed.sort_unstable();
                return true;
            }
            let Some(&(_, class)) = left.get(next) else { return false };
            if outcome.suppressed_rows + classes.rows[class as usize] > self.limit {
                return false;
            }
            outcome.suppressed_rows += classes.rows[class as usize];
            outcome.suppressed.push(class);
            next += 1;
        }
    }

    /// The persons of all suppressed classes.
    fn mask_size(&self, classes: &Classes, entries: Option<&ByClass>, outcome: &Outcome) -> u64 {
        match entries {
            Some(by) => frequency::size(&by.merged(&outcome.suppressed)),
            None => outcome.suppressed.iter().map(|&c| classes.rows[c as usize]).sum(),
        }
    }

    /// Whether the suppressed rows, where they are masked, satisfy every requirement as one class.
    fn mask_holds(&self, classes: &Classes, entries: Option<&ByClass>, outcome: &Outcome) -> bool {
        if self.search.suppressed == Suppressed::Drop || outcome.suppressed.is_empty() {
            return true;
        }
        if let Some(by) = entries {
            let merged = by.merged(&outcome.suppressed);
            let everything: Vec<u32> =
                if self.all_tuples { (0..self.search.set.len() as u32).collect() } else { Vec::new() };
            return self.rules.iter().all(|r| self.evaluator.holds_covering(r.requirement, &merged, &everything));
        }
        let mut scratch = Scratch::default();
        self.rules.iter().all(|rule| {
            scratch.pairs.clear();
            if let Some(view) = rule.view {
                outcome.suppressed.iter().for_each(|&c| classes.views[view].read(c as usize, &mut scratch.pairs));
                frequency::add_up(&mut scratch.pairs);
            }
            self.rule_holds(rule, outcome.suppressed_rows, &mut scratch)
        })
    }

    /// The number of persons of the table.
    pub fn persons(&self) -> u64 {
        if self.search.set.persons { frequency::size(&self.search.set.groups.entries) } else { self.search.set.rows }
    }

    /// The persons of each class.
    pub fn sizes(&self, classes: &Classes) -> Vec<u64> {
        if !self.search.set.persons {
            return classes.rows.clone();
        }
        ByClass::new(self.search.set, classes, false).entries.iter().map(frequency::size).collect()
    }

    /// For each requirement in the order of the policy, whether each class that has rows satisfies it; for those on
    /// the whole release, an empty list.
    pub fn verdicts(&self, classes: &Classes) -> Vec<Vec<bool>> {
        let entries = self.from_entries.then(|| ByClass::new(self.search.set, classes, self.all_tuples));
        let mut scratch = Scratch::default();
        let mut all = vec![Vec::new(); self.search.requirements.len()];
        for rule in &self.rules {
            let holds = |class: usize| match &entries {
                _ if classes.rows[class] == 0 => true,
                Some(by) => self.evaluator.holds_covering(rule.requirement, by.entries.get(class), by.tuples(class)),
                None => {
                    scratch.pairs.clear();
                    if let Some(view) = rule.view {
                        classes.views[view].read(class, &mut scratch.pairs);
                    }
                    self.rule_holds(rule, classes.rows[class], &mut scratch)
                }
            };
            all[rule.requirement] = (0..classes.len()).map(holds).collect();
        }
        all
    }
}

/// Buffers that judging reuses from class to class.
#[derive(Debug, Default)]
struct Scratch {
    pairs: Vec<(u32, u64)>,
    blocks: Vec<(u32, u32, u64)>,
    histogram: Vec<(u32, u64)>,
}
