//! What singles people out in a table without a policy: columns, sets of up to three, minimal sample uniques.
//!
//! Roles are guessed as `amidst init` guesses them. Columns that tell who it is alone are named and set aside: every
//! set with one of them is unique. The others are ranked by the rows that they single out, alone, in pairs and in
//! threes, and the minimal sample uniques are found ([`Suda`]). Three columns of fifteen are 455 sets, so of wide or
//! long tables only the columns that matter most are put together, and it is said which.

use amidst_core::internal::row_groups::RowGroups;
use amidst_core::risk::Suda;
use amidst_core::table::{Column, Table};
use rayon::prelude::*;

use crate::Failure;
use crate::init::InspectedTable;
use crate::job::Job;
use crate::policy::Role;

/// Columns that are put together at most.
const MOST_COLUMNS: usize = 15;

/// Rows times sets that are looked at, at most.
const MOST_WORK: usize = 60_000_000;

/// Sets of each size that are told.
const SETS: usize = 10;

/// Rows with the highest scores that are told.
const TOP_ROWS: usize = 10;

/// What was found in a table.
#[derive(Debug)]
#[non_exhaustive]
pub struct Survey {
    /// The rows of the table.
    pub rows: u64,
    /// Every column that was read, those that single out most people first.
    pub columns: Vec<ColumnRisk>,
    /// The columns that were put together.
    pub considered: Vec<String>,
    /// How many columns were not, although they might have been: there were too many.
    pub not_considered: Vec<String>,
    /// Pairs and threes of columns, those that single out most people first.
    pub sets: Vec<SetRisk>,
    /// The minimal sample uniques.
    pub suda: Scores,
    /// What to do next, in the order in which to do it.
    pub next: Vec<String>,
}

/// A column, and how many it singles out.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnRisk {
    /// Its name.
    pub name: String,
    /// The role that `amidst init` would give it.
    pub role: Role,
    /// Why.
    pub why: String,
    /// How many values it has.
    pub distinct: u64,
    /// How many rows have a value that no other row has.
    pub uniques: u64,
}

/// A set of columns, and how many rows it singles out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetRisk {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// How many combinations of values occur.
    pub distinct: u64,
    /// How many rows have a combination that no other row has.
    pub uniques: u64,
}

/// What the minimal sample uniques say.
#[derive(Debug, Clone, PartialEq)]
pub struct Scores {
    /// The largest size that was looked for.
    pub max_size: usize,
    /// How many minimal sample uniques there are of each size, from 1 on.
    pub by_size: Vec<u64>,
    /// How many rows have one.
    pub singled_out: u64,
    /// The mean score of a row.
    pub mean: f64,
    /// The highest score of a row.
    pub highest: f64,
    /// For each column considered, its share in all scores, the largest first.
    pub contributions: Vec<(String, f64)>,
    /// The rows (counted from 1, without the header) with the highest scores, and their scores.
    pub rows: Vec<(u64, f64)>,
}

/// Looks at a table without a policy.
///
/// # Errors
/// Whatever is wrong with the input.
pub fn survey(data: &str, max_size: usize) -> Result<Survey, Failure> {
    survey_watched(data, max_size, &Job::default())
}

/// The same, told how far the reading is and whether it is to go on.
///
/// # Errors
/// Whatever is wrong with the input, or that the job was stopped.
pub fn survey_watched(data: &str, max_size: usize, job: &Job<'_>) -> Result<Survey, Failure> {
    Ok(of_inspected(&InspectedTable::watched(data, false, job)?, data, max_size))
}

/// What was found in a table that was looked at.
pub(crate) fn of_inspected(inspected: &InspectedTable, data: &str, max_size: usize) -> Survey {
    let table = &inspected.table;
    let columns: Vec<ColumnRisk> =
        (0..table.columns.len()).into_par_iter().map(|i| column_risk(inspected, i)).collect();
    let (together, rest) = considered(table, &columns, max_size);
    let codes: Vec<_> = together.iter().map(|&i| &table.columns[i].codes).collect();
    let suda = Suda::find(&codes, max_size);
    let names: Vec<String> = together.iter().map(|&i| columns[i].name.clone()).collect();
    let sets = sets(table, &together, &suda, max_size.min(3));
    let suda = scores(&suda, &names);
    let next = next(data, table.rows as u64, &columns, &sets, &suda);
    let not_considered = rest.iter().map(|&i| columns[i].name.clone()).collect();
    let mut columns = columns;
    columns.sort_by_key(|column| std::cmp::Reverse((column.uniques, column.distinct)));
    Survey { rows: table.rows as u64, columns, considered: names, not_considered, sets, suda, next }
}

fn column_risk(inspected: &InspectedTable, i: usize) -> ColumnRisk {
    let column = &inspected.table.columns[i];
    let counts = column.counts();
    let (role, why) = inspected.role(i);
    ColumnRisk {
        name: column.name.clone(),
        role,
        why: why.to_string(),
        distinct: counts.iter().filter(|&&n| n > 0).count() as u64,
        uniques: counts.iter().filter(|&&n| n == 1).count() as u64,
    }
}

/// The columns that are put together, and those that might have been.
fn considered(table: &Table, columns: &[ColumnRisk], max_size: usize) -> (Vec<usize>, Vec<usize>) {
    let rows = table.rows;
    let tells = |c: &ColumnRisk| c.distinct > 1 && c.role != Role::Key;
    // What is left out because it tells who it is, tells it in every set.
    let alone = |c: &ColumnRisk| c.role == Role::Identifying && c.distinct * 2 > rows as u64;
    let mut order: Vec<usize> = (0..columns.len()).filter(|&i| tells(&columns[i]) && !alone(&columns[i])).collect();
    let rank = |role: Role| match role {
        Role::Quasi => 0,
        Role::Sensitive | Role::Insensitive => 1,
        _ => 2,
    };
    order.sort_by_key(|&i| (rank(columns[i].role), std::cmp::Reverse(columns[i].distinct), i));
    let mut most = MOST_COLUMNS;
    while most > 4 && rows.saturating_mul(choose(most, max_size.min(most))) > MOST_WORK {
        most -= 1;
    }
    let rest = order.split_off(order.len().min(most));
    order.sort_unstable();
    (order, rest)
}

