//! From a node to the recoding that publishes it.

use super::snapshot::Classes;
use crate::frequency::FrequencySet;
use crate::hierarchy::{Cell, Generalization};
use crate::recoding::{Assignment, Recoding, SUPPRESSED};
use crate::search::Suppressed;

/// The recoding of a node whose classes in `suppressed` (ascending) are left out, or masked as one class. Needs the
/// class of each tuple.
pub(crate) fn recoding(
    set: &FrequencySet,
    generalizations: &[Generalization],
    classes: &Classes,
    suppressed: &[u32],
    how: Suppressed,
) -> Recoding {
    let mut number = vec![SUPPRESSED; classes.len()];
    let mut cells: Vec<Vec<Cell>> = Vec::new();
    let mut next = suppressed.iter().peekable();
    for (class, number) in number.iter_mut().enumerate() {
        if next.next_if_eq(&&(class as u32)).is_some() || classes.rows[class] == 0 {
            continue;
        }
        *number = cells.len() as u32;
        let codes = set.tuple(classes.first[class] as usize);
        let cell = |((&code, g), &level): ((&u32, &Generalization), &usize)| Cell::Node {
            level: level as u32,
            value: g.levels[level].of[code as usize],
        };
        cells.push(codes.iter().zip(generalizations).zip(&classes.levels).map(cell).collect());
    }
    let mut masked = None;
    if how == Suppressed::Mask && !suppressed.is_empty() {
        suppressed.iter().for_each(|&c| number[c as usize] = cells.len() as u32);
        masked = Some(cells.len() as u32);
        cells.push(generalizations.iter().map(|g| Cell::Node { level: g.height() as u32, value: 0 }).collect());
    }
    let class_of = classes.class_of.iter().map(|&c| number.get(c as usize).copied().unwrap_or(SUPPRESSED)).collect();
    Recoding {
        classes: cells,
        assignment: Assignment::Tuples(class_of),
        levels: Some(classes.levels.clone()),
        masked,
        shown: None,
    }
}
