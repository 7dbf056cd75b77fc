//! Addresses of web pages: profiles, search requests, pages that only one person saw.

use super::{Detector, Means, some};

pub(super) const DETECTOR: Detector = Detector {
    id: "url",
    finding: "values hold web addresses",
    means: Means::Person,
    found: |profile| some(profile, is_url),
};

fn is_url(value: &str) -> bool {
    let scheme = |(scheme, rest): (&str, &str)| {
        !scheme.is_empty() && scheme.chars().all(char::is_alphanumeric) && rest.contains(char::is_alphanumeric)
    };
    let whole = |word: &str| word.split_once("://").is_some_and(scheme) || word.starts_with("www.");
    // Requests in a log: a path with parameters.
    let request = value.starts_with('/') && value.contains('?') && value.contains('=');
    request || value.split_whitespace().any(whole)
}

#[cfg(test)]
mod tests {
    use super::super::tests::id;

    #[test]
    fn addresses_are_found() {
        assert_eq!(id(["https://example.org/u/ann", "http://example.org", "www.example.org"]), Some("url"));
        assert_eq!(id(["/search?q=me", "/home", "/home?user=3"]), Some("url"));
        assert_eq!(id(["/home", "/cart", "/", "/home"]), None);
    }
}
