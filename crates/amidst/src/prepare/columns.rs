//! Which columns there are, and what the policy says of each.

use amidst_check::alike;
use amidst_core::table::{Column, DATE_ORDERS, Table, ValueType, number};

use super::PrepareError;
use crate::policy::quote::key;
use crate::policy::{ColumnPolicy, Diagnostic, Policy, Ranges, Role, nearest};
use crate::words::count;

/// The columns of a table by their roles.
#[derive(Debug)]
pub(crate) struct Layout {
    pub roles: Vec<Role>,
    pub quasi: Vec<usize>,
    pub sensitive: Vec<usize>,
    /// The column that tells people apart; where several do together, the first of them, once [`join_keys`] was called.
    pub key: Option<usize>,
    pub consent: Option<usize>,
}

impl Layout {
    /// Every column of the table is covered by the policy.
    pub fn of(policy: &Policy, table: &Table) -> Self {
        let roles: Vec<Role> =
            table.columns.iter().map(|c| policy.column(&c.name).map_or(Role::Insensitive, |p| p.role)).collect();
        let with = |role: Role| roles.iter().enumerate().filter(move |(_, r)| **r == role).map(|(i, _)| i);
        // Requirements name sensitive columns by their position, which is that of the input.
        let (quasi, sensitive) = (with(Role::Quasi).collect(), with(Role::Sensitive).collect());
        let (key, consent) = (with(Role::Key).next(), with(Role::Consent).next());
        Layout { quasi, sensitive, key, consent, roles }
    }
}

/// Prepares what tells people apart, and says what was done. Keys that look alike are one person's: to take one person
/// for two would be unsafe, two for one is not. Where several columns tell people apart together, such as first and
/// last name, the first of them becomes their combination: rows that agree in all of them are one person.
pub(crate) fn join_keys(layout: &Layout, table: &mut Table) -> Vec<String> {
    let keys: Vec<usize> = (0..layout.roles.len()).filter(|&i| layout.roles[i] == Role::Key).collect();
    let mut remarks = Vec::new();
    for &key in &keys {
        let column = &mut table.columns[key];
        let groups = alike(column.dictionary.iter());
        if groups.is_empty() {
            continue;
        }
        let mut into: Vec<u32> = (0..column.dictionary.len() as u32).collect();
        for group in &groups {
            group.iter().for_each(|&code| into[code] = group[0] as u32);
        }
        column.merge(&into);
        remarks.push(format!(
            "{} of `{}` differ only by case, white space or characters that look alike, and are taken for one person each",
            count(groups.len() as u64, "group of keys", "groups of keys"),
            column.name
        ));
    }
    let [first, _, ..] = keys[..] else { return remarks };
    let mut joined = Column::new(table.columns[first].name.clone());
    let mut cell = String::new();
    for row in 0..table.rows {
        cell.clear();
        for (i, &key) in keys.iter().enumerate() {
            cell.push_str(if i > 0 { ", " } else { "" });
            // A comma of a value is no end of it, so that no two combinations are written alike.
            table.columns[key].value(row).chars().for_each(|c| match c {
                ',' | '\\' => cell.extend(['\\', c]),
                _ => cell.push(c),
            });
        }
        joined.push(&cell);
    }
    table.columns[first] = joined;
    remarks
}

/// The keys of the section that speaks of a column.
pub(crate) fn section<'a>(column: &'a ColumnPolicy, key: &'a str) -> [&'a str; 3] {
    ["columns", &column.name, key]
}

/// Whether a text is a number or a date, as values are and names of columns hardly ever.
pub(crate) fn is_value(text: &str) -> bool {
    let local = || DATE_ORDERS.iter().any(|(_, order)| order.iso(text).is_some());
    ValueType::Date.accepts(text) || number(text).is_some() || amidst_io::with_point(text).is_some() || local()
}

/// Whether a text is a year: years do name columns.
pub(crate) fn is_year(text: &str) -> bool {
    text.parse::<u32>().is_ok_and(|year| (1900..=2100).contains(&year))
}

/// Whether the first line of a table, taken for the names of its columns, seems to be somebody's row.
fn seems_to_hold_values(header: &[String]) -> bool {
    let counted = |from: usize| header.iter().enumerate().all(|(i, name)| *name == (i + from).to_string());
    let values = header.iter().filter(|name| is_value(name) && !is_year(name)).count();
    !counted(0) && !counted(1) && values > 0 && values * 3 >= header.len()
}

