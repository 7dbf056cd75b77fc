//! The findings in plain words.

use amidst_check::printable;
use amidst_core::attack::HOMOGENEITY;

use super::content::{Report, Subject};
use super::sets::SetReport;
use crate::policy::Role;
use crate::words::{columns, count, grouped, named, number, percent, times};

/// What a reader in a hurry should know first: who stands amidst how many others, and who does not.
pub fn leading(report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    if report.rows.waived > 0 {
        let rows = count(report.rows.waived, "row is", "rows are");
        let owners = if report.rows.waived == 1 { "its owner" } else { "their owners" };
        lines.push(format!("{rows} published unprotected, because {owners} waived protection."));
    }
    lines.extend(report.sets.iter().filter_map(|set| company_in_set(report, set)));
    lines.extend(company(report));
    lines.extend(beside(report));
    lines
}

/// What else there is to know, the most important first.
pub fn findings(report: &Report) -> Vec<String> {
    let guesses = guesses(report);
    // Where many columns are sensitive, what holds for all of them comes first.
    let (mut lines, later) = if guesses.len() > 4 { (Vec::new(), guesses) } else { (guesses, Vec::new()) };
    if let Some(line) = requirements(report) {
        lines.push(line);
    }
    lines.extend(threshold(report));
    lines.extend(risk(report));
    lines.extend(journalist(report));
    lines.push(rows(report));
    if report.rows.joined > 0 {
        let people = count(report.rows.joined, "row, whose owner", "rows, whose owners");
        lines.push(match report.rows.separate {
            true => {
                format!("{people} waived protection, are in classes of their own, which satisfy the policy as well.")
            }
            false => format!("{people} waived protection, joined the classes of the others and count in them."),
        });
    }
    lines.extend(later);
    lines
}

/// How the measured risk compares with the one that the policy accepts.
fn threshold(report: &Report) -> Option<String> {
    let threshold = report.release.as_ref()?.threshold.as_ref()?;
    let verdict = if threshold.kept { "is not above" } else { "IS ABOVE" };
    let name = printable(&threshold.name);
    Some(format!(
        "The highest risk of anyone, {}, {verdict} the threshold {} ({name}: {}).",
        number(threshold.measured),
        number(threshold.risk),
        printable(&threshold.source)
    ))
}

/// How many others everyone stands amidst. Of the whole row only where it is so on every column that is published; else
/// of the columns that it is so on.
fn company(report: &Report) -> Option<String> {
    let risk = &report.risk.after;
    let waived = report.rows.waived > 0;
    let Some(size) = risk.smallest_class else {
        let what = if report.subject == Subject::Release { "release" } else { "table" };
        return (!waived).then(|| format!("The {what} has no rows, so nobody is in it."));
    };
    if size == 1 {
        let alone = count(risk.uniques, "person is", "persons are");
        let whose = if risk.uniques == 1 { "this" } else { "their" };
        let among = if waived { "Of the others " } else { "" };
        let sets = match report.sets.is_empty() {
            true => "",
            false => " The policy protects each set of columns by itself, not all of them together.",
        };
        return Some(format!("{among}{alone} alone: nobody else has {whose} combination of {}.{sets}", quasi(report)));
    }
    let everyone = if waived { "Everyone else" } else { "Every person" };
    let whole = !waived && report.unique_rows.as_ref().is_some_and(|unique| unique.smallest == Some(size));
    let what = if whole { "row".to_string() } else { quasi(report) };
    let others = count(size - 1, "other", "others");
    let counted = if report.rows.counterfeits > 0 { ", counterfeits included" } else { "" };
    Some(format!("{everyone} shares their {what} with at least {others}{counted}{}.", each_row(report)))
}

/// Without a key nothing tells whose a row is, and five rows of one person are not five people; with one, it is the key
/// that says who is one.
fn each_row(report: &Report) -> String {
    let keys = report.columns.iter().filter(|column| column.role == Role::Key.name());
    let names: Vec<String> = keys.map(|column| printable(&column.name).into_owned()).collect();
    match names.is_empty() {
        true => ", if no two rows are of one person".to_string(),
        false => format!(", persons being told apart by {}", named(&names)),
    }
}

/// How many others everyone stands amidst to whoever knows one set of quasi columns.
fn company_in_set(report: &Report, set: &SetReport) -> Option<String> {
    let names: Vec<String> = set.columns.iter().map(|name| printable(name).into_owned()).collect();
    let others = count(set.smallest_class?.saturating_sub(1), "other", "others");
    let risk = number(set.prosecutor_max);
    Some(format!(
        "Every person shares their {} with at least {others}{}; the risk of who knows these alone is {risk} at most.",
        named(&names),
        each_row(report)
    ))
}

/// What stands beside the generalized cells, and how many rows are unique with it.
fn beside(report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    let Some(unique) = &report.unique_rows else { return lines };
    let rows = report.rows.published;
    let names = |wanted: &[&str]| -> Vec<String> {
        let columns = report.columns.iter().filter(|c| wanted.contains(&c.role));
        columns.map(|c| printable(&c.name).into_owned()).collect()
    };
    let others = names(&["sensitive", "insensitive"]);
    let shared = unique.smallest.is_some_and(|size| size > 1 && Some(size) == report.risk.after.smallest_class);
    if !others.is_empty() && rows > 0 && !(shared && report.rows.waived == 0) {
        let found = share(unique.published, rows);
        lines.push(match (report.subject, others.len()) {
            (Subject::Audit, _) => format!("Together with {} {found} unique.", columns(&others)),
            (_, 1) => format!("Beside them {} is published as it is: with it {found} unique.", columns(&others)),
            _ => format!("Beside them {} are published as they are: with these {found} unique.", columns(&others)),
        });
    }
    let raw = names(&["insensitive"]);
    if unique.insensitive > 0 {
        let found = share(unique.insensitive, rows);
        lines.push(format!("On {} alone {found} unique.", columns(&raw)));
    }
    for (reason, accepted) in accepted_by_reason(report) {
        let (published, reason) = (although(&accepted), printable(reason));
        lines.push(format!("{published}; the reason given: {reason}"));
    }
    lines
}

