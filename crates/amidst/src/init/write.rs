//! The draft as text: a policy with a comment for every guess.

use std::fmt::Write;
use std::path::Path;

use amidst_core::hierarchy::Suggestion;
use amidst_core::model::named::{DISTINCT_L_DIVERSITY, ENTROPY_L_DIVERSITY};
use amidst_core::table::{Column, Table};

use super::names::clean;
use super::plan::Plan;
use super::roles::Guess;
use crate::policy::Role;
use crate::policy::quote::{key, text};
use crate::policy::write::texts;
use crate::words::count;

pub(super) fn head(out: &mut String, input: &str, folder: Option<&Path>, rows: usize, columns: usize) {
    let _ = write!(
        out,
        "# A first policy, drafted from {} and {}.\n\
         # Every role is a guess on the safe side: read them all. Roles: identifying and key (never published), quasi (known to\n\
         # others, published generalized), sensitive (private, published as it is, protected by the requirements below),\n\
         # insensitive (published as it is; where it singles people out, only with `accept = \"why\"`).\n\n\
         [data]\ninput = {}\n",
        count(rows as u64, "row", "rows"),
        count(columns as u64, "column", "columns"),
        text(&from_folder(input, folder))
    );
}

/// `input`, as it is found from `folder`.
fn from_folder(input: &str, folder: Option<&Path>) -> String {
    let here = folder.is_none_or(|f| f.as_os_str().is_empty() || f == Path::new("."));
    if here || input == "-" || (input.contains("://") && amidst_io::local_path(input).is_none()) {
        // A password is not for a file; it is asked for in the environment.
        return amidst_io::without_password(input).into_owned();
    }
    if let Some(database) = input.strip_prefix("sqlite://") {
        let (file, settings) = database.split_at(database.find('?').unwrap_or(database.len()));
        return format!("sqlite://{}{settings}", from_folder(file, folder));
    }
    if let Some(inside) = folder.and_then(|f| Path::new(input).strip_prefix(f).ok()) {
        return inside.to_string_lossy().into_owned();
    }
    std::path::absolute(input).map_or_else(|_| input.to_string(), |path| path.to_string_lossy().into_owned())
}

/// What the table does not say by itself.
pub(super) fn conventions(out: &mut String, lines: &[(String, String)]) {
    for (line, why) in lines {
        let _ = writeln!(out, "{line:<24} # {}", clean(why));
    }
}

pub(super) fn unknowns(out: &mut String, missing: &[String], drop: bool, rows: usize) {
    if missing.is_empty() {
        let _ = writeln!(out, "missing = []             # no unknown cells seen");
        return;
    }
    let _ = writeln!(out, "missing = {}   # cells that seem to mean \"unknown\"", texts(missing));
    let having = count(rows as u64, "row has", "rows have");
    match drop {
        true => {
            let _ = writeln!(out, "missing_rows = \"drop\"    # {having} an unknown cell");
        }
        false => {
            let why = "too many to drop, so unknown is a value of its own";
            let _ = writeln!(out, "missing_rows = \"keep\"    # {having} an unknown cell: {why}");
        }
    }
}

pub(super) fn section(column: &Column, guess: &Guess, hierarchy: Option<&Suggestion>, known: bool) -> String {
    let mut out = unread(&column.name, guess.role, &guess.why);
    if matches!(guess.role, Role::Quasi | Role::Sensitive) {
        let _ = writeln!(out, "type = {}", text(column.kind.name()));
    }
    if let Some(suggestion) = hierarchy {
        let _ = writeln!(out, "hierarchy = {}   # {}", suggestion.toml(), clean(&suggestion.reason));
        if known && suggestion.cuts_anywhere() {
            let _ = writeln!(
                out,
                "generalize = \"ranges\"      # local recodings may cut anywhere; leave it out to keep to these widths"
            );
        }
        if known
            && guess.role == Role::Quasi
            && (suggestion.tells_all_or_nothing() || suggestion.keeps_frequent_values())
            && LISTED.contains(&column.dictionary.len())
        {
            let why = "local recodings may list a few values, {a,b}; leave it out to keep to the hierarchy";
            let _ = writeln!(out, "generalize = \"sets\"        # {why}");
        }
    }
    out
}

