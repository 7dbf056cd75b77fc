//! Properties of every registered model. A new model is covered by registering it: parameters are drawn by their
//! declared kinds.

use crate::world::{Owned, Random, Subject, World, instance, replaced};
use amidst_core::class::Class;
use amidst_core::model::{Bound, Entry, Level, MODELS, Needs, PrivacyModel, Stronger};
use amidst_core::parameter::Rational;
use amidst_core::parameter::{Kind, Parameters, Value};

/// Runs `check` on many random tables and parameters of every model; the seed of a failure is in its message.
fn for_every_model(cases: u64, check: impl Fn(&Case)) {
    for entry in MODELS {
        for seed in 0..cases {
            let mut random = Random::new(seed ^ (entry.id.len() as u64) << 32);
            let world = World::random(&mut random);
            let (parameters, model) = instance(entry, &mut random, &world.domain);
            check(&Case { entry, seed, world, parameters, model, random: std::cell::RefCell::new(random) });
        }
    }
}

struct Case {
    entry: &'static Entry,
    seed: u64,
    world: World,
    parameters: Parameters,
    model: Box<dyn PrivacyModel>,
    random: std::cell::RefCell<Random>,
}

impl Case {
    fn at(&self, with: Rational, name: &str) -> Option<Box<dyn PrivacyModel>> {
        replaced(self.entry, &self.parameters, name, with, &self.world.domain)
    }

    fn context(&self, of: &Owned) -> String {
        format!("{} seed {} {:?} {of:?} in {:?}", self.entry.id, self.seed, self.parameters, self.world.table.histogram)
    }

    fn subject<'a>(&'a self, of: &'a Owned) -> Subject<'a> {
        Subject::new(of, &self.world.classes.iter().collect::<Vec<_>>(), &self.world.table)
    }
}

/// A double as the decimal it prints as.
fn rational(x: f64) -> Rational {
    format!("{x:e}").parse().unwrap()
}

/// Values of a parameter that are a little stronger and a little weaker than `level`.
fn around(level: &Level, kind: Kind) -> (Rational, Rational) {
    let (up, down): (Rational, Rational) = match (&level.bound, kind) {
        (Bound::Exact(v), Kind::Count) => {
            let one = Rational::from(1);
            ((v.value() + one.value()).into(), (v.value() - one.value()).into())
        }
        (Bound::Exact(v), _) => {
            let little = "1e-30".parse::<Rational>().unwrap();
            ((v.value() + little.value()).into(), (v.value() - little.value()).into())
        }
        (bound, _) => {
            let x = bound.to_f64();
            (rational(x * (1.0 + 1e-9)), rational(x * (1.0 - 1e-9)))
        }
    };
    match level.stronger {
        Stronger::Larger => (up, down),
        Stronger::Smaller => (down, up),
    }
}

#[test]
fn measuring_and_judging_agree() {
    for_every_model(200, |case| {
        for of in &case.world.classes {
            let (subject, context) = (case.subject(of), case.context(of));
            let level = subject.measure(case.model.as_ref());
            let name = level.parameter;
            let declared = case.entry.parameters.iter().find(|p| p.name == name);
            let declared = declared.unwrap_or_else(|| panic!("{}: `{name}` is not a parameter", case.entry.id));
            let kind = declared.kind;
            assert_eq!(declared.measured, Some(level.measured()), "as declared: {context}");
            let verdict = |value: Rational| case.at(value, name).map(|m| subject.holds(m.as_ref()));
            match &level.bound {
                Bound::Always | Bound::Never => {
                    let expected = level.bound == Bound::Always;
                    assert_eq!(subject.holds(case.model.as_ref()), expected, "as stated: {context}");
                    for value in ["1e-9", "0.01", "0.5", "1", "2", "100", "1e9"] {
                        let verdict = verdict(value.parse().unwrap());
                        assert!(verdict.is_none_or(|v| v == expected), "{name} = {value}: {context}");
                    }
                }
                bound => {
                    let (stronger, weaker) = around(&level, kind);
                    assert_ne!(verdict(stronger), Some(true), "stronger than {level:?}: {context}");
                    assert_ne!(verdict(weaker), Some(false), "weaker than {level:?}: {context}");
                    if let Bound::Exact(value) = bound {
                        assert_ne!(verdict(value.clone()), Some(!level.attained), "at {level:?}: {context}");
                    }
                }
            }
            // The verdict on the parameters as stated follows from the level.
            let stated = case.parameters.get(name).and_then(|v| v.number());
            if let (Some(stated), Bound::Exact(value)) = (stated, &level.bound) {
                let expected = match (stated.cmp(value), level.stronger) {
                    (std::cmp::Ordering::Equal, _) => level.attained,
                    (order, Stronger::Larger) => order.is_lt(),
                    (order, Stronger::Smaller) => order.is_gt(),
                };
                assert_eq!(subject.holds(case.model.as_ref()), expected, "{level:?}: {context}");
            }
        }
    });
}

