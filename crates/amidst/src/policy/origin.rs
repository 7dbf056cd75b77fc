//! Where a policy was read, so that later errors can still point at its lines.

use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::de::DeTable;

use super::diagnostic::{Diagnostic, PolicyErrors};
use super::places::{Places, places};

/// The text a policy came from. Where it was read is no part of what it says, so any two origins are equal.
#[derive(Debug, Clone, Default)]
pub struct Origin {
    /// The file; `None` when the policy was made in code.
    pub path: Option<PathBuf>,
    /// Its text, with passwords made unreadable: errors quote it.
    pub text: String,
    /// Whether errors quote values of the table. They are people's, so only its owner may ask for it.
    pub quote_values: bool,
    places: Places,
}

impl PartialEq for Origin {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Origin {}

impl Origin {
    /// Notes the place of every key of a document.
    pub(super) fn new(path: &Path, text: &str, document: &DeTable<'_>) -> Self {
        Origin {
            path: Some(path.to_path_buf()),
            text: amidst_io::masked(text).into_owned(),
            quote_values: false,
            places: places(document),
        }
    }

    /// The file of the policy, where it came from one.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The folder that relative paths in the policy start from.
    pub fn folder(&self) -> PathBuf {
        self.path.as_deref().and_then(Path::parent).map(Path::to_path_buf).unwrap_or_default()
    }

    /// Where `source` (a table named in the policy, in a file or a database) is, as a reader takes it.
    pub fn resolve_source(&self, source: &str) -> String {
        amidst_io::relative_to(&self.folder(), source)
    }

    /// Where `path` (a file named in the policy) is.
    pub fn resolve(&self, path: &str) -> PathBuf {
        self.folder().join(path)
    }

    /// The place of the longest prefix of `keys` that the policy has: of its value when that is the whole of `keys`
    /// and `value` is set, else of the key. Elements of a list are keyed by their position, from "0".
    pub fn span(&self, keys: &[&str], value: bool) -> Option<Range<usize>> {
        let full: Vec<String> = keys.iter().map(|k| k.to_string()).collect();
        (1..=full.len()).rev().find_map(|n| {
            let place = self.places.get(&full[..n])?;
            Some(if n == full.len() && value { place.value.clone() } else { place.key.clone() })
        })
    }

    /// An error at the value of `keys`.
    pub fn error(&self, keys: &[&str], message: impl Into<String>) -> Diagnostic {
        Diagnostic { span: self.span(keys, true), ..Diagnostic::new(message) }
    }

    /// An error at the key of `keys`.
    pub fn error_at_key(&self, keys: &[&str], message: impl Into<String>) -> Diagnostic {
        Diagnostic { span: self.span(keys, false), ..Diagnostic::new(message) }
    }

    /// Errors of this policy, in the order of its text.
    pub fn errors(&self, mut list: Vec<Diagnostic>) -> PolicyErrors {
        list.sort_by_key(|d| d.span.as_ref().map_or(usize::MAX, |s| s.start));
        PolicyErrors { path: self.path.clone(), text: self.text.clone(), list }
    }
}
