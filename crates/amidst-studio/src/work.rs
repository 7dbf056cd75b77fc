//! What jobs do: each calls the library as the command line does, and keeps what it found.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use amidst::anonymize::{Candidate, Options, anonymize};
use amidst::check::{On, Requirement};
use amidst::core::search::Impossible;
use amidst::explore;
use amidst::io::Conventions;
use amidst::overview::{self, Overview, Sides};
use amidst::plan::algorithm_of;
use amidst::policy::Policy;
use amidst::policy_check::{Finding, check_and_prepare};
use amidst::prepare::{LoadOptions, PrepareError, Prepared};
use amidst::report::partition;
use amidst::series::{self, Batch, First, Mode, Series, SeriesAudit};
use amidst::verify::{Subject, verify};
use amidst::{Failure, job::Job};
use serde_json::Value;

use crate::edit::{self, Edit};
use crate::jobs::{Kind, lock};
use crate::places::Problems;
use crate::results::{
    self, Checked, Compared, Exploration, Fitted, Growing, Made, Possible, Publication, Reading, SeriesOutcome,
    Verified,
};
use crate::studio::Studio;

/// Rows that are shown of a table before anything is counted, and of either side of a comparison.
pub const FIRST_ROWS: u64 = 8;

/// Makes an edit of the document, and starts what follows from it.
///
/// # Errors
/// When it cannot be made or written.
pub fn edit(studio: &Arc<Studio>, edit: &Edit) -> Result<String, Failure> {
    let what = studio.edit(edit)?;
    follow_document(studio);
    Ok(what)
}

/// Undoes or redoes a step, and starts what follows from it.
///
/// # Errors
/// When it cannot be written.
pub fn travel(studio: &Arc<Studio>, back: bool) -> Result<Option<String>, Failure> {
    let what = studio.travel(back)?;
    follow_document(studio);
    Ok(what)
}

/// Takes over what others wrote into the policy, and lets pages tell of files that have changed.
///
/// # Errors
/// When it cannot be read.
pub fn follow(studio: &Arc<Studio>) -> Result<(), Failure> {
    if studio.follow()? {
        follow_document(studio);
    }
    if studio.files_moved() {
        studio.jobs.changed();
    }
    Ok(())
}

/// Starts what follows from a changed document: another table is looked at, and the policy is held against it.
pub fn follow_document(studio: &Arc<Studio>) {
    studio.jobs.changed();
    let Ok((_, policy)) = studio.policy() else {
        studio.jobs.stop(Kind::Check);
        studio.jobs.forget(Kind::Look);
        return;
    };
    if let Some(reading) = Reading::of_policy(&policy, &studio.files) {
        let looked = studio.results().overview.is_some_and(|(looked, _)| looked == reading);
        // A job that drafts a policy ends with this, for the policy that it drafted.
        let drafts = studio.jobs.runs(Kind::Look) && lock(&studio.looking).as_ref().is_some_and(|r| r.stated.is_none());
        if looked {
            // Another table may have been asked for meanwhile that could not be read.
            studio.jobs.forget(Kind::Look);
        } else if !drafts {
            look(studio, reading);
        }
    }
    check(studio);
}

/// Opens a table that there is no policy for: its first rows are there when this returns, the rest follows.
///
/// # Errors
/// When it cannot be read; nothing has changed then.
pub fn open(studio: &Arc<Studio>, source: String) -> Result<(), Failure> {
    let reading = Reading::of_source(source, &studio.files);
    first(studio, &reading)?;
    look(studio, reading);
    Ok(())
}

/// Reads the table of the policy again, and holds the policy against it.
///
/// # Errors
/// When there is no policy, it names no table, or the table cannot be read.
pub fn again(studio: &Arc<Studio>) -> Result<(), Failure> {
    let (_, policy) = studio.policy()?;
    let Some(reading) = Reading::of_policy(&policy, &studio.files) else {
        return Err(Failure::Usage("the policy names no table; choose one".to_string()));
    };
    // What cannot be read any more is told by the check, at the place of the table's name.
    if first(studio, &reading).is_ok() {
        look(studio, reading);
    }
    check(studio);
    Ok(())
}

