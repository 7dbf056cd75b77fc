//! The report as one page of HTML that needs nothing but itself: no network, no script.
//!
//! Every figure on the page is taken from the report's JSON by its place there and carries that place, so that page and
//! JSON cannot disagree and anyone can check that they do not.
//!
//! May use: `json`, `population`, the rest of `report`, and what those use.

mod protection;
mod record;
mod usefulness;

use amidst_check::printable_lines;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::content::{Audience, Report, Subject};
use crate::json::{LookedUp, Lookup};

/// The style of every page.
const STYLE: &str = include_str!("../style.css");

/// The style of what a policy tells of the release.
const TOLD: &str = "\
.release { display: grid; grid-template-columns: minmax(6rem, max-content) minmax(0, 1fr); gap: .2rem 1rem; margin: .75rem 0; }
.release dt { color: var(--soft); }
.release dd { margin: 0; }
@media screen and (max-width: 40rem) {
  .release { grid-template-columns: minmax(0, 1fr); gap: 0; }
  .release dd { margin-bottom: .4rem; }
}
";

/// With more columns than this, cells are narrower on a phone.
const WIDE: usize = 12;

/// The style of pages of wide tables: on a phone every figure needs its room, and the labels of charts may use the
/// margin.
const NARROW_CELLS: &str = "\
svg { overflow: visible; }
@media screen and (max-width: 40rem) {
  th, td { padding: .3rem .35rem; }
  table { font-size: .82rem; min-width: 0; }
  td.wide { min-width: 6rem; }
}
";

/// With more columns than this, the details of each are folded.
const UNFOLDED: usize = 8;

/// The number of findings that are shown unfolded.
const MOST_LINES: usize = 9;

/// The page.
pub fn html(report: &Report) -> String {
    let page = Page { report, figures: Lookup::of(report) };
    let title = match report.subject {
        Subject::Release => "What this release protects",
        Subject::Audit => "What this table protects",
    };
    let sections = page.sections();
    let body = html! {
        header {
            h1 { (title) }
            p.soft { "Made by " (report.tool) "."
                @if report.subject == Subject::Release { " The same figures are in report.json." } }
            @if let Some(preface) = report.preface() { p.preface { (preface) } }
            @if let Some(release) = &report.release { dl.release {
                @for (name, value) in release.lines() { dt { (name) } dd { (value) } }
            } }
        }
        main {
            (page.summary())
            nav aria-label="Sections" {
                ul { @for (id, heading, _) in &sections { li { a href=(format!("#{id}")) { (heading) } } } }
            }
            @for (id, heading, content) in &sections {
                section id=(id) { h2 { (heading) } (content) }
            }
        }
    };
    let told = if report.release.is_some() { TOLD } else { "" };
    let wide = if report.columns.len() > WIDE { NARROW_CELLS } else { "" };
    self::page(title, &report.tool, &format!("{told}{wide}"), &body)
}

/// A page that needs nothing but itself, in the style of the report and `style`.
pub fn page(title: &str, tool: &str, style: &str, body: &Markup) -> String {
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="generator" content=(tool);
                link rel="icon" href="data:,";
                title { (title) }
                style { (PreEscaped(STYLE)) (PreEscaped(style)) }
            }
            body { (body) }
        }
    };
    // Labels and names come from the data: nothing in them may act on the reader of the page.
    printable_lines(&markup.into_string()).into_owned()
}

/// The sections of the page, each with its id and heading, for pages that show a report among other things.
pub fn sections(report: &Report) -> Vec<(&'static str, &'static str, Markup)> {
    Page { report, figures: Lookup::of(report) }.sections()
}

/// A report on its way to a page.
struct Page<'a> {
    report: &'a Report,
    figures: Lookup,
}

impl Page<'_> {
    fn sections(&self) -> Vec<(&'static str, &'static str, Markup)> {
        let all = [
            ("requirements", "Requirements", self.requirements()),
            ("risk", "Risk of being re-identified", self.risk()),
            ("classes", "Class sizes", self.class_sizes()),
            ("attacks", "Attacks", self.attacks()),
            ("control", "Being in the release, or not", self.control_group()),
            ("columns", "Columns", self.columns()),
            ("generalization", "How much was generalized", self.generalization()),
            ("fidelity", "Numbers before and after", self.fidelity()),
            ("usefulness", "What the release costs", self.metrics()),
            ("rows", "Rows", self.rows()),
            ("method", "Method and parameters", self.method()),
            ("policy", "Policy", self.policy()),
            ("digests", "Digests", self.digests()),
            ("signature", "Signature", Some(self.signature())),
        ];
        all.into_iter().filter_map(|(id, heading, content)| content.map(|c| (id, heading, c))).collect()
    }

    /// The findings in words; of many the first, the others folded.
    fn summary(&self) -> Markup {
        let lines = &self.report.summary;
        let shown = if lines.len() > MOST_LINES + 1 { MOST_LINES } else { lines.len() };
        html! {
            ul.summary { @for line in &lines[..shown] { li { (line) } } }
            @if shown < lines.len() {
                details { summary { (lines.len() - shown) " more findings" }
                    ul.summary.more { @for line in &lines[shown..] { li { (line) } } }
                }
            }
        }
    }

    /// Whether there are more columns than [`UNFOLDED`].
    fn many(&self) -> bool {
        self.report.columns.len() > UNFOLDED
    }

    /// A part of a section under its own heading; folded where there are many columns, so that the page has an end on a
    /// telephone, too.
    fn part(&self, heading: &str, content: Markup) -> Markup {
        html! {
            @if self.many() { details { summary { (heading) } (content) } }
            @else { h3 { (heading) } (content) }
        }
    }

    /// What only explains; folded where there are many columns.
    fn aside(&self, heading: &str, content: Markup) -> Markup {
        html! { @if self.many() { details { summary { (heading) } (content) } } @else { (content) } }
    }

    /// The figure at a place of the JSON.
    fn figure(&self, at: &str) -> Markup {
        with_place(&self.figures.figure(at), at)
    }

    /// Table cells of the figure at a place under `before` and `after`.
    fn before_and_after(&self, sides: &str, name: &str) -> Markup {
        html! {
            @if self.compares() { td.n { (self.figure(&format!("{sides}/before/{name}"))) } }
            td.n { (self.figure(&format!("{sides}/after/{name}"))) }
        }
    }

    /// The heads of those cells.
    fn before_and_after_heads(&self) -> Markup {
        html! {
            @if self.compares() { th.n scope="col" { "before" } th.n scope="col" { "after" } }
            @else { th.n scope="col" { "figure" } }
        }
    }

    /// Whether there is an original table to compare with.
    fn compares(&self) -> bool {
        self.report.subject == Subject::Release && self.report.audience == Audience::Owner
    }

    /// Whether this is about a release, not about a table as it stands.
    fn of_release(&self) -> bool {
        self.report.subject == Subject::Release
    }
}

/// A figure that was looked up; a number carries its place in the JSON.
fn with_place(figure: &LookedUp, at: &str) -> Markup {
    html! {
        @if let Some(number) = &figure.number { data value=(number) data-at=(at) { (figure.words) } }
        @else { (figure.words) }
    }
}

/// A name as a part of a JSON pointer.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
