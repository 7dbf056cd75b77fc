//! No part of a sealed release can be changed without being detected.

use crate::common::{claim, seal, table, write_csv};
use amidst_check::{Certificate, Options, ProblemKind, verify};
use serde_json::json;

fn sealed(folder: &std::path::Path) -> (crate::common::Table, String) {
    let release = table(&[
        "q1,q2,disease",
        "1305*,<=40,Flu",
        "1305*,<=40,Cancer",
        "1305*,<=40,Flu",
        "1306*,<=40,Flu",
        "1306*,<=40,Cancer",
        "1306*,<=40,HIV",
    ]);
    let claims = vec![
        claim("k-anonymity", &[], json!({"k": 3})),
        claim("entropy-l-diversity", &["disease"], json!({"l": 1.75})),
        claim("t-closeness", &["disease"], json!({"t": "1/3", "distance": "equal"})),
        claim("recursive-c-l-diversity", &["disease"], json!({"c": 2.5, "l": 2})),
    ];
    let certificate = seal(folder, &release, claims).unwrap();
    (release, certificate.to_json().unwrap())
}

#[test]
fn a_sealed_release_verifies_and_survives_the_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    let (_, text) = sealed(folder.path());
    let certificate = Certificate::parse(&text).unwrap();
    assert_eq!(certificate.to_json().unwrap(), text);
    let verdict = verify(folder.path(), &certificate, &Options::default());
    assert!(verdict.valid, "{:?}", verdict.problems);
    let found: Vec<_> = verdict.requirements.iter().map(|f| f.requirement.clone()).collect();
    assert_eq!(found, certificate.requirements);
    assert!(verdict.requirements.iter().all(|f| f.verdict == amidst_check::ClaimStatus::Proven));
    assert!(verdict.problems.is_empty());
    assert_eq!(certificate.classes, 2);
    assert_eq!(certificate.requirements[0].measured["k"], json!(3));
    // A single file may be verified under any name.
    let elsewhere = folder.path().join("renamed.csv");
    std::fs::rename(folder.path().join("release.csv"), &elsewhere).unwrap();
    assert!(verify(&elsewhere, &certificate, &Options::default()).valid);
    let json = serde_json::to_value(verify(&elsewhere, &certificate, &Options::default())).unwrap();
    assert_eq!(
        json.as_object().unwrap().keys().collect::<Vec<_>>(),
        [
            "valid",
            "requirements",
            "problems",
            "proven",
            "attested",
            "not_checked",
            "matching",
            "signatures",
            "signed_by",
            "valid_until",
            "fresh"
        ]
    );
    let requirement = json["requirements"][0].as_object().unwrap();
    assert_eq!((&requirement["holds"], &requirement["verdict"]), (&json!(true), &json!("proven")));
}

#[test]
fn every_changed_byte_of_the_certificate_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let (_, text) = sealed(folder.path());
    for (at, byte) in text.bytes().enumerate() {
        let others: Vec<u8> = match byte {
            b'0'..=b'9' => (b'0'..=b'9').filter(|&b| b != byte).collect(),
            b'a'..=b'z' => vec![if byte == b'z' { b'a' } else { byte + 1 }, byte.to_ascii_uppercase()],
            b' ' | b'\n' => vec![b'0'],
            _ => vec![b'x', b'0'],
        };
        for other in others {
            let mut changed = text.clone().into_bytes();
            changed[at] = other;
            let Ok(changed) = String::from_utf8(changed) else { continue };
            let unseen = match Certificate::parse(&changed) {
                Err(_) => false,
                Ok(certificate) => verify(folder.path(), &certificate, &Options::default()).valid,
            };
            assert!(!unseen, "byte {at} changed from {:?} to {:?}", byte as char, other as char);
        }
    }
}

#[test]
fn every_cut_certificate_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (_, text) = sealed(folder.path());
    for end in 0..text.trim_end().len() {
        assert!(Certificate::parse(&text[..end]).is_err());
    }
    for wrong in ["null", "[]", "{}", "1e999", "{\"format\":1}", "\"", &"[".repeat(100_000)] {
        assert!(Certificate::parse(wrong).is_err());
    }
    assert!(Certificate::parse(&text.replace("\"rows_in\": 6", "\"rows_in\": 99999999999999999999999")).is_err());
    assert!(Certificate::parse(&text.replace("\"rows_in\": 6", "\"rows_in\": -6")).is_err());
    assert!(Certificate::parse(&text.replace("\"rows_in\": 6", "\"rows_in\": \"6\"")).is_err());
}

