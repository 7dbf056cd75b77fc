//! A release as its recipients see it: classes by their labels, values by their texts, in the order of these texts.
//!
//! The classes that a search hands over are numbered, and their values coded, in ways that follow from the whole input.
//! Even where figures are of the release alone, ties between classes and sums of fractions would depend on that order.
//! A
//! [`View`] forgets it: it is the same for any two inputs that publish the same rows.

use amidst_core::attack::Published;
use amidst_core::class::{Ranking, Sizes};
use amidst_core::frequency::{self, Entry, FrequencySet, Groups, NOBODY};
use amidst_core::hierarchy::{Generalization, TOP};
use amidst_core::ids::SensitiveId;
use amidst_core::recoding::Recoding;
use amidst_core::requirement::SensitiveDomain;
use amidst_core::risk::Risk;
use amidst_core::table::{Codes, Column, Dictionary, Table};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

/// A release without its past.
#[derive(Debug)]
pub struct View {
    /// The classes as tuples of labels, with what they hold.
    pub set: FrequencySet,
    /// The sensitive columns, of published values only.
    pub domains: Vec<SensitiveDomain>,
    /// The labels of each class.
    pub labels: Table,
}

impl View {
    /// What can be seen of a recoding whose classes hold `classes`, entries of `set`.
    pub fn of(
        set: &FrequencySet,
        classes: &Groups,
        recoding: &Recoding,
        generalizations: &[Generalization],
        domains: &[SensitiveDomain],
    ) -> View {
        let held: Vec<u32> = (0..classes.len() as u32).filter(|&c| !classes.get(c as usize).is_empty()).collect();
        let columns: Vec<Column> =
            generalizations.par_iter().enumerate().map(|(at, g)| labels(recoding, &held, at, g)).collect();
        let codes = |place: usize| columns.iter().map(move |column| column.codes.get(place));
        let mut places: Vec<u32> = (0..held.len() as u32).collect();
        places.par_sort_unstable_by(|&a, &b| codes(a as usize).cmp(codes(b as usize)));
        // Classes that look alike are one class to every reader.
        let mut class_of = vec![u32::MAX; classes.len()];
        let mut firsts: Vec<u32> = Vec::new();
        for &place in &places {
            if firsts.last().is_none_or(|&first| !codes(first as usize).eq(codes(place as usize))) {
                firsts.push(place);
            }
            class_of[held[place as usize] as usize] = firsts.len() as u32 - 1;
        }
        let (domains, sensitive, sensitive_of) = sensitive(set, classes, domains);
        let persons = set.persons && repeats(classes);
        let entry = |e: &Entry| Entry {
            sensitive: sensitive_of[e.sensitive.index()],
            person: if persons { e.person } else { NOBODY },
            rows: e.rows,
        };
        let mut pairs = Vec::with_capacity(classes.entries.len());
        for &class in &held {
            pairs.extend(classes.get(class as usize).iter().map(|e| (class_of[class as usize], entry(e))));
        }
        let groups = Groups::collect(firsts.len(), pairs);
        let set = FrequencySet {
            width: columns.len(),
            tuples: firsts.iter().flat_map(|&place| codes(place as usize)).collect(),
            domains: columns.iter().map(|c| c.dictionary.len()).collect(),
            rows: frequency::rows(&groups.entries),
            groups,
            sensitive_width: domains.len(),
            sensitive,
            sensitive_domains: domains.iter().map(|d| d.dictionary.len()).collect(),
            persons,
            floor: Vec::new(),
        };
        let rows = firsts.len();
        let kept = |column: &Column| Column {
            codes: Codes::U32(firsts.iter().map(|&place| column.codes.get(place as usize)).collect()),
            name: column.name.clone(),
            kind: column.kind,
            dictionary: column.dictionary.clone(),
        };
        View { labels: Table { columns: columns.iter().map(kept).collect(), rows }, set, domains }
    }

