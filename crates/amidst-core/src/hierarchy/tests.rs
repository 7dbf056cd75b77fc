//! Properties that hold for every builder, and helpers for the builders' own tests.

use proptest::prelude::*;

use super::*;
use crate::parameter::Value;
use crate::table::{Column, ValueType};

pub(super) fn n(text: &str) -> Value {
    Value::Number(text.parse().unwrap())
}

pub(super) fn t(text: &str) -> Value {
    Value::Text(text.to_string())
}

pub(super) fn list<const N: usize>(items: [&str; N]) -> Value {
    Value::List(items.into_iter().map(|i| i.parse().map_or_else(|_| t(i), Value::Number)).collect())
}

pub(super) fn table<const N: usize>(entries: [(&str, Value); N]) -> Vec<(String, Value)> {
    entries.into_iter().map(|(k, v)| (k.to_string(), v)).collect()
}

pub(super) fn make(table: Vec<(String, Value)>, column: &Column) -> Result<Hierarchy, HierarchyError> {
    build(&Recipe { table: &table, read: &|_| Err("no files here".into()), missing: &[] }, column)
}

/// Each level partitions the level below, labels mean one thing, and there is one top.
fn check_tree(h: &Hierarchy) -> Result<(), TestCaseError> {
    for level in &h.levels {
        prop_assert_eq!(level.of_leaf.len(), h.leaves.len());
        let mut labels = level.labels.clone();
        labels.sort();
        labels.dedup();
        prop_assert_eq!(labels.len(), level.labels.len(), "a label names two groups");
        prop_assert!(level.of_leaf.iter().all(|&g| (g as usize) < level.labels.len()));
    }
    for pair in h.levels.windows(2) {
        let mut parent = vec![None; pair[0].labels.len()];
        for (&child, &group) in pair[0].of_leaf.iter().zip(&pair[1].of_leaf) {
            prop_assert_eq!(*parent[child as usize].get_or_insert(group), group, "a group has two parents");
        }
    }
    prop_assert_eq!(h.levels.last().map(|l| l.labels.len()), Some(1));
    Ok(())
}

fn check(table: Vec<(String, Value)>, column: &Column, height: usize) -> Result<(), TestCaseError> {
    let h = make(table, column).map_err(|e| TestCaseError::fail(e.to_string()))?;
    check_tree(&h)?;
    prop_assert_eq!(h.height(), height);
    let g = Generalization::bind(column, Some(&h));
    prop_assert!(g.is_ok_and(|g| g.height() == height));
    Ok(())
}

/// Widths or group sizes, each a multiple of the one before.
fn multiples() -> impl Strategy<Value = Vec<u64>> {
    (1u64..20, prop::collection::vec(2u64..5, 0..4)).prop_map(|(first, factors)| {
        let mut sizes = vec![first];
        sizes.extend(factors.iter().scan(first, |s, f| {
            *s *= f;
            Some(*s)
        }));
        sizes
    })
}

fn column(values: impl IntoIterator<Item = String>) -> Column {
    let values: Vec<String> = values.into_iter().collect();
    Column::from_values("x", values.iter().map(String::as_str))
}

fn numbers(items: impl IntoIterator<Item = impl std::fmt::Display>) -> Value {
    Value::List(items.into_iter().map(|i| n(&i.to_string())).collect())
}

