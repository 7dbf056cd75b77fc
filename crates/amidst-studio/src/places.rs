//! What is wrong, at the places of the page where it belongs: errors of the library, by the keys that lead to them.

use std::path::Path;

use amidst::Failure;
use amidst::check::{printable, printable_lines};
use amidst::io::ReadError;
use amidst::policy::PolicyErrors;

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The keys of the policy that lead to it; empty where no place in the policy is to blame.
    pub keys: Vec<String>,
    /// What is wrong, in the words of the command line.
    pub message: String,
    /// How to mend it.
    pub help: Option<String>,
}

/// Everything that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Problems {
    /// In the order of the policy.
    pub list: Vec<Problem>,
}

impl From<&PolicyErrors> for Problems {
    fn from(errors: &PolicyErrors) -> Self {
        let one = |error: &amidst::policy::Diagnostic| Problem {
            keys: errors.keys(error),
            message: printable(&error.message).into_owned(),
            help: error.told_help().map(|help| printable_lines(&help).into_owned()),
        };
        Problems { list: errors.list.iter().map(one).collect() }
    }
}

impl From<&Failure> for Problems {
    fn from(failure: &Failure) -> Self {
        match failure {
            Failure::Policy(errors) => errors.into(),
            Failure::Read(error) => Problems::at(&["data", stated_by(error)], failure.to_string()),
            _ => Problems::at(&[], failure.to_string()),
        }
    }
}

/// The key of `[data]` that decides whether a table can be read, by the error of reading it.
fn stated_by(error: &ReadError) -> &'static str {
    match error {
        ReadError::SeveralSheets { .. } | ReadError::NoSuchSheet { .. } => "sheet",
        ReadError::MergedCells { .. } => "merged",
        ReadError::NoResult { .. } => "formulas",
        ReadError::Nul { .. } | ReadError::NotUtf8 { .. } | ReadError::NotEncoding { .. } => "encoding",
        ReadError::BadSeparator | ReadError::Ragged { .. } => "separator",
        ReadError::TitleAbove { .. }
        | ReadError::BesideHeader { .. }
        | ReadError::DuplicateColumn { .. }
        | ReadError::EmptyColumnName { .. } => "header",
        _ => "input",
    }
}

impl Problems {
    /// A single problem.
    pub fn at(keys: &[&str], message: impl AsRef<str>) -> Self {
        let keys = keys.iter().map(ToString::to_string).collect();
        let message = printable_lines(message.as_ref()).into_owned();
        Problems { list: vec![Problem { keys, message, help: None }] }
    }

    /// The same, with files of a folder named as from there, which is how the command line names them in it.
    #[must_use]
    pub fn seen_from(mut self, folder: &Path) -> Self {
        let inside = format!("{}/", folder.display());
        for problem in &mut self.list {
            problem.message = problem.message.replace(&inside, "");
            problem.help = problem.help.take().map(|help| help.replace(&inside, ""));
        }
        self
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// What is wrong at a place or inside of it.
    pub fn within<'a>(&'a self, keys: &'a [&str]) -> impl Iterator<Item = &'a Problem> {
        self.list.iter().filter(move |problem| {
            problem.keys.len() >= keys.len() && problem.keys.iter().zip(keys).all(|(a, b)| a == b)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use amidst::policy::Policy;

    use super::*;

    #[test]
    fn errors_stand_where_they_belong() {
        let text = "[[require]]\nmodel = \"k-anonymity\"\nk = \"many\"\n\n[columns.a]\nrole = \"qausi\"\n";
        let errors = Policy::parse(text, Path::new("p.toml")).unwrap_err();
        let problems = Problems::from(&errors);
        assert_eq!(problems.within(&["columns", "a", "role"]).count(), 1, "{problems:?}");
        assert!(
            problems.within(&["columns"]).any(|p| p.help.as_deref() == Some("did you mean `quasi`?")),
            "{problems:?}"
        );
        assert!(problems.within(&["require", "0"]).count() >= 1, "{problems:?}");
        assert_eq!(problems.within(&["search"]).count(), 0);
    }

    #[test]
    fn a_table_that_cannot_be_read_is_wrong_at_what_is_stated_of_it() {
        let path = || PathBuf::from("ward.xlsx");
        let keys = |error: ReadError| Problems::from(&Failure::Read(error)).list[0].keys.clone();
        let sheets = || vec!["A".to_string(), "B".to_string()];
        assert_eq!(keys(ReadError::SeveralSheets { path: path(), sheets: sheets() }), ["data", "sheet"]);
        assert_eq!(keys(ReadError::NotUtf8 { path: path(), line: 2, column: None }), ["data", "encoding"]);
        assert_eq!(keys(ReadError::Missing { path: path(), nearest: None }), ["data", "input"]);
        let missing = Failure::Read(ReadError::Missing { path: "/a/b/ward.csv".into(), nearest: None });
        let told = Problems::from(&missing).seen_from(Path::new("/a/b"));
        assert_eq!(told.list[0].message, "ward.csv: no such file.");
    }
}
