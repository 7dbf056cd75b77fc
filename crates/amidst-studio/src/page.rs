//! The frame around every screen: the bar, the way from left to right, what is wrong, and the document beside it.

mod elsewhere;

use amidst::check::acts;
use amidst::words::count;
use maud::{DOCTYPE, Markup, html};

use crate::diff::{self, Change};
use crate::jobs::Kind;
use crate::parts::Query;
use crate::places::Problem;
use crate::screens::{SCREENS, Screen, address};
use crate::studio::View;

/// Things that are wrong which are told above every screen; the others can be unfolded.
const LISTED: usize = 5;

/// A page with a screen.
pub fn page(view: &View, screen: &Screen, query: &Query) -> Markup {
    let title = format!("{} · {} · Amidst studio", screen.title, view.project.policy_name());
    html! {
        (DOCTYPE)
        html lang="en" {
            (head(&title, html! { meta name="color-scheme" content="light dark"; }, html! {
                script type="module" src=(address("studio.js")) {}
                @if screen.script { script type="module" src=(address(&format!("{}.js", screen.name))) {} }
            }))
            body data-version=(view.version) {
                a.skip href="#screen" { "To the screen" }
                (bar(view))
                (way(view, screen))
                div.frame {
                    main id="screen" tabindex="-1" { (problems(view, screen)) ((screen.draw)(view, query)) }
                    aside id="document" aria-label="The policy" { (document(view, screen)) }
                }
                div id="said" role="status" aria-live="polite" {}
            }
        }
    }
}

/// A page that only says something.
pub fn message(title: &str, words: &str) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            (head(title, html! {}, html! {}))
            body { main.alone { h1 { (title) } p { (words) } } }
        }
    }
}

/// The page before the lock, with a form to open it.
pub fn locked(words: &str, wrong: bool) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            (head("The studio is locked", html! { meta name="color-scheme" content="light dark"; }, html! {}))
            body { main.alone {
                h1 { "The studio is locked" }
                p { (words) }
                form method="post" action="/open" {
                    div.field {
                        label for="token" { "Key or password" }
                        input id="token" name="token" type="password" autocomplete="current-password" required
                            aria-invalid=[wrong.then_some("true")] aria-describedby=[wrong.then_some("token-wrong")];
                        @if wrong { div.wrong id="token-wrong" role="alert" { p { "This does not open the studio." } } }
                    }
                    p { button.primary type="submit" { "Open" } }
                }
            } }
        }
    }
}

/// The head of a page: `meta` before the title, `scripts` after the style.
fn head(title: &str, meta: Markup, scripts: Markup) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            (meta)
            title { (title) }
            link rel="icon" href="data:,";
            link rel="stylesheet" href=(address("studio.css"));
            (scripts)
        }
    }
}

fn bar(view: &View) -> Markup {
    let undo = view.at > 0;
    let redo = view.at + 1 < view.steps.len();
    let of = |at: usize| view.steps.get(at).map(String::as_str).unwrap_or_default();
    html! {
        header.bar id="bar" {
            a.brand href="/data" { "Amidst" span { " studio" } }
            span.file title=(view.project.policy.display().to_string()) { (view.project.policy_name()) }
            div.tools {
                button.small type="button" id="undo" data-post="/undo" disabled[!undo]
                    title=(if undo { format!("Undo: {} (Ctrl+Z)", of(view.at)) } else { "Nothing to undo".into() }) { "Undo" }
                button.small type="button" id="redo" data-post="/redo" disabled[!redo]
                    title=(if redo { format!("Redo: {} (Ctrl+Shift+Z)", of(view.at + 1)) } else { "Nothing to redo".into() }) { "Redo" }
            }
        }
    }
}

/// The screens from left to right, each with how it stands.
fn way(view: &View, current: &Screen) -> Markup {
    html! {
        nav.way id="way" aria-label="Screens" {
            ol {
                @for screen in SCREENS {
                    @let wrong = view.problems.list.iter().filter(|p| screen_of(p) == screen.name).count();
                    li {
                        a href=(format!("/{}", screen.name)) aria-current=[(screen.name == current.name).then_some("page")] {
                            (screen.title)
                            @if wrong > 0 { span.count { (wrong) span.hidden { " wrong" } } }
                        }
                    }
                }
            }
        }
    }
}

/// The screen on which a problem belongs.
pub fn screen_of(problem: &Problem) -> &'static str {
    let key = |i: usize| problem.keys.get(i).map(String::as_str);
    match (key(0), key(2)) {
        (Some("columns"), Some("hierarchy")) => "hierarchies",
        (Some("columns"), _) => "columns",
        (Some("require" | "search"), _) => "protection",
        (Some("utility"), _) => "compare",
        (Some("output"), _) => "publish",
        _ => "data",
    }
}

