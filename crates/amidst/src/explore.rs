//! Exploring: every minimal generalization, the front of risk against utility, and why a node cannot be published; for
//! local recodings, which have no lattice, what each algorithm makes of the table.
//!
//! May use: `job`, `plan`, `policy`, `prepare`, `release`, and what those use.

pub mod local;

use amidst_core::internal::lattice::{self, Explored, WhyNot};
use amidst_core::search::{Impossible, feasibility};
use serde::Serialize;

use crate::Failure;
use crate::job::Job;
use crate::json::{Figure, Figures, RequirementVerdict};
use crate::plan::{node_of, task};
use crate::policy::Policy;
use crate::prepare::Prepared;

/// Looks at the whole lattice of the policy's hierarchies.
pub fn explore(policy: &Policy, prepared: &Prepared, job: &Job<'_>) -> Result<Explored, Failure> {
    prepared.refuse_sets(policy, "explore")?;
    let search = task(policy, prepared, job)?;
    Ok(lattice::explore(&search)?)
}

/// A way to release the table that was found on the way: what it costs by the policy's metric, and the risk that it
/// leaves.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// How the table would be released.
    pub how: How,
    /// What it costs.
    pub cost: f64,
    /// The largest risk of anyone.
    pub max_risk: f64,
}

/// How a table would be released.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum How {
    /// With these levels, whatever the policy requires.
    Levels(Vec<usize>),
    /// By an algorithm, as the policy requires.
    Algorithm(&'static str),
    /// With classes of this size, whatever the policy requires.
    Size(u64),
}

/// Receives what is found on the way, from any thread and in no order.
pub type Watcher<'a> = &'a (dyn Fn(Seen) + Sync);

/// The same with every node of a lattice that is not too large, for drawing it. `seen` is called with each as it is
/// found.
///
/// # Errors
/// When the policy asks for an algorithm or metric that does not suit, or the job was stopped.
pub fn explore_all(
    policy: &Policy,
    prepared: &Prepared,
    job: &Job<'_>,
    seen: Watcher<'_>,
) -> Result<Explored, Failure> {
    let tell = |point: &lattice::FrontPoint| {
        seen(Seen { how: How::Levels(point.levels.clone()), cost: point.cost, max_risk: point.max_risk });
    };
    prepared.refuse_sets(policy, "explore")?;
    Ok(lattice::explore_all(&task(policy, prepared, job)?, &tell)?)
}

/// Tells why the node with these levels cannot be published, or that it can.
pub fn why_not(
    policy: &Policy,
    prepared: &Prepared,
    levels: &[(String, usize)],
    job: &Job<'_>,
) -> Result<WhyNot, Failure> {
    prepared.refuse_sets(policy, "explore")?;
    let levels = node_of(prepared, levels)?;
    let search = task(policy, prepared, job)?;
    Ok(lattice::why_not(&search, &levels)?)
}

/// The requirement that no generalization satisfies, and the most that is possible, where the whole table tells.
pub fn obstacle(policy: &Policy, prepared: &Prepared) -> Result<Option<Impossible>, Failure> {
    let search = task(policy, prepared, &Job::default())?;
    Ok(feasibility::impossible(&search).or_else(|| feasibility::failing(&search)))
}

/// For each requirement of a policy, the strongest value that any release of all rows can satisfy, in words; `None`
/// where the whole table is no bound.
///
/// # Errors
/// When the policy asks for an algorithm or metric that does not suit.
pub fn strongest(policy: &Policy, prepared: &Prepared) -> Result<Vec<Option<String>>, Failure> {
    let search = task(policy, prepared, &Job::default())?;
    Ok(feasibility::strongest(&search).iter().map(|level| level.as_ref().map(feasibility::possible)).collect())
}

/// What becomes of a node that somebody asks about.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NodeVerdict {
    /// Whether it may be published, with rows suppressed if need be.
    pub valid: bool,
    /// Its classes.
    pub classes: u64,
    /// Rows that would have to be suppressed.
    pub rows_to_suppress: u64,
    /// Rows that may be.
    pub suppression_limit: u64,
    /// What came of each requirement.
    pub requirements: Vec<NodeRequirement>,
}

/// What came of one requirement at a node.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NodeRequirement {
    /// Whether it holds.
    #[serde(flatten)]
    pub verdict: RequirementVerdict,
    /// Classes that break it.
    pub failing_classes: u64,
    /// Rows in them.
    pub failing_rows: u64,
    /// The classes that break it worst.
    pub worst: Vec<FailingClass>,
}

/// A class that breaks a requirement.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FailingClass {
    /// Its labels, by column.
    pub cells: Figures,
    /// Its rows.
    pub rows: u64,
    /// What it reaches.
    pub measured: Figure,
}

impl FailingClass {
    /// Its labels alone, in the order of the columns.
    pub fn labels(&self) -> Vec<String> {
        let text = |(_, label)| match label {
            Figure::Text(text) => Some(text),
            _ => None,
        };
        self.cells.iter().filter_map(text).collect()
    }
}

impl NodeVerdict {
    /// What [`why_not`] found, with the names of the policy.
    pub fn of(policy: &Policy, prepared: &Prepared, why: &WhyNot) -> Self {
        let failing = |class: &lattice::FailingClass| FailingClass {
            cells: (prepared.generalizations.iter().zip(&class.cells))
                .map(|(g, cell)| (g.name.clone(), g.label(cell).to_string()))
                .collect(),
            rows: class.rows,
            measured: class.measured.as_ref().map_or(Figure::None, |level| Figure::of_bound(&level.bound)),
        };
        let requirement = |obstacle: &lattice::Obstacle| NodeRequirement {
            verdict: RequirementVerdict::of(
                &policy.requirements[obstacle.requirement],
                obstacle.holds,
                obstacle.measured.as_ref(),
            ),
            failing_classes: obstacle.classes,
            failing_rows: obstacle.rows,
            worst: obstacle.worst.iter().map(failing).collect(),
        };
        NodeVerdict {
            valid: why.valid,
            classes: why.classes,
            rows_to_suppress: why.rows,
            suppression_limit: why.limit,
            requirements: why.requirements.iter().map(requirement).collect(),
        }
    }
}
