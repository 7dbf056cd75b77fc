//! How requests are answered: work that takes longer than a moment runs aside, and what is refused says why.

use amidst::Failure;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Json, Response};
use serde_json::{Value, json};

use crate::places::Problems;
use crate::project::Project;

/// Runs what takes longer than a moment beside the server's own threads.
pub async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Response> {
    tokio::task::spawn_blocking(work).await.map_err(|_| {
        let message = "a defect in Amidst; the document is as it was. Please report it";
        (StatusCode::INTERNAL_SERVER_ERROR, message).into_response()
    })
}

/// Does what a request asks for, aside, and answers what came of it.
pub async fn answered<F>(project: &Project, work: F) -> Response
where
    F: FnOnce() -> Result<Value, Failure> + Send + 'static,
{
    aside(work).await.map_or_else(|response| response, |done| answer(project, done))
}

/// What a request that changed something is answered.
pub fn answer(project: &Project, done: Result<Value, Failure>) -> Response {
    match done {
        Ok(json) => Json(json).into_response(),
        Err(failure) => {
            let problems = Problems::from(&failure).seen_from(&project.folder);
            let list: Vec<Value> =
                problems.list.iter().map(|p| json!({"keys": p.keys, "message": p.message, "help": p.help})).collect();
            (StatusCode::UNPROCESSABLE_ENTITY, Json(json!({"problems": list}))).into_response()
        }
    }
}
