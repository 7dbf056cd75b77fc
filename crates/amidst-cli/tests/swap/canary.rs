//! Texts that only the owner may know must not occur in any file of the public part.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use amidst::anonymize::{Options, anonymize};
use amidst::job::Job;
use amidst::policy::Policy;

/// A table of wards and ages in which one row is unlike all others.
fn people(alone: &str) -> String {
    let mut text = "name,age,zip,disease,note\n".to_string();
    for i in 0..24 {
        let disease = ["Flu", "Cold", "Asthma"][i % 3];
        text.push_str(&format!("Nobody{i},{},{},{disease},a\n", 30 + i % 2, ["14248", "14249"][i % 2]));
    }
    text + alone + "\n"
}

fn policy(requirement: &str) -> String {
    format!(
        "[data]\ninput = \"inner-canary/people.csv\"\nmissing = []\n[columns.name]\nrole = \"identifying\"\n\
         [columns.age]\nrole = \"quasi\"\nhierarchy = {{ intervals = [10] }}\n\
         [columns.zip]\nrole = \"quasi\"\nhierarchy = {{ file = \"inner-canary/zip.csv\" }}\n\
         [columns.disease]\nrole = \"sensitive\"\n[columns.note]\nrole = \"insensitive\"\naccept = \"a test\"\n\
         [[require]]\nmodel = \"k-anonymity\"\nk = 4\n[[require]]\n{requirement}\n\
         [search]\nalgorithm = \"optimal\"\nmax_suppression = \"1/5\"\n[output]\nfile = \"release.csv\"\n"
    )
}

fn publish(folder: &Path, requirement: &str, out: &Path) {
    std::fs::create_dir_all(folder.join("inner-canary")).unwrap();
    let inner = folder.join("inner-canary");
    std::fs::write(inner.join("people.csv"), people("Canary Bird,97,99817,Canaritis,canary note")).unwrap();
    std::fs::write(inner.join("zip.csv"), "14248;142**;*\n14249;142**;*\n99817;998**;*\n").unwrap();
    let policy = Policy::parse(&policy(requirement), &folder.join("policy.toml")).unwrap();
    let cancel = AtomicBool::new(false);
    let job = Job { cancel: &cancel, progress: &|_, _| {}, threads: 1, ..Job::default() };
    let options = Options { out: Some(out.to_path_buf()), ..Options::default() };
    let done = anonymize(&policy, &options, &job).unwrap();
    assert_eq!(done.judged.suppressed, 1);
}

#[test]
fn nothing_public_names_a_folder_or_a_suppressed_person() {
    let requirements = [
        "model = \"entropy-l-diversity\"\non = \"disease\"\nl = 2",
        "model = \"t-closeness\"\non = \"disease\"\nt = 0.5",
        "model = \"beta-likeness\"\non = \"disease\"\nbeta = 3",
    ];
    for requirement in requirements {
        let place = tempfile::Builder::new().prefix("outer-canary").tempdir().unwrap();
        let out = place.path().join("out");
        publish(place.path(), requirement, &out);
        let words = ["canary", "canaritis", "99817", "998**", "97", "[90-99]", "inner-", "outer-"];
        for file in std::fs::read_dir(out.join("public")).unwrap() {
            let path = file.unwrap().path();
            let text = String::from_utf8(std::fs::read(&path).unwrap()).unwrap().to_lowercase();
            // Digests and styles contain numbers of their own.
            let without: String = text.split('"').filter(|part| part.len() != 64).collect::<Vec<_>>().join("\"");
            for word in words.into_iter().filter(|&word| word != "97" || path.ends_with("release.csv")) {
                assert!(!without.contains(word), "{word} in {}", path.display());
            }
        }
        let internal = std::fs::read_to_string(out.join("internal").join("policy.toml")).unwrap();
        assert!(internal.contains("inner-canary/people.csv"));
    }
    // A single file with its certificate next to it.
    let place = tempfile::Builder::new().prefix("outer-canary").tempdir().unwrap();
    let file = place.path().join("single.csv");
    publish(place.path(), requirements[1], &file);
    let certificate = std::fs::read_to_string(place.path().join("single.csv.certificate.json")).unwrap().to_lowercase();
    assert!(!certificate.contains("canar"), "{certificate}");
}
