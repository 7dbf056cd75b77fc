//! Looking at tables and releases: audit, survey, init, explore, attack, verify; and synthetic patients.

use std::path::Path;

use amidst::Failure;
use amidst::attack::{AdversaryTables, is_series, parameter};
use amidst::audit as audits;
use amidst::core::attack::{ATTACKS, Knowledge, find};
use amidst::core::parameter::Parameters;
use amidst::core::parameter::Rational;
use amidst::explore as lattices;
use amidst::folder::table_in;
use amidst::io::{Format, ReadOptions};
use amidst::plan::{algorithm_of, metric_of};
use amidst::policy::Policy;
use amidst::prepare::{LoadOptions, Prepared};
use amidst::verify as checker;
use pyo3::prelude::*;
use pyo3_arrow::PyTable;

use crate::pictures;
use crate::policy::Stated;
use crate::tables::{Given, frame, written};
use crate::worker::{Control, run};

/// Which columns are which: a policy, or their names.
#[derive(FromPyObject)]
pub struct Roles(Option<Stated>, Vec<String>, Vec<String>);

impl Roles {
    /// The policy that says so, for the table at `data`; that of a saved release where nothing is said.
    fn policy(&self, data: &str, own: Option<&Path>) -> Result<Policy, Failure> {
        match (&self.0, own) {
            (Some(stated), _) => stated.policy(),
            (None, Some(own)) if self.1.is_empty() => Ok(Policy::read(own)?),
            (None, _) if self.1.is_empty() => Err(Failure::Usage(
                "say which columns are which, with `policy`, or with `quasi` and `sensitive`".into(),
            )),
            (None, _) => Ok(Policy::for_audit(data, &self.1, &self.2)),
        }
    }
}

/// Audits a table: the figures as JSON, and the report as HTML.
#[pyfunction]
pub fn audit(
    py: Python<'_>,
    table: Bound<'_, PyAny>,
    roles: Roles,
    population: Option<Bound<'_, PyAny>>,
    sampling_fraction: Option<String>,
    control: Control,
) -> PyResult<(String, String)> {
    let given = Given::of(&table, &control)?;
    let population = Given::optional(population.as_ref(), &control)?;
    run(py, &control, move |job| {
        let address = given.address();
        let found = table_in(Path::new(&address));
        let data = found.as_ref().map_or(address.clone(), |f| f.table.to_string_lossy().into_owned());
        let mut stated = roles.policy(&data, found.as_ref().map(|f| f.policy.as_path()))?;
        if let Some(population) = &population {
            stated.risk.population = Some(from_here(&population.address())?);
        }
        if let Some(share) = &sampling_fraction {
            stated.risk.sampling_fraction = Some(fraction(share)?);
        }
        let options = LoadOptions { control: *job, ..LoadOptions::default() };
        let (policy, prepared) = audits::load(&stated, &data, &options)?;
        drop(given);
        let mut found = audits::audit(&stated, &policy, &prepared)?;
        found.add_population(&stated, &prepared)?;
        let asked = roles.0.is_some().then_some(&stated);
        let html = amidst::report::of_audit(&policy, &prepared, &found, asked).written_as(Path::new("audit.html"))?;
        Ok((found.to_json().to_string(), html))
    })
}

fn fraction(text: &str) -> Result<Rational, Failure> {
    let share = text.parse().ok().filter(|share: &Rational| !share.is_negative() && !share.is_zero());
    share.filter(|share| *share <= Rational::from(1)).ok_or_else(|| {
        Failure::Usage("`sampling_fraction` is a share above 0 and up to 1, such as 0.05 or \"1/20\"".into())
    })
}

/// A relative path in a policy starts from the policy; this one starts from here.
fn from_here(source: &str) -> Result<String, Failure> {
    let here = std::env::current_dir().map_err(|e| Failure::Io(format!("cannot tell where this is: {e}")))?;
    Ok(amidst::io::relative_to(&here, source))
}

