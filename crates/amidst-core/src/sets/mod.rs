//! Several quasi-identifiers in one policy: sets of quasi columns, each of which must satisfy the requirements by
//! itself.
//!
//! A class of a set is the rows whose published cells agree in the columns of that set, whatever their other cells are.
//! So rows need companions in every set, but not the same ones in all of them, and less is lost than where all quasi
//! columns are one set. Where a column belongs to several sets, what becomes of its cells changes the classes of all of
//! them.
//!
//! `view` is a table as it is published at a node, `node` looks for the node, `place` for single cells that become the
//! top, and `exact` proves the least cost on small tables. Tuples stay whole: rows that agree in all quasi columns are
//! published alike.
//!
//! **Which policies.** Requirements that look at the tuples which a class covers are refused: those of a set leave its
//! other columns open. Rows that are left out are dropped, not masked.
//!
//! May use: `algorithm`, `cells`, `frequency`, `hierarchy`, `lattice`, `metric`, `recoding`, `requirement`, `search`.

mod exact;
mod node;
mod place;
#[cfg(test)]
mod tests;
mod view;

use rustc_hash::FxHashMap;

use crate::algorithm::{self, Choice, InParts, RecodingKind};
use crate::frequency::{FrequencySet, Groups};
use crate::hierarchy::Generalization;
use crate::metric::Release;
use crate::model::Needs;
use crate::recoding::Recoding;
use crate::requirement::Evaluator;
use crate::search::{Found, Search, SearchError, Suppressed, feasibility};
use crate::table::Table;
use view::View;

/// The columns of each set, by their positions among the quasi columns.
pub type Sets = [Vec<usize>];

/// Whether `entry` can work on a policy with sets, and why not.
pub fn supports(search: &Search<'_>, entry: &algorithm::Entry) -> Result<(), SearchError> {
    let refused = |why: String| Err(SearchError::Unsupported(why));
    if entry.kind == RecodingKind::Local {
        return refused(format!(
            "{} makes classes of all quasi columns together, and does not look at the sets of [[quasi]] one by one; choose \
             cell-suppression or a full-domain algorithm, such as optimal, or leave out [[quasi]]",
            entry.id
        ));
    }
    if search.set.rolled_up() {
        return refused("the sets of [[quasi]] need the rows on this machine; use the local engine".to_string());
    }
    if search.suppressed == Suppressed::Mask && search.suppression_limit() > 0 {
        return refused(
            "masked rows would be one class in every set of [[quasi]]; write `suppressed = \"drop\"`, or allow none"
                .to_string(),
        );
    }
    match search.requirements.iter().find(|r| r.needs() == Needs::Tuples) {
        Some(r) => refused(format!(
            "{} looks at the tuples that a class covers, and the classes of a set of [[quasi]] leave the other columns open; \
             leave out one of the two",
            r.model.id
        )),
        None => Ok(()),
    }
}

/// Finds what each row becomes, so that every set satisfies every requirement. `levels` names the node where the policy
/// does.
///
/// # Errors
/// Where the algorithm does not suit, the search is stopped, or nothing was found.
pub fn search(
    search: &Search<'_>,
    sets: &Sets,
    entry: &algorithm::Entry,
    levels: Option<&[usize]>,
) -> Result<Found, SearchError> {
    supports(search, entry)?;
    if let Some(impossible) = feasibility::impossible(search) {
        return Err(SearchError::Impossible(impossible));
    }
    let view = View::new(search, sets);
    let choice = match entry.algorithm.in_parts() {
        InParts::Lattice(choice) => choice,
        _ => Choice::Best,
    };
    let whole = match levels {
        Some(levels) => node::at(&view, levels)?,
        None => node::choose(&view, choice)?,
    };
    let (starred, proven) = match entry.kind {
        RecodingKind::Cells if levels.is_none() => place::choose(&view, whole.as_ref())?,
        _ => (None, false),
    };
    search.tell(1.0);
    let whole = whole.map(|chosen| {
        let kept = |tuple: usize| !chosen.out[tuple];
        let recoding = Recoding::full_domain_of(search.set, search.generalizations, &chosen.levels, kept);
        (recoding, None, proven || chosen.optimal && entry.kind == RecodingKind::FullDomain)
    });
    let starred = starred.map(|(recoding, levels)| (recoding, Some(levels), proven));
    let candidates = [whole, starred].into_iter().flatten().filter(|c| holds(search, sets, &c.0));
    let priced = candidates.map(|c| (cost(search, &c.0).unwrap_or(f64::INFINITY), c));
    let best = priced.reduce(|a, b| if b.0 < a.0 { b } else { a });
    let Some((_, (recoding, coding, optimal))) = best else { return Err(nothing(search, levels)) };
    let coding = coding.filter(|_| recoding.levels.is_none());
    let notes = levels.map(|_| "the policy names these levels; no others were looked at".to_string());
    Ok(Found { recoding, coding, optimal, gap: None, least_loss: None, notes: notes.into_iter().collect() })
}

