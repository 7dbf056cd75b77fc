//! Sensitive columns as models know them, and the requirements on them.

use amidst_core::class::Ranking;
use amidst_core::requirement::Requirement;
use amidst_core::requirement::SensitiveDomain;
use amidst_core::table::{Dictionary, Table};
use rustc_hash::FxHashMap;

use super::columns::Layout;
use super::hierarchies::Bound;
use super::types::rank_order;
use crate::policy::{Diagnostic, Policy};

/// The domain of each sensitive column.
pub(super) fn domains(policy: &Policy, layout: &Layout, table: &Table, bound: &Bound) -> Vec<SensitiveDomain> {
    let of = |(s, &position): (usize, &usize)| {
        let column = &table.columns[position];
        let stated = policy.column(&column.name);
        let order = stated.map(|c| rank_order(c).1).unwrap_or_default();
        let levels = bound.sensitive.get(s).and_then(Option::as_ref);
        SensitiveDomain {
            name: column.name.clone(),
            dictionary: column.dictionary.clone(),
            ordered: column.kind.is_numeric() || !order.is_empty(),
            ranking: ranking(&column.dictionary, &order),
            levels: levels.map(|g| g.levels.iter().map(|level| level.of.clone()).collect()),
            categories: stated.map(|c| c.categories.clone()).unwrap_or_default(),
            weights: stated.and_then(|c| c.weights.clone()),
            population: None,
        }
    };
    layout.sensitive.iter().enumerate().map(of).collect()
}

/// The ranks of a column's values in its stated order. The dictionary is sorted: what the order lists comes first.
fn ranking(dictionary: &Dictionary, order: &[String]) -> Ranking {
    let ranks: FxHashMap<&str, u32> = order.iter().map(String::as_str).zip(0u32..).collect();
    let listed = dictionary.iter().map_while(|value| ranks.get(value).copied()).collect();
    Ranking { listed, ranks: order.len() as u32 }
}

/// The requirements of the policy, built for those domains.
pub(super) fn read(policy: &Policy, domains: &[SensitiveDomain]) -> (Vec<Requirement>, Vec<Diagnostic>) {
    let mut requirements = Vec::new();
    let mut errors = Vec::new();
    for (i, stated) in policy.requirements.iter().enumerate() {
        let index = i.to_string();
        let on: Option<Vec<usize>> =
            stated.on.iter().map(|name| domains.iter().position(|d| d.name == *name)).collect();
        let Some(on) = on else {
            let message = format!("{} is on a column that is not sensitive", stated.model.id);
            errors.push(policy.origin.error(&["require", &index, "on"], message));
            continue;
        };
        match Requirement::new(stated.model, stated.parameters.clone(), on, domains) {
            Ok(requirement) => requirements.push(requirement),
            Err(error) => {
                // A parameter that is not written cannot be pointed at; the model that wants it can.
                let keys = ["require", &index, &error.key];
                let written = stated.parameters.get(&error.key).is_some();
                let place = if written { keys } else { ["require", &index, "model"] };
                let found = policy.origin.error(&place, format!("{}: {}", stated.model.id, error.message));
                errors.push(found);
            }
        }
    }
    (requirements, errors)
}
