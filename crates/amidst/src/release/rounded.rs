//! Ranges of numbers whose ends are rounded outward.
//!
//! The ends of a range are the least and the greatest value of its class: the exact amounts of two people, and in the
//! whole release those of everybody who is at an end of a class. Rounded outward a range covers the same values and
//! more, and its ends are nobody's. The ends of an interval of a hierarchy are nobody's as they are.

use amidst_core::table::number;
use rust_decimal::Decimal;

use super::bounds::bounds;

/// A rounded range is about this many steps wide.
const STEPS: i64 = 5;

/// The range with its ends on multiples of a round step (1, 2 or 5 times a power of ten) of at most a fifth of its
/// width: of `[43891.63-50646.2]` it is `[43000-51000]`. `None` for what is no range of numbers, and for whole numbers
/// so close together that there is nothing to round.
pub(super) fn rounded(label: &str) -> Option<String> {
    let (low, high) = bounds(label)?;
    let (low, high) = (number(low)?, number(high)?);
    let step = step(high.checked_sub(low)?.checked_div(STEPS.into())?)?;
    if low.is_integer() && high.is_integer() && step < Decimal::ONE {
        return None;
    }
    let down = low.checked_div(step)?.floor().checked_mul(step)?.normalize();
    let up = high.checked_div(step)?.ceil().checked_mul(step)?.normalize();
    Some(format!("[{down}-{up}]"))
}

/// The greatest of 1, 2 and 5 times a power of ten that is not above a width.
pub(super) fn step(width: Decimal) -> Option<Decimal> {
    if width <= Decimal::ZERO {
        return None;
    }
    let mut power = Decimal::ONE;
    while power > width {
        power = power.checked_div(Decimal::TEN)?;
        if power.is_zero() {
            return None;
        }
    }
    while power.checked_mul(Decimal::TEN)? <= width {
        power = power.checked_mul(Decimal::TEN)?;
    }
    let fits = |times: i64| power.checked_mul(times.into()).filter(|step| *step <= width);
    fits(5).or_else(|| fits(2)).or(Some(power))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_rounded_outward() {
        for (label, expected) in [
            ("[43891.63-50646.2]", "[43000-51000]"),
            ("[38026.75-1234567.89]", "[0-1400000]"),
            ("[-7.31--2.04]", "[-8--2]"),
            ("[50.39865-50.98107]", "[50.3-51]"),
            ("[1021-1979]", "[1000-2000]"),
            ("[0.0003-0.0009]", "[0.0003-0.0009]"),
        ] {
            assert_eq!(rounded(label).as_deref(), Some(expected), "{label}");
        }
        for same in ["[47-51]", "[20-24]", "*", "34", "[a-b]", "{a,b}", "[5-5]"] {
            assert_eq!(rounded(same), None, "{same}");
        }
    }

    #[test]
    fn rounded_ranges_cover_what_they_did() {
        let mut random = amidst_core::internal::random::Random::new(7);
        for _ in 0..2000 {
            let scale = random.below(6) as u32;
            let mut end = || Decimal::new(random.below(2_000_000) as i64 - 1_000_000, scale);
            let (a, b) = (end(), end());
            let (low, high) = (a.min(b), a.max(b));
            let Some(label) = rounded(&format!("[{low}-{high}]")) else { continue };
            let (from, to) = bounds(&label).unwrap();
            assert!(number(from).unwrap() <= low && number(to).unwrap() >= high, "[{low}-{high}] {label}");
        }
    }
}
