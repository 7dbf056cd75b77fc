//! Every model at its bound: where it just holds and where it just fails.

use crate::common::{Table, claim, draft, issue, table, write_csv};
use amidst_check::{
    CertificateDraft, ClaimStatus, Leveled, Options, PopulationTable, ProblemKind, Verdict, models, verify,
};
use serde_json::{Value, json};

/// Classes a (two Flu, one Cancer, one HIV) and b (one each of Flu, Cancer, HIV, Cold).
fn release() -> Table {
    table(&["q,s", "a,Flu", "a,Flu", "a,Cancer", "a,HIV", "b,Flu", "b,Cancer", "b,HIV", "b,Cold"])
}

fn adjusted(adjust: impl Fn(&mut CertificateDraft), model: &str, parameters: Value) -> Result<bool, String> {
    judge(&release(), &["s"], adjust, model, parameters, &Options::default())
}

fn judge(
    rows: &Table,
    on: &[&str],
    adjust: impl Fn(&mut CertificateDraft),
    model: &str,
    parameters: Value,
    options: &Options<'_>,
) -> Result<bool, String> {
    let folder = tempfile::tempdir().unwrap();
    write_csv(&folder.path().join("release.csv"), rows);
    let sensitive: Vec<&str> = rows[0].iter().map(String::as_str).filter(|name| !name.starts_with('q')).collect();
    let mut draft = draft(rows, &["q"], &sensitive, vec![claim(model, on, parameters)]);
    adjust(&mut draft);
    match issue(draft, folder.path(), options) {
        Ok(certificate) => {
            let verdict: Verdict = verify(folder.path(), &certificate, options);
            assert!(verdict.valid, "{:?}", verdict.problems);
            Ok(true)
        }
        Err(problems) if problems.iter().all(|p| p.message.contains("does not hold")) => Ok(false),
        Err(problems) => Err(problems[0].message.clone()),
    }
}

fn holds(model: &str, parameters: Value) -> bool {
    adjusted(|_| {}, model, parameters).unwrap()
}

#[test]
fn sizes() {
    assert!(holds("k-anonymity", json!({"k": 4})));
    assert!(!holds("k-anonymity", json!({"k": 5})));
    assert!(holds("max-risk", json!({"threshold": "1/4"})));
    assert!(!holds("max-risk", json!({"threshold": 0.2499})));
    assert!(holds("average-risk", json!({"threshold": 0.25})));
    assert!(!holds("average-risk", json!({"threshold": "0.2499999999999999999999"})));
    assert!(holds("sample-uniqueness", json!({"threshold": 0})));
    let lonely = table(&["q,s", "a,Flu", "b,Flu", "b,Flu"]);
    let uniqueness = |threshold: &str| {
        judge(&lonely, &[], |_| {}, "sample-uniqueness", json!({"threshold": threshold}), &Options::default()).unwrap()
    };
    assert!(uniqueness("1/3"));
    assert!(!uniqueness("0.3333333333"));
}

#[test]
fn diversity() {
    assert!(holds("distinct-l-diversity", json!({"l": 3})));
    assert!(!holds("distinct-l-diversity", json!({"l": 4})));
    // Entropy of {2,1,1} is 3/2·ln 2: l = √8.
    assert!(holds("entropy-l-diversity", json!({"l": "2.828427124746190097"})));
    assert!(!holds("entropy-l-diversity", json!({"l": "2.828427124746190098"})));
    // With Flu free, a = {Cancer 1, HIV 1} and Flu lowered to 1: exactly 3.
    assert!(holds("entropy-l-diversity", json!({"l": 3, "dont_care": ["Flu"]})));
    assert!(!holds("entropy-l-diversity", json!({"l": "3.0000000000000000001", "dont_care": ["Flu"]})));
    assert!(holds("entropy-l-diversity", json!({"l": 99, "dont_care": ["Flu", "Cancer", "HIV", "Cold"]})));
    assert!(!holds("recursive-c-l-diversity", json!({"c": 1, "l": 2})));
    assert!(holds("recursive-c-l-diversity", json!({"c": "1.000000000000000001", "l": 2})));
    assert!(!holds("recursive-c-l-diversity", json!({"c": 1000000, "l": 4})));
    assert!(holds("recursive-c-l-diversity", json!({"c": 0, "l": 1})));
    // Flu free: in a, Cancer at rank 2 > l − 1 = 1, so 1 < c·(2 + 1); in b, Flu first: 1 < c·(1 + 1 + 1).
    assert!(!holds("pd-recursive-c-l-diversity", json!({"c": "1/3", "l": 2, "dont_care": ["Flu"]})));
    assert!(holds("pd-recursive-c-l-diversity", json!({"c": 0.334, "l": 2, "dont_care": ["Flu"]})));
    let npd = |c2: Value| json!({"c1": 2, "c2": c2, "l": 2, "dont_care": [], "no_negative": ["HIV"]});
    assert!(holds("npd-recursive-c1-c2-l-diversity", npd(json!(25))));
    assert!(!holds("npd-recursive-c1-c2-l-diversity", npd(json!("25.0001"))));
    assert!(holds("p-sensitive-k-anonymity", json!({"p": 3, "k": 4})));
    assert!(!holds("p-sensitive-k-anonymity", json!({"p": 4, "k": 4})));
    assert!(!holds("p-sensitive-k-anonymity", json!({"p": 3, "k": 5})));
}

