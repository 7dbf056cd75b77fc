//! What is protected: requirements, risk, class sizes, attacks.

use maud::{Markup, html};

use super::{Page, escaped, with_place};
use crate::json::Figures;
use crate::population::Uniques;
use crate::report::RequirementReport;
use crate::report::chart::{self, Line};

/// The figures of risk: their place, and what they are called.
const RISK: &[(&str, &str)] = &[
    ("prosecutor_max", "largest risk of anyone (prosecutor)"),
    ("prosecutor_avg", "average risk (prosecutor)"),
    ("marketer", "share that a marketer links rightly"),
    ("above_threshold", "persons above 0.09: in classes up to 11"),
    ("above_threshold_share", "share of persons above 0.09"),
    ("above_one_in_eleven", "persons above 1/11: in classes up to 10"),
    ("above_one_in_eleven_share", "share of persons above 1/11"),
    ("uniques", "persons alone in their class"),
    ("smallest_class", "smallest class"),
    ("largest_class", "largest class"),
    ("classes", "classes"),
    ("persons", "persons"),
];

/// What someone risks whose adversary knows the population.
const JOURNALIST: &[(&str, &str)] = &[
    ("max", "largest risk of anyone (journalist)"),
    ("avg", "average risk (journalist)"),
    ("marketer", "share that a marketer with the population links rightly"),
    ("above_threshold", "persons above 0.09"),
    ("above_one_in_eleven", "persons above 1/11"),
    ("population", "people in the population"),
    ("inconsistent_classes", "classes with more people in the table than in the population"),
];

