//! Numbers of typed files as text. Releases use one text for a number: the shortest that reads back as the same number,
//! without trailing zeros after the point.

/// The text of a double.
pub(crate) fn of_double(value: f64) -> String {
    shortest(value == 0.0, value.is_finite(), value.abs(), || value.to_string(), || format!("{value:e}"))
}

/// The text of a single, which is shorter than that of the same number as a double.
pub(crate) fn of_single(value: f32) -> String {
    let size = f64::from(value.abs());
    shortest(value == 0.0, value.is_finite(), size, || value.to_string(), || format!("{value:e}"))
}

/// Very small and very large numbers have an exponent, all others none.
fn shortest(zero: bool, finite: bool, size: f64, plain: impl Fn() -> String, exponent: impl Fn() -> String) -> String {
    match (zero, finite) {
        (true, _) => "0".to_string(),
        (_, true) if !(1e-5..1e16).contains(&size) => exponent(),
        _ => plain(),
    }
}

/// A decimal without trailing zeros after its point.
pub(crate) fn trimmed(text: &str) -> String {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_one_text() {
        let texts = [1.0, -0.0, 0.1, -2.5, 1e16, 2.5e-9, 1e-5, 3000.0].map(of_double);
        assert_eq!(texts, ["1", "0", "0.1", "-2.5", "1e16", "2.5e-9", "0.00001", "3000"]);
        assert_eq!([of_single(0.1), of_single(-7.0)], ["0.1", "-7"]);
        assert_eq!(["2.50", "7.00", "700", "-0.10"].map(trimmed), ["2.5", "7", "700", "-0.1"]);
    }
}
