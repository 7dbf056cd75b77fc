//! A table and its release side by side, row by row: what two columns say together before and after, and which groups
//! of people lose most.
//!
//! Values are put into a few groups a column, so that a table of two columns fits a page and a million rows take a byte
//! each. All of it is about the original, for its owner's eyes: nothing of it is published.

use amidst_core::metric;
use amidst_core::recoding::SUPPRESSED;
use amidst_core::table::Column;
use rayon::prelude::*;

use crate::anonymize::Candidate;
use crate::release::Released;

/// Groups of a column, without the one of all others.
const GROUPS: usize = 8;

/// The group of rows that are not there.
const ABSENT: u8 = u8::MAX;

/// What a row is marked with that is left out or masked. A row all of whose cells are fully generalized loses as much,
/// but is there.
const LEFT_OUT: f32 = 2.0;

/// A table and its release.
#[derive(Debug, Clone, PartialEq)]
pub struct Sides {
    /// Every published column.
    pub columns: Vec<SideColumn>,
    /// What each row loses, from 0 to 1: the loss metric over its quasi cells; [`LEFT_OUT`] for a row that is left out.
    loss_of_row: Vec<f32>,
}

/// A column on both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct SideColumn {
    /// Its name.
    pub name: String,
    before: Grouped,
    after: Grouped,
}

/// The values of a column in groups.
#[derive(Debug, Clone, PartialEq)]
struct Grouped {
    labels: Vec<String>,
    /// The group of each row of the input.
    of_row: Vec<u8>,
}

/// How many rows have each pair of groups of two columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrossTable {
    /// The groups of the first column.
    pub rows: Vec<String>,
    /// The groups of the second.
    pub columns: Vec<String>,
    /// Rows of the table, by the group of the first and of the second.
    pub counts: Vec<Vec<u64>>,
}

/// What the people of one group lose.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupLoss {
    /// The column that makes the group.
    pub column: String,
    /// The group.
    pub label: String,
    /// Its rows.
    pub rows: u64,
    /// Those that are left out of the release, or masked.
    pub left_out: u64,
    /// What a row of it loses on average, from 0 (nothing) to 1 (everything).
    pub loss: f64,
}

impl Sides {
    /// What was found for a table, beside the table.
    pub fn of(candidate: &Candidate) -> Sides {
        let (policy, prepared, recoding) = (candidate.policy(), candidate.prepared(), candidate.recoding());
        let classes = candidate.class_of_rows();
        let released = Released::with_classes(policy, prepared, recoding, classes.clone());
        let columns = (released.table.columns.par_iter())
            .filter_map(|after| {
                let before = grouped(prepared.table.column(&after.name)?, |_| true);
                let after_groups = grouped(after, |row| classes[row] != SUPPRESSED);
                Some(SideColumn { name: after.name.clone(), before, after: after_groups })
            })
            .collect();
        let cell_loss = metric::DEFAULT.metric.cell_loss();
        let width = prepared.generalizations.len().max(1) as f64;
        let of_class: Vec<f32> = (recoding.classes.iter())
            .map(|cells| {
                let cells = prepared.generalizations.iter().zip(cells);
                (cell_loss.map_or(0.0, |loss| cells.map(|(g, cell)| loss(g, cell)).sum::<f64>()) / width) as f32
            })
            .collect();
        // Rows that are published as they are have no class, and lose nothing.
        let loss = |&class: &u32| match class {
            SUPPRESSED => LEFT_OUT,
            class if Some(class) == recoding.masked => LEFT_OUT,
            class => of_class.get(class as usize).copied().unwrap_or(0.0),
        };
        Sides { columns, loss_of_row: classes.iter().map(loss).collect() }
    }

    /// Two columns together, before and after; none where there are no such columns.
    pub fn cross(&self, first: usize, second: usize) -> Option<(CrossTable, CrossTable)> {
        let (first, second) = (self.columns.get(first)?, self.columns.get(second)?);
        Some((crossed(&first.before, &second.before), crossed(&first.after, &second.after)))
    }

    /// What the groups of one column lose, or of all; those that lose most first.
    pub fn losses(&self, column: Option<usize>) -> Vec<GroupLoss> {
        let chosen = self.columns.iter().enumerate().filter(|(i, _)| column.is_none_or(|column| column == *i));
        let mut found: Vec<GroupLoss> = chosen.flat_map(|(_, column)| self.losses_of(column)).collect();
        found.sort_by(|a, b| b.loss.total_cmp(&a.loss).then_with(|| (&a.column, &a.label).cmp(&(&b.column, &b.label))));
        found
    }