/// Drafts the policy anew for the table as it is read now, such as another sheet of its workbook; how it is read,
/// searched and written stays.
///
/// # Errors
/// When the policy is wrong, or its table was not looked at.
pub fn draft(studio: &Arc<Studio>) -> Result<String, Failure> {
    let (text, policy) = studio.policy()?;
    let reading = Reading::of_policy(&policy, &studio.files);
    let Some((_, overview)) = studio.results().overview.filter(|(looked, _)| Some(looked) == reading.as_ref()) else {
        return Err(Failure::Usage("the table was not looked at yet; read it again".to_string()));
    };
    let drafted = overview.draft(&studio.project.folder);
    let new = edit::redrafted(&text, &drafted).map_err(|e| Failure::Usage(e.0))?;
    let what = "drafted anew for this table";
    studio.replace(what, new)?;
    follow_document(studio);
    Ok(what.to_string())
}

/// Looks at a table; where there is no policy for it, the first one is drafted and becomes the document.
pub fn look(studio: &Arc<Studio>, reading: Reading) {
    let kept = Arc::clone(studio);
    if studio.jobs.runs(Kind::Look) && lock(&studio.looking).as_ref() == Some(&reading) {
        return;
    }
    *lock(&studio.looking) = Some(reading.clone());
    studio.jobs.start(Kind::Look, move |job| {
        let Reading { source, stated, .. } = &reading;
        if kept.results().first.is_none_or(|(read, _)| read != reading) {
            first(&kept, &reading)?;
        }
        let overview = Arc::new(Overview::of(source, stated.as_ref(), job)?);
        kept.keep(|results| {
            results.overview = Some((reading.clone(), Arc::clone(&overview)));
            results.survey = None;
        });
        let mut reading = reading.clone();
        if stated.is_none() {
            let name = Path::new(source).file_name().map_or(source.clone(), |n| n.to_string_lossy().into_owned());
            kept.replace(&format!("drafted for {name}"), overview.draft(&kept.project.folder))?;
            reading = drafted(&kept, reading)?;
            follow_document(&kept);
        }
        survey(&kept, reading, overview);
        Ok(())
    });
}

/// Reads the first rows.
fn first(studio: &Studio, reading: &Reading) -> Result<(), Failure> {
    // Which sheets there are is to be known above all where the stated one cannot be read.
    let sheets = Arc::new(results::sheets_of(&reading.source));
    if studio.results().sheets != sheets {
        studio.keep(|results| results.sheets = sheets);
    }
    let first = Arc::new(overview::first_rows(&reading.source, reading.stated.as_ref(), FIRST_ROWS)?);
    studio.keep(|results| results.first = Some((reading.clone(), first)));
    Ok(())
}

/// What was read by guesses is the table of the policy that states them.
fn drafted(studio: &Studio, guessed: Reading) -> Result<Reading, Failure> {
    let Some(reading) = studio.policy().ok().and_then(|(_, policy)| Reading::of_policy(&policy, &studio.files)) else {
        return Ok(guessed);
    };
    // What changed while it was read is to be noticed.
    let reading = Reading { files: guessed.files.clone(), ..reading };
    let conventions = reading.stated.as_ref().map(|data| &data.conventions);
    if conventions.is_some_and(|stated| *stated != Conventions::default()) {
        first(studio, &reading)?;
    }
    studio.keep(|results| {
        if let Some((read, _)) = results.overview.as_mut().filter(|(read, _)| *read == guessed) {
            *read = reading.clone();
        }
    });
    Ok(reading)
}

fn survey(studio: &Arc<Studio>, reading: Reading, overview: Arc<Overview>) {
    let kept = Arc::clone(studio);
    studio.jobs.start(Kind::Survey, move |_| {
        let found = Arc::new(overview.survey());
        kept.keep(|results| {
            if results.overview.as_ref().is_some_and(|(looked, _)| *looked == reading) {
                results.survey = Some(found);
            }
        });
        Ok(())
    });
}