impl Page<'_> {
    pub(super) fn requirements(&self) -> Option<Markup> {
        let requirements = &self.report.requirements;
        (!requirements.is_empty()).then(|| {
            html! {
                div.scroll { table.cards {
                    thead { tr {
                        th scope="col" { "requirement" } th scope="col" { "on" } th scope="col" { "verdict" }
                        th scope="col" { "measured" } th scope="col" { "worst class" }
                    } }
                    tbody { @for (i, r) in requirements.iter().enumerate() { tr {
                        td { strong { (r.model) } br; (r.parameters.words())
                            @if let Some(set) = &r.quasi { br; "by " (set.join(", ")) } }
                        td data-label="on" { (r.on.join(", ")) }
                        td data-label="verdict" { @if r.holds { span.holds { "✓ holds" } } @else { span.fails { "✗ fails" } } }
                        td data-label="measured" { (self.measured(&r.model, &r.measured, &format!("/requirements/{i}/measured"))) }
                        td.wide data-label="worst class" { @if let Some(worst) = &r.worst {
                            @if let Some(cells) = &worst.cells { (cells.words()) ": " }
                            (self.figure(&format!("/requirements/{i}/worst/size")))
                            (if worst.size == 1 { " person, " } else { " persons, " })
                            (self.measured(&r.model, &worst.measured, &format!("/requirements/{i}/worst/measured")))
                        } @else { "–" } }
                    } } }
                } }
                (self.aside("What the requirements mean", html! { @for r in distinct(requirements) {
                    p.soft { strong { (r.model) } ": " (r.definition) ". " (r.citation) "." }
                } }))
            }
        })
    }

    /// Figures that a requirement was measured to satisfy, with how each is reached.
    fn measured(&self, model: &str, figures: &Figures, at: &str) -> Markup {
        html! { @for (i, name) in figures.names().enumerate() {
            @let at = format!("{at}/{}", escaped(name));
            @let (sign, figure) = self.figures.measured(model, name, &at);
            @if i > 0 { ", " }
            (name.replace('_', " ")) " " (sign) " " (with_place(&figure, &at))
        } }
    }

    /// Figures by their names: `k = 5`.
    fn named(&self, figures: &Figures, at: &str) -> Markup {
        html! { @for (i, name) in figures.names().enumerate() {
            @if i > 0 { ", " }
            (name.replace('_', " ")) " = " (self.figure(&format!("{at}/{}", escaped(name))))
        } }
    }

    pub(super) fn risk(&self) -> Option<Markup> {
        Some(html! {
            p { "The prosecutor knows that someone is in the table and looks for their row; the marketer wants as many \
                 right links as possible. 0.09 is the threshold of Health Canada and the European Medicines Agency. To \
                 the letter, a class of 11 is above it and a class of 12 is not; who reads it as 1/11 rounded asks for \
                 classes of 11." }
            @if self.report.rows.joined > 0 {
                p { "Before is the table of those whose protection was asked for; after also counts the "
                    (self.figure("/rows/joined")) " rows "
                    (if self.report.rows.separate { "in classes of their own." } else { "that joined their classes." }) }
            }
            div.scroll { table {
                thead { tr { th scope="col" { "risk" } (self.before_and_after_heads()) } }
                tbody { @for (name, title) in RISK {
                    tr { th scope="row" { (title) } (self.before_and_after("/risk", name)) }
                } }
            } }
            @if self.report.risk.after.journalist.is_some() {
                h3 { "Against the population" }
                p { "The journalist has a table of the population, but does not know who of it is in this one." }
                div.scroll { table {
                    thead { tr { th scope="col" { "risk" } (self.before_and_after_heads()) } }
                    tbody { @for (name, title) in JOURNALIST {
                        tr { th scope="row" { (title) } (self.before_and_after("/risk", &format!("journalist/{name}"))) }
                    } }
                } }
            }
            (self.population_uniques())
        })
    }

    /// The estimates of who is unique in the population. Before and after may have estimates of different models: one
    /// that does not fit a table says nothing about it.
    fn population_uniques(&self) -> Markup {
        let sides = [("before", self.report.risk.before.as_ref()), ("after", Some(&self.report.risk.after))];
        let lines: Vec<(&str, usize, &Uniques)> = (sides.iter())
            .flat_map(|&(side, risk)| {
                let uniques = risk.map_or([].as_slice(), |r| r.population_uniques.as_slice());
                uniques.iter().enumerate().map(move |(i, u)| (side, i, u))
            })
            .collect();
        let Some((_, _, first)) = lines.first() else { return html! {} };
        self.part("People who are unique in the population", html! {
            p { "Who is alone in the table may have others like them outside of it. How many people of the population \
                 are alone in it is estimated from the class sizes; every estimate names its model, and models disagree."
                @if first.assumed { " How large the population is was not stated, so the shares of it are assumptions; \
                 write " code { "sampling_fraction" } " or " code { "population" } " under " code { "[risk]" } " to state it." } }
            div.scroll { table.cards {
                thead { tr {
                    @if self.compares() { th scope="col" { "table" } }
                    th.n scope="col" { "its share of the population" } th scope="col" { "model" }
                    th.n scope="col" { "unique people" } th.n scope="col" { "share of the population" }
                } }
                tbody { @for (side, i, u) in &lines { tr {
                    @let at = format!("/risk/{side}/population_uniques/{i}");
                    @if self.compares() { th scope="row" { (side) } }
                    td.n data-label="its share of the population" {
                        (self.figure(&format!("{at}/sampling_fraction"))) @if u.assumed { " (assumed)" } }
                    td data-label="model" { (u.model) @if u.preferred { " (suits best)" } }
                    td.n data-label="unique people" { (self.figure(&format!("{at}/uniques"))) }
                    td.n data-label="share of the population" { (self.figure(&format!("{at}/share"))) }
                } } }
            } }
            @for model in ["pitman", "zayatz"] {
                @if let Some((_, _, u)) = lines.iter().find(|(_, _, u)| u.model == model) {
                    p.soft { strong { (u.model) } ": " (u.citation) "." }
                }
            }
        })
    }

    pub(super) fn class_sizes(&self) -> Option<Markup> {
        let (before, after) = (&self.report.class_sizes.before, &self.report.class_sizes.after);
        let chart = |title: &str, bins: &[crate::report::SizeBin]| {
            let lines: Vec<Line> =
                bins.iter().map(|b| Line { label: b.label.clone(), before: None, after: b.persons }).collect();
            let smallest = bins.first().map_or("none", |b| b.label.as_str());
            let words = format!("Persons by the size of their class. The smallest classes have {smallest} persons.");
            html! { figure { figcaption { (title) } (chart::bars(title, &words, &lines)) } }
        };
        let table = |side: &str, bins: &[crate::report::SizeBin]| {
            html! { div.scroll { table {
                thead { tr { th scope="col" { "class size" } th.n scope="col" { "classes" } th.n scope="col" { "persons" } } }
                tbody { @for (i, bin) in bins.iter().enumerate() { tr {
                    th scope="row" { (bin.label) }
                    td.n { (self.figure(&format!("/class_sizes/{side}/{i}/classes"))) }
                    td.n { (self.figure(&format!("/class_sizes/{side}/{i}/persons"))) }
                } } }
            } } }
        };
        Some(html! {
            p { "A class is everyone who has the same cells in the quasi columns, whatever is published beside them." }
            div.pair {
                @if let Some(before) = before {
                    div { (chart("Persons by class size, before", before)) (table("before", before)) }
                }
                div {
                    (chart(if before.is_some() { "Persons by class size, after" } else { "Persons by class size" }, after))
                    (table("after", after))
                }
            }
        })
    }

    pub(super) fn control_group(&self) -> Option<Markup> {
        let group = self.report.control_group.as_ref()?;
        Some(html! {
            p { "What can be said of anybody is no leak. " (self.figure("/control_group/people")) " people, drawn by the seed, \
                 were taken out of the published classes; each attack was tried on them and on as many who are in the release. \
                 The excess is what being in the release adds." }
            div.scroll { table.cards {
                thead { tr {
                    th scope="col" { "risk" } th.n scope="col" { "in the release" } th.n scope="col" { "not in it" }
                    th.n scope="col" { "excess" } th.n scope="col" { "at most (95 %)" }
                } }
                tbody { @for (i, tried) in group.attacks.iter().enumerate() { tr {
                    @let at = format!("/control_group/attacks/{i}");
                    th scope="row" { (tried.risk) @if let Some(column) = &tried.column { " of " (column) } }
                    td.n data-label="in the release" { (self.figure(&format!("{at}/in_release/share"))) }
                    td.n data-label="not in it" { (self.figure(&format!("{at}/control/share"))) }
                    td.n data-label="excess" { (self.figure(&format!("{at}/excess"))) }
                    td.n data-label="at most (95 %)" { (self.figure(&format!("{at}/excess_at_most"))) }
                } } }
            } }
            (self.aside("What was tried", html! {
                @for tried in group.attacks.iter().take(3) { p.soft { strong { (tried.risk) } ": " (tried.attack) "." } }
                p.soft { "After Giomi et al., A Unified Framework for Quantifying Privacy Risk in Synthetic Data, PoPETs 2023; the \
                          risks are those of the Article 29 Working Party, Opinion 05/2014." }
            }))
        })
    }

    pub(super) fn attacks(&self) -> Option<Markup> {
        let attacks = &self.report.attacks;
        if attacks.is_empty() {
            return None;
        }
        let mut columns: Vec<&str> = Vec::new();
        for attack in attacks.iter().filter(|a| !a.column.is_empty()) {
            if !columns.contains(&attack.column.as_str()) {
                columns.push(&attack.column);
            }
        }
        let (classes, rows) = if self.compares() { ("classes after", "rows after") } else { ("classes", "rows") };
        Some(html! {
            p { "Each attack is tried as an adversary would, on what is published alone. Rows hit are rows about which \
                 it succeeds." }
            @for column in columns { (self.part(&format!("About {column}"), html! {
                @let of_column = attacks.iter().enumerate().filter(|(_, a)| a.column == *column).collect::<Vec<_>>();
                @let lines = of_column.iter().map(|(_, a)| Line {
                    label: a.id.clone(),
                    before: a.findings.before.as_ref().map(|f| f.rows),
                    after: a.findings.after.rows,
                }).collect::<Vec<_>>();
                figure {
                    figcaption { "Rows hit by each attack" }
                    (chart::bars(&format!("Rows hit by each attack on {column}"), "The table below has the same figures.", &lines))
                }
                div.scroll { table.cards {
                    thead { tr {
                        th scope="col" { "attack" }
                        @if self.compares() {
                            th.n scope="col" { "classes before" } th.n scope="col" { "rows before" }
                            th.n scope="col" { "classes after" } th.n scope="col" { "rows after" }
                        } @else { th.n scope="col" { "classes" } th.n scope="col" { "rows" } }
                        th scope="col" { "further figures" }
                    } }
                    tbody { @for (i, attack) in &of_column { tr {
                        @let at = format!("/attacks/{i}/findings");
                        th scope="row" { (attack.id) }
                        @if self.compares() {
                            td.n data-label="classes before" { (self.figure(&format!("{at}/before/classes"))) }
                            td.n data-label="rows before" { (self.figure(&format!("{at}/before/rows"))) }
                        }
                        td.n data-label=(classes) { (self.figure(&format!("{at}/after/classes"))) }
                        td.n data-label=(rows) { (self.figure(&format!("{at}/after/rows"))) }
                        td.wide data-label="further figures" { (self.named(
                            &attack.findings.after.figures,
                            &format!("{at}/after/figures"),
                        )) }
                    } } }
                } }
            })) }
            (self.aside("What each attack knows, and when it succeeds", html! {
                @for attack in attacks.iter().filter(|a| a.column == attacks[0].column) {
                    p.soft { strong { (attack.id) } ": the adversary knows " (attack.assumes) ". It succeeds when "
                        (attack.definition) ". " (attack.citation) "." }
                }
            }))
        })
    }
}

/// Each model once: the same one may be required of several columns or sets of them.
fn distinct(requirements: &[RequirementReport]) -> impl Iterator<Item = &RequirementReport> {
    let first = |i: usize| !requirements[..i].iter().any(|before| before.model == requirements[i].model);
    (0..requirements.len()).filter(move |&i| first(i)).map(|i| &requirements[i])
}
