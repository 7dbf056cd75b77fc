//! *Publish*: the release goes into a folder of the project, checked by the independent checker, with its certificate
//! and reports; what was published before, and series with their versions.

use std::sync::Arc;

use amidst::Failure;
use amidst::folder::{INTERNAL, PUBLIC, public_part};
use amidst::series::{Batch, MODES, Mode, Series, is_series};
use amidst::words::{count, grouped};
use maud::{Markup, html};
use serde_json::{Value, json};

use crate::jobs::Kind;
use crate::parts::{self, Field, Query};
use crate::project::Project;
use crate::studio::{Studio, View};
use crate::work::{self, SeriesAct};

/// Releases that are listed.
const LISTED: usize = 30;

pub fn draw(view: &View, _query: &Query) -> Markup {
    let head = parts::head(
        "Publish",
        "The release is made, checked by an independent checker and put in place as a whole, or not at all.",
    );
    if view.text.is_none() {
        return parts::no_policy(&head);
    }
    let (releases, series) = found(&view.project);
    html! {
        (head)
        (form(view))
        (parts::job(view, Kind::Publish))
        (done(view))
        (verdict(view))
        @if !releases.is_empty() { section aria-labelledby="releases" {
            h2 id="releases" { "Releases in this folder" }
            @for folder in releases.iter().take(LISTED) { (release(view, folder)) }
        } }
        (series_section(view, &series))
    }
}

