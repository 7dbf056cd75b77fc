//! Which labels cover a value, by the hierarchies that a policy itself describes.
//!
//! An owner who opens rows says which published labels cover them. Where the policy of the certificate describes the
//! hierarchy of a column (a tree, a mask, a list in groups, intervals, dates and the like), it decides these words. A
//! hierarchy in a file, or a catalogue that the publishing program brings along, is not in the certificate: there the
//! word stays the owner's.

use std::collections::BTreeSet;

use num_rational::BigRational;
use serde_json::{Map, Value};

use super::{ColumnSaid, Kind, PolicySaid};
use crate::cover::{Column, set};
use crate::number;
use crate::options::ColumnLabels;

/// More characters than a mask can have.
const LONGEST_MASK: usize = 64;

impl PolicySaid {
    /// How cells of a column are read without its hierarchy: ranges are along the list that the policy gives.
    pub(crate) fn reading(&self, column: &str) -> ColumnLabels {
        let listed = self.column(column).filter(|c| !c.order.is_empty() && matches!(c.kind, None | Some(Kind::Text)));
        ColumnLabels { order: listed.map(|c| c.order.clone()), ..ColumnLabels::default() }
    }

    /// Whether a published cell of a column covers a value; `None` when the policy cannot decide it.
    pub(crate) fn covers(&self, column: &str, value: &str, cell: &str) -> Option<bool> {
        let reading = self.reading(column);
        let mut read = Column::new(&reading, vec![value.as_bytes().to_vec()]);
        if read.covered(cell.as_bytes()).contains(0) {
            return Some(true);
        }
        let column = self.column(column)?;
        let label = |label: &str| match (self.of_hierarchy(column, value, label), read.within(value, label)) {
            // A range along the list may end at a word for "unknown", which the list lacks.
            (Some(false), None) if reading.order.is_some() && label.starts_with('[') => None,
            (Some(false), Some(within)) => Some(within),
            // A range of numbers or days is what it says, even as a label of a hierarchy that is not at hand.
            (None, Some(false)) if reading.order.is_none() => Some(false),
            (found, _) => found,
        };
        match set(cell) {
            Some(members) => any(members.iter().map(|member| label(member)).chain([label(cell)])),
            None => label(cell),
        }
    }

    /// Whether a label of the column's hierarchy covers a value.
    fn of_hierarchy(&self, column: &ColumnSaid, value: &str, label: &str) -> Option<bool> {
        let Some(hierarchy) = &column.hierarchy else { return Some(false) };
        // An unknown value stays itself up to the top, unless the hierarchy names it or looks at its text only.
        let unknown = self.missing.iter().any(|token| token == value);
        let key = |name: &str| hierarchy.get(name);
        if let Some(tree) = key("taxonomy").and_then(Value::as_object) {
            let mut groups = Vec::new();
            return match in_tree(tree, value, label, &mut groups) {
                None => unknown.then_some(false),
                found => found,
            };
        }
        if let Some(common) = key("common").and_then(Value::as_array) {
            let others = key("others").and_then(Value::as_str).unwrap_or("other");
            return Some(label == others && !common.iter().any(|own| own.as_str() == Some(value)));
        }
        if let Some(separators) = key("prefix").and_then(Value::as_str) {
            let cut = value.char_indices().find(|&(at, c)| at > 0 && separators.contains(c));
            return Some(cut.is_some_and(|(at, _)| value[..at].trim_end() == label));
        }
        if key("suppress").is_some() {
            return Some(false);
        }
        if let Some(list) = key("order").and_then(Value::as_array) {
            return in_groups(list, key("groups"), value, label).or(unknown.then_some(false));
        }
        if unknown {
            return ["mask", "intervals", "ranges", "dates"].iter().any(|id| key(id).is_some()).then_some(false);
        }
        if value.is_empty() {
            return None;
        }
        if let Some(mask) = key("mask").and_then(Value::as_object) {
            return masked(mask, value, label);
        }
        if key("intervals").is_some() || key("ranges").is_some() {
            return on_the_line(value, label);
        }
        if key("dates").is_some() && key("written").is_none() {
            return by_date(value, label);
        }
        None
    }
}

/// True if one is true, else unknown if one is unknown.
fn any(found: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
    let found: BTreeSet<Option<bool>> = found.into_iter().collect();
    if found.contains(&Some(true)) {
        return Some(true);
    }
    (!found.contains(&None)).then_some(false)
}

