//! The findings in plain words.

use super::content::{Report, Subject};
use super::words::{count, grouped, number, times};

/// What a reader in a hurry should know, the most important first.
pub fn summary(report: &Report) -> Vec<String> {
    let mut lines = vec![company(report)];
    lines.extend(guesses(report));
    if let Some(line) = requirements(report) {
        lines.push(line);
    }
    lines.push(risk(report));
    lines.extend(journalist(report));
    lines.push(rows(report));
    if report.rows.waived > 0 {
        let people = count(report.rows.waived, "row is", "rows are");
        lines.push(format!("{people} published as they are, because their owners waived protection."));
    }
    if report.rows.joined > 0 {
        let people = count(report.rows.joined, "row, whose owner", "rows, whose owners");
        lines.push(match report.rows.separate {
            true => {
                format!("{people} waived protection, are in classes of their own, which satisfy the policy as well.")
            }
            false => format!("{people} waived protection, joined the classes of the others and count in them."),
        });
    }
    lines
}

/// How many others everyone stands amidst.
fn company(report: &Report) -> String {
    let risk = &report.risk.after;
    match risk.smallest_class {
        None => "The table has no rows, so nobody is in it.".to_string(),
        Some(1) => {
            let alone = count(risk.uniques, "person is", "persons are");
            format!("{alone} alone: nobody else has their combination of {}.", quasi(report))
        }
        Some(2) => "Every person shares their row with at least 1 other.".to_string(),
        Some(size) => format!("Every person shares their row with at least {} others.", grouped(size - 1)),
    }
}

/// How often the best guess of each sensitive value is right.
fn guesses(report: &Report) -> Vec<String> {
    let share = |findings: &super::content::FindingsReport| findings.figures.get("largest_share")?.as_f64();
    let attacks = report.attacks.iter().filter(|a| a.id == "homogeneity");
    attacks
        .filter_map(|attack| {
            let after = times(share(&attack.findings.after)?);
            let most = if after == "every time" { "can be right" } else { "is right at most" };
            let before = match attack.findings.before.as_ref().and_then(share) {
                Some(before) => format!(" (in the original table: {})", times(before)),
                None => String::new(),
            };
            Some(format!(
                "Who knows someone's {} and guesses their {} {most} {after}{before}.",
                quasi(report),
                attack.column
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

fn risk(report: &Report) -> String {
    let after = &report.risk.after;
    let above = match after.above_threshold {
        0 => "nobody is above the regulators' threshold of 0.09".to_string(),
        n => format!("{} above the regulators' threshold of 0.09", count(n, "person is", "persons are")),
    };
    match &report.risk.before {
        Some(before) => format!(
            "The risk of being re-identified is {} at most and {} on average (before: {} and {}); {above}.",
            number(after.prosecutor_max),
            number(after.prosecutor_avg),
            number(before.prosecutor_max),
            number(before.prosecutor_avg)
        ),
        None => format!(
            "The risk of being re-identified is {} at most and {} on average; {above}.",
            number(after.prosecutor_max),
            number(after.prosecutor_avg)
        ),
    }
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
    let names: Vec<&str> = report.with_role("quasi").map(|c| c.name.as_str()).collect();
    match names.as_slice() {
        [] => "place in the table".to_string(),
        [one] => one.to_string(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
