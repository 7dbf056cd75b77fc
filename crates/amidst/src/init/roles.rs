//! What a column probably is to the people in the table, from its values and its name.
//!
//! The more a column identifies, the less it may be released by default: a column of unknown meaning is generalized
//! where it has few values and left out where it has many. Only a column in which all rows are alike is released as it
//! is without a reason; one that its name or its values call private is, where it singles nobody out.

use amidst_core::table::{ValueType, date_order};

use super::detect::{self, Means};
use super::names::{Meaning, Name};
use super::profile::Profile;
use crate::policy::Role;
use crate::prepare::{DISTINCT_LIMIT, shape};
use crate::words::count;

/// A guessed role, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Guess {
    pub role: Role,
    pub why: String,
    /// How much speaks for it; of quasi columns that are too many the weaker ones are left out, and people are told
    /// apart only by a column of which something says that it stands for them.
    pub strength: u8,
    /// Whether the values are codes, to be masked.
    pub code: bool,
    /// Whether the values seem to number people or records, several rows each.
    pub several_rows: bool,
}

/// Fewer rows than this say nothing about uniqueness.
const FEW: usize = 20;

/// More rows than this for each of a few numbers are not the rows of one person.
const ROWS_EACH: usize = 12;

/// A private number with more values than this is an exact amount.
const MANY: usize = 100;

/// A private number with more values than this, some of which only one row has, is one as well: the highest salaries.
const SOME: usize = 20;

/// A private column may single out this share of the rows (or two rows), and no more.
pub(super) const SINGLED_OUT: f64 = 0.01;

/// How many rows may be alone on what is released as it is.
pub(super) fn tolerated(rows: usize) -> u64 {
    ((rows as f64 * SINGLED_OUT) as u64).max(2)
}

/// The role that a column's values and name suggest.
pub(super) fn guess(profile: &Profile<'_>) -> Guess {
    if profile.column.name.trim_end_matches('_') == amidst_io::ROW_NUMBER {
        return left_out(
            "the first column has no name of its own: numbers or names of rows, as R and pandas write them",
        );
    }
    let name = Name::of(&profile.column.name);
    let mut guess = from_values(profile, &name).unwrap_or_else(|| from_name(profile, &name));
    if guess.role != Role::Identifying && profile.distinct as u64 > DISTINCT_LIMIT {
        guess = left_out("more values than a hierarchy can have");
    }
    let many = match profile.distinct {
        1 => "1 distinct value".to_string(),
        n => format!("{n} distinct values"),
    };
    guess.why = format!("{}; {many}", guess.why);
    guess
}

fn because(role: Role, strength: u8, why: impl Into<String>) -> Guess {
    Guess { role, why: why.into(), strength, code: false, several_rows: false }
}

fn left_out(why: impl Into<String>) -> Guess {
    because(Role::Identifying, 0, why)
}

/// Left out because the values stand for people or their records.
fn stands_for(profile: &Profile<'_>, why: impl Into<String>) -> Guess {
    let several_rows = profile.distinct >= FEW && profile.distinct * 3 <= profile.known * 2;
    Guess { several_rows, strength: 1, ..left_out(why) }
}

/// Left out because each value belongs to one person, or to one household: a person who repeats has several rows.
fn belongs_to_one(profile: &Profile<'_>, why: impl Into<String>) -> Guess {
    let several_rows = profile.distinct >= FEW && profile.distinct < profile.known;
    Guess { several_rows, strength: 1, ..left_out(why) }
}

fn quasi(strength: u8, why: impl Into<String>) -> Guess {
    because(Role::Quasi, strength, why)
}

