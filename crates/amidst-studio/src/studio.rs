//! The studio's state: the project, the document, the jobs and what they found; and a view of all of it for one page.

use std::sync::{Arc, Mutex};

use amidst::Failure;
use amidst::policy::{Policy, ROLES, Role};
use toml_edit::{DocumentMut, Item, TableLike};

use crate::document::Document;
use crate::edit::{self, Edit};
use crate::guard::Guard;
use crate::jobs::{Jobs, lock};
use crate::places::{Problem, Problems};
use crate::project::Project;
use crate::results::{Reading, Results};

/// Everything that the server holds.
#[derive(Debug)]
pub struct Studio {
    pub project: Project,
    pub guard: Guard,
    pub jobs: Arc<Jobs>,
    /// The table that is being looked at, or was last.
    pub looking: Mutex<Option<Reading>>,
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
}

impl Studio {
    pub fn open(project: Project, guard: Guard) -> Result<Studio, Failure> {
        let document = Mutex::new(Document::open(&project.policy)?);
        Ok(Studio {
            project,
            guard,
            jobs: Arc::default(),
            looking: Mutex::default(),
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
        let mut impossible = Problems::default();
        if let Some(checked) = results.checked.as_ref().filter(|c| Some(&c.text) == text.as_ref() && policy.is_some()) {
            problems = checked.problems.clone();
            impossible = checked.impossible.clone();
        }
        let (steps, at) = document.steps();
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
        }
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
    /// The role of a column. Where nobody says what a column is, nothing of it is shown.
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

    /// Whether what was made from a text was made from the current one.
    pub fn current(&self, text: &str) -> bool {
        self.text.as_deref() == Some(text)
    }

    /// The table, where it was looked at.
    pub fn overview(&self) -> Option<&amidst::overview::Overview> {
        self.results.overview.as_ref().map(|(_, overview)| &**overview)
    }
}