/// What singles people out in a table without a policy, as JSON.
#[pyfunction]
pub fn survey(py: Python<'_>, table: Bound<'_, PyAny>, max_size: usize, control: Control) -> PyResult<String> {
    let given = Given::of(&table, &control)?;
    run(py, &control, move |job| {
        let address = given.address();
        let found = audits::survey_watched(&address, max_size, job)?.to_json().to_string();
        // What to do next is told by commands, which name the table.
        Ok(if matches!(given, Given::Rows(_)) { found.replace(&address, "TABLE") } else { found })
    })
}

/// A commented first policy for a table. Rows in memory have no address that a policy could name.
#[pyfunction]
pub fn init(py: Python<'_>, table: Bound<'_, PyAny>, control: Control) -> PyResult<String> {
    let given = Given::of(&table, &control)?;
    run(py, &control, move |job| {
        let address = given.address();
        let text = amidst::init::draft_watched(&address, None, job)?;
        Ok(match given {
            Given::Address(_) => text,
            Given::Rows(_) => {
                let named = |line: &&str| !(line.starts_with("input") && line.contains(&address));
                let lines: Vec<&str> = text.lines().filter(named).collect();
                lines.join("\n").replace(&address, "the table") + "\n"
            }
        })
    })
}

/// Every minimal generalization and the front of risk against loss, or why a node cannot be published: as JSON, and the
/// front as a picture.
#[pyfunction]
pub fn explore(
    py: Python<'_>,
    policy: Stated,
    table: Option<Bound<'_, PyAny>>,
    node: Vec<(String, usize)>,
    control: Control,
) -> PyResult<(String, String)> {
    let given = Given::optional(table.as_ref(), &control)?;
    run(py, &control, move |job| {
        let policy = policy.policy()?;
        let load = LoadOptions { input: given.as_ref().map(Given::address), control: *job };
        let prepared = Prepared::load(&policy, &load)?;
        drop(given);
        if !node.is_empty() {
            let why = lattices::why_not(&policy, &prepared, &node, job)?;
            let told = lattices::NodeVerdict::of(&policy, &prepared, &why);
            return Ok((amidst::json::of(&told).to_string(), String::new()));
        }
        let metric = metric_of(&policy)?.id;
        // Where there is a lattice, it is what people want to see, unless they name a local algorithm.
        let lattice = policy.search.algorithm.is_none() && prepared.generalizations.iter().all(|g| g.has_hierarchy);
        if !lattice && !algorithm_of(&policy, &prepared)?.full_domain() {
            let found = lattices::local::compare(&policy, &prepared, job)?;
            return Ok((found.to_json().to_string(), pictures::algorithms(metric, &found)));
        }
        let explored = lattices::explore(&policy, &prepared, job)?;
        if explored.minimal.is_empty()
            && let Some(why) = lattices::obstacle(&policy, &prepared)?
        {
            return Err(Failure::Impossible(why));
        }
        let names: Vec<&str> = prepared.generalizations.iter().map(|g| g.name.as_str()).collect();
        let picture = pictures::front(&names, metric, &explored);
        Ok((amidst::json_output::explored(&prepared, &explored).to_string(), picture))
    })
}

/// The tables that an adversary knows.
#[derive(FromPyObject)]
pub struct Known<'py> {
    external: Vec<Bound<'py, PyAny>>,
    person: Option<String>,
    earlier: Vec<Bound<'py, PyAny>>,
    population: Option<Bound<'py, PyAny>>,
    original: Option<Bound<'py, PyAny>>,
}

