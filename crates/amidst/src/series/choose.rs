//! The mode of a series that begins without one: that whose next version can be published.
//!
//! m-invariant versions reveal no more together than each alone, so the next one can always be published. They need
//! one sensitive column, requirements that follow from m different values in a class, and values that are even enough
//! for few counterfeits. Where that is not given, classes are maintained.

use std::collections::BTreeMap;

use amidst_core::internal::series::forecast;
use amidst_core::model::Entry;
use amidst_core::model::named::{DISTINCT_L_DIVERSITY, ENTROPY_L_DIVERSITY, M_INVARIANCE, P_SENSITIVE_K_ANONYMITY};
use amidst_core::parameter::{Parameters, Value};

use super::Mode;
use super::compose::{beyond_m, stated_m};
use crate::policy::{Policy, RequirePolicy, Role};
use crate::prepare::Prepared;

/// The largest share of counterfeits beside the rows of the first version with which m-invariant is chosen: 1 in 10.
const COUNTERFEITS: u64 = 10;

/// How a series begins.
pub(super) struct Choice {
    pub mode: Mode,
    /// The policy; it states m where the mode needs that.
    pub policy: Policy,
    /// Why this mode, in a sentence; none where it was asked for.
    pub reason: Option<String>,
}

/// The mode that was asked for, or else the one that suits policy and table.
pub(super) fn choose(policy: Policy, asked: Option<Mode>, first: &Prepared) -> Choice {
    match asked {
        Some(Mode::MInvariant) => {
            let policy = with_m(&policy).map_or(policy, |(policy, _)| policy);
            Choice { mode: Mode::MInvariant, policy, reason: None }
        }
        Some(mode) => Choice { mode, policy, reason: None },
        None => match invariant(&policy, first) {
            Ok((policy, why)) => {
                let published = policy.columns.iter().chain(&policy.default).any(|c| c.role == Role::Insensitive);
                let can = match published {
                    false => "its next version can always be published",
                    true => {
                        "its next version can be published wherever the columns that are published as they are link nobody"
                    }
                };
                let reason = format!("m-invariant, because {can}: {why}");
                Choice { mode: Mode::MInvariant, policy, reason: Some(reason) }
            }
            Err(why) => {
                let reason = format!(
                    "maintain, because {why}; where the next version would leak together with those before it, a safe one can \
                     be published instead"
                );
                Choice { mode: Mode::Maintain, policy, reason: Some(reason) }
            }
        },
    }
}

/// The policy for the mode m-invariant and why that is suitable; or why it is not.
fn invariant(policy: &Policy, first: &Prepared) -> Result<(Policy, String), String> {
    let [(_, column)] = &first.sensitive.iter().zip(&first.domains).collect::<Vec<_>>()[..] else {
        return Err(format!(
            "m-invariance is about one sensitive column, and the policy has {}",
            match first.sensitive.len() {
                0 => "none".to_string(),
                n => n.to_string(),
            }
        ));
    };
    let Some((own, told)) = with_m(policy) else {
        return Err("the policy states no number of values (l or m) that everybody is to keep".into());
    };
    // A policy that states m-invariance asks for this mode, whatever else it states.
    if let (Some(_), Some(model)) = (&told, beyond_m(&own)) {
        return Err(format!("{model} does not follow from m-invariance"));
    }
    let m = stated_m(&own).unwrap_or(2);
    let mut rows: BTreeMap<u32, u64> = BTreeMap::new();
    for entry in &first.set.groups.entries {
        *rows.entry(first.set.sensitive_code(entry.sensitive, 0)).or_insert(0) += entry.rows;
    }
    let values = column.dictionary.len();
    let Ok(told_by_numbers) = forecast(&BTreeMap::new(), &rows, values, m) else {
        return Err(format!(
            "m-invariance with classes of {m} values needs as many, and `{}` has {values}",
            column.name
        ));
    };
    let counterfeits: u64 = told_by_numbers.counterfeits.values().sum();
    let all: u64 = rows.values().sum();
    if counterfeits.saturating_mul(COUNTERFEITS) > all {
        return Err(format!(
            "the values of `{}` are so uneven that m-invariance would need {counterfeits} counterfeits for {all} rows",
            column.name
        ));
    }
    let why = told.unwrap_or_else(|| "the policy states m-invariance".into());
    Ok((own, format!("the policy has one sensitive column, `{}`, and {why}", column.name)))
}

