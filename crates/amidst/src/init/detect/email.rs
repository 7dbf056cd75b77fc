//! E-mail addresses, alone or within a text.

use super::{Detector, Means, some};

pub(super) const DETECTOR: Detector = Detector {
    id: "e-mail",
    finding: "values hold e-mail addresses",
    means: Means::OnePerson,
    found: |profile| some(profile, has_address),
};

/// Whether a word of the text is `someone@host.domain`.
fn has_address(value: &str) -> bool {
    value.split([' ', '<', '>', ';', ',', '(', ')', ':']).any(|word| {
        let Some((local, host)) = word.split_once('@') else { return false };
        let host_like = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-');
        !local.is_empty()
            && host.chars().all(host_like)
            && host.rsplit_once('.').is_some_and(|(name, end)| !name.is_empty() && end.len() >= 2)
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::id;

    #[test]
    fn addresses_are_found_alone_and_in_texts() {
        assert_eq!(id(["ann@example.org", "b.o-b@post.example.de", "c@d.pl"]), Some("e-mail"));
        assert_eq!(id(["call me", "write to <ann@example.org>", "never"]), Some("e-mail"));
        assert_eq!(id(["@ann", "5 @ 3.20", "x@y"]), None);
    }
}
