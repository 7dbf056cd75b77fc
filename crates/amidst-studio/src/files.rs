//! Files that the page hands out: those of releases in the project, and nothing else.

use std::sync::Arc;

use amidst::folder::{CERTIFICATE, INTERNAL, PUBLIC};
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use crate::answer::aside;
use crate::project::Project;
use crate::screens::hierarchies;
use crate::studio::Studio;

#[derive(Deserialize)]
pub struct Wanted {
    path: String,
}

/// Hands out a file of a release. Reports are shown, without scripts and without access to the studio; everything else
/// is saved by the browser.
pub async fn serve(State(studio): State<Arc<Studio>>, Query(wanted): Query<Wanted>) -> Response {
    let Some(path) = studio.project.inside(&wanted.path).filter(|_| of_release(&studio.project, &wanted.path)) else {
        return (StatusCode::NOT_FOUND, "there is no such file in a release of this project").into_response();
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let Ok(Ok(bytes)) = aside(move || std::fs::read(path)).await else {
        return (StatusCode::NOT_FOUND, "the file cannot be read").into_response();
    };
    let report = name == "report.html";
    let kind = if report { "text/html; charset=utf-8" } else { "application/octet-stream" };
    let mut response = ([(header::CONTENT_TYPE, kind)], Body::from(bytes)).into_response();
    let headers = response.headers_mut();
    if report {
        let policy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:";
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    } else if let Ok(value) =
        HeaderValue::from_str(&format!("attachment; filename=\"{}\"", name.replace(['"', '\\'], "_")))
    {
        headers.insert(header::CONTENT_DISPOSITION, value);
    }
    response
}

#[derive(Deserialize)]
pub struct Column {
    column: String,
}

/// Hands out the hierarchy of a column as a file.
pub async fn hierarchy(State(studio): State<Arc<Studio>>, Query(wanted): Query<Column>) -> Response {
    let column = wanted.column.clone();
    let made = aside(move || hierarchies::exported(&studio.view(), &column)).await;
    let Ok(Some(text)) = made else {
        return (StatusCode::NOT_FOUND, "the policy does not fit its table yet, so there is no hierarchy")
            .into_response();
    };
    let name: String = wanted.column.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let mut response = ([(header::CONTENT_TYPE, "text/csv; charset=utf-8")], Body::from(text)).into_response();
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}-hierarchy.csv\"")) {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, value);
    }
    response
}

/// Whether a path lies in the public or internal part of a release.
fn of_release(project: &Project, path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let Some(part) = parts.iter().position(|p| *p == PUBLIC || *p == INTERNAL) else {
        // A version of a series is public as a whole.
        return parts.len() > 1
            && project.inside(&parts[..parts.len() - 1].join("/")).is_some_and(|f| f.join(CERTIFICATE).is_file());
    };
    part > 0 && project.inside(&parts[..part].join("/")).is_some_and(|f| f.join(PUBLIC).join(CERTIFICATE).is_file())
}
