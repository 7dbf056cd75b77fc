//! From a policy and its table to a search: which algorithm, which metric, which k, and what in the policy has no
//! effect.

use std::time::Instant;

use amidst_core::algorithm::{self, ALGORITHMS, RecodingKind};
use amidst_core::hierarchy::{Generalization, Generalize};
use amidst_core::metric;
use amidst_core::search::Search;

use crate::Failure;
use crate::job::Control;
use crate::policy::{OutputOrder, Policy, Role};
use crate::prepare::Prepared;

/// The metric that the policy names, or the default.
pub fn metric_of(policy: &Policy) -> Result<&'static metric::Entry, Failure> {
    let Some(id) = policy.search.metric.as_deref() else {
        return Ok(if policy.search.algorithm.is_none() { metric::OF_COMPETITIONS } else { metric::DEFAULT });
    };
    metric::find(id).ok_or_else(|| Failure::Usage(format!("there is no metric `{id}`; `amidst metrics` lists them")))
}

/// The algorithm that the policy names; nothing where several compete.
pub fn stated_algorithm(policy: &Policy) -> Result<Option<&'static algorithm::Entry>, Failure> {
    let found = |id: &str| {
        algorithm::find(id).ok_or_else(|| {
            let known: Vec<&str> = ALGORITHMS.iter().map(|a| a.id).collect();
            Failure::Usage(format!("there is no algorithm `{id}`; there are {}", known.join(", ")))
        })
    };
    policy.search.algorithm.as_deref().map(found).transpose()
}

/// One algorithm, where exactly one is needed: the policy's. Where it names none, the best full-domain recoding when
/// every quasi column has a hierarchy; else, and where a column asks for ranges or sets, which only local recodings
/// write, the local portfolio.
pub fn algorithm_of(policy: &Policy, prepared: &Prepared) -> Result<&'static algorithm::Entry, Failure> {
    let by_levels = |g: &Generalization| g.has_hierarchy && g.generalize == Generalize::Hierarchy;
    Ok(match stated_algorithm(policy)? {
        Some(entry) => entry,
        // Levels are those of a lattice.
        None if !policy.search.levels.is_empty() => algorithm::OPTIMAL,
        None if prepared.generalizations.iter().all(by_levels) => algorithm::OPTIMAL,
        None => algorithm::PORTFOLIO,
    })
}

/// What the policy says of columns that `algorithm` takes no notice of: all but local algorithms publish levels of the
/// hierarchies and nothing else. Where several algorithms compete only those do that take notice.
pub fn ignored_settings(policy: &Policy, algorithm: Option<&algorithm::Entry>) -> Vec<String> {
    let Some(algorithm) = algorithm else { return order_warning(policy).into_iter().collect() };
    let quasi = policy.columns.iter().filter(|c| c.role == Role::Quasi && algorithm.kind != RecodingKind::Local);
    let ignored_settings = quasi.filter_map(|column| {
        let word = match column.generalize? {
            Generalize::Hierarchy => return None,
            Generalize::Ranges => "ranges",
            Generalize::Sets => "sets",
        };
        Some(format!(
            "`generalize = \"{word}\"` of column `{}` has no effect: {} publishes whole levels of its hierarchy. Choose a \
             local algorithm, such as mondrian or portfolio, or leave it out",
            column.name, algorithm.id
        ))
    });
    ignored_settings.chain(order_warning(policy)).collect()
}

/// What a release in the order of its input tells beside its cells.
fn order_warning(policy: &Policy) -> Option<String> {
    (policy.output.order == OutputOrder::Input).then(|| {
        "the rows are published in the order of the input: whoever knows that order, or what it follows, can tell whose \
         row is whose. Leave out `order = \"input\"` under [output] to have them shuffled"
            .to_string()
    })
}

/// The largest k that the policy's requirements state; 1 when none does.
pub fn stated_k(policy: &Policy) -> u64 {
    let stated = policy.requirements.iter().filter_map(|r| r.parameters.get("k"));
    stated.filter_map(|v| v.number()?.to_u64()).max().unwrap_or(1)
}

/// The node of the lattice in which each of these columns has this level: every quasi column must be among them.
pub fn node_of(prepared: &Prepared, levels: &[(String, usize)]) -> Result<Vec<usize>, Failure> {
    let mut node = vec![None; prepared.generalizations.len()];
    for (name, level) in levels {
        let Some(position) = prepared.generalizations.iter().position(|g| g.name == *name) else {
            let known = prepared.generalizations.iter().map(|g| g.name.as_str());
            let hint = crate::nearest(name, known).map(|n| format!("; did you mean `{n}`?")).unwrap_or_default();
            return Err(Failure::Usage(format!("`{name}` is not a quasi column of the policy{hint}")));
        };
        let height = prepared.generalizations[position].height();
        if *level > height {
            return Err(Failure::Usage(format!("`{name}` has the levels 0 to {height}, not {level}")));
        }
        node[position] = Some(*level);
    }
    let missing: Vec<&str> = (prepared.generalizations.iter().zip(&node))
        .filter(|(_, level)| level.is_none())
        .map(|(g, _)| g.name.as_str())
        .collect();
    if !missing.is_empty() {
        return Err(Failure::Usage(format!(
            "a node needs a level for every quasi column; {} missing",
            missing.join(", ")
        )));
    }
    Ok(node.into_iter().flatten().collect())
}

/// The search that a policy asks for.
pub fn task<'a>(policy: &'a Policy, prepared: &'a Prepared, control: &Control<'a>) -> Result<Search<'a>, Failure> {
    let own = policy.search.time_limit.map(|limit| Instant::now() + limit);
    let deadline = own.into_iter().chain(control.deadline).min();
    Ok(Search {
        set: &prepared.set,
        generalizations: &prepared.generalizations,
        requirements: &prepared.requirements,
        metric: metric_of(policy)?,
        max_suppression: policy.search.max_suppression.clone(),
        suppressed: policy.search.suppressed,
        k: stated_k(policy),
        options: &policy.search.options,
        // Where an engine counted the rows they are not at hand.
        entry_of_row: prepared.weights.is_none().then_some(&prepared.entry_of_row[..]),
        seed: policy.search.seed,
        control: Control { deadline, ..*control },
    })
}