/// What the values say, where they overrule the name; or a name that no value can overrule.
fn from_values(profile: &Profile<'_>, name: &Name) -> Option<Guess> {
    let found = detect::detect(profile);
    match found {
        Some(found) if found.means == Means::OnePerson => return Some(belongs_to_one(profile, found.finding)),
        Some(found) if found.means == Means::Person => return Some(stands_for(profile, found.finding)),
        Some(found) if found.means == Means::Trace => return Some(left_out(found.finding)),
        _ => {}
    }
    let meaning = name.meaning();
    let flag = is_flag(profile);
    let amount = profile.is_number() && (name.tells_of("person-name") || is_short_kinds(profile));
    if meaning == Some(Meaning::Identifying) && !flag && !amount {
        let why = "the name tells who it is";
        if name.tells_of("register-number") {
            return Some(belongs_to_one(profile, why));
        }
        return Some(if name.tells_of("person-name") { stands_for(profile, why) } else { left_out(why) });
    }
    if name.numbers_persons() && !flag {
        return Some(person_number(profile));
    }
    if profile.rows < 2 {
        return Some(left_out("nobody else is in the table"));
    }
    if profile.texts <= 1 {
        let same = "every row has the same value";
        return Some(match meaning {
            Some(Meaning::Sensitive) => {
                because(Role::Sensitive, 3, format!("the name tells of something private; {same}"))
            }
            _ => because(Role::Insensitive, 0, same),
        });
    }
    if profile.known == 0 {
        return Some(left_out("no cell is known"));
    }
    match found?.means {
        Means::Date => Some(date(profile, found?.finding)),
        Means::Postcode => Some(Guess { code: true, ..quasi(3, "others may know this: postcodes") }),
        Means::Disease => Some(private(profile, found?.finding)),
        Means::Number => {
            let quantity = matches!(meaning, Some(Meaning::Quasi | Meaning::Measure | Meaning::Sensitive));
            // Kinds of something private may have codes, also many; people who come equally often have numbers.
            let repeats = profile.distinct * 3 <= profile.known;
            let kinds = meaning == Some(Meaning::Sensitive) && repeats && !detect::equally_often(profile);
            // Any other code with letters in it is no quantity, whatever its name says.
            let named = quantity && (profile.is_number() || kinds) && !counts_rows(profile);
            (!named).then(|| stands_for(profile, found.map_or("", |f| f.finding)))
        }
        Means::Person | Means::OnePerson | Means::Trace => None,
    }
}

/// What the name says, and what remains where it says nothing.
fn from_name(profile: &Profile<'_>, name: &Name) -> Guess {
    let own = profile.distinct_share();
    let kinds = profile.is_kinds();
    if name.numbers() && !kinds && own > 0.3 && profile.column.kind != ValueType::Decimal && !name.tells_of("measure") {
        return stands_for(profile, "numbers of records lead to their people");
    }
    match name.meaning() {
        Some(Meaning::Text) if !kinds && !profile.is_number() => return left_out("somebody's own words"),
        Some(Meaning::Sensitive) if name.tells_of("time") && is_years(profile) => {
            return quasi(3, "others may know when it was");
        }
        Some(Meaning::Sensitive) => return private(profile, "the name tells of something private"),
        Some(Meaning::Quasi) if !is_own_text(profile) => return quasi(3, "others may know this"),
        Some(Meaning::Measure) if profile.is_number() => return quasi(2, "a quantity; others may know it"),
        _ => {}
    }
    if is_own_text(profile) {
        return left_out("nearly every row has its own value");
    }
    // How many persons there are is no person.
    let several = if name.is_person() && !profile.is_number() { 4 } else { 30 };
    if (name.is_person() || name.numbers()) && (!kinds || profile.distinct > several) {
        let guess = stands_for(profile, "values stand for people or their records");
        // Where the name says that they are people, a few are enough.
        let repeats = profile.distinct < profile.known && profile.rows <= profile.distinct * ROWS_EACH;
        return Guess { several_rows: guess.several_rows || (name.is_person() && repeats), ..guess };
    }
    match profile.column.kind {
        ValueType::Integer if looks_like_names(profile) => {
            // Amounts may look like that as well.
            Guess { strength: 0, ..stands_for(profile, "numbers that look like names of people or things") }
        }
        ValueType::Integer if profile.distinct == profile.known && profile.known >= 5 => {
            left_out("every row has its own number")
        }
        ValueType::Integer | ValueType::Decimal => {
            quasi(u8::from(kinds), "numbers that others may know; nothing says otherwise")
        }
        _ if kinds || (profile.distinct <= 100 && own <= 0.5) => quasi(1, "few enough values to be known to others"),
        _ => left_out("many values that nothing says how to generalize"),
    }
}

/// A number that stands for a person: where persons have several rows it tells them apart.
fn person_number(profile: &Profile<'_>) -> Guess {
    let repeats = profile.distinct < profile.known && profile.known == profile.rows;
    // Of few numbers that very many rows have, nothing says that they are people: a child's number in its family.
    let people = profile.distinct >= FEW || (profile.distinct >= 2 && profile.rows <= profile.distinct * ROWS_EACH);
    match repeats && people {
        true => because(Role::Key, 0, "numbers people, some of whom have several rows"),
        false => stands_for(profile, "numbers people"),
    }
}