#[test]
fn alpha() {
    assert!(holds("simple-alpha-k-anonymity", json!({"alpha": 0.5, "value": "Flu", "k": 4})));
    assert!(!holds("simple-alpha-k-anonymity", json!({"alpha": 0.49, "value": "Flu", "k": 4})));
    assert!(holds("simple-alpha-k-anonymity", json!({"alpha": 0.25, "value": "HIV", "k": 4})));
    assert!(!holds("simple-alpha-k-anonymity", json!({"alpha": 0.25, "value": "HIV", "k": 5})));
    assert!(holds("general-alpha-k-anonymity", json!({"alpha": "1/2", "k": 4})));
    assert!(!holds("general-alpha-k-anonymity", json!({"alpha": "4999/10000", "k": 4})));
    assert!(holds("complete-alpha-k-anonymity", json!({"alpha": {"HIV": 0.25, "Ebola": 0}, "k": 4})));
    assert!(!holds("complete-alpha-k-anonymity", json!({"alpha": {"HIV": 0.25, "Cold": "0.24"}, "k": 4})));
}

#[test]
fn weighed_categories() {
    let with = |model: &str, parameters: Value| {
        let categories = vec![vec!["HIV".into(), "Cancer".into()], vec!["Cold".into()], vec!["Flu".into()]];
        let adjust = |draft: &mut CertificateDraft| draft.sensitive[0].categories = Some(categories.clone());
        adjusted(adjust, model, parameters)
    };
    // Weights 0, 1/2, 1: a weighs 2, b 3/2.
    assert_eq!(with("distinct-l-alpha-diversity", json!({"l": 3, "alpha": "3/2"})), Ok(true));
    assert_eq!(with("distinct-l-alpha-diversity", json!({"l": 3, "alpha": 1.51})), Ok(false));
    assert_eq!(with("distinct-l-alpha-diversity", json!({"l": 4, "alpha": 1})), Ok(false));
    // Categories of a: 2 and 2, entropy ln 2.
    assert_eq!(with("entropy-l-alpha-diversity", json!({"l": 2, "alpha": 1})), Ok(true));
    assert_eq!(with("entropy-l-alpha-diversity", json!({"l": "2.0000000000000000001", "alpha": 1})), Ok(false));
    assert_eq!(with("recursive-c-l-alpha-diversity", json!({"c": 1, "l": 2, "alpha": 1})), Ok(false));
    assert_eq!(with("recursive-c-l-alpha-diversity", json!({"c": 1.01, "l": 2, "alpha": 1})), Ok(true));
    assert_eq!(
        with("distinct-l-alpha-diversity", json!({"l": 3, "alpha": "1", "weights": ["0", "0", "1/2"]})),
        Ok(false)
    );
    let none = adjusted(|_| {}, "distinct-l-alpha-diversity", json!({"l": 3, "alpha": 1}));
    assert!(none.unwrap_err().contains("no categories"));
}

/// The values in groups of level 1, all of which one group of level 2 holds.
fn leveled(groups: [u32; 4]) -> Vec<Leveled> {
    let of = |(value, group): (&str, u32)| Leveled { value: value.into(), groups: vec![group, 0] };
    ["Cancer", "Cold", "Flu", "HIV"].into_iter().zip(groups).map(of).collect()
}