/// Holds the policy against its table.
pub fn check(studio: &Arc<Studio>) {
    let kept = Arc::clone(studio);
    studio.jobs.start(Kind::Check, move |job| {
        let (basis, policy) = kept.basis()?;
        if policy.data.input.is_none() {
            return Ok(());
        }
        let load = LoadOptions { input: None, control: *job };
        let (findings, prepared) = check_and_prepare(&policy, &load);
        let mut checked = Checked {
            basis: basis.clone(),
            problems: Problems::default(),
            impossible: Problems::default(),
            remarks: Vec::new(),
        };
        for finding in findings {
            match finding {
                Finding::Fits(_) => {}
                Finding::Remark(remark) => checked.remarks.push(remark),
                Finding::Impossible(why) => checked.impossible = impossible(&policy, &why),
                Finding::Wrong(errors) => checked.problems = Problems::from(&errors),
                Finding::Unreadable(PrepareError::Cancelled) => return Err(Failure::Cancelled),
                Finding::Unreadable(error) => checked.problems = Problems::from(&Failure::from(error)),
            }
        }
        let fitted = prepared.map(|prepared| {
            let strongest = explore::strongest(&policy, &prepared).unwrap_or_default();
            Arc::new(Fitted::new(basis, policy, prepared, strongest))
        });
        kept.keep(|results| {
            results.checked = Some(Arc::new(checked));
            if fitted.is_some() {
                results.fitted = fitted;
            }
        });
        Ok(())
    });
}

/// Why no release is possible, at the requirement that asks too much.
fn impossible(policy: &Policy, why: &Impossible) -> Problems {
    let place = why.unmet.as_deref().and_then(|unmet| {
        let model = policy.requirements.get(unmet.requirement)?.model;
        let asked = model.parameters.iter().find(|p| p.name == unmet.best.parameter)?;
        Some((unmet.requirement.to_string(), asked.name))
    });
    match place {
        Some((position, parameter)) => Problems::at(&["require", &position, parameter], &why.message),
        None => Problems::at(&[], &why.message),
    }
}

/// The table of the current policy, ready to be searched: the one that a check kept, or read again.
fn prepared(studio: &Studio, job: &Job<'_>) -> Result<Arc<Fitted>, Failure> {
    let (basis, policy) = studio.basis()?;
    if let Some(fitted) = studio.results().fitted.filter(|fitted| fitted.basis == basis) {
        return Ok(fitted);
    }
    let load = LoadOptions { input: None, control: *job };
    let prepared = Prepared::load(&policy, &load)?;
    Ok(Arc::new(Fitted::new(basis, policy, prepared, Vec::new())))
}

/// Looks at what is possible.
pub fn explore(studio: &Arc<Studio>) {
    let kept = Arc::clone(studio);
    studio.jobs.start(Kind::Explore, move |job| {
        kept.keep(|results| results.growing = None);
        let fitted = prepared(&kept, job)?;
        let (policy, table) = (&fitted.policy, &fitted.prepared);
        let growing = Arc::new(Growing::new(Arc::clone(&fitted)));
        kept.keep(|results| results.growing = Some(Arc::clone(&growing)));
        let seen = |seen| {
            if growing.take(seen) {
                kept.jobs.changed();
            }
        };
        let lattice = policy.search.algorithm.is_none() && table.generalizations.iter().all(|g| g.has_hierarchy);
        let made = if lattice || algorithm_of(policy, table)?.full_domain() {
            let columns = table.generalizations.iter().map(|g| (g.name.clone(), g.height())).collect();
            Possible::Lattice(columns, explore::explore_all(policy, table, job, &seen)?)
        } else {
            let mut found = explore::local::compare_watched(policy, table, job, &seen)?;
            let partitions = found.algorithms.iter_mut().filter_map(|tried| {
                let (recoding, judged) = (tried.recoding.take()?, tried.judged.as_ref().ok()?);
                Some((tried.algorithm, partition(&recoding, &table.generalizations, &judged.classes)?))
            });
            let partitions = partitions.collect();
            Possible::Local(found, partitions)
        };
        let explored = Exploration { fitted: Arc::clone(&fitted), possible: made };
        kept.keep(|results| {
            results.growing = None;
            results.explored = Some(Arc::new(explored));
        });
        Ok(())
    });
}

/// Makes a release in memory, to be looked at.
pub fn compare(studio: &Arc<Studio>) {
    let kept = Arc::clone(studio);
    studio.jobs.start(Kind::Compare, move |job| {
        let (basis, policy) = kept.basis()?;
        let candidate = Candidate::of_source(&policy, None, job)?;
        let release = candidate.release(policy.output.file.as_deref(), job)?;
        let sides = Sides::of(&candidate);
        let rows = overview::released_rows(&release, FIRST_ROWS)?;
        let pairs = overview::associations(candidate.prepared(), &release)?;
        let made = Compared::new(release, sides, pairs, rows);
        kept.keep(|results| results.compared = Some(Arc::new(Made { basis, made })));
        Ok(())
    });
}

