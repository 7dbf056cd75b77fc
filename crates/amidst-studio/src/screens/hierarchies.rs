//! *Hierarchies*: how the values of each quasi column become less precise, drawn with the rows in every node, edited in
//! place.

use amidst::core::hierarchy::{BUILDERS, TAXONOMY};
use amidst::overview::Tree;
use amidst::policy::Role;
use amidst::report::chart::{self, icicle};
use amidst::words::{count, grouped};
use maud::{Markup, html};
use toml_edit::{Array, InlineTable, Item, Value};

use crate::jobs::Kind;
use crate::parts::{self, Field, Query};
use crate::places::Problem;
use crate::results::Fitted;
use crate::studio::View;

/// Nodes of a level that are listed beside the picture.
const LISTED: usize = 60;

/// Values that a taxonomy is begun with, at most.
const MOVED: usize = 80;

pub fn draw(view: &View, _query: &Query) -> Markup {
    let head = parts::head(
        "Hierarchies",
        "How the values of each column that others may know become less precise, step by step. The width of a box is the number of rows in it.",
    );
    if view.text.is_none() {
        return parts::no_policy(&head);
    }
    let quasi = view.columns_with(Role::Quasi);
    html! {
        (head)
        (parts::job(view, Kind::Check))
        @if quasi.is_empty() { (parts::empty("No column is quasi, so nothing is generalized.", "/columns", "Give a column the role quasi")) }
        @if let Some(fitted) = view.results.fitted.as_deref().filter(|_| !view.jobs.runs(Kind::Check) && !quasi.is_empty()) {
            @if !view.current_policy(&fitted.basis) { p.note.stale { "The policy has changed since, and is not in order yet. The pictures are of the last one that was." } }
        }
        @for column in &quasi { (card(view, column)) }
        p.next { a.button href="/protection" { "Next: what a release must satisfy" } }
    }
}

/// The smallest k that is required: nodes with fewer rows stand out.
fn few(view: &View) -> u64 {
    let stated = view.requirements().into_iter().filter_map(|r| r.get("k").and_then(Item::as_integer));
    stated.max().and_then(|k| u64::try_from(k).ok()).unwrap_or(2)
}

fn card(view: &View, name: &str) -> Markup {
    let keys = ["columns", name, "hierarchy"];
    let problems: Vec<&Problem> = view.problems.within(&keys).collect();
    let id = parts::id(&keys);
    let fitted = view.results.fitted.as_deref();
    // Of another table there is nothing to show, even where it has a column of that name.
    let same = |f: &&Fitted| view.policy.as_ref().is_none_or(|policy| policy.data.input == f.policy.data.input);
    let tree = fitted.filter(same).and_then(|f| f.trees.iter().find(|t| t.column == name));
    // Only where something is wrong: the hierarchy is built anew to find out.
    let lacking = match (view.overview(), &view.policy) {
        (Some(overview), Some(policy)) if !problems.is_empty() => overview.lacking(policy, name),
        _ => Vec::new(),
    };
    // What stands at a field is told there.
    let fields = editable(view, name);
    let elsewhere: Vec<&Problem> =
        problems.iter().copied().filter(|p| !fields.iter().any(|part| p.keys.starts_with(&part.keys))).collect();
    html! {
        section.card.hierarchy id=(format!("h-{id}")) {
            h2 { (name) }
            (recipe(view, name, &fields, &lacking))
            (parts::wrong(&elsewhere, &id))
            (outside(&lacking))
            @if let Some(tree) = tree { (picture(view, tree)) }
            (as_text(view, name))
        }
    }
}

/// Values of the table that the hierarchy lacks, with their rows.
fn outside(lacking: &[(String, u64)]) -> Markup {
    html! {
        @if !lacking.is_empty() {
            p { "In the table, but not in this hierarchy:" }
            ul.nodes.lacking { @for (value, rows) in lacking.iter().take(LISTED) { li { (value) " " span.soft { (count(*rows, "row", "rows")) } } }
                @if lacking.len() > LISTED { li.soft { "and " (grouped((lacking.len() - LISTED) as u64)) " more" } } }
        }
    }
}

