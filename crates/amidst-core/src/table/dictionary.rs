//! Distinct strings of a column, each stored once in one buffer.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// Distinct values ↔ codes 0, 1, 2, …
#[derive(Clone, Default)]
pub struct Dictionary {
    text: String,
    /// `ends[c]` is where value `c` ends in `text`.
    ends: Vec<usize>,
    index: HashTable<u32>,
    /// Other ways to write values, sorted: `(text, code)`.
    aliases: Vec<(String, u32)>,
}

fn hash(value: &str) -> u64 {
    FxBuildHasher.hash_one(value)
}

impl Dictionary {
    /// The number of distinct values.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The value of a code. Codes come from this dictionary, so they are in range.
    #[inline]
    pub fn value(&self, code: u32) -> &str {
        let code = code as usize;
        let start = if code == 0 { 0 } else { self.ends[code - 1] };
        &self.text[start..self.ends[code]]
    }

    /// The code of `value`, if the dictionary has it, written this way or another.
    pub fn code(&self, value: &str) -> Option<u32> {
        self.index.find(hash(value), |&c| self.value(c) == value).copied().or_else(|| self.aliased(value))
    }

    fn aliased(&self, value: &str) -> Option<u32> {
        let found = self.aliases.binary_search_by(|(text, _)| text.as_str().cmp(value)).ok()?;
        self.aliases.get(found).map(|&(_, code)| code)
    }

    /// Other ways to write values of this dictionary, each with the code of its value, sorted.
    pub fn aliases(&self) -> &[(String, u32)] {
        &self.aliases
    }

    /// Says that each of these texts is another way to write the value of its code.
    pub fn set_aliases(&mut self, mut aliases: Vec<(String, u32)>) {
        aliases.sort_unstable();
        self.aliases = aliases;
    }

    /// The code of `value`, which is added when it is new.
    pub fn intern(&mut self, value: &str) -> u32 {
        let h = hash(value);
        if let Some(&code) = self.index.find(h, |&c| self.value(c) == value) {
            return code;
        }
        if let Some(code) = self.aliased(value) {
            return code;
        }
        let code = self.ends.len() as u32;
        self.text.push_str(value);
        self.ends.push(self.text.len());
        let (text, ends) = (&self.text, &self.ends);
        self.index.insert_unique(h, code, |&c| {
            let c = c as usize;
            let start = if c == 0 { 0 } else { ends[c - 1] };
            hash(&text[start..ends[c]])
        });
        code
    }

    /// All values, by code.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|c| self.value(c as u32))
    }

    /// Bytes held, roughly.
    pub fn bytes(&self) -> usize {
        self.text.capacity() + self.ends.capacity() * 8 + self.index.capacity() * 5 + self.aliases.capacity() * 32
    }
}

impl<'a> FromIterator<&'a str> for Dictionary {
    fn from_iter<I: IntoIterator<Item = &'a str>>(values: I) -> Self {
        let mut dictionary = Dictionary::default();
        for value in values {
            dictionary.intern(value);
        }
        dictionary
    }
}

impl std::fmt::Debug for Dictionary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Values may identify people: a debug print tells how many there are, never which.
        write!(f, "Dictionary({} values)", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_stored_once() {
        let mut d = Dictionary::default();
        assert_eq!([d.intern("a"), d.intern(""), d.intern("a"), d.intern("b")], [0, 1, 0, 2]);
        assert_eq!((d.value(1), d.value(2), d.code("b"), d.code("c")), ("", "b", Some(2), None));
    }
}
