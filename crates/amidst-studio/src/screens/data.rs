//! *Data*: a table is dropped or named; its first rows, and every column in figures.
//!
//! Cells of columns that are never published (identifying, key, consent) are covered until they are asked for.

use std::path::Path;

use amidst::io::{Format, SUPPORTED, endings};
use amidst::overview::{ColumnOverview, FirstRows};
use amidst::policy::Role;
use amidst::report::chart::{Line, bars};
use amidst::words::{count, grouped, percent};
use maud::{Markup, html};
use toml_edit::Item;

use crate::jobs::Kind;
use crate::parts::{self, Field, Query};
use crate::studio::View;

/// Columns that are shown with their histograms; of wide tables the others are listed.
const CHARTS: usize = 60;

pub fn draw(view: &View, query: &Query) -> Markup {
    let begun = view.text.is_some() || view.jobs.runs(Kind::Look);
    html! {
        (parts::head("Data", "The table that you want to publish. It stays on this machine."))
        (parts::job(view, Kind::Look))
        @if !begun { (drop_zone(view)) }
        @if view.text.is_some() { (summary(view)) (sheets(view)) (parts::mismatch(view)) (reading(view)) }
        @if let Some((_, first)) = &view.results.first { (rows(view, first, query)) }
        @if view.text.is_some() { (columns(view)) }
        @if begun {
            @let gone = view.problems.within(&["data", "input"]).next().is_some();
            details id="other" data-keep open[gone] data-wrong[gone] { summary { "Use another table" } (drop_zone(view)) }
        }
        @if view.overview().is_some() { p.next { a.button href="/columns" { "Next: what the columns are" } } }
    }
}

fn drop_zone(view: &View) -> Markup {
    let keys = ["data", "input"];
    let problems: Vec<_> = view.problems.within(&keys).collect();
    let id = parts::id(&keys);
    // A name that leads nowhere is there to be mended.
    let typed = if problems.is_empty() { String::new() } else { parts::typed(stated(view, "input")) };
    html! {
        div.drop id="drop" {
            p.big { "Drop a file here" }
            p { label.button for="file" { "Choose a file" }
                input.hidden id="file" type="file" accept=(accepted()); }
            p.soft { "Separated values, spreadsheets, Parquet, Arrow, JSON, SPSS or Stata: " (SUPPORTED) "." }
            p.soft { "A copy is kept in the folder " code { (view.project.folder.display()) } "." }
            div.wrong hidden id="drop-wrong" role="alert" {}
            progress id="sent" hidden max="1" value="0" aria-label="Sending the file" {}
        }
        form.line id="choose" {
            div.field {
                label for=(id) { "Or name a file, a folder, a pattern, or the address of a database table" }
                input id=(id) name="input" type="text" value=(typed) autocomplete="off" spellcheck="false" placeholder="patients.csv or sqlite://ward.db?table=patients"
                    aria-invalid=[(!problems.is_empty()).then_some("true")] aria-describedby=(format!("{id}-wrong"));
                div.wrong hidden[problems.is_empty()] id=(format!("{id}-wrong")) role="alert" {
                    @for problem in problems { p { (problem.message) } }
                }
            }
            button type="submit" { "Open" }
        }
        p.soft { "Nothing at hand? " button.link type="button" data-post="/sample" { "Try it with 1,000 made-up patients" } }
    }
}

/// The endings that a browser is to offer: of `.csv.gz` it looks at the last part only.
fn accepted() -> String {
    let mut last: Vec<&str> = endings().filter_map(|ending| ending.rfind('.').map(|dot| &ending[dot..])).collect();
    last.sort_unstable();
    last.dedup();
    last.join(",")
}

fn summary(view: &View) -> Markup {
    let Some(overview) = view.overview() else { return html! {} };
    let missing: u64 = overview.columns.iter().filter_map(|c| c.counted.as_ref()).map(|c| c.missing).sum();
    html! {
        ul.facts {
            (fact(overview.rows, "row", "rows"))
            (fact(overview.columns.len() as u64, "column", "columns"))
            li { strong { (grouped(missing)) } (if missing == 1 { " unknown cell" } else { " unknown cells" })
                @if !overview.missing.is_empty() { " (" @for (i, token) in overview.missing.iter().enumerate() {
                    @if i > 0 { ", " } @if token.is_empty() { "empty" } @else { code { (token) } } } ")" } }
        }
    }
}