/// Why nothing was found.
fn nothing(search: &Search<'_>, levels: Option<&[usize]>) -> SearchError {
    let what = match levels {
        Some(_) => "the levels of the policy do not satisfy it in every set of [[quasi]]",
        None => "no generalization satisfies the policy in every set of [[quasi]]",
    };
    let limit = search.suppression_limit();
    let message = format!("{what}, with at most {limit} rows left out");
    SearchError::Impossible(match feasibility::failing(search) {
        Some(why) => {
            let message = format!("{message}; {why}");
            why.said(message)
        }
        None => message.into(),
    })
}

/// What a recoding costs by the metric of the search, where that is defined.
fn cost(search: &Search<'_>, recoding: &Recoding) -> Option<f64> {
    let (groups, suppressed) = recoding.groups(search.set);
    let (set, generalizations) = (search.set, search.generalizations);
    search.metric.metric.loss(&Release { set, generalizations, recoding, groups: &groups, suppressed, k: search.k })
}

/// The classes of one set.
#[derive(Debug, Clone)]
pub struct Classes {
    /// What each holds.
    pub groups: Groups,
    /// The published cells of each in the columns of the set.
    pub cells: Vec<Vec<String>>,
}

impl Classes {
    /// The classes of a set in a release: the rows whose published cells agree in its columns.
    pub fn of(
        set: &FrequencySet,
        generalizations: &[Generalization],
        recoding: &Recoding,
        columns: &[usize],
    ) -> Classes {
        let cells = |class: usize| -> Vec<String> {
            columns.iter().map(|&c| recoding.label(class, c, &generalizations[c]).into_owned()).collect()
        };
        let (of_class, cells) = numbered((0..recoding.classes.len()).map(cells));
        let mut pairs = Vec::new();
        recoding.for_each_part(set, |part| {
            if let Some(class) = part.class {
                pairs.push((of_class[class.index()], part.entry));
            }
        });
        Classes { groups: Groups::collect(cells.len(), pairs), cells }
    }

    /// The classes of a set in a table as it stands, whose tuples have these labels.
    pub fn of_table(set: &FrequencySet, labels: &Table, columns: &[usize]) -> Classes {
        let cells = |tuple: usize| -> Vec<String> {
            columns.iter().map(|&c| labels.columns[c].value(tuple).to_string()).collect()
        };
        let (of_tuple, cells) = numbered((0..labels.rows).map(cells));
        let mut pairs = Vec::new();
        for (tuple, &class) in of_tuple.iter().enumerate() {
            pairs.extend(set.groups.get(tuple).iter().map(|&e| (class, e)));
        }
        Classes { groups: Groups::collect(cells.len(), pairs), cells }
    }
}

/// Numbers what is equal alike, in the order of first sight.
fn numbered(all: impl Iterator<Item = Vec<String>>) -> (Vec<u32>, Vec<Vec<String>>) {
    let mut index: FxHashMap<Vec<String>, u32> = FxHashMap::default();
    let mut distinct = Vec::new();
    let number = |cells: Vec<String>| {
        *index.entry(cells).or_insert_with_key(|cells| {
            distinct.push(cells.clone());
            distinct.len() as u32 - 1
        })
    };
    let numbers = all.map(number).collect();
    (numbers, distinct)
}

/// Whether a release satisfies every requirement in every set, and leaves out no more rows than it may: against the
/// table that was searched, and against what is published.
pub fn holds(search: &Search<'_>, sets: &Sets, recoding: &Recoding) -> bool {
    let (published, suppressed) = recoding.groups(search.set);
    let of_release = Evaluator::of_release(search.set, search.requirements, &published);
    let of_table = Evaluator::new(search.set, search.requirements);
    suppressed <= search.suppression_limit()
        && sets.iter().all(|columns| {
            let classes = Classes::of(search.set, search.generalizations, recoding, columns).groups;
            (0..search.requirements.len())
                .all(|r| of_release.judge(r, &classes).0 && (suppressed == 0 || of_table.judge(r, &classes).0))
        })
}
