//! Suppressed and masked rows, and the message for a policy that needs more of them.

use crate::test_folder::TestFolder;

#[test]
fn an_impossible_policy_names_the_suppression_it_would_take() {
    let scratch = TestFolder::new();
    let mut rows = String::from("age,disease\n");
    for (age, disease, n) in [(20, "flu", 3), (20, "cold", 3), (30, "flu", 4)] {
        rows.push_str(&format!("{age},{disease}\n").repeat(n));
    }
    scratch.file("people.csv", &rows);
    let policy = |model: &str, algorithm: &str, rows: u64| {
        format!(
            "[data]\ninput = \"people.csv\"\n[columns.age]\nrole = \"quasi\"\nhierarchy = {{ suppress = true }}\n\
             [columns.disease]\nrole = \"sensitive\"\n[[require]]\n{model}\n\
             [search]\nalgorithm = \"{algorithm}\"\nmax_suppression = {rows}\n"
        )
    };
    let recursive = "model = \"recursive-c-l-diversity\"\non = \"disease\"\nc = 2\nl = 2";
    for algorithm in ["optimal", "incognito", "samarati"] {
        for allowed in [0, 3] {
            scratch.file("policy.toml", &policy(recursive, algorithm, allowed));
            let run = scratch.amidst(&["anonymize", "policy.toml", "--out", "release"]);
            let may = format!("and {allowed} may be suppressed");
            run.fails(
                1,
                &["recursive-c-l-diversity with c = 2, l = 2", "7/3", "at least 4 of 10 rows (40.00 %)", &may],
            );
        }
        scratch.file("policy.toml", &policy("model = \"k-anonymity\"\nk = 11", algorithm, 10));
        let run = scratch.amidst(&["anonymize", "policy.toml", "--out", "release"]);
        let words =
            ["k-anonymity with k = 11", "the largest possible k in this table is 10", "any number of suppressed rows"];
        run.fails(1, &words);
        assert!(!scratch.path("release").exists());
        // With the number of rows stated in the message the policy can be satisfied.
        scratch.file("policy.toml", &policy(recursive, algorithm, 4));
        assert_eq!(scratch.amidst(&["anonymize", "policy.toml", "--out", "release"]).code, 0);
        std::fs::remove_dir_all(scratch.path("release")).unwrap();
    }
}

#[test]
fn masked_rows_are_one_checked_class() {
    let scratch = TestFolder::new();
    let mut rows = String::from("age,disease\n");
    for (age, n) in [(20, 6), (30, 6), (40, 1), (50, 2)] {
        for i in 0..n {
            rows.push_str(&format!("{age},{}\n", ["flu", "cold"][i % 2]));
        }
    }
    scratch.file("people.csv", &rows);
    let policy = |rows: u64| {
        format!(
            "[data]\ninput = \"people.csv\"\n[columns.age]\nrole = \"quasi\"\nhierarchy = {{ suppress = true }}\n\
             [columns.disease]\nrole = \"sensitive\"\n[[require]]\nmodel = \"k-anonymity\"\nk = 3\n\
             [search]\nalgorithm = \"optimal\"\nmax_suppression = {rows}\nsuppressed = \"mask\"\n"
        )
    };
    scratch.file("policy.toml", &policy(3));
    let json = scratch.amidst(&["anonymize", "policy.toml", "--out", "release", "--json"]).json(0);
    assert_eq!((&json["rows_out"], &json["suppressed"], &json["classes"]), (&15.into(), &3.into(), &3.into()));
    assert_eq!(scratch.read("release/public/release.csv").lines().filter(|l| l.starts_with("*,")).count(), 3);
    assert_eq!(scratch.amidst(&["verify", "release"]).code, 0);
}

/// Masked rows of a local recoding print `*` in every column, keep within the limit and pass the checker.
#[test]
fn local_recodings_mask_rows_too() {
    let scratch = TestFolder::with_sample(1_500);
    let policy = scratch.read("policy.toml");
    let mut ever = 0;
    for algorithm in ["mondrian", "systematic", "k-member", "one-pass-k-means", "alpha-k-clustering", "top-down"] {
        let search = format!("seed = 1\nalgorithm = \"{algorithm}\"\nsuppressed = \"mask\"");
        let policy = policy.replace("seed = 1", &search).replace("max_suppression = 0.02", "max_suppression = 0.1");
        scratch.file("masking.toml", &policy);
        let json = scratch.amidst(&["anonymize", "masking.toml", "--out", algorithm, "--json"]).json(0);
        let masked = json["suppressed"].as_u64().unwrap();
        assert_eq!(json["rows_out"], 1_500, "{algorithm}");
        assert!(masked <= 150, "{algorithm}: {masked}");
        let release = scratch.read(&format!("{algorithm}/public/release.csv"));
        let stars = release.lines().filter(|l| l.starts_with("*,*,*,*,*,*,")).count() as u64;
        assert!(masked == 0 || stars == masked, "{algorithm}: {stars} {masked}");
        assert_eq!(scratch.amidst(&["verify", algorithm]).code, 0, "{algorithm}");
        ever += masked;
    }
    assert!(ever > 0, "nothing was ever masked");
}

/// A whole number is a number of rows, which is said where it looks like a share; 1 and 1.0 never differ silently.
#[test]
fn numbers_of_rows_that_look_like_shares_are_told_of() {
    let scratch = TestFolder::with_sample(300);
    let policy = scratch.read("policy.toml");
    let said = |limit: &str| {
        scratch.file("p.toml", &policy.replace("max_suppression = 0.02", &format!("max_suppression = {limit}")));
        let run = scratch.amidst(&["check", "p.toml"]);
        (run.code, run.stderr)
    };
    for (limit, told) in [
        ("1", "1 row of 300"),
        ("2", "2 rows of 300"),
        ("10", "10 rows of 300"),
        ("300", "every row may be left out"),
        ("5000", "every row may be left out"),
        ("1.0", "every row may be left out"),
        ("\"100 %\"", "every row may be left out"),
    ] {
        let (code, stderr) = said(limit);
        assert!(
            code == 0 && stderr.contains("warning: `max_suppression") && stderr.contains(told),
            "{limit}: {stderr}"
        );
    }
    for silent in ["0", "0.0", "0.02", "\"2 %\"", "\"1/50\"", "40", "299"] {
        let (code, stderr) = said(silent);
        assert!(code == 0 && !stderr.contains("max_suppression"), "{silent}: {stderr}");
    }
    for wrong in ["-1", "1.5", "\"200 %\"", "\"-2 %\"", "\"two\"", "true"] {
        let (code, stderr) = said(wrong);
        assert!(code == 2 && stderr.contains("error: `max_suppression`"), "{wrong}: {stderr}");
    }
}
