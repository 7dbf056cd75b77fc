//! Several sets of quasi columns: each is judged by its own classes, and none can be left out.

use amidst_check::{Certificate, CertificateDraft, Claim, Options, Problem, issue, verify};
use serde_json::json;

use crate::common::{Table, claim, draft, table, write_csv};

/// Pairs agree in `qa` and in `qb`, but no two rows agree in both.
fn pairs() -> Table {
    table(&["qa,qb,s", "1,x,u", "1,y,v", "2,x,w", "2,y,u"])
}

fn policy(sets: &str) -> String {
    let column = |name: &str, role: &str| format!("[columns.{name}]\nrole = \"{role}\"\n");
    let columns = [column("qa", "quasi"), column("qb", "quasi"), column("s", "sensitive")].concat();
    format!("{columns}{sets}\n[[require]]\nmodel = \"k-anonymity\"\nk = 2\n")
}

const SETS: &str = "[[quasi]]\ncolumns = [\"qa\"]\n[[quasi]]\ncolumns = [\"qb\"]\n";

fn by(columns: &[&str]) -> Claim {
    let quasi = Some(columns.iter().map(|c| c.to_string()).collect());
    Claim { quasi, ..claim("k-anonymity", &[], json!({"k": 2})) }
}

fn sealed(table: &Table, sets: &str, claims: Vec<Claim>) -> Result<(tempfile::TempDir, Certificate), Vec<Problem>> {
    let folder = tempfile::tempdir().unwrap();
    write_csv(&folder.path().join("release.csv"), table);
    let mut draft = CertificateDraft { policy: policy(sets), ..draft(table, &["qa", "qb"], &["s"], claims) };
    draft.sensitive.iter_mut().for_each(|s| s.order = None);
    let certificate = issue(draft, folder.path(), &Options::default())?;
    Ok((folder, certificate))
}

fn told(found: Result<(tempfile::TempDir, Certificate), Vec<Problem>>) -> String {
    found.map(|_| ()).unwrap_err().iter().map(|p| p.to_string()).collect::<Vec<_>>().join("; ")
}

#[test]
fn each_set_is_judged_by_its_own_classes() {
    let (folder, certificate) = sealed(&pairs(), SETS, vec![by(&["qa"]), by(&["qb"])]).unwrap();
    assert_eq!(certificate.classes, 4);
    assert_eq!(certificate.requirements[0].measured["k"], 2);
    assert_eq!(certificate.requirements[1].quasi.as_deref(), Some(&["qb".to_string()][..]));
    let again = Certificate::parse(&certificate.to_json().unwrap()).unwrap();
    let verdict = verify(&folder.path().join("release.csv"), &again, &Options::default());
    assert!(verdict.valid, "{:?}", verdict.problems);
    // Without the sets every row is alone in its class.
    let message = told(sealed(&pairs(), "", vec![claim("k-anonymity", &[], json!({"k": 2}))]));
    assert!(message.contains("does not hold"), "{message}");
    // One additional row that is unique in `qb` breaks that set alone.
    let mut broken = pairs();
    broken.push(["1", "z", "u"].map(String::from).to_vec());
    let message = told(sealed(&broken, SETS, vec![by(&["qa"]), by(&["qb"])]));
    assert!(message.contains("by qb") && !message.contains("by qa"), "{message}");
}

#[test]
fn no_set_can_be_left_out_or_made_smaller() {
    let missing = told(sealed(&pairs(), SETS, vec![by(&["qa"])]));
    assert!(missing.contains("requires k-anonymity by qb"), "{missing}");
    let twice = told(sealed(&pairs(), SETS, vec![by(&["qa"]), by(&["qa"])]));
    assert!(twice.contains("requires k-anonymity by qb"), "{twice}");
    let unasked = told(sealed(&pairs(), "", vec![by(&["qa"]), by(&["qb"])]));
    assert!(unasked.contains("requires k-anonymity"), "{unasked}");
    let both = "[[quasi]]\ncolumns = [\"qa\", \"qb\"]\n";
    let smaller = told(sealed(&pairs(), both, vec![by(&["qa"])]));
    assert!(smaller.contains("requires k-anonymity by qa, qb"), "{smaller}");
    let uncovered = told(sealed(&pairs(), "[[quasi]]\ncolumns = [\"qa\"]\n", vec![by(&["qa"])]));
    assert!(uncovered.contains("\"qb\" is in none of them"), "{uncovered}");
    for (sets, claims) in [
        ("[[quasi]]\ncolumns = []\n", vec![by(&[])]),
        ("[[quasi]]\ncolumns = [\"qa\", \"s\"]\n[[quasi]]\ncolumns = [\"qb\"]\n", vec![by(&["qa", "s"]), by(&["qb"])]),
        (
            "[[quasi]]\ncolumns = [\"qa\", \"qa\"]\n[[quasi]]\ncolumns = [\"qb\"]\n",
            vec![by(&["qa", "qa"]), by(&["qb"])],
        ),
    ] {
        assert!(sealed(&pairs(), sets, claims).is_err(), "{sets}");
    }
}

#[test]
fn bounds_stand_for_the_column_that_they_are_made_of() {
    let bounds = table(&["age_min,age_max,s", "20,39,u", "20,39,v", "40,59,u", "40,59,w"]);
    let text = |ranges: &str, more: &str| {
        format!(
            "[columns.age]\nrole = \"quasi\"\n{more}[columns.s]\nrole = \"sensitive\"\n[[require]]\nmodel = \"k-anonymity\"\n\
             k = 2\n[output]\nranges = \"{ranges}\"\n"
        )
    };
    let seal = |policy: String, quasi: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        write_csv(&folder.path().join("release.csv"), &bounds);
        let claims = vec![claim("k-anonymity", &[], json!({"k": 2}))];
        let mut draft = CertificateDraft { policy, ..draft(&bounds, quasi, &["s"], claims) };
        draft.sensitive.iter_mut().for_each(|s| s.order = None);
        issue(draft, folder.path(), &Options::default())
    };
    assert!(seal(text("bounds", ""), &["age_min", "age_max"]).is_ok());
    // Only where the policy asks for it, only both together, and never as columns of another role.
    assert!(seal(text("label", ""), &["age_min", "age_max"]).is_err());
    assert!(seal(text("bounds", ""), &["age_min"]).is_err());
    assert!(seal(text("bounds", "[columns.age_max]\nrole = \"identifying\"\n"), &["age_min", "age_max"]).is_err());
}