fn date(profile: &Profile<'_>, finding: &str) -> Guess {
    let whole = profile.column.kind == ValueType::Date || profile.values.iter().all(|v| date_order([*v]).is_some());
    match whole || profile.is_kinds() {
        true => quasi(2, finding),
        false => {
            let slips: Vec<&str> = profile.values.iter().copied().filter(|v| date_order([*v]).is_none()).collect();
            match slips.len() * 10 <= profile.values.len() {
                true => left_out(format!(
                    "dates, but {} in no way that dates are{}: mend what is wrong or list it in `missing`, then draft again",
                    count(slips.len() as u64, "value is written", "values are written"),
                    first_of(profile, &slips)
                )),
                false => left_out("times that nothing says how to generalize"),
            }
        }
    }
}

/// Where the first of some values stands, and how it is written.
fn first_of(profile: &Profile<'_>, values: &[&str]) -> String {
    let (codes, dictionary) = (&profile.column.codes, &profile.column.dictionary);
    let wanted: Vec<u32> = values.iter().filter_map(|value| dictionary.code(value)).collect();
    let Some(row) = (0..codes.len()).find(|&row| wanted.contains(&codes.get(row))) else { return String::new() };
    let which = if values.len() == 1 { "" } else { "the first " };
    // Rows are counted without the header, whatever the format.
    format!(" ({which}in row {} of the data, like {})", row + 1, shape(dictionary.value(codes.get(row))))
}

/// Private columns are released as they are, unless they single people out.
fn private(profile: &Profile<'_>, why: &str) -> Guess {
    let many = profile.known >= FEW && profile.distinct_share() > 0.2;
    // An exact amount beside a class singles out within the class, however often it occurs in the table.
    let exact = profile.is_number() && profile.distinct > if profile.uniques > 0 { SOME } else { MANY };
    if profile.uniques as u64 <= tolerated(profile.rows) && !many && !exact {
        return because(Role::Sensitive, 3, why);
    }
    let singled = match exact {
        true => format!("{why}, but exact amounts single people out"),
        false => format!("{why}, but it singles out {}", count(profile.uniques as u64, "row", "rows")),
    };
    match is_own_text(profile) {
        true => left_out(singled),
        false => Guess { code: profile.column.kind == ValueType::Text, ..quasi(3, singled) },
    }
}

/// Text of which nearly every row has its own.
fn is_own_text(profile: &Profile<'_>) -> bool {
    let own = profile.distinct_share();
    profile.column.kind == ValueType::Text && profile.known >= 3 && (own >= 0.9 || (profile.known >= FEW && own > 0.5))
}

/// Whether the values are exactly as many numbers in a row as there are rows: no quantity looks like that.
fn counts_rows(profile: &Profile<'_>) -> bool {
    let numbers: Vec<i64> = profile.column.dictionary.iter().filter_map(|v| v.trim().parse().ok()).collect();
    let span = numbers.iter().max().zip(numbers.iter().min()).map(|(high, low)| high.abs_diff(*low) + 1);
    profile.known >= FEW && profile.distinct == profile.known && span == Some(profile.distinct as u64)
}

/// Whether numbers that nothing is known of look like names rather than quantities: long ones, or ones that repeat far
/// more often than numbers of such a span would by chance, without being round. An amount that most people do not have
/// (a gain, a fine) repeats as well: there one number, or none, stands for most rows.
fn looks_like_names(profile: &Profile<'_>) -> bool {
    if profile.distinct <= 20 {
        return false;
    }
    let digits = |v: &str| v.bytes().filter(u8::is_ascii_digit).count();
    if profile.share(|v| digits(v) >= 8) >= 0.8 {
        return true;
    }
    if profile.column.counts().into_iter().max().unwrap_or(0) as usize * 2 > profile.rows {
        return false;
    }
    let numbers: Vec<i64> = profile.column.dictionary.iter().filter_map(|v| v.trim().parse().ok()).collect();
    let Some((high, low)) = numbers.iter().max().zip(numbers.iter().min()) else { return false };
    let span = (high.abs_diff(*low) as f64) + 1.0;
    let (known, distinct) = (profile.known as f64, profile.distinct as f64);
    let by_chance = span * (1.0 - (-known / span).exp());
    let round = numbers.iter().filter(|n| *n % 5 == 0).count() as f64 / numbers.len().max(1) as f64;
    span >= distinct * 20.0 && distinct < by_chance * 0.5 && round < 0.4
}

