//! `amidst sign` and `verify --signer`: signers, expiry and predecessors.

use std::fs;

use serde_json::Value;

use crate::series::{INIT, POLICY, people};
use crate::test_folder::TestFolder;

/// Keys that `ssh-keygen` and `openssl` made; the expert's is protected by a passphrase.
const OWNER: &str = "-----BEGIN OPENSSH PRIVATE KEY-----
b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW
QyNTUxOQAAACCb3nQ0RB6xhhdrgSWoO0hf77FrnURLxGKCdO4UpZXgQAAAAJi/CoTJvwqE
yQAAAAtzc2gtZWQyNTUxOQAAACCb3nQ0RB6xhhdrgSWoO0hf77FrnURLxGKCdO4UpZXgQA
AAAEA+mw3u9eu6sWasJEiWC2Bn2KyRKWfBmp9QU2qAqLh4jZvedDREHrGGF2uBJag7SF/v
sWudREvEYoJ07hSlleBAAAAAEW93bmVyQGV4YW1wbGUub3JnAQIDBA==
-----END OPENSSH PRIVATE KEY-----
";
const OWNER_PUBLIC: &str =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJvedDREHrGGF2uBJag7SF/vsWudREvEYoJ07hSlleBA owner@example.org\n";
const EXPERT: &str = "-----BEGIN OPENSSH PRIVATE KEY-----
b3BlbnNzaC1rZXktdjEAAAAACmFlczI1Ni1jdHIAAAAGYmNyeXB0AAAAGAAAABCBjUroEO
u6dipOyXk6UQiJAAAAAQAAAAEAAAAzAAAAC3NzaC1lZDI1NTE5AAAAILOBMOHMpFRh6XXr
5COKyTOuBRXQ/sRWsLgBXHgvMO7AAAAAoG+ljcnCSO/Xd7fHGHkMWKs1U0OQM95h/O92mu
16esdf3NykDN4fhdgJZZOUvTmwPSRuQ3JTiTbE1vSrdQUYigmOArByYdsXaU+RoayXUPAy
i7s08+4edHZJZeBglc7mPOX1dFVK+XTtgNSpTw/juu7HFBinNHFwqPusQkwLfqiWS2HKk/
Y+D/eV3NSuJij8txKZb8mYk7N/khBn8ghpotQ=
-----END OPENSSH PRIVATE KEY-----
";
const EXPERT_PUBLIC: &str =
    "expert@example.org ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILOBMOHMpFRh6XXr5COKyTOuBRXQ/sRWsLgBXHgvMO7A\n";
const PEM: &str = "-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIArgUARK1b/npt/BPAt1hL1eNaakbZaXSwrE9PSFBKL7
-----END PRIVATE KEY-----
";
const PEM_PUBLIC: &str = "-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAdkIVZyQnJz4sJUR8zUB4ccYAiWYaqpg7viy7CoF10EA=
-----END PUBLIC KEY-----
";

/// A release of sample patients, and the keys.
fn prepared_folder() -> TestFolder {
    let scratch = TestFolder::with_sample(300);
    scratch.amidst(&["anonymize", "policy.toml", "--out", "out", "--quiet"]).succeeds();
    keys(&scratch);
    scratch
}

fn keys(scratch: &TestFolder) {
    for (name, text) in [("owner", OWNER), ("expert", EXPERT), ("pem", PEM)] {
        private(scratch, name, text);
    }
    for (name, text) in [("owner.pub", OWNER_PUBLIC), ("allowed_signers", EXPERT_PUBLIC), ("pem.pub", PEM_PUBLIC)] {
        scratch.file(name, text);
    }
}

fn private(scratch: &TestFolder, name: &str, text: &str) {
    let path = scratch.file(name, text);
    #[cfg(unix)]
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    #[cfg(not(unix))]
    let _ = path;
}

fn signed_by(verdict: &Value) -> Vec<String> {
    let list = verdict["signed_by"].as_array().cloned().unwrap_or_default();
    list.iter().map(|s| s["name"].as_str().unwrap_or("?").to_string()).collect()
}

