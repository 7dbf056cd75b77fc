//! The risks that regulators draw the line at.

use crate::exact::Rational;

/// The risk above which regulators (Health Canada, the European Medicines Agency) call a person at risk, in its two
/// readings: 0.09 to the letter, which a class of 11 exceeds (1/11 = 0.0909…) and a class of 12 does not; and 1/11,
/// which
/// 0.09 rounds, and which asks for classes of 11.
pub fn thresholds() -> [Rational; 2] {
    [Rational::ratio(9, 100), Rational::ratio(1, 11)]
}
