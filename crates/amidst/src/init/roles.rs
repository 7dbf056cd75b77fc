//! What a column probably is to the people in the table, from its name and its values.

use amidst_core::table::{Column, ValueType, number};

use crate::policy::Role;
use crate::prepare::DISTINCT_LIMIT;

/// A guessed role, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Guess {
    pub role: Role,
    pub why: String,
}

/// A name that says who someone is.
const IDENTIFYING: &[&str] = &[
    "name",
    "firstname",
    "lastname",
    "surname",
    "forename",
    "fullname",
    "username",
    "nickname",
    "maiden",
    "ssn",
    "email",
    "mail",
    "phone",
    "telephone",
    "tel",
    "mobile",
    "fax",
    "address",
    "street",
    "passport",
    "license",
    "licence",
    "iban",
    "account",
    "ip",
    "mrn",
    "nhs",
    "url",
    "login",
    "uuid",
    "guid",
    "id",
    "identifier",
    "insurance",
    "plate",
    "vin",
];

/// What is nobody's business.
const SENSITIVE: &[&str] = &[
    "diagnosis",
    "diagnoses",
    "disease",
    "illness",
    "condition",
    "disorder",
    "symptom",
    "icd",
    "hiv",
    "medication",
    "drug",
    "treatment",
    "therapy",
    "procedure",
    "surgery",
    "salary",
    "income",
    "wage",
    "wages",
    "earnings",
    "pay",
    "religion",
    "belief",
    "party",
    "vote",
    "orientation",
    "crime",
    "conviction",
    "offence",
    "offense",
    "cost",
    "charge",
    "charges",
    "debt",
    "credit",
    "pincp",
    "disability",
];

/// What neighbours, registers and social networks know.
const QUASI: &[&str] = &[
    "age",
    "agep",
    "sex",
    "gender",
    "zip",
    "zipcode",
    "postcode",
    "postal",
    "plz",
    "puma",
    "birth",
    "birthday",
    "birthdate",
    "birthplace",
    "dob",
    "born",
    "yob",
    "race",
    "rac1p",
    "ethnicity",
    "ethnic",
    "hisp",
    "nationality",
    "citizenship",
    "country",
    "native",
    "education",
    "edu",
    "degree",
    "school",
    "marital",
    "married",
    "msp",
    "relationship",
    "occupation",
    "job",
    "profession",
    "workclass",
    "employment",
    "industry",
    "city",
    "town",
    "county",
    "state",
    "region",
    "district",
    "municipality",
    "language",
    "children",
    "household",
    "veteran",
    "military",
    "weducation",
    "heducation",
];

/// A column of at least this share of distinct values names its rows.
const UNIQUE: f64 = 0.95;

/// Fewer rows than this say nothing about uniqueness.
const FEW: usize = 20;

/// A column of unknown meaning with no more values than this may be known to others.
const MODERATE: usize = 100;

/// The role that a column's name and values suggest; `Insensitive` when they suggest none.
pub(super) fn guess(column: &Column, rows: usize, missing: &[String]) -> Guess {
    let distinct = column.dictionary.len() - missing.iter().filter(|m| column.dictionary.code(m).is_some()).count();
    let many = |n: usize| if n == 1 { "1 distinct value".to_string() } else { format!("{n} distinct values") };
    let because = |role: Role, why: &str| Guess { role, why: format!("{why}; {}", many(distinct)) };
    let words = words(&column.name);
    let named = |list: &[&str]| words.iter().any(|w| list.contains(&w.as_str()));
    if named(SENSITIVE) && distinct as u64 <= DISTINCT_LIMIT {
        return because(Role::Sensitive, "the name tells of something private");
    }
    if named(QUASI) && distinct as u64 <= DISTINCT_LIMIT {
        return because(Role::Quasi, "others may know this");
    }
    if named(IDENTIFYING) {
        return because(Role::Identifying, "the name tells who it is");
    }
    if rows >= FEW && distinct as f64 >= UNIQUE * rows as f64 {
        if column.kind == ValueType::Text {
            return because(Role::Identifying, "nearly every row has its own value");
        }
        if is_numbering(column, rows) {
            return because(Role::Identifying, "rows are numbered");
        }
    }
    let worth = (2..=MODERATE).contains(&distinct) && (distinct * 2 <= rows || rows < FEW);
    match worth {
        true => because(Role::Quasi, "few enough values to be known to others"),
        false => because(Role::Insensitive, "nothing seen that ties it to a person"),
    }
}

/// Whether a column is 1, 2, 3, … in some order.
fn is_numbering(column: &Column, rows: usize) -> bool {
    if column.kind != ValueType::Integer || column.dictionary.len() != rows {
        return false;
    }
    let numbers: Option<Vec<_>> = column.dictionary.iter().map(number).collect();
    let span = numbers.and_then(|n| Some(*n.iter().max()? - *n.iter().min()?));
    span.is_some_and(|span| span + rust_decimal::Decimal::ONE == rust_decimal::Decimal::from(rows))
}

/// The words of a name, in small letters: `nativeCountry`, `native-country` and `NATIVE_COUNTRY` are two words.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut small_before = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && small_before) {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        small_before = c.is_lowercase();
    }
    words.retain(|w| !w.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart() {
        assert_eq!(words("native-country"), ["native", "country"]);
        assert_eq!(words("patientID"), ["patient", "id"]);
        assert_eq!(words("ZIP_Code"), ["zip", "code"]);
        assert_eq!(words("SSN"), ["ssn"]);
    }

    fn role(name: &str, values: impl Iterator<Item = String>) -> Role {
        let values: Vec<String> = values.collect();
        let column = Column::from_values(name, values.iter().map(String::as_str));
        guess(&column, values.len(), &[]).role
    }

    #[test]
    fn names_and_values_suggest_roles() {
        let few = |n: usize| (0..200).map(move |i| format!("v{}", i % n));
        assert_eq!(role("Sex", few(2)), Role::Quasi);
        assert_eq!(role("salary-class", few(2)), Role::Sensitive);
        assert_eq!(role("last_name", few(30)), Role::Identifying);
        assert_eq!(role("remarks", few(200)), Role::Identifying);
        assert_eq!(role("ward", few(7)), Role::Quasi);
        assert_eq!(role("version", few(1)), Role::Insensitive);
        assert_eq!(role("row", (1..=200).map(|i| i.to_string())), Role::Identifying);
        assert_eq!(role("reading", (1..=200).map(|i| (i * 7).to_string())), Role::Insensitive);
    }
}
