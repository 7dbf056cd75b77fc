//! Who may speak to the server: requests with the token, for this server's own name, from this server's own pages.
//!
//! A page of another site can make a browser send requests here (CSRF), and a name under somebody else's control can be
//! made to point here (DNS rebinding). Both are recognised by what browsers say of a request: `Host`, `Origin` and
//! `Sec-Fetch-Site`. What a request must bring beside that is the token (from the printed address, or the password);
//! the first page exchanges it for a cookie that scripts cannot read and other sites cannot send. The cookie holds a
//! secret of its own: it does not reveal a password. Passwords can be guessed at one place only, slowly.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, Method, header};

/// How long a token that does not open makes the next one wait.
const PAUSE: Duration = Duration::from_secs(1);

/// The lock of one server.
#[derive(Debug)]
pub struct Guard {
    token: String,
    /// A token that opens once: others on this machine may see it among the arguments of the browser.
    once: Mutex<Option<String>>,
    /// When a token was tried last that does not open.
    wrong: tokio::sync::Mutex<Option<Instant>>,
    /// The name of the cookie, and what it holds.
    cookie: String,
    secret: String,
    hosts: Vec<String>,
    /// Where the server listens on all addresses of the machine, its port: then it is reached under any of them. A page
    /// of somebody else's cannot have a number as its name.
    any_address: Option<u16>,
    /// Names that another server answers under and passes on, maybe encrypted and at another port.
    passed_on: Vec<String>,
}

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// It is for another name than this server's.
    Host,
    /// It comes from a page of another site, or does not say where it comes from although it would change something.
    Origin,
    /// It lacks the token.
    Token,
}

impl Refusal {
    /// What the visitor is told.
    pub fn message(self) -> &'static str {
        match self {
            Refusal::Host => {
                "This address does not belong to the studio. Use the address that `amidst studio` printed."
            }
            Refusal::Origin => "The request came from a page that is not the studio's, so it was refused.",
            Refusal::Token => {
                "Open the address that `amidst studio` printed, which holds the key; or give the key or the password here."
            }
        }
    }
}

impl Guard {
    /// A lock with a token and the secret that is given for it; `names` are the hosts that the server is reached under,
    /// without the port.
    pub fn new(token: String, secret: String, names: &[&str], port: u16) -> Self {
        let mut hosts: Vec<String> = names.iter().map(|name| format!("{name}:{port}").to_ascii_lowercase()).collect();
        if port == 80 {
            hosts.extend(names.iter().map(|name| name.to_ascii_lowercase()));
        }
        // Browsers send cookies to all ports of a host: two studios must not overwrite each other's.
        Guard {
            token,
            once: Mutex::default(),
            wrong: tokio::sync::Mutex::default(),
            cookie: format!("amidst-studio-{port}"),
            secret,
            hosts,
            any_address: None,
            passed_on: Vec::new(),
        }
    }

    /// Lets requests pass that came to another server, under names of its own.
    pub fn passed_on(self, names: &[String]) -> Self {
        Guard { passed_on: names.iter().map(|name| name.to_ascii_lowercase()).collect(), ..self }
    }

    /// Lets requests pass that name the server by any address of a machine.
    pub fn by_any_address(self, port: u16) -> Self {
        Guard { any_address: Some(port), ..self }
    }

    /// Whether a host, with its port where it has one, is this server.
    fn is_own(&self, host: &str) -> bool {
        let by_number = |port| match host.parse::<SocketAddr>() {
            Ok(address) => address.port() == port,
            Err(_) => port == 80 && host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_ok(),
        };
        self.hosts.iter().any(|own| own == host) || self.is_passed_on(host) || self.any_address.is_some_and(by_number)
    }

    fn is_passed_on(&self, host: &str) -> bool {
        let without_port = host.rsplit_once(':').map_or(host, |(name, _)| name);
        self.passed_on.iter().any(|name| name == host || name == without_port)
    }

    /// Whether a page of that origin is a page of the host that the request is for.
    fn is_page_of(&self, host: &str, origin: &str) -> bool {
        let origin = origin.to_ascii_lowercase();
        origin.strip_prefix("http://") == Some(host)
            || (self.is_passed_on(host) && origin.strip_prefix("https://") == Some(host))
    }