/// Whether a group of a tree covers a value; unknown when the tree lacks the value.
fn in_tree<'a>(tree: &'a Map<String, Value>, value: &str, label: &str, groups: &mut Vec<&'a str>) -> Option<bool> {
    tree.iter().find_map(|(name, members)| {
        groups.push(name);
        let found = in_members(members, value, label, groups);
        groups.pop();
        found
    })
}

fn in_members<'a>(members: &'a Value, value: &str, label: &str, groups: &mut Vec<&'a str>) -> Option<bool> {
    match members {
        Value::Object(tree) => in_tree(tree, value, label, groups),
        Value::Array(items) => items.iter().find_map(|item| in_members(item, value, label, groups)),
        leaf => (leaf.as_str() == Some(value)).then(|| groups.contains(&label)),
    }
}

/// Whether a group of neighbours covers a value; unknown when the list lacks the value.
fn in_groups(list: &[Value], sizes: Option<&Value>, value: &str, label: &str) -> Option<bool> {
    let text = |at: usize| list.get(at).and_then(Value::as_str).unwrap_or_default();
    let at = (0..list.len()).find(|&at| text(at) == value)?;
    let sizes = sizes.and_then(Value::as_array).into_iter().flatten();
    let mut sizes = sizes.filter_map(|size| size.as_str()?.parse::<usize>().ok()).filter(|&size| size > 0);
    Some(sizes.any(|size| {
        let first = at - at % size;
        let last = (first.saturating_add(size)).min(list.len()) - 1;
        label == if first == last { text(first).to_string() } else { format!("[{}-{}]", text(first), text(last)) }
    }))
}

/// Whether a mask leaves a label of a value.
fn masked(mask: &Map<String, Value>, value: &str, label: &str) -> Option<bool> {
    let text = |key: &str| mask.get(key).and_then(Value::as_str);
    let right = text("from") != Some("left");
    let character = text("character").unwrap_or("*");
    let stated: Option<Vec<usize>> = match mask.get("masked") {
        None => None,
        Some(list) => Some(list.as_array()?.iter().map(|n| n.as_str()?.parse().ok()).collect::<Option<_>>()?),
    };
    let signs: Vec<char> = value.chars().collect();
    let level = |length: usize, masked: usize| {
        let keep = length.saturating_sub(masked).min(signs.len());
        let kept: String = if right { signs[..keep].iter() } else { signs[signs.len() - keep..].iter() }.collect();
        let stars = character.repeat(masked);
        label == if right { format!("{kept}{stars}") } else { format!("{stars}{kept}") }
    };
    // Without a length the longest value of the table counts.
    let lengths = match text("length") {
        Some(length) => {
            let length: usize = length.parse().ok().filter(|&length| length <= LONGEST_MASK)?;
            length..=length
        }
        None => signs.len()..=LONGEST_MASK,
    };
    Some(lengths.into_iter().any(|length| match &stated {
        Some(stated) => stated.iter().any(|&masked| masked < length && level(length, masked)),
        None => (1..length).any(|masked| level(length, masked)),
    }))
}

/// Whether a number is `<high`, `>=low` or equal to the label; ranges were read before.
fn on_the_line(value: &str, label: &str) -> Option<bool> {
    let read = |text: &str| number::parse(text).ok();
    let own: BigRational = read(value)?;
    if let Some(high) = label.strip_prefix('<').and_then(read) {
        return Some(own < high);
    }
    if let Some(low) = label.strip_prefix(">=").and_then(read) {
        return Some(own >= low);
    }
    Some(read(label).is_some_and(|label| label == own))
}