type Change = Box<dyn Fn(&mut Certificate)>;

/// A forger who seals the certificate again after every change is detected by the recount.
#[test]
fn a_resealed_certificate_must_still_be_true() {
    let folder = tempfile::tempdir().unwrap();
    let (_, text) = sealed(folder.path());
    let good = Certificate::parse(&text).unwrap();
    let changes: Vec<(&str, Change)> = vec![
        ("rows_in", Box::new(|c| c.rows_in += 1)),
        ("dropped", Box::new(|c| c.rows_dropped_missing += 1)),
        ("rows_out", Box::new(|c| c.rows_out += 1)),
        ("suppressed", Box::new(|c| c.suppressed += 1)),
        ("classes", Box::new(|c| c.classes += 1)),
        ("k", Box::new(|c| drop(c.requirements[0].parameters.insert("k".into(), json!(4))))),
        ("measured", Box::new(|c| drop(c.requirements[0].measured.insert("k".into(), json!(4))))),
        ("size", Box::new(|c| c.requirements[1].worst.as_mut().unwrap().size += 1)),
        ("order", Box::new(|c| c.sensitive[0].order = Some(vec!["Flu".into(), "Cancer".into()]))),
        (
            "leak",
            Box::new(|c| {
                let leaked = amidst_check::Leveled { value: "Ebola".into(), groups: vec![0] };
                c.sensitive[0].levels = Some(vec![leaked]);
            }),
        ),
        ("quasi", Box::new(|c| drop(c.quasi.pop()))),
        ("twice", Box::new(|c| c.quasi.push("q1".into()))),
        ("column", Box::new(|c| c.quasi.push("q9".into()))),
        ("waived", Box::new(|c| c.waived.push(0))),
        ("waived far", Box::new(|c| c.waived.push(1 << 60))),
        ("file", Box::new(|c| c.outputs[0].file = "../release.csv".into())),
        ("bytes", Box::new(|c| c.outputs[0].bytes += 1)),
        ("sha", Box::new(|c| c.outputs[0].sha256 = "00".into())),
        ("policy", Box::new(|c| c.policy.push('x'))),
        ("format", Box::new(|c| c.format = 1)),
        ("model", Box::new(|c| c.requirements[0].model = "k-annoyance".into())),
        ("huge rows", Box::new(|c| c.rows_dropped_missing = u64::MAX)),
        ("unknown", Box::new(|c| drop(c.requirements[0].parameters.insert("sigma".into(), json!(4))))),
        ("missing", Box::new(|c| drop(c.requirements[0].parameters.remove("k")))),
        ("text", Box::new(|c| drop(c.requirements[0].parameters.insert("k".into(), json!("three"))))),
        ("endless", Box::new(|c| drop(c.requirements[0].parameters.insert("k".into(), json!("1e999999999"))))),
        ("holds", Box::new(|c| c.requirements[0].holds = false)),
        ("on", Box::new(|c| c.requirements[1].on = Some(amidst_check::On::One("q1".into())))),
        ("counterfeits", Box::new(|c| c.counterfeits = Some(3))),
        ("outputs", Box::new(|c| c.outputs.clear())),
    ];
    for (what, change) in changes {
        let mut changed = good.clone();
        change(&mut changed);
        changed.digest = changed.computed_digest().unwrap();
        let verdict = verify(folder.path(), &changed, &Options::default());
        assert!(!verdict.valid, "{what}");
        assert!(verdict.problems.iter().all(|p| !p.message.contains('\n')));
    }
}

