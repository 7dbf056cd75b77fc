//! The pass that issuing and verifying share: reads the release, judges every requirement and finds contradictions.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::alike::alike;
use crate::census;
use crate::certificate::{Accepted, Claim, SensitiveColumn, UniqueRows};
use crate::commitment::{Commitment, cells_cover};
use crate::content::Content;
use crate::judge::{Facts, Judged, views};
use crate::models::Domain;
use crate::options::Options;
use crate::original::{self, Stated};
use crate::policy::Said;
use crate::problem::{Problem, ProblemKind};
use crate::reader::key::cells;
use crate::reader::{self, Counted, Fingerprint, Reading, Selection};
use crate::unique::{UNIQUE_PERCENT, singles_out};

/// The statements of a release, without the numbers that are recomputed.
pub(crate) struct Statement<'a> {
    pub quasi: &'a [String],
    pub sensitive: &'a [SensitiveColumn],
    pub waived: &'a [u64],
    pub accepted: &'a [Accepted],
    pub claims: &'a [Claim],
}

/// What the pass found.
pub(crate) struct Examined {
    pub counted: Counted,
    pub prints: Vec<Fingerprint>,
    pub judged: Vec<Result<Judged, String>>,
    /// The domains of the sensitive columns, in the order of the statement.
    pub domains: Vec<Arc<Domain>>,
}

impl Examined {
    /// Numbers of rows that no other row equals.
    pub fn unique_rows(&self) -> UniqueRows {
        match self.counted.unique[..] {
            [published, insensitive, ..] => UniqueRows { published, insensitive },
            _ => UniqueRows::default(),
        }
    }
}

