//! Releases: made, saved, checked, and applied to further rows.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use amidst::anonymize::Candidate;
use amidst::check;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pyo3_arrow::PyTable;

use crate::errors::raise;
use crate::policy::Stated;
use crate::tables::{Given, frame, written};
use crate::worker::{Control, run, run_writing};

/// The name of the table among the files of a release: the checked bytes are those that are handed over.
const TABLE: &str = "release.arrow";

/// A release in memory.
#[pyclass(module = "amidst._amidst", frozen)]
pub struct Release {
    candidate: Arc<Candidate>,
    release: amidst::anonymize::Release,
}

/// Anonymizes a table, or the one that the policy names.
#[pyfunction]
pub fn anonymize(
    py: Python<'_>,
    policy: Stated,
    table: Option<Bound<'_, PyAny>>,
    seed: Option<u64>,
    control: Control,
) -> PyResult<Release> {
    let given = Given::optional(table.as_ref(), &control)?;
    let (candidate, release) = run(py, &control, move |job| {
        let mut policy = policy.policy()?;
        policy.search.seed = seed.unwrap_or(policy.search.seed);
        let candidate = match given {
            Some(Given::Rows(lent)) => Candidate::of_lent(&policy, lent, job)?,
            given => Candidate::of_source(&policy, given.as_ref().map(Given::address), job)?,
        };
        let release = candidate.release(Some(TABLE), job)?;
        Ok((Arc::new(candidate), release))
    })?;
    Ok(Release { candidate, release })
}

#[pymethods]
impl Release {
    /// The table, from the bytes that were checked.
    fn table(&self, py: Python<'_>) -> PyResult<PyTable> {
        frame(py, self.release.public.get(&self.release.name).cloned().unwrap_or_default())
    }

    /// What `amidst anonymize --json` prints.
    fn outcome(&self) -> String {
        self.release.outcome.to_json().to_string()
    }

    /// The files that may be handed over.
    fn public<'py>(&self, py: Python<'py>) -> BTreeMap<String, Bound<'py, PyBytes>> {
        files(py, &self.release.public)
    }

    /// The files that stay with the owner.
    fn internal<'py>(&self, py: Python<'py>) -> BTreeMap<String, Bound<'py, PyBytes>> {
        files(py, &self.release.internal)
    }

    /// Writes the release into a folder: all of it or nothing. With the name of a file whose ending stands for another
    /// format it is written in that format, and checked again before anything is saved.
    fn save(
        &self,
        py: Python<'_>,
        folder: String,
        file: Option<String>,
        force: bool,
        control: Control,
    ) -> PyResult<()> {
        let Some(file) = file.filter(|file| file != TABLE) else {
            let saved = py.detach(|| self.release.save(Path::new(&folder), force));
            return saved.map_err(|failure| raise(py, &failure));
        };
        let candidate = Arc::clone(&self.candidate);
        run_writing(py, &control, move |job| {
            let release = candidate.release(Some(&file), job)?;
            job.checkpoint()?;
            release.save(Path::new(&folder), force)
        })
    }

    /// What the independent checker says of the public files, as JSON.
    fn verify(&self, py: Python<'_>, strict: bool, control: Control) -> PyResult<String> {
        let (public, certificate) = (self.release.public.clone(), self.release.certificate.clone());
        run(py, &control, move |_| {
            let verdict = check::verify(public, &certificate, &check::Options::default());
            let verdict = if strict { verdict.strict() } else { verdict };
            Ok(serde_json::to_string(&verdict).unwrap_or_default())
        })
    }
}

fn files<'py, B: AsRef<[u8]>>(py: Python<'py>, all: &BTreeMap<String, B>) -> BTreeMap<String, Bound<'py, PyBytes>> {
    all.iter().map(|(name, bytes)| (name.clone(), PyBytes::new(py, bytes.as_ref()))).collect()
}

/// Recodes further rows as a release was recoded: the table, and which of the rows fit.
#[pyfunction]
pub fn recode(
    py: Python<'_>,
    policy: Stated,
    release: Bound<'_, PyAny>,
    table: Bound<'_, PyAny>,
    mask: bool,
    control: Control,
) -> PyResult<(PyTable, Vec<bool>)> {
    let (release, further) = (Given::of(&release, &control)?, Given::of(&table, &control)?);
    let (bytes, fits) = run(py, &control, move |job| {
        let recoded = amidst::recode::recode(&policy.policy()?, &release.address(), &further.address(), mask, job)?;
        Ok((written(&recoded.table)?, recoded.fits))
    })?;
    Ok((frame(py, bytes)?, fits))
}