#[test]
fn signatures_tell_who_says_so_beside_what_is_so() {
    let scratch = prepared_folder();
    let unsigned = scratch.amidst(&["verify", "out", "--signer", "owner.pub", "--json"]).json(1);
    assert_eq!((&unsigned["valid"], &unsigned["matching"]), (&Value::from(true), &Value::from(true)));
    assert_eq!(unsigned["signed_by"], serde_json::json!([]));

    let told = scratch.amidst(&["sign", "out", "--key", "owner", "--json"]).json(0);
    assert_eq!(told["signatures"], 1);
    assert!(scratch.path("out/public/release.intoto.jsonl").is_file());
    let verdict = scratch.amidst(&["verify", "out", "--signer", "owner.pub", "--json"]).json(0);
    assert_eq!((signed_by(&verdict), &verdict["fresh"]), (vec!["owner@example.org".to_string()], &Value::Null));
    let text = scratch.amidst(&["verify", "out", "--signer", "owner.pub"]);
    assert!(text.code == 0 && text.stdout.contains("signed by: owner@example.org (SHA256:"), "{}", text.stdout);

    // Without a stated key no signature is trusted; with another key the verdict fails.
    assert_eq!(scratch.amidst(&["verify", "out", "--json"]).json(0)["signed_by"], Value::Null);
    let other = scratch.amidst(&["verify", "out", "--signer", "pem.pub", "--json"]).json(1);
    assert_eq!((&other["valid"], signed_by(&other).len()), (&Value::from(true), 0));

    // Two more sign; all three signatures are there, and stay when one signs again.
    scratch.amidst(&["sign", "out", "--key", "pem", "--json"]).json(0);
    let mut command = scratch.command(&["sign", "out", "--key", "expert", "--json"]);
    let third = command.env("AMIDST_PASSPHRASE", "three words long").output().unwrap();
    assert!(third.status.success(), "{}", String::from_utf8_lossy(&third.stderr));
    let before = scratch.read("out/public/release.intoto.jsonl");
    scratch.amidst(&["sign", "out", "--key", "owner", "--json"]).json(0);
    assert_eq!(scratch.read("out/public/release.intoto.jsonl"), before, "one key has one signature of one statement");
    let all =
        ["verify", "out", "--json", "--signer", "owner.pub", "--signer", "allowed_signers", "--signer", "pem.pub"];
    assert_eq!(scratch.amidst(&all).json(0)["signed_by"].as_array().unwrap().len(), 3);
    assert_eq!(scratch.amidst(&["verify", "out/public", "--signer", OWNER_PUBLIC, "--json"]).json(0)["valid"], true);
    assert!(scratch.names().iter().all(|name| !name.starts_with(".amidst")), "nothing is left behind");
}

#[test]
fn a_single_table_is_signed_beside_itself() {
    let scratch = prepared_folder();
    scratch.amidst(&["anonymize", "policy.toml", "--out", "table.csv", "--quiet"]).succeeds();
    scratch.amidst(&["sign", "table.csv", "--key", "owner"]).succeeds();
    assert!(scratch.path("table.csv.intoto.jsonl").is_file());
    for release in [&["table.csv"][..], &["--release", "table.csv", "--certificate", "table.csv.certificate.json"]] {
        let arguments = [&["verify", "--signer", "owner.pub"], release].concat();
        assert_eq!(scratch.amidst(&arguments).code, 0, "{release:?}");
    }
}

#[test]
fn what_is_not_right_is_not_signed() {
    let scratch = prepared_folder();
    let locked =
        scratch.command(&["sign", "out", "--key", "expert"]).stdin(std::process::Stdio::null()).output().unwrap();
    assert_eq!(locked.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&locked.stderr).contains("AMIDST_PASSPHRASE"));
    let wrong =
        scratch.command(&["sign", "out", "--key", "expert"]).env("AMIDST_PASSPHRASE", "other").output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    scratch.amidst(&["sign", "out", "--key", "owner.pub"]).fails(2, &["public key"]);
    scratch.amidst(&["sign", "out", "--key", "nothing"]).fails(2, &["there is no key"]);
    scratch.amidst(&["sign", "out", "--key", "out/public/release.csv"]).fails(2, &["no private key"]);
    scratch.amidst(&["sign", "nowhere", "--key", "owner"]).fails(2, &["nowhere"]);
    scratch.amidst(&["verify", "out", "--signer", "nothing"]).fails(2, &["there is no file nothing"]);
    scratch.amidst(&["verify", "out", "--signer", "owner"]).fails(2, &["private key"]);
    scratch.amidst(&["verify", "out", "--at", "tomorrow"]).fails(2, &["2027-12-31"]);
    assert!(!scratch.path("out/public/release.intoto.jsonl").exists());

    // An altered release is not signed; verification names a signature of an altered release.
    scratch.amidst(&["sign", "out", "--key", "owner"]).succeeds();
    let table = scratch.read("out/public/release.csv");
    scratch.file("out/public/release.csv", &table.replacen("Flu", "HIV", 1));
    scratch.amidst(&["sign", "out", "--key", "pem"]).fails(1, &["release.csv", "not signed"]);
    scratch.file("out/public/release.csv", &table);
    let envelope = scratch.read("out/public/release.intoto.jsonl");
    scratch.file("out/public/release.intoto.jsonl", &envelope.replacen("\"sig\":\"", "\"sig\":\"A", 1));
    let verdict = scratch.amidst(&["verify", "out", "--json"]).json(1);
    assert!(verdict["problems"].to_string().contains("signature 1"), "{}", verdict["problems"]);
    scratch.amidst(&["sign", "out", "--key", "pem"]).fails(1, &["--force"]);
    scratch.amidst(&["sign", "out", "--key", "pem", "--force"]).succeeds();
    assert_eq!(scratch.amidst(&["verify", "out", "--signer", "pem.pub"]).code, 0);
}

