//! *Compare*: the table before and the release after, from a release that is made in memory and published nowhere. Its
//! figures are those of the owner's report, drawn by the same code.

use amidst::anonymize::Release;
use amidst::overview::{Association, CrossTable, FirstRows, GroupLoss};
use amidst::policy::Role;
use amidst::words::grouped;
use maud::{Markup, html};
use serde_json::json;

use crate::jobs::Kind;
use crate::parts::{self, Field, Query};
use crate::results::Compared;
use crate::studio::View;

/// Pairs that are shown.
const PAIRS: usize = 15;

/// Groups that are shown.
const SHOWN_GROUPS: usize = 12;

/// Groups of fewer rows say little, unless their column was asked for.
const LEAST: u64 = 5;

/// Sections that are open when the page is.
const OPEN: usize = 2;

/// The sections of the report that compare.
const SHOWN: &[&str] =
    &["usefulness", "risk", "classes", "columns", "generalization", "attacks", "requirements", "rows"];

pub fn draw(view: &View, query: &Query) -> Markup {
    let head = parts::head(
        "Compare",
        "Before and after, side by side: what an analyst loses, and what is left to learn about a person. Nothing is published yet.",
    );
    if view.text.is_none() {
        return parts::no_policy(&head);
    }
    let compared = view.results.compared.as_deref();
    let again = if compared.is_some() { "Make it again" } else { "Make a release to look at" };
    html! {
        (head)
        (parts::job(view, Kind::Compare))
        (purpose(view))
        @if !view.jobs.runs(Kind::Compare) { p.run { (parts::start(Kind::Compare, again, &json!({}))) } }
        @if let Some(made) = compared {
            (parts::stale(view, &made.basis))
            (summary(&made.made.release))
            (rows(view, &made.made.rows))
            (who_loses(&made.made, query))
            (pairs(&made.made, query))
            @for (i, id) in SHOWN.iter().enumerate() { @for (_, heading, content) in made.made.sections.iter().filter(|(own, _, _)| own == id) {
                details.report id=(format!("report-{id}")) data-keep open[i < OPEN] { summary { h2 { (heading) } } (content) }
            } }
        }
        p.next { a.button href="/publish" { "Next: publish" } }
    }
}

/// What analysts want of the release: how well they can predict a column is measured, not searched for.
fn purpose(view: &View) -> Markup {
    let published: Vec<String> =
        [Role::Sensitive, Role::Insensitive].into_iter().flat_map(|role| view.columns_with(role)).collect();
    let none = (String::new(), "nothing; classification is not measured".to_string());
    let options: Vec<(String, String)> =
        std::iter::once(none).chain(published.into_iter().map(|name| (name.clone(), name))).collect();
    let value = parts::typed(view.raw.get("utility").and_then(|utility| utility.get("target")));
    let field = Field {
        label: "What analysts want to predict",
        keys: &["utility", "target"],
        kind: "text",
        value,
        hint: Some("how often a classifier is right with the release, and with the original"),
        placeholder: "",
    };
    html! { div.medium { (field.choice(view, &options)) } }
}

fn summary(release: &Release) -> Markup {
    let done = &release.outcome;
    html! {
        ul.facts {
            li { strong { (grouped(done.rows_out)) } " of " (grouped(done.rows_in)) " rows" }
            li { strong { (grouped(done.judged.class_count())) } " classes" }
            li { strong { (format!("{:.4}", done.judged.risk.prosecutor_max)) } " largest risk of anyone" }
            li { "found by " strong { (done.algorithm) } @if done.optimal { ", proven best of its kind" } }
        }
        ul.said { @for line in &done.report.summary { li { (line) } } }
        @if !done.warnings.is_empty() { ul.note { @for warning in &done.warnings { li { (parts::ticked(warning)) } } } }
    }
}

/// A few rows of either side; of the original only what is published.
fn rows(view: &View, after: &FirstRows) -> Markup {
    let before = view.results.first.as_ref().map(|(_, first)| published(view, first));
    html! {
        section aria-labelledby="sides" {
            h2 id="sides" { "Rows" }
            div.pair {
                div { h3 { "Before" }
                    @if let Some(before) = &before { (table("Rows before", &before.header, &before.rows)) } }
                div { h3 { "After" } (table("Rows after", &after.header, &after.rows)) }
            }
            p.soft { "Different people: the order of a release tells nothing." }
        }
    }
}

/// What of the first rows is in columns that are published.
fn published(view: &View, first: &FirstRows) -> FirstRows {
    let kept: Vec<usize> = (0..first.header.len()).filter(|&i| view.role(&first.header[i]).published()).collect();
    let of = |row: &Vec<String>| kept.iter().filter_map(|&i| row.get(i).cloned()).collect();
    FirstRows { header: of(&first.header), rows: first.rows.iter().map(of).collect() }
}

/// Which groups lose most: by the values of the column that was asked for, or of any.
fn who_loses(made: &Compared, query: &Query) -> Markup {
    let by = query.get("by").and_then(|by| by.parse::<usize>().ok()).filter(|&by| by < made.columns.len());
    let asked = |group: &&GroupLoss| by.map_or(group.rows >= LEAST, |by| group.column == made.columns[by]);
    let worth: Vec<&GroupLoss> = made.losses.iter().filter(asked).take(SHOWN_GROUPS).collect();
    html! {
        section aria-labelledby="losers" {
            h2 id="losers" { "Who loses most" }
            p.soft { "What is lost of a person's quasi cells, from 0 (nothing) to 1 (everything, or the row is left out), on average over each group. For your eyes: these are groups of the original." }
            (chooser("by", "Groups by", by, std::iter::once((String::new(), "any column".to_string())).chain(numbered(&made.columns))))
            @if worth.is_empty() { p.soft { "No group has " (LEAST) " rows or more. Choose a column to see its groups all the same." } }
            @else { div.scroll id="loser-rows" tabindex="0" role="group" aria-label="Groups that lose most" { table {
                thead { tr { th scope="col" { "group" } th.n scope="col" { "rows" } th.n scope="col" { "left out" } th.n scope="col" { "loss" } } }
                tbody { @for group in worth { tr {
                    td.wide { (group.column) ": " (group.label) } td.n { (grouped(group.rows)) } td.n { (grouped(group.left_out)) }
                    td.n { (meter(group.loss, &format!("loss of {}: {}", group.column, group.label))) }
                } } }
            } } }
        }
    }
}