fn picture(view: &View, tree: &Tree) -> Markup {
    let levels: Vec<Vec<chart::Node>> = tree
        .levels
        .iter()
        .map(|level| {
            level
                .iter()
                .map(|n| chart::Node { label: shown(&n.label).to_string(), rows: n.rows, parent: n.parent })
                .collect()
        })
        .collect();
    let few = few(view);
    let title = format!("Hierarchy of {}", tree.column);
    let described = format!("{} levels above the values; the list below has the same figures.", tree.levels.len() - 1);
    html! {
        div.scroll.picture tabindex="0" role="group" aria-label=(title) { (icicle(&title, &described, &levels, few)) }
        p.soft { "From the top: everything, down to the values. Outlined boxes hold fewer than " (few) " rows. A dashed box stands for more nodes than can be drawn." }
        details id=(format!("levels-{}", parts::id(&[&tree.column]))) data-keep {
            summary { "Levels and their nodes" }
            @for (i, level) in tree.levels.iter().enumerate().skip(1) {
                h3 { "Level " (i) ": " (count(level.len() as u64, "node", "nodes")) }
                ul.nodes { @for node in level.iter().take(LISTED) { li { (shown(&node.label)) " " span.soft { (grouped(node.rows)) } } }
                    @if level.len() > LISTED { li.soft { "and " (grouped((level.len() - LISTED) as u64)) " more" } } }
            }
        }
    }
}

/// A label for people: an empty cell has none.
fn shown(label: &str) -> &str {
    if label.is_empty() { "(unknown)" } else { label }
}

/// The recipe, with a field for each of its keys.
fn recipe(view: &View, name: &str, fields: &[Editable], lacking: &[(String, u64)]) -> Markup {
    let item = view.raw.get("columns").and_then(|c| c.get(name)?.get("hierarchy"));
    let table = item.and_then(Item::as_table_like);
    let builder = BUILDERS.iter().find(|b| table.is_some_and(|t| t.contains_key(b.id)));
    let choice = parts::id(&["columns", name, "builder"]);
    let values = view.results.fitted.as_deref().and_then(|f| f.trees.iter().find(|t| t.column == name));
    let own = values.and_then(first_taxonomy);
    html! {
        div.fields {
            div.field {
                label for=(choice) { "Made by" }
                select id=(choice) data-builder=(name) {
                    @if builder.is_none() { option value="" selected { "nothing: values or *" } }
                    @for each in BUILDERS { option value=(each.id) data-example=(own.as_deref().filter(|_| each.id == TAXONOMY.id).unwrap_or(each.example)) selected[builder.is_some_and(|b| b.id == each.id)] { (each.id) } }
                }
            }
            @for part in fields {
                @let keys: Vec<&str> = part.keys.iter().map(String::as_str).collect();
                (Field { label: &part.label, keys: &keys, kind: part.kind, value: part.value.clone(), hint: None, placeholder: "" }.text(view))
            }
        }
        @if let Some(builder) = builder { p.hint { (parts::ticked(builder.definition)) } }
        @if let Some(tree) = item.and_then(|i| i.get(TAXONOMY.id)).and_then(Item::as_inline_table) { (groups(name, tree, lacking)) }
    }
}