/// How many sets of k there are among n.
fn choose(n: usize, k: usize) -> usize {
    (0..k).fold(1, |sets, i| sets * (n - i) / (i + 1))
}

/// The pairs and threes that single out most.
fn sets(table: &Table, together: &[usize], suda: &Suda, max_size: usize) -> Vec<SetRisk> {
    let n = together.len();
    let mut found = Vec::new();
    for size in 2..=max_size.min(n) {
        let of_size: Vec<u64> = (0..1u64 << n).filter(|set| set.count_ones() as usize == size).collect();
        let uniques = suda.uniques(&of_size);
        let mut ranked: Vec<(u64, u64)> = uniques.into_iter().zip(of_size).collect();
        ranked.sort_by_key(|&(uniques, set)| (std::cmp::Reverse(uniques), set));
        found.extend(ranked.into_iter().take(SETS));
    }
    found.sort_by_key(|&(uniques, set)| (std::cmp::Reverse(uniques), set.count_ones(), set));
    let describe = |&(uniques, set): &(u64, u64)| {
        let members: Vec<usize> = (0..n).filter(|c| set >> c & 1 == 1).map(|c| together[c]).collect();
        let cells: Vec<&Column> = members.iter().map(|&i| &table.columns[i]).collect();
        let distinct = RowGroups::of(&cells, table.rows).sizes.len() as u64;
        let columns = members.iter().map(|&i| table.columns[i].name.clone()).collect();
        SetRisk { columns, distinct, uniques }
    };
    found.par_iter().map(describe).collect()
}

fn scores(suda: &Suda, names: &[String]) -> Scores {
    let scores = suda.scores();
    let mut rows: Vec<(u64, f64)> = (1..).zip(scores.iter().copied()).filter(|(_, score)| *score > 0.0).collect();
    rows.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut contributions: Vec<(String, f64)> = names.iter().cloned().zip(suda.contributions()).collect();
    contributions.sort_by(|a, b| b.1.total_cmp(&a.1));
    Scores {
        max_size: suda.max_size,
        by_size: suda.by_size(),
        singled_out: suda.singled_out(),
        mean: scores.iter().sum::<f64>() / scores.len().max(1) as f64,
        highest: rows.first().map_or(0.0, |(_, score)| *score),
        contributions,
        rows: rows.into_iter().take(TOP_ROWS).collect(),
    }
}

/// What to do about it.
fn next(data: &str, rows: u64, columns: &[ColumnRisk], sets: &[SetRisk], suda: &Scores) -> Vec<String> {
    let mut next = Vec::new();
    let alone: Vec<&str> = columns
        .iter()
        .filter(|c| c.role == Role::Identifying && c.distinct * 2 > rows)
        .map(|c| c.name.as_str())
        .collect();
    if !alone.is_empty() {
        next.push(format!("leave out what tells who it is: {}", listed(&alone)));
    }
    if let Some(worst) =
        sets.iter().filter(|s| s.uniques > 0).min_by_key(|s| (std::cmp::Reverse(s.uniques), s.columns.len()))
    {
        let share = 100.0 * worst.uniques as f64 / rows.max(1) as f64;
        let names: Vec<&str> = worst.columns.iter().map(String::as_str).collect();
        next.push(format!("generalize together: {} single out {share:.1} % of the rows", listed(&names)));
    }
    if suda.singled_out == 0 {
        next.push(format!(
            "no row is alone on up to {} of the columns put together; more columns may single out still",
            suda.max_size
        ));
    }
    next.push(format!("draft a policy that does so, and read it: amidst init {}", amidst_io::without_password(data)));
    next
}

fn listed(names: &[&str]) -> String {
    const SHOWN: usize = 8;
    let shown = names.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_singles_out_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("t.csv");
        let mut text = "patient_id,age,sex,ward\n".to_string();
        for i in 0..200u64 {
            text.push_str(&format!(
                "{},{},{},{}\n",
                1000 + i * 7919 % 9973,
                20 + i * i % 53,
                ["f", "m"][i as usize % 2],
                i % 3
            ));
        }
        std::fs::write(&file, text).unwrap();
        let found = survey(file.to_str().unwrap(), 3).unwrap();
        assert_eq!((found.rows, found.columns[0].name.as_str(), found.columns[0].uniques), (200, "patient_id", 200));
        assert_eq!(found.columns[0].role, Role::Identifying);
        assert_eq!(found.considered, ["age", "sex", "ward"]);
        // All three together single out at least what any pair does.
        assert_eq!(found.sets[0].columns, ["age", "sex", "ward"]);
        assert!(found.sets[0].uniques >= found.sets[1].uniques && found.sets[0].uniques > 0);
        assert_eq!(found.suda.singled_out, found.sets[0].uniques);
        assert!(found.next[0].contains("patient_id") && found.next.iter().any(|n| n.contains("amidst init")));
        let json = found.to_json();
        for key in ["rows", "columns", "sets", "suda", "next"] {
            assert!(json.get(key).is_some(), "{key}");
        }
    }

    #[test]
    fn sets_are_counted() {
        assert_eq!((choose(15, 3), choose(5, 5), choose(4, 1)), (455, 1, 4));
    }
}