/// The policy with its m: stated, or derived from the number of values that it promises, with how. `None` where it
/// promises none.
pub(super) fn with_m(policy: &Policy) -> Option<(Policy, Option<String>)> {
    if policy.requirements.iter().any(|r| r.model.is(M_INVARIANCE)) {
        return Some((policy.clone(), None));
    }
    let promised = policy.requirements.iter().filter_map(|r| {
        let is = |model: &Entry| r.model.is(model);
        let key = match () {
            () if is(DISTINCT_L_DIVERSITY) || is(ENTROPY_L_DIVERSITY) => "l",
            () if is(P_SENSITIVE_K_ANONYMITY) => "p",
            () => return None,
        };
        let number = r.parameters.get(key)?.number()?.to_f64();
        Some(((number - 1e-9).ceil().max(2.0) as u64, r))
    });
    let (m, from) = promised.max_by_key(|(m, _)| *m)?;
    let mut own = policy.clone();
    own.requirements.push(RequirePolicy {
        model: M_INVARIANCE,
        on: from.on.clone(),
        parameters: Parameters::from_pairs([("m", Value::Number(m.into()))]),
    });
    Some((own, Some(format!("m = {m} follows from its {}", from.model.id))))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::prepare::LoadOptions;
    use amidst_core::table::{Column, Table};

    fn chosen(requirements: &str, values: &[&str], asked: Option<Mode>) -> Choice {
        let text = format!(
            "[data]\ninput = \"t.csv\"\n[columns.a]\nrole = \"quasi\"\nhierarchy = {{ suppress = true }}\n\
             [columns.d]\nrole = \"sensitive\"\n{requirements}"
        );
        let policy = Policy::parse(&text, Path::new("policy.toml")).unwrap();
        let (mut a, mut d) = (Column::new("a"), Column::new("d"));
        for value in values {
            a.push("x");
            d.push(value);
        }
        let table = Table { columns: vec![a, d], rows: values.len() };
        let first = Prepared::of_table(&policy, table, &LoadOptions::default()).unwrap();
        choose(policy, asked, &first)
    }

    const L2: &str = "[[require]]\nmodel = \"distinct-l-diversity\"\nl = 2\n";
    const EVEN: &[&str] = &["A", "B", "C", "A", "B", "C"];

    #[test]
    fn the_mode_follows_from_policy_and_values() {
        let of = |requirements: &str, values: &[&str]| {
            let choice = chosen(requirements, values, None);
            (choice.mode, choice.reason.unwrap())
        };
        let (mode, why) = of(L2, EVEN);
        assert!(mode == Mode::MInvariant && why.contains("m = 2 follows from its distinct-l-diversity"), "{why}");
        let (mode, why) = of("[[require]]\nmodel = \"m-invariance\"\nm = 2\n", EVEN);
        assert!(mode == Mode::MInvariant && why.contains("states m-invariance"), "{why}");
        let (mode, why) = of("[[require]]\nmodel = \"k-anonymity\"\nk = 2\n", EVEN);
        assert!(mode == Mode::Maintain && why.contains("states no number of values"), "{why}");
        let t = format!("{L2}[[require]]\nmodel = \"t-closeness\"\nt = \"0.9\"\n");
        let (mode, why) = of(&t, EVEN);
        assert!(mode == Mode::Maintain && why.contains("t-closeness does not follow"), "{why}");
        let (mode, why) = of(&L2.replace("l = 2", "l = 4"), EVEN);
        assert!(mode == Mode::Maintain && why.contains("`d` has 3"), "{why}");
        let (mode, why) = of(L2, &["A", "A", "A", "A", "A", "B"]);
        assert!(mode == Mode::Maintain && why.contains("4 counterfeits for 6 rows"), "{why}");
    }

    #[test]
    fn a_mode_that_is_asked_for_is_kept_and_told_its_m() {
        let choice = chosen(L2, &["A", "A", "A", "A", "A", "B"], Some(Mode::MInvariant));
        assert!(choice.mode == Mode::MInvariant && choice.reason.is_none());
        assert_eq!(stated_m(&choice.policy), Some(2));
        let choice = chosen(L2, EVEN, Some(Mode::Maintain));
        assert!(choice.mode == Mode::Maintain && choice.policy.requirements.len() == 1);
        // The larger of what k and l ask for is what classes have.
        let k = format!("[[require]]\nmodel = \"k-anonymity\"\nk = 3\n{L2}");
        assert_eq!(stated_m(&chosen(&k, EVEN, None).policy), Some(3));
    }
}