    fn losses_of(&self, column: &SideColumn) -> Vec<GroupLoss> {
        let groups = column.before.labels.len();
        let (mut rows, mut left_out, mut loss) = (vec![0u64; groups], vec![0u64; groups], vec![0.0; groups]);
        for (&group, &lost) in column.before.of_row.iter().zip(&self.loss_of_row) {
            let group = usize::from(group);
            rows[group] += 1;
            left_out[group] += u64::from(lost == LEFT_OUT);
            loss[group] += f64::from(lost.min(1.0));
        }
        let one = |(i, label): (usize, &String)| GroupLoss {
            column: column.name.clone(),
            label: label.clone(),
            rows: rows[i],
            left_out: left_out[i],
            loss: loss[i] / rows[i] as f64,
        };
        column.before.labels.iter().enumerate().map(one).filter(|group| group.rows > 0).collect()
    }
}

fn crossed(first: &Grouped, second: &Grouped) -> CrossTable {
    let mut counts = vec![vec![0; second.labels.len()]; first.labels.len()];
    for (&a, &b) in first.of_row.iter().zip(&second.of_row) {
        if a != ABSENT && b != ABSENT {
            counts[usize::from(a)][usize::from(b)] += 1;
        }
    }
    CrossTable { rows: first.labels.clone(), columns: second.labels.clone(), counts }
}

/// The values of a column in at most [`GROUPS`] groups and one of the others. Numbers and dates are cut where each part
/// has about as many rows; of texts the most frequent have a group each.
fn grouped(column: &Column, there: impl Fn(usize) -> bool) -> Grouped {
    let mut counts = vec![0u64; column.dictionary.len()];
    let mut row = 0;
    column.codes.for_each(|code| {
        counts[code as usize] += u64::from(there(row));
        row += 1;
    });
    let held: Vec<u32> = (0..counts.len() as u32).filter(|&code| counts[code as usize] > 0).collect();
    let (labels, group_of) = if held.len() <= GROUPS + 1 {
        let labels = held.iter().map(|&code| shown(column.dictionary.value(code))).collect();
        (labels, numbered(counts.len(), held.iter().zip(0..)))
    } else if column.kind.is_numeric() {
        ranges(column, &held, &counts)
    } else {
        frequent(column, held, &counts)
    };
    let mut of_row = Vec::with_capacity(column.codes.len());
    column.codes.for_each(|code| of_row.push(if there(of_row.len()) { group_of[code as usize] } else { ABSENT }));
    Grouped { labels, of_row }
}

fn shown(value: &str) -> String {
    if value.is_empty() { "(unknown)".to_string() } else { value.to_string() }
}

fn numbered<'a>(codes: usize, groups: impl Iterator<Item = (&'a u32, u8)>) -> Vec<u8> {
    let mut group_of = vec![ABSENT; codes];
    groups.for_each(|(&code, group)| group_of[code as usize] = group);
    group_of
}

/// Neighbouring values together: dictionaries are in the order of their type. What is no value of that type, such as a
/// word for an unknown cell, is a group of its own.
fn ranges(column: &Column, held: &[u32], counts: &[u64]) -> (Vec<String>, Vec<u8>) {
    let (held, unknown): (Vec<u32>, Vec<u32>) =
        held.iter().partition(|&&code| column.kind.accepts(column.dictionary.value(code)));
    let total: u64 = held.iter().map(|&code| counts[code as usize]).sum();
    let (mut before, mut parts): (u64, Vec<Vec<u32>>) = (0, Vec::new());
    let mut last = None;
    for &code in &held {
        let part = u128::from(before) * GROUPS as u128 / u128::from(total.max(1));
        if last != Some(part) {
            parts.push(Vec::new());
            last = Some(part);
        }
        if let Some(part) = parts.last_mut() {
            part.push(code);
        }
        before += counts[code as usize];
    }
    let label = |part: &Vec<u32>| match part.as_slice() {
        [one] => shown(column.dictionary.value(*one)),
        [first, .., last] => {
            format!("{} – {}", shown(column.dictionary.value(*first)), shown(column.dictionary.value(*last)))
        }
        [] => String::new(),
    };
    let mut labels: Vec<String> = parts.iter().map(label).collect();
    if !unknown.is_empty() {
        labels.push(shown(""));
        parts.push(unknown);
    }
    let groups = parts.iter().zip(0u8..).flat_map(|(part, group)| part.iter().map(move |code| (code, group)));
    (labels, numbered(counts.len(), groups))
}

