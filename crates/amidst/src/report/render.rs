//! A report said in words, and in the formats of its files.

use std::path::Path;

use super::content::Report;
use super::html::html;
use super::markdown::markdown;
use super::summary::{findings, leading};
use crate::Failure;
use crate::unique::UniqueRows;

impl Report {
    /// Says the findings in plain words.
    pub(crate) fn summarize(&mut self) {
        let first = leading(self);
        self.leading = first.len();
        self.summary = first.into_iter().chain(findings(self)).collect();
    }

    /// Tells what an independent count of unique rows found.
    pub(crate) fn tell_unique(&mut self, unique: UniqueRows) {
        self.unique_rows = Some(unique.into());
        self.summarize();
    }

    /// What each of [`super::FILES`] holds.
    pub fn files(&self) -> [String; 3] {
        [html(self), self.to_json_text(), markdown(self)]
    }

    /// The rendering that a file's ending asks for: `.html`, `.json` or `.md`.
    pub fn written_as(&self, path: &Path) -> Result<String, Failure> {
        match path.extension().and_then(|e| e.to_str()) {
            Some("html" | "htm") => Ok(html(self)),
            Some("json") => Ok(self.to_json_text()),
            Some("md" | "markdown") => Ok(markdown(self)),
            _ => Err(Failure::Usage(format!(
                "{} must end in .html, .json or .md, so that it is clear what to write",
                path.display()
            ))),
        }
    }
}
