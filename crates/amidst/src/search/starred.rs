//! Columns of which a release keeps nothing.

use amidst_core::hierarchy::{Generalization, TOP};
use amidst_core::recoding::Recoding;
use amidst_core::search::Search;

/// The classes that are published, but for masked rows.
pub(super) fn classes(recoding: &Recoding) -> Vec<usize> {
    let masked = recoding.masked.map(|class| class as usize);
    (0..recoding.classes.len()).filter(|class| Some(*class) != masked).collect()
}

/// The columns that are `*` in every class, although people differ in them.
pub(super) fn starred(search: &Search<'_>, recoding: &Recoding) -> Vec<usize> {
    let classes = classes(recoding);
    let lost = |&(c, g): &(usize, &Generalization)| {
        g.active() > 1 && classes.iter().all(|&class| recoding.label(class, c, g) == TOP)
    };
    search.generalizations.iter().enumerate().filter(lost).map(|(c, _)| c).collect()
}
