//! The verdict on a release as SARIF 2.1.0, the form in which code hosts and pipelines show findings.
//!
//! One result for each problem; the rule is the kind of the problem. A release that stands gives a log with no results,
//! which tells a host to close what it showed before.

use std::path::Path;

use amidst_check::{Found, Problem, ProblemKind, Severity, Verdict};
use serde_json::{Value, json};

/// What each kind of problem means, for the host to show beside the result.
const RULES: &[(ProblemKind, &str, &str)] = &[
    (ProblemKind::Certificate, "certificate", "The certificate is damaged or contradicts itself."),
    (ProblemKind::Policy, "policy", "The certificate does not say what the policy says."),
    (ProblemKind::Digest, "digest", "A file, the policy or the certificate does not match its digest."),
    (ProblemKind::MissingFile, "missing-file", "A file that the certificate lists is not there."),
    (
        ProblemKind::ExtraFile,
        "extra-file",
        "Something lies in the release's folder that the certificate does not list.",
    ),
    (ProblemKind::File, "file", "A file is listed twice, leads elsewhere, or is no ordinary file."),
    (ProblemKind::Unreadable, "unreadable", "A file cannot be read as the table it claims to be."),
    (ProblemKind::Form, "form", "A file is not in the one form of releases: others may read other rows in it."),
    (ProblemKind::Column, "column", "A column is missing or appears twice."),
    (ProblemKind::Rows, "rows", "The number of rows is not what the certificate says."),
    (ProblemKind::Classes, "classes", "The number of classes is not what the certificate says."),
    (ProblemKind::Distribution, "distribution", "A sensitive value contradicts the table's distribution."),
    (ProblemKind::Requirement, "requirement", "A requirement of the policy does not hold."),
    (ProblemKind::Measured, "measured", "A figure in the certificate is not that of the release."),
    (ProblemKind::Insensitive, "insensitive", "Columns that are published as they are single people out."),
    (ProblemKind::Labels, "labels", "Labels of a sensitive column look alike, but count as several values."),
    (ProblemKind::Original, "original", "The release does not follow from the original table."),
    (ProblemKind::Signature, "signature", "The signed statement is not about the release, or was altered."),
    (ProblemKind::Signer, "signer", "Nobody of those who were asked for has signed."),
    (ProblemKind::Opening, "opening", "Opened rows are not in the committed table, or are not covered."),
    (ProblemKind::Expired, "expired", "The last day on which the release may be relied on is over."),
    (ProblemKind::Chain, "chain", "The version does not follow the one before it."),
    (ProblemKind::Nothing, "nothing", "Nothing is proven about anybody."),
    (ProblemKind::NotVerifiable, "not-verifiable", "Something that the given files cannot decide."),
];

/// The log of a verification of the release at `release`.
pub fn sarif_log(verdict: &Verdict, release: &Path) -> Value {
    let rules: Vec<Value> =
        RULES.iter().map(|(_, id, meaning)| json!({"id": id, "shortDescription": {"text": meaning}})).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "amidst",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "properties": {
                "valid": verdict.valid,
                "proven": verdict.proven,
                "attested": verdict.attested,
                "notChecked": verdict.not_checked,
                "requirements": verdict.requirements.iter().map(stated).collect::<Vec<_>>(),
            },
            "results": verdict.problems.iter().map(|p| result(p, release)).collect::<Vec<_>>(),
        }],
    })
}

/// A requirement and how much of it is known.
fn stated(found: &Found) -> Value {
    json!({"model": found.requirement.model, "on": found.requirement.on, "holds": found.requirement.holds, "verdict": found.verdict})
}

fn result(problem: &Problem, release: &Path) -> Value {
    let index = RULES.iter().position(|(kind, ..)| *kind == problem.kind);
    let level = match problem.severity {
        Severity::Violation => "error",
        Severity::Note => "note",
    };
    json!({
        "ruleId": index.map_or("problem", |i| RULES[i].1),
        "ruleIndex": index.map_or(-1, |i| i as i64),
        "level": level,
        "message": {"text": problem.message},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri(release)}}}],
    })
}

/// The path as a relative or absolute URI reference: SARIF allows no spaces or other characters that URIs lack.
fn uri(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "/");
    let text = text.trim_end_matches('/');
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => out.push(byte as char),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    if out.starts_with('/') { format!("file://{out}") } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_problem_is_one_result() {
        let problems = vec![
            Problem::violation(ProblemKind::Requirement, "k-anonymity: does not hold"),
            Problem::note(ProblemKind::NotVerifiable, "counts persons"),
        ];
        let log = sarif_log(&Verdict::invalid(problems), Path::new("my release/"));
        let results = log["runs"][0]["results"].as_array().unwrap();
        assert_eq!((&results[0]["ruleId"], &results[0]["level"]), (&json!("requirement"), &json!("error")));
        assert_eq!((&results[1]["ruleId"], &results[1]["level"]), (&json!("not-verifiable"), &json!("note")));
        let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
        for r in results {
            assert_eq!(rules[r["ruleIndex"].as_u64().unwrap() as usize]["id"], r["ruleId"]);
        }
        let place = &results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
        assert_eq!(place, "my%20release");
    }
}