#[test]
fn a_release_is_relied_on_until_its_day() {
    let scratch = TestFolder::with_sample(300);
    let policy = scratch.read("policy.toml");
    scratch.file("policy.toml", &format!("{policy}\n[release]\nvalid_until = 2031-06-30\n"));
    scratch.amidst(&["anonymize", "policy.toml", "--out", "out", "--quiet"]).succeeds();
    let on = |day: &str, code| scratch.amidst(&["verify", "out", "--at", day, "--json"]).json(code);
    assert_eq!(on("2031-06-30", 0)["fresh"], true);
    let late = on("2031-07-01", 1);
    assert_eq!(
        (&late["fresh"], &late["valid"], &late["valid_until"]),
        (&false.into(), &true.into(), &"2031-06-30".into())
    );
}

#[test]
fn versions_of_a_series_are_chained() {
    let scratch = TestFolder::new();
    scratch.file("people.csv", &people(0, 60));
    scratch.file("policy.toml", POLICY);
    keys(&scratch);
    scratch.amidst(INIT).succeeds();
    for turn in 0..2 {
        scratch.file("new.csv", &people(100 + 10 * turn, 7));
        scratch.amidst(&["series", "insert", "ward", "new.csv"]).succeeds();
        scratch.amidst(&["series", "publish", "ward", "--allow-leak"]).succeeds();
    }
    let certificate = |n: u64| -> Value {
        serde_json::from_str(&scratch.read(&format!("ward/versions/{n}/certificate.json"))).unwrap()
    };
    for n in 1..=3 {
        let link = &certificate(n)["series"];
        assert_eq!(link["version"], n);
        let before = if n == 1 { Value::Null } else { certificate(n - 1)["digest"].clone() };
        assert_eq!(link["previous"], before);
        let folder = format!("ward/versions/{n}");
        let verdict = scratch.amidst(&["verify", &folder, "--json"]).json(0);
        assert!(!verdict["not_checked"].to_string().contains("follows"), "the version before is beside it");
    }
    let audit = scratch.amidst(&["series", "audit", "ward", "--json"]);
    let chain = audit.json(audit.code)["chain"].clone();
    assert_eq!((&chain["linked"], &chain["problems"]), (&3.into(), &serde_json::json!([])));

    // A version in the place of another, or an altered one, breaks the chain.
    scratch.amidst(&["sign", "ward/versions/2", "--key", "owner"]).succeeds();
    fs::rename(scratch.path("ward/versions/2"), scratch.path("aside")).unwrap();
    copy(&scratch, "ward/versions/1", "ward/versions/2");
    let broken = scratch.amidst(&["verify", "ward/versions/3", "--json"]).json(1);
    assert!(broken["problems"].to_string().contains("does not follow"), "{}", broken["problems"]);
    let told = scratch.amidst(&["series", "audit", "ward"]);
    assert!(
        told.code == 1 && told.stdout.contains("NOT CHAINED") && told.stdout.contains("version 2"),
        "{}",
        told.stdout
    );
    fs::remove_dir_all(scratch.path("ward/versions/2")).unwrap();
    let alone = scratch.amidst(&["verify", "ward/versions/3", "--json"]).json(0);
    assert!(alone["not_checked"].to_string().contains("follows version 2"));
    let given = ["verify", "ward/versions/3", "--previous", "aside", "--json"];
    assert_eq!(scratch.amidst(&given).json(0)["valid"], true);
}

fn copy(scratch: &TestFolder, from: &str, to: &str) {
    fs::create_dir(scratch.path(to)).unwrap();
    for path in scratch.files(from) {
        fs::copy(&path, scratch.path(to).join(path.file_name().unwrap())).unwrap();
    }
}
