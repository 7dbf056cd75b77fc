//! Risk against a population: the journalist's risk, population uniques, and the regulators' threshold.

use crate::test_folder::TestFolder;

/// Classes of 11, 12 and 1, and a population with 22, 120 and 4 matching people.
fn clinic() -> TestFolder {
    let scratch = TestFolder::new();
    let rows = ["[20-29],flu\n".repeat(11), "[30-39],flu\n".repeat(12), "[40-49],gout\n".to_string()].concat();
    scratch.file("release.csv", &format!("age,disease\n{rows}"));
    scratch.file("town.csv", "name,age,count\nCanary,21,10\nCanary,29,12\nCanary,30,60\nCanary,35,60\nCanary,44,4\n");
    scratch
}

#[test]
fn a_population_tells_the_journalists_risk() {
    let scratch = clinic();
    let audit = |more: &[&str]| {
        scratch.amidst(&[&["audit", "release.csv", "--qi", "age", "--sensitive", "disease"], more].concat())
    };
    let run = audit(&["--population", "town.csv", "--report", "audit.html", "--json"]);
    assert!(!run.stdout.contains("Canary"));
    let risk = run.json(0)["risk"].clone();
    // Literally, 1/11 exceeds 0.09 and 1/12 does not; with the threshold read as 1/11, only the class of 1 exceeds it.
    assert_eq!((&risk["above_threshold"], &risk["above_one_in_eleven"]), (&12.into(), &1.into()));
    assert_eq!((&risk["journalist_max"], &risk["journalist"]["population"]), (&0.25.into(), &146.into()));
    let average = (11.0 / 22.0 + 12.0 / 120.0 + 1.0 / 4.0) / 24.0;
    assert!((risk["journalist_avg"].as_f64().unwrap() - average).abs() < 1e-12, "{risk}");
    assert_eq!(
        (&risk["journalist"]["above_threshold"], &risk["journalist"]["inconsistent_classes"]),
        (&1.into(), &0.into())
    );
    // The table is 24 of 146 people, so Zayatz's model suits it best.
    let first = &risk["population_uniques"][0];
    assert_eq!(
        (&first["model"], &first["assumed"], &first["preferred"]),
        (&"zayatz".into(), &false.into(), &true.into())
    );
    assert!((first["sampling_fraction"].as_f64().unwrap() - 24.0 / 146.0).abs() < 1e-12);
    let page = scratch.read("audit.html");
    assert!(page.contains("largest risk of anyone (journalist)") && page.contains("Zayatz 1991"));
    assert!(!page.contains("Canary"));
    let text = audit(&["--population", "town.csv"]).stdout;
    assert!(text.contains("journalist, maximum") && text.contains("(zayatz)"), "{text}");
}

#[test]
fn without_a_population_shares_of_it_are_assumed() {
    let scratch = clinic();
    let audit = |more: &[&str]| {
        scratch.amidst(&[&["audit", "release.csv", "--qi", "age", "--sensitive", "disease", "--json"], more].concat())
    };
    let risk = audit(&[]).json(0)["risk"].clone();
    assert!(risk["journalist_max"].is_null() && risk["journalist"].is_null());
    let assumed = risk["population_uniques"].as_array().unwrap();
    assert!(!assumed.is_empty() && assumed.iter().all(|u| u["assumed"] == true), "{risk}");
    let risk = audit(&["--sampling-fraction", "1/20"]).json(0)["risk"].clone();
    let stated = risk["population_uniques"].as_array().unwrap();
    assert!(stated.iter().all(|u| u["sampling_fraction"] == 0.05 && u["assumed"] == false), "{risk}");
    audit(&["--sampling-fraction", "2"]).fails(2, &["--sampling-fraction", "1/20"]);
    scratch.file("thin.csv", "count\n3\n");
    audit(&["--population", "thin.csv"]).fails(2, &["lacks the column age"]);
}

