//! Columns that are published as they are and single people out: refused, unless the policy says why.
//!
//! A patient number in an insensitive column undoes whatever is done to the others, and no requirement looks at it. The
//! share of rows that are unique on the insensitive columns together, those apart for which the policy gives a reason,
//! must not exceed [`UNIQUE_PERCENT`] percent. What exceeds it is named: each column that does so alone, and otherwise
//! a set of columns that cannot be made smaller. Where persons have several rows, a row counts as unique when nobody
//! else has its cells.

use amidst_check::{UNIQUE_PERCENT, singles_out};
use amidst_core::internal::row_groups::RowGroups;
use amidst_core::table::{Column, Table};

use crate::policy::{Diagnostic, Policy, Role};
use crate::prepare::{Fitted, PrepareError, Prepared};
use crate::release::Released;
use crate::unique::kept;
use crate::words::{grouped, named, percent};

/// Refuses columns that are published as they are and single people out of these rows, of which all would be released.
///
/// # Errors
/// The columns, each at its place in the policy.
pub(crate) fn refuse_rows(policy: &Policy, table: &Table) -> Result<(), PrepareError> {
    let role = |column: &Column| policy.column(&column.name).map_or(Role::Identifying, |c| c.role);
    let roles: Vec<Role> = table.columns.iter().map(role).collect();
    Raw::of(policy, table, &roles, None, &[], false).refuse()
}

/// Rows, and the columns of them that are published as they are.
struct Raw<'a> {
    policy: &'a Policy,
    rows: usize,
    left_out: &'a [u32],
    /// Whose rows they are, where some persons have several.
    persons: Option<&'a Column>,
    /// The insensitive columns for which the policy gives no reason.
    columns: Vec<&'a Column>,
    /// Whether the rows are published as they are counted, or only would be if none were left out.
    released: bool,
    /// The class of each row, where rows are unique that nobody of their class shares.
    class: Option<&'a Column>,
}

/// Columns, and how many rows are unique in them.
struct Found<'a> {
    columns: Vec<&'a Column>,
    unique: u64,
}

impl Prepared {
    /// Refuses columns that are published as they are and single people out, on the rows that would be released; the
    /// last `counterfeits` rows stand for nobody.
    ///
    /// # Errors
    /// The columns, each at its place in the policy.
    pub fn refuse_raw(&self, policy: &Policy, counterfeits: u64) -> Result<(), PrepareError> {
        let real = self.table.rows.saturating_sub(counterfeits as usize);
        let left_out: Vec<u32> = (real as u32..self.table.rows as u32).collect();
        Raw::of(policy, &self.table, &self.roles, self.key, &left_out, false).refuse()
    }

    /// Refuses columns that are published as they are and link the versions of a series: in which rows are unique
    /// within their class. `class_of` is the class of each row; the last `counterfeits` rows stand for nobody.
    ///
    /// # Errors
    /// The columns, each at its place in the policy.
    pub fn refuse_links(&self, policy: &Policy, counterfeits: u64, class_of: &[u32]) -> Result<(), PrepareError> {
        let real = self.table.rows.saturating_sub(counterfeits as usize);
        let left_out: Vec<u32> = (real as u32..self.table.rows as u32).collect();
        let classes: Vec<String> = class_of.iter().map(u32::to_string).collect();
        let classes = Column::from_values("", classes.iter().map(String::as_str));
        let mut raw = Raw::of(policy, &self.table, &self.roles, self.key, &left_out, false);
        // What all rows have tells none apart, also where a class has one row.
        raw.columns.retain(|column| column.dictionary.len() > 1);
        Raw { class: Some(&classes), ..raw }.refuse()
    }

    /// The same on the rows that are released.
    ///
    /// # Errors
    /// The columns, each at its place in the policy.
    pub fn refuse_released(&self, policy: &Policy, released: &Released) -> Result<(), PrepareError> {
        // What is as it was has been looked at already.
        if released.left_out.is_empty() || released.weights.is_some() {
            return Ok(());
        }
        Raw::of(policy, &self.table, &self.roles, self.key, &released.left_out, true).refuse()
    }
}