#[test]
fn every_changed_cell_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let (release, text) = sealed(folder.path());
    let certificate = Certificate::parse(&text).unwrap();
    let path = folder.path().join("release.csv");
    for row in 0..release.len() {
        for column in 0..release[row].len() {
            for replacement in ["", "x", "*", "Flu", "\"", "a,b"] {
                let mut changed = release.clone();
                if changed[row][column] == replacement {
                    continue;
                }
                changed[row][column] = replacement.into();
                write_csv(&path, &changed);
                assert!(
                    !verify(folder.path(), &certificate, &Options::default()).valid,
                    "{row} {column} {replacement}"
                );
            }
        }
        let mut shorter = release.clone();
        shorter.remove(row);
        write_csv(&path, &shorter);
        assert!(!verify(folder.path(), &certificate, &Options::default()).valid);
    }
}

#[test]
fn missing_and_extra_files() {
    let folder = tempfile::tempdir().unwrap();
    let (_, text) = sealed(folder.path());
    let certificate = Certificate::parse(&text).unwrap();
    let kinds = |verdict: amidst_check::Verdict| verdict.problems.iter().map(|p| p.kind).collect::<Vec<_>>();
    let extra = folder.path().join("more.csv");
    std::fs::write(&extra, "a\n").unwrap();
    let report = folder.path().join("report.html");
    std::fs::write(&report, "no table").unwrap();
    let both = [ProblemKind::ExtraFile, ProblemKind::ExtraFile];
    assert_eq!(kinds(verify(folder.path(), &certificate, &Options::default())), both);
    std::fs::remove_file(&extra).unwrap();
    std::fs::remove_file(&report).unwrap();
    for garbage in [&b""[..], b"\n\n\n", b"\0\0\0", b"q1,q2,disease\n1,2\n", b"\xff\xfe", b"q1,q1,disease\n", b"\""] {
        std::fs::write(folder.path().join("release.csv"), garbage).unwrap();
        assert!(!verify(folder.path(), &certificate, &Options::default()).valid);
    }
    std::fs::remove_file(folder.path().join("release.csv")).unwrap();
    assert_eq!(kinds(verify(folder.path(), &certificate, &Options::default())), [ProblemKind::MissingFile]);
    let nowhere = folder.path().join("nowhere");
    assert_eq!(kinds(verify(&nowhere, &certificate, &Options::default())), [ProblemKind::MissingFile]);
}

#[test]
fn a_report_may_be_listed_after_the_check_but_no_table() {
    let folder = tempfile::tempdir().unwrap();
    let release = table(&["q1,disease", "a,Flu", "a,HIV"]);
    write_csv(&folder.path().join("release.csv"), &release);
    std::fs::write(folder.path().join("report.md"), "# Report\n").unwrap();
    std::fs::write(folder.path().join("more.csv"), "q1,disease\nb,Flu\n").unwrap();
    let check = || {
        let claims = vec![claim("k-anonymity", &[], json!({"k": 2}))];
        let mut draft = crate::common::draft(&release, &["q1"], &["disease"], claims);
        draft.policy = crate::common::policy(&draft);
        amidst_check::check(draft, folder.path(), &Options::default()).unwrap()
    };
    let bytes = std::fs::read(folder.path().join("release.csv")).unwrap();
    assert_eq!(check().sha256("release.csv"), Some(amidst_check::sha256_hex(&bytes).as_str()));
    let certificate = check().seal(&["report.md"]).unwrap();
    assert_eq!(certificate.outputs.len(), 2);
    assert_eq!(check().seal(&["more.csv"]).unwrap_err()[0].kind, ProblemKind::ExtraFile);
    std::fs::remove_file(folder.path().join("more.csv")).unwrap();
    assert!(verify(folder.path(), &certificate, &Options::default()).valid);
    std::fs::write(folder.path().join("report.md"), "# Another\n").unwrap();
    assert!(!verify(folder.path(), &certificate, &Options::default()).valid);
}

#[test]
fn of_classes_equally_near_to_the_bound_the_first_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    // Judged by s, the rows of one v are a class; the values of s come in another order than those of v.
    let release = table(&["q,s,v", "x,a,2", "x,b,1"]);
    let claims = vec![claim("distinct-l-diversity", &["s", "v"], json!({"l": 1}))];
    let certificate = seal(folder.path(), &release, claims).unwrap();
    let worst = certificate.requirements[0].worst.as_ref().unwrap();
    assert_eq!(serde_json::to_value(&worst.cells).unwrap(), json!({"q": "x", "v": "1"}));
}
