//! Which class each row is in.

use amidst_core::frequency::FrequencySet;
use amidst_core::ids::EntryId;
use amidst_core::recoding::{Assignment, SUPPRESSED};
use rayon::prelude::*;

use crate::prepare::NO_ENTRY;

/// The class of rows that are published as they are, because their owner waived protection.
pub const AS_IS: u32 = SUPPRESSED - 1;

/// The class of each row; [`SUPPRESSED`] for one that is left out, the number before it for one published as it is.
///
/// Rows of one entry are interchangeable, so the runs of an entry are dealt out in row order.
pub fn class_of_rows(set: &FrequencySet, assignment: &Assignment, entry_of_row: &[EntryId]) -> Vec<u32> {
    match assignment {
        Assignment::Tuples(class_of) => {
            let of_entry: Vec<u32> = set.tuple_of_entry().iter().map(|&t| class_of[t as usize]).collect();
            entry_of_row.par_iter().map(|&e| of_entry.get(e.index()).copied().unwrap_or(AS_IS)).collect()
        }
        Assignment::Entries { offsets, runs } => {
            let mut next: Vec<usize> = offsets.clone();
            let mut left: Vec<u64> = runs.iter().map(|&(_, rows)| rows).collect();
            let deal = |&entry: &EntryId| {
                if entry == NO_ENTRY {
                    return AS_IS;
                }
                let run = &mut next[entry.index()];
                while *run + 1 < offsets[entry.index() + 1] && left[*run] == 0 {
                    *run += 1;
                }
                left[*run] = left[*run].saturating_sub(1);
                runs[*run].0
            };
            entry_of_row.iter().map(deal).collect()
        }
    }
}