/// A number in large digits, and what it counts.
fn fact(number: u64, one: &str, many: &str) -> Markup {
    html! { li { strong { (grouped(number)) } " " (if number == 1 { one } else { many }) } }
}

/// What the policy states of the table at a key.
fn stated<'a>(view: &'a View, key: &str) -> Option<&'a Item> {
    view.raw.get("data").and_then(|data| data.get(key))
}

/// The sheets of a workbook, where several hold something.
fn sheets(view: &View) -> Markup {
    let found = &view.results.sheets;
    let value = parts::typed(stated(view, "sheet"));
    if found.is_empty() && value.is_empty() {
        return html! {};
    }
    let none = value.is_empty().then(|| (String::new(), "choose a sheet".to_string()));
    let options: Vec<(String, String)> =
        none.into_iter().chain(found.iter().map(|name| (name.clone(), name.clone()))).collect();
    let hint = match found.len() {
        0 => "the workbook has no other sheet that holds anything".to_string(),
        several => format!("{several} sheets of the workbook hold something"),
    };
    let keys = ["data", "sheet"];
    let field = Field { label: "Sheet", keys: &keys, kind: "text", value, hint: Some(&hint), placeholder: "" };
    html! { div.short { (field.choice(view, &options)) } }
}

/// Whether the table is a file with lines of text, and whether it is a workbook; both where nothing tells.
fn form(view: &View) -> (bool, bool) {
    let format =
        view.policy.as_ref().and_then(|policy| policy.data.input.as_deref()).map(Path::new).map(Format::of_path);
    match format {
        Some(Ok(Format::Xlsx | Format::Ods)) => (false, true),
        Some(Ok(Format::Csv | Format::CsvGz | Format::CsvZst | Format::Tsv | Format::TsvGz | Format::TsvZst)) => {
            (true, false)
        }
        Some(Ok(_)) => (false, false),
        _ => (true, true),
    }
}

/// How the table is read: what its file does not say by itself, what its unknown cells are, and what becomes of their
/// rows.
fn reading(view: &View) -> Markup {
    let stated = |key: &str| stated(view, key);
    let missing = stated("missing").and_then(|item| item.as_value()).map(parts::plain).unwrap_or_default();
    let field = |label, keys: &'static [&'static str; 2], kind: &'static str, hint| {
        let value = if kind == "toml" { missing.clone() } else { parts::typed(stated(keys[1])) };
        Field { label, keys, kind, value, hint, placeholder: "" }
    };
    let choice = |options: &[(&str, &str)]| -> Vec<(String, String)> {
        options.iter().map(|(value, words)| (value.to_string(), words.to_string())).collect()
    };
    let rows = choice(&[("", "dropped"), ("drop", "dropped, stated"), ("keep", "kept; unknown is a value of its own")]);
    let marks = choice(&[("", "a point"), (".", "a point, stated"), (",", "a comma")]);
    let header = choice(&[
        ("", "has the names of the columns"),
        ("true", "has the names, stated"),
        ("false", "is data already"),
    ]);
    let merged = choice(&[
        ("", "are an error"),
        ("refuse", "are an error, stated"),
        ("fill", "all have the value"),
        ("empty", "have it in the first alone"),
    ]);
    let formulas = choice(&[("", "are an error"), ("refuse", "are an error, stated"), ("unknown", "are unknown")]);
    let wrong =
        view.problems.within(&["data"]).any(|p| p.keys.get(1).is_some_and(|key| key != "input" && key != "sheet"));
    let (text, workbook) = form(view);
    // What is stated is shown, whatever the table is.
    let shown = |applies: bool, key: &str| applies || stated(key).is_some();
    html! {
        details id="reading" data-keep open[wrong] data-wrong[wrong] {
            summary { "How it is read" }
            div.fields {
                (field("Cells that mean unknown", &["data", "missing"], "toml", Some("a list such as [\"?\", \"\"]")).text(view))
                (field("Rows with an unknown cell are", &["data", "missing_rows"], "text", None).choice(view, &rows))
                @if shown(text, "separator") { (field("Separator of fields", &["data", "separator"], "text", Some("guessed when empty")).text(view)) }
                @if shown(text, "encoding") { (field("Encoding", &["data", "encoding"], "text", Some("such as windows-1252; UTF-8 when empty")).text(view)) }
                @if shown(text || workbook, "header") { (field("The first line", &["data", "header"], "flag", None).choice(view, &header)) }
                (field("Before decimals stands", &["data", "decimal"], "text", None).choice(view, &marks))
                (field("Dates", &["data", "date_format"], "text", Some("such as d-m-y or %d.%m.%Y; year-month-day when empty")).text(view))
                @if shown(workbook, "merged") { (field("Merged cells", &["data", "merged"], "text", None).choice(view, &merged)) }
                @if shown(workbook, "formulas") { (field("Formulas without a result", &["data", "formulas"], "text", None).choice(view, &formulas)) }
            }
            p { button.small type="button" data-post="/run/look" { "Read it again" } " " span.soft { "A file that changes is told of by itself; a database is not asked." } }
        }
    }
}

