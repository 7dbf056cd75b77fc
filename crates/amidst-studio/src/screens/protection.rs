//! *Protection*: what a release must satisfy, from the registry of models, in plain words; and how it is searched for.

use amidst::core::algorithm::ALGORITHMS;
use amidst::core::metric::METRICS;
use amidst::core::model::named::K_ANONYMITY;
use amidst::core::model::{self, MODELS, Sensitive};
use amidst::core::parameter::{Kind as ParameterKind, Parameter};
use amidst::policy::Role;
use maud::{Markup, html};
use serde_json::json;
use toml_edit::TableLike;

use crate::jobs::Kind;
use crate::parts::{self, Field, Query};
use crate::places::Problem;
use crate::studio::View;

/// Thresholds that are in use, with where they come from: the least number of rows of a class.
const PRESETS: &[(u64, &str, &str)] = &[
    (3, "3", "the least that statistical offices commonly use for counts in tables"),
    (5, "5", "commonly used where researchers sign an agreement"),
    (11, "11", "US Centers for Medicare & Medicaid Services: no cell of fewer than 11 people"),
    (
        12,
        "12",
        "European Medicines Agency (policy 0070) and Health Canada: a risk of at most 0.09; 1/12 is the first below it",
    ),
    (20, "20", "a risk of at most 0.05, common for data that anyone may download"),
];

pub fn draw(view: &View, _query: &Query) -> Markup {
    let head = parts::head(
        "Protection",
        "What must hold for everybody in the release. A class is a group of rows that look alike in what others may know.",
    );
    if view.text.is_none() {
        return parts::no_policy(&head);
    }
    let requirements = view.requirements();
    html! {
        (head)
        (parts::job(view, Kind::Check))
        @for (i, stated) in requirements.iter().enumerate() { (card(view, i, *stated)) }
        @if requirements.is_empty() { p.note { "Nothing is required yet." } }
        (add(view))
        (presets(view))
        (search(view))
        @if let Some(checked) = view.results.checked.as_ref().filter(|c| view.current_policy(&c.basis) && !c.remarks.is_empty()) {
            section aria-labelledby="remarks" { h2 id="remarks" { "Probably not meant" }
                ul { @for remark in &checked.remarks { li { (parts::ticked(remark)) } } } }
        }
        p.next { a.button href="/explore" { "Next: see what is possible" } }
    }
}

/// The columns that a requirement protects, as one would type them.
fn on(view: &View, stated: &dyn TableLike) -> String {
    match parts::typed(stated.get("on")) {
        text if !text.is_empty() => text,
        // A policy may leave it out when there is only one.
        _ => match &view.columns_with(Role::Sensitive)[..] {
            [only] => only.clone(),
            _ => String::new(),
        },
    }
}

fn card(view: &View, i: usize, stated: &dyn TableLike) -> Markup {
    let index = i.to_string();
    let id = parts::typed(stated.get("model"));
    let entry = model::find(&id);
    let keys = ["require", index.as_str()];
    // What stands at a field is told there.
    let fields: Vec<&str> =
        entry.map(|e| e.parameters.iter().map(|p| p.name).chain(["on"]).collect()).unwrap_or_default();
    let elsewhere = |p: &&Problem| p.keys.get(2).is_none_or(|key| !fields.contains(&key.as_str()));
    let problems: Vec<&Problem> = view.problems.within(&keys).filter(elsewhere).collect();
    let strongest = view
        .results
        .fitted
        .as_ref()
        .filter(|f| view.current_policy(&f.basis))
        .and_then(|f| f.strongest.get(i).cloned().flatten());
    html! {
        section.card.requirement id=(parts::id(&keys)) {
            div.card-head {
                h2 { (entry.map_or(id.as_str(), |e| e.title)) }
                button.small type="button" data-edit=(json!({"op": "unrequire", "index": i})) aria-label=(format!("Remove {id}")) { "Remove" }
            }
            @if let Some(entry) = entry {
                p.plain { "For one person: " (entry.meaning_with(|name| match name {
                    "on" => Some(on(view, stated)).filter(|t| !t.is_empty()),
                    name => Some(parts::typed(stated.get(name))).filter(|t| !t.is_empty()),
                })) "." }
                div.fields {
                    @if entry.sensitive != Sensitive::None { (on_field(view, &index, stated, entry)) }
                    @for parameter in entry.parameters { (parameter_field(view, &index, stated, parameter)) }
                }
                @if let Some(words) = strongest { p.soft { "Strongest: " (words) "." } }
                details id=(format!("about-{i}")) data-keep {
                    summary { "Definition and source" }
                    p { code { (entry.definition) } } p.soft { (entry.citation) }
                }
            }
            (parts::wrong(&problems, &parts::id(&keys)))
        }
    }
}

fn on_field(view: &View, index: &str, stated: &dyn TableLike, entry: &model::Entry) -> Markup {
    let keys = ["require", index, "on"];
    let sensitive = view.columns_with(Role::Sensitive);
    let value = parts::typed(stated.get("on"));
    if entry.sensitive == Sensitive::OneOrMany && value.contains(',') {
        return Field { label: "Protects the columns", keys: &keys, kind: "texts", value, hint: None, placeholder: "" }
            .text(view);
    }
    let mut options: Vec<(String, String)> = sensitive.iter().map(|name| (name.clone(), name.clone())).collect();
    if value.is_empty() {
        options.insert(
            0,
            (String::new(), if sensitive.len() == 1 { sensitive[0].clone() } else { "choose a column".into() }),
        );
    }
    Field { label: "Protects the column", keys: &keys, kind: "text", value, hint: None, placeholder: "" }
        .choice(view, &options)
}