    /// The release, for attacks.
    pub fn published(&self) -> Published<'_> {
        Published::new(&self.set, &self.set.groups, &self.domains).with_labels(&self.labels)
    }

    /// Its re-identification risk.
    pub fn risk(&self) -> Risk {
        Risk::of(&Sizes::collect(self.set.groups.iter().map(frequency::size)))
    }

    /// The rows of each class, and whether its labels tell nothing at all, as those of masked rows.
    pub fn class_rows(&self) -> impl Iterator<Item = (u64, bool)> {
        let blank = |class: usize| self.labels.columns.iter().all(|column| column.value(class) == TOP);
        self.set.groups.iter().enumerate().map(move |(class, entries)| (frequency::rows(entries), blank(class)))
    }
}

/// The labels of a quasi column in the classes `held`, its dictionary in the order of the texts.
fn labels(recoding: &Recoding, held: &[u32], at: usize, generalization: &Generalization) -> Column {
    let mut found = Dictionary::default();
    let of_class: Vec<u32> =
        held.iter().map(|&class| found.intern(&recoding.label(class as usize, at, generalization))).collect();
    let (dictionary, rank) = by_text(&found, 0..found.len() as u32);
    Column {
        dictionary,
        codes: Codes::U32(of_class.iter().map(|&code| rank[code as usize]).collect()),
        ..Column::new(generalization.name.clone())
    }
}

/// Some values of a dictionary in the order of their texts, and where each code went.
fn by_text(dictionary: &Dictionary, codes: impl Iterator<Item = u32>) -> (Dictionary, Vec<u32>) {
    let mut sorted: Vec<u32> = codes.collect();
    sorted.par_sort_unstable_by(|&a, &b| dictionary.value(a).cmp(dictionary.value(b)));
    let mut place = vec![u32::MAX; dictionary.len()];
    (0u32..).zip(&sorted).for_each(|(rank, &code)| place[code as usize] = rank);
    (sorted.iter().map(|&code| dictionary.value(code)).collect(), place)
}

/// The sensitive columns as they are published, their distinct tuples, and where each tuple of `set` went.
fn sensitive(
    set: &FrequencySet,
    classes: &Groups,
    domains: &[SensitiveDomain],
) -> (Vec<SensitiveDomain>, Vec<u32>, Vec<SensitiveId>) {
    let mut used = vec![false; set.sensitive_count()];
    classes.entries.iter().for_each(|e| used[e.sensitive.index()] = true);
    let published = || (0..used.len() as u32).map(SensitiveId).filter(|id| used[id.index()]);
    let mut places: Vec<Vec<u32>> = Vec::new();
    let seen: Vec<SensitiveDomain> = (domains.iter().enumerate())
        .map(|(column, domain)| {
            let codes: FxHashSet<u32> = published().map(|id| set.sensitive_code(id, column)).collect();
            let (dictionary, place) = by_text(&domain.dictionary, codes.iter().copied());
            let old: Vec<u32> = dictionary.iter().filter_map(|value| domain.dictionary.code(value)).collect();
            places.push(place);
            SensitiveDomain {
                levels: domain
                    .levels
                    .as_ref()
                    .map(|levels| levels.iter().map(|level| regrouped(level, &old)).collect()),
                dictionary,
                ordered: false,
                ranking: Ranking::default(),
                ..domain.clone()
            }
        })
        .collect();
    let tuple = |id: SensitiveId| -> Vec<u32> {
        (places.iter().enumerate()).map(|(column, place)| place[set.sensitive_code(id, column) as usize]).collect()
    };
    let mut tuples: Vec<(Vec<u32>, SensitiveId)> = published().map(|id| (tuple(id), id)).collect();
    tuples.sort_unstable();
    // No entry has a tuple that is not published.
    let mut of = vec![SensitiveId(u32::MAX); used.len()];
    (0..).map(SensitiveId).zip(&tuples).for_each(|(new, &(_, old))| of[old.index()] = new);
    (seen, tuples.into_iter().flat_map(|(tuple, _)| tuple).collect(), of)
}

/// The groups of some values, numbered as they come.
fn regrouped(level: &[u32], codes: &[u32]) -> Vec<u32> {
    let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
    let group = |&code: &u32| {
        let next = numbers.len() as u32;
        *numbers.entry(level[code as usize]).or_insert(next)
    };
    codes.iter().map(group).collect()
}

/// Whether somebody is published twice, of classes that count persons.
pub(crate) fn repeats(classes: &Groups) -> bool {
    let mut seen = FxHashSet::default();
    classes.entries.iter().any(|e| e.rows > 1 || !seen.insert(e.person))
}