/// Runs an attack: what it learned, as JSON.
#[pyfunction]
pub fn attack(
    py: Python<'_>,
    name: String,
    table: Bound<'_, PyAny>,
    roles: Roles,
    known: Known<'_>,
    parameters: Vec<(String, String)>,
    control: Control,
) -> PyResult<String> {
    let given = Given::of(&table, &control)?;
    let all =
        |list: &[Bound<'_, PyAny>]| list.iter().map(|each| Given::of(each, &control)).collect::<PyResult<Vec<Given>>>();
    let (external, earlier) = (all(&known.external)?, all(&known.earlier)?);
    let population = Given::optional(known.population.as_ref(), &control)?;
    let original = Given::optional(known.original.as_ref(), &control)?;
    let person = known.person;
    run(py, &control, move |job| {
        let Some(entry) = find(&name) else {
            let hint = amidst::nearest(&name, ATTACKS.iter().map(|a| a.id));
            let hint = hint.map(|n| format!("; did you mean `{n}`?")).unwrap_or_default();
            return Err(Failure::Usage(format!("there is no attack `{name}`{hint}")));
        };
        let mut stated = Parameters::default();
        parameters.iter().for_each(|(name, value)| stated.set(name, parameter(value)));
        let address = given.address();
        if entry.needs == Knowledge::Versions && is_series(&address) {
            return Ok(amidst::attack::attack_series(entry, &address, &stated)?.to_json().to_string());
        }
        let found = table_in(Path::new(&address));
        let data = found.as_ref().map_or(address.clone(), |f| f.table.to_string_lossy().into_owned());
        let policy = roles.policy(&data, found.as_ref().map(|f| f.policy.as_path()))?;
        let options = LoadOptions { control: *job, ..LoadOptions::default() };
        let (_, prepared) = audits::load(&policy, &data, &options)?;
        drop(given);
        let beside = AdversaryTables {
            external: external.iter().map(Given::address).collect(),
            person,
            earlier: earlier.iter().map(Given::address).collect(),
            population: population.as_ref().map(Given::address),
            original: original.as_ref().map(Given::address),
            threads: job.threads,
        };
        Ok(amidst::attack::attack(entry, &policy, &prepared, &beside, &stated)?.to_json().to_string())
    })
}

/// What the independent checker says of a release on the disk, as JSON.
#[pyfunction]
pub fn verify(
    py: Python<'_>,
    release: String,
    certificate: Option<String>,
    policy: Option<Stated>,
    original: Option<Bound<'_, PyAny>>,
    strict: bool,
    control: Control,
) -> PyResult<String> {
    let original = Given::optional(original.as_ref(), &control)?;
    run(py, &control, move |_| {
        let subject = match &certificate {
            Some(certificate) => checker::Subject::files(Path::new(&release), Path::new(certificate))?,
            None => checker::Subject::at(Path::new(&release))?,
        };
        let verdict = match &policy {
            None => checker::verify(&subject),
            Some(policy) => checker::verify_against(
                &subject,
                &checker::VerificationDemands::default(),
                &policy.policy()?,
                original.as_ref().map(Given::address).as_deref(),
            )?,
        };
        let verdict = if strict { verdict.strict() } else { verdict };
        Ok(serde_json::to_string(&verdict).unwrap_or_default())
    })
}

/// Synthetic patients.
#[pyfunction]
pub fn sample(py: Python<'_>, rows: u64, seed: u64, control: Control) -> PyResult<PyTable> {
    let bytes = run(py, &control, move |_| {
        let mut text = Vec::new();
        let failed = |e: &dyn std::fmt::Display| Failure::Io(format!("cannot make the patients: {e}"));
        amidst::sample::write(rows, seed, &mut text).map_err(|e| failed(&e))?;
        let read = amidst::io::read_from(text.as_slice(), Path::new("patients"), Format::Csv, &ReadOptions::default());
        let mut input = read.map_err(|e| failed(&e))?;
        input.guess_types(&[]);
        written(&input.table)
    })?;
    frame(py, bytes)
}

/// The text of the policy for them.
#[pyfunction]
pub fn sample_policy() -> &'static str {
    amidst::sample::POLICY
}
