//! Golden errors, round trips, and what a policy means.

use std::path::Path;

use proptest::prelude::*;

use super::*;

fn parse(text: &str) -> Result<Policy, PolicyErrors> {
    Policy::parse(text, Path::new("policy.toml"))
}

const GOOD: &str = r#"[data]
input = "patients.csv"
missing = ["?", ""]

[columns.name]
role = "identifying"

[columns.age]
role = "quasi"
type = "integer"
weight = 2.5

[columns.disease]
role = "sensitive"
order = ["Flu", "Cancer"]
categories = [["HIV", "Cancer"], ["Flu"]]
weights = ["0", "1"]

[columns.waiver]
role = "consent"
mode = "join"

[columns.ward]
role = "insensitive"
accept = "printed on the door"

[columns."*"]
role = "insensitive"

[[require]]
model = "k-anonymity"
k = 5

[search]
max_suppression = 0.02
suppressed = "mask"
time_limit = 1.5

[output]
file = "release.csv"
"#;

fn number(text: &str) -> Value {
    Value::Number(text.parse().unwrap())
}

#[test]
fn a_policy_says_what_is_written() {
    let policy = parse(GOOD).unwrap();
    assert_eq!(policy.data.missing, ["?", ""]);
    assert_eq!(policy.data.missing_rows, MissingRows::Drop);
    assert_eq!(policy.with_role(Role::Quasi).collect::<Vec<_>>(), ["age"]);
    assert_eq!(policy.column("age").unwrap().weight, Some(Rational::new(5, 2)));
    assert_eq!(policy.column("disease").unwrap().categories.len(), 2);
    assert_eq!(policy.column("shoe size").unwrap().role, Role::Insensitive);
    assert_eq!(policy.column("waiver").unwrap().consent.as_ref().unwrap().mode, ConsentMode::Join);
    assert_eq!(policy.column("ward").unwrap().accept.as_deref(), Some("printed on the door"));
    assert_eq!(policy.requirements[0].parameters.get("k"), Some(&number("5")));
    assert_eq!(policy.search.max_suppression, MaxSuppression::Share(Rational::new(1, 50)));
    assert_eq!(policy.search.suppressed, Suppressed::Mask);
    assert_eq!(policy.search.time_limit, Some(Duration::from_millis(1500)));
    assert_eq!(policy.output.order, OutputOrder::Shuffled);
}

#[test]
fn a_reason_is_given_where_it_counts() {
    let errors = |role: &str, reason: &str| {
        let text = format!("[columns.a]\nrole = \"quasi\"\n[columns.b]\nrole = \"{role}\"\naccept = \"{reason}\"\n");
        parse(&text).unwrap_err().to_string()
    };
    assert!(errors("insensitive", " ").contains("must give a reason"));
    assert!(errors("sensitive", "why not").contains("means nothing"));
}

#[test]
fn numbers_are_exact() {
    let share = |written: &str| {
        let text = format!("[columns.a]\nrole = \"quasi\"\n[search]\nmax_suppression = {written}\n");
        parse(&text).unwrap().search.max_suppression
    };
    assert_eq!(share("0.1"), MaxSuppression::Share(Rational::new(1, 10)));
    assert_eq!(share("\"1/3\""), MaxSuppression::Share(Rational::new(1, 3)));
    assert_eq!(share("1e-2"), MaxSuppression::Share(Rational::new(1, 100)));
    assert_eq!(share("1_000"), MaxSuppression::Rows(1000));
    assert_eq!(share("0x10"), MaxSuppression::Rows(16));
    assert_eq!(share("1.0"), MaxSuppression::Share(Rational::new(1, 1)));
    assert_eq!(share("\"2 %\""), MaxSuppression::Share(Rational::new(1, 50)));
    assert_eq!(share("\"0.5%\""), MaxSuppression::Share(Rational::new(1, 200)));
    for wrong in ["\"101 %\"", "\"-1 %\"", "\"two %\"", "\"%\""] {
        let text = format!("[columns.a]\nrole = \"quasi\"\n[search]\nmax_suppression = {wrong}\n");
        assert!(parse(&text).unwrap_err().to_string().contains("max_suppression"), "{wrong}");
    }
}

#[test]
fn an_audit_needs_only_names() {
    let names = |list: &[&str]| list.iter().map(|s| s.to_string()).collect::<Vec<_>>();
    let policy = Policy::for_audit("data.csv", &names(&["age", "zip"]), &names(&["disease"]));
    assert_eq!(policy.column("zip").unwrap().role, Role::Quasi);
    assert_eq!(policy.column("disease").unwrap().role, Role::Sensitive);
    assert_eq!(policy.column("name").unwrap().role, Role::Identifying);
    assert_eq!(parse(&policy.to_toml()).unwrap(), policy);
}

#[test]
fn near_names_are_suggested() {
    assert_eq!(nearest("Ages", ["age", "sex"]), Some("age"));
    assert_eq!(nearest("quasy", ["quasi", "key"]), Some("quasi"));
    assert_eq!(nearest("diagnosis", ["age", "sex"]), None);
}

#[test]
fn editors_of_other_systems_are_fine() {
    let windows = format!("\u{feff}{}", GOOD.replace('\n', "\r\n"));
    assert_eq!(parse(&windows).unwrap(), parse(GOOD).unwrap());
    let errors = parse("\u{feff}[columns.age]\r\nrole = \"quasy\"\r\n").unwrap_err();
    assert!(errors.to_string().contains("policy.toml:2:8"), "{errors}");
}

