//! Bank accounts (IBAN) and payment cards, by their checksums.

use super::{Detector, Means, digits, most, some};

pub(super) const IBAN: Detector = Detector {
    id: "iban",
    finding: "values are bank accounts (IBAN)",
    means: Means::OnePerson,
    found: |profile| some(profile, is_iban),
};

pub(super) const CARD: Detector = Detector {
    id: "card",
    finding: "values are numbers of payment cards",
    means: Means::OnePerson,
    found: |profile| most(profile, is_card),
};

/// Two letters, two check digits, up to thirty more; the whole, turned round, leaves 1 modulo 97 (ISO 13616).
fn is_iban(value: &str) -> bool {
    let plain: String = value.chars().filter(|c| !c.is_whitespace()).collect();
    if !(15..=34).contains(&plain.len()) || !plain.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return false;
    }
    let (head, rest) = plain.split_at(4);
    let shaped =
        head.bytes().take(2).all(|b| b.is_ascii_alphabetic()) && head.bytes().skip(2).all(|b| b.is_ascii_digit());
    let digit = |sum: u32, c: char| match c.to_digit(36) {
        Some(n) if n < 10 => (sum * 10 + n) % 97,
        Some(n) => (sum * 100 + n) % 97,
        None => sum,
    };
    shaped && rest.chars().chain(head.chars()).fold(0, digit) == 1
}

/// Thirteen to nineteen digits whose last is Luhn's (ISO/IEC 7812).
fn is_card(value: &str) -> bool {
    let Some(digits) = digits(value).filter(|d| (13..=19).contains(&d.len())) else { return false };
    luhn(&digits)
}

fn luhn(digits: &[u32]) -> bool {
    let doubled = |(i, &d): (usize, &u32)| if i % 2 == 1 { d * 2 / 10 + d * 2 % 10 } else { d };
    digits.iter().rev().enumerate().map(doubled).sum::<u32>() % 10 == 0
}

#[cfg(test)]
mod tests {
    use super::super::tests::id;
    use super::*;

    #[test]
    fn accounts_pass_their_checksum() {
        assert!(is_iban("DE89 3704 0044 0532 0130 00") && is_iban("GB82WEST12345698765432"));
        assert!(!is_iban("DE88 3704 0044 0532 0130 00") && !is_iban("hello world example"));
        assert_eq!(id(["DE89370400440532013000", "FR1420041010050500013M02606"]), Some("iban"));
    }

    #[test]
    fn cards_pass_luhn() {
        assert!(is_card("4111 1111 1111 1111") && is_card("5500-0000-0000-0004"));
        assert!(!is_card("4111 1111 1111 1112") && !is_card("123"));
        assert_eq!(id(["4111111111111111", "5500000000000004", "4012888888881881", "4111111111111111"]), Some("card"));
    }
}
