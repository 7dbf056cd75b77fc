//! What is in a release whose rows are elsewhere: counts by label, for the report and the certificate.

use amidst_core::frequency::Entry;
use amidst_core::hierarchy::TOP;
use amidst_core::ids::ClassId;
use amidst_core::table::{Codes, Column, Dictionary, Table, ValueType};

use super::Recoded;
use crate::release::{Released, published_kind};

/// The release as a small table: one row for the rows of one entry in one class, weighed with their number. Its columns
/// are the published quasi and sensitive ones.
pub fn of_parts(recoded: &Recoded<'_>) -> Released {
    let (prepared, recoding) = (recoded.prepared, recoded.recoding);
    let mut parts: Vec<(ClassId, Entry)> = Vec::new();
    recoding.for_each_part(&prepared.set, |part| parts.extend(part.class.map(|class| (class, part.entry))));
    let masked = recoded.masked();
    let quasi = |q: usize, column: &Column| {
        let mut dictionary = Dictionary::default();
        let of_class: Vec<u32> = (recoding.classes.iter().enumerate())
            .map(|(class, cells)| match masked {
                Some(masked) if masked as usize == class => dictionary.intern(TOP),
                _ => dictionary.intern(&prepared.generalizations[q].label(&cells[q])),
            })
            .collect();
        let codes = Codes::U32(parts.iter().map(|(class, _)| of_class[class.index()]).collect());
        Column { name: column.name.clone(), kind: ValueType::Text, dictionary, codes }
    };
    let sensitive = |s: usize, column: &Column| {
        let codes = parts.iter().map(|(_, entry)| prepared.set.sensitive_code(entry.sensitive, s)).collect();
        Column { codes: Codes::U32(codes), ..column.clone() }
    };
    let columns = prepared.table.columns.iter().enumerate().filter_map(|(position, column)| {
        if let Some(q) = prepared.quasi.iter().position(|&c| c == position) {
            return Some(quasi(q, column));
        }
        prepared.sensitive.iter().position(|&c| c == position).map(|s| sensitive(s, column))
    });
    let mut released = Released {
        table: Table { columns: columns.collect(), rows: parts.len() },
        order: (0..parts.len() as u32).collect(),
        weights: Some(parts.iter().map(|(_, entry)| entry.rows).collect()),
        ..Released::default()
    };
    let columns = std::mem::take(&mut released.table.columns).into_iter();
    released.table.columns = columns
        .map(|column| Column { kind: published_kind(recoded.policy, &column, || released.counts(&column)), ..column })
        .collect();
    released
}