#[test]
fn closeness() {
    // Table: Cancer 2, Cold 1, Flu 3, HIV 2 of 8. Class a: 1, 0, 2, 1 of 4. Differences over 8: 0, −1, +1, 0.
    assert!(holds("t-closeness", json!({"t": 0.125, "distance": "equal"})));
    assert!(!holds("t-closeness", json!({"t": "0.12499999999999999999", "distance": "equal"})));
    // In the order Cancer, Cold, Flu, HIV one eighth moves one step of three.
    assert!(holds("t-closeness", json!({"t": "1/24", "distance": "ordered"})));
    assert!(!holds("t-closeness", json!({"t": 0.0416, "distance": "ordered"})));
    // An order that lists more values than there are: Zoster lies between Cold and Flu, so the eighth moves two steps
    // of four.
    let declared = |draft: &mut CertificateDraft| {
        draft.sensitive[0].order = Some(["Cancer", "Cold", "Zoster", "Flu", "HIV"].map(String::from).to_vec());
    };
    assert_eq!(adjusted(declared, "t-closeness", json!({"t": "1/16", "distance": "ordered"})), Ok(true));
    assert_eq!(adjusted(declared, "t-closeness", json!({"t": 0.0624, "distance": "ordered"})), Ok(false));
    let unordered = |draft: &mut CertificateDraft| draft.sensitive[0].order = None;
    assert!(adjusted(unordered, "t-closeness", json!({"t": 1, "distance": "ordered"})).is_err());
    // Cold and Flu under one group of level 1 of 2: the eighth moves half the height.
    let tree = |draft: &mut CertificateDraft| {
        draft.sensitive[0].levels = Some(leveled([0, 1, 1, 0]));
    };
    assert_eq!(adjusted(tree, "t-closeness", json!({"t": "1/16", "distance": "hierarchical"})), Ok(true));
    assert_eq!(adjusted(tree, "t-closeness", json!({"t": 0.0624, "distance": "hierarchical"})), Ok(false));
    let apart = |draft: &mut CertificateDraft| {
        draft.sensitive[0].levels = Some(leveled([0, 1, 0, 1]));
    };
    assert_eq!(adjusted(apart, "t-closeness", json!({"t": "1/8", "distance": "hierarchical"})), Ok(true));
    assert_eq!(adjusted(apart, "t-closeness", json!({"t": 0.1249, "distance": "hierarchical"})), Ok(false));
    // KL of a: ½·ln(4/3); of b: ¼(ln(1/4·8/3) + ln 2) = ¼·ln(4/3), smaller.
    let kl = 0.5 * (4.0f64 / 3.0).ln();
    assert!(holds("t-closeness", json!({"t": kl + 1e-12, "distance": "kl"})));
    assert!(!holds("t-closeness", json!({"t": kl - 1e-12, "distance": "kl"})));
    let js = |p: [f64; 4]| -> f64 {
        let q = [2.0 / 8.0, 1.0 / 8.0, 3.0 / 8.0, 2.0 / 8.0];
        let part = |x: f64, m: f64| if x > 0.0 { x * (x / m).ln() } else { 0.0 };
        p.iter().zip(q).map(|(&p, q)| (part(p, (p + q) / 2.0) + part(q, (p + q) / 2.0)) / 2.0).sum()
    };
    let worst = js([0.25, 0.0, 0.5, 0.25]).max(js([0.25; 4]));
    assert!(holds("t-closeness", json!({"t": worst + 1e-12, "distance": "js"})));
    assert!(!holds("t-closeness", json!({"t": worst - 1e-12, "distance": "js"})));
    // Distances of zero are exact too.
    let same = table(&["q,s", "a,x", "a,y", "b,x", "b,y"]);
    for distance in ["equal", "ordered", "kl", "js"] {
        let parameters = json!({"t": 0, "distance": distance});
        assert_eq!(judge(&same, &["s"], |_| {}, "t-closeness", parameters, &Options::default()), Ok(true));
    }
}