#[test]
fn a_report_holds_the_release_against_the_population_of_its_policy() {
    let scratch = TestFolder::new();
    let people: String = (0..60).map(|i| format!("{},{}\n", 20 + i % 20, ["flu", "gout"][i % 2])).collect();
    scratch.file("people.csv", &format!("age,disease\n{people}"));
    let town: String = (0..60).map(|i| format!("{},7\n", 20 + i % 40)).collect();
    scratch.file("town.csv", &format!("age,count\n{town}"));
    let policy = |more: &str| {
        format!(
            "[data]\ninput = \"people.csv\"\n[columns.age]\nrole = \"quasi\"\nhierarchy = {{ intervals = [5, 10] }}\n\
             [columns.disease]\nrole = \"sensitive\"\n{more}"
        )
    };
    let k_map = "[[require]]\nmodel = \"k-map\"\nk = 20\npopulation = \"town.csv\"\n";
    let stated =
        "[[require]]\nmodel = \"k-anonymity\"\nk = 5\n[risk]\npopulation = \"town.csv\"\nsampling_fraction = 0.1\n";
    for (more, least) in [(k_map, 20.0), (stated, 1.0)] {
        scratch.file("policy.toml", &policy(more));
        let json = scratch.amidst(&["anonymize", "policy.toml", "--out", "release", "--force", "--json"]).json(0);
        let report = |part: &str| -> serde_json::Value {
            serde_json::from_str(&scratch.read(&format!("release/{part}/report.json"))).unwrap()
        };
        let (public, report) = (report("public"), report("internal"));
        let (before, after) = (&report["risk"]["before"]["journalist"], &report["risk"]["after"]["journalist"]);
        assert_eq!(public["risk"]["after"]["journalist"], *after);
        assert!(after["max"].as_f64().unwrap() <= 1.0 / least, "{after}");
        assert!(after["max"].as_f64().unwrap() <= before["max"].as_f64().unwrap(), "{before} {after}");
        assert_eq!(json["risk"]["journalist_max"], after["max"]);
        assert_eq!(after["population"], 420);
        assert!(scratch.read("release/public/report.html").contains("Against the population"));
        assert!(scratch.read("release/public/report.md").contains("to a journalist who knows the population"));
        // Without the population k-map is only attested, and then nothing is proven.
        let alone = scratch.amidst(&["verify", "release", "--json"]).json(if more == k_map { 1 } else { 0 });
        assert_eq!(alone["requirements"][0]["verdict"], if more == k_map { "attested" } else { "proven" });
        assert_eq!(scratch.amidst(&["verify", "release", "--policy", "policy.toml", "--strict"]).code, 0);
    }
    // The resolved policy says it again.
    assert!(scratch.read("release/public/policy.toml").contains("sampling_fraction = 0.1"));
    scratch
        .file("policy.toml", &policy("[[require]]\nmodel = \"k-anonymity\"\nk = 5\n[risk]\nsampling_fraction = 1.5\n"));
    scratch.amidst(&["check", "policy.toml"]).fails(2, &["sampling_fraction", "1/20"]);
}

/// Sixty people, and a town of them and of others, with ages that have these `decimals`.
fn people_of_a_town(decimals: &str) -> TestFolder {
    let scratch = TestFolder::new();
    let people: String = (0..60)
        .map(|i| format!("{},{},{}\n", 20 + i % 20, ["north", "south"][i / 30], ["flu", "gout", "cold"][i % 3]))
        .collect();
    scratch.file("people.csv", &format!("age,side,disease\n{people}"));
    let other = |i: usize| format!("{}{decimals},{}\n", 15 + i % 30, ["north", "south"][i % 2]);
    let town: String = (0..240).map(other).collect();
    let own: String = (0..60).map(|i| format!("{},{}\n", 20 + i % 20, ["north", "south"][i / 30])).collect();
    scratch.file("town.csv", &format!("age,side\n{town}{own}"));
    scratch
}

#[test]
fn an_audit_of_a_release_finds_the_people_behind_its_labels() {
    let scratch = people_of_a_town("");
    let map = "[[require]]\nmodel = \"k-map\"\nk = 30\n";
    let presence = "[[require]]\nmodel = \"delta-presence\"\nmin = 0\nmax = 0.4\n";
    for (algorithm, generalize) in [("optimal", "hierarchy"), ("mondrian", "hierarchy"), ("mondrian", "ranges")] {
        for require in [map, presence] {
            scratch.file(
                "policy.toml",
                &format!(
                    "[data]\ninput = \"people.csv\"\n[columns.age]\nrole = \"quasi\"\ngeneralize = \"{generalize}\"\n\
                     hierarchy = {{ intervals = [5, 10, 20] }}\n[columns.side]\nrole = \"quasi\"\n\
                     hierarchy = {{ suppress = true }}\n[columns.disease]\nrole = \"sensitive\"\n\
                     {require}population = \"town.csv\"\n[search]\nalgorithm = \"{algorithm}\"\n"
                ),
            );
            let json = scratch.amidst(&["anonymize", "policy.toml", "--out", "release", "--force", "--json"]).json(0);
            let audit =
                scratch.amidst(&["audit", "release/public/release.csv", "--policy", "policy.toml", "--json"]).json(0);
            let [made, found] = [&json, &audit].map(|j| &j["requirements"][0]["measured"]);
            assert_eq!(found, made, "{algorithm}, {generalize}: {require}");
            assert_eq!(audit["holds"], true);
        }
    }
    // The input itself is compared with the same people; its cells cover exactly their own values.
    scratch.amidst(&["audit", "people.csv", "--policy", "policy.toml", "--json"]).json(1);
}