fn decimal(hundredths: i64) -> String {
    format!("{}{}.{:02}", if hundredths < 0 { "-" } else { "" }, hundredths.abs() / 100, hundredths.abs() % 100)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn intervals_nest(
        values in prop::collection::vec(-10_000i64..10_000, 1..80),
        widths in multiples(),
        origin in -50i64..50,
        tails in prop::option::of((-3000i64..0, 1i64..3000)),
        decimals in any::<bool>(),
    ) {
        let write = |i: i64| if decimals { decimal(i) } else { i.to_string() };
        let c = column(values.iter().map(|&v| write(v)));
        let widths_of = Value::List(widths.iter().map(|&w| n(&write(w as i64))).collect());
        let mut recipe = table([("intervals", widths_of), ("origin", n(&write(origin)))]);
        if let Some((bottom, top)) = tails {
            recipe.extend(table([("bottom", n(&write(bottom))), ("top", n(&write(top)))]));
        }
        check(recipe, &c, widths.len() + 1)?;
    }

    #[test]
    fn intervals_hold_their_values(values in prop::collection::vec(-500i64..500, 1..40), width in 2u64..30, origin in -9i64..9) {
        let c = column(values.iter().map(i64::to_string));
        let h = make(table([("intervals", numbers([width])), ("origin", n(&origin.to_string()))]), &c).unwrap();
        for (leaf, labels) in h.paths() {
            let v: i64 = leaf.parse().unwrap();
            let low = (v - origin).div_euclid(width as i64) * width as i64 + origin;
            prop_assert_eq!(labels[0], format!("[{low}-{}]", low + width as i64 - 1));
        }
    }

    #[test]
    fn ranges_nest(
        values in prop::collection::vec(-1000i64..1000, 1..80),
        breaks in prop::collection::btree_set(-1000i64..1000, 2..12),
    ) {
        let all: Vec<i64> = breaks.into_iter().collect();
        let some: Vec<i64> = all.iter().copied().step_by(2).take(all.len() - 1).collect();
        let mut levels = vec![numbers(&all)];
        if some.len() < all.len() {
            levels.push(numbers(&some));
        }
        let height = levels.len() + 1;
        check(table([("ranges", Value::List(levels))]), &column(values.iter().map(i64::to_string)), height)?;
    }

    #[test]
    fn masks_nest(values in prop::collection::vec("[a-c*é]{0,7}", 1..60), length in 1usize..8, left in any::<bool>()) {
        let side = if left { "left" } else { "right" };
        let options = table([("length", n(&length.to_string())), ("from", t(side))]);
        check(table([("mask", Value::Table(options))]), &column(values), length)?;
    }

    #[test]
    fn dates_nest(
        days in prop::collection::vec(-30_000i32..30_000, 1..80),
        kept in prop::sample::subsequence(vec!["day", "month", "quarter", "year", "decade"], 1..=5),
    ) {
        let epoch = jiff::civil::Date::constant(1970, 1, 1);
        let c = column(days.iter().map(|&d| epoch.saturating_add(jiff::Span::new().days(d)).to_string()));
        let height = kept.len() + 1;
        check(table([("dates", Value::List(kept.into_iter().map(t).collect()))]), &c, height)?;
        check(table([("dates", list(["day", "week"]))]), &c, 3)?;
    }

    #[test]
    fn orders_nest(size in 1usize..50, factors in prop::collection::vec(2u64..4, 1..4)) {
        let c = column((0..size).map(|i| format!("v{i:02}")));
        let order = Value::List(c.dictionary.iter().map(t).collect());
        let mut sizes: Vec<u64> = Vec::new();
        for f in factors {
            let last = sizes.last().copied().unwrap_or(1);
            if last < size as u64 {
                sizes.push(last * f);
            }
        }
        let closed = sizes.last().is_some_and(|s| *s >= size as u64);
        let height = sizes.len() + usize::from(!closed);
        let mut recipe = table([("order", order)]);
        if !sizes.is_empty() {
            recipe.push(("groups".into(), numbers(&sizes)));
        }
        check(recipe, &c, height)?;
    }

    #[test]
    fn taxonomies_nest(shape in prop::collection::vec(prop::collection::vec(0usize..3, 0..4), 1..12)) {
        // Each path of group numbers becomes a branch that ends in one value; groups are named by their path.
        fn insert(tree: &mut Vec<(String, Value)>, prefix: &str, path: &[usize], leaf: &str) {
            let name = match path.first() {
                Some(step) => format!("{prefix}.{step}"),
                None => format!("{prefix}:{leaf}"),
            };
            let members = match tree.iter().position(|(key, _)| *key == name) {
                Some(place) => &mut tree[place].1,
                None => {
                    tree.push((name.clone(), Value::Table(Vec::new())));
                    &mut tree.last_mut().unwrap().1
                }
            };
            match (path.split_first(), members) {
                (Some((_, rest)), Value::Table(inner)) => insert(inner, &name, rest, leaf),
                (_, members) => *members = t(leaf),
            }
        }
        let mut tree = Vec::new();
        for (i, path) in shape.iter().enumerate() {
            insert(&mut tree, "g", path, &format!("v{i}"));
        }
        let deepest = shape.iter().map(Vec::len).max().unwrap() + 1;
        let height = deepest + usize::from(tree.len() > 1);
        check(table([("taxonomy", Value::Table(tree))]), &column((0..shape.len()).map(|i| format!("v{i}"))), height)?;
    }

    #[test]
    fn suppression_has_height_one(values in prop::collection::vec(".{0,3}", 0..30)) {
        check(table([("suppress", Value::Flag(true))]), &column(values), 1)?;
    }

    #[test]
    fn files_give_back_what_other_builders_made(values in prop::collection::vec(-99i64..99, 1..50), widths in multiples()) {
        let c = column(values.iter().map(i64::to_string));
        let made = make(table([("intervals", numbers(&widths))]), &c).unwrap();
        let text: String = made.paths().map(|(leaf, labels)| format!("\"{leaf}\",{}\r\n", labels.join(","))).collect();
        let recipe = table([("file", t("f"))]);
        let read = build(&Recipe { table: &recipe, read: &|_| Ok(text.clone()), missing: &[] }, &c).unwrap();
        check_tree(&read)?;
        prop_assert_eq!(made.paths().collect::<Vec<_>>(), read.paths().collect::<Vec<_>>());
    }

    #[test]
    fn files_never_panic(text in "[ab*;,\"\r\n\t]{0,60}") {
        let recipe = table([("file", t("f"))]);
        if let Ok(h) = build(&Recipe { table: &recipe, read: &|_| Ok(text.clone()), missing: &[] }, &Column::new("x")) {
            check_tree(&h)?;
        }
    }

    #[test]
    fn suggestions_build_and_cover(
        values in prop_oneof![
            prop::collection::vec("-?[0-9]{1,9}", 0..60),
            prop::collection::vec("[0-9]{5}", 0..60),
            prop::collection::vec("-?[0-9]{1,4}\\.[0-9]{1,6}", 0..60),
            prop::collection::vec("[12][0-9]{3}-0[1-9]-[012][1-8]", 0..60),
            prop::collection::vec("[A-Z][0-9]{3}", 0..60),
            prop::collection::vec(".{0,6}", 0..60),
            prop::collection::vec("[0-9]{20,28}(\\.[0-9]{1,3})?", 0..10),
        ],
        stated in prop::option::of(prop::sample::select(vec![ValueType::Text, ValueType::Integer, ValueType::Decimal, ValueType::Date])),
    ) {
        let mut c = column(values);
        c.kind = stated.unwrap_or(c.kind);
        let suggestion = guess(&c);
        let h = make(suggestion.table.clone(), &c).map_err(|e| TestCaseError::fail(e.to_string()))?;
        check_tree(&h)?;
        prop_assert!(Generalization::bind(&c, Some(&h)).is_ok());
    }
}

