//! The server: addresses, answers, and who listens where.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use amidst::Failure;
use amidst::check::printable_lines;
use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, Path, Query, Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::{get, post};
use axum::serve::ListenerExt;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::{answered, aside};
use crate::edit::Edit;
use crate::guard::{self, Guard};
use crate::jobs::Kind;
use crate::project::Project;
use crate::results::Reading;
use crate::studio::Studio;
use crate::{files, page, parts, screens, upload, work};

/// Where the studio listens.
#[derive(Debug, Clone)]
pub struct Options {
    /// The address; only this machine when it is the loopback address.
    pub host: IpAddr,
    /// The port; a free one when 0.
    pub port: u16,
    /// What opens it beside or instead of a random token; it is printed nowhere.
    pub password: Option<String>,
    /// Names of a server in front of it that passes requests on.
    pub names: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Options { host: IpAddr::from([127, 0, 0, 1]), port: 0, password: None, names: Vec::new() }
    }
}

/// A studio that is being served.
#[derive(Debug)]
pub struct Running {
    /// The address that opens it: with the token, or without the password, which is asked for then.
    pub address: String,
    /// An address that opens it once, for the arguments of a browser, which others on this machine may see.
    pub once: String,
    studio: Arc<Studio>,
    router: Router,
    runtime: tokio::runtime::Runtime,
}

/// Starts the studio of a project.
///
/// # Errors
/// When the policy cannot be opened, or nothing can listen there.
pub fn start(project: Project, options: &Options) -> Result<Running, Failure> {
    let failed = |e: std::io::Error| Failure::Io(format!("cannot listen on {}:{}: {e}", options.host, options.port));
    let listener = std::net::TcpListener::bind(SocketAddr::new(options.host, options.port)).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    let port = listener.local_addr().map_err(failed)?.port();
    let token = match &options.password {
        Some(password) => password.clone(),
        None => guard::token().map_err(failed)?,
    };
    let host = match options.host {
        IpAddr::V4(v4) if v4.is_unspecified() => "127.0.0.1".to_string(),
        IpAddr::V6(v6) if v6.is_unspecified() => "[::1]".to_string(),
        IpAddr::V4(v4) => v4.to_string(),
        IpAddr::V6(v6) => format!("[{v6}]"),
    };
    let mut names = vec![host.as_str()];
    if options.host.is_loopback() || options.host.is_unspecified() {
        names.push("localhost");
    }
    let [once, secret] = [guard::token().map_err(failed)?, guard::token().map_err(failed)?];
    let mut guard = Guard::new(token.clone(), secret, &names, port).passed_on(&options.names);
    if options.host.is_unspecified() {
        guard = guard.by_any_address(port);
    }
    let studio = Arc::new(Studio::open(project, guard)?);
    studio.guard.admit_once(once.clone());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(failed)?;
    let router = router(Arc::clone(&studio));
    let served = router.clone();
    runtime.spawn(async move {
        if let Ok(listener) = tokio::net::TcpListener::from_std(listener) {
            // The end of an answer is not to wait for the receipt of its beginning.
            let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
            let _ = axum::serve(listener, served).await;
        }
    });
    match &studio.project.data {
        Some(data) => {
            let source = amidst::io::relative_to(&studio.project.folder, data);
            work::look(&studio, Reading::of_source(source, &studio.files));
        }
        None => work::follow_document(&studio),
    }
    let opening = |token: &str| format!("http://{host}:{port}/open?token={token}");
    let address = match options.password {
        Some(_) => format!("http://{host}:{port}/"),
        None => opening(&token),
    };
    Ok(Running { address, once: opening(&once), studio, router, runtime })
}

impl Running {
    /// What answers requests, for connections that do not come from the listener.
    pub fn service(&self) -> Router {
        self.router.clone()
    }

    /// Waits until `stop` says so, then ends all jobs and the server.
    pub fn until(self, stop: impl Fn() -> bool) {
        while !stop() {
            std::thread::sleep(Duration::from_millis(100));
        }
        self.studio.jobs.stop_all();
        self.studio.jobs.wait();
        self.runtime.shutdown_timeout(Duration::from_secs(1));
    }
}

type SharedStudio = State<Arc<Studio>>;

fn router(studio: Arc<Studio>) -> Router {
    Router::new()
        .route("/", get(|| async { to("/data") }))
        .route("/state", get(state))
        .route("/edit", post(edit))
        .route("/undo", post(|studio: SharedStudio| travel(studio, true)))
        .route("/redo", post(|studio: SharedStudio| travel(studio, false)))
        .route("/draft", post(draft))
        .route("/choose", post(upload::choose))
        .route("/sample", post(upload::sample))
        .route("/upload", post(upload::receive))
        .route("/run/{kind}", post(run))
        .route("/stop/{kind}", post(stop))
        .route("/import", post(upload::import).layer(DefaultBodyLimit::max(upload::LARGEST_HIERARCHY)))
        .route("/hierarchy", get(files::hierarchy))
        .route("/why", get(why))
        .route("/file", get(files::serve))
        .route("/{screen}", get(screen))
        .layer(middleware::from_fn_with_state(Arc::clone(&studio), admitted))
        // What anybody may see: no more than the program itself.
        .route("/assets/{edition}/{name}", get(asset))
        .route("/open", get(open).post(open_by_form))
        .layer(middleware::from_fn_with_state(Arc::clone(&studio), addressed))
        .with_state(studio)
}

