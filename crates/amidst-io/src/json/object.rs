//! Parses the members of one JSON object without building it.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

use crate::columnar::canonical_number;
use crate::encode::BadCell;
use crate::merge::FaultKind;

/// A key and the text of its value; `None` for null.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Member<'a> {
    pub key: Cow<'a, str>,
    pub value: Option<Cow<'a, [u8]>>,
}

/// What is wrong, and under which key.
type Wrong<'a> = (FaultKind, Option<Cow<'a, str>>);

/// Iterates over the members of an object.
pub(crate) struct Members<'a> {
    line: &'a [u8],
    at: usize,
    state: State,
}

enum State {
    Start,
    Between,
    Over,
}

fn json<T>(reason: &'static str) -> Result<T, FaultKind> {
    Err(FaultKind::Json(reason))
}

impl<'a> Members<'a> {
    pub fn new(line: &'a [u8]) -> Self {
        Members { line, at: 0, state: State::Start }
    }

    fn skip_space(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\r') = self.line.get(self.at) {
            self.at += 1;
        }
        self.line.get(self.at).copied()
    }

    fn next_member(&mut self) -> Result<Option<Member<'a>>, Wrong<'a>> {
        let bare = |kind| (kind, None);
        let next = self.skip_space();
        match (&self.state, next) {
            (State::Over, _) => return Ok(None),
            (State::Start, Some(b'{')) => {
                self.at += 1;
                if self.skip_space() == Some(b'}') {
                    return self.end().map_err(bare).map(|()| None);
                }
            }
            (State::Start, _) => return json("the line does not start with {").map_err(bare),
            (State::Between, Some(b',')) => self.at += 1,
            (State::Between, Some(b'}')) => return self.end().map_err(bare).map(|()| None),
            (State::Between, None) => return json("the line ends inside the object").map_err(bare),
            (State::Between, Some(_)) => return json("a comma or } is missing").map_err(bare),
        }
        self.state = State::Between;
        if self.skip_space() != Some(b'"') {
            return json("a key in quotes is missing").map_err(bare);
        }
        let key = match self.string().map_err(bare)? {
            Cow::Borrowed(bytes) => std::str::from_utf8(bytes).map(Cow::Borrowed).ok(),
            Cow::Owned(bytes) => String::from_utf8(bytes).map(Cow::Owned).ok(),
        };
        let key = key.ok_or((FaultKind::Cell(BadCell::NotUtf8), None))?;
        if self.skip_space() != Some(b':') {
            return Err((FaultKind::Json("a colon is missing"), Some(key)));
        }
        self.at += 1;
        match self.value() {
            Ok(value) => Ok(Some(Member { key, value })),
            Err(kind) => Err((kind, Some(key))),
        }
    }

    /// Consumes the closing brace, after which nothing may follow.
    fn end(&mut self) -> Result<(), FaultKind> {
        self.at += 1;
        self.state = State::Over;
        if self.skip_space().is_some() { json("something follows the object") } else { Ok(()) }
    }

    fn value(&mut self) -> Result<Option<Cow<'a, [u8]>>, FaultKind> {
        match self.skip_space() {
            Some(b'"') => self.string().map(Some),
            Some(b'{' | b'[') => Err(FaultKind::Nested),
            Some(_) => self.literal(),
            None => json("the line ends inside the object"),
        }
    }

    fn literal(&mut self) -> Result<Option<Cow<'a, [u8]>>, FaultKind> {
        let rest = &self.line[self.at..];
        let end = rest.iter().position(|b| matches!(b, b',' | b'}' | b' ' | b'\t' | b'\r')).unwrap_or(rest.len());
        let word = &rest[..end];
        self.at += end;
        match word {
            b"true" | b"false" => Ok(Some(Cow::Borrowed(word))),
            b"null" => Ok(None),
            _ => match std::str::from_utf8(word).ok().and_then(canonical_number) {
                Some(number) if number.as_bytes() == word => Ok(Some(Cow::Borrowed(word))),
                Some(number) => Ok(Some(Cow::Owned(number.into_bytes()))),
                None => json("a value is neither text nor a number nor true, false or null"),
            },
        }
    }

    /// Parses the string whose opening quote is at the current position.
    fn string(&mut self) -> Result<Cow<'a, [u8]>, FaultKind> {
        let start = self.at + 1;
        let rest = self.line.get(start..).unwrap_or_default();
        match memchr2(b'"', b'\\', rest) {
            Some(i) if rest[i] == b'"' => {
                self.at = start + i + 1;
                Ok(Cow::Borrowed(&rest[..i]))
            }
            Some(first) => {
                let mut at = first;
                while let Some(i) = memchr2(b'"', b'\\', rest.get(at..).unwrap_or_default()) {
                    if rest[at + i] == b'"' {
                        let whole = &self.line[self.at..=start + at + i];
                        self.at = start + at + i + 1;
                        return unescaped(whole);
                    }
                    at += i + 2;
                }
                json("a text is not closed")
            }
            None => json("a text is not closed"),
        }
    }
}

fn unescaped<'a>(quoted: &[u8]) -> Result<Cow<'a, [u8]>, FaultKind> {
    if std::str::from_utf8(quoted).is_err() {
        return Err(FaultKind::Cell(BadCell::NotUtf8));
    }
    if memchr(0, quoted).is_some() {
        return Err(FaultKind::Cell(BadCell::Nul));
    }
    match serde_json::from_slice::<String>(quoted) {
        Ok(text) => Ok(Cow::Owned(text.into_bytes())),
        Err(_) => json("a text has a malformed escape"),
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = Result<Member<'a>, Wrong<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_member().transpose();
        if !matches!(next, Some(Ok(_))) {
            self.state = State::Over;
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(line: &str) -> Option<Vec<(String, String)>> {
        let text = |b: Option<Cow<'_, [u8]>>| b.map_or("null".into(), |b| String::from_utf8_lossy(&b).into_owned());
        Members::new(line.as_bytes()).map(|m| m.ok().map(|m| (m.key.into_owned(), text(m.value)))).collect()
    }

    #[test]
    fn members_are_those_of_serde_json() {
        let line = r#" { "a" : "x\"y\\", "b":1.50 ,"ü":true,"n":null,"e":"","u":"\u00e9\n"} "#;
        let expected = [("a", "x\"y\\"), ("b", "1.5"), ("ü", "true"), ("n", "null"), ("e", ""), ("u", "é\n")];
        let expected = expected.map(|(k, v)| (k.to_string(), v.to_string()));
        assert_eq!(all(line), Some(expected.to_vec()));
        assert_eq!(all("{}"), Some(vec![]));
    }

    #[test]
    fn every_prefix_is_a_fault_and_none_a_panic() {
        let line = r#"{"a":"x\"y","b":-1.5,"c":[1],"d":tru}"#;
        for end in 0..line.len() {
            assert_eq!(all(&line[..end]), None, "{end}");
        }
        for bad in [r#"{"a":1}x"#, r#"{"a":1,}"#, r#"{"a" 1}"#, r#"{a:1}"#, r#"["a"]"#, r#"{"a":01}"#, r#"{"a":"\q"}"#]
        {
            assert_eq!(all(bad), None, "{bad}");
        }
    }
}
