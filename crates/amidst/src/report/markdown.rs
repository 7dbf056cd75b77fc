//! The report as Markdown, in the order that regulators ask for: methodology, identifiers with their technique, initial
//! risk, threshold, residual risk.

use amidst_check::printable;

use super::content::{Report, RiskReport, Subject};
use crate::words::number;

/// The report for a regulator's file.
pub fn markdown(report: &Report) -> String {
    let mut out = String::new();
    let title = match report.subject {
        Subject::Release => "Anonymization report",
        Subject::Audit => "Audit report",
    };
    push(&mut out, &format!("# {title}\n\nMade by {}.\n", report.tool));
    if let Some(preface) = report.preface() {
        push(&mut out, &format!("{preface}\n"));
    }
    if let Some(release) = &report.release {
        table(
            &mut out,
            &["release", ""],
            release.lines().into_iter().map(|(name, value)| vec![name.to_string(), value]),
        );
        push(&mut out, "");
    }
    push(&mut out, "## Summary\n");
    for line in &report.summary {
        push(&mut out, &format!("- {}", cell(line)));
    }
    methodology(report, &mut out);
    push(&mut out, "\n## 2. Identifiers and techniques\n");
    let rows = report.columns.iter().map(|c| vec![c.name.clone(), c.role.to_string(), c.technique.clone()]);
    table(&mut out, &["column", "role", "technique"], rows);
    match &report.risk.before {
        Some(before) => {
            push(&mut out, "\n## 3. Initial risk\n");
            risk(&mut out, before);
        }
        None if report.subject == Subject::Release => {
            push(&mut out, "\n## 3. Initial risk\n\nThe owner of the table keeps it.");
        }
        None => push(&mut out, "\n## 3. Initial risk\n\nOnly one table was looked at; its risk is in section 5."),
    }
    push(&mut out, "\n## 4. Threshold\n");
    push(
        &mut out,
        "Every class must satisfy the requirements below. Persons are also counted whose risk exceeds 0.09, the \
         threshold of Health Canada and the European Medicines Agency. To the letter, a class of 11 exceeds it and one \
         of 12 does not; read as 1/11 rounded, it asks for classes of 11. Both readings are told.\n",
    );
    let rows = report.requirements.iter().map(|r| {
        let on = r.on.join(", ");
        let verdict = if r.holds { "holds" } else { "FAILS" };
        vec![r.model.clone(), r.parameters.words(), on, verdict.to_string(), r.measured.measured_words(&r.model)]
    });
    table(&mut out, &["requirement", "stated", "on", "verdict", "measured"], rows);
    push(&mut out, "\n## 5. Residual risk\n");
    risk(&mut out, &report.risk.after);
    unique(report, &mut out);
    attacks(report, &mut out);
    control_group(report, &mut out);
    if !report.metrics.is_empty() {
        push(&mut out, "\n## 6. Loss of information\n");
        let rows =
            report.metrics.iter().map(|m| vec![m.id.clone(), m.value.map_or("–".into(), number), m.definition.clone()]);
        table(&mut out, &["metric", "value", "what it is"], rows);
    }
    if !report.utility.is_empty() {
        push(&mut out, "");
        let rows = report
            .utility
            .iter()
            .map(|u| vec![u.title.clone(), u.before.map_or("–".into(), number), number(u.after), u.definition.clone()]);
        table(&mut out, &["figure", "before", "after", "what it is"], rows);
    }
    if !report.digests.is_empty() {
        push(&mut out, "\n## 7. Verification\n");
        push(&mut out, "`amidst verify` recomputes every requirement from the published files and the certificate.\n");
        table(&mut out, &["of", "SHA-256"], report.digests.iter().map(|d| vec![d.of.clone(), d.sha256.clone()]));
    }
    out
}

fn methodology(report: &Report, out: &mut String) {
    push(out, "\n## 1. Methodology\n");
    if let Some(method) = &report.method {
        push(
            out,
            &format!(
                "{} recoding, found by `{}` ({}) {} Best means least `{}`; seed {}.",
                if method.recoding == "local" { "Local" } else { "Full-domain" },
                method.algorithm,
                cell(&method.citation),
                match &method.bound {
                    _ if method.optimal => "and proven to be the best of its kind.".to_string(),
                    Some(bound) => format!("and proven to lose {}.", bound.words()),
                    None => "without a proof that it is the best.".to_string(),
                },
                method.metric,
                method.seed
            ),
        );
    }
    let rows = &report.rows;
    push(
        out,
        &format!(
            "\n{} rows read, {} left out because a value is unknown, {} suppressed, {} {}, in {} classes.",
            rows.input,
            rows.dropped_missing,
            rows.suppressed,
            rows.published,
            if report.subject == Subject::Release { "published" } else { "looked at" },
            rows.classes
        ),
    );
    if let Some(suppression) = report.suppression.as_ref().filter(|s| !s.reasons.is_empty()) {
        push(out, "\nSuppressed, because their class would have broken a requirement:\n");
        let reasons = suppression.reasons.iter();
        let lines = reasons.map(|r| vec![r.model.clone(), r.classes.to_string(), r.rows.to_string()]);
        table(out, &["requirement", "classes", "rows"], lines);
    }
}