/// The recipe as TOML, and as files.
fn as_text(view: &View, name: &str) -> Markup {
    let item = view.raw.get("columns").and_then(|c| c.get(name)?.get("hierarchy"));
    let builder = BUILDERS.iter().find(|b| item.is_some_and(|i| i.get(b.id).is_some()));
    let choice = parts::id(&["columns", name, "builder"]);
    html! {
        details id=(format!("toml-{choice}")) data-keep {
            summary { "Edit as TOML" }
            (Field { label: "hierarchy =", keys: &["columns", name, "hierarchy"], kind: "toml",
                value: item.and_then(|i| i.clone().into_value().ok()).map_or(String::new(), |v| parts::plain(&v)),
                hint: builder.map(|b| b.example), placeholder: "{ suppress = true }" }.area(view))
        }
        (files(name, &choice))
    }
}

/// A taxonomy to begin with: all values in one group.
fn first_taxonomy(tree: &Tree) -> Option<String> {
    let values = tree.levels.first().filter(|values| values.len() <= MOVED)?;
    let list: toml_edit::Array = values.iter().map(|node| node.label.as_str()).collect();
    Some(format!("{{ {} = {{ Any = {{ \"All values\" = {list} }} }} }}", TAXONOMY.id))
}

/// The groups that hold values, with the values.
fn members(tree: &InlineTable, found: &mut Vec<(String, Vec<String>)>) {
    for (key, inner) in tree.iter() {
        match inner {
            Value::InlineTable(inner) => members(inner, found),
            Value::Array(list) => {
                found.push((key.to_string(), list.iter().filter_map(|v| v.as_str().map(String::from)).collect()))
            }
            _ => {}
        }
    }
}

/// Moves a value into another group, or one that is in none into a group.
fn groups(column: &str, tree: &InlineTable, lacking: &[(String, u64)]) -> Markup {
    let mut found = Vec::new();
    members(tree, &mut found);
    if found.iter().map(|(_, values)| values.len()).sum::<usize>() > MOVED * 4 {
        return html! {};
    }
    let id = parts::id(&["columns", column, "move"]);
    html! {
        form.line data-move=(column) {
            div.field {
                label for=(format!("{id}-value")) { "Move the value" }
                select id=(format!("{id}-value")) name="value" data-mine {
                    @if !lacking.is_empty() { optgroup label="in no group" {
                        @for (value, _) in lacking.iter().take(MOVED) { option value=(value) { (value) } }
                    } }
                    @for (group, values) in &found {
                        optgroup label=(group) { @for value in values { option value=(value) { (value) } } }
                    }
                }
            }
            div.field {
                label for=(format!("{id}-to")) { "into the group (a new name makes a new one)" }
                input id=(format!("{id}-to")) name="to" type="text" list=(format!("{id}-groups")) autocomplete="off" data-mine;
                datalist id=(format!("{id}-groups")) { @for (group, _) in &found { option value=(group) {} } }
                div.wrong hidden id=(format!("{id}-to-wrong")) role="alert" {}
            }
            button type="submit" { "Move" }
        }
    }
}

/// The hierarchy as a file, out and in.
fn files(column: &str, id: &str) -> Markup {
    html! {
        p.buttons {
            a.button.small href=(format!("/hierarchy?column={}", parts::encoded(column))) { "Export as a file" span.hidden { " for " (column) } }
            label.button.small for=(format!("{id}-import")) { "Import a file" span.hidden { " for " (column) } }
            input.hidden id=(format!("{id}-import")) type="file" accept=".csv,.txt,.tsv" data-import=(column);
        }
        div.wrong hidden id=(format!("{id}-import-wrong")) role="alert" {}
    }
}