/// Whether the values are years.
fn is_years(profile: &Profile<'_>) -> bool {
    profile.share(|v| v.parse::<u32>().is_ok_and(|y| (1900..=2100).contains(&y))) >= 0.9
}

/// Whether the values are a few numbers of at most three digits, too short for a telephone or a card.
fn is_short_kinds(profile: &Profile<'_>) -> bool {
    profile.is_kinds() && profile.share(|v| v.bytes().filter(u8::is_ascii_digit).count() <= 3) >= 1.0
}

/// Yes and no, written in some way.
fn is_flag(profile: &Profile<'_>) -> bool {
    const FLAGS: &[&str] = &[
        "0", "1", "yes", "no", "y", "n", "true", "false", "t", "f", "ja", "nein", "j", "oui", "non", "o", "sí", "si",
        "sì", "nee", "sim", "não", "nao", "s", "tak", "nie", "x", "0.0", "1.0",
    ];
    (1..=2).contains(&profile.distinct)
        && profile.values.iter().all(|v| FLAGS.contains(&v.trim().to_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::init::profile::tests::column;

    fn role<S: AsRef<str>>(name: &str, values: impl IntoIterator<Item = S>) -> Role {
        let column = column(name, values);
        guess(&Profile::of(&column, &[])).role
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
        assert_eq!(role("reading", (1..=200u64).map(|i| (i * 7919 % 149 * 3).to_string())), Role::Quasi);
    }

    #[test]
    fn values_overrule_names() {
        let mails = (0..50).map(|i| format!("u{i}@example.org"));
        assert_eq!(role("age", mails), Role::Identifying);
        assert_eq!(role("state_id", (0..500).map(|i| (i * 7 % 509).to_string())), Role::Identifying);
        assert_eq!(role("age", (1..=500).map(|i| i.to_string())), Role::Identifying);
        assert_eq!(role("diagnosis", (0..50).map(|i| format!("pain in the left foot {i}"))), Role::Identifying);
        assert_eq!(role("region", (0..50).map(|i| format!("village {i}x"))), Role::Identifying);
        assert_eq!(role("date of diagnosis", (0..50).map(|i| format!("{:02}.03.2024", i % 28 + 1))), Role::Quasi);
    }

    #[test]
    fn private_columns_that_single_out_are_generalized() {
        assert_eq!(role("salary", (0..300u64).map(|i| format!("{}.{:02}", 2000 + i * i % 977, i % 100))), Role::Quasi);
        assert_eq!(role("salary", (0..9000).map(|i| (20_000 + i % 200 * 10).to_string())), Role::Quasi);
        assert_eq!(role("salary", (0..300).map(|i| (20 + i % 12).to_string())), Role::Sensitive);
        assert_eq!(role("code", (0..300).map(|i| ["I21.4", "E11.9", "J45.0", "F32.1"][i % 4])), Role::Sensitive);
    }

    #[test]
    fn what_nobody_understands_is_never_released_as_it_is() {
        let patient = (0..300u64).map(|i| (10_000 + i * 48_271 % 989_999).to_string());
        assert_eq!(role("pidnum", patient.clone()), Role::Identifying);
        assert_eq!(role("zzz", patient), Role::Identifying);
        assert_eq!(role("zzz", (0..300u64).map(|i| format!("0.{}", i * 7919 % 9973))), Role::Quasi);
        assert_eq!(role("zzz", (0..300).map(|i| format!("word{}", i % 120))), Role::Identifying);
        assert_eq!(role("zzz", ["3"]), Role::Identifying);
        assert_eq!(role("wgt", (0..300u64).map(|i| (i * i % 9973).to_string())), Role::Identifying);
    }

    #[test]
    fn people_with_several_rows_are_told_apart_by_their_number() {
        assert_eq!(role("customer_id", (0..300).map(|i| (7001 + i * 13 % 60).to_string())), Role::Key);
        assert_eq!(role("hospital_id", (0..300).map(|i| (i % 6).to_string())), Role::Quasi);
        assert_eq!(role("id", (0..300).map(|i| (i * 17).to_string())), Role::Identifying);
        // Three people with a few rows each are three people.
        assert_eq!(role("patient no", (0..9).map(|i| (i / 3 + 1).to_string())), Role::Key);
        assert_eq!(role("child no", (0..900).map(|i| (i % 7 + 1).to_string())), Role::Identifying);
    }

    #[test]
    fn a_slip_among_dates_is_told_with_its_place() {
        let days = (0..40)
            .map(|i| if i == 6 { "some time".into() } else { format!("2024-{:02}-{:02}", i % 12 + 1, i % 28 + 1) });
        let column = super::super::profile::tests::column("seen", days);
        let guess = guess(&Profile::of(&column, &[]));
        assert_eq!(guess.role, Role::Identifying);
        assert!(guess.why.contains("1 value is written") && guess.why.contains("row 7 of the data"), "{}", guess.why);
        assert!(guess.why.contains("“aaaa aaaa”") && !guess.why.contains("some time"), "{}", guess.why);
    }

    #[test]
    fn small_numbers_reach_nobody() {
        assert_eq!(role("cell", (0..140).map(|i| (i % 4 + 1).to_string())), Role::Quasi);
        assert_eq!(role("phone", (0..140).map(|i| (i % 7).to_string())), Role::Quasi);
        assert_eq!(role("phone", (0..140).map(|i| (5_550_100 + i % 30).to_string())), Role::Identifying);
        assert_eq!(role("street", (0..140).map(|i| ["Elm", "Oak", "Ash"][i % 3])), Role::Identifying);
    }

    #[test]
    fn numbers_are_nobodys_words() {
        let years = |i: u64| format!("{}.{}", i * i % 19, i % 10);
        assert_eq!(role("years to last observation", (0..300).map(years)), Role::Quasi);
        assert_eq!(role("observation", (0..300).map(|i| format!("seen to limp on walk {i}"))), Role::Identifying);
    }

    #[test]
    fn numbers_that_are_names_are_not_released_as_ranges() {
        let caller = |i: u64| 49_176_000_000u64 + i * 48_271 % 999_983;
        assert_eq!(role("x", (0..600).map(|i| caller(i % 70).to_string())), Role::Identifying);
        assert_eq!(role("kto", (0..600u64).map(|i| (10_000 + i % 70 * 7919 % 80_021).to_string())), Role::Identifying);
        assert_eq!(role("x", (0..600u64).map(|i| (i * i % 17 * 500).to_string())), Role::Quasi);
        assert_eq!(role("manager", (0..200).map(|i| ["Dr. Okafor", "Xu", "Ng", "Bo", "Qi"][i % 5])), Role::Identifying);
        assert_eq!(role("members", (0..200).map(|i| (i % 6 + 1).to_string())), Role::Quasi);
        assert_eq!(role("subject", (0..300).map(|i| format!("S{:03}", i % 30))), Role::Identifying);
        assert_eq!(role("customer", (0..200).map(|i| ["new", "returning"][i % 2])), Role::Quasi);
    }

    #[test]
    fn amounts_that_few_people_have_are_generalized() {
        let amounts = |i: u64| if i.is_multiple_of(10) { 594 + i / 10 * 7919 % 60 * 191 } else { 0 };
        assert_eq!(role("zzz", (0..2000).map(|i| amounts(i).to_string())), Role::Quasi);
        // Rare numbers that are long are not amounts.
        assert_eq!(role("zzz", (0..2000).map(|i| (amounts(i) + 4_000_000_000).to_string())), Role::Identifying);
    }

    #[test]
    fn codes_of_something_private_are_kinds() {
        let codes = |i: u64| format!("d{}", i * i * 31 % 29);
        assert_eq!(role("diagnosis", (0..600).map(codes)), Role::Sensitive);
        assert_eq!(role("diagnosis", (0..600).map(|i| format!("S{:03}", i % 60))), Role::Identifying);
    }

    #[test]
    fn tiny_tables_are_not_mistaken() {
        assert_eq!(role("Diagnosejahr", (0..90).map(|i| (2010 + i % 9).to_string())), Role::Quasi);
        assert_eq!(role("age", ["34", "35", "36", "37", "38"]), Role::Quasi);
        assert_eq!(role("sex", ["f", "m"]), Role::Quasi);
        assert_eq!(role("mobile", ["yes", "no", "yes", "no"]), Role::Quasi);
        assert_eq!(role("n", ["1", "2", "3", "4", "5"]), Role::Identifying);
    }
}
