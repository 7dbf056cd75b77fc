//! Files that are listed twice, lie outside the folder, or are not listed.

use amidst_check::{CertificateDraft, Output, ProblemKind};

use crate::made::{Case, POLICY, delimited, draft, put};
use crate::{Forgery, forgery};

/// Releases that are accepted: parts in a folder, the certificate next to them.
pub fn controls() -> Vec<(&'static str, Case)> {
    let complete = Case::new("csv");
    let text = complete.certificate.to_json().unwrap();
    put(&complete.folder().join("certificate.json"), text.as_bytes());
    let repeated = listed(&["policy.toml"], |case| put(&case.folder().join("policy.toml"), POLICY.as_bytes())).sealed();
    vec![("with its certificate", complete), ("parts", parts()), ("the policy beside the table", repeated)]
}

/// A release in two parts.
fn parts() -> Case {
    let place = tempfile::tempdir().unwrap();
    let text = String::from_utf8(delimited(b',')).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let part = |range: std::ops::Range<usize>| [&lines[..1], &lines[range]].concat().concat();
    std::fs::create_dir(place.path().join("parts")).unwrap();
    put(&place.path().join("parts/a.csv"), part(1..7).as_bytes());
    put(&place.path().join("parts/b.csv"), part(7..13).as_bytes());
    let outputs = vec!["parts/a.csv".to_string(), "parts/b.csv".to_string()];
    let draft = CertificateDraft { outputs, ..draft() };
    let certificate = amidst_check::issue(draft, place.path(), &Default::default()).unwrap_or_else(|p| panic!("{p:?}"));
    Case { place, certificate, file: "parts/a.csv".into() }
}

/// A release that lists a file under these names as well.
fn listed(names: &'static [&'static str], before: fn(&Case)) -> Case {
    let case = Case::new("csv");
    before(&case);
    case.saying(|c| {
        let more = names.iter().map(|name| Output { file: name.to_string(), bytes: 0, sha256: String::new() });
        c.outputs.extend(more.collect::<Vec<_>>());
    })
}

fn copy(case: &Case, name: &str) {
    std::fs::copy(case.path(), case.folder().join(name)).unwrap();
}

/// A release with an additional entry in its folder.
fn beside(name: &'static str, tries: &'static str, path: &'static str) -> Forgery {
    forgery(name, tries, ProblemKind::ExtraFile, move || {
        let case = Case::new("csv");
        let path = case.folder().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        put(&path, b"name,disease\nAnn,HIV\n");
        case
    })
}

pub fn forgeries() -> Vec<Forgery> {
    use ProblemKind::{File, MissingFile};
    let list = |name: &str, tries, found, names, before| forgery(name, tries, found, move || listed(names, before));
    let mut all = vec![
        list("one file five times", "twelve persons counted five times", File, &["release.csv"; 4], |_| {}),
        list("a dot before", "the same file under another spelling", File, &["./release.csv"], |_| {}),
        list("a detour", "the same file by a detour", File, &["x/../release.csv"], |_| {}),
        list("another case", "the same file where case does not matter", File, &["Release.csv"], |case| {
            copy(case, "Release.csv")
        }),
        list("a copy", "the same rows in a second file", File, &["more.csv"], |case| copy(case, "more.csv")),
        list(
            "a copy of another name",
            "the same rows in a second file of another ending",
            File,
            &["more.CSV"],
            |case| copy(case, "more.CSV"),
        ),
        list("outside", "a file of the folder above", File, &["../other.csv"], |_| {}),
        list("an absolute path", "a file of the machine", File, &["/etc/hostname"], |_| {}),
        list("a folder", "a folder as a file", File, &["more"], |case| {
            std::fs::create_dir(case.folder().join("more")).unwrap()
        }),
        list("a file that is not there", "a file that nobody can look at", MissingFile, &["report.html"], |_| {}),
        list(
            "another policy",
            "a policy beside the table that asks for more",
            ProblemKind::Policy,
            &["policy.toml"],
            |case| put(&case.folder().join("policy.toml"), POLICY.replace("k = 3", "k = 50").as_bytes()),
        ),
        list(
            "raw rows listed as a spreadsheet",
            "a raw table under the certificate's seal",
            File,
            &["raw.xlsx"],
            |case| put(&case.folder().join("raw.xlsx"), b"name,disease\nAnn,HIV\n"),
        ),
        list(
            "raw rows listed as a note",
            "a raw table under the certificate's seal",
            File,
            &["notes/report.md"],
            |case| {
                std::fs::create_dir(case.folder().join("notes")).unwrap();
                put(&case.folder().join("notes/report.md"), b"name,disease\nAnn,HIV\n")
            },
        ),
        list("a line break in a name", "a name of two lines", File, &["a\n.csv"], |_| {}),
        list("a backslash in a name", "a name that other systems take apart", File, &["..\\a.csv"], |_| {}),
        beside("raw rows beside", "a spreadsheet in the folder", "raw.xlsx"),
        beside("raw rows hidden", "a hidden file", ".raw"),
        beside("raw rows below", "a folder in the folder", "backup/raw.csv"),
        beside("raw rows as a report", "a report that nobody lists", "report.html"),
        beside("raw rows as an envelope", "a table that calls itself a signature", "raw.intoto.jsonl"),
        beside("raw rows as a certificate", "a second certificate", "old/certificate.json"),
    ];
    #[cfg(unix)]
    all.extend(links());
    all
}

#[cfg(unix)]
fn links() -> Vec<Forgery> {
    use std::os::unix::fs::symlink;
    vec![
        forgery("a hard link", "one file under two names", ProblemKind::File, || {
            listed(&["more.csv"], |case| std::fs::hard_link(case.path(), case.folder().join("more.csv")).unwrap())
        }),
        forgery("a link to a file", "a table that lies elsewhere", ProblemKind::File, || {
            let case = Case::new("csv");
            let elsewhere = case.folder().join(".elsewhere");
            std::fs::rename(case.path(), &elsewhere).unwrap();
            symlink(elsewhere, case.path()).unwrap();
            case
        }),
        forgery("a link to a folder", "a folder that lies elsewhere", ProblemKind::File, || {
            let case = Case::new("csv");
            let elsewhere = case.folder().join(".elsewhere");
            std::fs::create_dir(&elsewhere).unwrap();
            std::fs::rename(case.path(), elsewhere.join("release.csv")).unwrap();
            symlink(elsewhere, case.folder().join("parts")).unwrap();
            case.saying(|c| c.outputs[0].file = "parts/release.csv".into())
        }),
        forgery("a link beside", "a link that nobody lists", ProblemKind::ExtraFile, || {
            let case = Case::new("csv");
            symlink("/etc/hostname", case.folder().join("hostname")).unwrap();
            case
        }),
        forgery("a pipe", "a file that is waited for", ProblemKind::File, || {
            let case = Case::new("csv");
            std::fs::remove_file(case.path()).unwrap();
            crate::made::pipe(&case.path());
            case
        }),
        forgery("a pipe beside the table", "a listed file that is waited for", ProblemKind::File, || {
            listed(&["report.html"], |case| crate::made::pipe(&case.folder().join("report.html")))
        }),
        forgery("an endless file", "a link to a device", ProblemKind::File, || {
            let case = Case::new("csv");
            std::fs::remove_file(case.path()).unwrap();
            symlink("/dev/zero", case.path()).unwrap();
            case
        }),
    ]
}
