//! Exploring: every minimal generalization, the front of risk against utility, and why a node cannot be published; for
//! local recodings, which have no lattice, what each algorithm makes of the table.
//!
//! May use: `job`, `plan`, `policy`, `prepare`, `release`, and what those use.

pub mod local;

use amidst_core::lattice::{self, Explored, WhyNot};
use amidst_core::search::feasibility;
use serde_json::{Map, Value, json};

use crate::job::Job;
use crate::plan::task;
use crate::policy::Policy;
use crate::prepare::Prepared;
use crate::{Failure, json};

/// Looks at the whole lattice of the policy's hierarchies.
pub fn explore(policy: &Policy, prepared: &Prepared, job: &Job<'_>) -> Result<Explored, Failure> {
    let search = task(policy, prepared, job)?;
    Ok(lattice::explore(&search)?)
}

/// Tells why the node with these levels cannot be published, or that it can.
pub fn why_not(
    policy: &Policy,
    prepared: &Prepared,
    levels: &[(String, usize)],
    job: &Job<'_>,
) -> Result<WhyNot, Failure> {
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
    let levels: Vec<usize> = node.into_iter().flatten().collect();
    let search = task(policy, prepared, job)?;
    Ok(lattice::why_not(&search, &levels)?)
}

/// The levels of a node by column name.
pub fn levels_json(prepared: &Prepared, levels: &[usize]) -> Value {
    Value::Object(prepared.generalizations.iter().zip(levels).map(|(g, l)| (g.name.clone(), json!(l))).collect())
}

/// The requirement that no generalization satisfies, and the most that is possible, where the whole table tells.
pub fn obstacle(policy: &Policy, prepared: &Prepared) -> Result<Option<String>, Failure> {
    let search = task(policy, prepared, &Job::default())?;
    Ok(feasibility::impossible(&search).map(|found| found.message).or_else(|| feasibility::failing(&search)))
}

/// For each requirement of a policy, the strongest value that any release of all rows can satisfy, in words; `None` where the
/// whole table is no bound.
///
/// # Errors
/// When the policy asks for an algorithm or metric that does not suit.
pub fn strongest(policy: &Policy, prepared: &Prepared) -> Result<Vec<Option<String>>, Failure> {
    let search = task(policy, prepared, &Job::default())?;
    Ok(feasibility::strongest(&search).iter().map(|level| level.as_ref().map(feasibility::possible)).collect())
}

/// What `amidst explore --json` prints.
pub fn to_json(prepared: &Prepared, explored: &Explored) -> Value {
    let minimal: Vec<Value> = explored
        .minimal
        .iter()
        .map(|node| {
            let metrics: Map<String, Value> =
                node.metrics.iter().map(|&(id, v)| (id.to_string(), v.map_or(Value::Null, json::number))).collect();
            json!({
                "levels": levels_json(prepared, &node.levels),
                "classes": node.classes,
                "suppressed": node.suppressed,
                "metrics": metrics,
            })
        })
        .collect();
    let front: Vec<Value> = explored
        .front
        .iter()
        .map(|point| {
            json!({
                "levels": levels_json(prepared, &point.levels),
                "classes": point.classes,
                "smallest_class": point.smallest,
                "risk": {"prosecutor_max": json::number(point.max_risk), "prosecutor_avg": json::number(point.average_risk)},
                "loss": json::number(point.cost),
            })
        })
        .collect();
    json!({
        "minimal": minimal,
        "front": front,
        "nodes": json::number(explored.nodes),
        "nodes_checked": explored.nodes_checked,
        "complete": explored.complete,
    })
}

/// What `amidst explore --node … --json` prints.
pub fn why_not_json(policy: &Policy, prepared: &Prepared, why: &WhyNot) -> Value {
    let requirements: Vec<Value> = why
        .requirements
        .iter()
        .map(|obstacle| {
            let stated = &policy.requirements[obstacle.requirement];
            let mut object = json::requirement(stated, obstacle.holds, obstacle.measured.as_ref());
            let worst: Vec<Value> = obstacle
                .worst
                .iter()
                .map(|class| {
                    let cells: Map<String, Value> = (prepared.generalizations.iter().zip(&class.cells))
                        .map(|(g, cell)| (g.name.clone(), json!(g.label(cell))))
                        .collect();
                    json!({"cells": cells, "rows": class.rows, "measured": class.measured.as_ref().map(|l| json::bound(&l.bound))})
                })
                .collect();
            if let Some(map) = object.as_object_mut() {
                map.insert("failing_classes".into(), json!(obstacle.classes));
                map.insert("failing_rows".into(), json!(obstacle.rows));
                map.insert("worst".into(), Value::Array(worst));
            }
            object
        })
        .collect();
    json!({
        "valid": why.valid,
        "classes": why.classes,
        "rows_to_suppress": why.rows,
        "suppression_limit": why.limit,
        "requirements": requirements,
    })
}
