//! *Compare*: the table before and the release after, from a release that is made in memory and published nowhere. Its
//! figures are those of the owner's report, drawn by the same code.

use amidst::anonymize::Release;
use amidst::overview::{Association, first_rows};
use amidst::report::sections;
use amidst::words::grouped;
use maud::{Markup, html};
use serde_json::json;

use crate::jobs::Kind;
use crate::parts::{self, Query};
use crate::studio::View;

/// Rows that are shown of either side.
const ROWS: usize = 8;

/// Pairs that are shown.
const PAIRS: usize = 15;

/// Groups of fewer rows say nothing about a share.
const LEAST: u64 = 5;

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
            (summary(&made.made.release))
            (rows(view, &made.made.release))
            (who_loses(&made.made.release))
            (pairs(&made.made.pairs))
            @let all = sections(&made.made.release.outcome.report);
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

/// Groups of rows that lose most: values of any column of which the largest share is missing from the release.
fn who_loses(release: &Release) -> Markup {
    let columns = &release.outcome.report.columns;
    let mut groups: Vec<(&str, &str, u64, u64)> = Vec::new();
    for column in columns {
        let bars = column.histogram.iter().filter(|bar| bar.label != "*");
        groups.extend(bars.filter_map(|bar| Some((column.name.as_str(), bar.label.as_str(), bar.before?, bar.after))));
    }
    groups.retain(|(_, _, before, after)| before > after && *before >= LEAST);
    let lost = |g: &(&str, &str, u64, u64)| (g.2 - g.3) as f64 / g.2 as f64;
    groups.sort_by(|a, b| lost(b).total_cmp(&lost(a)).then_with(|| a.cmp(b)));
    let rounded = columns.iter().map(|column| column.rounded_to).max().unwrap_or(1);
    html! {
        section aria-labelledby="losers" {
            h2 id="losers" { "Who loses most" }
            @if groups.is_empty() {
                p.soft { "No group of rows loses more than others, as far as the release may tell." }
            } @else {
                div.scroll tabindex="0" role="group" aria-label="Groups that lose most" { table {
                    thead { tr { th scope="col" { "group" } th.n scope="col" { "rows before" } th.n scope="col" { "rows after" } th.n scope="col" { "left out" } } }
                    tbody { @for group in groups.iter().take(ROWS) { tr {
                        td.wide { (group.0) ": " (group.1) } td.n { (grouped(group.2)) } td.n { (grouped(group.3)) }
                        td.n { (format!("{:.1} %", lost(group) * 100.0)) }
                    } } }
                } }
                @if rounded > 1 { p.soft { "Rows before are rounded up to multiples of " (rounded) ", so small shares mean little." } }
            }
        }
    }
}

fn pairs(pairs: &[Association]) -> Markup {
    html! {
        @if !pairs.is_empty() { section aria-labelledby="pairs" {
            h2 id="pairs" { "Pairs of columns" }
            p.soft { "How much two columns say about each other, from 0 (nothing) to 1 (everything): Cramér's V, corrected for chance. Those that lose most come first." }
            div.scroll id="pair-rows" tabindex="0" role="group" aria-label="Pairs of columns" { table {
                thead { tr { th scope="col" { "columns" } th.n scope="col" { "before" } th.n scope="col" { "after" } } }
                tbody { @for pair in pairs.iter().take(PAIRS) { tr {
                    td.wide { (pair.columns.0) " + " (pair.columns.1) }
                    @for (value, side) in [(pair.before, "before"), (pair.after, "after")] {
                        td.n { meter min="0" max="1" value=(format!("{value:.3}")) aria-label=(format!("{} and {}, {side}", pair.columns.0, pair.columns.1)) {} " " (format!("{value:.2}")) }
                    }
                } } }
            } }
        } }
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