    /// As [`Guard::opens`], against guessing: one wrong token a second is answered.
    pub async fn tried(&self, token: &str) -> bool {
        let mut wrong = self.wrong.lock().await;
        if let Some(rest) = wrong.and_then(|at| PAUSE.checked_sub(at.elapsed())) {
            tokio::time::sleep(rest).await;
        }
        let opens = self.opens(token);
        *wrong = (!opens).then(Instant::now);
        opens
    }

    /// Lets in the first caller with another token.
    pub fn admit_once(&self, token: String) {
        *self.once.lock().unwrap_or_else(PoisonError::into_inner) = Some(token);
    }

    /// Whether a token opens the studio. One that opens once does so no more.
    pub fn opens(&self, token: &str) -> bool {
        let mut once = self.once.lock().unwrap_or_else(PoisonError::into_inner);
        if once.as_deref().is_some_and(|known| same(known, token)) {
            *once = None;
            return true;
        }
        self.knows(token)
    }

    /// What sets the cookie.
    pub fn cookie(&self) -> String {
        format!("{}={}; Path=/; HttpOnly; SameSite=Strict", self.cookie, self.secret)
    }

    /// Whether a token is this server's.
    pub fn knows(&self, token: &str) -> bool {
        same(token, &self.token)
    }

    /// Lets a request pass, whether or not it has the token.
    ///
    /// # Errors
    /// When it is for another host, or from another site.
    pub fn addressed(&self, method: &Method, headers: &HeaderMap) -> Result<(), Refusal> {
        let text = |name: header::HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
        let host = text(header::HOST).map(str::to_ascii_lowercase);
        let host = host.filter(|host| self.is_own(host)).ok_or(Refusal::Host)?;
        let reads = matches!(*method, Method::GET | Method::HEAD);
        let from_here = match headers.get(header::ORIGIN) {
            Some(origin) => origin.to_str().is_ok_and(|origin| self.is_page_of(&host, origin)),
            None => reads,
        };
        if !from_here {
            return Err(Refusal::Origin);
        }
        match headers.get("sec-fetch-site").map(|site| site.as_bytes()) {
            None | Some(b"same-origin" | b"none") => Ok(()),
            // A link to the studio from elsewhere may be followed; it still needs the token.
            Some(_) if reads && headers.get("sec-fetch-mode").is_some_and(|mode| mode == "navigate") => Ok(()),
            Some(_) => Err(Refusal::Origin),
        }
    }

    /// Lets a request pass that also has the token.
    ///
    /// # Errors
    /// As [`Guard::addressed`], or when the token is missing.
    pub fn admitted(&self, method: &Method, headers: &HeaderMap) -> Result<(), Refusal> {
        self.addressed(method, headers)?;
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs = cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        match pairs.any(|(name, value)| name == self.cookie && same(value, &self.secret)) {
            true => Ok(()),
            false => Err(Refusal::Token),
        }
    }
}

/// Whether two tokens are the same. Takes the same time wherever the first difference is.
fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    a.len() == b.len() && a.iter().zip(b).fold(0, |sum, (x, y)| sum | (x ^ y)) == 0
}

/// A token of 32 letters and digits that cannot be guessed.
///
/// # Errors
/// When the operating system has no randomness.
pub fn token() -> std::io::Result<String> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).map_err(|e| std::io::Error::other(format!("no randomness: {e}")))?;
    Ok(bytes.iter().map(|b| format!("{b:02x}")).collect())
}

/// What a page may do: run nothing but the server's own scripts and styles.
const PAGES: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                     frame-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

/// What the page before the lock may do: send its form.
pub const LOCKED: &str =
    "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// What every answer says: nothing but the server's own scripts and styles runs, nothing is kept by caches, nobody