#[test]
fn recipes_with_wrong_keys_are_refused() {
    let c = column(["1".to_string()]);
    let error = |recipe| make(recipe, &c).unwrap_err();
    let e = error(table([("interval", numbers([5]))]));
    assert_eq!((e.key.as_str(), e.message.as_str()), ("interval", "unknown key `interval`; did you mean `intervals`?"));
    let e = error(table([("intervals", numbers([5])), ("orgin", n("0"))]));
    assert_eq!((e.key.as_str(), e.message.as_str()), ("orgin", "unknown key `orgin`; did you mean `origin`?"));
    let e = error(table([("suppress", Value::Flag(true)), ("separator", t(";"))]));
    assert_eq!(e.message, "unknown key `separator`; `suppress` takes no other keys");
    let e = error(table([("suppress", Value::Flag(true)), ("intervals", numbers([5]))]));
    assert_eq!((e.key.as_str(), e.message.contains("both make a hierarchy")), ("intervals", true));
    assert!(error(table([("xyzzy", n("1"))])).message.contains("use one of file, intervals"));
    assert!(error(table([])).message.contains("empty"));
}

#[test]
fn unknown_values_stay_themselves() {
    let mut c = column(["17", "?", "old"].map(String::from));
    c.kind = ValueType::Integer;
    let missing = ["?".to_string(), "".to_string()];
    let recipe = table([("intervals", numbers([5, 10]))]);
    let h = build(&Recipe { table: &recipe, read: &|_| Err(String::new()), missing: &missing }, &c).unwrap();
    let paths: Vec<_> = h.paths().collect();
    assert_eq!(paths, [("17", vec!["[15-19]", "[10-19]", "*"]), ("?", vec!["?", "?", "*"])]);
    // What is neither a number nor unknown is for the binding to tell.
    let lacking = Generalization::bind(&c, Some(&h)).unwrap_err();
    assert_eq!(lacking.iter().map(|&code| c.dictionary.value(code)).collect::<Vec<_>>(), ["old"]);
}