/// Every column that the policy names is there, and every column that is there is covered by the policy.
pub(crate) fn covered(policy: &Policy, header: &[String]) -> Result<(), PrepareError> {
    let mut errors = Vec::new();
    let lacking = policy.columns.iter().any(|c| !header.contains(&c.name));
    if lacking && !policy.data.conventions.no_header && seems_to_hold_values(header) {
        // Names are quoted elsewhere; these may be values of a person.
        let message =
            "the columns of the policy are not in the data, whose first line seems to hold values instead of names";
        let help = "if it has no header, write `header = false` under [data]: columns are then called column1, column2, …; else \
                    put their names above";
        return Err(PrepareError::of(policy, vec![policy.origin.error_at_key(&["data"], message).help(help)]));
    }
    for (i, column) in policy.columns.iter().enumerate() {
        // TOML has no two sections of one name, but a policy made from lists of names may.
        if policy.columns[..i].iter().any(|c| c.name == column.name) {
            let message = format!("column `{}` is named twice", column.name);
            errors.push(policy.origin.error_at_key(&["columns", &column.name], message).help("a column has one role"));
        }
    }
    for column in policy.columns.iter().filter(|c| !header.contains(&c.name)) {
        let message = format!("the data has no column `{}`", column.name);
        let error = policy.origin.error_at_key(&["columns", &column.name], message).label("no such column");
        // A name that the policy gives to another section is not what was meant here.
        let free = header.iter().filter(|h| !policy.columns.iter().any(|c| c.name == **h)).map(String::as_str);
        errors.push(match nearest(&column.name, free) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error.help(format!("the data has {}", shortened(header.iter().map(String::as_str)))),
        });
    }
    let uncovered: Vec<&str> = header.iter().filter(|h| policy.column(h).is_none()).map(String::as_str).collect();
    if let [first, ..] = uncovered[..] {
        let several = if uncovered.len() == 1 { "a column" } else { "columns" };
        let message = format!("the data has {several} that the policy does not name: {}", shortened(uncovered));
        let help = format!(
            "add [columns.{}] with a role, or\n[columns.\"*\"]\nrole = \"identifying\"   # leaves them out",
            key(first)
        );
        errors.push(policy.origin.error_at_key(&["columns"], message).help(help));
    }
    if policy.columns.iter().all(|c| c.role != Role::Quasi) && errors.is_empty() {
        let quasi = |name: &String| policy.column(name).is_some_and(|c| c.role == Role::Quasi);
        if !header.iter().any(quasi) {
            errors.push(policy.origin.error_at_key(&["columns"], "no column of the data is quasi"));
        }
    }
    if errors.is_empty() {
        errors.extend(wrong_sets(policy, header));
        errors.extend(wrong_bounds(policy, header));
    }
    if errors.is_empty() { Ok(()) } else { Err(PrepareError::of(policy, errors)) }
}

/// What the names of the two columns of bounds end with.
pub(crate) const BOUNDS: [&str; 2] = ["_min", "_max"];

/// Where ranges become two columns, none of these may be called like a column that is there.
pub(crate) fn wrong_bounds(policy: &Policy, header: &[String]) -> Vec<Diagnostic> {
    if policy.output.ranges != Ranges::Bounds {
        return Vec::new();
    }
    let quasi = header.iter().filter(|name| policy.column(name).is_some_and(|c| c.role == Role::Quasi));
    let made = quasi.flat_map(|name| BOUNDS.map(|ending| (name, format!("{name}{ending}"))));
    let error = |(name, bound): (&String, String)| {
        let message = format!("the bounds of `{name}` would be called like the column `{bound}`, which the data has");
        let error = policy.origin.error(&["output", "ranges"], message).label("two columns of one name");
        error.help("rename the column in the data, or write `ranges = \"label\"`")
    };
    made.filter(|(_, bound)| header.contains(bound)).map(error).collect()
}

/// Every column of a set is a quasi column of the data, and every quasi column is in a set: what is in none would be
/// published without any protection.
pub(crate) fn wrong_sets(policy: &Policy, header: &[String]) -> Vec<Diagnostic> {
    if policy.quasi_sets.is_empty() {
        return Vec::new();
    }
    let quasi: Vec<&String> =
        header.iter().filter(|name| policy.column(name).is_some_and(|c| c.role == Role::Quasi)).collect();
    let mut errors = Vec::new();
    for (i, set) in policy.quasi_sets.iter().enumerate() {
        for name in set.iter().filter(|name| !quasi.contains(name)) {
            let message = format!("the data has no quasi column `{name}`");
            let place = i.to_string();
            errors.push(policy.origin.error(&["quasi", &place, "columns"], message).label("no such column"));
        }
    }
    let listed = |name: &&&String| !policy.quasi_sets.iter().any(|set| set.contains(name));
    let left: Vec<&str> = quasi.iter().filter(listed).map(|name| name.as_str()).collect();
    if !left.is_empty() {
        let which = if left.len() == 1 { "a quasi column is" } else { "quasi columns are" };
        let message = format!("{which} in no set of [[quasi]]: {}", shortened(left));
        let help = "add it to the set of those who may know it, or a set of its own; what is in no set is protected by nothing";
        errors.push(policy.origin.error_at_key(&["quasi"], message).help(help));
    }
    errors
}

/// The columns of each set by their positions among the quasi columns.
pub(crate) fn set_positions(policy: &Policy, table: &Table, layout: &Layout) -> Vec<Vec<usize>> {
    let position = |name: &String| layout.quasi.iter().position(|&c| table.columns[c].name == *name);
    policy.quasi_sets.iter().map(|set| set.iter().filter_map(position).collect()).collect()
}

/// A list of names that fits a line or two.
fn shortened<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(|n| format!("`{n}`")).collect();
    match names.len() {
        0..=12 => names.join(", "),
        more => format!("{} and {} more", names[..12].join(", "), more - 12),
    }
}