#[test]
fn local_recodings_match_the_population_too() {
    // Ages of the table, and others between and beyond them.
    let scratch = people_of_a_town(".5");
    let policy = |algorithm: &str, generalize: &str, require: &str| {
        format!(
            "[data]\ninput = \"people.csv\"\n[columns.age]\nrole = \"quasi\"\ntype = \"decimal\"\n\
             generalize = \"{generalize}\"\nhierarchy = {{ intervals = [5, 10, 20] }}\n\
             [columns.side]\nrole = \"quasi\"\nhierarchy = {{ suppress = true }}\n[columns.disease]\nrole = \"sensitive\"\n\
             {require}population = \"town.csv\"\n[search]\nalgorithm = \"{algorithm}\"\n"
        )
    };
    let map = "[[require]]\nmodel = \"k-map\"\nk = 12\n";
    let presence = "[[require]]\nmodel = \"delta-presence\"\nmin = 0\nmax = 0.4\n";
    let growing = ["mondrian", "top-down", "systematic", "k-member", "one-pass-k-means", "alpha-k-clustering"];
    for generalize in ["hierarchy", "ranges"] {
        for algorithm in growing.into_iter().chain(["portfolio"]) {
            scratch.file("policy.toml", &policy(algorithm, generalize, map));
            let run = scratch.amidst(&["anonymize", "policy.toml", "--out", "release", "--force", "--json"]);
            let json = run.json(0);
            assert!(json["classes"].as_u64().unwrap() > 1, "{algorithm}: {json}");
            let verify = scratch.amidst(&["verify", "release", "--policy", "policy.toml", "--json"]).json(0);
            assert_eq!(verify["requirements"][0]["measured"], json["requirements"][0]["measured"], "{algorithm}");
        }
        for algorithm in ["mondrian", "top-down", "portfolio"] {
            scratch.file("policy.toml", &policy(algorithm, generalize, presence));
            let run = scratch.amidst(&["anonymize", "policy.toml", "--out", "release", "--force", "--json"]);
            let measured = run.json(0)["requirements"][0]["measured"]["max"].clone();
            assert!(measured.as_f64().unwrap() <= 0.4, "{algorithm}: {measured}");
            let verify = scratch.amidst(&["verify", "release", "--policy", "policy.toml", "--json"]).json(0);
            assert_eq!(verify["requirements"][0]["measured"]["max"], measured, "{algorithm}");
        }
    }
    scratch.file("policy.toml", &policy("systematic", "hierarchy", presence));
    let refused = scratch.amidst(&["anonymize", "policy.toml", "--out", "release", "--force"]);
    refused.fails(2, &["delta-presence", "choose mondrian"]);
}

