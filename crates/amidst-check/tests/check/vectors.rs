//! The worked examples: one class each, with the verdict that its model must give.

use crate::common::{claim, draft, issue, write_csv};
use amidst_check::{Options, ProblemKind};
use serde_json::Value;

#[test]
fn class_cases() {
    let vectors: Value = serde_json::from_str(include_str!("vectors/class_cases.json")).unwrap();
    let categories: Vec<Vec<String>> = serde_json::from_value(vectors["categories"].clone()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut checked = 0;
    for case in vectors["class_cases"].as_array().unwrap() {
        let mut rows = vec![vec!["q".to_string(), "s".to_string()]];
        for (value, count) in case["histogram"].as_object().unwrap() {
            for _ in 0..count.as_u64().unwrap() {
                rows.push(vec!["*".into(), value.clone()]);
            }
        }
        write_csv(&folder.path().join("release.csv"), &rows);
        let model = case["model"].as_str().unwrap();
        let mut draft = draft(&rows, &["q"], &["s"], vec![claim(model, &["s"], case["params"].clone())]);
        draft.sensitive[0].categories = Some(categories.clone());
        let holds = match issue(draft, folder.path(), &Options::default()) {
            Ok(_) => true,
            Err(problems) => {
                assert!(problems.iter().all(|p| p.kind == ProblemKind::Requirement), "{case}: {problems:?}");
                assert!(problems[0].message.contains("does not hold"), "{case}: {problems:?}");
                false
            }
        };
        assert_eq!(holds, case["holds"].as_bool().unwrap(), "{case}");
        checked += 1;
    }
    assert_eq!(checked, 503);
}
