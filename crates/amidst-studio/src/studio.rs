//! The studio's state: the project, the document, the jobs and what they found; and a view of all of it for one page.

use std::sync::{Arc, Mutex};

use amidst::Failure;
use amidst::policy::{Policy, ROLES, Role};
use toml_edit::{DocumentMut, Item, TableLike};

use crate::document::Document;
use crate::edit::{self, Edit};
use crate::guard::Guard;
use crate::jobs::{Jobs, Kind, lock};
use crate::places::{Problem, Problems};
use crate::project::Project;
use crate::results::{Basis, Reading, Results, files_in};
use crate::snapshot::{Change, Files, Snapshot};

/// Everything that the server holds.
#[derive(Debug)]
pub struct Studio {
    pub project: Project,
    pub guard: Guard,
    pub jobs: Arc<Jobs>,
    /// The table that is being looked at, or was last.
    pub looking: Mutex<Option<Reading>>,
    /// Files that results are made from.
    pub files: Files,
    /// What they held when somebody looked last.
    seen: Mutex<Snapshot>,
    document: Mutex<Document>,
    results: Mutex<Results>,
}

/// The state as one page sees it.
pub struct View {
    pub project: Project,
    pub text: Option<String>,
    /// The text as TOML, which also knows what a wrong policy says; empty where it is not even TOML.
    pub raw: DocumentMut,
    pub policy: Option<Policy>,
    pub problems: Problems,
    /// Why no release is possible, where none is.
    pub impossible: Problems,
    pub results: Results,
    pub jobs: Arc<Jobs>,
    /// What was done, step by step; which of them is current.
    pub steps: Vec<String>,
    pub at: usize,
    /// The text before the current step.
    pub before: Option<String>,
    pub version: u64,
    /// What the files hold now that the policy names.
    pub files: Snapshot,
    /// The files that are no longer what the shown figures were made from.
    pub changed: Vec<Change>,
    /// Whether the release that was verified last is still what it was then.
    pub verified_still: bool,
}

impl Studio {
    pub fn open(project: Project, guard: Guard) -> Result<Studio, Failure> {
        let document = Mutex::new(Document::open(&project.policy)?);
        Ok(Studio {
            project,
            guard,
            jobs: Arc::default(),
            looking: Mutex::default(),
            files: Files::default(),
            seen: Mutex::default(),
            document,
            results: Mutex::default(),
        })
    }

    /// What a page shows.
    pub fn view(&self) -> View {
        let version = self.jobs.version();
        let document = lock(&self.document);
        let (policy, mut problems) = match document.policy() {
            None => (None, Problems::default()),
            Some(Ok(policy)) => (Some(policy), Problems::default()),
            Some(Err(errors)) => (None, Problems::from(&errors)),
        };
        let results = self.results();
        let text = document.text().map(String::from);
        let files = policy.as_ref().map(|policy| self.files.snapshot(policy.files_read())).unwrap_or_default();
        let changed = self.changed_files(&results, text.as_deref(), &files);
        let mut impossible = Problems::default();
        let own = |text: &str| policy.is_some() && document.text() == Some(text);
        if let Some(checked) = results.checked.as_ref().filter(|c| own(&c.basis.text)) {
            problems = checked.problems.clone();
            impossible = checked.impossible.clone();
        }
        let [problems, impossible] = [problems, impossible].map(|found| found.seen_from(&self.project.folder));
        let (steps, at) = document.steps();
        let verified_still =
            results.verified.as_ref().is_some_and(|v| v.files_now(&self.project, &self.files) == v.files);
        View {
            project: self.project.clone(),
            raw: text.as_deref().and_then(|text| text.parse().ok()).unwrap_or_default(),
            policy,
            problems,
            impossible,
            results,
            jobs: Arc::clone(&self.jobs),
            steps: steps.iter().map(|step| step.what.clone()).collect(),
            at,
            before: document.before().map(|step| step.text.clone()),
            text,
            version,
            files,
            changed,
            verified_still,
        }
    }

    /// The files that have changed since the table was looked at, or since the policy was held against them.
    fn changed_files(&self, results: &Results, text: Option<&str>, now: &Snapshot) -> Vec<Change> {
        let looked = results.overview.as_ref().filter(|_| !self.jobs.runs(Kind::Look)).map(|(reading, _)| {
            let files = self.files.snapshot(amidst::io::files_of(&reading.source));
            files.changes_since(&reading.files)
        });
        let checked = results.checked.as_ref().filter(|c| text == Some(&c.basis.text) && !self.jobs.runs(Kind::Check));
        let checked = checked.map(|checked| now.changes_since(&checked.basis.files));
        let mut changed: Vec<Change> = looked.into_iter().chain(checked).flatten().collect();
        changed.sort_by(|a, b| a.path.cmp(&b.path));
        changed.dedup();
        changed
    }