#[test]
fn merging_keeps_what_monotone_models_promise() {
    for_every_model(800, |case| {
        if !case.model.monotone() {
            return;
        }
        let merged = case.world.merged();
        let [a, b] = [&case.world.classes[0], &case.world.classes[1]];
        let after: Vec<&Owned> = case.world.classes[2..].iter().chain([&merged]).collect();
        let (left, right) = (case.subject(a), case.subject(b));
        let both = Subject::new(&merged, &after, &case.world.table);
        let keeps = |model: &dyn PrivacyModel| {
            let kept = !(left.holds(model) && right.holds(model)) || both.holds(model);
            assert!(kept, "{} merged with {b:?}", case.context(a));
        };
        keeps(case.model.as_ref());
        // Again with the strongest parameter that both satisfy, where the promise is tightest.
        let level = left.measure(case.model.as_ref()).worst(right.measure(case.model.as_ref()));
        let tightest = match &level.bound {
            Bound::Exact(value) => case.at(value.clone(), level.parameter),
            Bound::Real(x) => case.at(rational(*x), level.parameter),
            Bound::Always | Bound::Never => None,
        };
        if let Some(model) = tightest {
            keeps(model.as_ref());
        }
    });
}

#[test]
fn growing_models_keep_holding_whatever_joins() {
    for_every_model(400, |case| {
        if !case.model.preserved_by_insertion() {
            return;
        }
        // The other class joins although it need not satisfy the model itself.
        let merged = case.world.merged();
        let after: Vec<&Owned> = case.world.classes[2..].iter().chain([&merged]).collect();
        let both = Subject::new(&merged, &after, &case.world.table);
        for class in &case.world.classes[..2] {
            let holds = case.subject(class).holds(case.model.as_ref());
            assert!(!holds || both.holds(case.model.as_ref()), "{}", case.context(class));
        }
    });
}

#[test]
fn models_that_scale_look_at_shares() {
    let scaling = std::cell::Cell::new(0);
    for_every_model(400, |case| {
        if !case.model.scales() || case.model.needs() != Needs::Histogram {
            return;
        }
        for class in case.world.classes.iter().filter(|c| c.class().size >= case.model.least_rows(&case.world.table)) {
            let histogram: Vec<(u32, u64)> = class.class().histogram.iter().map(|&(code, n)| (code, 3 * n)).collect();
            let more = case.model.holds(&Class::of(&histogram), &case.world.table);
            assert_eq!(case.model.holds(&class.class(), &case.world.table), more, "{}", case.context(class));
            scaling.set(scaling.get() + 1);
        }
    });
    assert!(scaling.get() > 1000, "{scaling:?}");
}

#[test]
fn a_model_that_claims_no_monotonicity_has_none() {
    // The search may then not skip anything, so the claim must not be made in vain.
    for entry in MODELS {
        let mut counterexamples = 0;
        let mut monotone = true;
        for seed in 0..20_000 {
            let mut random = Random::new(seed);
            let world = World::random(&mut random);
            let (_, model) = instance(entry, &mut random, &world.domain);
            monotone = model.monotone();
            if monotone || counterexamples > 0 {
                break;
            }
            let holds = |c: &Owned| model.holds(&c.class(), &world.table);
            let [a, b] = [&world.classes[0], &world.classes[1]];
            counterexamples += u32::from(holds(a) && holds(b) && !holds(&world.merged()));
        }
        assert!(monotone || counterexamples > 0, "{} could be declared monotone", entry.id);
    }
}