/// Survey weights: search, report, checker and attack count the same people.
#[test]
fn people_of_a_population_need_not_be_whole() {
    let scratch = TestFolder::new();
    scratch.file("people.csv", "age,disease\n20,flu\n20,hiv\n30,flu\n30,cold\n40,hiv\n40,flu\n");
    let town = "age,disease,count\n20,flu,2.5\n20,hiv,1/3\n30,flu,1.25\n30,cold,2\n40,hiv,1.5\n40,flu,1\n\
                40,cold,0.7500000000000001\n?,cold,9\n";
    scratch.file("town.csv", town);
    let policy = |require: &str| {
        format!(
            "[data]\ninput = \"people.csv\"\nmissing = [\"?\"]\n[columns.age]\nrole = \"quasi\"\n\
             hierarchy = {{ intervals = [20, 40] }}\n[columns.disease]\nrole = \"sensitive\"\n\
             [[require]]\n{require}population = \"town.csv\"\n[search]\nalgorithm = \"optimal\"\n"
        )
    };
    // The ages alone match 17/6, 3.25 and a little more than 3.25 people; 20 and 30 together 73/12.
    let cases = [
        ("model = \"k-map\"\nk = 2\n", "k", 2.0, 0),
        ("model = \"k-map\"\nk = 3\n", "k", 3.0, 1),
        ("model = \"delta-presence\"\nmax = \"12/17\"\n", "max", 12.0 / 17.0, 0),
        ("model = \"delta-presence\"\nmax = 0.7\n", "max", 48.0 / 73.0, 1),
    ];
    for (require, name, measured, level) in cases {
        scratch.file("policy.toml", &policy(require));
        let json = scratch.amidst(&["anonymize", "policy.toml", "--out", "release", "--force", "--json"]).json(0);
        assert_eq!(json["levels"]["age"], level, "{require}");
        let found = json["requirements"][0]["measured"][name].as_f64().unwrap();
        assert!((found - measured).abs() < 1e-9, "{require}: {found}");
        let verify = scratch.amidst(&["verify", "release", "--policy", "policy.toml", "--strict", "--json"]).json(0);
        assert_eq!(verify["requirements"][0]["measured"][name], json["requirements"][0]["measured"][name], "{require}");
        // People with an unknown value are not counted: 2.5 + 1/3 + 1.25 + 2 + 1.5 + 1 + 0.75 people.
        assert_eq!(json["risk"]["journalist"]["population"], 9, "{require}");
    }
    scratch.file("policy.toml", &policy("model = \"belief-difference\"\nmax = 0.3\n"));
    let json = scratch.amidst(&["anonymize", "policy.toml", "--out", "release", "--force", "--json"]).json(0);
    let change = json["requirements"][0]["measured"]["max"].as_f64().unwrap();
    assert!(change > 0.0 && change <= 0.3, "{change}");
    scratch.amidst(&["verify", "release", "--policy", "policy.toml", "--strict"]).succeeds();
    // The attack counts the same people, without those whose age is unknown.
    let attack =
        ["attack", "belief", "release/public/release.csv", "--policy", "policy.toml", "--population", "town.csv"];
    let found = scratch.amidst(&[&attack[..], &["--json"]].concat()).json(0)["columns"]["disease"].clone();
    assert!(found["largest_rise"].as_f64().unwrap() <= change + 1e-12, "{found}");
    scratch.file("policy.toml", &policy("model = \"belief-difference\"\nmax = 0.01\n"));
    scratch
        .amidst(&["anonymize", "policy.toml", "--out", "release", "--force"])
        .fails(1, &["belief-difference", "reaches max"]);
    scratch.file("town.csv", &town.replace("2.5", "-2.5"));
    scratch.amidst(&["check", "policy.toml"]).fails(2, &["`count`", "from 0 up"]);
}

/// The only value of a column is published unchanged, so it matches no other value.
#[test]
fn the_only_value_of_a_column_matches_nobody_else() {
    let scratch = TestFolder::new();
    scratch.file("people.csv", &format!("age,town,disease\n{}", "30,Ulm,flu\n".repeat(6)));
    scratch.file("town.csv", "age,town,count\n30,Ulm,5\n50,Ulm,5\n90,Bonn,9\n");
    for (age, town) in [("ranges", "sets"), ("hierarchy", "hierarchy")] {
        for algorithm in ["mondrian", "top-down", "portfolio"] {
            for (require, code) in [("delta-presence\"\nmax = 0.5", 1), ("k-map\"\nk = 5", 0), ("k-map\"\nk = 6", 1)] {
                scratch.file(
                    "policy.toml",
                    &format!(
                        "[data]\ninput = \"people.csv\"\n[columns.age]\nrole = \"quasi\"\ngeneralize = \"{age}\"\n\
                         hierarchy = {{ suppress = true }}\n[columns.town]\nrole = \"quasi\"\ngeneralize = \"{town}\"\n\
                         hierarchy = {{ suppress = true }}\n[columns.disease]\nrole = \"sensitive\"\n\
                         [[require]]\nmodel = \"{require}\npopulation = \"town.csv\"\n[search]\nalgorithm = \"{algorithm}\"\n"
                    ),
                );
                let run = scratch.amidst(&["anonymize", "policy.toml", "--out", "release", "--force"]);
                assert_eq!(run.code, code, "{algorithm}, {age}, {require}: {}", run.stderr);
            }
        }
    }
}

