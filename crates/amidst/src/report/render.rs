//! A report said in words, and in the formats of its files.

use std::path::Path;

use super::content::Report;
use super::html::html;
use super::markdown::markdown;
use super::summary::{findings, leading};
use crate::Failure;
use crate::unique::UniqueRows;
use crate::words::number;

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

    /// That somebody's risk is above the one that the policy accepts, where it is.
    pub(crate) fn above_threshold(&self) -> Option<String> {
        let threshold = self.release.as_ref()?.threshold.as_ref().filter(|threshold| !threshold.kept)?;
        let (name, measured, accepted) = (&threshold.name, number(threshold.measured), number(threshold.risk));
        // A share such as 1/11 is rounded, and eleven rows keep it.
        let rows = (1.0 / threshold.risk - 1e-9).ceil();
        Some(format!(
            "the highest risk of anyone, {measured}, is above the threshold {accepted} that the policy states ({name}); \
             classes of at least {rows} persons keep it"
        ))
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
