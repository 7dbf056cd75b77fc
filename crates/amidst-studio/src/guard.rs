//! Who may speak to the server: requests with the token, for this server's own name, from this server's own pages.
//!
//! A page of another site can make a browser send requests here (CSRF), and a name under somebody else's control can be
//! made to point here (DNS rebinding). Both are recognised by what browsers say of a request: `Host`, `Origin` and
//! `Sec-Fetch-Site`. What a request must bring beside that is the token, which only the printed address holds; the
//! first page exchanges it for a cookie that scripts cannot read and other sites cannot send.

use std::sync::{Mutex, PoisonError};

use axum::http::{HeaderMap, Method, header};

/// The lock of one server.
#[derive(Debug)]
pub struct Guard {
    token: String,
    /// A token that opens once: others on this machine may see it among the arguments of the browser.
    once: Mutex<Option<String>>,
    cookie: String,
    hosts: Vec<String>,
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
            Refusal::Token => "The studio is locked. Open the address that `amidst studio` printed; it holds the key.",
        }
    }
}

impl Guard {
    /// A lock with a token; `names` are the hosts that the server is reached under, without the port.
    pub fn new(token: String, names: &[&str], port: u16) -> Self {
        let mut hosts: Vec<String> = names.iter().map(|name| format!("{name}:{port}").to_ascii_lowercase()).collect();
        if port == 80 {
            hosts.extend(names.iter().map(|name| name.to_ascii_lowercase()));
        }
        // Browsers send cookies to all ports of a host: two studios must not overwrite each other's.
        Guard { token, once: Mutex::default(), cookie: format!("amidst-studio-{port}"), hosts }
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

    /// The token.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// What sets the cookie.
    pub fn cookie(&self) -> String {
        format!("{}={}; Path=/; HttpOnly; SameSite=Strict", self.cookie, self.token)
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
        if !host.is_some_and(|host| self.hosts.contains(&host)) {
            return Err(Refusal::Host);
        }
        let reads = matches!(*method, Method::GET | Method::HEAD);
        match headers.get(header::ORIGIN) {
            Some(origin) => {
                let own =
                    origin.to_str().ok().and_then(|o| o.to_ascii_lowercase().strip_prefix("http://").map(String::from));
                if !own.is_some_and(|own| self.hosts.contains(&own)) {
                    return Err(Refusal::Origin);
                }
            }
            None if reads => {}
            None => return Err(Refusal::Origin),
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
        match pairs.any(|(name, value)| name == self.cookie && self.knows(value)) {
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

/// A token of 32 letters and digits that nobody can guess.
///
/// # Errors
/// When the operating system has no randomness.
pub fn token() -> std::io::Result<String> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).map_err(|e| std::io::Error::other(format!("no randomness: {e}")))?;
    Ok(bytes.iter().map(|b| format!("{b:02x}")).collect())
}

/// What every answer says: nothing but the server's own scripts and styles runs, nothing is kept by caches, nobody
/// frames it.
pub const HEADERS: &[(&str, &str)] = &[
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
         frame-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    ),
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
        Guard::new("a".repeat(32), &["127.0.0.1", "localhost"], 4000)
    }

    #[test]
    fn only_the_servers_own_pages_are_answered() {
        let (guard, token) = (guard(), "a".repeat(32));
        let cookie = format!("x=1; amidst-studio-4000={token}");
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
        for cookie in ["", "amidst-studio-4000=", "amidst-studio-4000=aaaa", "other=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"] {
            let found = guard.admitted(&Method::GET, &headers(&[("host", "localhost:4000"), ("cookie", cookie)]));
            assert_eq!(found, Err(Refusal::Token), "{cookie}");
        }
        guard.admit_once("b".repeat(32));
        let twice = ["b", "b", "a", "a"].map(|letter| guard.opens(&letter.repeat(32)));
        assert_eq!(twice, [true, false, true, true], "the browser's token opens once, the printed one always");
        assert!(token().unwrap() != token().unwrap() && token().unwrap().len() == 32);
    }
}
