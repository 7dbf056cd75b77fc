//! Exhaustive test of the models: for every class up to the stated sizes and every bound of the stated grids, the
//! verdict of the checker is that of the definition. The definitions are evaluated here in integers of any size, in
//! another form than the checker's (powers instead of logarithms, the recursion instead of its closed form, all sets of
//! values instead of a sum of differences). docs/assurance.md has the argument for larger classes.

// `cfg(test)` is always true here; it tells clippy that helpers are tests too, and may unwrap.
#[cfg(test)]
mod definitions;

#[cfg(test)]
mod exhaustive {
    use std::collections::BTreeMap;

    use amidst_check::{Certificate, FORMAT, On, Options, Output, Requirement, SensitiveColumn, SuppressedAs, verify};
    use bytes::Bytes;
    use serde_json::{Map, Value, json};

    use crate::definitions::{Fraction, closeness, distinct, entropy, k_anonymity, recursive};

    /// A class: how often each value occurs.
    type Class = Vec<u64>;

    /// All classes of `size` rows with `values` values that all occur.
    fn compositions(size: u64, values: usize) -> Vec<Class> {
        match values {
            0 => Vec::new(),
            1 => vec![vec![size]],
            _ => (1..size)
                .flat_map(|first| {
                    compositions(size - first, values - 1).into_iter().map(move |rest| [vec![first], rest].concat())
                })
                .collect(),
        }
    }

    /// A requirement, and the verdict of the definition on a release of these classes.
    struct Case {
        model: &'static str,
        parameters: Value,
        expected: bool,
    }

    /// The verdicts of the checker on one release, whose classes are labelled by number and whose values are s0, s1, …
    fn verdicts(classes: &[&Class], cases: &[Case]) -> Vec<bool> {
        let mut table = "q,s\n".to_string();
        let (mut rows, mut values) = (0, 0);
        for (label, class) in classes.iter().enumerate() {
            for (value, &count) in class.iter().enumerate() {
                table.extend((0..count).map(|_| format!("c{label},s{value}\n")));
                rows += count;
                values = values.max(value + 1);
            }
        }
        let requirement = |case: &Case| Requirement {
            model: case.model.into(),
            on: (case.model != "k-anonymity").then(|| On::One("s".into())),
            parameters: case.parameters.as_object().cloned().unwrap_or_default(),
            quasi: None,
            holds: true,
            measured: Map::new(),
            worst: None,
        };
        let certificate = Certificate {
            format: FORMAT,
            tool: String::new(),
            policy: String::new(),
            policy_digest: String::new(),
            outputs: vec![Output { file: "release.csv".into(), bytes: 0, sha256: String::new() }],
            rows_in: rows,
            rows_dropped_missing: 0,
            rows_out: rows,
            suppressed: 0,
            suppressed_as: SuppressedAs::Drop,
            classes: classes.len() as u64,
            quasi: vec!["q".into()],
            sensitive: vec![SensitiveColumn {
                name: "s".into(),
                order: None,
                levels: None,
                categories: None,
                weights: None,
            }],
            persons: false,
            waived: Vec::new(),
            counterfeits: None,
            series: None,
            commitment: None,
            unique_rows: Default::default(),
            accepted: Vec::new(),
            requirements: cases.iter().map(requirement).collect(),
            digest: String::new(),
        };
        let files = BTreeMap::from([("release.csv".to_string(), Bytes::from(table))]);
        // The certificate's digests are empty, which is a separate problem; each requirement is judged all the same.
        let verdict = verify(files, &certificate, &Options::default());
        assert_eq!(verdict.requirements.len(), cases.len());
        let found = verdict.proven.expect("the release is read");
        assert_eq!((found.rows, found.classes), (rows, classes.len() as u64), "{values} values");
        verdict.requirements.iter().map(|found| found.requirement.holds).collect()
    }

