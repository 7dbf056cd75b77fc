//! Privacy models: what a class must look like before it may be published.
//!
//! One model is one file of this folder, with its definition, its source and its test vectors; [`MODELS`] is the only
//! list of them. Command line, policy schema, documentation and bindings are made from it.

use std::fmt::Debug;

use crate::class::{Class, SensitiveDomain, Sizes, TableStats};
use crate::exact::Rational;
use crate::parameter::{Parameter, ParameterError, Parameters};

mod k_anonymity;

/// Every privacy model, in the order of the specification.
pub const MODELS: &[Entry] = &[k_anonymity::ENTRY];

/// One model, as the registry knows it.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The name in policies, reports and on the command line.
    pub id: &'static str,
    /// The name in prose.
    pub title: &'static str,
    /// When a class satisfies it, in the papers' symbols.
    pub definition: &'static str,
    /// Where it is defined.
    pub citation: &'static str,
    /// What a requirement may state.
    pub parameters: &'static [Parameter],
    /// Which sensitive columns a requirement names.
    pub sensitive: Sensitive,
    /// Reads the parameters; the domain is that of the sensitive column, empty where the model has none.
    pub build: Build,
}

/// Reads the parameters of a requirement into a model.
pub type Build = fn(&Parameters, &SensitiveDomain) -> Result<Box<dyn PrivacyModel>, ParameterError>;

/// Which sensitive columns a requirement of this model names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sensitive {
    /// None: the model looks at class sizes or tuples only.
    None,
    /// One column.
    One,
    /// One column, or several together as in Definition 4.6 of the ℓ-diversity article.
    OneOrMany,
}

/// What a model looks at. The search computes no more than that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Needs {
    /// The class size.
    Size,
    /// The class's sensitive histogram.
    Histogram,
    /// The original tuples that the class covers.
    Tuples,
    /// The sizes of all classes together.
    Release,
}

/// A requirement's test of a class.
pub trait PrivacyModel: Debug + Send + Sync {
    /// What the model looks at.
    fn needs(&self) -> Needs;

    /// Whether a class merged from two satisfying classes always satisfies it.
    fn monotone(&self) -> bool;

    /// Whether the class satisfies the model. Always true for a model that needs the whole release.
    fn holds(&self, class: &Class<'_>, table: &TableStats) -> bool;

    /// The strongest parameter that the class satisfies.
    fn measure(&self, class: &Class<'_>, table: &TableStats) -> Level;

    /// Whether the release as a whole satisfies the model; for models with [`Needs::Release`].
    fn holds_release(&self, _sizes: &Sizes) -> bool {
        true
    }

    /// The strongest parameter that the release satisfies; for models with [`Needs::Release`].
    fn measure_release(&self, _sizes: &Sizes) -> Option<Level> {
        None
    }
}

/// The strongest value of a parameter that still holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// The parameter measured; the others stay as the requirement states them.
    pub parameter: &'static str,
    /// Its strongest value.
    pub bound: Bound,
    /// Which direction is stronger.
    pub stronger: Stronger,
    /// Whether the requirement holds at the bound itself (it does not where the definition says "less than").
    pub attained: bool,
}

/// The value of a measurement.
#[derive(Debug, Clone, PartialEq)]
pub enum Bound {
    /// An exact number.
    Exact(Rational),
    /// A real number, to double precision.
    Real(f64),
    /// Holds however strong the parameter.
    Always,
    /// Holds for no parameter at all.
    Never,
}

/// Whether larger or smaller values of a parameter protect more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stronger {
    /// Larger, as with k and l.
    Larger,
    /// Smaller, as with c, t and α.
    Smaller,
}

impl Bound {
    /// The value as a double; infinite for [`Bound::Always`] and not a number for [`Bound::Never`].
    pub fn to_f64(&self) -> f64 {
        match self {
            Bound::Exact(r) => r.to_f64(),
            Bound::Real(x) => *x,
            Bound::Always => f64::INFINITY,
            Bound::Never => f64::NAN,
        }
    }
}

impl Level {
    /// The weaker of two measurements of the same parameter: what two classes together satisfy.
    pub fn worst(self, other: Level) -> Level {
        use Bound::{Always, Exact, Never};
        let other_is_weaker = match (&self.bound, &other.bound) {
            (Never, _) | (_, Always) => false,
            (Always, _) | (_, Never) => true,
            (a, b) => {
                let order = match (a, b) {
                    (Exact(a), Exact(b)) => a.cmp(b),
                    (a, b) => a.to_f64().total_cmp(&b.to_f64()),
                };
                match self.stronger {
                    // On a tie, the bound that is not attained is the weaker one.
                    _ if order.is_eq() => self.attained && !other.attained,
                    Stronger::Larger => order.is_gt(),
                    Stronger::Smaller => order.is_lt(),
                }
            }
        };
        if other_is_weaker { other } else { self }
    }
}

/// The model called `id`.
pub fn find(id: &str) -> Option<&'static Entry> {
    MODELS.iter().find(|e| e.id == id)
}
