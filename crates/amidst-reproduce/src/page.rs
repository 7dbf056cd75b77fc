//! Renders one HTML page with all experiments, in the style of the report.

use amidst::{TOOL, report};
use maud::{Markup, html};

use crate::data::WHERE_TO_GET_IT;
use crate::experiment::{Experiment, Paper, Printed, Sheet, Verdict};
use crate::reproduced::Reproduced;
use crate::results::{Finished, drawn};

/// The page as HTML.
pub fn html(reproduced: &Reproduced) -> String {
    let title = "What the papers say, run again";
    let papers: Vec<Paper> =
        Paper::ALL.into_iter().filter(|&p| reproduced.experiments.iter().any(|(e, _)| e.paper == p)).collect();
    let body = html! {
        header {
            h1 { (title) }
            p.soft { "Made by " (TOOL) ". Table: " (reproduced.data) "." }
            @if reproduced.stand_in {
                p.preface { strong { "A stand-in is used for Adult. " }
                    "None of the numbers that the papers print for Adult can come out of it; trends may. "
                    (WHERE_TO_GET_IT) "." }
            }
        }
        main {
            (summary(reproduced))
            nav aria-label="Experiments" {
                ul { @for (experiment, _) in &reproduced.experiments {
                    li { a href=(format!("#{}", experiment.id)) { (experiment.paper.id()) ": " (experiment.place) } }
                } }
            }
            (overview(reproduced))
            @for paper in papers {
                section id=(paper.id()) {
                    h2 { (paper.citation()) }
                    @for (experiment, finished) in reproduced.experiments.iter().filter(|(e, _)| e.paper == paper) {
                        (section(experiment, finished))
                    }
                }
            }
        }
    };
    report::page(title, TOOL, OWN_STYLE, &body)
}

const OWN_STYLE: &str = "
.charts { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1rem 2rem; }
@media (min-width: 48rem) { .charts { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); } }
.impossible { font-weight: 600; white-space: nowrap; color: #6b4a00; }
article { margin: 1.5rem 0 2.5rem; }
details { margin: .5rem 0; }
summary { cursor: pointer; }
";

fn summary(reproduced: &Reproduced) -> Markup {
    let ([holds, fails, impossible], agreeing, printed) = reproduced.tally();
    html! {
        ul.summary {
            li { (holds) " claims hold, " (fails) " do not hold, " (impossible) " cannot be tried as printed." }
            li { (agreeing) " of " (printed) " printed numbers come out as printed; beside each of the others stands why it does not." }
        }
    }
}

fn verdict(verdict: Verdict) -> Markup {
    let class = match verdict {
        Verdict::Holds => "holds",
        Verdict::DoesNotHold => "fails",
        Verdict::Impossible => "impossible",
    };
    html! { span class=(class) { (verdict.words()) } }
}

fn overview(reproduced: &Reproduced) -> Markup {
    html! {
        div.scroll { table.cards {
            thead { tr { th { "experiment" } th { "claim" } th { "verdict" } } }
            tbody { @for (experiment, finished) in &reproduced.experiments { @for claim in &finished.outcome.claims {
                tr {
                    td data-label="experiment" { a href=(format!("#{}", experiment.id)) { (experiment.id) } }
                    td.wide data-label="claim" { (claim.sentence) }
                    td data-label="verdict" { (verdict(claim.verdict)) }
                }
            } } }
        } }
    }
}

fn section(experiment: &Experiment, finished: &Finished) -> Markup {
    let outcome = &finished.outcome;
    html! {
        article id=(experiment.id) {
            h3 { (experiment.place) ": " (experiment.title) }
            p { "The paper: " (experiment.claim) }
            @for claim in &outcome.claims {
                p { (claim.sentence) " – " (verdict(claim.verdict)) @if !claim.why.is_empty() { ": " (claim.why) } }
            }
            @if !outcome.charts.is_empty() {
                div.charts { @for chart in &outcome.charts { figure { figcaption { (chart.title) } (drawn(chart)) } } }
            }
            @if !outcome.printed.is_empty() { (printed(&outcome.printed)) }
            @if !outcome.table.rows.is_empty() {
                details open[outcome.table.rows.len() <= 12] {
                    summary { "The figures (" (experiment.id) ".csv)" }
                    (sheet(&outcome.table))
                }
            }
            p.soft { "How it is measured: " (experiment.measured) }
            @for departure in experiment.departures { p.soft { "Otherwise than in the paper: " (departure) } }
            p.soft {
                "Settings: "
                @for (i, (name, value)) in outcome.settings.iter().enumerate() {
                    @if i > 0 { "; " } (name) ": " (value)
                }
                ". It took " (format!("{:.1}", finished.seconds)) " s."
            }
        }
    }
}

fn printed(numbers: &[Printed]) -> Markup {
    html! {
        details open[numbers.len() <= 20 || numbers.iter().any(|n| !n.agrees)] {
            summary { (numbers.iter().filter(|n| n.agrees).count()) " of " (numbers.len()) " printed numbers come out" }
            div.scroll { table.cards {
                thead { tr { th { "what" } th.n { "printed" } th.n { "found" } th { "" } th { "remark" } } }
                tbody { @for number in numbers { tr {
                    td.wide data-label="what" { (number.what) }
                    td.n data-label="printed" { (number.printed) }
                    td.n data-label="found" { (number.found) }
                    td data-label="" { @if number.agrees { span.holds { "as printed" } } @else { span.fails { "differs" } } }
                    td.wide data-label="remark" { (number.remark) }
                } } }
            } }
        }
    }
}

fn sheet(table: &Sheet) -> Markup {
    let number = |cell: &str| cell.trim_end_matches('%').trim().parse::<f64>().is_ok();
    html! {
        div.scroll { table {
            thead { tr { @for column in &table.columns { th { (column) } } } }
            tbody { @for row in &table.rows { tr {
                @for cell in row { @if number(cell) { td.n { (cell) } } @else { td { (cell) } } }
            } } }
        } }
    }
}