/// Refuses requests that are for another host or from another site, and gives every answer its headers.
async fn addressed(State(studio): SharedStudio, request: Request, next: Next) -> Response {
    let mut response = match studio.guard.addressed(request.method(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => (StatusCode::FORBIDDEN, refusal.message()).into_response(),
    };
    for &(name, value) in guard::HEADERS {
        response.headers_mut().entry(HeaderName::from_static(name)).or_insert(HeaderValue::from_static(value));
    }
    response
}

/// Refuses requests without the token.
async fn admitted(State(studio): SharedStudio, request: Request, next: Next) -> Response {
    match studio.guard.admitted(request.method(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(_) => locked(false),
    }
}

/// The page before the lock.
fn locked(wrong: bool) -> Response {
    let mut response =
        (StatusCode::FORBIDDEN, html(page::locked(guard::Refusal::Token.message(), wrong))).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(guard::LOCKED));
    // A form whose page is not to be told of has no origin either, and would be refused.
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    response
}

#[derive(Deserialize)]
struct Opening {
    #[serde(default)]
    token: String,
}

/// Exchanges the token of an address for a cookie.
async fn open(State(studio): SharedStudio, Query(opening): Query<Opening>) -> Response {
    opened(&studio, &opening.token).await
}

/// Exchanges what was typed into the form for a cookie.
async fn open_by_form(State(studio): SharedStudio, form: String) -> Response {
    let typed = Uri::try_from(format!("/?{}", form.trim())).ok();
    let opening = typed.and_then(|uri| Query::<Opening>::try_from_uri(&uri).ok());
    opened(&studio, opening.as_ref().map_or("", |opening| opening.token.trim())).await
}

async fn opened(studio: &Studio, token: &str) -> Response {
    if !studio.guard.tried(token).await {
        return locked(true);
    }
    let mut response = to("/data");
    if let Ok(cookie) = HeaderValue::from_str(&studio.guard.cookie()) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

fn to(address: &'static str) -> Response {
    (StatusCode::SEE_OTHER, [(header::LOCATION, address)]).into_response()
}

fn html(page: maud::Markup) -> Response {
    // Labels and names come from the data: nothing in them may act on the reader of the page.
    let text = printable_lines(&page.into_string()).into_owned();
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], Body::from(text)).into_response()
}

/// A script or style; browsers keep those of this edition for as long as they like.
async fn asset(Path((edition, name)): Path<(String, String)>) -> Response {
    let Some((kind, text)) = screens::asset(&name) else { return StatusCode::NOT_FOUND.into_response() };
    let mut response = ([(header::CONTENT_TYPE, kind)], text).into_response();
    if edition == screens::edition() {
        let kept = HeaderValue::from_static("private, max-age=31536000, immutable");
        response.headers_mut().insert(header::CACHE_CONTROL, kept);
    }
    response
}

async fn screen(State(studio): SharedStudio, Path(name): Path<String>, Query(query): Query<parts::Query>) -> Response {
    let Some(screen) = screens::find(&name) else {
        let page = page::message("There is no such page", "The screens of the studio are in the bar above every page.");
        return (StatusCode::NOT_FOUND, html(page)).into_response();
    };
    let drawn = aside(move || work::follow(&studio).map(|()| page::page(&studio.view(), screen, &query))).await;
    match drawn {
        Ok(Ok(page)) => html(page),
        Ok(Err(failure)) => html(page::message("The policy cannot be opened", &failure.to_string())),
        Err(response) => response,
    }
}

/// Why a node of the lattice can be published, or why not.
async fn why(State(studio): SharedStudio, Query(query): Query<parts::Query>) -> Response {
    match aside(move || screens::explore::why(&studio.view(), &query)).await {
        Ok(Some(told)) => html(told),
        Ok(None) => (StatusCode::NOT_FOUND, "there is no such node").into_response(),
        Err(response) => response,
    }
}

async fn state(State(studio): SharedStudio) -> Response {
    let told = aside(move || {
        let followed = work::follow(&studio);
        json!({"version": studio.jobs.version(), "jobs": studio.jobs.to_json(),
               "problem": followed.err().map(|failure| failure.to_string())})
    });
    told.await.map_or_else(|response| response, |json| Json(json).into_response())
}

async fn edit(State(studio): SharedStudio, Json(edit): Json<Edit>) -> Response {
    told(studio, move |studio| work::edit(studio, &edit).map(Some)).await
}

async fn travel(State(studio): SharedStudio, back: bool) -> Response {
    told(studio, move |studio| work::travel(studio, back)).await
}

async fn draft(State(studio): SharedStudio) -> Response {
    told(studio, |studio| work::draft(studio).map(Some)).await
}

async fn run(State(studio): SharedStudio, Path(kind): Path<String>, Json(asked): Json<Value>) -> Response {
    let run = move |studio: &Arc<Studio>| {
        let Some(kind) = Kind::find(&kind) else { return Err(Failure::Usage(format!("there is no job `{kind}`"))) };
        screens::run(studio, kind, &asked).map(|()| None)
    };
    told(studio, run).await
}

/// Answers with what was done, where that has words, and with the version of the state afterwards.
async fn told<F>(studio: Arc<Studio>, work: F) -> Response
where
    F: FnOnce(&Arc<Studio>) -> Result<Option<String>, Failure> + Send + 'static,
{
    let project = studio.project.clone();
    answered(&project, move || work(&studio).map(|what| json!({"what": what, "version": studio.jobs.version()}))).await
}

async fn stop(State(studio): SharedStudio, Path(kind): Path<String>) -> Response {
    if let Some(kind) = Kind::find(&kind) {
        studio.jobs.stop(kind);
    }
    Json(json!({"version": studio.jobs.version()})).into_response()
}
