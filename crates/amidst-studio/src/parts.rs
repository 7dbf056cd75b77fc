//! Parts that screens share: fields that edit the policy, what is wrong beside them, and what a job is doing.

use std::collections::HashMap;

use amidst::core::model::named::K_ANONYMITY;
use amidst::words::count;
use maud::{Markup, html};
use serde_json::{Value, json};
use toml_edit::{Item, Value as TomlValue};

use crate::jobs::{Ending, Kind};
use crate::places::Problem;
use crate::results::Basis;
use crate::snapshot::Change;
use crate::studio::View;

/// What stands behind the question mark of an address.
pub type Query = HashMap<String, String>;

/// A place in the policy as fields name it.
pub fn path(keys: &[&str]) -> String {
    let list = keys.iter().enumerate().map(|(i, key)| match key.parse::<u64>() {
        // Positions are those of requirements and of the levels of a hierarchy; a column may well be called 7.
        Ok(n) if (i == 1 && keys[0] == "require") || (i == 4 && keys[2] == "hierarchy") => json!(n),
        _ => json!(key),
    });
    Value::Array(list.collect()).to_string()
}

/// An id for a place in the policy.
pub fn id(keys: &[&str]) -> String {
    let clean = |key: &&str| -> String {
        key.chars()
            .map(|c| if c.is_ascii_alphanumeric() { c.to_string() } else { format!("_{:x}", c as u32) })
            .collect()
    };
    format!("f-{}", keys.iter().map(clean).collect::<Vec<_>>().join("-"))
}

/// What is wrong at a field.
pub fn wrong(problems: &[&Problem], id: &str) -> Markup {
    html! {
        @if !problems.is_empty() {
            div.wrong id=(format!("{id}-wrong")) {
                @for problem in problems {
                    p { span.mark aria-hidden="true" { "!" } " " (problem.message)
                        @if let Some(help) = &problem.help { br; span.help { (help) } } }
                }
            }
        }
    }
}

/// What a field is for and how it is edited.
pub struct Field<'a> {
    pub label: &'a str,
    pub keys: &'a [&'a str],
    pub kind: &'a str,
    pub value: String,
    pub hint: Option<&'a str>,
    pub placeholder: &'a str,
}

impl Field<'_> {
    /// A line to type in.
    pub fn text(&self, view: &View) -> Markup {
        let problems = view.wrong_at(self.keys);
        let id = id(self.keys);
        html! {
            div.field {
                label for=(id) { (self.label) }
                input id=(id) type="text" value=(self.value) placeholder=(self.placeholder) autocomplete="off" spellcheck="false"
                    data-set=(path(self.keys)) data-kind=(self.kind)
                    aria-invalid=[(!problems.is_empty()).then_some("true")]
                    aria-describedby=[described(&id, self.hint.is_some(), !problems.is_empty())];
                @if let Some(hint) = self.hint { p.hint id=(format!("{id}-hint")) { (hint) } }
                (wrong(&problems, &id))
            }
        }
    }

    /// Several lines to type in.
    pub fn area(&self, view: &View) -> Markup {
        let problems = view.wrong_at(self.keys);
        let id = id(self.keys);
        html! {
            div.field {
                label for=(id) { (self.label) }
                textarea id=(id) rows="3" placeholder=(self.placeholder) spellcheck="false" data-set=(path(self.keys)) data-kind=(self.kind)
                    aria-invalid=[(!problems.is_empty()).then_some("true")]
                    aria-describedby=[described(&id, self.hint.is_some(), false)] { (self.value) }
                @if let Some(hint) = self.hint { p.hint id=(format!("{id}-hint")) { code { (hint) } } }
                div.wrong hidden id=(format!("{id}-refused")) {}
            }
        }
    }

    /// A choice; an empty value is what happens when nothing is stated.
    pub fn choice(&self, view: &View, options: &[(String, String)]) -> Markup {
        let problems = view.wrong_at(self.keys);
        let id = id(self.keys);
        let known = options.iter().any(|(value, _)| *value == self.value);
        html! {
            div.field {
                label for=(id) { (self.label) }
                select id=(id) data-set=(path(self.keys)) data-kind=(self.kind)
                    aria-invalid=[(!problems.is_empty()).then_some("true")]
                    aria-describedby=[described(&id, self.hint.is_some(), !problems.is_empty())] {
                    @if !known { option value=(self.value) selected { (self.value) } }
                    @for (value, words) in options { option value=(value) selected[*value == self.value] { (words) } }
                }
                @if let Some(hint) = self.hint { p.hint id=(format!("{id}-hint")) { (hint) } }
                (wrong(&problems, &id))
            }
        }
    }
}

fn described(id: &str, hint: bool, wrong: bool) -> Option<String> {
    let hint = hint.then(|| format!("{id}-hint"));
    let wrong = wrong.then(|| format!("{id}-wrong"));
    let all: Vec<String> = hint.into_iter().chain(wrong).collect();
    (!all.is_empty()).then(|| all.join(" "))
}

/// What a job of a kind is doing, with a way to stop it, or why it has no result.
pub fn job(view: &View, kind: Kind) -> Markup {
    let Some(running) = view.jobs.of(kind) else { return html! {} };
    let (_, share) = running.progress();
    html! {
        @match running.ending() {
            None => {
                div.job data-job=(kind.name()) role="group" aria-label=(kind.words()) {
                    span { span data-stage { (kind.words()) } "…" }
                    progress max="1" value=(share) aria-label=(kind.words()) {}
                    button.small type="button" data-post=(format!("/stop/{}", kind.name())) { "Stop" }
                }
            }
            Some(Ending::Done) => {}
            Some(Ending::Stopped) => { p.note { "Stopped; nothing was written." } }
            Some(Ending::Failed(problems)) => {
                // What is wrong with the policy, or impossible, is told above every screen.
                @let above: Vec<&String> = view.problems.list.iter().chain(&view.impossible.list).map(|p| &p.message).collect();
                @let problems = problems.seen_from(&view.project.folder);
                div.wrong role="alert" { @for problem in problems.list.iter().filter(|p| !above.contains(&&p.message)) {
                    p { span.mark aria-hidden="true" { "!" } " " (problem.message)
                        @if let Some(help) = &problem.help { br; span.help { (help) } } }
                } }
            }
        }
    }
}