    /// Whether the files that pages tell of have changed since this was asked last.
    pub fn files_moved(&self) -> bool {
        let named = self.policy().map(|(_, policy)| policy.files_read()).unwrap_or_default();
        let verified = self.results().verified.and_then(|verified| self.project.inside(&verified.folder));
        let now = self.files.snapshot(named.into_iter().chain(verified.iter().flat_map(|v| files_in(v))).collect());
        let mut seen = lock(&self.seen);
        let moved = *seen != now;
        *seen = now;
        moved
    }

    /// The policy, and what is made from it if its files are read now.
    ///
    /// # Errors
    /// When there is no policy, or it is wrong.
    pub fn basis(&self) -> Result<(Basis, Policy), Failure> {
        let (text, policy) = self.policy()?;
        let files = self.files.snapshot(policy.files_read());
        Ok((Basis { text, files }, policy))
    }

    /// What was found so far.
    pub fn results(&self) -> Results {
        lock(&self.results).clone()
    }

    /// Keeps what was found.
    pub fn keep(&self, change: impl FnOnce(&mut Results)) {
        change(&mut lock(&self.results));
        self.jobs.changed();
    }

    /// The text of the policy and what it says.
    ///
    /// # Errors
    /// When there is no policy, or it is wrong.
    pub fn policy(&self) -> Result<(String, Policy), Failure> {
        let document = lock(&self.document);
        match (document.text(), document.policy()) {
            (Some(text), Some(policy)) => Ok((text.to_string(), policy?)),
            _ => Err(Failure::Usage("there is no policy yet; choose a table first".to_string())),
        }
    }

    /// Makes an edit; tells what was done.
    ///
    /// # Errors
    /// When it cannot be made or written.
    pub fn edit(&self, edit: &Edit) -> Result<String, Failure> {
        let overview = self.results().overview;
        let suggestion = |column: &str| overview.as_ref().and_then(|(_, o)| o.suggestion(column));
        let mut document = lock(&self.document);
        document.follow()?;
        let text = document.text().unwrap_or_default();
        let (what, new) = edit::apply(text, edit, suggestion).map_err(|e| Failure::Usage(e.0))?;
        document.write(&what, new)?;
        Ok(what)
    }

    /// Replaces the document, such as by the draft for another table.
    pub fn replace(&self, what: &str, text: String) -> Result<(), Failure> {
        lock(&self.document).write(what, text)
    }

    /// Undoes or redoes a step; tells which.
    pub fn travel(&self, back: bool) -> Result<Option<String>, Failure> {
        lock(&self.document).travel(back)
    }

    /// Takes over what others wrote into the policy; tells whether they did.
    pub fn follow(&self) -> Result<bool, Failure> {
        lock(&self.document).follow()
    }
}

impl View {
    /// The role of a column. Nothing is shown of a column without one.
    pub fn role(&self, column: &str) -> Role {
        self.stated_role(column).unwrap_or(Role::Identifying)
    }

    /// The role that the policy states, also where the rest of it is wrong.
    pub fn stated_role(&self, column: &str) -> Option<Role> {
        let columns = self.raw.get("columns")?;
        let section = columns.get(column).or_else(|| columns.get("*"))?;
        let role = section.get("role")?.as_str()?;
        ROLES.iter().find(|(word, _)| *word == role).map(|(_, role)| *role)
    }

    /// The columns that the policy gives a role, in its order.
    pub fn columns_with(&self, role: Role) -> Vec<String> {
        let columns = self.raw.get("columns").and_then(Item::as_table_like);
        let names = columns.into_iter().flat_map(|c| c.iter()).map(|(name, _)| name.to_string());
        names.filter(|name| name != "*" && self.stated_role(name) == Some(role)).collect()
    }

    /// The sections `[[require]]` of the policy.
    pub fn requirements(&self) -> Vec<&dyn TableLike> {
        match self.raw.get("require") {
            Some(Item::ArrayOfTables(list)) => list.iter().map(|table| table as &dyn TableLike).collect(),
            Some(Item::Value(toml_edit::Value::Array(list))) => {
                list.iter().filter_map(|v| v.as_inline_table()).map(|table| table as &dyn TableLike).collect()
            }
            _ => Vec::new(),
        }
    }

    /// What is wrong at a field, or asks too much there.
    pub fn wrong_at<'a>(&'a self, keys: &'a [&str]) -> Vec<&'a Problem> {
        self.problems.within(keys).chain(self.impossible.within(keys)).collect()
    }

    /// Whether something was made from the current policy.
    pub fn current_policy(&self, basis: &Basis) -> bool {
        self.text.as_deref() == Some(&basis.text)
    }

    /// What files are called on the page: as from the project's folder.
    pub fn named<'a>(&self, changed: impl IntoIterator<Item = &'a Change>) -> String {
        let name = |change: &Change| {
            let inside = change.path.strip_prefix(&self.project.folder).unwrap_or(&change.path);
            inside.display().to_string()
        };
        changed.into_iter().map(name).collect::<Vec<_>>().join(", ")
    }

    /// The table, where it was looked at.
    pub fn overview(&self) -> Option<&amidst::overview::Overview> {
        self.results.overview.as_ref().map(|(_, overview)| &**overview)
    }
}