fn parameter_field(view: &View, index: &str, stated: &dyn TableLike, parameter: &Parameter) -> Markup {
    let keys = ["require", index, parameter.name];
    let item = stated.get(parameter.name);
    let label = if parameter.required { parameter.name.to_string() } else { format!("{} (optional)", parameter.name) };
    let mut field = Field {
        label: &label,
        keys: &keys,
        kind: "number",
        value: parts::typed(item),
        hint: Some(parameter.help),
        placeholder: "",
    };
    match parameter.kind {
        ParameterKind::Choice(words) => {
            field.kind = "text";
            let words = words.iter().map(|w| (w.to_string(), w.to_string()));
            let none = (!parameter.required).then(|| (String::new(), "as usual".to_string()));
            field.choice(view, &none.into_iter().chain(words).collect::<Vec<_>>())
        }
        ParameterKind::Flag => {
            field.kind = "flag";
            field.choice(
                view,
                &[(String::new(), "no".into()), ("true".into(), "yes".into()), ("false".into(), "no, stated".into())],
            )
        }
        ParameterKind::Counts => {
            field.kind = "list";
            field.text(view)
        }
        ParameterKind::Values => {
            field.kind = "texts";
            field.text(view)
        }
        ParameterKind::Value | ParameterKind::Population => {
            field.kind = "text";
            field.text(view)
        }
        ParameterKind::Bounds | ParameterKind::Categories | ParameterKind::Weights => {
            field.kind = "toml";
            field.text(view)
        }
        ParameterKind::Count | ParameterKind::Number => field.text(view),
    }
}

fn add(view: &View) -> Markup {
    let sensitive = view.columns_with(Role::Sensitive);
    html! {
        form.line id="add" {
            div.field {
                label for="model" { "Require something more" }
                select id="model" name="model" {
                    @for entry in MODELS {
                        option value=(entry.id) data-on=[(entry.sensitive != Sensitive::None).then(|| sensitive.first()).flatten()]
                            data-parameters=(json!(entry.parameters.iter().filter(|p| p.required).map(|p| (p.name, first(p))).collect::<Vec<_>>())) { (entry.title) }
                    }
                }
            }
            button type="submit" { "Add" }
        }
    }
}

/// What a new requirement begins with.
fn first(parameter: &Parameter) -> &'static str {
    match (parameter.kind, parameter.name) {
        (ParameterKind::Count, "k") => "5",
        (ParameterKind::Count, _) => "2",
        (ParameterKind::Number, "l" | "c" | "c1") => "2",
        (ParameterKind::Number, "t" | "threshold" | "rho1") => "0.2",
        (ParameterKind::Number, _) => "0.5",
        _ => "",
    }
}

fn presets(view: &View) -> Markup {
    let k = view.requirements().iter().position(|r| r.get("model").and_then(|m| m.as_str()) == Some(K_ANONYMITY.id));
    let stated = k.map(|i| parts::typed(view.requirements()[i].get("k"))).unwrap_or_default();
    html! {
        section aria-labelledby="presets" {
            h2 id="presets" { "Thresholds in use" }
            p.soft { "How many rows a class must have at least. Which one applies to you is for your privacy officer to say." }
            ul.presets { @for (value, label, source) in PRESETS {
                li {
                    button.small type="button" data-edit=(parts::k_of(k, *value)) aria-pressed=(if stated == *label { "true" } else { "false" }) { "k = " (label) }
                    " " span { (source) }
                }
            } }
        }
    }
}

fn search(view: &View) -> Markup {
    let stated = |key: &str| parts::typed(view.raw.get("search").and_then(|s| s.get(key)));
    let algorithms: Vec<(String, String)> = std::iter::once((String::new(), "chosen for this table".to_string()))
        .chain(ALGORITHMS.iter().map(|a| {
            (a.id.to_string(), format!("{} ({})", a.title, if a.full_domain() { "full-domain" } else { "local" }))
        }))
        .collect();
    let metrics: Vec<(String, String)> = std::iter::once((String::new(), "chosen for this table".to_string()))
        .chain(METRICS.iter().map(|m| (m.id.to_string(), m.title.to_string())))
        .collect();
    let field = |label, key, kind, hint| Field { label, keys: key, kind, value: stated(key[1]), hint, placeholder: "" };
    html! {
        section.card aria-labelledby="searching" {
            h2 id="searching" { "How a release is searched for" }
            div.fields {
                (field("Algorithm", &["search", "algorithm"], "text", Some("full-domain: a column has one level everywhere; local: each class its own")).choice(view, &algorithms))
                (field("Best means least", &["search", "metric"], "text", None).choice(view, &metrics))
                (field("Rows that may be left out", &["search", "max_suppression"], "number", Some("a share such as 0.02, or a number of rows")).text(view))
                (field("Seed", &["search", "seed"], "number", Some("the same seed gives the same release")).text(view))
                (field("Time limit in seconds", &["search", "time_limit"], "number", Some("none when empty")).text(view))
            }
        }
    }
}