/// Whether the cells of a column are covered.
fn covered(view: &View, column: &str) -> bool {
    matches!(view.role(column), Role::Identifying | Role::Key | Role::Consent)
}

fn rows(view: &View, first: &FirstRows, query: &Query) -> Markup {
    let reveal = query.contains_key("reveal");
    let hidden = first.header.iter().filter(|name| covered(view, name)).count() as u64;
    html! {
        section aria-labelledby="first" {
            h2 id="first" { "First rows" }
            div.scroll id="rows" tabindex="0" role="group" aria-label="First rows" { table.rows.wraps {
                thead { tr { @for name in &first.header { th scope="col" { (name) } } } }
                tbody { @for row in &first.rows { tr { @for (name, cell) in first.header.iter().zip(row) {
                    @if covered(view, name) && !reveal { td.covered { span aria-label="covered" { "•••" } } } @else { td { (cell) } }
                } } } }
            } }
            @if hidden > 0 && !reveal {
                p.soft { (count(hidden, "column is not published, so its cells are covered: it names people, tells them apart, or was left out", "columns are not published, so their cells are covered: they name people, tell them apart, or were left out")) ". "
                    a href="/data?reveal=1" { "Uncover the cells here" } }
            } @else if hidden > 0 {
                p.soft { a href="/data" { "Cover the cells that are not published" } }
            }
        }
    }
}

fn columns(view: &View) -> Markup {
    let Some(overview) = view.overview() else { return html! {} };
    html! {
        section aria-labelledby="columns" {
            h2 id="columns" { "Columns" }
            div.cards-grid { @for column in overview.columns.iter().take(CHARTS) { (card(view, column, overview.rows)) } }
            @if overview.columns.len() > CHARTS {
                p.soft { "And " (overview.columns.len() - CHARTS) " more, all of them on the next screen." }
            }
        }
    }
}

fn card(view: &View, column: &ColumnOverview, rows: u64) -> Markup {
    let covered = covered(view, &column.name);
    html! {
        article.card {
            h3 { (column.name) }
            @match &column.counted {
                None => p.soft { (column.why) },
                Some(figures) => {
                    p.soft {
                        (figures.kind.name()) " · " (count(figures.distinct, "value", "values"))
                        @if figures.missing > 0 { " · " (percent(figures.missing, rows)) " unknown" }
                    }
                    @if covered {
                        p.soft { (grouped(figures.uniques)) " of " (grouped(rows)) " rows have a value of their own. Not published (" (view.role(&column.name).name()) "), so covered here." }
                    } @else if figures.histogram.is_empty() {
                        p.soft { "Nearly every row has its own value." }
                    } @else {
                        @let lines: Vec<Line> = figures.histogram.iter()
                            .map(|bar| Line { label: bar.label.clone(), before: None, after: bar.after }).collect();
                        (bars(&format!("Rows by value of {}", column.name), &described(&lines), &lines))
                        @if let Some(others) = &figures.others {
                            p.soft { "and " (count(others.labels, "other value", "other values")) " with " (count(others.after, "row", "rows")) }
                        }
                    }
                }
            }
        }
    }
}

/// A histogram for those who listen to it.
fn described(lines: &[Line]) -> String {
    lines.iter().map(|line| format!("{}: {}", line.label, grouped(line.after))).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_offers_whatever_is_read() {
        let offered = accepted();
        for ending in [".csv", ".gz", ".zst", ".parquet", ".xlsx", ".sav", ".dta", ".json"] {
            assert!(offered.split(',').any(|one| one == ending), "{ending} is not in {offered}");
        }
        assert!(!offered.contains("csv.gz") && offered.matches(".gz").count() == 1, "{offered}");
    }
}