/// The most frequent values, and all others together.
fn frequent(column: &Column, mut held: Vec<u32>, counts: &[u64]) -> (Vec<String>, Vec<u8>) {
    held.sort_by_key(|&code| (std::cmp::Reverse(counts[code as usize]), code));
    let others = held.len() - GROUPS;
    let mut labels: Vec<String> = held[..GROUPS].iter().map(|&code| shown(column.dictionary.value(code))).collect();
    labels.push(format!("{others} others"));
    let group_of = numbered(counts.len(), held.iter().enumerate().map(|(i, code)| (code, i.min(GROUPS) as u8)));
    (labels, group_of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Job;
    use crate::policy::Policy;

    /// The cells of a table of texts, and the release of it by Mondrian, compared cell by cell with what the sides say.
    #[test]
    fn groups_and_cross_tables_count_every_row_once() {
        let mut rows = Vec::new();
        for i in 0u32..300 {
            rows.push((i * 7 % 61, ["north", "south", "west"][(i * i % 3) as usize], format!("d{}", i * 11 % 23)));
        }
        let text: String = rows.iter().map(|(age, ward, d)| format!("{age},{ward},{d}\n")).collect();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("t.csv");
        std::fs::write(&file, format!("age,ward,disease\n{text}")).unwrap();
        let policy = Policy::parse(
            "[columns.age]\nrole = \"quasi\"\nhierarchy = { intervals = [5, 20] }\n[columns.ward]\nrole = \"quasi\"\n\
             hierarchy = { suppress = true }\n[columns.disease]\nrole = \"sensitive\"\n[[require]]\n\
             model = \"k-anonymity\"\nk = 12\n[search]\nalgorithm = \"optimal\"\nmax_suppression = 0.5\n",
            &folder.path().join("policy.toml"),
        )
        .unwrap();
        let source = Some(file.to_str().unwrap().to_string());
        let candidate = Candidate::of_source(&policy, source, &Job::default()).unwrap();
        let sides = Sides::of(&candidate);
        assert_eq!(sides.columns.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["age", "ward", "disease"]);
        let outcome = candidate.release(None, &Job::default()).unwrap().outcome;
        let left_out = outcome.rows_in - outcome.rows_out;
        for (first, second) in [(0, 1), (1, 2), (0, 2)] {
            let (before, after) = sides.cross(first, second).unwrap();
            assert_eq!(before.counts.iter().flatten().sum::<u64>(), 300);
            assert_eq!(after.counts.iter().flatten().sum::<u64>(), outcome.rows_out);
            assert!(before.rows.len() <= GROUPS + 1 && before.columns.len() <= GROUPS + 1);
        }
        let (before, _) = sides.cross(1, 2).unwrap();
        for (ward, counts) in before.rows.iter().zip(&before.counts) {
            for (disease, &count) in before.columns.iter().zip(counts).filter(|(d, _)| !d.ends_with("others")) {
                let own = rows.iter().filter(|(_, w, d)| w == ward && d == disease).count();
                assert_eq!(count, own as u64, "{ward}, {disease}");
            }
        }
        for column in 0..3 {
            let losses = sides.losses(Some(column));
            assert_eq!(losses.iter().map(|g| g.rows).sum::<u64>(), 300);
            assert_eq!(losses.iter().map(|g| g.left_out).sum::<u64>(), left_out);
            // The groups of any column together lose what the release loses by the same metric.
            let all: f64 = losses.iter().map(|g| g.loss * g.rows as f64).sum::<f64>() / 300.0;
            let told = outcome.judged.metrics.iter().find(|m| m.0 == metric::DEFAULT.id).and_then(|m| m.1).unwrap();
            assert!((all - told).abs() < 1e-6, "{all} is not {told}");
            assert!(losses.windows(2).all(|pair| pair[0].loss >= pair[1].loss));
        }
        assert!(sides.cross(0, 3).is_none());
    }

    #[test]
    fn numbers_are_cut_into_parts_of_about_as_many_rows() {
        let values: Vec<String> = (0..1000).map(|i| format!("{}", i % 100)).collect();
        let mut column = Column::from_values("n", values.iter().map(String::as_str));
        column.kind = amidst_core::table::ValueType::Integer;
        let found = grouped(&column, |_| true);
        let mut rows = vec![0; found.labels.len()];
        found.of_row.iter().for_each(|&group| rows[usize::from(group)] += 1);
        assert_eq!(found.labels.len(), GROUPS);
        assert!(rows.iter().all(|&n| (100..=150).contains(&n)), "{rows:?}");
    }

    #[test]
    fn words_among_numbers_are_in_no_range() {
        let values: Vec<String> = (0..100).map(|i| i.to_string()).chain(["n/a".to_string(), String::new()]).collect();
        let mut column = Column::from_values("n", values.iter().map(String::as_str));
        column.kind = amidst_core::table::ValueType::Integer;
        let found = grouped(&column, |_| true);
        assert_eq!(found.labels.last().map(String::as_str), Some("(unknown)"));
        assert!(found.labels.iter().all(|label| !label.contains("n/a")), "{:?}", found.labels);
        assert_eq!(found.of_row.iter().filter(|&&group| usize::from(group) + 1 == found.labels.len()).count(), 2);
    }
}
