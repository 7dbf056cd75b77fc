//! Which texts of a table mean that something is not known.
//!
//! Only words of the lists here are ever taken for unknown: what is found is written into the draft, and drafts are
//! handed over.

use amidst_core::table::{Column, Table};

use super::plan::Plan;
use crate::policy::Role;

/// Cells that usually mean "unknown".
const UNKNOWN: &[&str] = &["?", "", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "-"];

/// The usual tokens that some column holds, unless it is one of its codes: `NA` is also Naples and Namibia.
pub(super) fn unknown_tokens(table: &Table) -> Vec<String> {
    let held = |token: &&&str| {
        table.columns.iter().any(|c| c.dictionary.code(token).is_some() && !(is_code(token) && has_codes(c)))
    };
    let mut found: Vec<String> = UNKNOWN.iter().filter(held).map(|t| t.to_string()).collect();
    found.extend(among_numbers(table).into_iter().filter(|word| !UNKNOWN.contains(&word.as_str())));
    found
}

/// What people write in the place of a number or a name that they do not have.
const NOBODY: &[&str] = &[
    "unknown",
    "unbekannt",
    "inconnu",
    "desconocido",
    "sconosciuto",
    "onbekend",
    "desconhecido",
    "nieznany",
    "anonymous",
    "anonym",
    "anonyme",
    "none",
    "not known",
    "not available",
    "see file",
    "test",
    "tbd",
    "xxx",
];

/// Values of a key that are nobody: they would count as one more person in every class. Those that another column has,
/// too, are left as they are.
pub(super) fn nobody(table: &Table, plan: &Plan) -> Vec<String> {
    let keys = |i: &usize| plan.guesses[*i].role == Role::Key;
    let nobody = |text: &&str| NOBODY.contains(&text.trim().to_lowercase().as_str());
    let mut found: Vec<String> = (0..table.columns.len())
        .filter(keys)
        .flat_map(|i| table.columns[i].dictionary.iter().filter(nobody))
        .filter(|text| (0..table.columns.len()).all(|i| keys(&i) || table.columns[i].dictionary.code(text).is_none()))
        .map(str::to_string)
        .collect();
    found.sort();
    found.dedup();
    found
}

/// Two or three capital letters.
fn is_code(value: &str) -> bool {
    matches!(value.len(), 2 | 3) && value.bytes().all(|b| b.is_ascii_uppercase())
}

/// Whether nearly all values are codes of a few letters, and not just some abbreviations.
fn has_codes(column: &Column) -> bool {
    let known = |value: &&str| is_code(value) || !UNKNOWN.contains(value);
    let codes = column.dictionary.iter().filter(|value| is_code(value)).count();
    codes > 5 && codes * 10 >= column.dictionary.iter().filter(known).count() * 9
}

/// What people write into a column of numbers or dates in the place of one, beside what they write for nobody.
const NO_NUMBER: &[&str] = &[
    ".",
    "..",
    "--",
    "---",
    "na",
    "n.a.",
    "#n/a",
    "nil",
    "missing",
    "refused",
    "declined",
    "not recorded",
    "not applicable",
    "not asked",
    "not stated",
    "k.a.",
    "k. a.",
    "keine angabe",
    "fehlt",
    "manquant",
    "non renseigné",
    "sin dato",
    "sin datos",
    "brak",
    "brak danych",
    // The last line of a spreadsheet is often nobody's.
    "total",
    "sum",
    "summe",
    "gesamt",
    "totale",
    "suma",
];

/// Words that stand among numbers and dates, and in no other column: `unknown` in a column of ages would make texts of
/// all of them.
fn among_numbers(table: &Table) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in NOBODY.iter().chain(NO_NUMBER) {
        let mut letters = word.chars();
        let capital: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
        for written in [word.to_string(), capital, word.to_uppercase()] {
            let mut holders = table.columns.iter().filter(|c| c.dictionary.code(&written).is_some()).peekable();
            if holders.peek().is_some() && holders.all(has_numbers) && !found.contains(&written) {
                found.push(written);
            }
        }
    }
    found
}

/// Whether nearly all values have digits and no letters, as numbers and dates have.
fn has_numbers(column: &Column) -> bool {
    let number = |value: &&str| value.bytes().any(|b| b.is_ascii_digit()) && !value.chars().any(char::is_alphabetic);
    let numbers = column.dictionary.iter().filter(number).count();
    numbers >= 3 && numbers * 10 >= column.dictionary.iter().filter(|value| !value.is_empty()).count() * 8
}

#[cfg(test)]
mod tests {
    use super::super::profile::tests::column;
    use super::*;

    #[test]
    fn a_word_among_numbers_is_unknown_unless_it_means_something_elsewhere() {
        let ages = || (0..40).map(|i| if i % 10 == 3 { "Unknown".to_string() } else { (20 + i).to_string() });
        let days = || (0..40).map(|i| if i == 7 { "TOTAL".to_string() } else { format!("{:02}.03.2024", i % 28 + 1) });
        let [age, day] = [column("age", ages()), column("day", days())];
        let plain = Table { rows: 40, columns: vec![age.clone(), day] };
        assert_eq!(unknown_tokens(&plain), ["Unknown", "TOTAL"]);
        let allergy = column("allergy", (0..40).map(|i| ["nuts", "Unknown", "milk"][i % 3]));
        assert!(unknown_tokens(&Table { rows: 40, columns: vec![age, allergy] }).is_empty());
        // Ages of ninety and more are known, and no word that somebody wrote is quoted.
        let top = column("age", (0..40).map(|i| if i == 7 { "90+".into() } else { (20 + i).to_string() }));
        let said = column("n", (0..40).map(|i| if i == 7 { "ask Mr Smith".into() } else { (20 + i).to_string() }));
        assert!(unknown_tokens(&Table { rows: 40, columns: vec![top, said] }).is_empty());
    }
}
