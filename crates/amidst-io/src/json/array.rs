//! Converts a JSON list of objects to one object per line, as a stream.

use std::io::{self, Read};

use crate::converted::{Convert, Converted};
use crate::stream::NotAList;

/// Bytes read at a time.
const CHUNK: usize = 64 << 10;

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the opening bracket of the list.
    Before,
    /// After the opening bracket or a comma.
    Wanted,
    /// After an object.
    Between,
    /// Inside an object.
    Inside,
    /// Inside a string of an object; `escaped` after a backslash.
    Text { escaped: bool },
    /// After the closing bracket of the list.
    After,
}

/// The lines of a list. Line n is its n-th object.
pub(crate) struct Lines<R> {
    inner: R,
    state: State,
    depth: u32,
    element: u64,
    ended: bool,
}

impl<R: Read> Lines<R> {
    /// The stream of lines made from the list in `inner`.
    pub fn of(inner: R) -> Converted<Self> {
        Converted::new(Lines { inner, state: State::Before, depth: 0, element: 0, ended: false })
    }

    fn fault(&self, reason: &'static str) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, NotAList { element: self.element.max(1), reason })
    }

    /// Changes the state without output.
    fn turn(&mut self, state: State) -> Result<(), &'static str> {
        self.state = state;
        Ok(())
    }

    fn step(&mut self, byte: u8, out: &mut Vec<u8>) -> Result<(), &'static str> {
        let space = matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        self.state = match (self.state, byte) {
            (State::Inside, b'"') => State::Text { escaped: false },
            (State::Inside, b'{' | b'[') => {
                self.depth += 1;
                State::Inside
            }
            (State::Inside, b'}' | b']') => {
                self.depth -= 1;
                if self.depth == 0 { State::Between } else { State::Inside }
            }
            (State::Inside, _) => State::Inside,
            (State::Text { escaped: false }, b'"') => State::Inside,
            (State::Text { escaped }, _) => State::Text { escaped: !escaped && byte == b'\\' },
            (state, _) if space => return self.turn(state),
            (State::Before, b'[') => return self.turn(State::Wanted),
            (State::Before, _) => return Err("the file does not start with ["),
            (State::Wanted, b'{') => {
                self.element += 1;
                self.depth = 1;
                State::Inside
            }
            (State::Wanted, b']') if self.element == 0 => return self.turn(State::After),
            (State::Wanted, _) => {
                self.element += 1;
                return Err("the list holds something else than objects");
            }
            (State::Between, b',') => return self.turn(State::Wanted),
            (State::Between, b']') => return self.turn(State::After),
            (State::Between, _) => return Err("a comma or ] is missing after the object"),
            (State::After, _) => return Err("something follows the list"),
        };
        // A line break between members becomes a blank. Inside a string it is invalid JSON and stays, so that the
        // parser reports it.
        let inside_text = matches!(self.state, State::Text { .. });
        out.push(if space && !inside_text { b' ' } else { byte });
        if self.state == State::Between {
            out.push(b'\n');
        }
        Ok(())
    }
}

impl<R: Read> Convert for Lines<R> {
    fn refill(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        let mut raw = vec![0; CHUNK];
        while out.is_empty() && !self.ended {
            let n = match self.inner.read(&mut raw) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            self.ended = n == 0;
            for &byte in &raw[..n] {
                self.step(byte, out).map_err(|reason| self.fault(reason))?;
            }
            if self.ended && self.state != State::After {
                return Err(self.fault("the list is not closed"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> io::Result<String> {
        let mut out = String::new();
        Lines::of(text.as_bytes()).read_to_string(&mut out)?;
        Ok(out)
    }

    #[test]
    fn objects_become_lines() {
        let text = " [\n {\"a\": 1,\n \"b\": \"x]},\\\"{\"}\n, {\"a\": [1, {}]}]\n";
        assert_eq!(lines(text).unwrap(), "{\"a\": 1,  \"b\": \"x]},\\\"{\"}\n{\"a\": [1, {}]}\n");
        assert_eq!(lines("[]").unwrap(), "");
    }

    #[test]
    fn what_is_no_list_of_objects_is_an_error_with_its_element() {
        for (text, element) in [
            ("[1]", 1),
            ("[{} {}]", 1),
            ("[{},]", 2),
            ("[{}, 3]", 2),
            ("[{}] x", 1),
            ("[{\"a\": 1}", 1),
            ("[{\"a\"", 1),
            ("x", 1),
            ("", 1),
        ] {
            let error = lines(text).unwrap_err();
            let fault = error.get_ref().and_then(|e| e.downcast_ref::<NotAList>()).unwrap();
            assert_eq!(fault.element, element, "{text}");
        }
    }
}