/// The hierarchy of a column as a file, one line a value, one column a level.
pub fn exported(view: &View, column: &str) -> Option<String> {
    let tree = view.results.fitted.as_deref()?.trees.iter().find(|t| t.column == column)?;
    let quoted = |text: &str| match text.contains([';', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_string(),
    };
    let mut out = String::new();
    for node in tree.levels.first()? {
        out.push_str(&quoted(&node.label));
        let mut parent = node.parent;
        for level in &tree.levels[1..] {
            let node = level.get(parent)?;
            out.push(';');
            out.push_str(&quoted(&node.label));
            parent = node.parent;
        }
        out.push('\n');
    }
    Some(out)
}

/// A part of a recipe that can be typed in a line.
struct Editable {
    keys: Vec<String>,
    label: String,
    kind: &'static str,
    value: String,
}

/// The parts of a column's recipe that have fields of their own.
fn editable(view: &View, name: &str) -> Vec<Editable> {
    let item = view.raw.get("columns").and_then(|c| c.get(name)?.get("hierarchy"));
    let parts = item.and_then(Item::as_table_like).into_iter().flat_map(|t| t.iter());
    let of = |key: &str, item: &Item| parts_of(&["columns", name, "hierarchy", key], key, item.as_value());
    parts.flat_map(|(key, item)| of(key, item)).collect()
}

/// What can be typed in a line of a value: numbers, words and lists of them; of a table in braces, each of its keys.
fn parts_of(keys: &[&str], label: &str, value: Option<&Value>) -> Vec<Editable> {
    let Some(value) = value else { return Vec::new() };
    let inside = |key: &str, words: &str, value: &Value| {
        parts_of(&[keys, &[key]].concat(), &format!("{label}: {words}"), Some(value))
    };
    let kind = match value {
        Value::Integer(_) | Value::Float(_) => "number",
        Value::String(_) => "text",
        // A comma in a value would be one between values.
        Value::Array(list) if list.iter().all(|v| v.is_integer() || v.is_float()) => "list",
        Value::Array(list) if list.iter().all(|v| v.as_str().is_some_and(|t| !t.contains(','))) => "texts",
        // The break points of each level; an empty field removes a level, the last one adds one.
        Value::Array(levels) if levels.iter().all(Value::is_array) && keys.len() < 5 => {
            let more = Value::Array(Array::new());
            let words =
                |i: usize| if i == levels.len() { "one more level".to_string() } else { format!("level {}", i + 1) };
            let all = levels.iter().chain([&more]).enumerate();
            return all.flat_map(|(i, level)| inside(&i.to_string(), &words(i), level)).collect();
        }
        Value::InlineTable(table) if keys.len() < 5 && !table.iter().any(|(_, v)| v.is_inline_table()) => {
            // The groups of a taxonomy have a form of their own.
            if keys.last() == Some(&TAXONOMY.id) {
                return Vec::new();
            }
            return table.iter().flat_map(|(key, value)| inside(key, key, value)).collect();
        }
        _ => return Vec::new(),
    };
    let value = parts::typed(Some(&Item::Value(value.clone())));
    vec![Editable { keys: keys.iter().map(ToString::to_string).collect(), label: label.to_string(), kind, value }]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(recipe: &str) -> Vec<(String, &'static str, String)> {
        let value: Value = recipe.parse().unwrap();
        let table = value.as_inline_table().unwrap();
        let all = table.iter().flat_map(|(key, value)| parts_of(&["columns", "a", "hierarchy", key], key, Some(value)));
        all.map(|part| (part.label, part.kind, part.value)).collect()
    }

    #[test]
    fn widths_break_points_and_masks_have_fields_of_their_own() {
        assert_eq!(fields("{ intervals = [5, 10], bottom = 20 }").len(), 2);
        let ranges = fields("{ ranges = [[18, 30], [30]] }");
        let labels: Vec<&str> = ranges.iter().map(|(label, ..)| label.as_str()).collect();
        assert_eq!(labels, ["ranges: level 1", "ranges: level 2", "ranges: one more level"]);
        let mask = fields("{ mask = { length = 5, from = \"right\", masked = [2, 4] } }");
        assert_eq!(mask[2], ("mask: masked".to_string(), "list", "2, 4".to_string()));
        assert!(fields("{ taxonomy = { Any = { X = [\"a\", \"b\"] } } }").is_empty());
        assert!(fields("{ taxonomy = { X = [\"a\", \"b\"] } }").is_empty());
    }
}