/// Whether a unit of the calendar covers a day; unknown for weeks and for days in another form.
fn by_date(value: &str, label: &str) -> Option<bool> {
    let day = value.trim().get(..10)?;
    let shape = |(at, byte): (usize, u8)| if at == 4 || at == 7 { byte == b'-' } else { byte.is_ascii_digit() };
    if !day.bytes().enumerate().all(shape) || label.contains("-W") {
        return None;
    }
    let month: u32 = day[5..7].parse().ok()?;
    let quarter = format!("{}-Q{}", &day[..4], month.div_ceil(3));
    let decade = format!("{}0s", &day[..3]);
    Some([day, &day[..7], &quarter, &day[..4], &decade].contains(&label))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a column with these settings says of a value and a cell.
    fn says(settings: &str, value: &str, cell: &str) -> Option<bool> {
        let policy = format!("[data]\nmissing = [\"?\"]\n[columns.q]\nrole = \"quasi\"\n{settings}\n");
        PolicySaid::parse(&policy).unwrap().covers("q", value, cell)
    }

    #[test]
    fn a_policy_decides_which_labels_of_its_own_hierarchies_cover_a_value() {
        let tree =
            "hierarchy = { taxonomy = { Any = { West = [\"USA\", { North = \"Canada\" }], East = \"Japan\" } } }";
        let list = "hierarchy = { order = [\"a\", \"b\", \"c\", \"d\", \"e\"], groups = [2, 4] }";
        let mask = "hierarchy = { mask = { length = 5 } }";
        let left = "hierarchy = { mask = { from = \"left\", character = \"#\", masked = [2] } }";
        let tails = "hierarchy = { intervals = [20], bottom = 3, top = 62 }";
        let dates = "hierarchy = { dates = [\"month\", \"quarter\", \"year\", \"decade\"] }";
        let common = "hierarchy = { common = [\"x\"], others = \"rest\" }";
        let holds = [
            (tree, "Canada", "North"),
            (tree, "Canada", "Any"),
            (tree, "Japan", "East"),
            (list, "b", "[a-b]"),
            (list, "b", "[a-d]"),
            (list, "e", "e"),
            (list, "b", "[b-c]"),
            ("order = [\"1\", \"9\", \"3\"]", "9", "[1-3]"),
            (mask, "14248", "142**"),
            (mask, "142", "142*"),
            (left, "ab34", "##34"),
            (tails, "2", "<3"),
            (tails, "62", ">=62"),
            (tails, "79.95", "[60.0-79.9]"),
            (tails, "07", "7"),
            (dates, "2021-05-02", "2021-Q2"),
            (dates, "2021-05-02T10:00", "2021-05"),
            (dates, "2021-05-02", "2020s"),
            (common, "y", "rest"),
            ("hierarchy = { prefix = \"-\" }", "Clerk-senior", "Clerk"),
            ("hierarchy = { suppress = true }", "F", "*"),
            ("hierarchy = { suppress = true }", "F", "{F,M}"),
            (tree, "USA", "{Japan,West}"),
        ];
        for (settings, value, cell) in holds {
            assert_eq!(says(settings, value, cell), Some(true), "{settings} {value} {cell}");
        }
        let fails = [
            (tree, "Canada", "East"),
            (tree, "Canada", "USA"),
            (tree, "?", "West"),
            (list, "c", "[a-b]"),
            (list, "c", "d"),
            (list, "c", "[d-e]"),
            (mask, "14248", "143**"),
            (mask, "14248", "14249"),
            (left, "ab34", "##35"),
            (tails, "3", "<3"),
            (tails, "61", ">=62"),
            (tails, "10", "[20-39]"),
            (tails, "10", "11"),
            (dates, "2021-05-02", "2021-Q1"),
            (dates, "2021-05-02", "1990s"),
            (common, "x", "rest"),
            (common, "y", "x"),
            ("hierarchy = { suppress = true }", "F", "M"),
            ("hierarchy = { suppress = true }", "F", "{M,X}"),
            ("", "F", "M"),
            ("hierarchy = { file = \"ages.csv\" }", "17", "[20-29]"),
            ("order = [\"1\", \"9\", \"3\"]", "3", "[1-9]"),
            (tree, "USA", "{Japan,East}"),
        ];
        for (settings, value, cell) in fails {
            assert_eq!(says(settings, value, cell), Some(false), "{settings} {value} {cell}");
        }
    }

    #[test]
    fn what_is_not_in_the_policy_stays_the_owners_word() {
        let unknown = [
            ("hierarchy = { file = \"zip.csv\" }", "4711", "north"),
            ("hierarchy = { taxonomy = \"jobs.json\" }", "Cook", "Manual"),
            ("hierarchy = { countries = true }", "Peru", "America"),
            ("hierarchy = { dates = [\"week\"] }", "2021-01-02", "2020-W53"),
            ("hierarchy = { dates = [\"year\"], written = \"d-m-y\" }", "05.03.2024", "2024"),
            ("hierarchy = { taxonomy = { Any = [\"USA\"] } }", "Peru", "Any"),
            ("order = [\"low\", \"high\"]", "?", "[high-?]"),
        ];
        for (settings, value, cell) in unknown {
            assert_eq!(says(settings, value, cell), None, "{settings} {value} {cell}");
        }
    }
}