#[test]
fn errors_point_at_their_line() {
    let errors = parse("[columns.age]\nrole = \"quasi\"\nweight = 0\n").unwrap_err();
    assert_eq!(errors.line(&errors.list[0]), Some(3));
    assert!(errors.render(true).contains("\u{1b}["));
    assert!(!errors.render(false).contains("\u{1b}["));
}

proptest! {
    #[test]
    fn what_is_written_reads_back(policy in policies()) {
        let text = policy.to_toml();
        let back = parse(&text);
        prop_assert_eq!(back.as_ref().map_err(|e| format!("{e}\n{text}")), Ok(&policy));
    }
}

/// Policies with awkward names, values and numbers.
fn policies() -> impl Strategy<Value = Policy> {
    let word = "[a-z\"\\\\ .\n\t\u{1}é*#=]{1,6}".prop_filter("the default has its own place", |w| w != "*");
    let numbers = prop_oneof![
        (any::<i64>(), 1i64..1_000_000).prop_map(|(n, d)| Rational::new(n, d)),
        "[0-9]{1,30}\\.[0-9]{1,40}".prop_map(|t| t.parse().unwrap()),
    ];
    let decimals = "[1-9][0-9]{0,30}\\.[0-9]{1,40}".prop_map(|t| t.parse::<Rational>().unwrap());
    let recipes = prop::collection::vec((0..3u8, decimals.clone(), word.clone()), 0..4);
    let column = (
        word.clone(),
        0..ROLES.len(),
        prop::option::of(decimals.clone()),
        prop::collection::hash_set(word.clone(), 0..4),
        recipes,
    );
    let columns = prop::collection::vec(column, 1..6);
    (columns, prop::collection::vec(word, 0..3), numbers, any::<u32>(), 1u64..1 << 50).prop_map(
        |(columns, missing, number, seed, nanos)| {
            let mut policy = Policy::default();
            policy.columns.push(ColumnPolicy::new("quasi column", Role::Quasi));
            let mut once = (false, false);
            for (name, role, weight, order, recipe) in columns {
                let role = match ROLES[role].1 {
                    Role::Key if std::mem::replace(&mut once.0, true) => Role::Insensitive,
                    Role::Consent if std::mem::replace(&mut once.1, true) => Role::Insensitive,
                    role => role,
                };
                let mut column = ColumnPolicy::new(name, role);
                if policy.columns.iter().any(|c| c.name == column.name) {
                    continue;
                }
                if role == Role::Quasi {
                    column.weight = weight;
                    column.generalize = Some(Generalize::Sets);
                }
                if role == Role::Sensitive {
                    column.order = order.iter().cloned().collect();
                    column.categories = order.into_iter().map(|v| vec![v]).collect();
                    let weights = recipe.into_iter().map(|(kind, number, _)| match kind {
                        0 => Value::Text("9/61".to_string()),
                        _ => Value::Number(number),
                    });
                    let weights: Vec<Value> = weights.take(column.categories.len()).collect();
                    column.weights = (weights.len() == column.categories.len()).then_some(Value::List(weights));
                }
                policy.columns.push(column);
            }
            policy.data.missing = missing;
            policy.search.seed = u64::from(seed);
            policy.search.time_limit = Some(Duration::from_nanos(nanos));
            let share = Rational::from(number.value().clone() - number.value().floor());
            policy.search.max_suppression = MaxSuppression::Share(share);
            policy
        },
    )
}

#[test]
fn passwords_are_neither_quoted_nor_written() {
    let address = "postgres://me:canary@h/db?table=t";
    let text = format!(
        "[data]\ninput = \"{address}\"\n[columns.age]\nrole = \"quasi\"\n[[require]]\nmodel = \"k-map\"\nk = 2\n\
         population = \"{address}\"\n[risk]\npopulation = \"{address}\"\n"
    );
    let policy = parse(&text).unwrap();
    assert_eq!(policy.data.input.as_deref(), Some(address));
    let written = policy.to_toml();
    assert!(!written.contains("canary"), "{written}");
    assert_eq!(written.matches("postgres://me@h/db?table=t").count(), 3);
    assert!(!policy.origin.text.contains("canary") && policy.origin.text.len() == text.len());
    let stated = policy.requirements[0].parameters.get("population").unwrap();
    assert_eq!(crate::json::parameter(stated), "postgres://me@h/db?table=t");
    let wrong = parse(&text.replace("k = 2", "k = 2, x")).unwrap_err();
    assert!(!format!("{wrong} {wrong:?}").contains("canary"), "{wrong}");
}

#[test]
fn errors_know_the_keys_that_lead_to_them() {
    let text = "[data]\nmissing_rows = \"dorp\"\n\n[columns.\"my age\"]\nrole = \"quasi\"\nhierarchy = { intervals = [1], origin = 0, orign = 2 }\n\n\
                [[require]]\nmodel = \"k-anonymity\"\nk = 5\n\n[[require]]\nmodel = \"k-anonymity\"\nk = \"five\"\n";
    let errors = Policy::parse(text, Path::new("policy.toml")).unwrap_err();
    let keys: Vec<String> = errors.list.iter().map(|error| errors.keys(error).join("/")).collect();
    assert!(keys.contains(&"data/missing_rows".to_string()), "{keys:?}\n{errors}");
    assert!(keys.contains(&"require/1/k".to_string()), "{keys:?}\n{errors}");
}