/// Everything that is wrong, with the way to where it can be mended.
fn problems(view: &View, current: &Screen) -> Markup {
    html! {
        div id="problems" {
            (crate::parts::changed(view))
            @if !view.problems.is_empty() {
                section.problems role="alert" aria-label="What is wrong" {
                    h2 { @if view.problems.list.len() == 1 { "One thing is wrong" }
                        @else { (view.problems.list.len()) " things are wrong" } }
                    @let (first, more) = view.problems.list.split_at(view.problems.list.len().min(LISTED));
                    ul { @for problem in first { (listed(problem, current)) } }
                    @if !more.is_empty() { details id="more-problems" data-keep { summary { "and " (more.len()) " more" }
                        ul { @for problem in more { (listed(problem, current)) } } } }
                }
            }
            @for why in &view.impossible.list {
                section.problems role="alert" aria-label="Impossible" { h2 { "No release is possible" } p { (why.message) }
                    @if current.name != "protection" { p { a href="/protection" { "Change the requirements" } } } }
            }
            @if current.name != "data" { (crate::parts::job(view, Kind::Look)) }
        }
    }
}

/// One thing that is wrong, with the way to where it can be mended.
fn listed(problem: &Problem, current: &Screen) -> Markup {
    let keys: Vec<&str> = problem.keys.iter().map(String::as_str).collect();
    let screen = screen_of(problem);
    html! {
        li {
            (problem.message)
            @if let Some(help) = &problem.help { br; span.help { (help) } }
            @if !keys.is_empty() && screen != current.name { " " a href=(format!("/{screen}#{}", crate::parts::id(&keys))) { "go there" } }
        }
    }
}

/// The policy: what changed last, its text, and how to use it elsewhere.
fn document(view: &View, screen: &Screen) -> Markup {
    let Some(text) = &view.text else {
        return html! { h2 { "The policy" } p.soft { "It is written when you choose a table." } };
    };
    let name = view.project.policy_name();
    let harmless = !text.chars().any(|c| acts(c) && !matches!(c, '\n' | '\r' | '\t'));
    html! {
        h2 { "The policy" }
        p.soft { "Everything you change is written to " code { (name) } " at once." }
        @if let Some(before) = &view.before {
            @let changes = diff::lines(before, text);
            @if !changes.is_empty() {
                h3 { "Last change" }
                p.soft { (view.steps.get(view.at).map(String::as_str).unwrap_or_default()) }
                div.diff.scroll id="diff" tabindex="0" role="group" aria-label="Last change" {
                    @for group in changes.iter().take(8) { div.group { @for line in group.iter().take(40) {
                        @let (class, sign, word) = match line.change {
                            Change::Added => ("added", "+", "added: "),
                            Change::Removed => ("removed", "−", "removed: "),
                            Change::Kept => ("kept", " ", ""),
                        };
                        div class=(class) { span.sign aria-hidden="true" { (sign) } span.hidden { (word) } (line.text) }
                    } } }
                }
            }
        }
        details id="text" data-keep open {
            summary { "The whole text" }
            @if harmless {
                label.hidden for="source" { "The policy as TOML" }
                @let broken: Vec<&Problem> = view.problems.list.iter().filter(|_| text.parse::<toml_edit::DocumentMut>().is_err()).collect();
                textarea id="source" spellcheck="false" data-text rows="18" aria-invalid=[(!broken.is_empty()).then_some("true")] aria-describedby="source-wrong" { (text) }
                div.wrong hidden[broken.is_empty()] id="source-wrong" { @for problem in broken { p { (problem.message) } } }
                button.small type="button" id="source-save" data-save-text { "Save the text" }
            } @else {
                pre.scroll tabindex="0" { (text) }
                p.soft { "It holds characters that act on a terminal, so it is not edited here." }
            }
        }
        details id="elsewhere" data-keep {
            summary { "Use it elsewhere" }
            @for way in elsewhere::ways(view, screen) {
                h3 { (way.words) }
                @for (id, text, door) in [("command", &way.command, "command line"), ("python", &way.python, "Python")] {
                    @let id = format!("{id}{}", way.id);
                    pre.scroll id=(id) tabindex="0" role="group" aria-label=(format!("{} as {door}", way.words)) { (text) }
                    button.small type="button" data-copy=(id) { "Copy as " (door) span.hidden { ": " (way.words) } }
                }
            }
        }
        details id="history" data-keep {
            summary { "History (" (count(view.steps.len() as u64, "step", "steps")) ")" }
            ol.steps { @for (i, what) in view.steps.iter().enumerate().rev().take(60) {
                li value=(i + 1) aria-current=[(i == view.at).then_some("step")] { (what) }
            } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_stand_on_the_screen_of_their_place() {
        let at = |keys: &[&str]| {
            screen_of(&Problem {
                keys: keys.iter().map(ToString::to_string).collect(),
                message: String::new(),
                help: None,
            })
        };
        assert_eq!(at(&["columns", "age", "hierarchy", "mask"]), "hierarchies");
        assert_eq!(at(&["columns", "age", "role"]), "columns");
        assert_eq!((at(&["require", "0", "k"]), at(&["output", "file"]), at(&[])), ("protection", "publish", "data"));
    }
}
