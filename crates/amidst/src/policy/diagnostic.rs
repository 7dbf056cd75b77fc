//! Errors about a policy: what is wrong, where in the file, and how to mend it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

use amidst_check::{acts, printable, printable_lines};
use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use crate::remedy::Remedy;

/// How many errors are shown at once: what fits a screen.
const SHOWN: usize = 5;

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Where in the policy's text, in bytes; `None` when no place in the policy is to blame.
    pub span: Option<Range<usize>>,
    /// Further places that are part of it.
    pub also: Vec<Range<usize>>,
    /// What is wrong.
    pub message: String,
    /// What stands beside the caret; may be empty.
    pub label: Box<str>,
    /// How to mend it.
    pub help: Option<Box<str>>,
    /// How to mend it with another operation of this library; it is told in place of `help`.
    pub remedy: Option<Box<Remedy>>,
    /// Whether it is that the policy does not know a value that the data has.
    pub lacks: bool,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn at(span: Range<usize>, message: impl Into<String>) -> Self {
        Diagnostic { span: Some(span), ..Diagnostic::new(message) }
    }

    /// An error that no place in the policy is to blame for.
    pub fn new(message: impl Into<String>) -> Self {
        let (also, label) = (Vec::new(), Box::default());
        Diagnostic { span: None, also, message: message.into(), label, help: None, remedy: None, lacks: false }
    }

    /// The same error, with words beside the caret.
    pub fn label(self, label: impl Into<String>) -> Self {
        Diagnostic { label: label.into().into_boxed_str(), ..self }
    }

    /// The same error, that of a value which the policy does not know.
    pub fn lacking(self) -> Self {
        Diagnostic { lacks: true, ..self }
    }

    /// How to mend it, in words.
    pub fn told_help(&self) -> Option<Cow<'_, str>> {
        match &self.remedy {
            Some(remedy) => Some(remedy.to_string().into()),
            None => self.help.as_deref().map(Cow::Borrowed),
        }
    }

    /// The same error, with a way to mend it.
    pub fn help(self, help: impl Into<String>) -> Self {
        Diagnostic { help: Some(help.into().into_boxed_str()), ..self }
    }
}

/// All that is wrong with a policy. `Display` renders it without colours.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PolicyErrors {
    /// The policy's file; `None` when the policy was made in code.
    pub path: Option<PathBuf>,
    /// The policy's text.
    pub text: String,
    /// What is wrong, in the order of the text.
    pub list: Vec<Diagnostic>,
}

impl PolicyErrors {
    /// The same errors, with their remedies in other words.
    #[must_use]
    pub fn worded(mut self, words: impl Fn(&Remedy) -> String) -> Self {
        for diagnostic in &mut self.list {
            if let Some(remedy) = diagnostic.remedy.take() {
                diagnostic.help = Some(words(&remedy).into());
            }
        }
        self
    }

    /// Renders the first errors, with carets under the policy's lines; in colours when `terminal`.
    pub fn render(&self, terminal: bool) -> String {
        let renderer = match terminal {
            true => Renderer::styled().decor_style(DecorStyle::Unicode),
            false => Renderer::plain().decor_style(DecorStyle::Ascii),
        };
        let path = self.path.as_ref().map(|p| printable(&p.display().to_string()).into_owned()).unwrap_or_default();
        let source = harmless(&self.text);
        let mut out = String::new();
        let kinds = self.kinds();
        for (diagnostic, alike) in kinds.iter().take(SHOWN) {
            if !out.is_empty() {
                out.push_str("\n\n");
            }
            let more = if *alike > 1 { format!(" (and {} more like this)", alike - 1) } else { String::new() };
            let shown = Diagnostic {
                message: format!("{}{more}", printable(&diagnostic.message)),
                label: printable(&diagnostic.label).into(),
                help: diagnostic.told_help().map(|help| printable_lines(&help).into()),
                ..(*diagnostic).clone()
            };
            out.push_str(&renderer.render(&[self.group(&shown, &path, &source)]));
        }
        let rest: usize = kinds.iter().skip(SHOWN).map(|(_, alike)| alike).sum();
        if rest > 0 {
            out.push_str(&format!("\n\nand {rest} more"));
        }
        out
    }

