//! Failures as the exceptions of `amidst._errors`.

use std::path::Path;

use amidst::Failure;
use amidst::core::model;
use amidst::core::search::Impossible;
use amidst::io::ReadError;
use amidst::policy::PolicyErrors;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::remedy::words;

/// The path of a policy that was made in code: the call that returns the text whose lines errors count. Its relative
/// paths start at the working directory.
pub const MADE_IN_CODE: &str = "policy.to_toml()";

/// How the addresses of tables in memory begin; only this package knows them.
const MEMORY: &str = "memory://";

/// The exception for a failure.
pub fn raise(py: Python<'_>, failure: &Failure) -> PyErr {
    let text = match failure {
        Failure::Advised(advised) => plain(&format!("{}; {}", advised.problem, words(&advised.remedy))),
        other => plain(&other.to_string()),
    };
    let built = match failure {
        Failure::Policy(errors) => policy_error(py, errors),
        Failure::Read(error) => exception(py, "DataError", &in_frame(error).unwrap_or(text), None),
        Failure::Impossible(why) => impossible(py, why),
        failure if failure.is_impossible() => exception(py, "Impossible", &text, None),
        Failure::Refused(_) => exception(py, "Violated", &text, None),
        _ => exception(py, "Error", &text, None),
    };
    built.unwrap_or_else(|e| e)
}

/// What is wrong with a table in memory, where the words for files would mislead.
fn in_frame(error: &ReadError) -> Option<String> {
    let lent = |path: &Path| path.to_string_lossy().starts_with(MEMORY);
    let at = |row: &u64, column: &Option<String>| match column {
        Some(column) => format!("row {row} of the column {column:?}"),
        None => format!("row {row}"),
    };
    Some(match error {
        ReadError::NoRows { path } if lent(path) => "the table has no rows; give one that has".into(),
        ReadError::DuplicateColumn { path, column, .. } if lent(path) => {
            format!("two columns are called {column:?}; rename one")
        }
        ReadError::EmptyColumnName { path, position } if lent(path) => {
            format!("column {position} of the table has no name; give it one")
        }
        ReadError::Nul { path, line, column } if lent(path) => {
            format!("{} has a NUL character; take it out, or make the column identifying", at(line, column))
        }
        ReadError::NotUtf8 { path, line: row, column } | ReadError::Binary { path, row, column } if lent(path) => {
            format!("{} has bytes that are no text; decode them, or make the column identifying", at(row, column))
        }
        ReadError::UnsupportedType { path, column, kind } if lent(path) => {
            let (holds, mend) = match kind.as_str() {
                "Timestamp" | "Date32" | "Date64" | "Time32" | "Time64" => {
                    ("dates or times that no calendar has, or a time zone that nobody knows", "mend them")
                }
                "RunEndEncoded" => ("runs of values", "decode it, with pyarrow.compute.run_end_decode"),
                _ => ("lists, structures or the like, not one value a cell", "flatten it"),
            };
            format!("the column {column:?} holds {holds} ({kind}); {mend}, drop the column, or make it identifying")
        }
        _ => return None,
    })
}

/// An exception of the package by its name.
pub fn error(py: Python<'_>, name: &str, text: &str) -> PyErr {
    exception(py, name, &plain(text), None).unwrap_or_else(|e| e)
}

/// The exception for a defect.
pub fn defect(py: Python<'_>) -> PyErr {
    let text = "internal error; nothing was written. This is a defect in Amidst; please report it";
    exception(py, "Error", text, None).unwrap_or_else(|e| e)
}

fn exception(py: Python<'_>, name: &str, text: &str, named: Option<&Bound<'_, PyDict>>) -> PyResult<PyErr> {
    let class = py.import("amidst._errors")?.getattr(name)?;
    Ok(PyErr::from_value(class.call((text,), named)?))
}

fn impossible(py: Python<'_>, why: &Impossible) -> PyResult<PyErr> {
    let more = PyDict::new(py);
    if let Some(unmet) = &why.unmet {
        more.set_item("position", unmet.requirement)?;
        more.set_item("parameter", unmet.best.parameter)?;
        more.set_item("possible", possible(py, &unmet.best.bound)?)?;
        more.set_item("attained", unmet.best.attained)?;
    }
    more.set_item("least_suppression", why.least_suppression)?;
    exception(py, "Impossible", &plain(&why.message), Some(&more))
}

/// A bound as Python's numbers: exact where it is.
fn possible<'py>(py: Python<'py>, bound: &model::Bound) -> PyResult<Option<Bound<'py, PyAny>>> {
    match bound {
        model::Bound::Exact(value) => match value.to_u64() {
            Some(whole) => Ok(Some(whole.into_pyobject(py)?.into_any())),
            None => Ok(Some(py.import("fractions")?.getattr("Fraction")?.call1((value.to_string(),))?)),
        },
        model::Bound::Real(value) => Ok(Some(value.into_pyobject(py)?.into_any())),
        model::Bound::Always | model::Bound::Never => Ok(None),
    }
}

fn policy_error(py: Python<'_>, errors: &PolicyErrors) -> PyResult<PyErr> {
    let mut errors = errors.clone().worded(words);
    if errors.path.as_deref() == Some(Path::new(MADE_IN_CODE)) {
        let helps = errors.list.iter_mut().filter_map(|error| error.help.as_mut());
        helps.for_each(|help| *help = with_argument(help).into());
    }
    let first = errors.list.first();
    let place = first.and_then(|d| d.span.as_ref()).map(|span| place(&errors.text, span.start));
    let more = PyDict::new(py);
    let file = errors.path.as_ref().map(|path| path.display().to_string()).filter(|file| file != MADE_IN_CODE);
    more.set_item("file", file)?;
    more.set_item("line", place.map(|(line, _)| line))?;
    more.set_item("column", place.map(|(_, column)| column))?;
    more.set_item("hint", first.and_then(|d| d.told_help()).map(|help| plain(&help)))?;
    exception(py, "PolicyError", &plain(&errors.to_string()), Some(&more))
}

/// How a policy is mended where it was made in code: sections of the file that whole arguments stand for are named with
/// these.
fn with_argument(help: &str) -> String {
    let arguments = [("[columns.\"*\"]", "others=\"identifying\""), ("[[require]]", "require=[amidst.k_anonymity(5)]")];
    match arguments.iter().find(|(section, _)| help.contains(section)) {
        Some((_, argument)) => format!("{help}\nor amidst.Policy(…, {argument})"),
        None => help.to_string(),
    }
}

/// Line and column of a place in a text, both from 1.
pub fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}

/// A message in which a table in memory is called one.
fn plain(text: &str) -> String {
    let mut parts = text.split(MEMORY);
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        out.push_str("the table");
        out.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    out
}