/// Folders of the project that hold a release, and those that hold a series.
fn found(project: &Project) -> (Vec<String>, Vec<String>) {
    let entries = std::fs::read_dir(&project.folder).into_iter().flatten().flatten();
    let names = entries
        .filter(|e| e.file_type().is_ok_and(|t| t.is_dir()))
        .map(|e| e.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
    names.sort();
    let (series, rest): (Vec<String>, Vec<String>) =
        names.into_iter().partition(|name| is_series(&project.folder.join(name)));
    (rest.into_iter().filter(|name| public_part(&project.folder.join(name)).is_some()).collect(), series)
}

/// The series of the folder, each with its mode.
pub fn series_of(view: &View) -> Vec<(String, &'static str)> {
    let (_, series) = found(&view.project);
    let open = |name: &String| Series::open(&view.project.folder.join(name)).ok().map(|series| series.mode().name());
    series.into_iter().filter_map(|name| open(&name).map(|mode| (name, mode))).collect()
}

/// What `[output] ranges` may be, in words.
const RANGES: [(&str, &str); 4] = [
    ("label", "as the classes have them"),
    ("rounded", "rounded outward"),
    ("bounds", "two columns"),
    ("midpoint", "their middle"),
];

fn form(view: &View) -> Markup {
    let stated = |key: &str| parts::typed(view.raw.get("output").and_then(|o| o.get(key)));
    let (file, ranges) = (stated("file"), stated("ranges"));
    let ranges = if ranges.is_empty() { RANGES[0].0.to_string() } else { ranges };
    let kinds = RANGES.map(|(value, words)| (value.to_string(), words.to_string()));
    html! {
        form.card id="publish" {
            h2 { "A release" }
            div.fields {
                (Field { label: "File", keys: &["output", "file"], kind: "text", value: file, hint: Some("its ending decides the format: .csv, .parquet, .arrow, .jsonl"), placeholder: "release.csv" }.text(view))
                (Field { label: "Ranges of numbers", keys: &["output", "ranges"], kind: "text", value: ranges, hint: Some("a series needs them as the classes have them"), placeholder: "" }.choice(view, &kinds))
                div.field {
                    label for="out" { "Folder in this project" }
                    input id="out" name="out" type="text" value="release" autocomplete="off" spellcheck="false" aria-describedby="out-wrong" data-mine;
                    div.wrong hidden id="out-wrong" role="alert" {}
                }
            }
            p { input id="force" name="force" type="checkbox" data-mine; " " label for="force" { "Replace a release that is there already" } }
            button.primary type="submit" disabled[view.jobs.runs(Kind::Publish)] { "Publish" }
        }
    }
}

/// What was published last.
fn done(view: &View) -> Markup {
    let Some(published) = view.results.published.as_deref() else { return html! {} };
    if view.jobs.runs(Kind::Publish) {
        return html! {};
    }
    let (told, json) = (&published.made, &published.made.json);
    let empty = Vec::new();
    html! {
        section.card.good aria-labelledby="published" {
            h2 id="published" { "Published: " (told.folder) }
            (parts::stale(view, &published.basis))
            ul.said { @for line in json["summary"].as_array().unwrap_or(&empty) { li { (line.as_str().unwrap_or_default()) } } }
            p { (grouped(json["rows_out"].as_u64().unwrap_or(0))) " of " (grouped(json["rows_in"].as_u64().unwrap_or(0))) " rows in "
                (grouped(json["classes"].as_u64().unwrap_or(0))) " classes, found by " (json["algorithm"].as_str().unwrap_or_default()) "." }
            @for warning in &told.warnings { p.note { (parts::ticked(warning)) } }
        }
    }
}

fn verdict(view: &View) -> Markup {
    html! {
        (parts::job(view, Kind::Verify))
        @if let Some(verified) = view.results.verified.as_deref() {
            section class={ "card " (if verified.valid && view.verified_still { "good" } else { "bad" }) } id="verdict" {
                h2 { @if !view.verified_still { (verified.folder) " has changed since it was verified" }
                    @else if verified.valid { "Verified: " (verified.folder) " is what its certificate says" } @else { (verified.folder) " does NOT stand" } }
                @if !view.verified_still { p { "What follows was found before that. "
                    button.small type="button" data-post="/run/verify" data-body=(json!({"folder": verified.folder})) { "Verify it again" } } }
                @if !verified.claims.is_empty() { ul { @for claim in &verified.claims { li { (claim) } } }
                    p.soft { "Proven: recomputed from the published rows. Attested: whoever made the release says so; the published files do not contradict it, and cannot tell." } }
                @if !verified.problems.is_empty() { ul { @for problem in &verified.problems { li { (problem) } } } }
            }
        }
    }
}

fn release(view: &View, folder: &str) -> Markup {
    html! {
        article.card {
            div.card-head { h3 { (folder) }
                button.small type="button" data-post="/run/verify" data-body=(json!({"folder": folder})) { "Verify" span.hidden { " " (folder) } } }
            div.pair {
                div { h4 { "May be handed over" } (files(&view.project, &format!("{folder}/{PUBLIC}"))) }
                div { h4 { "Stays with you" } (files(&view.project, &format!("{folder}/{INTERNAL}"))) }
            }
        }
    }
}

/// The files of a folder, as links.
fn files(project: &Project, folder: &str) -> Markup {
    let path = project.inside(folder);
    let entries = path.into_iter().flat_map(std::fs::read_dir).flatten().flatten();
    let mut names: Vec<(String, u64)> = entries
        .filter_map(|e| {
            Some((e.file_name().to_string_lossy().into_owned(), e.metadata().ok().filter(|m| m.is_file())?.len()))
        })
        .collect();
    names.sort();
    html! {
        ul.files { @for (name, bytes) in &names {
            // A report is read beside the studio; everything else is saved.
            @let shown = name.ends_with(".html");
            li { a href=(format!("/file?path={}", parts::encoded(&format!("{folder}/{name}")))) target=[shown.then_some("_blank")] { (name) @if shown { span.hidden { " (opens beside the studio)" } } } " " span.soft { (size(*bytes)) } }
        } }
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} kB", bytes / 1_000),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

fn series_section(view: &View, series: &[String]) -> Markup {
    html! {
        section aria-labelledby="series" {
            h2 id="series" { "A table that changes" }
            p.soft { "A series publishes a table version by version, so that all versions together protect as one does. One of its columns has the role key." }
            (parts::job(view, Kind::Series))
            @if let Some(told) = view.results.series.as_deref() {
                div.card.good id="series-told" { p { strong { (told.folder) } ": " (told.sentence) }
                    @if let Some((safe, sentence)) = &told.audit { p { span class=(if *safe { "holds" } else { "fails" }) { (if *safe { "holds" } else { "fails" }) } " " (sentence) } } }
            }
            @for folder in series { (one_series(view, folder)) }
            form.card data-series="begin" {
                h3 { "Begin a series" }
                div.fields {
                    div.field { label for="series-folder" { "Folder in this project" }
                        input id="series-folder" name="folder" type="text" value="series" autocomplete="off" data-mine; }
                    div.field { label for="series-mode" { "Mode" }
                        select id="series-mode" name="mode" data-mine { option value="" { "chosen for this table" }
                            @for (name, _) in MODES { option value=(name) { (name) } } } }
                }
                div.wrong hidden data-wrong role="alert" {}
                button type="submit" { "Begin and publish version 1" }
            }
        }
    }
}

fn one_series(view: &View, folder: &str) -> Markup {
    let path = view.project.folder.join(folder);
    let log = match Series::open(&path).and_then(|series| Ok((series.mode(), series.log()?))) {
        Ok(log) => log,
        Err(failure) => return html! { article.card { h3 { (folder) } p.soft { (failure) } } },
    };
    let (mode, log) = log;
    let waiting = log.batches.last().map(|b| b.batch) > log.versions.last().map(|v| v.batch);
    let act = |act: &str| json!({"folder": folder, "act": act});
    html! {
        article.card {
            div.card-head { h3 { (folder) " " span.soft { (mode.name()) } }
                button.small type="button" data-post="/run/series" data-body=(act("audit")) { "Audit all versions" } }
            div.scroll tabindex="0" role="group" aria-label=(format!("Versions of {folder}")) { table {
                thead { tr { th.n scope="col" { "version" } th.n scope="col" { "rows" } th.n scope="col" { "classes" } th.n scope="col" { "counterfeits" } th.n scope="col" { "held back" } th scope="col" { "audit" } } }
                tbody { @for version in &log.versions { tr {
                    td.n { (version.version) } td.n { (grouped(version.rows)) } td.n { (grouped(version.classes)) } td.n { (grouped(version.counterfeits)) } td.n { (grouped(version.held_back)) }
                    td { @if version.leaks { span.fails { "published although it leaks" } } @else { span.holds { "holds" } } }
                } } }
            } }
            p.soft { (count(log.batches.len() as u64, "batch", "batches")) @if waiting { "; the last one is in no version yet" } }
            form.line data-series="apply" data-folder=(folder) {
                div.field { label for=(format!("insert-{folder}")) { "Rows that come" } input id=(format!("insert-{folder}")) name="insert" type="text" placeholder="march.csv" autocomplete="off" data-mine; }
                div.field { label for=(format!("delete-{folder}")) { "Rows that go" } input id=(format!("delete-{folder}")) name="delete" type="text" placeholder="left.csv" autocomplete="off" data-mine; }
                button type="submit" { "Apply" }
                div.wrong hidden data-wrong role="alert" {}
            }
            p.buttons {
                button.primary type="button" data-post="/run/series" data-body=(act("publish")) { "Publish the next version" }
                button type="button" data-post="/run/series" data-body=(act("safe")) { "Publish safely" }
                button type="button" disabled[!waiting] data-post="/run/series" data-body=(act("undo")) { "Take the last batch back" }
            }
        }
    }
}

/// A folder inside of the project that a request names.
fn folder(studio: &Studio, asked: &Value, key: &str) -> Result<(String, std::path::PathBuf), Failure> {
    let name = asked[key].as_str().unwrap_or_default().trim().trim_end_matches('/').to_string();
    match studio.project.inside(&name) {
        Some(path) => Ok((name, path)),
        None => {
            Err(Failure::Usage(format!("name a folder inside of {}, not `{name}`", studio.project.folder.display())))
        }
    }
}

/// Publishes a release.
pub fn publish(studio: &Arc<Studio>, asked: &Value) -> Result<(), Failure> {
    let (name, path) = folder(studio, asked, "out")?;
    let force = asked["force"] == true;
    if path.exists() && !force {
        return Err(Failure::Usage(format!("{name} exists already; choose another name, or replace it")));
    }
    studio.policy()?;
    work::publish(studio, name, path, force);
    Ok(())
}

/// Verifies a release.
pub fn verify(studio: &Arc<Studio>, asked: &Value) -> Result<(), Failure> {
    let (name, _) = folder(studio, asked, "folder")?;
    work::verified(studio, name);
    Ok(())
}

/// Works on a series.
pub fn series(studio: &Arc<Studio>, asked: &Value) -> Result<(), Failure> {
    let (name, path) = folder(studio, asked, "folder")?;
    let table = |key: &str| {
        let typed = asked[key].as_str().map(str::trim).filter(|t| !t.is_empty());
        typed.map(|typed| amidst::io::relative_to(&studio.project.folder, typed))
    };
    let act = match asked["act"].as_str() {
        Some("begin") => SeriesAct::Begin(asked["mode"].as_str().and_then(Mode::find)),
        Some("apply") => {
            let batch = Batch { insert: table("insert"), delete: table("delete") };
            if batch.insert.is_none() && batch.delete.is_none() {
                return Err(Failure::Usage("name a table of rows that come or go".to_string()));
            }
            SeriesAct::Apply(batch)
        }
        Some("publish") => SeriesAct::Publish { safe: false },
        Some("safe") => SeriesAct::Publish { safe: true },
        Some("undo") => SeriesAct::Undo,
        Some("audit") => SeriesAct::Audit,
        _ => return Err(Failure::Usage("a series knows no such act".to_string())),
    };
    work::series(studio, name, path, act);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_hold_no_character_with_a_meaning() {
        assert_eq!(parts::encoded("a b/ü&#?.csv"), "a%20b/%C3%BC%26%23%3F.csv");
        assert_eq!((size(999), size(1_500), size(2_500_000)), ("999 bytes".into(), "1 kB".into(), "2.5 MB".into()));
    }
}
