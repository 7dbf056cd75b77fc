//! Numbers as text, each in one form: the shortest that reads back as the same number.

/// The text of a double.
pub(crate) fn float64(value: f64) -> String {
    if value == 0.0 {
        return "0".to_string();
    }
    if !value.is_finite() || (1e-5..1e16).contains(&value.abs()) { value.to_string() } else { format!("{value:e}") }
}

/// The text of a single, which is shorter than that of the same number as a double.
pub(crate) fn float32(value: f32) -> String {
    if value == 0.0 {
        return "0".to_string();
    }
    if !value.is_finite() || (1e-5..1e16).contains(&value.abs()) { value.to_string() } else { format!("{value:e}") }
}

/// A number in JSON syntax, in the same form; `None` for other texts. Without an exponent every digit is kept, however
/// many there are; with one, the result is that of the nearest double.
pub(crate) fn canonical_number(text: &str) -> Option<String> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match digits.find(['e', 'E']) {
        Some(i) => (&digits[..i], Some(&digits[i + 1..])),
        None => (digits, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let plain = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let power = exponent.map(|e| e.strip_prefix(['+', '-']).unwrap_or(e));
    let valid = plain(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(plain)
        && power.is_none_or(plain);
    if !valid {
        return None;
    }
    if exponent.is_some() {
        return text.parse().ok().map(float64);
    }
    let fraction = fraction.unwrap_or_default().trim_end_matches('0');
    let sign = if digits.len() < text.len() && (whole != "0" || !fraction.is_empty()) { "-" } else { "" };
    let point = if fraction.is_empty() { "" } else { "." };
    Some(format!("{sign}{whole}{point}{fraction}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_one_form() {
        let forms = [1.0, -0.0, 0.1, 1e300, 2.5e-9, 123456.0].map(float64);
        assert_eq!(forms, ["1", "0", "0.1", "1e300", "2.5e-9", "123456"]);
        assert_eq!(float32(0.1), "0.1");
        let read = |t| canonical_number(t).unwrap_or_else(|| "none".into());
        assert_eq!(read("2.50"), "2.5");
        assert_eq!(read("-0.00"), "0");
        assert_eq!(read("123456789012345678901234567890"), "123456789012345678901234567890");
        assert_eq!(read("1e3"), "1000");
        for bad in ["01", "1.", ".5", "+1", "1e", "--1", "", "-"] {
            assert_eq!(read(bad), "none");
        }
    }
}
