//! Labels of sensitive columns that look alike, and count as several values all the same.

use amidst_check::{alike, printable};
use amidst_core::table::{Column, Table};

use super::columns::Layout;

/// The number of groups shown with their labels.
const SHOWN: usize = 3;

/// How many groups of labels look alike in each sensitive column. No label is told: reports repeat it.
pub(crate) fn remarks(layout: &Layout, table: &Table) -> Vec<String> {
    let told = |(column, groups): (&Column, Vec<Vec<usize>>)| {
        let (count, which) = (groups.len(), if groups.len() == 1 { "group" } else { "groups" });
        format!(
            "the sensitive column `{}` has {count} {which} of labels that differ only by case, white space or characters that \
             look alike; each label counts as a value of its own, so a class may look more diverse than it is",
            column.name
        )
    };
    found(layout, table).map(told).collect()
}

/// The labels, for the eyes of the owner.
pub(crate) fn labels(layout: &Layout, table: &Table) -> Vec<String> {
    let told = |(column, groups): (&Column, Vec<Vec<usize>>)| {
        let label = |&code: &usize| format!("\"{}\"", printable(column.dictionary.value(code as u32)));
        let group = |group: &Vec<usize>| group.iter().map(label).collect::<Vec<_>>().join(", ");
        let shown: Vec<String> = groups.iter().take(SHOWN).map(group).collect();
        let more = if groups.len() > SHOWN { format!("; and {} more", groups.len() - SHOWN) } else { String::new() };
        format!("labels that look alike in `{}`: {}{more}", column.name, shown.join("; "))
    };
    found(layout, table).map(told).collect()
}

fn found<'a>(layout: &'a Layout, table: &'a Table) -> impl Iterator<Item = (&'a Column, Vec<Vec<usize>>)> {
    let texts = layout.sensitive.iter().filter_map(|&at| table.columns.get(at)).filter(|c| !c.kind.is_numeric());
    texts.map(|column| (column, alike(column.dictionary.iter()))).filter(|(_, groups)| !groups.is_empty())
}
