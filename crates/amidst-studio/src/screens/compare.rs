//! *Compare*: the table before and the release after, from a release that is made in memory and published nowhere. Its
//! figures are those of the owner's report, drawn by the same code.

use amidst::anonymize::Release;
use amidst::overview::first_rows;
use amidst::report::sections;
use amidst::words::grouped;
use maud::{Markup, html};
use serde_json::json;

use crate::jobs::Kind;
use crate::parts::{self, Query};
use crate::studio::View;

/// Rows that are shown of either side.
const ROWS: usize = 8;

/// Sections that are open when the page is.
const OPEN: usize = 2;

/// The sections of the report that compare.
const SHOWN: &[&str] =
    &["usefulness", "risk", "classes", "columns", "generalization", "attacks", "requirements", "rows"];

pub fn draw(view: &View, _query: &Query) -> Markup {
    let head = parts::head(
        "Compare",
        "Before and after, side by side: what an analyst loses, and what is left to learn about a person. Nothing is published yet.",
    );
    if view.text.is_none() {
        return html! { (head) (parts::empty("There is no policy yet.", "/data", "Choose a table")) };
    }
    let compared = view.results.compared.as_deref();
    let again = if compared.is_some() { "Make it again" } else { "Make a release to look at" };
    html! {
        (head)
        (parts::job(view, Kind::Compare))
        @if !view.jobs.runs(Kind::Compare) { p { (parts::start(Kind::Compare, again, &json!({}))) } }
        @if let Some(made) = compared {
            (parts::stale(view, &made.text))
            (summary(&made.made))
            (rows(view, &made.made))
            @let all = sections(&made.made.outcome.report);
            @for (i, id) in SHOWN.iter().enumerate() { @for (_, heading, content) in all.iter().filter(|(own, _, _)| own == id) {
                details.report id=(format!("report-{id}")) data-keep open[i < OPEN] { summary { h2 { (heading) } } (content) }
            } }
        }
        p.next { a.button href="/publish" { "Next: publish" } }
    }
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
        @if !done.warnings.is_empty() { ul.note { @for warning in &done.warnings { li { (warning) } } } }
    }
}

/// A few rows of either side; of the original only what is published.
fn rows(view: &View, release: &Release) -> Markup {
    let Some(policy) = &view.policy else { return html! {} };
    let source = policy.data.input.as_ref().map(|input| policy.origin.resolve_source(input));
    let published = |name: &str| view.role(name).published();
    let before = source.and_then(|source| first_rows(&source, ROWS as u64, published).ok());
    let after = lines(release);
    html! {
        section aria-labelledby="sides" {
            h2 id="sides" { "Rows" }
            div.pair {
                div { h3 { "Before" }
                    @if let Some(before) = &before { (table("Rows before", &before.header, &before.rows)) } }
                div { h3 { "After" }
                    @match &after {
                        Some((header, rows)) => (table("Rows after", header, rows)),
                        None => p.soft { "The release is not a text; its rows are not shown." },
                    } }
            }
            p.soft { "Different people: the order of a release tells nothing." }
        }
    }
}

fn table(label: &str, header: &[String], rows: &[Vec<String>]) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label=(label) { table.rows {
            thead { tr { @for name in header { th scope="col" { (name) } } } }
            tbody { @for row in rows { tr { @for cell in row { td { (cell) } } } } }
        } }
    }
}

/// The first rows of a release that is separated values.
fn lines(release: &Release) -> Option<(Vec<String>, Vec<Vec<String>>)> {
    if !release.name.ends_with(".csv") {
        return None;
    }
    let text = release.text()?;
    let mut rows = text.lines().take(ROWS + 1).map(fields);
    Some((rows.next()?, rows.collect()))
}

/// The fields of a line without line breaks in quotes, as releases are written.
fn fields(line: &str) -> Vec<String> {
    let (mut out, mut field, mut quoted) = (Vec::new(), String::new(), false);
    let mut letters = line.chars().peekable();
    while let Some(c) = letters.next() {
        match c {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => out.push(std::mem::take(&mut field)),
            c => field.push(c),
        }
    }
    out.push(field);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_fields_are_whole() {
        assert_eq!(fields("a,\"b, \"\"c\"\"\",,d"), ["a", "b, \"c\"", "", "d"]);
    }
}