/// A button that starts a job.
pub fn start(kind: Kind, words: &str, asked: &Value) -> Markup {
    html! {
        button.primary type="button" data-post=(format!("/run/{}", kind.name())) data-body=(asked) { (words) }
    }
}

/// The edit that makes a policy ask for a k: at the requirement that states one, or by a new one.
pub fn k_of(stated: Option<usize>, k: u64) -> Value {
    match stated {
        Some(i) => json!({"op": "set", "path": ["require", i, "k"], "kind": "number", "value": k.to_string()}),
        None => json!({"op": "require", "add": [{"model": K_ANONYMITY.id, "parameters": [["k", k.to_string()]]}]}),
    }
}

/// What the policy says at a key, as one would type it.
pub fn typed(item: Option<&Item>) -> String {
    match item.and_then(Item::as_value) {
        None => String::new(),
        Some(TomlValue::String(text)) => text.value().clone(),
        Some(TomlValue::Array(list)) if list.iter().all(|v| !v.is_array() && !v.is_inline_table()) => {
            let one = |value: &TomlValue| value.as_str().map_or_else(|| plain(value), String::from);
            list.iter().map(one).collect::<Vec<_>>().join(", ")
        }
        Some(value) => plain(value),
    }
}

/// A value as TOML, without what stands around it.
pub fn plain(value: &TomlValue) -> String {
    let mut value = value.clone();
    value.decor_mut().clear();
    value.to_string().trim().to_string()
}

/// A sentence in which what stands between backticks is code.
pub fn ticked(sentence: &str) -> Markup {
    let parts: Vec<&str> = sentence.split('`').collect();
    let whole = parts.len() % 2 == 1;
    html! {
        @if !whole { (sentence) } @else {
            @for (i, part) in parts.iter().enumerate() { @if i % 2 == 1 { code { (part) } } @else { (part) } }
        }
    }
}

/// The name of a column, which may be broken after the signs that join its words.
pub fn breakable(name: &str) -> Markup {
    let parts: Vec<&str> = name.split_inclusive(['_', '-', '.', '/']).collect();
    html! { @for (i, part) in parts.iter().enumerate() { @if i > 0 { wbr; } (part) } }
}

/// The head of a screen.
pub fn head(title: &str, lead: &str) -> Markup {
    html! { header.head { h1 { (title) } p { (lead) } } }
}

/// What a screen says while there is nothing to show.
pub fn empty(words: &str, address: &str, link: &str) -> Markup {
    html! { div.empty { p { (words) } p { a href=(address) { (link) } } } }
}

/// A screen that has nothing to show before there is a policy.
pub fn no_policy(head: &Markup) -> Markup {
    html! { (head) (empty("There is no policy yet.", "/data", "Choose a table")) }
}

/// Says that what is shown was made from an earlier policy, or from files that have changed.
pub fn stale(view: &View, basis: &Basis) -> Markup {
    let changed = view.files.changes_since(&basis.files);
    html! {
        @if !view.current_policy(basis) {
            p.note.stale { "The policy has changed since. This was made from an earlier one." }
        } @else if !changed.is_empty() {
            p.note.stale { (view.named(&changed)) (if changed.len() == 1 { " has" } else { " have" }) " changed since. This was made from what was there before." }
        }
    }
}

/// Tells of files that have changed since they were read, and offers to read them again.
pub fn changed(view: &View) -> Markup {
    let (gone, other): (Vec<&Change>, Vec<&Change>) = view.changed.iter().partition(|change| change.gone);
    let verb = |files: &[&Change], one: &'static str, many: &'static str| if files.len() == 1 { one } else { many };
    html! {
        @if !view.changed.is_empty() {
            section.note.changed id="changed" role="status" aria-label="Changed files" {
                @if !other.is_empty() { p { strong { (view.named(other.iter().copied())) } (verb(&other, " has", " have")) " changed on disk since it was read." } }
                @if !gone.is_empty() { p { strong { (view.named(gone.iter().copied())) } (verb(&gone, " is", " are")) " there no more." } }
                p { "What you see was made from what was there before. A release is made from what is there when you publish." }
                p { button.small type="button" id="read-again" data-post="/run/look" { "Read the table again" } }
            }
        }
    }
}

/// Tells that a policy was written for another table than the one that it names now, such as another sheet.
pub fn mismatch(view: &View) -> Markup {
    let Some(overview) = view.overview().filter(|_| !view.jobs.runs(Kind::Look)) else { return html! {} };
    let columns = overview.columns.len();
    let unsaid = overview.columns.iter().filter(|column| view.stated_role(&column.name).is_none()).count();
    html! {
        @if view.text.is_some() && unsaid * 2 > columns {
            section.note id="mismatch" aria-label="Another table" {
                p { "The policy says nothing of " (unsaid) " of the " (count(columns as u64, "column", "columns")) " of this table: it was written for another one, or for another way to read it." }
                p { button.small type="button" data-post="/draft" { "Guess roles and requirements for this table" } " "
                    span.soft { "How it is read, searched and written stays. It can be undone." } }
            }
        }
    }
}

/// A text as a part of an address.
pub fn encoded(text: &str) -> String {
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"-_./".contains(b);
    text.bytes().map(|b| if plain(&b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}
