//! Applying a recoding: the table of generalized labels that is published.

use amidst_core::frequency::FrequencySet;
use amidst_core::hierarchy::Generalization;
use amidst_core::recoding::{Assignment, Recoding, SUPPRESSED};
use amidst_core::table::{Codes, Column, Dictionary, ValueType};
use rayon::prelude::*;

/// The class of each row that was searched, or [`SUPPRESSED`].
///
/// Rows of one entry are interchangeable, so the runs of an entry are dealt out in row order.
pub fn class_of_rows(set: &FrequencySet, recoding: &Recoding, entry_of_row: &[u32]) -> Vec<u32> {
    match &recoding.assignment {
        Assignment::Tuples(class_of) => {
            let of_entry: Vec<u32> = set.tuple_of_entry().iter().map(|&t| class_of[t as usize]).collect();
            entry_of_row.par_iter().map(|&e| of_entry[e as usize]).collect()
        }
        Assignment::Entries { offsets, runs } => {
            let mut next: Vec<usize> = offsets.clone();
            let mut left: Vec<u64> = runs.iter().map(|&(_, rows)| rows).collect();
            let mut class_of_row = Vec::with_capacity(entry_of_row.len());
            for &entry in entry_of_row {
                let run = &mut next[entry as usize];
                while *run + 1 < offsets[entry as usize + 1] && left[*run] == 0 {
                    *run += 1;
                }
                left[*run] = left[*run].saturating_sub(1);
                class_of_row.push(runs[*run].0);
            }
            class_of_row
        }
    }
}

/// The published column of one quasi column: `classes[i]` is the class of the i-th released row.
///
/// `mask` is the label of suppressed rows that are published masked.
pub fn generalized_column(
    position: usize,
    generalization: &Generalization,
    recoding: &Recoding,
    classes: &[u32],
    mask: &str,
) -> Column {
    let mut dictionary = Dictionary::default();
    let code_of_class: Vec<u32> =
        recoding.classes.iter().map(|cells| dictionary.intern(&generalization.label(&cells[position]))).collect();
    let masked = if classes.contains(&SUPPRESSED) { dictionary.intern(mask) } else { 0 };
    let distinct = dictionary.len();
    let code = |&class: &u32| if class == SUPPRESSED { masked } else { code_of_class[class as usize] };
    let codes = match Codes::for_distinct(distinct, 0) {
        Codes::U8(_) => Codes::U8(classes.par_iter().map(|c| code(c) as u8).collect()),
        Codes::U16(_) => Codes::U16(classes.par_iter().map(|c| code(c) as u16).collect()),
        Codes::U32(_) => Codes::U32(classes.par_iter().map(code).collect()),
    };
    let kind = if dictionary.iter().all(|label| generalization.kind.accepts(label)) {
        generalization.kind
    } else {
        ValueType::Text
    };
    Column { name: generalization.name.clone(), kind, dictionary, codes }
}
