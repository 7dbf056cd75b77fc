//! Measurements: the strongest value of a parameter that a class still satisfies.
//!
//! May use: `exact`, `parameter`, the rest of `model`, and what those use.

use num_bigint::BigInt;

use crate::exact::Rational;
use crate::exact::weight::Reach;
use crate::parameter::Measured;

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
    /// Where no value of the parameter helps, what stands in the way: the other half of the definition.
    pub obstacle: Option<&'static str>,
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

impl From<Reach> for Bound {
    fn from(reach: Reach) -> Self {
        match reach {
            Reach::Exact(total) => Bound::Exact(total),
            Reach::Real(total) => Bound::Real(total),
        }
    }
}

impl Bound {
    /// The exact fraction `numerator / denominator`.
    pub fn ratio(numerator: u64, denominator: u64) -> Self {
        Bound::Exact(Rational::ratio(numerator, denominator))
    }

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
    /// A parameter that protects more the larger it is, and holds at its bound.
    pub fn largest(parameter: &'static str, bound: Bound) -> Self {
        Level { parameter, bound, stronger: Stronger::Larger, attained: true, obstacle: None }
    }

    /// A parameter that protects more the smaller it is, and holds at its bound.
    pub fn smallest(parameter: &'static str, bound: Bound) -> Self {
        Level { parameter, bound, stronger: Stronger::Smaller, attained: true, obstacle: None }
    }

    /// The same level with what stands in the way where no value of the parameter helps.
    #[must_use]
    pub fn but_for(self, obstacle: &'static str) -> Self {
        let obstacle = Some(obstacle).filter(|_| self.bound == Bound::Never);
        Level { obstacle, ..self }
    }

    /// The same level where the definition says "less than": it does not hold at the bound itself.
    #[must_use]
    pub fn open(self) -> Self {
        Level { attained: false, ..self }
    }

    /// How the bound is reached: `=`, or `>` and `<` where the definition says "less than" and the bound itself fails.
    pub fn sign(&self) -> &'static str {
        match (self.attained, &self.bound, self.stronger) {
            (true, ..) | (_, Bound::Always | Bound::Never, _) => "=",
            (false, _, Stronger::Smaller) => ">",
            (false, _, Stronger::Larger) => "<",
        }
    }

    /// The bound for people, to four places, rounded to the side that holds: what is printed is never more than is
    /// true. `any` and `none` where there is no bound.
    pub fn figure(&self) -> String {
        let value = match &self.bound {
            Bound::Always => return "any".to_string(),
            Bound::Never => return "none".to_string(),
            Bound::Exact(value) if value.to_u64().is_some() => return value.to_string(),
            // What four places hold needs no rounding.
            Bound::Exact(value) if (value.value() * BigInt::from(10_000)).is_integer() => {
                return format!("{:.4}", value.to_f64());
            }
            bound => bound.to_f64(),
        };
        self.measured().rounded(value)
    }

    /// Which values of the parameter hold.
    pub fn measured(&self) -> Measured {
        match (self.stronger, self.attained) {
            (Stronger::Larger, _) => Measured::UpTo,
            (Stronger::Smaller, true) => Measured::From,
            (Stronger::Smaller, false) => Measured::Above,
        }
    }

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