#[test]
fn disclosure() {
    // Without the Cold of b: table Cancer 2, Flu 3, HIV 2; a has ½ Flu against 3/7.
    let rows = table(&["q,s", "a,Flu", "a,Flu", "a,Cancer", "a,HIV", "b,Flu", "b,Cancer", "b,HIV"]);
    let on = |model: &str, parameters: Value| judge(&rows, &["s"], |_| {}, model, parameters, &Options::default());
    // b: Flu 1/3 against 3/7, ln(9/7), the largest.
    let delta = (9.0f64 / 7.0).ln();
    assert_eq!(on("delta-disclosure", json!({"delta": delta + 1e-12})), Ok(true));
    assert_eq!(on("delta-disclosure", json!({"delta": delta - 1e-12})), Ok(false));
    assert!(!holds("delta-disclosure", json!({"delta": 100})), "a lacks Cold");
    // b: Cancer 1/3 against 2/7: a gain of 1/6. a: Flu 1/2 against 3/7: 1/6 too.
    assert_eq!(on("beta-likeness", json!({"beta": "1/6"})), Ok(true));
    assert_eq!(on("beta-likeness", json!({"beta": 0.1666})), Ok(false));
    assert_eq!(on("beta-likeness", json!({"beta": 5, "enhanced": true})), Ok(true));
    // A value of nearly all rows may hardly gain: q = 9/10, −ln q = 0.105, gain to certainty 0.111.
    let mut skewed = vec!["q,s", "b,y"];
    skewed.extend(std::iter::repeat_n("b,x", 8));
    skewed.push("a,x");
    let skewed = table(&skewed);
    let enhanced = |flag: bool| {
        judge(&skewed, &["s"], |_| {}, "beta-likeness", json!({"beta": 5, "enhanced": flag}), &Options::default())
    };
    assert_eq!(enhanced(false), Ok(true));
    assert_eq!(enhanced(true), Ok(false));
}

#[test]
fn several_columns_are_definition_4_6() {
    let rows = table(&["q,s,v", "a,s1,v1", "a,s1,v2", "a,s2,v3", "a,s3,v3"]);
    let on = |columns: &[&str], l: u32| {
        judge(&rows, columns, |_| {}, "distinct-l-diversity", json!({"l": l}), &Options::default())
    };
    assert_eq!(on(&["s"], 3), Ok(true));
    assert_eq!(on(&["v"], 3), Ok(true));
    assert_eq!(on(&["s", "v"], 2), Ok(false));
    assert_eq!(on(&["s", "v"], 1), Ok(true));
    let square = table(&["q,s,v", "a,s1,v1", "a,s1,v2", "a,s2,v1", "a,s2,v2"]);
    let joint =
        |l: u32| judge(&square, &["s", "v"], |_| {}, "entropy-l-diversity", json!({"l": l}), &Options::default());
    assert_eq!(joint(2), Ok(true));
    assert_eq!(joint(3), Ok(false));
}

#[test]
fn populations() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("population.csv");
    std::fs::write(&path, "q,s,n\na,Flu,3\na,Cancer,2\na,HIV,3\nb,Flu,4\nb,Cancer,1\nb,HIV,1\nb,Cold,1\n").unwrap();
    let populations = [PopulationTable { files: vec![path], count_column: Some("n".into()), ..Default::default() }];
    let options = Options { populations: &populations, ..Options::default() };
    let on = |model: &str, columns: &[&str], parameters: Value| {
        judge(&release(), columns, |_| {}, model, parameters, &options)
    };
    assert_eq!(on("k-map", &[], json!({"k": 7})), Ok(true));
    assert_eq!(on("k-map", &[], json!({"k": 8})), Ok(false));
    // a: 4 of 8; b: 4 of 7.
    assert_eq!(on("delta-presence", &[], json!({"min": 0.5, "max": "4/7"})), Ok(true));
    assert_eq!(on("delta-presence", &[], json!({"min": "0.51", "max": "4/7"})), Ok(false));
    assert_eq!(on("delta-presence", &[], json!({"min": 0.5, "max": 0.57})), Ok(false));
    // One tuple a class: the posterior is the class's own share. a: Flu ½ from a prior of 3/8.
    assert_eq!(on("bayes-optimal", &["s"], json!({"rho1": 0.4, "rho2": 0.5})), Ok(true));
    assert_eq!(on("bayes-optimal", &["s"], json!({"rho1": 0.4, "rho2": 0.49})), Ok(false));
    // b: Flu becomes 1/4 from a prior of 4/7.
    assert_eq!(on("belief-difference", &["s"], json!({"max": "9/28"})), Ok(true));
    assert_eq!(on("belief-difference", &["s"], json!({"max": "0.32"})), Ok(false));
    let without = judge(&release(), &[], |_| {}, "k-map", json!({"k": 1}), &Options::default());
    assert!(without.unwrap_err().contains("without the population"));
}

