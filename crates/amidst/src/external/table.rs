//! Tables that an adversary holds beside a release, and what the release's labels mean among their values.

use amidst_core::attack::Covers;
use amidst_core::hierarchy::{Generalization, Hierarchy, Recipe, build};
use amidst_core::table::{Column, Table, ValueType};
use amidst_io::{Conventions, Input, Nulls, ReadError, ReadOptions, TextEncoding};

use crate::Failure;
use crate::policy::{MissingRows, Policy};
use crate::prepare::PrepareError;
use crate::prepare::population::{Counts, counts};

/// The column of a population that says how many people a row stands for.
pub(crate) const COUNT: &str = "count";

/// Reads the columns of a table that are wanted, on `threads` threads, or on all cores when that is 0; names of persons
/// are not even kept.
pub(crate) fn read(file: &str, wanted: &[&str], threads: usize) -> Result<Table, Failure> {
    Ok(read_input(file, wanted, threads)?.table)
}

/// The same, with what else is known of the table.
pub(crate) fn read_input(file: &str, wanted: &[&str], threads: usize) -> Result<Input, Failure> {
    let keep = |name: &str| wanted.contains(&name);
    let options = ReadOptions { keep: Some(&keep), threads, ..ReadOptions::default() };
    let mut input = match amidst_io::read(file, &options) {
        // The encoding of an adversary's table is not stated anywhere.
        Err(ReadError::NotUtf8 { .. }) if file != "-" => {
            let first = amidst_io::first_bytes(file, 1 << 24).map_err(PrepareError::from)?;
            let encoding = first.map(|(bytes, whole)| TextEncoding::guess(&bytes, whole));
            let stated = Conventions { encoding, ..Conventions::default() };
            amidst_io::read(file, &ReadOptions { conventions: Some(&stated), ..options }).map_err(PrepareError::from)?
        }
        read => read.map_err(PrepareError::from)?,
    };
    for column in &mut input.table.columns {
        column.kind = ValueType::guess(column.dictionary.iter());
    }
    Ok(input)
}

/// Fails when `table` lacks a column.
pub(crate) fn all_there(file: &str, table: &Table, wanted: &[&str]) -> Result<(), Failure> {
    let lacking: Vec<&str> = wanted.iter().copied().filter(|name| table.position(name).is_none()).collect();
    if lacking.is_empty() {
        return Ok(());
    }
    let file = amidst_io::without_password(file);
    Err(Failure::Usage(format!("{file} lacks the column {}", lacking.join(", "))))
}

/// How many people each row of a population stands for: what its column `count` says, in parts, or one. A column that
/// plays another part (`but`) is not a count, whatever its name.
pub(crate) fn weights(table: &Table, but: &[&str]) -> Result<Counts, Failure> {
    let Some(column) = table.column(COUNT).filter(|_| !but.contains(&COUNT)) else {
        return Ok(Counts { parts: vec![1; table.rows], scale: 1 });
    };
    let Counts { parts, scale } = counts(column).map_err(Failure::Usage)?;
    let of_row = |row: usize| parts.get(column.codes.get(row) as usize).copied().unwrap_or(0);
    Ok(Counts { parts: (0..table.rows).map(of_row).collect(), scale })
}

/// The rows with an unknown cell in one of `columns`, where the policy leaves out such rows of its own table: nobody
/// knows who they are, so they stand for nobody.
pub(crate) fn unknown_rows(policy: &Policy, input: &Input, columns: &[&str]) -> Vec<usize> {
    if policy.data.missing_rows == MissingRows::Keep {
        return Vec::new();
    }
    let mut rows = Vec::new();
    let known = input.table.columns.iter().zip(&input.nulls).filter(|(c, _)| columns.contains(&c.name.as_str()));
    for (column, nulls) in known {
        rows.extend(nulls.iter().flat_map(Nulls::rows));
        let unknown: Vec<bool> = column.dictionary.iter().map(|v| policy.data.missing.iter().any(|m| m == v)).collect();
        if unknown.contains(&true) {
            rows.extend((0..input.table.rows).filter(|&row| unknown[column.codes.get(row) as usize]));
        }
    }
    rows
}

/// The hierarchy of the policy for `column`, bound to its values; the codes of those that the hierarchy lacks where it
/// lacks any. `None` when the policy has no hierarchy for it.
pub(crate) fn bound(policy: &Policy, column: &Column) -> Result<Option<Result<Generalization, Vec<u32>>>, Failure> {
    Ok(hierarchy(policy, column)?.map(|hierarchy| Generalization::bind(column, Some(&hierarchy))))
}

fn hierarchy(policy: &Policy, column: &Column) -> Result<Option<Hierarchy>, Failure> {
    let read = |file: &str| crate::prepare::hierarchy_text(policy, file);
    let Some(recipe) = policy.column(&column.name).and_then(|c| c.hierarchy.as_ref()) else { return Ok(None) };
    let recipe = Recipe { table: recipe, read: &read, missing: &policy.data.missing };
    build(&recipe, column).map(Some).map_err(|e| misfit(column, &e))
}

fn misfit(column: &Column, error: &dyn std::fmt::Display) -> Failure {
    Failure::Usage(format!("the hierarchy of `{}` does not fit the values beside the release: {error}", column.name))
}

/// What the labels of the policy's hierarchies cover among the values of `table`.
pub(crate) fn covers(policy: &Policy, table: &Table) -> Result<Vec<(String, Covers)>, Failure> {
    let mut all = Vec::new();
    for column in &table.columns {
        let Some(hierarchy) = hierarchy(policy, column)? else { continue };
        let bound = match Generalization::bind(column, Some(&hierarchy)) {
            Ok(bound) => bound,
            Err(lacking) => {
                // Values that the hierarchy lacks are covered by no label; the others still are.
                let known = (0u32..).zip(column.dictionary.iter()).filter(|(code, _)| !lacking.contains(code));
                let known = Column { kind: column.kind, ..Column::from_values(&column.name, known.map(|(_, v)| v)) };
                Generalization::bind(&known, Some(&hierarchy))
                    .map_err(|_| misfit(column, &"too many values are missing"))?
            }
        };
        all.push((column.name.clone(), Covers::of(&bound)));
    }
    Ok(all)
}