impl Fitted {
    /// How many rows are unique on the insensitive columns, and what must be refused.
    pub(super) fn raw(&self, policy: &Policy) -> (u64, Vec<Diagnostic>) {
        let all: Vec<&Column> = (self.table.columns.iter().zip(&self.layout.roles))
            .filter(|&(_, role)| *role == Role::Insensitive)
            .map(|(column, _)| column)
            .collect();
        let unique = if all.is_empty() { 0 } else { RowGroups::of(&all, self.table.rows).unique() };
        let raw = Raw::of(policy, &self.table, &self.layout.roles, self.layout.key, &[], false);
        (unique, raw.errors())
    }
}

/// What a checker refused that looked at rows which are not here: the columns for which the policy gives no reason.
pub(crate) fn refused(policy: &Policy, header: &[String], unique: &str) -> PrepareError {
    let unexplained =
        |name: &&String| policy.column(name).is_some_and(|c| c.role == Role::Insensitive && c.accept.is_none());
    let names: Vec<&str> = header.iter().filter(unexplained).map(String::as_str).collect();
    PrepareError::of(policy, vec![diagnostic(policy, &names, SINGLES_OUT, unique.to_string())])
}

impl<'a> Raw<'a> {
    fn of(
        policy: &'a Policy,
        table: &'a Table,
        roles: &[Role],
        key: Option<usize>,
        left_out: &'a [u32],
        released: bool,
    ) -> Self {
        let unexplained = |&(column, role): &(&Column, &Role)| {
            *role == Role::Insensitive && policy.column(&column.name).is_some_and(|c| c.accept.is_none())
        };
        let columns = table.columns.iter().zip(roles).filter(unexplained).map(|(column, _)| column).collect();
        let persons = key.and_then(|key| table.columns.get(key)).filter(|c| c.dictionary.len() < table.rows);
        Raw { policy, rows: table.rows, left_out, persons, columns, released, class: None }
    }

    fn refuse(&self) -> Result<(), PrepareError> {
        let errors = self.errors();
        if errors.is_empty() { Ok(()) } else { Err(PrepareError::of(self.policy, errors)) }
    }

    /// Everything that singles people out.
    fn errors(&self) -> Vec<Diagnostic> {
        if self.columns.is_empty() || !self.singles(self.unique(&self.columns)) {
            return Vec::new();
        }
        let (mut alone, mut rest) = (Vec::new(), Vec::new());
        for &column in &self.columns {
            let unique = self.unique(&[column]);
            match self.singles(unique) {
                true => alone.push(Found { columns: vec![column], unique }),
                false => rest.push(column),
            }
        }
        let together = self.smallest_set(rest);
        // Those that no section names have one line of the policy in common.
        let (unnamed, mut found): (Vec<Found<'a>>, Vec<Found<'a>>) =
            alone.into_iter().partition(|f| !self.policy.columns.iter().any(|c| c.name == f.columns[0].name));
        found.extend(together);
        let mut errors: Vec<Diagnostic> = found.iter().map(|found| self.diagnostic(found)).collect();
        errors.extend(self.unnamed(&unnamed));
        errors
    }

    fn kept(&self) -> u64 {
        (self.rows - self.left_out.len()) as u64
    }

    fn singles(&self, unique: u64) -> bool {
        singles_out(unique, self.kept())
    }

    /// How many rows nobody else shares on these columns.
    fn unique(&self, columns: &[&Column]) -> u64 {
        if let [column] = columns
            && self.class.is_none()
            && !singles_out(column.dictionary.len() as u64, self.kept())
            && self.persons.is_none()
        {
            // There are fewer values than rows would have to be unique.
            return 0;
        }
        let columns: Vec<&Column> = columns.iter().copied().chain(self.class).collect();
        let groups = RowGroups::of(&columns, self.rows).without(self.left_out);
        match self.persons {
            None => groups.unique(),
            Some(person) => groups.persons(&person.codes, kept(self.rows, self.left_out)).alone,
        }
    }