/// frames it.
pub const HEADERS: &[(&str, &str)] = &[
    ("content-security-policy", PAGES),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "SAMEORIGIN"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cache-control", "no-store"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    fn guard() -> Guard {
        Guard::new("a".repeat(32), "c".repeat(32), &["127.0.0.1", "localhost"], 4000)
    }

    #[test]
    fn only_the_servers_own_pages_are_answered() {
        let (guard, secret) = (guard(), "c".repeat(32));
        let cookie = format!("x=1; amidst-studio-4000={secret}");
        let own = [("host", "127.0.0.1:4000"), ("cookie", cookie.as_str())];
        let with = |more: &[(&'static str, &str)]| headers(&[&own[..], more].concat());
        assert_eq!(guard.admitted(&Method::GET, &with(&[])), Ok(()));
        assert_eq!(guard.admitted(&Method::POST, &with(&[])), Err(Refusal::Origin), "who changes says whence");
        assert_eq!(guard.admitted(&Method::POST, &with(&[("origin", "http://127.0.0.1:4000")])), Ok(()));
        for foreign in
            ["http://evil.example", "null", "https://127.0.0.1:4000", "http://127.0.0.1:4001", "http://127.0.0.1"]
        {
            for method in [Method::GET, Method::POST] {
                assert_eq!(guard.admitted(&method, &with(&[("origin", foreign)])), Err(Refusal::Origin), "{foreign}");
            }
        }
        let cross = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors")];
        assert_eq!(guard.admitted(&Method::GET, &with(&cross)), Err(Refusal::Origin));
        let link = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")];
        assert_eq!(guard.admitted(&Method::GET, &with(&link)), Ok(()));
    }

    #[test]
    fn other_names_and_other_tokens_are_refused() {
        let guard = guard();
        let host = |host: &str| guard.addressed(&Method::GET, &headers(&[("host", host)]));
        assert_eq!(host("LOCALHOST:4000"), Ok(()));
        for foreign in ["evil.example:4000", "127.0.0.1", "127.0.0.1:4001", "localhost.evil.example:4000", ""] {
            assert_eq!(host(foreign), Err(Refusal::Host), "{foreign}");
        }
        assert_eq!(guard.addressed(&Method::GET, &HeaderMap::new()), Err(Refusal::Host));
        let password = format!("amidst-studio-4000={}", "a".repeat(32));
        for cookie in
            ["", "amidst-studio-4000=", "amidst-studio-4000=cccc", "other=cccccccccccccccccccccccccccccccc", &password]
        {
            let found = guard.admitted(&Method::GET, &headers(&[("host", "localhost:4000"), ("cookie", cookie)]));
            assert_eq!(found, Err(Refusal::Token), "{cookie}");
        }
        guard.admit_once("b".repeat(32));
        let twice = ["b", "b", "a", "a"].map(|letter| guard.opens(&letter.repeat(32)));
        assert_eq!(twice, [true, false, true, true], "the browser's token opens once, the printed one always");
        assert!(token().unwrap() != token().unwrap() && token().unwrap().len() == 32);
    }
    #[test]
    fn a_server_on_all_addresses_is_reached_by_number_and_by_its_names_alone() {
        let guard = guard().by_any_address(4000);
        let host = |host: &str| guard.addressed(&Method::GET, &headers(&[("host", host)]));
        for own in ["192.168.1.7:4000", "[fe80::1]:4000", "localhost:4000"] {
            assert_eq!(host(own), Ok(()), "{own}");
        }
        for foreign in
            ["evil.example:4000", "192.168.1.7:4001", "192.168.1.7", "192.168.1.7.evil.example:4000", "0x7f.1:4000"]
        {
            assert_eq!(host(foreign), Err(Refusal::Host), "{foreign}");
        }
        let from = |origin: &str| {
            guard.addressed(&Method::POST, &headers(&[("host", "192.168.1.7:4000"), ("origin", origin)]))
        };
        assert_eq!(from("http://192.168.1.7:4000"), Ok(()));
        for foreign in ["http://evil.example:4000", "http://192.168.1.8:4000", "http://localhost:4000"] {
            assert_eq!(from(foreign), Err(Refusal::Origin), "{foreign}");
        }
    }

    #[test]
    fn a_server_in_front_is_known_by_its_name_also_encrypted() {
        let guard = guard().passed_on(&["Studio.example".to_string()]);
        let from =
            |host: &str, origin: &str| guard.addressed(&Method::POST, &headers(&[("host", host), ("origin", origin)]));
        for host in ["studio.example", "studio.example:8443"] {
            assert_eq!(from(host, &format!("https://{host}")), Ok(()));
            assert_eq!(from(host, &format!("http://{host}")), Ok(()));
        }
        assert_eq!(from("studio.example", "https://evil.example"), Err(Refusal::Origin));
        assert_eq!(from("studio.example.evil.example", "https://studio.example.evil.example"), Err(Refusal::Host));
    }
}