fn risk(out: &mut String, risk: &RiskReport) {
    let optional = |n: Option<u64>| n.map_or("–".to_string(), |n| n.to_string());
    let rows = [
        ("largest risk of anyone", number(risk.prosecutor_max)),
        ("average risk", number(risk.prosecutor_avg)),
        ("share that a marketer links rightly", number(risk.marketer)),
        ("persons above 0.09 (in classes up to 11)", risk.above_threshold.to_string()),
        ("share of persons above 0.09", number(risk.above_threshold_share)),
        ("persons above 1/11 (in classes up to 10)", risk.above_one_in_eleven.to_string()),
        ("share of persons above 1/11", number(risk.above_one_in_eleven_share)),
        ("persons alone in their class", risk.uniques.to_string()),
        ("smallest class", optional(risk.smallest_class)),
    ];
    let mut lines: Vec<Vec<String>> = rows.into_iter().map(|(name, figure)| vec![name.to_string(), figure]).collect();
    if let Some(journalist) = &risk.journalist {
        let rows = [
            ("largest risk of anyone, to a journalist who knows the population", number(journalist.max)),
            ("average risk, to that journalist", number(journalist.avg)),
            ("persons above 0.09, to that journalist", journalist.above_threshold.to_string()),
            ("persons above 1/11, to that journalist", journalist.above_one_in_eleven.to_string()),
        ];
        lines.extend(rows.map(|(name, figure)| vec![name.to_string(), figure]));
    }
    for u in &risk.population_uniques {
        let share = number(u.sampling_fraction);
        let known = if u.assumed { "assuming that the table is" } else { "the table being" };
        let name =
            format!("share of people unique in the population, {known} {share} of it ({}, {})", u.model, u.citation);
        lines.push(vec![name, number(u.share)]);
    }
    table(out, &["risk", "figure"], lines.into_iter());
}

/// Rows that no other row agrees with, and the columns that are published all the same.
fn unique(report: &Report, out: &mut String) {
    if let Some(unique) = &report.unique_rows {
        push(out, "");
        let rows = [
            ("all published columns", unique.published, unique.published_share),
            ("the insensitive columns alone", unique.insensitive, unique.insensitive_share),
        ];
        let rows = rows.map(|(on, rows, share)| vec![on.to_string(), rows.to_string(), number(share)]);
        table(out, &["rows unique on", "rows", "share"], rows.into_iter());
    }
    if !report.accepted.is_empty() {
        push(out, "");
        let rows = report.accepted.iter().map(|a| vec![a.column.clone(), a.reason.clone()]);
        table(out, &["published although it may single people out", "the reason given"], rows);
    }
}

fn attacks(report: &Report, out: &mut String) {
    if report.attacks.is_empty() {
        return;
    }
    push(out, "");
    let rows = report.attacks.iter().map(|a| {
        let before = a.findings.before.as_ref().map_or("–".to_string(), |f| f.rows.to_string());
        vec![a.id.clone(), a.column.clone(), before, a.findings.after.rows.to_string()]
    });
    table(out, &["attack", "about", "rows hit before", "rows hit after"], rows);
}

/// What was tried on people in the release and on people who are not in it; for the owner alone.
fn control_group(report: &Report, out: &mut String) {
    let Some(group) = &report.control_group else { return };
    push(
        out,
        &format!(
            "\nWhat can be said of anybody is no leak. {} people, drawn by the seed, were taken out of the published classes; \
             each attack was tried on them and on as many who are in the release. The excess is what being in the release \
             adds: (rate − control rate) / (1 − control rate). After Giomi et al., PoPETs 2023; the risks are those of the \
             Article 29 Working Party, Opinion 05/2014.\n",
            group.people
        ),
    );
    let rows = group.attacks.iter().map(|tried| {
        let risk = tried.column.as_ref().map_or(tried.risk.to_string(), |column| format!("{} of {column}", tried.risk));
        let figures = [tried.in_release.share, tried.control.share, tried.excess, tried.excess_at_most];
        [risk, tried.attack.clone()].into_iter().chain(figures.map(number)).collect()
    });
    let head = ["risk", "what was tried", "in the release", "control group", "excess", "excess at most (95 %)"];
    table(out, &head, rows);
}

fn table(out: &mut String, head: &[&str], rows: impl Iterator<Item = Vec<String>>) {
    push(out, &format!("| {} |", head.join(" | ")));
    push(out, &format!("|{}", " --- |".repeat(head.len())));
    for row in rows {
        let cells: Vec<String> = row.iter().map(|c| cell(c)).collect();
        push(out, &format!("| {} |", cells.join(" | ")));
    }
}

/// Text that may hold anything, as plain text of one table cell.
fn cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in printable(text).chars() {
        match c {
            '|' | '*' | '_' | '`' | '<' | '[' | ']' | '\\' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

fn push(out: &mut String, line: &str) {
    out.push_str(line);
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_stay_one_cell() {
        assert_eq!(cell("a|b\nc <script>"), "a\\|b\\\\nc \\<script>");
    }
}