    /// Columns that single people out together, none of which can be spared.
    fn smallest_set(&self, mut columns: Vec<&'a Column>) -> Option<Found<'a>> {
        // Columns of many values first: few of them suffice.
        columns.sort_by_key(|c| std::cmp::Reverse(c.dictionary.len()));
        let mut set = Vec::new();
        let mut unique = 0;
        for column in columns {
            set.push(column);
            unique = self.unique(&set);
            if self.singles(unique) {
                break;
            }
        }
        if !self.singles(unique) {
            return None;
        }
        for at in (0..set.len()).rev() {
            let mut fewer = set.clone();
            fewer.remove(at);
            let left = if fewer.is_empty() { 0 } else { self.unique(&fewer) };
            if self.singles(left) {
                (set, unique) = (fewer, left);
            }
        }
        Some(Found { columns: set, unique })
    }

    /// "12 of the 400 rows that would be released (3 %)".
    fn share(&self, unique: u64) -> String {
        let rows = grouped(self.kept());
        let which = if self.released { format!("{rows} released rows") } else { format!("{rows} rows to be released") };
        format!("{} of the {which} ({})", grouped(unique), percent(unique, self.kept()))
    }

    fn diagnostic(&self, found: &Found<'_>) -> Diagnostic {
        let names: Vec<&str> = found.columns.iter().map(|c| c.name.as_str()).collect();
        let share = self.share(found.unique);
        let unique = if found.unique == 1 { "is" } else { "are" };
        let within = if self.class.is_some() { " within their class" } else { "" };
        let what = match &names[..] {
            [_] => format!("{share} {unique} unique in it{within}"),
            _ => format!("{share} {unique} unique in them together{within}"),
        };
        diagnostic(self.policy, &names, self.does(), what)
    }

    /// What such columns do.
    fn does(&self) -> &'static str {
        if self.class.is_some() { LINKS } else { SINGLES_OUT }
    }

    fn unnamed(&self, found: &[Found<'_>]) -> Option<Diagnostic> {
        match found {
            [] => None,
            [one] => Some(self.diagnostic(one)),
            several => {
                let names: Vec<&str> = several.iter().map(|f| f.columns[0].name.as_str()).collect();
                let shares: Vec<String> = several.iter().map(|f| percent(f.unique, self.kept())).collect();
                let within = if self.class.is_some() { " within their class" } else { "" };
                let what = format!("{} of the rows are unique in each{within}, as listed", shares.join(", "));
                Some(diagnostic(self.policy, &names, self.does(), what))
            }
        }
    }
}

/// What columns that are published as they are must not do.
const SINGLES_OUT: &str = "singling people out";
const LINKS: &str = "linking the versions of a series, in which the same cells come again";

/// The error that these columns do what they must not, at the roles that publish them as they are.
fn diagnostic(policy: &Policy, names: &[&str], does: &str, unique: String) -> Diagnostic {
    let (are, them, own) = match names {
        [_] => ("is", "it", " in a section of its own"),
        _ => ("are", "them", " in sections of their own"),
    };
    let quoted: Vec<String> = names.iter().map(|n| format!("`{n}`")).collect();
    let message = format!("{} {are} published as {} {does}: {unique}", named(&quoted), it_is(names));
    let section =
        |name: &&str| if policy.columns.iter().any(|c| c.name == **name) { (*name).to_string() } else { "*".into() };
    let mut sections: Vec<String> = names.iter().map(section).collect();
    sections.dedup();
    let spans = sections.iter().filter_map(|name| policy.origin.span(&["columns", name, "role"], true));
    let mut spans: Vec<_> = spans.collect();
    spans.sort_by_key(|span| span.start);
    spans.dedup();
    let first = (!spans.is_empty()).then(|| spans.remove(0));
    let star = if sections.iter().any(|s| s == "*") { own } else { "" };
    let help = format!(
        "at most {UNIQUE_PERCENT} % may be; three ways out{star}: `role = \"quasi\"` to generalize {them}, \
         `role = \"identifying\"` to leave {them} out, or `accept = \"why\"` beside the role to publish {them} all the same, \
         with the reason in report and certificate"
    );
    Diagnostic { span: first, also: spans, ..Diagnostic::new(message) }.label("published as it is").help(help)
}

fn it_is(names: &[&str]) -> &'static str {
    if names.len() == 1 { "it is," } else { "they are," }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// A table of these columns, and a policy that publishes them as they are.
    fn raw(columns: &[(&str, Vec<String>)], sections: &str) -> (Policy, Table) {
        let text = format!("[columns.q]\nrole = \"quasi\"\n{sections}");
        let policy = Policy::parse(&text, Path::new("policy.toml")).unwrap();
        let column =
            |(name, values): &(&str, Vec<String>)| Column::from_values(name, values.iter().map(String::as_str));
        let table = Table { rows: columns[0].1.len(), columns: columns.iter().map(column).collect() };
        (policy, table)
    }

