//! Numbers that a state gives to a person, by their checksums or shapes.
//!
//! One number in ten passes a check digit by chance, so most values of a column must pass the same check.

use super::{Detector, Means, digits, most};

pub(super) const DETECTOR: Detector = Detector {
    id: "national-id",
    finding: "values are personal numbers that a state gives",
    means: Means::OnePerson,
    found: |profile| CHECKS.iter().any(|(_, check)| most(profile, check)),
};

/// Whether a text is such a number, its check digits included.
type Check = fn(&str) -> bool;

/// Every number that is known, with its check.
const CHECKS: &[(&str, Check)] = &[
    ("US social security number", ssn),
    ("German tax number", steuer_id),
    ("French NIR", nir),
    ("Spanish DNI or NIE", dni),
    ("Italian codice fiscale", codice_fiscale),
    ("Dutch BSN", bsn),
    ("Portuguese NIF", nif),
    ("Polish PESEL", pesel),
    ("NHS number", nhs),
    ("Brazilian CPF", cpf),
    ("Swiss AHV number", ahv),
];

fn weighted(digits: &[u32], weights: &[u32]) -> u32 {
    digits.iter().zip(weights).map(|(d, w)| d * w).sum()
}

/// Digits of exactly this many places.
fn places(value: &str, n: usize) -> Option<Vec<u32>> {
    digits(value).filter(|d| d.len() == n && d.iter().any(|x| *x != d[0]))
}

/// 123-45-6789, with its hyphens.
fn ssn(value: &str) -> bool {
    let groups: Vec<&str> = value.split('-').collect();
    let lengths: Vec<usize> =
        groups.iter().map(|g| if g.bytes().all(|b| b.is_ascii_digit()) { g.len() } else { 0 }).collect();
    lengths == [3, 2, 4] && groups[0] != "000" && groups[1] != "00" && groups[2] != "0000"
}

/// Eleven digits, the last by ISO 7064 MOD 11,10.
fn steuer_id(value: &str) -> bool {
    let Some(d) = places(value, 11).filter(|d| d[0] != 0) else { return false };
    let product = d[..10].iter().fold(10, |product, digit| {
        let sum = (digit + product) % 10;
        (if sum == 0 { 10 } else { sum }) * 2 % 11
    });
    (11 - product) % 10 == d[10]
}

/// Sex, year, month, department, commune, order: thirteen places (2A and 2B for Corsica), and 97 minus the rest of
/// them.
fn nir(value: &str) -> bool {
    let plain: String = value.chars().filter(|c| !c.is_whitespace()).collect();
    let corsica = plain.to_uppercase().replacen("2A", "19", 1).replacen("2B", "18", 1);
    let Ok(number) = corsica.parse::<u64>() else { return false };
    let sex = corsica.starts_with(['1', '2', '3', '4', '7', '8']);
    corsica.len() == 15 && sex && 97 - number / 100 % 97 == number % 100
}

/// Eight digits, or X, Y or Z and seven, and the letter of their rest by 23.
fn dni(value: &str) -> bool {
    let plain: String = value.to_uppercase().chars().filter(|c| c.is_alphanumeric()).collect();
    let plain = match plain.chars().next() {
        Some('X') => plain.replacen('X', "0", 1),
        Some('Y') => plain.replacen('Y', "1", 1),
        Some('Z') => plain.replacen('Z', "2", 1),
        _ => plain,
    };
    if plain.len() != 9 || !plain.is_ascii() {
        return false;
    }
    let letter = plain[..8].parse::<usize>().ok().and_then(|n| "TRWAGMYFPDXBNJZSQVHLCKE".chars().nth(n % 23));
    letter.is_some() && plain.chars().last() == letter
}

/// Six letters, year, month letter, day, place, and the letter of their sum by 26.
fn codice_fiscale(value: &str) -> bool {
    const ODD: [u32; 26] =
        [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];
    let code = value.to_uppercase();
    if code.len() != 16
        || !code.bytes().all(|b| b.is_ascii_alphanumeric())
        || !code.bytes().take(6).all(|b| b.is_ascii_alphabetic())
    {
        return false;
    }
    let place = |b: u8| u32::from(if b.is_ascii_digit() { b - b'0' } else { b - b'A' });
    let worth = |(i, b): (usize, u8)| if i % 2 == 0 { ODD[place(b) as usize] } else { place(b) };
    let sum: u32 = code.bytes().take(15).enumerate().map(worth).sum();
    code.as_bytes().get(15).copied().is_some_and(|last| last.is_ascii_alphabetic() && place(last) == sum % 26)
}