    /// Compares verdicts, and counts them: all, and those that hold.
    fn compare(classes: &[&Class], cases: &[Case], counted: &mut (u64, u64)) {
        for (case, holds) in cases.iter().zip(verdicts(classes, cases)) {
            assert_eq!(holds, case.expected, "{} {} on {classes:?}", case.model, case.parameters);
            counted.0 += 1;
            counted.1 += u64::from(holds);
        }
    }

    /// Every fraction between `low` and `high` whose denominator is at most `most`, in lowest terms.
    fn fractions(low: u64, high: u64, most: u64) -> Vec<Fraction> {
        let mut found: Vec<Fraction> = (1..=most)
            .flat_map(|q| (low * q..=high * q).map(move |p| Fraction { p, q }))
            .filter(|f| f.p > 0 && (2..=f.q).all(|d| f.p % d != 0 || f.q % d != 0))
            .collect();
        found.sort_by_key(|f| (f.q, f.p));
        found
    }

    #[test]
    fn verdicts_on_one_class_are_those_of_the_definitions() {
        let (ls, cs) = (fractions(1, 6, 4), fractions(0, 4, 5));
        let mut counted = (0, 0);
        for size in 1..=10 {
            for values in 1..=5 {
                for class in compositions(size, values) {
                    let mut cases = Vec::new();
                    for k in 1..=12u64 {
                        let expected = k_anonymity(&class, k);
                        cases.push(Case { model: "k-anonymity", parameters: json!({ "k": k }), expected });
                    }
                    for l in 1..=7u64 {
                        let expected = distinct(&class, l);
                        cases.push(Case { model: "distinct-l-diversity", parameters: json!({ "l": l }), expected });
                    }
                    // The grid, and the two decimals between which the class's own bound lies.
                    for l in ls.iter().copied().chain(Fraction::around(&class)) {
                        let parameters = json!({ "l": l.text() });
                        cases.push(Case { model: "entropy-l-diversity", parameters, expected: entropy(&class, l) });
                    }
                    for c in &cs {
                        for l in 1..=6u64 {
                            let parameters = json!({ "c": c.text(), "l": l });
                            let expected = recursive(&class, *c, l);
                            cases.push(Case { model: "recursive-c-l-diversity", parameters, expected });
                        }
                    }
                    compare(&[&class], &cases, &mut counted);
                }
            }
        }
        // docs/assurance.md states these figures.
        assert_eq!(counted, (186_004, 85_140), "verdicts, and those that hold");
    }

    /// All classes of up to `most` rows over `values` values, some of which may be absent.
    fn weak_compositions(most: u64, values: usize) -> Vec<Class> {
        let mut found = vec![Vec::new()];
        for _ in 0..values {
            found = found
                .into_iter()
                .flat_map(|class: Class| {
                    let left = most - class.iter().sum::<u64>();
                    (0..=left).map(move |count| [class.clone(), vec![count]].concat())
                })
                .collect();
        }
        found.retain(|class| class.iter().any(|&count| count > 0));
        found
    }

    #[test]
    fn verdicts_on_distances_are_those_of_the_definition() {
        let classes = weak_compositions(5, 3);
        let grid = fractions(0, 1, 6);
        let mut counted = (0, 0);
        for (at, one) in classes.iter().enumerate() {
            for other in &classes[at..] {
                let table: Class = one.iter().zip(other).map(|(a, b)| a + b).collect();
                // The distance of either class, values slightly below and above it, and the grid.
                let own = [one, other].into_iter().flat_map(|class| Fraction::distances(class, &table));
                let bounds: Vec<Fraction> = grid.iter().copied().chain(own).collect();
                let case = |t: &Fraction| Case {
                    model: "t-closeness",
                    parameters: json!({ "t": t.text(), "distance": "equal" }),
                    expected: [one, other].into_iter().all(|class| closeness(class, &table, *t)),
                };
                compare(&[one, other], &bounds.iter().map(case).collect::<Vec<_>>(), &mut counted);
            }
        }
        assert_eq!(counted, (27_544, 17_800), "verdicts, and those that hold");
    }
}