/// Columns that are published although they may single people out, put together where one reason is given for them.
pub fn accepted_by_reason(report: &Report) -> Vec<(&str, Vec<&str>)> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for accepted in &report.accepted {
        match reasons.iter_mut().find(|(reason, _)| *reason == accepted.reason) {
            Some((_, columns)) => columns.push(&accepted.column),
            None => reasons.push((&accepted.reason, vec![&accepted.column])),
        }
    }
    reasons
}

/// That columns are published all the same.
pub fn although(accepted: &[&str]) -> String {
    let names: Vec<String> = accepted.iter().map(|name| printable(name).into_owned()).collect();
    let (are, they) = if names.len() == 1 { ("is", "it") } else { ("are", "they") };
    format!("{} {are} published although {they} may single people out", columns(&names))
}

/// "1,203 of 19,617 rows (6.1 %) are".
fn share(part: u64, rows: u64) -> String {
    match part {
        0 => "no row is".to_string(),
        1 if rows == 1 => "the only row is".to_string(),
        all if all == rows => format!("all {} rows are", grouped(rows)),
        1 => format!("1 of {} rows ({}) is", grouped(rows), percent(1, rows)),
        some => format!("{} of {} rows ({}) are", grouped(some), grouped(rows), percent(some, rows)),
    }
}

/// How often the best guess of each sensitive value is right.
fn guesses(report: &Report) -> Vec<String> {
    let share = |findings: &super::content::FindingsReport| findings.figures.number("largest_share");
    let attacks = report.attacks.iter().filter(|a| a.id == HOMOGENEITY.id);
    attacks
        .filter_map(|attack| {
            let after = times(share(&attack.findings.after)?);
            let most = if after.ends_with("every time") { "can be right" } else { "is right at most" };
            let before = match attack.findings.before.as_ref().and_then(share) {
                Some(before) => format!(" (in the original table: {})", times(before)),
                None => String::new(),
            };
            Some(format!(
                "Who knows someone's {} and guesses their {} {most} {after}{before}.",
                quasi(report),
                printable(&attack.column)
            ))
        })
        .collect()
}

fn requirements(report: &Report) -> Option<String> {
    let all = report.requirements.len();
    let failing = report.requirements.iter().filter(|r| !r.holds).count();
    match (all, failing) {
        (0, _) => None,
        (1, 0) => Some("The one requirement of the policy holds.".to_string()),
        (2, 0) => Some("Both requirements of the policy hold.".to_string()),
        (_, 0) => Some(format!("All {all} requirements of the policy hold.")),
        (_, failing) => Some(format!("{failing} of {all} requirements of the policy DO NOT hold.")),
    }
}

fn risk(report: &Report) -> Option<String> {
    let after = &report.risk.after;
    after.smallest_class?;
    let above = match after.above_threshold {
        0 => "nobody is above the regulators' threshold of 0.09".to_string(),
        // Somebody with several rows may be in several classes.
        n if report.rows.persons => {
            let times = count(n, "time a person of a class is", "times a person of a class is");
            format!("{times} above the regulators' threshold of 0.09")
        }
        n => format!("{} above the regulators' threshold of 0.09", count(n, "person is", "persons are")),
    };
    let known = format!("The risk of being re-identified by {}", quasi(report));
    let (max, avg) = (number(after.prosecutor_max), number(after.prosecutor_avg));
    Some(match &report.risk.before {
        Some(before) => format!(
            "{known} is {max} at most and {avg} on average (before: {} and {}); {above}.",
            number(before.prosecutor_max),
            number(before.prosecutor_avg)
        ),
        None => format!("{known} is {max} at most and {avg} on average; {above}."),
    })
}

/// What knowing the population is good for.
fn journalist(report: &Report) -> Option<String> {
    let after = report.risk.after.journalist.as_ref()?;
    let before = report.risk.before.as_ref().and_then(|r| r.journalist.as_ref());
    let before = before.map_or(String::new(), |b| format!(" (before: {})", number(b.max)));
    let (people, max) = (count(after.population, "person", "people"), number(after.max));
    Some(format!(
        "To someone who knows the population of {people}, but not who of it is here, it is {max} at most{before}."
    ))
}

fn rows(report: &Report) -> String {
    let rows = &report.rows;
    let mut line = match report.subject {
        Subject::Release => {
            format!("{} of {} are published", grouped(rows.published), count(rows.input, "row", "rows"))
        }
        Subject::Audit => format!("The table has {}", count(rows.published, "row", "rows")),
    };
    line.push_str(&format!(", in {}", count(rows.classes, "class", "classes")));
    if rows.suppressed > 0 {
        line.push_str(&format!("; {} suppressed", count(rows.suppressed, "row is", "rows are")));
    }
    if rows.dropped_missing > 0 {
        line.push_str(&format!("; {} left out because a value is unknown", count(rows.dropped_missing, "is", "are")));
    }
    line.push('.');
    line
}

fn quasi(report: &Report) -> String {
    let names: Vec<String> = report.with_role("quasi").map(|c| printable(&c.name).into_owned()).collect();
    if names.is_empty() { "place in the table".to_string() } else { columns(&names) }
}