/// Nine digits (a leading zero may be lost) that pass the test of eleven.
fn bsn(value: &str) -> bool {
    let Some(mut d) = digits(value).filter(|d| (8..=9).contains(&d.len())) else { return false };
    if d.len() == 8 {
        d.insert(0, 0);
    }
    weighted(&d[..8], &[9, 8, 7, 6, 5, 4, 3, 2]) % 11 == d[8] % 11 && d.iter().any(|&x| x != 0)
}

/// Nine digits, the last by 11.
fn nif(value: &str) -> bool {
    let Some(d) = places(value, 9).filter(|d| d[0] != 0) else { return false };
    let rest = weighted(&d[..8], &[9, 8, 7, 6, 5, 4, 3, 2]) % 11;
    d[8] == if rest < 2 { 0 } else { 11 - rest }
}

/// Eleven digits that begin with a date of birth (its century in the month), the last by 10.
fn pesel(value: &str) -> bool {
    let Some(d) = places(value, 11) else { return false };
    let (month, day) = ((d[2] * 10 + d[3]) % 20, d[4] * 10 + d[5]);
    let check = (10 - weighted(&d[..10], &[1, 3, 7, 9, 1, 3, 7, 9, 1, 3]) % 10) % 10;
    (1..=12).contains(&month) && (1..=31).contains(&day) && check == d[10]
}

/// Ten digits, the last by 11.
fn nhs(value: &str) -> bool {
    let Some(d) = places(value, 10) else { return false };
    (11 - weighted(&d[..9], &[10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11) % 11 == d[9]
}

/// Eleven digits, the last two by 11.
fn cpf(value: &str) -> bool {
    let Some(d) = places(value, 11) else { return false };
    let check = |n: usize| {
        let sum: u32 = d[..n].iter().zip((2..=n as u32 + 1).rev()).map(|(d, w)| d * w).sum();
        sum * 10 % 11 % 10
    };
    check(9) == d[9] && check(10) == d[10]
}

/// 756, nine more digits and the last of an EAN-13.
fn ahv(value: &str) -> bool {
    let Some(d) = places(value, 13).filter(|d| d[..3] == [7, 5, 6]) else { return false };
    let sum: u32 = d[..12].iter().enumerate().map(|(i, d)| d * if i % 2 == 1 { 3 } else { 1 }).sum();
    (10 - sum % 10) % 10 == d[12]
}

#[cfg(test)]
mod tests {
    use super::super::tests::id;
    use super::*;

    #[test]
    fn known_numbers_pass_and_their_neighbours_do_not() {
        let cases: &[(Check, &str, &str)] = &[
            (ssn, "078-05-1120", "078-051-120"),
            (steuer_id, "86095742719", "86095742718"),
            (nir, "2 55 08 14 168 025 38", "2 55 08 14 168 025 39"),
            (dni, "12345678Z", "12345678A"),
            (dni, "X1234567L", "X1234567M"),
            (codice_fiscale, "RSSMRA85T10A562S", "RSSMRA85T10A562T"),
            (bsn, "111222333", "111222334"),
            (nif, "123456789", "123456788"),
            (pesel, "44051401359", "44051401358"),
            (nhs, "943 476 5919", "943 476 5918"),
            (cpf, "529.982.247-25", "529.982.247-26"),
            (ahv, "756.9217.0769.85", "756.9217.0769.84"),
        ];
        for (check, right, wrong) in cases {
            assert!(check(right), "{right}");
            assert!(!check(wrong), "{wrong}");
        }
    }

    #[test]
    fn most_values_must_pass_one_check() {
        assert_eq!(id(["12345678Z", "00000000T", "X1234567L"]), Some("national-id"));
        // Numbers of nine digits of which one passes by chance.
        assert_eq!(id(["111222333", "111222399", "111222377", "111222333", "111222355"]), None);
    }
}