    fn errors(columns: &[(&str, Vec<String>)], sections: &str, left_out: &[u32]) -> Vec<String> {
        let (policy, table) = raw(columns, sections);
        let roles = vec![Role::Insensitive; table.columns.len()];
        let errors = Raw::of(&policy, &table, &roles, None, left_out, false).errors();
        errors.into_iter().map(|e| e.message).collect()
    }

    fn values(of: impl Fn(usize) -> usize) -> Vec<String> {
        (0..1000).map(|i| of(i).to_string()).collect()
    }

    const STAR: &str = "[columns.\"*\"]\nrole = \"insensitive\"\n";

    #[test]
    fn exactly_the_share_is_let_pass() {
        // Ten values that one row has each, then eleven.
        assert!(errors(&[("a", values(|i| i.max(989) * usize::from(i >= 990)))], STAR, &[]).is_empty());
        let told = errors(&[("a", values(|i| i * usize::from(i >= 989)))], STAR, &[]);
        assert!(
            told.len() == 1 && told[0].contains("11 of the 1,000 rows to be released (1.1 %) are unique"),
            "{told:?}"
        );
        // One of them left out, and it is ten of 999.
        let told = errors(&[("a", values(|i| i * usize::from(i >= 989)))], STAR, &[989]);
        assert!(told[0].contains("10 of the 999"), "{told:?}");
    }

    #[test]
    fn one_row_is_unique_wherever_it_is_published_as_it_is() {
        let told = errors(&[("a", vec!["x".into()])], STAR, &[]);
        assert!(told[0].contains("1 of the 1 rows to be released (100 %) is unique"), "{told:?}");
    }

    #[test]
    fn a_set_holds_no_column_that_can_be_spared() {
        let columns = [("noise", values(|i| i % 2)), ("a", values(|i| i % 40)), ("b", values(|i| i / 40))];
        let told = errors(&columns, STAR, &[]);
        assert!(told.len() == 1 && told[0].starts_with("`a` and `b` are published as they are"), "{told:?}");
        let accepted = format!("{STAR}[columns.b]\nrole = \"insensitive\"\naccept = \"why\"\n");
        assert!(errors(&columns, &accepted, &[]).is_empty());
    }

    #[test]
    fn several_that_nobody_names_are_told_together() {
        let columns = [("a", values(|i| i)), ("b", values(|i| i + 1)), ("c", values(|i| i % 2))];
        let told = errors(&columns, STAR, &[]);
        assert!(told.len() == 1 && told[0].starts_with("`a` and `b` are published"), "{told:?}");
        let named = format!("{STAR}[columns.a]\nrole = \"insensitive\"\n");
        assert_eq!(errors(&columns, &named, &[]).len(), 2);
    }

    #[test]
    fn what_only_the_checker_saw_is_marked_as_well() {
        let (policy, _) = raw(&[("a", vec!["x".into()])], "[columns.a]\nrole = \"insensitive\"\n");
        let header = ["q", "a"].map(String::from);
        let error = refused(&policy, &header, "5 of 9 rows are unique");
        assert_eq!(error.exit_code(), 2);
        let text = error.to_string();
        assert!(text.contains("`a` is published as it is, singling people out: 5 of 9 rows"), "{text}");
        assert!(text.contains("policy.toml:4:8") && text.contains("accept = \"why\""), "{text}");
    }
}