/// How many values a column may have for some of them to be listed in a cell. Of two values a list is all of them.
const LISTED: std::ops::RangeInclusive<usize> = 3..=12;

/// A column of which nothing more is said.
pub(super) fn unread(name: &str, role: Role, why: &str) -> String {
    format!("\n[columns.{}]\n{:<24} # {}\n", key(name), format!("role = {}", text(role.name())), clean(why))
}

pub(super) fn requirements(out: &mut String, table: &Table, plan: &Plan, missing: &[String]) {
    // Where several columns tell people apart together there are at least as many as each of them has values.
    let keys = table.columns.iter().zip(&plan.guesses).filter(|(_, g)| g.role == Role::Key);
    let persons = keys.map(|(column, _)| column.dictionary.len()).max();
    let people = persons.unwrap_or(table.rows);
    // A table of one row cannot be released, and `check` says so.
    let k = plan.blank.unwrap_or(5).max(5).min(people.max(2) as u64);
    let _ = write!(out, "\n# What every class of rows that look alike must satisfy.\n");
    if persons.is_none() {
        several_rows(out, table, plan);
    }
    let _ = write!(out, "[[require]]\nmodel = \"k-anonymity\"\nk = {k}\n");
    for (column, _) in table.columns.iter().zip(&plan.guesses).filter(|(_, g)| g.role == Role::Sensitive) {
        let counts = column.counts();
        let values = counts.iter().filter(|&&n| n > 0).count() - unknown_values(column, missing);
        let effective = effective_values(&counts);
        let (model, l, why) = match (values, effective) {
            (0 | 1, _) => continue,
            (8.., 6.0..) => (ENTROPY_L_DIVERSITY.id, 3, format!("the table itself has {effective:.1}")),
            (2, _) => (DISTINCT_L_DIVERSITY.id, 2, "there are only two values".to_string()),
            _ if !reaches(&counts, 3) => (DISTINCT_L_DIVERSITY.id, 2, format!("of {values} values, most of them rare")),
            _ => (DISTINCT_L_DIVERSITY.id, 3, format!("of {values} values")),
        };
        let on = text(&column.name);
        let _ = write!(out, "\n[[require]]\nmodel = {}\non = {on}\nl = {l}   # {why}\n", text(model));
    }
    let _ = write!(
        out,
        "\n[search]\n# algorithm = \"mondrian\"   # fixes the kind of release; as it is, several compete and the least loss is published\n\
         max_suppression = 0.02   # at most this share of the rows may be left out; 0 in a series\nseed = 1\n\n\
         [output]\nfile = \"release.csv\"\n"
    );
    if plan.hierarchies.iter().flatten().any(Suggestion::cuts_anywhere) {
        let why = "the ends of ranges are values of people: published rounded outward; not in a series";
        let _ = writeln!(out, "ranges = \"rounded\"       # {why}");
    }
}

/// Tells of columns by which one person may have several rows: five rows are not five people then.
fn several_rows(out: &mut String, table: &Table, plan: &Plan) {
    let numbers = table.columns.iter().zip(&plan.guesses).filter(|(_, guess)| guess.several_rows);
    let names: Vec<String> = numbers.map(|(column, _)| format!("`{}`", clean(&column.name))).collect();
    if !names.is_empty() {
        let _ = writeln!(
            out,
            "# k counts rows. Values of {} repeat: if one of these numbers people, give it role = \"key\", and k counts people.",
            names.join(", ")
        );
    }
}

/// Whether the l-th most frequent value is held by at least one row in fifty: otherwise hardly any class could have l
/// values.
fn reaches(counts: &[u64], l: usize) -> bool {
    let mut counts = counts.to_vec();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let rest: u64 = counts.iter().skip(l - 1).sum();
    rest * 50 >= counts.iter().sum()
}

fn unknown_values(column: &Column, missing: &[String]) -> usize {
    missing.iter().filter(|m| column.dictionary.code(m).is_some()).count()
}

/// exp of the entropy: how many equally frequent values would be as diverse.
fn effective_values(counts: &[u64]) -> f64 {
    let total: f64 = counts.iter().map(|&n| n as f64).sum();
    let share = |&n: &u64| n as f64 / total;
    let entropy: f64 = counts.iter().filter(|&&n| n > 0).map(share).map(|p| -p * p.ln()).sum();
    entropy.exp()
}