/// Reads `files` as one release and judges it.
pub(crate) fn examine(
    files: &[Content],
    said: &Statement<'_>,
    options: &Options<'_>,
) -> Result<Examined, Vec<Problem>> {
    let mut names = BTreeSet::new();
    let columns = said.quasi.iter().chain(said.sensitive.iter().map(|s| &s.name));
    for name in columns {
        if !names.insert(name) {
            let message = format!("the certificate names the column \"{name}\" twice");
            return Err(vec![Problem::violation(ProblemKind::Certificate, message)]);
        }
    }
    let mut waived = said.waived.to_vec();
    waived.sort_unstable();
    let protected: Vec<String> = names.into_iter().cloned().collect();
    let excused = said.accepted.iter().map(|a| a.column.clone()).chain(protected.iter().cloned()).collect();
    let selection = Selection {
        key: Some(said.quasi.to_vec()),
        views: views(said.sensitive, said.claims.iter()),
        waived,
        persons: options.persons.clone(),
        missing: None,
        // On all columns, on the insensitive columns, and on the insensitive columns without a stated reason.
        unique_beside: vec![Vec::new(), protected, excused],
    };
    let (counted, prints) = reader::count(files, &selection, Reading::Release).map_err(|p| vec![p])?;
    let mut problems = Vec::new();
    let mut domains = Vec::new();
    for (column, view) in said.sensitive.iter().zip(&counted.views) {
        let values = view.values.iter().map(|key| cells(key).first().map(|c| c.to_vec()).unwrap_or_default()).collect();
        match Domain::new(column, values, view.totals.clone()) {
            Ok(domain) => domains.push(Arc::new(domain)),
            Err(what) => {
                let message = format!("the sensitive column \"{}\": {what}", column.name);
                problems.push(Problem::violation(ProblemKind::Certificate, message));
            }
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let named = said.sensitive.iter().map(|s| s.name.clone()).zip(domains.iter().cloned()).collect();
    let census = |claim: &Claim, column: Option<(&str, &Domain)>| {
        if claim.quasi.is_some() {
            return Err("it cannot be judged on some of the quasi columns".to_string());
        }
        let name = claim.parameters.get("population").and_then(|v| v.as_str()).unwrap_or_default();
        let population = match options.populations {
            [only] => Some(only),
            many => many.iter().find(|p| p.name == name),
        };
        let take = |population| census::take(population, &counted, said.quasi, column);
        population.map(take).transpose().map_err(|problem| problem.message)
    };
    let sets = by_sets(files, said, &selection, &prints).map_err(|p| vec![p])?;
    let facts = Facts { counted: &counted, quasi: said.quasi, domains: named, census: &census };
    let judge = |claim: &Claim| match &claim.quasi {
        None => facts.judge(claim),
        Some(own) => {
            let found = sets.iter().find(|(columns, _)| *columns == own);
            let (quasi, counted) = found.ok_or("its quasi columns are not among those of the certificate")?;
            Facts { counted, quasi, domains: facts.domains.clone(), census: facts.census }.judge(claim)
        }
    };
    let judged = said.claims.iter().map(judge).collect();
    Ok(Examined { judged, counted, prints, domains })
}

/// The classes by each set of quasi columns that a claim names; the rows are counted again for each set. Sets that are
/// empty, repeat a column or name a column that is not quasi are left out.
fn by_sets<'a>(
    files: &[Content],
    said: &Statement<'a>,
    selection: &Selection,
    prints: &[Fingerprint],
) -> Result<Vec<(&'a Vec<String>, Counted)>, Problem> {
    let mut sets: Vec<(&Vec<String>, Counted)> = Vec::new();
    for columns in said.claims.iter().filter_map(|claim| claim.quasi.as_ref()) {
        let distinct: BTreeSet<&String> = columns.iter().collect();
        let sound = !columns.is_empty()
            && distinct.len() == columns.len()
            && columns.iter().all(|name| said.quasi.contains(name));
        if !sound || sets.iter().any(|(known, _)| *known == columns) {
            continue;
        }
        let own = Selection { key: Some(columns.clone()), unique_beside: Vec::new(), ..selection.clone() };
        let (counted, again) = reader::count(files, &own, Reading::Release)?;
        if again != prints {
            let message = "the files changed while they were read";
            return Err(Problem::violation(ProblemKind::Digest, message));
        }
        sets.push((columns, counted));
    }
    Ok(sets)
}

/// Why nothing is proven, if so: a row in no class, or in a class without columns, is not protected.
pub(crate) fn nothing(said: &Statement<'_>, rows: u64) -> Option<Problem> {
    let what = if said.quasi.is_empty() {
        "no column is quasi, so nothing is proven about any"
    } else if said.claims.is_empty() {
        "no requirement is stated, so nothing is proven"
    } else if rows > 0 && said.waived.len() as u64 >= rows {
        "every row is waived, so nothing is proven about anybody"
    } else {
        return None;
    };
    Some(Problem::violation(ProblemKind::Nothing, what))
}

/// The statements that the policy determines; `published` and `domains` are empty where the release cannot be read.
pub(crate) fn said_of<'a>(
    said: &Statement<'a>,
    rows: &Rows,
    published: &'a [String],
    domains: &'a [Arc<Domain>],
) -> Said<'a> {
    Said {
        published,
        quasi: said.quasi,
        sensitive: said.sensitive,
        domains,
        claims: said.claims,
        accepted: said.accepted,
        kept: rows.rows_in.saturating_sub(rows.dropped),
        suppressed: rows.suppressed,
        masked: rows.masked,
        persons: rows.persons,
        waived: said.waived.len(),
    }
}

/// The name of a requirement in messages.
pub(crate) fn name_of(claim: &Claim) -> String {
    let set = claim.quasi.as_ref().map(|names| format!(" by {}", names.join(", "))).unwrap_or_default();
    match &claim.on {
        None => format!("{}{set}", claim.model),
        Some(on) => format!("{} on {}{set}", claim.model, on.names().join(", ")),
    }
}

/// The stated numbers of rows, which must be consistent.
pub(crate) struct Rows {
    pub rows_in: u64,
    pub dropped: u64,
    pub suppressed: u64,
    pub masked: bool,
    pub counterfeits: u64,
    pub persons: bool,
}

/// A contradiction between the commitment and the rest of the certificate.
pub(crate) fn committed(
    commitment: Option<&Commitment>,
    policy: &str,
    rows: &Rows,
    examined: &Examined,
) -> Option<Problem> {
    let kept = rows.rows_in.saturating_sub(rows.dropped);
    // Where cells do not cover originals, columns may have other names than in the input.
    let published: &[String] = if cells_cover(policy) { &examined.counted.columns } else { &[] };
    let what = commitment?.wrong(kept, published)?;
    Some(Problem::violation(ProblemKind::Certificate, what))
}

