//! The requirements that the (l,α) paper compares, on Adult with eight random health conditions.

use amidst::Failure;
use amidst::core::internal::lattice::Node;
use amidst::core::parameter::{Parameters, Value};
use amidst::core::requirement::Requirement;
use amidst::core::table::Table;

use crate::data::{health_categories, with_health};
use crate::experiment::Context;
use crate::trial::{Quasi, Trial};

/// A requirement of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Distinct l-diversity by full-domain search.
    L,
    /// Distinct l-diversity by the same top-down recoding as the others.
    LocalL,
    /// Distinct (l,α)-diversity, top-down.
    Distinct,
    /// Entropy (l,α)-diversity over categories, as defined.
    Entropy,
    /// Recursive (3,l,α)-diversity over categories, as defined.
    Recursive,
    /// Entropy over values.
    EntropyOfValues,
    /// Recursive over values.
    RecursiveOfValues,
}

impl Kind {
    /// The four of the paper, and entropy over values, since entropy over categories is impossible for l = 4.
    pub const TIMED: [Kind; 5] = [Kind::L, Kind::Distinct, Kind::Entropy, Kind::Recursive, Kind::EntropyOfValues];
    /// Those recoded in the same way: l-diversity, distinct, and entropy and recursive in both readings.
    pub const LOCAL: [Kind; 6] =
        [Kind::LocalL, Kind::Distinct, Kind::Entropy, Kind::Recursive, Kind::EntropyOfValues, Kind::RecursiveOfValues];

    /// Its name in words.
    pub fn name(self) -> &'static str {
        match self {
            Kind::L => "l-diversity",
            Kind::LocalL => "l-diversity, top-down",
            Kind::Distinct => "distinct (l,α)",
            Kind::Entropy => "entropy (l,α)",
            Kind::Recursive => "recursive (3,l,α)",
            Kind::EntropyOfValues => "entropy (l,α) over values",
            Kind::RecursiveOfValues => "recursive (3,l,α) over values",
        }
    }

    /// The requirements for this l, α = 2 and sensitivity weights with β = 2.
    pub fn require(self, trial: &Trial, l: u64) -> Result<Vec<Requirement>, Failure> {
        let text = |t: &str| Value::Text(t.to_string());
        let l = text(&l.to_string());
        let weights = Value::Table(vec![("sensitivity".to_string(), text("2"))]);
        let weighted = |id: &str, more: &[(&str, Value)]| {
            let stated = [("l", l.clone()), ("alpha", text("2")), ("weights", weights.clone())];
            trial.require_values(id, &[&stated, more].concat())
        };
        let three = [("c", text("3"))];
        Ok(match self {
            Kind::L | Kind::LocalL => vec![trial.require_values("distinct-l-diversity", &[("l", l.clone())])?],
            Kind::Distinct => vec![weighted("distinct-l-alpha-diversity", &[])?],
            Kind::Entropy => vec![weighted("entropy-l-alpha-diversity", &[])?],
            Kind::Recursive => vec![weighted("recursive-c-l-alpha-diversity", &three)?],
            Kind::EntropyOfValues => vec![
                weighted("distinct-l-alpha-diversity", &[])?,
                trial.require_values("entropy-l-diversity", &[("l", l.clone())])?,
            ],
            Kind::RecursiveOfValues => vec![
                weighted("distinct-l-alpha-diversity", &[])?,
                trial.require_values("recursive-c-l-diversity", &[("c", text("3")), ("l", l.clone())])?,
            ],
        })
    }

    /// The cost of the top-down release: discernibility, mean group size over l, divergence, and number of groups.
    /// `None` if no release satisfies the requirement.
    pub fn release(self, trial: &Trial, l: u64, context: &Context<'_>) -> Result<Option<[f64; 4]>, Failure> {
        let requirements = self.require(trial, l)?;
        let found = trial.find("top-down", &requirements, &Parameters::default(), 1, context.cancel)?;
        Ok(found.map(|recoding| {
            let cost = trial.cost(&recoding);
            let groups = cost.classes.max(1) as f64;
            let published = (trial.set.rows - cost.suppressed) as f64;
            [cost.discernibility, published / groups / l as f64, cost.kl, cost.classes as f64]
        }))
    }
}

/// As [`Kind::release`], for l-diversity by full-domain search: the minimum of each figure over all minimal tables.
pub fn full_domain(trial: &Trial, l: u64, context: &Context<'_>) -> Result<Option<[f64; 4]>, Failure> {
    let requirements = Kind::L.require(trial, l)?;
    let minimal = |metric| trial.minimal(&requirements, metric, context.cancel);
    let (by_size, by_divergence) = (minimal("discernibility")?, minimal("kl-divergence")?);
    let least = |nodes: &[Node]| nodes.iter().map(|node| node.cost).min_by(f64::total_cmp);
    let groups = by_size.iter().map(|node| node.classes).max().map(|groups| groups as f64);
    let (Some(discernibility), Some(divergence), Some(groups)) = (least(&by_size), least(&by_divergence), groups)
    else {
        return Ok(None);
    };
    Ok(Some([discernibility, trial.set.rows as f64 / groups / l as f64, divergence, groups]))
}

/// The quasi columns in the order of the paper's Table 9, as far as the table has them.
pub fn columns(context: &Context<'_>) -> Vec<Quasi> {
    let order = ["age", "workclass", "education", "native-country", "marital-status", "race", "sex"];
    let quasi = &context.adult.quasi;
    let known = order.iter().filter_map(|name| quasi.iter().find(|q| q.name == *name));
    let rest = quasi.iter().filter(|q| !order.contains(&q.name.as_str()));
    known.chain(rest).cloned().collect()
}

/// A table with health conditions, counted by its first `size` quasi columns.
pub fn trial(data: &Table, size: usize, context: &Context<'_>) -> Result<Trial, Failure> {
    let columns = columns(context);
    let mut trial = Trial::new(&with_health(data, 1), &columns[..size.min(columns.len())], &["health"])?;
    trial.domains[0].categories = health_categories();
    Ok(trial)
}