    /// The first error of each kind, and how many there are of it: errors that differ in names and numbers only are
    /// alike where there are more than two of them.
    fn kinds(&self) -> Vec<(&Diagnostic, usize)> {
        let kind = |d: &Diagnostic| -> String {
            let outside = d.message.split('`').step_by(2).collect::<Vec<_>>().join("`");
            format!("{}\n{}", outside.replace(|c: char| c.is_ascii_digit(), ""), d.label)
        };
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        self.list.iter().for_each(|d| *counts.entry(kind(d)).or_default() += 1);
        let mut told = BTreeSet::new();
        let mut found = Vec::new();
        for diagnostic in &self.list {
            let kind = kind(diagnostic);
            match counts.get(&kind).copied().unwrap_or(1) {
                alike @ 3.. if told.insert(kind) => found.push((diagnostic, alike)),
                3.. => {}
                _ => found.push((diagnostic, 1)),
            }
        }
        found
    }

    fn group<'a>(&self, diagnostic: &'a Diagnostic, path: &'a str, source: &'a str) -> Group<'a> {
        let title = Level::ERROR.primary_title(diagnostic.message.as_str());
        let mut group = match &diagnostic.span {
            Some(span) if !source.is_empty() => {
                let mut annotation = AnnotationKind::Primary.span(self.first_line(span));
                if !diagnostic.label.is_empty() {
                    annotation = annotation.label(&*diagnostic.label);
                }
                let mut snippet = Snippet::source(source).path(path).annotation(annotation);
                for also in &diagnostic.also {
                    snippet = snippet.annotation(AnnotationKind::Context.span(self.first_line(also)));
                }
                title.element(snippet)
            }
            _ if self.path.is_some() => title.element(Origin::path(path)),
            _ => Group::with_title(title),
        };
        if let Some(help) = &diagnostic.help {
            group = group.element(Level::HELP.message(&**help));
        }
        group
    }

    /// The part of `span` on its first line: a caret under twenty lines says no more than one under the first.
    fn first_line(&self, span: &Range<usize>) -> Range<usize> {
        let end = span.end.min(self.text.len());
        let start = span.start.min(end);
        let length = self.text.get(start..end).and_then(|t| t.find('\n')).unwrap_or(end - start);
        start..start + length
    }

    /// The keys that lead to what a diagnostic points at, such as `require`, `0`, `k`; empty where no place is to
    /// blame.
    pub fn keys(&self, diagnostic: &Diagnostic) -> Vec<String> {
        diagnostic.span.as_ref().map(|span| super::places::keys_at(&self.text, span)).unwrap_or_default()
    }

    /// The line of the policy that a diagnostic points at, from 1.
    pub fn line(&self, diagnostic: &Diagnostic) -> Option<usize> {
        let start = diagnostic.span.as_ref()?.start.min(self.text.len());
        Some(self.text.as_bytes()[..start].iter().filter(|&&b| b == b'\n').count() + 1)
    }
}

impl fmt::Display for PolicyErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for PolicyErrors {}

/// The text with a question mark for each byte of a character that would act on a terminal: places in it stay the same.
fn harmless(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        match acts(c) && !matches!(c, '\n' | '\r' | '\t') {
            true => out.extend(std::iter::repeat_n('?', c.len_utf8())),
            false => out.push(c),
        }
        out
    })
}

/// The candidate that `name` was probably meant to be.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = name.to_lowercase();
    candidates
        .into_iter()
        .map(|c| (strsim::damerau_levenshtein(&folded, &c.to_lowercase()), c))
        // A third of the letters may be wrong, but never all of them; beyond that the guess would be noise.
        .filter(|&(distance, c)| {
            let length = c.chars().count().max(folded.chars().count());
            distance <= (length / 3).max(1) && distance < length
        })
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, c)| c)
}

/// "did you mean `x`?", or the list of what there is.
pub fn suggestion(name: &str, candidates: &[&str]) -> String {
    match nearest(name, candidates.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known: {}", candidates.join(", ")),
    }
}