/// Contradictions between the release and the numbers stated about the input.
pub(crate) fn contradictions(
    files: &[Content],
    examined: &Examined,
    said: &Statement<'_>,
    rows: &Rows,
    options: &Options<'_>,
) -> Vec<Problem> {
    let mut problems = match options.original {
        None => Vec::new(),
        Some(table) => {
            let stated = Stated { rows_in: rows.rows_in, dropped: rows.dropped, counterfeits: rows.counterfeits };
            original::compare(files, &examined.counted.columns, said.quasi, &stated, table)
        }
    };
    let out = examined.counted.rows;
    problems.extend(published_as_it_is(examined, said));
    let mut rows_problem = |message: String| problems.push(Problem::violation(ProblemKind::Rows, message));
    let kept = rows.rows_in.checked_sub(rows.dropped);
    let expected = kept
        .and_then(|kept| kept.checked_sub(if rows.masked { 0 } else { rows.suppressed }))
        .and_then(|left| left.checked_add(rows.counterfeits));
    if expected != Some(out) {
        let masked = if rows.masked { " (masked)" } else { "" };
        rows_problem(format!(
            "the release has {out} rows, which does not follow from {} in, {} dropped, {} suppressed{masked} and {} counterfeit",
            rows.rows_in, rows.dropped, rows.suppressed, rows.counterfeits
        ));
    }
    let masked = |key: &[u8]| cells(key).iter().all(|cell| *cell == b"*");
    let keys = examined.counted.keys.iter().zip(&examined.counted.sizes);
    let hidden = keys.filter(|(key, _)| masked(key)).map(|(_, &size)| size).sum::<u64>();
    if rows.masked && !rows.persons && hidden < rows.suppressed {
        rows_problem(format!("{hidden} rows are masked, not the {} that were suppressed", rows.suppressed));
    }
    if said.waived.windows(2).any(|pair| pair[0] >= pair[1]) || said.waived.last().is_some_and(|&last| last >= out) {
        rows_problem("the waived rows are not ascending row numbers of the release".into());
    }
    if let Some(ids) = &options.persons
        && ids.len() as u64 != out
    {
        rows_problem(format!("the release has {out} rows, but {} person ids are given", ids.len()));
    }
    problems
}

/// Problems with columns that are published unchanged: insensitive columns that single people out without a stated
/// reason, reasons for columns that are not insensitive, and sensitive labels that look alike.
fn published_as_it_is(examined: &Examined, said: &Statement<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let Counted { columns, rows, unique, .. } = &examined.counted;
    let insensitive = |name: &String| !said.quasi.contains(name) && !said.sensitive.iter().any(|s| s.name == *name);
    for accepted in said.accepted.iter().filter(|a| !columns.contains(&a.column) || !insensitive(&a.column)) {
        let message = format!("a reason is given for \"{}\", which is no insensitive column", accepted.column);
        problems.push(Problem::violation(ProblemKind::Certificate, message));
    }
    for accepted in said.accepted.iter().filter(|a| a.reason.trim().is_empty()) {
        let message = format!("\"{}\" is accepted without a reason", accepted.column);
        problems.push(Problem::violation(ProblemKind::Insensitive, message));
    }
    if let [.., unexplained] = unique[..]
        && singles_out(unexplained, *rows)
    {
        let accepted = |name: &&String| said.accepted.iter().any(|a| a.column == **name);
        let names: Vec<&str> = columns.iter().filter(|c| insensitive(c) && !accepted(c)).map(String::as_str).collect();
        let message = format!(
            "{unexplained} of {rows} rows are unique on what is published as it is ({}), more than {UNIQUE_PERCENT} %, and the \
             policy does not say why",
            names.join(", ")
        );
        problems.push(Problem::violation(ProblemKind::Insensitive, message));
    }
    for (column, domain) in said.sensitive.iter().zip(&examined.domains) {
        let labels: Vec<String> = domain.values.iter().map(|v| String::from_utf8_lossy(v).into_owned()).collect();
        let groups = alike(labels.iter().map(String::as_str)).len();
        if groups > 0 {
            let message = format!(
                "the sensitive column \"{}\" has {groups} {} of labels that differ only by case, white space or characters \
                 that look alike; each label counts as a value of its own",
                column.name,
                if groups == 1 { "group" } else { "groups" }
            );
            problems.push(Problem::note(ProblemKind::Labels, message));
        }
    }
    problems
}
