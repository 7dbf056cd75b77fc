//! *Columns*: what each column is to the people in the table, why that was guessed, and how much it gives away.
//!
//! The last screen on which anything of identifying columns is shown.

use amidst::audit::Survey;
use amidst::overview::{ColumnOverview, Overview};
use amidst::policy::{ROLES, Role};
use amidst::words::{grouped, percent};
use maud::{Markup, html};
use serde_json::json;
use toml_edit::Item;

use crate::jobs::Kind;
use crate::parts::{self, Query};
use crate::places::Problem;
use crate::studio::View;

/// What each role means, in a line.
fn meaning(role: Role) -> &'static str {
    match role {
        Role::Identifying => "names a person; never published",
        Role::Quasi => "others may know it; published generalized",
        Role::Sensitive => "private; published as it is, its link to a person protected",
        Role::Insensitive => "published as it is",
        Role::Key => "tells people apart who have several rows; never published",
        Role::Consent => "says who waived protection; never published",
    }
}

pub fn draw(view: &View, _query: &Query) -> Markup {
    let Some(overview) = view.overview() else {
        return html! {
            (parts::head("Columns", "What each column is to the people in the table."))
            (parts::job(view, Kind::Look))
            (parts::empty("No table was looked at yet.", "/data", "Choose one"))
        };
    };
    let survey = view.results.survey.as_deref();
    html! {
        (parts::head("Columns", "What each column is to the people in the table. Roles are guessed on the safe side: read them all, only you know what your columns mean."))
        (parts::mismatch(view))
        (parts::job(view, Kind::Survey))
        details id="roles" data-keep { summary { "What the roles mean" }
            dl.roles { @for (name, role) in ROLES { dt { (name) } dd { (meaning(*role)) } } }
        }
        div.scroll id="table" { table.cards.columns {
            caption.hidden { "Columns and their roles" }
            thead { tr {
                th scope="col" { "column" } th scope="col" { "role" } th scope="col" { "why" }
                th.n scope="col" { "values" } th.n scope="col" { "alone" } th.n scope="col" { "share in singling out" }
            } }
            tbody { @for column in &overview.columns { (row(view, column, overview.rows, survey)) } }
        } }
        (absent(view, overview))
        p.soft { "Alone: rows that no other row agrees with in this column. Share in singling out: how much the column takes part in the smallest sets of columns that single a row out (SUDA2)." }
        @if let Some(survey) = survey { (sets(survey)) }
        p.next { a.button href="/hierarchies" { "Next: how values become less precise" } }
    }
}

fn row(view: &View, column: &ColumnOverview, rows: u64, survey: Option<&Survey>) -> Markup {
    let name = column.name.as_str();
    let keys = ["columns", name];
    let id = parts::id(&["columns", name, "role"]);
    let problems: Vec<&Problem> =
        view.problems.within(&keys).filter(|p| p.keys.get(2).is_none_or(|key| key != "hierarchy")).collect();
    let role = view.stated_role(name);
    let share = survey.and_then(|s| s.suda.contributions.iter().find(|(n, _)| n == name)).map(|(_, share)| *share);
    let guessed = role == Some(column.role);
    // A word that is no role is shown as it is.
    let stated = parts::typed(view.raw.get("columns").and_then(|columns| columns.get(name)?.get("role")));
    html! {
        tr {
            th scope="row" { (parts::breakable(name)) @if let Some(f) = &column.counted { br; span.soft { (f.kind.name()) } } }
            td data-label="role" {
                select id=(id) data-role=(name) aria-label=(format!("Role of {name}")) aria-invalid=[(!problems.is_empty() || role.is_none()).then_some("true")]
                    aria-describedby=[(!problems.is_empty()).then(|| format!("{id}-wrong"))] {
                    @if role.is_none() { option value=(stated) selected { (if stated.is_empty() { "not said" } else { &stated }) } }
                    @for (word, each) in ROLES { option value=(word) selected[Some(*each) == role] title=(meaning(*each)) { (word) } }
                }
                @if role == Some(Role::Insensitive) || problems.iter().any(|p| p.message.contains("accept")) { (accept(view, name)) }
                (parts::wrong(&problems, &id))
            }
            td.wide data-label="why" { @if guessed { (column.why) } @else {
                span.soft { @if role.is_some() { "chosen by you; " } "guessed " (column.role.name()) ": " (column.why) } } }
            @match &column.counted {
                Some(figures) => {
                    td.n data-label="values" { (grouped(figures.distinct)) }
                    td.n data-label="alone" { div { (grouped(figures.uniques)) br; span.soft { (percent(figures.uniques, rows)) } } }
                }
                None => { td.n data-label="values" { "–" } td.n data-label="alone" { "–" } }
            }
            td.n data-label="share in singling out" {
                @match share {
                    Some(share) => div { meter min="0" max="1" value=(share) aria-label=(format!("Share of {name} in singling out")) {} br; span { (format!("{:.0} %", share * 100.0)) } },
                    None => "–",
                }
            }
        }
    }
}

/// Columns of the policy that the table does not have.
fn absent(view: &View, overview: &Overview) -> Markup {
    let here = |name: &str| name == "*" || overview.columns.iter().any(|c| c.name == name);
    let named = view.raw.get("columns").and_then(Item::as_table_like).into_iter().flat_map(|c| c.iter());
    let absent: Vec<&str> = named.map(|(name, _)| name).filter(|name| !here(name)).collect();
    html! {
        @if !absent.is_empty() { section aria-labelledby="absent" {
            h2 id="absent" { "In the policy, but not in the table" }
            ul.files { @for name in &absent {
                @let keys = ["columns", *name];
                @let problems: Vec<&Problem> = view.problems.within(&keys).collect();
                li { strong { (name) } " "
                    button.small type="button" data-edit=(json!({"op": "set", "path": ["columns", name], "value": ""})) { "Take it out" span.hidden { " of the policy: " (name) } }
                    (parts::wrong(&problems, &parts::id(&keys))) }
            } }
        } }
    }
}

/// Why a column is published although it singles people out.
fn accept(view: &View, name: &str) -> Markup {
    let stated = parts::typed(view.raw.get("columns").and_then(|c| c.get(name)?.get("accept")));
    let keys = ["columns", name, "accept"];
    let field = parts::Field {
        label: "Why it may be published as it is",
        keys: &keys,
        kind: "text",
        value: stated,
        hint: None,
        placeholder: "needed where it singles people out",
    };
    field.text(view)
}

fn sets(survey: &Survey) -> Markup {
    html! {
        section aria-labelledby="together" {
            h2 id="together" { "Together" }
            p { (grouped(survey.suda.singled_out)) " of " (grouped(survey.rows)) " rows are alone on some set of up to " (survey.suda.max_size) " columns." }
            @if survey.sets.iter().any(|s| s.uniques > 0) { div.scroll id="sets" tabindex="0" role="group" aria-label="Sets of columns" { table {
                thead { tr { th scope="col" { "columns" } th.n scope="col" { "combinations" } th.n scope="col" { "rows that are alone" } } }
                tbody { @for set in survey.sets.iter().filter(|s| s.uniques > 0).take(8) { tr {
                    td.wide { (set.columns.join(" + ")) } td.n { (grouped(set.distinct)) }
                    td.n { (grouped(set.uniques)) " (" (percent(set.uniques, survey.rows)) ")" }
                } } }
            } } }
        }
    }
}
