//! The privacy models a second time, each written from its definition and in exact arithmetic.
//!
//! A model judges one class at a time (or the sizes of all classes) and also reports figures: the strongest parameters
//! that the class satisfies, as floating-point numbers. Figures are for display; only `holds`, which is exact, decides.
//!
//! May use: `certificate`, `logsum`, `number`, and what those use.

mod alpha_k;
mod closeness;
mod disclosure;
mod distinct;
mod domain;
mod entropy;
mod k_anonymity;
mod l_alpha;
mod m_invariance;
mod parameters;
mod population;
mod recursive;
mod risk;
mod steps;

pub(crate) use domain::Domain;
pub(crate) use l_alpha::{stated_weights, weights};
pub(crate) use parameters::Parameters;
pub(crate) use population::{Census, CensusTuple, PopulationModel};

use std::sync::Arc;

/// The weak end of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weak {
    /// Smaller is weaker: k, l.
    Small,
    /// Greater is weaker: c, t, α.
    Great,
}

/// A figure's name and its weak end.
pub(crate) type Figure = (&'static str, Weak);

/// A class as the models see it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Class<'a> {
    /// Its size.
    pub size: u64,
    /// Value and count, ascending by value; all counts positive.
    pub counts: &'a [(u32, u64)],
}

impl Class<'_> {
    /// The sum of the counts. It exceeds the size when a person has several values.
    pub(crate) fn total(&self) -> u64 {
        self.counts.iter().map(|c| c.1).sum()
    }
}

/// The verdict on a class. A figure that is not finite stands for no bound on that side.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reading {
    pub holds: bool,
    pub figures: Vec<f64>,
}

/// A model that judges every class separately.
pub(crate) trait ClassModel: Sync {
    /// Its figures, the most informative first.
    fn figures(&self) -> Vec<Figure>;

    /// Whether exchanging values changes nothing, so that classes with equal sorted counts have the same verdict.
    fn symmetric(&self) -> bool {
        false
    }

    /// Judges a class; an error says why it cannot be judged.
    fn judge(&self, class: Class<'_>) -> Result<Reading, String>;
}

/// A model that judges the sizes of all classes together.
pub(crate) trait ReleaseModel {
    /// Whether the release satisfies it, and the figure that it reaches.
    fn judge(&self, sizes: &[u64]) -> (bool, f64);

    /// Whether the smallest class is reported as the worst.
    fn shows_smallest(&self) -> bool;
}

/// A model with its parameters.
pub(crate) enum Model {
    Class(Box<dyn ClassModel>),
    Release(Box<dyn ReleaseModel>),
    Population(Box<dyn PopulationModel>),
}

/// What a model looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Looks {
    /// Sizes of classes.
    Sizes,
    /// Histograms of sensitive columns.
    Sensitive,
}

/// A registered model.
pub(crate) struct Entry {
    pub id: &'static str,
    pub looks: Looks,
    /// The parameters that it accepts; others are refused.
    pub parameters: &'static [&'static str],
    pub build: fn(&Parameters<'_>, &Arc<Domain>) -> Result<Model, String>,
}

const fn entry(
    id: &'static str,
    looks: Looks,
    parameters: &'static [&'static str],
    build: fn(&Parameters<'_>, &Arc<Domain>) -> Result<Model, String>,
) -> Entry {
    Entry { id, looks, parameters, build }
}

use Looks::{Sensitive, Sizes};

/// Every model, by its id.
pub(crate) const MODELS: &[Entry] = &[
    entry("k-anonymity", Sizes, &["k"], k_anonymity::build),
    entry("distinct-l-diversity", Sensitive, &["l"], distinct::l_diversity),
    entry("entropy-l-diversity", Sensitive, &["l", "dont_care"], entropy::build),
    entry("recursive-c-l-diversity", Sensitive, &["c", "l"], recursive::recursive),
    entry("pd-recursive-c-l-diversity", Sensitive, &["c", "l", "dont_care"], recursive::pd_recursive),
    entry(
        "npd-recursive-c1-c2-l-diversity",
        Sensitive,
        &["c1", "c2", "l", "dont_care", "no_negative"],
        recursive::npd_recursive,
    ),
    entry("p-sensitive-k-anonymity", Sensitive, &["p", "k"], distinct::p_sensitive),
    entry("simple-alpha-k-anonymity", Sensitive, &["alpha", "value", "k"], alpha_k::simple),
    entry("general-alpha-k-anonymity", Sensitive, &["alpha", "k"], alpha_k::general),
    entry("complete-alpha-k-anonymity", Sensitive, &["alpha", "k"], alpha_k::complete),
    entry("distinct-l-alpha-diversity", Sensitive, &["l", "alpha", "categories", "weights"], l_alpha::distinct),
    entry("entropy-l-alpha-diversity", Sensitive, &["l", "alpha", "categories", "weights"], l_alpha::entropy),
    entry(
        "recursive-c-l-alpha-diversity",
        Sensitive,
        &["c", "l", "alpha", "categories", "weights"],
        l_alpha::recursive,
    ),
    entry("t-closeness", Sensitive, &["t", "distance"], closeness::build),
    entry("bayes-optimal", Sensitive, &["rho1", "rho2", "population"], population::bayes_optimal),
    entry("belief-difference", Sensitive, &["max", "population"], population::belief_difference),
    entry("delta-disclosure", Sensitive, &["delta"], disclosure::delta_disclosure),
    entry("beta-likeness", Sensitive, &["beta", "enhanced"], disclosure::beta_likeness),
    entry("k-map", Sizes, &["k", "population"], population::k_map),
    entry("delta-presence", Sizes, &["min", "max", "population"], population::delta_presence),
    entry("average-risk", Sizes, &["threshold"], risk::average),
    entry("sample-uniqueness", Sizes, &["threshold"], risk::uniqueness),
    entry("max-risk", Sizes, &["threshold"], risk::max),
    entry("m-invariance", Sensitive, &["m"], m_invariance::build),
];

/// The model with this id.
pub(crate) fn find(id: &str) -> Result<&'static Entry, String> {
    MODELS.iter().find(|e| e.id == id).ok_or_else(|| format!("\"{id}\" is no model that this checker knows"))
}