fn same(a: &Level, b: &Level) -> bool {
    match (&a.bound, &b.bound) {
        (Bound::Real(x), Bound::Real(y)) => (x - y).abs() <= 1e-9 * x.abs(),
        _ => a == b,
    }
}

#[test]
fn the_names_of_values_do_not_matter() {
    for_every_model(200, |case| {
        // Code order is the one thing about codes that means something, and only where the column has an order.
        let mut random = case.random.borrow_mut();
        let mut domain = case.world.domain.clone();
        domain.ordered = false;
        let (parameters, model) = instance(case.entry, &mut random, &domain);
        let mut to: Vec<u32> = (0..domain.dictionary.len() as u32).collect();
        for i in (1..to.len()).rev() {
            to.swap(i, random.below(i + 1));
        }
        let recoded = case.world.recoded(&to);
        let again = (case.entry.build)(
            &parameters,
            &amidst_core::internal::sensitive::SensitiveDomain { ordered: false, ..recoded.domain.clone() },
        )
        .unwrap();
        for (before, after) in case.world.classes.iter().zip(&recoded.classes) {
            let after_classes: Vec<&Owned> = recoded.classes.iter().collect();
            let (before_subject, after_subject) =
                (case.subject(before), Subject::new(after, &after_classes, &recoded.table));
            let context = case.context(before);
            assert_eq!(
                before_subject.holds(model.as_ref()),
                after_subject.holds(again.as_ref()),
                "{context} {parameters:?}"
            );
            let levels = (before_subject.measure(model.as_ref()), after_subject.measure(again.as_ref()));
            assert!(same(&levels.0, &levels.1), "{levels:?}: {context} {parameters:?}");
        }
    });
}

#[test]
fn a_trillion_rows_are_no_trouble() {
    for_every_model(200, |case| {
        let large = case.world.times(1_000_000_000_000);
        let large_classes: Vec<&Owned> = large.classes.iter().collect();
        for (small, large_class) in case.world.classes.iter().zip(&large.classes) {
            let (before, after) = (case.subject(small), Subject::new(large_class, &large_classes, &large.table));
            let context = case.context(small);
            // More people alike are never worse, and where only shares count they change nothing.
            let (was, is) = (before.holds(case.model.as_ref()), after.holds(case.model.as_ref()));
            assert!(is || !was, "{context}");
            let levels = (before.measure(case.model.as_ref()), after.measure(case.model.as_ref()));
            let shares_only = !matches!(levels.0.parameter, "k" | "threshold") && levels.0.bound != Bound::Never;
            assert!(!shares_only || same(&levels.0, &levels.1), "{levels:?}: {context}");
        }
    });
}

/// What an algorithm does not even ask about must indeed fail.
#[test]
fn no_class_below_the_least_rows_holds() {
    let mut told = 0;
    for_every_model(200, |case| {
        let least = case.model.least_rows(&case.world.table);
        for of in &case.world.classes {
            let subject = case.subject(of);
            if subject.holds(case.model.as_ref()) {
                let size = of.class().size;
                assert!(size >= least, "{size} rows, at least {least}: {}", case.context(of));
            }
        }
    });
    for (id, pairs, least) in [
        ("entropy-l-diversity", vec![("l", "2.1")], 3),
        ("recursive-c-l-diversity", vec![("c", "3"), ("l", "4")], 4),
        ("recursive-c-l-diversity", vec![("c", "1/2"), ("l", "2")], 4),
        ("m-invariance", vec![("m", "5")], 5),
        ("general-alpha-k-anonymity", vec![("alpha", "1/3"), ("k", "2")], 3),
    ] {
        let entry = amidst_core::model::find(id).unwrap();
        let mut parameters = Parameters::default();
        pairs.iter().for_each(|(key, value)| parameters.set(key, Value::Text(value.to_string())));
        let model = (entry.build)(&parameters, &Default::default()).unwrap();
        assert_eq!(model.least_rows(&Default::default()), least, "{id}");
        told += 1;
    }
    assert_eq!(told, 5);
}