#[test]
fn columns_are_numeric_unless_their_builder_says_otherwise() {
    let mask = table([("mask", Value::Table(table([("length", n("5"))])))]);
    let intervals = table([("intervals", numbers([5]))]);
    assert!(is_numeric(ValueType::Integer, None) && is_numeric(ValueType::Integer, Some(&intervals)));
    assert!(!is_numeric(ValueType::Integer, Some(&mask)) && !is_numeric(ValueType::Text, Some(&intervals)));
    let categorical: Vec<&str> = BUILDERS.iter().filter(|b| b.categorical).map(|b| b.id).collect();
    assert_eq!(categorical, ["mask", "taxonomy", "order", "common", "prefix", "icd10", "countries", "suppress"]);
    assert_eq!(implied_order(&table([("order", list(["b", "a"]))])), Some(vec!["b".into(), "a".into()]));
    assert_eq!(implied_order(&mask), None);
}

/// Height and leaves of the published hierarchies of two well-known tables.
#[test]
fn published_files_have_their_heights() {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let files = [
        ("adult/hierarchies/age.csv", 4, 74),
        ("adult/hierarchies/education.csv", 3, 16),
        ("adult/hierarchies/marital-status.csv", 2, 7),
        ("adult/hierarchies/native-country.csv", 2, 41),
        ("adult/hierarchies/occupation.csv", 2, 14),
        ("adult/hierarchies/race.csv", 1, 5),
        ("adult/hierarchies/salary-class.csv", 1, 2),
        ("adult/hierarchies/sex.csv", 1, 2),
        ("adult/hierarchies/workclass.csv", 2, 7),
        ("adult/hierarchies_arx/age.csv", 4, 100),
        ("adult/hierarchies_arx/education.csv", 3, 16),
        ("adult/hierarchies_arx/marital-status.csv", 2, 7),
        ("adult/hierarchies_arx/native-country.csv", 2, 41),
        ("adult/hierarchies_arx/occupation.csv", 2, 14),
        ("adult/hierarchies_arx/race.csv", 1, 5),
        ("adult/hierarchies_arx/salary-class.csv", 1, 2),
        ("adult/hierarchies_arx/sex.csv", 1, 2),
        ("adult/hierarchies_arx/workclass.csv", 2, 8),
        ("adult/hierarchies_with_missing/native-country.csv", 2, 42),
        ("adult/hierarchies_with_missing/occupation.csv", 2, 15),
        ("adult/hierarchies_with_missing/workclass.csv", 2, 9),
        ("cmc/hierarchies/cmc_hierarchy_Weducation.csv", 2, 4),
        ("cmc/hierarchies/cmc_hierarchy_age.csv", 3, 34),
        ("cmc/hierarchies/cmc_hierarchy_children.csv", 3, 15),
    ];
    let read = |name: &str| std::fs::read_to_string(format!("{data}/{name}")).map_err(|e| e.to_string());
    for (name, height, leaves) in files {
        if read(name).is_err() {
            println!("skipped: {name} is not here");
            continue;
        }
        let recipe = table([("file", t(name))]);
        let h = build(&Recipe { table: &recipe, read: &read, missing: &[] }, &Column::new("x")).unwrap();
        check_tree(&h).unwrap();
        assert_eq!((h.height(), h.leaves.len()), (height, leaves), "{name}");
    }
}
