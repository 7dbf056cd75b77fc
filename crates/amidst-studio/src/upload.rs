//! How a table comes into the project: dropped on the page, chosen by its path or address, or made up.

use std::io::Write;
use std::pin::Pin;
use std::sync::Arc;

use amidst::Failure;
use amidst::io::Format;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Query, State};
use axum::response::{Json, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use crate::answer::{answer, answered, aside};
use crate::edit::{Edit, Key, Kind};
use crate::studio::Studio;
use crate::work;

#[derive(Deserialize)]
pub struct Named {
    name: String,
}

/// Receives a file piece by piece and puts it into the project under a name of its own.
pub async fn receive(State(studio): State<Arc<Studio>>, Query(named): Query<Named>, body: Body) -> Response {
    let done = received(&studio, &named.name, body).await;
    answer(&studio.project, done)
}

async fn received(studio: &Arc<Studio>, name: &str, body: Body) -> Result<Value, Failure> {
    let path = studio.project.vacant(name);
    // A file that no reader knows need not be sent at all.
    Format::of_path(&path).map_err(|e| Failure::Usage(e.to_string()))?;
    let failed = |e: std::io::Error| Failure::Io(format!("cannot write {}: {e}", path.display()));
    let mut file = tempfile::Builder::new().prefix(".amidst-").tempfile_in(&studio.project.folder).map_err(failed)?;
    let mut body = body;
    while let Some(frame) = std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        let frame = frame.map_err(|e| Failure::Io(format!("the file did not arrive whole: {e}")))?;
        if let Ok(bytes) = frame.into_data() {
            file.write_all(&bytes).map_err(failed)?;
        }
    }
    let studio = Arc::clone(studio);
    let placed = aside(move || placed(&studio, file, &path)).await;
    placed.unwrap_or_else(|_| Err(Failure::Io("the file was not taken in".to_string())))
}

/// Takes a file in if it can be read.
fn placed(studio: &Arc<Studio>, file: NamedTempFile, path: &std::path::Path) -> Result<Value, Failure> {
    let failed = |e: std::io::Error| Failure::Io(format!("cannot write {}: {e}", path.display()));
    file.as_file().sync_all().map_err(failed)?;
    file.persist_noclobber(path).map_err(|e| failed(e.error))?;
    let source = path.to_string_lossy().into_owned();
    // What cannot be read is told at once, and leaves nothing behind.
    if let Err(failure) = work::open(studio, source) {
        let _ = std::fs::remove_file(path);
        return Err(failure);
    }
    Ok(json!({"version": studio.jobs.version()}))
}

#[derive(Deserialize)]
pub struct Chosen {
    input: String,
}

/// Takes a table where it is.
pub async fn choose(State(studio): State<Arc<Studio>>, Json(chosen): Json<Chosen>) -> Response {
    let project = studio.project.clone();
    let choose = move || {
        let typed = chosen.input.trim();
        if typed.is_empty() || typed == "-" {
            return Err(Failure::Usage("name a file, a folder, a pattern or the address of a table".to_string()));
        }
        let source = amidst::io::relative_to(&studio.project.folder, typed);
        work::open(&studio, source)?;
        Ok(json!({"version": studio.jobs.version()}))
    };
    answered(&project, choose).await
}

/// Makes patients up.
pub async fn sample(State(studio): State<Arc<Studio>>) -> Response {
    let project = studio.project.clone();
    let sample = move || {
        let path = studio.project.vacant("patients.csv");
        amidst::sample::save(1000, 1, &path)?;
        work::open(&studio, path.to_string_lossy().into_owned())?;
        Ok(json!({"version": studio.jobs.version()}))
    };
    answered(&project, sample).await
}

/// The largest file that a hierarchy is taken in from.
pub const LARGEST_HIERARCHY: usize = 64 << 20;

#[derive(Deserialize)]
pub struct Import {
    column: String,
    name: String,
}

/// Takes in a hierarchy that was written out, and makes a column use it.
pub async fn import(State(studio): State<Arc<Studio>>, Query(import): Query<Import>, bytes: Bytes) -> Response {
    let project = studio.project.clone();
    let import = move || {
        let path = studio.project.vacant(&import.name);
        let Ok(text) = std::str::from_utf8(&bytes) else {
            return Err(Failure::Usage(format!("{} is not a text in UTF-8", import.name)));
        };
        amidst::saved::save(&path, text, false)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let edit = Edit::Set {
            path: ["columns", import.column.as_str(), "hierarchy"].map(|key| Key::Name(key.to_string())).to_vec(),
            kind: Kind::Toml,
            value: format!("{{ file = {} }}", toml_edit::Value::from(name)),
        };
        // What the policy does not take leaves nothing behind.
        let made = work::edit(&studio, &edit).inspect_err(|_| drop(std::fs::remove_file(&path)));
        Ok(json!({"what": made?, "version": studio.jobs.version()}))
    };
    answered(&project, import).await
}
