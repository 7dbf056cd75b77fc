//! Frequency sets that were rolled up to a node before anybody looks at them.
//!
//! A table may have more distinct tuples than one process can hold. An engine then gathers a coarser node of its
//! lattice. Each value is replaced by the first that has the same label there, so dictionaries and hierarchies stay as
//! they are, and so do the classes of that node and of every coarser one; [`FrequencySet::floor`] remembers that there
//! is nothing below.

use crate::frequency::{FrequencySet, Groups};
use crate::hierarchy::Generalization;

/// For each code of a column, the first code that has the same label on `level`.
pub fn representatives(generalization: &Generalization, level: usize) -> Vec<u32> {
    let Some(level) = generalization.levels.get(level) else { return Vec::new() };
    let mut first = vec![u32::MAX; level.labels.len()];
    let represent = |(code, &label): (u32, &u32)| match first.get_mut(label as usize) {
        Some(first) => {
            *first = (*first).min(code);
            *first
        }
        None => code,
    };
    (0u32..).zip(&level.of).map(represent).collect()
}

/// The set at a node: the tuples of representatives, each with the entries of all tuples that it stands for.
pub fn roll_up(set: &FrequencySet, generalizations: &[Generalization], levels: &[usize]) -> FrequencySet {
    let of: Vec<Vec<u32>> = generalizations.iter().zip(levels).map(|(g, &level)| representatives(g, level)).collect();
    let represent = |tuple: usize| -> Vec<u32> {
        let codes = set.tuple(tuple).iter().zip(&of);
        codes.map(|(&code, of)| of.get(code as usize).copied().unwrap_or(code)).collect()
    };
    let tuples: Vec<Vec<u32>> = (0..set.len()).map(represent).collect();
    let mut distinct = tuples.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let place = |tuple: &Vec<u32>| distinct.binary_search(tuple).unwrap_or_default() as u32;
    let pairs = tuples.iter().zip(set.groups.iter()).flat_map(|(tuple, entries)| {
        let group = place(tuple);
        entries.iter().map(move |&entry| (group, entry))
    });
    FrequencySet {
        groups: Groups::collect(distinct.len(), pairs.collect()),
        tuples: distinct.concat(),
        floor: levels.to_vec(),
        ..set.clone()
    }
}
