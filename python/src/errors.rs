//! Failures as the exceptions of `amidst._errors`.

use amidst::core::attack::Knowledge;
use amidst::core::model;
use amidst::core::search::Impossible;
use amidst::policy::PolicyErrors;
use amidst::{Failure, Remedy};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// How the addresses of tables in memory begin; nobody but this package knows them.
const MEMORY: &str = "memory://";

/// The exception for a failure.
pub fn raise(py: Python<'_>, failure: &Failure) -> PyErr {
    let text = match failure {
        Failure::Advised(advised) => plain(&format!("{}; {}", advised.problem, words(&advised.remedy))),
        other => plain(&other.to_string()),
    };
    let built = match failure {
        Failure::Policy(errors) => policy_error(py, errors),
        Failure::Read(_) => exception(py, "DataError", &text, None),
        Failure::Impossible(why) => impossible(py, why),
        failure if failure.is_impossible() => exception(py, "Impossible", &text, None),
        Failure::Refused(_) => exception(py, "Violated", &text, None),
        _ => exception(py, "Error", &text, None),
    };
    built.unwrap_or_else(|e| e)
}

/// What can be done about a failure, with the arguments of this package.
fn words(remedy: &Remedy) -> String {
    match remedy {
        Remedy::ReplaceRelease => "remove it, choose another folder, or pass force=True".into(),
        Remedy::ReplaceFile => "choose another name, or pass force=True".into(),
        Remedy::GiveKnowledge(Knowledge::External) => "pass external=".into(),
        Remedy::GiveKnowledge(Knowledge::Population) => "pass population=".into(),
        Remedy::GiveKnowledge(Knowledge::Original) => "pass original=".into(),
        Remedy::PublishSafe { exposed: false, cost, .. } => {
            format!(
                "publish(safe=True) publishes one that does not: {cost}; allow_leak=True publishes this one and says so"
            )
        }
        other => other.to_string(),
    }
}

/// An exception of the package by its name.
pub fn error(py: Python<'_>, name: &str, text: &str) -> PyErr {
    exception(py, name, &plain(text), None).unwrap_or_else(|e| e)
}

/// The exception for a defect.
pub fn defect(py: Python<'_>) -> PyErr {
    let text = "internal error; nothing was written. This is a defect in Amidst; please report it";
    exception(py, "Error", text, None).unwrap_or_else(|_| PyRuntimeError::new_err(text))
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
    let first = errors.list.first();
    let place = first.and_then(|d| d.span.as_ref()).map(|span| place(&errors.text, span.start));
    let more = PyDict::new(py);
    more.set_item("file", errors.path.as_ref().map(|path| path.display().to_string()))?;
    more.set_item("line", place.map(|(line, _)| line))?;
    more.set_item("column", place.map(|(_, column)| column))?;
    more.set_item("hint", first.and_then(|d| d.told_help()).map(|help| plain(&help)))?;
    exception(py, "PolicyError", &plain(&errors.to_string()), Some(&more))
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