/// A population in which people of the table have no share, entirely or in part.
#[test]
fn a_population_that_contradicts_the_table_is_said() {
    let scratch = TestFolder::new();
    scratch.file("people.csv", "age,disease\n21,flu\n21,hiv\n22,flu\n22,flu\n31,hiv\n31,flu\n32,flu\n32,cold\n");
    let policy = "[data]\ninput = \"people.csv\"\n[columns.age]\nrole = \"quasi\"\nhierarchy = { intervals = [5, 10] }\n\
                  [columns.disease]\nrole = \"sensitive\"\n[[require]]\nmodel = \"bayes-optimal\"\nrho1 = 0.2\nrho2 = 0.9\n\
                  population = \"town.csv\"\n";
    scratch.file("policy.toml", policy);
    let town = |without: &[&str]| {
        let cells = ["21", "22", "23", "31", "32"].map(|age| ["flu", "hiv", "cold"].map(|d| format!("{age},{d}")));
        let kept = cells.iter().flatten().filter(|cell| !without.iter().any(|w| cell.contains(w)));
        format!("age,disease,count\n{}", kept.map(|cell| format!("{cell},9\n")).collect::<String>())
    };
    // Everybody has a share, and so have others: no warning.
    scratch.file("town.csv", &town(&[]));
    let run = scratch.amidst(&["check", "policy.toml"]);
    assert!(run.code == 0 && !run.stderr.contains("contradicts"), "{}", run.stderr);
    // One row has no share, which a wider class resolves.
    scratch.file("town.csv", &town(&["31,hiv"]));
    let run = scratch.amidst(&["check", "policy.toml"]);
    assert!(run.code == 0 && run.stderr.contains("`disease` of 1 row"), "{}{}", run.stdout, run.stderr);
    let json = scratch.amidst(&["anonymize", "policy.toml", "--out", "release", "--json"]).json(0);
    assert!(json["levels"]["age"].as_u64().unwrap() > 0, "{json}");
    scratch.amidst(&["verify", "release", "--policy", "policy.toml", "--strict"]).succeeds();
    // A value has no share at all, which nothing resolves.
    scratch.file("town.csv", &town(&["hiv"]));
    let run = scratch.amidst(&["anonymize", "policy.toml", "--out", "other"]);
    run.fails(1, &["bayes-optimal", "no rho2 is possible", "gives no share to a value", "2 of 8 rows"]);
}

/// For requirements with two parts the message names the failing one.
#[test]
fn an_audit_says_what_stands_in_the_way() {
    let scratch = TestFolder::new();
    let rows = ["a,flu\n".repeat(6), "a,hiv\nb,flu\nb,flu\nb,cold\nb,cold\n".to_string()].concat();
    scratch.file("people.csv", &format!("town,disease\n{rows}"));
    let audit = |require: &str| {
        scratch.file(
            "policy.toml",
            &format!(
                "[data]\ninput = \"people.csv\"\n[columns.town]\nrole = \"quasi\"\nhierarchy = {{ suppress = true }}\n\
                 [columns.disease]\nrole = \"sensitive\"\n[[require]]\n{require}"
            ),
        );
        scratch.amidst(&["audit", "people.csv", "--policy", "policy.toml"]).stdout
    };
    let npd = |c1: u32, c2: u32| {
        let stated = format!("c1 = {c1}\nc2 = {c2}\nl = 2\nno_negative = [\"hiv\"]\n");
        audit(&format!("model = \"npd-recursive-c1-c2-l-diversity\"\n{stated}"))
    };
    assert!(npd(9, 20).contains("rarer than c2 percent"), "{}", npd(9, 20));
    let complete = |k: u32, alpha: &str| {
        audit(&format!("model = \"complete-alpha-k-anonymity\"\nk = {k}\nalpha = {{ flu = {alpha} }}\n"))
    };
    let (share, size) = (complete(3, "0.5"), complete(5, "0.9"));
    assert!(share.contains("more frequent than its alpha allows"), "{share}");
    assert!(size.contains("k = 4") && !size.contains("alpha allows"), "{size}");
}