#[test]
fn people_of_a_population_may_be_fractions_and_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("population.csv");
    let on = |text: &str, missing: Option<Vec<String>>, model: &str, parameters: Value| {
        std::fs::write(&path, text).unwrap();
        let files = vec![path.clone()];
        let populations = [PopulationTable { files, count_column: Some("n".into()), missing, ..Default::default() }];
        let options = Options { populations: &populations, ..Options::default() };
        judge(&release(), &[], |_| {}, model, parameters, &options)
    };
    // a: 8/3, four times; b: 7.75 in all.
    let weighted = "q,n\na,8/3\na,8/3\na,8/3\na,8/3\nb,7.5\nb,0.25\n";
    assert_eq!(on(weighted, None, "k-map", json!({"k": 7})), Ok(true));
    assert_eq!(on(weighted, None, "k-map", json!({"k": 8})), Ok(false));
    assert_eq!(on(weighted, None, "delta-presence", json!({"min": "3/8", "max": "16/31"})), Ok(true));
    assert_eq!(on(weighted, None, "delta-presence", json!({"min": "0.376", "max": "16/31"})), Ok(false));
    assert_eq!(on(weighted, None, "delta-presence", json!({"min": "3/8", "max": "0.516"})), Ok(false));
    for wrong in ["-1", "", "x", "1e-300"] {
        assert!(on(&format!("q,n\na,5\nb,{wrong}\n"), None, "k-map", json!({"k": 1})).is_err(), "{wrong}");
    }
    // Rows with an unknown value are not counted, unless unknown is a value.
    let unknown = "q,n\na,3\nb,3\n?,9\n";
    let everything = |missing: Option<Vec<String>>| {
        let rows = table(&["q,s", "*,Flu", "*,HIV"]);
        std::fs::write(&path, unknown).unwrap();
        let files = vec![path.clone()];
        let populations = [PopulationTable { files, count_column: Some("n".into()), missing, ..Default::default() }];
        let options = Options { populations: &populations, ..Options::default() };
        judge(&rows, &[], |_| {}, "k-map", json!({"k": 7}), &options)
    };
    assert_eq!((everything(Some(vec!["?".into()])), everything(None)), (Ok(false), Ok(true)));
}

#[test]
fn outsiders_are_told_what_they_cannot_verify() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("population.txt.csv");
    std::fs::write(&path, "q\na\na\na\na\nb\nb\nb\nb\n").unwrap();
    let inner = folder.path().join("release");
    std::fs::create_dir(&inner).unwrap();
    write_csv(&inner.join("release.csv"), &release());
    let populations = [PopulationTable { files: vec![path], ..Default::default() }];
    let options = Options { populations: &populations, ..Options::default() };
    let draft = draft(&release(), &["q"], &["s"], vec![claim("k-map", &[], json!({"k": 4}))]);
    let certificate = issue(draft, &inner, &options).unwrap();
    let verdict = verify(&inner, &certificate, &Options::default());
    let kinds = |verdict: &Verdict| verdict.problems.iter().map(|p| p.kind).collect::<Vec<_>>();
    assert_eq!(kinds(&verdict), [ProblemKind::NotVerifiable, ProblemKind::Nothing]);
    assert!(!verdict.valid, "where everything is attested, nothing is proven");
    assert_eq!(verdict.requirements[0].verdict, ClaimStatus::Attested);
    assert!(verify(&inner, &certificate, &options).valid);
    // Beside a proven requirement the other stays attested; only the strict verdict fails.
    let claims = vec![claim("k-map", &[], json!({"k": 4})), claim("k-anonymity", &[], json!({"k": 1}))];
    let certificate = issue(crate::common::draft(&release(), &["q"], &["s"], claims), &inner, &options).unwrap();
    let verdict = verify(&inner, &certificate, &Options::default());
    assert!(verdict.valid);
    assert_eq!(
        verdict.requirements.iter().map(|f| f.verdict).collect::<Vec<_>>(),
        [ClaimStatus::Attested, ClaimStatus::Proven]
    );
    assert!(!verdict.strict().valid);
    assert!(verify(&inner, &certificate, &options).strict().valid);
}

#[test]
fn every_model_is_known() {
    assert_eq!(models().count(), 24);
    let mut ids: Vec<&str> = models().collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 24);
}
