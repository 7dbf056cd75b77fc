//! What is left to work with: columns, generalization, metrics.

use amidst_check::printable;
use maud::{Markup, html};

use super::Page;
use crate::report::ColumnReport;
use crate::report::chart::{self, Line};
use crate::report::summary::{accepted_by_reason, although};

impl Page<'_> {
    pub(super) fn columns(&self) -> Option<Markup> {
        let table = html! {
            div.scroll { table.cards {
                thead { tr {
                    th scope="col" { "column" } th scope="col" { "role" } th scope="col" { "technique" }
                    @if self.compares() {
                        th.n scope="col" { "distinct before" } th.n scope="col" { "distinct after" }
                    } @else { th.n scope="col" { "distinct" } }
                } }
                tbody { @for (i, column) in self.report.columns.iter().enumerate() { tr {
                    th scope="row" { (column.name) }
                    td data-label="role" { (column.role) }
                    td.wide data-label="technique" { (column.technique) }
                    @if self.compares() { td.n data-label="distinct before" { (self.figure(&format!("/columns/{i}/distinct/before"))) } }
                    td.n data-label=(if self.compares() { "distinct after" } else { "distinct" }) { (self.figure(&format!("/columns/{i}/distinct/after"))) }
                } } }
            } }
        };
        let shown = |(i, column): (usize, &ColumnReport)| {
            (!column.histogram.is_empty()).then(|| self.part(&column.name, self.histogram(i, column)))
        };
        Some(html! {
            (self.aside("All columns, with what was done to them", table))
            @for part in self.report.columns.iter().enumerate().filter_map(shown) { (part) }
        })
    }

    fn histogram(&self, position: usize, column: &ColumnReport) -> Markup {
        let lines: Vec<Line> = column
            .histogram
            .iter()
            .map(|b| Line { label: b.label.clone(), before: b.before, after: b.after })
            .collect();
        let compares = lines.iter().any(|l| l.before.is_some());
        let title = format!("Rows by published value of {}", column.name);
        html! {
            div.pair {
                figure { (chart::bars(&title, "The table beside it has the same figures.", &lines)) }
                div {
                    div.scroll { table {
                        thead { tr {
                            th scope="col" { "value" }
                            @if compares { th.n scope="col" { "rows before" } th.n scope="col" { "rows after" } }
                            @else { th.n scope="col" { "rows" } }
                        } }
                        tbody {
                            @for (j, bar) in column.histogram.iter().enumerate() { tr {
                                @let at = format!("/columns/{position}/histogram/{j}");
                                td.wide { (bar.label) }
                                @if compares { td.n { (self.figure(&format!("{at}/before"))) } }
                                td.n { (self.figure(&format!("{at}/after"))) }
                            } }
                            @if column.others.is_some() { tr {
                                td.wide { (self.figure(&format!("/columns/{position}/others/labels"))) " others" }
                                @if compares { td.n {} }
                                td.n { (self.figure(&format!("/columns/{position}/others/after"))) }
                            } }
                        }
                    } }
                    @if compares && column.rounded_to > 1 {
                        p.soft { "Rows before are rounded up to multiples of "
                            (self.figure(&format!("/columns/{position}/rounded_to")))
                            ", so that the difference points at nobody." }
                    }
                }
            }
        }
    }

    pub(super) fn generalization(&self) -> Option<Markup> {
        if !self.compares() {
            return None;
        }
        let quasi = self.report.columns.iter();
        let levels: Vec<(String, usize, usize)> =
            quasi.clone().filter_map(|c| c.level.map(|(level, height)| (c.name.clone(), level, height))).collect();
        let parts: Vec<(String, [u64; 3])> =
            quasi.filter_map(|c| c.detail.map(|d| (c.name.clone(), [d.exact, d.generalized, d.top]))).collect();
        if parts.is_empty() {
            return None;
        }
        let said: Vec<String> =
            levels.iter().map(|(name, level, height)| format!("{name} {level} of {height}")).collect();
        Some(html! {
            div.pair {
                @if !levels.is_empty() {
                    figure {
                        figcaption { "The levels of each column's hierarchy: level 0 is the value itself, the last says nothing" }
                        (chart::levels("Levels of generalization", &format!("Levels: {}.", said.join(", ")), &levels))
                    }
                }
                figure {
                    figcaption { "Cells that are published exactly, generalized, or as * (nothing)" }
                    (chart::parts("How much of each column is left", "The table below has the same figures.", &parts))
                }
            }
            div.scroll { table {
                thead { tr {
                    th scope="col" { "column" }
                    @if !levels.is_empty() { th scope="col" { "level" } }
                    th.n scope="col" { "exact" } th.n scope="col" { "generalized" } th.n scope="col" { "*" }
                } }
                tbody { @for (i, column) in self.report.columns.iter().enumerate().filter(|(_, c)| c.detail.is_some()) { tr {
                    th scope="row" { (column.name) }
                    @if !levels.is_empty() { td { @if column.level.is_some() {
                        (self.figure(&format!("/columns/{i}/level/0"))) " of " (self.figure(&format!("/columns/{i}/level/1")))
                    } } }
                    @for part in ["exact", "generalized", "top"] {
                        td.n { (self.figure(&format!("/columns/{i}/detail/{part}"))) }
                    }
                } } }
            } }
            (self.partition())
        })
    }

    /// What the release keeps of columns and of numbers.
    pub(super) fn fidelity(&self) -> Option<Markup> {
        const MOMENTS: [(&str, &str); 5] = [
            ("mean", "mean"),
            ("deviation", "standard deviation"),
            ("lower_quartile", "lower quartile"),
            ("median", "median"),
            ("upper_quartile", "upper quartile"),
        ];
        let fidelity = self.report.fidelity.as_ref()?;
        Some(html! {
            p { "Rows of a class are taken to be spread evenly over what a cell covers. A loss of 0 is the value itself, 1 is " code { "*" } "." }
            div.scroll { table {
                thead { tr { th scope="col" { "column" } th.n scope="col" { "mean loss" } } }
                tbody { @for (i, column) in fidelity.loss.iter().enumerate() {
                    tr { th scope="row" { (column.column) } td.n { (self.figure(&format!("/fidelity/loss/{i}/loss"))) } }
                } }
            } }
            @for (i, numbers) in fidelity.numbers.iter().enumerate() { (self.part(&format!("Numbers of {}", numbers.column), html! {
                div.scroll { table {
                    thead { tr { th scope="col" { "figure" } th.n scope="col" { "before" } th.n scope="col" { "after" } } }
                    tbody { @for (name, title) in MOMENTS { tr {
                        th scope="row" { (title) }
                        td.n { (self.figure(&format!("/fidelity/numbers/{i}/before/{name}"))) }
                        td.n { (self.figure(&format!("/fidelity/numbers/{i}/after/{name}"))) }
                    } } }
                } }
            })) }
            @if !fidelity.correlations.is_empty() { (self.part("Correlations", html! {
                div.scroll { table {
                    thead { tr { th scope="col" { "columns" } th.n scope="col" { "before" } th.n scope="col" { "after" } } }
                    tbody { @for (i, pair) in fidelity.correlations.iter().enumerate() { tr {
                        th scope="row" { (pair.columns[0]) ", " (pair.columns[1]) }
                        td.n { (self.figure(&format!("/fidelity/correlations/{i}/before"))) }
                        td.n { (self.figure(&format!("/fidelity/correlations/{i}/after"))) }
                    } } }
                } }
            })) }
        })
    }

    /// Where the classes of a local recoding lie.
    fn partition(&self) -> Markup {
        const LISTED: usize = 10;
        let Some(partition) = &self.report.partition else { return html! {} };
        let [across, up] = &partition.columns;
        let some = partition.drawn < partition.regions;
        let words = format!(
            "Rectangles over {across} and {up}, each where classes lie. The table below lists those of the most persons."
        );
        html! {
            h3 { "Where the classes lie" }
            p { "Each rectangle is what some classes cover in " (across) " (across) and " (up) " (upward), the columns that \
                 tell the most about a person; the values of a column stand side by side. The more persons, the thicker the \
                 border and the darker the shade. Rectangles overlap where classes differ in other columns." }
            @if some {
                p { "Drawn are the " (self.figure("/partition/drawn")) " of " (self.figure("/partition/regions"))
                    " rectangles that hold the most persons: " (self.figure("/partition/drawn_persons")) " of "
                    (self.figure("/partition/persons")) "." }
            }
            div.pair {
                figure {
                    figcaption { "Classes by " (across) " and " (up) }
                    (chart::partition(&format!("Classes by {across} and {up}"), &words, partition))
                }
                div.scroll { table {
                    caption { "The rectangles of the most persons" }
                    thead { tr {
                        th scope="col" { (across) } th scope="col" { (up) }
                        th.n scope="col" { "classes" } th.n scope="col" { "persons" }
                    } }
                    tbody { @for (i, b) in partition.boxes.iter().enumerate().take(LISTED) { tr {
                        td { (b.labels[0]) } td { (b.labels[1]) }
                        td.n { (self.figure(&format!("/partition/boxes/{i}/classes"))) }
                        td.n { (self.figure(&format!("/partition/boxes/{i}/persons"))) }
                    } } }
                } }
            }
        }
    }

    pub(super) fn metrics(&self) -> Option<Markup> {
        let (metrics, utility) = (&self.report.metrics, &self.report.utility);
        (!metrics.is_empty()).then(|| {
            html! {
                p { "Less is better for every metric." }
                div.scroll { table {
                    thead { tr { th scope="col" { "metric" } th.n scope="col" { "value" } } }
                    tbody { @for (i, metric) in metrics.iter().enumerate() { tr {
                        th scope="row" { (metric.id) }
                        td.n { (self.figure(&format!("/metrics/{i}/value"))) }
                    } } }
                } }
                (self.aside("What the metrics are", html! { @for metric in metrics {
                    p.soft { strong { (metric.id) } ": " (metric.definition) "." }
                } }))
                @if !utility.is_empty() {
                    h3 { "What an analyst can still do" }
                    div.scroll { table.cards {
                        thead { tr {
                            th scope="col" { "figure" } th.n scope="col" { "before" } th.n scope="col" { "after" }
                            th scope="col" { "what it is" }
                        } }
                        tbody { @for (i, figure) in utility.iter().enumerate() { tr {
                            th scope="row" { (figure.title) }
                            td.n data-label="before" { (self.figure(&format!("/utility/{i}/before"))) }
                            td.n data-label="after" { (self.figure(&format!("/utility/{i}/after"))) }
                            td.wide data-label="what it is" { (figure.definition) }
                        } } }
                    } }
                }
            }
        })
    }

    pub(super) fn rows(&self) -> Option<Markup> {
        let rows = &self.report.rows;
        let lines = [
            ("input", "rows read"),
            ("dropped_missing", "rows left out because a value is unknown"),
            ("suppressed", "rows suppressed"),
            ("waived", "rows published unprotected, by their owner's waiver"),
            (
                "joined",
                match rows.separate {
                    true => "rows in classes of their own, by their owner's waiver",
                    false => "rows that joined the classes of others, by their owner's waiver",
                },
            ),
            ("published", if self.of_release() { "rows published" } else { "rows looked at" }),
            ("classes", "classes"),
        ];
        Some(html! {
            div.scroll { table { tbody { @for (name, title) in lines.into_iter().filter(|l| l.0 != "joined" || self.compares()) {
                tr { th scope="row" { (title) } td.n { (self.figure(&format!("/rows/{name}"))) } }
            } } } }
            @if self.report.unique_rows.is_some() {
                div.scroll { table {
                    caption { "Rows that no other row agrees with" }
                    tbody { @for (name, title) in [
                        ("published", "unique on all published columns"),
                        ("published_share", "their share"),
                        ("insensitive", "unique on the insensitive columns alone"),
                        ("insensitive_share", "their share"),
                    ] {
                        tr { th scope="row" { (title) } td.n { (self.figure(&format!("/unique_rows/{name}"))) } }
                    } }
                } }
            }
            @for (reason, accepted) in accepted_by_reason(self.report) {
                @if let [column] = accepted[..] {
                    p { strong { (printable(column)) } " is published although it may single people out: " (printable(reason)) }
                } @else {
                    p { (although(&accepted)) ": " (printable(reason)) }
                }
            }
            @if rows.persons { p { "Some persons have several rows: class sizes count persons, not rows." } }
            @if let Some(suppression) = self.report.suppression.as_ref().filter(|s| s.rows > 0) {
                h3 { "Why rows were suppressed" }
                p { "At most " (suppression.limit) " were allowed. "
                    @if suppression.treatment == "mask" {
                        "They are published with * in every quasi column, as one class that is checked like every other."
                    } @else { "They are not in the release." } }
                @if !self.compares() {
                } @else if suppression.reasons.is_empty() {
                    p { "They fit no class that satisfies the policy at a bearable loss." }
                } @else {
                    div.scroll { table {
                        caption { "Classes that would have broken a requirement; one class may break several" }
                        thead { tr { th scope="col" { "requirement" } th.n scope="col" { "classes" } th.n scope="col" { "rows" } } }
                        tbody { @for (i, reason) in suppression.reasons.iter().enumerate() { tr {
                            th scope="row" { (reason.model) @if !reason.on.is_empty() { " on " (reason.on.join(", ")) } }
                            td.n { (self.figure(&format!("/suppression/reasons/{i}/classes"))) }
                            td.n { (self.figure(&format!("/suppression/reasons/{i}/rows"))) }
                        } } }
                    } }
                }
            }
        })
    }
}