fn meter(value: f64, label: &str) -> Markup {
    html! { meter min="0" max="1" value=(format!("{value:.3}")) aria-label=(label) {} " " (format!("{value:.2}")) }
}

/// The columns by their numbers.
fn numbered(columns: &[String]) -> impl Iterator<Item = (String, String)> + '_ {
    columns.iter().enumerate().map(|(i, column)| (i.to_string(), column.clone()))
}

/// A choice that is part of the address.
fn chooser(name: &str, label: &str, chosen: Option<usize>, options: impl Iterator<Item = (String, String)>) -> Markup {
    let chosen = chosen.map(|chosen| chosen.to_string()).unwrap_or_default();
    html! {
        div.field.short {
            label for=(format!("ask-{name}")) { (label) }
            select id=(format!("ask-{name}")) data-ask=(name) {
                @for (value, words) in options { option value=(value) selected[value == chosen] { (words) } }
            }
        }
    }
}

/// Two columns together, and how much any two say about each other.
fn pairs(made: &Compared, query: &Query) -> Markup {
    let (pairs, columns) = (&made.pairs, &made.columns);
    let position = |name: &str| columns.iter().position(|column| column == name);
    let of = |pair: &Association| Some((position(&pair.columns.0)?, position(&pair.columns.1)?));
    let asked = |name: &str| query.get(name).and_then(|n| n.parse::<usize>().ok()).filter(|&n| n < columns.len());
    let chosen = asked("a").zip(asked("b")).or_else(|| pairs.first().and_then(of));
    html! {
        @if let Some((a, b)) = chosen { section aria-labelledby="pairs" {
            h2 id="pairs" { "Pairs of columns" }
            div.line {
                (chooser("a", "One column", Some(a), numbered(columns)))
                (chooser("b", "Another", Some(b), numbered(columns)))
            }
            @if let Some(crossed) = made.cross(a, b) {
                @let names = (columns[a].as_str(), columns[b].as_str());
                div.pair.tables {
                    div { h3 { "Before" } (cross_table("before", names, &crossed.0)) }
                    div { h3 { "After" } (cross_table("after", names, &crossed.1)) }
                }
                p.soft { "Of the rows of each line, the share that has the value on top; the stronger the colour, the more. Numbers are cut into ranges of about as many rows." }
            }
            h3 { "How much two columns say about each other" }
            p.soft { "From 0 (nothing) to 1 (everything): Cramér's V, corrected for chance. Those that lose most come first." }
            div.scroll id="pair-rows" tabindex="0" role="group" aria-label="Pairs of columns" { table {
                thead { tr { th scope="col" { "columns" } th.n scope="col" { "before" } th.n scope="col" { "after" } } }
                tbody { @for pair in pairs.iter().take(PAIRS) { tr {
                    td.wide { @match of(pair) {
                        Some((a, b)) => a href=(format!("/compare?a={a}&b={b}#pairs")) data-ask-link { (pair.columns.0) " + " (pair.columns.1) },
                        None => { (pair.columns.0) " + " (pair.columns.1) },
                    } }
                    @for (value, side) in [(pair.before, "before"), (pair.after, "after")] {
                        td.n { (meter(value, &format!("{} and {}, {side}", pair.columns.0, pair.columns.1))) }
                    }
                } } }
            } }
        } }
    }
}

/// A cross table: the share of each line that a cell has, shaded in five steps.
fn cross_table(id: &str, names: (&str, &str), table: &CrossTable) -> Markup {
    let (first, second) = names;
    html! {
        div.scroll id=(format!("cross-{id}")) tabindex="0" role="group" aria-label=(format!("{first} and {second}, {id}")) { table.cross.wraps {
            thead { tr { th scope="col" { (first) " \\ " (second) } @for label in &table.columns { th.n scope="col" { (label) } } th.n scope="col" { "rows" } } }
            tbody { @for (label, counts) in table.rows.iter().zip(&table.counts) {
                @let all: u64 = counts.iter().sum();
                @if all > 0 { tr {
                    th scope="row" { (label) }
                    @for &count in counts {
                        @let share = count as f64 / all as f64;
                        td class=(format!("n shade-{}", (share * 5.0).ceil() as u8)) title=(format!("{} rows", grouped(count))) { (percent(share)) }
                    }
                    td.n { (grouped(all)) }
                } }
            } }
        } }
    }
}

/// A share for people; what is there is never nothing.
fn percent(share: f64) -> String {
    match share * 100.0 {
        0.0 => "–".to_string(),
        few if few < 0.5 => "<1 %".to_string(),
        some => format!("{some:.0} %"),
    }
}

fn table(label: &str, header: &[String], rows: &[Vec<String>]) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label=(label) { table.rows.wraps {
            thead { tr { @for name in header { th scope="col" { (name) } } } }
            tbody { @for row in rows { tr { @for cell in row { td { (cell) } } } } }
        } }
    }
}