/// Publishes a release, as `amidst anonymize` does.
pub fn publish(studio: &Arc<Studio>, folder: String, out: PathBuf, force: bool) {
    let kept = Arc::clone(studio);
    studio.jobs.start(Kind::Publish, move |job| {
        let (basis, policy) = kept.basis()?;
        let options = Options { out: Some(out), force, ..Options::default() };
        let done = anonymize(&policy, &options, job)?;
        let made = Publication { folder: folder.clone(), json: done.to_json(), warnings: done.warnings };
        kept.keep(|results| results.published = Some(Arc::new(Made { basis, made })));
        self::verified(&kept, folder);
        Ok(())
    });
}

/// Asks the independent checker about a release.
pub fn verified(studio: &Arc<Studio>, folder: String) {
    let kept = Arc::clone(studio);
    studio.jobs.start(Kind::Verify, move |_| {
        let Some(path) = kept.project.inside(&folder) else {
            return Err(Failure::Usage(format!("{folder} is not in the project")));
        };
        let files = kept.files.snapshot(results::files_in(&path));
        let verdict = verify(&Subject::at(&path)?);
        let told = Verified {
            folder,
            files,
            valid: verdict.valid,
            problems: verdict.problems.iter().map(ToString::to_string).collect(),
            claims: verdict
                .requirements
                .iter()
                .map(|found| format!("{}: {}", claim(&found.requirement), found.verdict.word()))
                .collect(),
        };
        kept.keep(|results| results.verified = Some(Arc::new(told)));
        Ok(())
    });
}

/// A requirement as people write it: the model, what it is on, and its parameters.
fn claim(stated: &Requirement) -> String {
    let on = match &stated.on {
        None => String::new(),
        Some(On::One(column)) => format!(" on {column}"),
        Some(On::Many(columns)) => format!(" on {}", columns.join(" and ")),
    };
    let words = |(name, value): (&String, &Value)| match value {
        Value::String(text) => format!(" {name} = {text}"),
        other => format!(" {name} = {other}"),
    };
    let parameters: Vec<String> = stated.parameters.iter().map(words).collect();
    format!("{}{on}{}", stated.model, parameters.join(","))
}

/// What is done to a series.
#[derive(Debug, Clone)]
pub enum SeriesAct {
    /// It begins with the policy's table.
    Begin(Option<Mode>),
    /// Rows come and go.
    Apply(Batch),
    /// The next version is published; so that it exposes nobody, if asked for.
    Publish { safe: bool },
    /// The last batch is taken back.
    Undo,
    /// All versions are held against the policy.
    Audit,
}

/// Works on a series.
pub fn series(studio: &Arc<Studio>, folder: String, path: PathBuf, act: SeriesAct) {
    let kept = Arc::clone(studio);
    studio.jobs.start(Kind::Series, move |job| {
        let (sentence, audit) = match act {
            SeriesAct::Begin(mode) => {
                let (_, policy) = kept.policy()?;
                let done = series::init(&path, &policy, mode, First::default(), job)?;
                (format!("the series has begun; version {} is published", done.version), Some(done.audit))
            }
            SeriesAct::Apply(batch) => {
                let done = Series::open(&path)?.apply(&batch, job)?;
                (format!("batch {}: {} rows came, {} went", done.batch, done.inserted, done.deleted), None)
            }
            SeriesAct::Publish { safe } => {
                let mut series = Series::open(&path)?;
                let done = if safe { series.publish_safe(false, job)? } else { series.publish(false, job)? };
                (format!("version {} is published", done.version), Some(done.audit))
            }
            SeriesAct::Undo => {
                let done = Series::open(&path)?.undo()?;
                (format!("batch {} is taken back", done.batch), None)
            }
            SeriesAct::Audit => ("audited".to_string(), Some(Series::open(&path)?.audit(job)?)),
        };
        let told = |audit: SeriesAudit| {
            (!audit.finds_leaks(), format!("All versions together reveal: {} ({}).", audit.sentence(), audit.method()))
        };
        let audit = audit.map(told);
        kept.keep(|results| results.series = Some(Arc::new(SeriesOutcome { folder, sentence, audit })));
        Ok(())
    });
}
