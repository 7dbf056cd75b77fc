//! A recipe that fits a column, for a policy that is written from the data.
//!
//! Whole numbers and decimals get intervals, unless they are so few that they are categories; dates get their units;
//! codes of diseases their chapters, countries their continents, codes of one length a mask, texts that begin alike
//! what they begin with. Of other values the common ones stay and the rest become one group, and where there are none
//! everything is suppressed as a whole. A suggestion is tried on the column before it is made, so it builds and covers
//! every value, and it names no value that few rows have: policies are handed over.

use jiff::civil::Date;
use rust_decimal::Decimal;

use super::builder::named::{COMMON, COUNTRIES, DATES, ICD10, INTERVALS, MASK, PREFIX, SUPPRESS};
use super::builder::prefix::stem;
use super::{Builder, Recipe, build};
use crate::parameter::Value;
use crate::table::{Column, DateOrder, ValueType, date_order, number};

/// A recipe proposed for a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// The recipe, as a policy would parse it.
    pub table: Vec<(String, Value)>,
    /// Why this one, in a few words for a comment.
    pub reason: String,
}

impl Suggestion {
    fn new(builder: &Builder, value: Value, reason: impl Into<String>) -> Self {
        Suggestion { table: vec![(builder.id.to_string(), value)], reason: reason.into() }
    }

    fn is_made_by(&self, builder: &Builder) -> bool {
        self.table.iter().any(|(key, _)| key == builder.id)
    }

    /// The recipe that fits every column: a value stays itself or is not told.
    pub fn suppress() -> Self {
        Suggestion::new(
            SUPPRESS,
            Value::Flag(true),
            "no order or structure seen: write a taxonomy or a file for better",
        )
    }

    /// The recipe as a policy writes it: `{ intervals = [5, 10, 20] }`.
    pub fn toml(&self) -> String {
        write_table(&self.table)
    }

    /// Whether it cuts numbers into intervals, between which there is nothing special about the ends.
    pub fn cuts_anywhere(&self) -> bool {
        self.is_made_by(INTERVALS)
    }

    /// Whether a value stays itself or is not told: there is nothing in between.
    pub fn tells_all_or_nothing(&self) -> bool {
        self.is_made_by(SUPPRESS)
    }

    /// Whether frequent values stay themselves and the others become one.
    pub fn keeps_frequent_values(&self) -> bool {
        self.is_made_by(COMMON)
    }

    fn fits(&self, column: &Column) -> bool {
        if self.is_made_by(MASK) {
            // Every text can be masked; trying it on millions of codes would only cost memory.
            return true;
        }
        let recipe = Recipe { table: &self.table, read: &|_| Err(String::new()), missing: &[] };
        build(&recipe, column).is_ok_and(|h| h.leaves.len() == column.dictionary.len())
    }
}

fn write_table(table: &[(String, Value)]) -> String {
    let entries: Vec<String> = table.iter().map(|(key, value)| format!("{key} = {}", write(value))).collect();
    format!("{{ {} }}", entries.join(", "))
}

/// Suggestions hold bare keys.
fn write(value: &Value) -> String {
    match value {
        Value::Number(n) => n.to_string(),
        Value::Text(t) => quoted(t),
        Value::Flag(f) => f.to_string(),
        Value::List(items) => format!("[{}]", items.iter().map(write).collect::<Vec<_>>().join(", ")),
        Value::Table(entries) => write_table(entries),
    }
}

/// A text as TOML writes it, what acts on a terminal or hides from the eye escaped.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control()
                || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}') =>
            {
                out.push_str(&format!("\\U{:08X}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Proposes a recipe for `column` that is certain to build and to cover its values.
pub fn guess(column: &Column) -> Suggestion {
    guess_counted(column, &|_| 0)
}

/// The same where it is known how many rows have a value.
pub fn guess_counted(column: &Column, rows: &dyn Fn(&str) -> u64) -> Suggestion {
    let candidates = [dates, diseases, countries, code, numbers, prefixes];
    let fitting = candidates.into_iter().filter_map(|candidate| candidate(column)).find(|s| s.fits(column));
    let grouped = || common(column, rows).filter(|s| s.fits(column));
    fitting.or_else(grouped).unwrap_or_else(Suggestion::suppress)
}

/// Whether a column's name has one of the hints in it.
fn named(column: &Column, hints: &[&str]) -> bool {
    let name = column.name.to_lowercase();
    hints.iter().any(|hint| name.contains(hint))
}

/// Codes of diseases, of several chapters or called so.
fn diseases(column: &Column) -> Option<Suggestion> {
    let letters: std::collections::BTreeSet<u8> = column.dictionary.iter().filter_map(|v| v.bytes().next()).collect();
    let pointed = column.dictionary.iter().filter(|v| v.contains('.')).count() * 3 >= column.dictionary.len();
    let likely = column.dictionary.len() >= 3 && letters.len() >= 2 && (pointed || letters.len() >= 4);
    let text = column.kind == ValueType::Text;
    (text && (likely || !column.dictionary.is_empty() && named(column, &["icd"])))
        .then(|| Suggestion::new(ICD10, Value::Flag(true), "codes of ICD-10: categories and chapters"))
}

/// Countries. Codes of two and three letters mean much else, so the name must say it.
fn countries(column: &Column) -> Option<Suggestion> {
    let hints = ["countr", "nation", "land", "citizen", "origin", "pays", "pais", "birth"];
    let short = column.dictionary.iter().any(|v| v.chars().count() <= 3 && !matches!(v, "USA" | "UK"));
    let likely = column.dictionary.len() >= if short { 3 } else { 2 } && (!short || named(column, &hints));
    (column.kind == ValueType::Text && likely)
        .then(|| Suggestion::new(COUNTRIES, Value::Flag(true), "countries, by continent"))
}

/// Texts that begin alike up to a separator.
fn prefixes(column: &Column) -> Option<Suggestion> {
    let distinct = column.dictionary.len();
    if column.kind != ValueType::Text || distinct < 6 {
        return None;
    }
    let stems = |separator: &str| {
        let stems: std::collections::BTreeSet<&str> = column.dictionary.iter().map(|v| stem(v, separator)).collect();
        stems.len()
    };
    let found = ["-", "/", ":", "_", ".", ",", "|", " "].map(|separator| (stems(separator), separator));
    let (count, separator) = found.into_iter().filter(|f| f.0 >= 2 && f.0 * 2 <= distinct).min_by_key(|f| f.0)?;
    let reason = format!("{count} beginnings before `{separator}`");
    Some(Suggestion::new(PREFIX, Value::Text(separator.into()), reason))
}

/// Rows that a value must have at the least to be called common.
const COMMON_ROWS: u64 = 20;

/// The most values that are called common.
const MOST_COMMON: usize = 40;

/// The values that at least one row in a hundred has, where the others are several and have no more rows than they.
fn common(column: &Column, rows: &dyn Fn(&str) -> u64) -> Option<Suggestion> {
    let all: u64 = column.dictionary.iter().map(rows).sum();
    let mut kept: Vec<(&str, u64)> = column.dictionary.iter().map(|v| (v, rows(v))).collect();
    kept.retain(|k| k.1 >= COMMON_ROWS && k.1 * 100 >= all);
    kept.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    kept.truncate(MOST_COMMON);
    let held: u64 = kept.iter().map(|k| k.1).sum();
    if kept.len() < 2 || column.dictionary.len() < kept.len() + 2 || held * 2 < all {
        return None;
    }
    let values = kept.iter().map(|k| Value::Text(k.0.to_string())).collect();
    let others = ["other", "others", "other values"].into_iter().find(|name| kept.iter().all(|k| k.0 != *name))?;
    let reason =
        format!("no order or structure seen; the {} values that many rows have stay, the rest become one", kept.len());
    let mut suggestion = Suggestion::new(COMMON, Value::List(values), reason);
    if others != "other" {
        suggestion.table.push(("others".to_string(), Value::Text(others.to_string())));
    }
    Some(suggestion)
}

/// With at most this many whole numbers close together, a column holds categories.
const FEW: usize = 12;

/// Parts of names that speak of quantities.
const QUANTITIES: [&str; 8] = ["year", "jahr", "number", "children", "income", "size", "hours", "months"];

/// Whole words that do: as parts they are in languages, stages, countries and alternatives.
const QUANTITY_WORDS: [&str; 7] = ["age", "ages", "agep", "alter", "born", "count", "counts"];

/// Whether a column's name has one of the words in it, between other signs or capitals.
fn worded(column: &Column, words: &[&str]) -> bool {
    let mut word = String::new();
    let mut found = false;
    for c in column.name.chars().chain([' ']) {
        let capital = c.is_uppercase() && word.ends_with(char::is_lowercase);
        if capital || !c.is_alphabetic() {
            found |= words.contains(&word.to_lowercase().as_str());
            word.clear();
        }
        if c.is_alphabetic() {
            word.push(c);
        }
    }
    found
}

/// Whether so few whole numbers lie so close together that they are codes of something: 1 to 9 for a race, say. Names
/// that speak of quantities are believed.
fn categories(column: &Column, low: Decimal, high: Decimal) -> bool {
    let quantity = named(column, &QUANTITIES) || worded(column, &QUANTITY_WORDS);
    let distinct = column.dictionary.len();
    let close = high.checked_sub(low).is_some_and(|range| range <= Decimal::from(2 * distinct + 3));
    let small = low >= Decimal::ZERO && high < Decimal::from(100);
    column.kind == ValueType::Integer && distinct <= FEW && close && small && !quantity
}

/// Codes of one length that look like codes, such as postcodes.
fn code(column: &Column) -> Option<Suggestion> {
    let length = column.dictionary.iter().next()?.len();
    let shaped = |value: &str| value.len() == length && value.bytes().all(|b| b.is_ascii_alphanumeric());
    if length < 4 || column.dictionary.len() < 10 || !column.dictionary.iter().all(shaped) {
        return None;
    }
    let is_code = match column.kind {
        // A year has four digits and is a number; a postcode begins with zero, or says so.
        ValueType::Integer => {
            let name = column.name.to_lowercase();
            let named = ["zip", "post", "plz", "code"].iter().any(|hint| name.contains(hint));
            named || column.dictionary.iter().any(|v| v.starts_with('0'))
        }
        ValueType::Text => column.dictionary.iter().all(|v| v.bytes().any(|b| b.is_ascii_digit())),
        ValueType::Decimal | ValueType::Date => false,
    };
    if is_code { guess_code(column) } else { None }
}

/// Proposes a mask for a column that is known to hold codes, of one length or nearly.
pub fn guess_code(column: &Column) -> Option<Suggestion> {
    let lengths = || column.dictionary.iter().map(|v| v.chars().count());
    let (shortest, longest) = (lengths().min()?, lengths().max()?);
    let shaped = |value: &str| value.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, ' ' | '-' | '.'));
    if !(2..=12).contains(&longest) || longest - shortest > 4 || !column.dictionary.iter().all(shaped) {
        return None;
    }
    let whole = |n: usize| Value::Number((n as u64).into());
    let mut options = vec![("length".to_string(), whole(longest)), ("from".to_string(), Value::Text("right".into()))];
    let mut reason = format!("codes of {longest} characters");
    let merging = merging(column, longest);
    if merging.len() + 1 < longest {
        options.push(("masked".to_string(), Value::List(merging.into_iter().map(whole).collect())));
        reason.push_str("; masking fewer, or others, merges next to nothing in this table");
    }
    Some(Suggestion::new(MASK, Value::Table(options), reason))
}

/// More codes than this are not counted: of so many, every character masked merges some.
const MANY_CODES: usize = 100_000;

/// The numbers of characters which, masked from the right, merge at least a quarter of what is still apart. A level
/// that merges nothing only makes those above it seem to lose more than they do; in a small table most are of that
/// kind.
fn merging(column: &Column, longest: usize) -> Vec<usize> {
    let all = || (1..longest).collect();
    if column.dictionary.len() > MANY_CODES {
        return all();
    }
    let mut apart = column.dictionary.len();
    let mut kept = Vec::new();
    for masked in 1..longest {
        let beginning = |v: &str| v.chars().take(longest - masked).collect::<String>();
        let groups = column.dictionary.iter().map(beginning).collect::<std::collections::HashSet<_>>().len();
        if groups * 4 <= apart * 3 {
            (apart, kept) = (groups, [kept, vec![masked]].concat());
        }
    }
    if kept.is_empty() { all() } else { kept }
}

/// Three nice nested widths: about twenty intervals at the first level, then fewer.
fn numbers(column: &Column) -> Option<Suggestion> {
    if !matches!(column.kind, ValueType::Integer | ValueType::Decimal) || column.dictionary.len() < 3 {
        return None;
    }
    let numbers = column.dictionary.iter().map(number).collect::<Option<Vec<_>>>()?;
    let (low, high) = (numbers.iter().min()?, numbers.iter().max()?);
    if categories(column, *low, *high) {
        return None;
    }
    let range = high.checked_sub(*low)?;
    let finest = range.checked_div(Decimal::from(20))?;
    let mut step = (Decimal::new(1, 20), 1);
    while step.0 < finest {
        let (factor, next) = match step.1 {
            1 => (Decimal::TWO, 2),
            2 => (Decimal::new(25, 1), 5),
            _ => (Decimal::TWO, 1),
        };
        step = (step.0.checked_mul(factor)?.normalize(), next);
    }
    // 1, 5, 10 · 2, 10, 20 · 5, 10, 20, each at its power of ten.
    let factors = match step.1 {
        1 => [1, 5, 10],
        2 => [1, 5, 10],
        _ => [1, 2, 4],
    };
    let mut widths = Vec::new();
    for factor in factors {
        let width = step.0.checked_mul(Decimal::from(factor))?.normalize();
        // Whole numbers in intervals of one or less would stay what they are; an interval as wide as all is the top.
        let idle = column.kind == ValueType::Integer && (width <= Decimal::ONE || !width.is_integer());
        if !idle && width < range {
            widths.push(Value::Number(width.to_string().parse().ok()?));
        }
    }
    if widths.is_empty() {
        return None;
    }
    // The least and the greatest value are somebody's, and policies are handed over.
    let down = low.checked_div(step.0)?.floor().checked_mul(step.0)?;
    let up = high.checked_div(step.0)?.ceil().checked_mul(step.0)?;
    let reason = format!("numbers from {} to {}", down.normalize(), up.normalize());
    let mut suggestion = Suggestion::new(INTERVALS, Value::List(widths), reason);
    // Ranges have one digit more than the widths; where the values have a few more still, the ends show as many.
    let digits = numbers.iter().map(|n| n.normalize().scale()).max()?;
    let own = step.0.normalize().scale();
    if column.kind == ValueType::Decimal && (own + 2..=own + MORE_DIGITS).contains(&digits) {
        suggestion.table.push(("digits".to_string(), Value::Number(u64::from(digits).into())));
    }
    Some(suggestion)
}

/// Digits beyond those of the widths that ends of ranges show; values with more of them were computed, not measured.
const MORE_DIGITS: u32 = 3;

/// Years up to which quarters are told apart: over more of them a year is coarse enough.
const QUARTERS: i16 = 3;

/// The units that tell the dates of the column apart, then the one that holds all of them, where there is one: the year
/// says more than `*`, and no more of anybody than of all. And the order in which they are written.
fn dates(column: &Column) -> Option<Suggestion> {
    let order = match column.kind {
        ValueType::Date => DateOrder::YearMonthDay,
        ValueType::Text | ValueType::Integer => date_order(column.dictionary.iter())?,
        ValueType::Decimal => return None,
    };
    let read = |v: &str| if column.kind == ValueType::Date { v.trim().parse().ok() } else { order.read(v) };
    let dates = column.dictionary.iter().map(read).collect::<Option<Vec<Date>>>()?;
    let (first, last) = (dates.iter().min()?, dates.iter().max()?);
    let (a, b) = (first.year(), last.year());
    let quarter = |date: &Date| (date.month() - 1) / 3;
    let parted = [
        ("day", first != last && column.dictionary.iter().any(DateOrder::has_time)),
        ("month", (a, first.month()) != (b, last.month())),
        ("quarter", b - a < QUARTERS && (a, quarter(first)) != (b, quarter(last))),
        ("year", a != b),
        ("decade", a.div_euclid(10) != b.div_euclid(10)),
    ];
    let whole = match parted {
        [.., ("decade", true)] => None,
        [.., ("year", true), _] => Some("decade"),
        [_, ("month", true), ..] => Some("year"),
        _ => Some("month"),
    };
    let units = parted.iter().filter(|(_, parted)| *parted).map(|(unit, _)| *unit).chain(whole);
    let units: Vec<Value> = units.map(|unit| Value::Text(unit.to_string())).collect();
    let reason = if a == b { format!("dates of {a}") } else { format!("dates from {a} to {b}") };
    let mut suggestion = Suggestion::new(DATES, Value::List(units), reason);
    if column.kind != ValueType::Date {
        suggestion.table.push(("written".to_string(), Value::Text(order.name().to_string())));
    }
    Some(suggestion)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::Generalization;

    fn toml<S: AsRef<str>>(name: &str, values: impl IntoIterator<Item = S>) -> String {
        let values: Vec<S> = values.into_iter().collect();
        let column = Column::from_values(name, values.iter().map(AsRef::as_ref));
        let suggestion = guess(&column);
        let recipe = Recipe { table: &suggestion.table, read: &|_| Err(String::new()), missing: &[] };
        assert!(Generalization::bind(&column, Some(&build(&recipe, &column).unwrap())).is_ok());
        suggestion.toml()
    }

    #[test]
    fn numbers_get_nice_widths() {
        assert_eq!(toml("age", (17..=90).map(|i| i.to_string())), "{ intervals = [5, 10, 20] }");
        assert_eq!(toml("children", (0..=15).map(|i| i.to_string())), "{ intervals = [5, 10] }");
        assert_eq!(toml("born", (1920..=2010).map(|i| i.to_string())), "{ intervals = [5, 10, 20] }");
        assert_eq!(toml("pay", (0..100).map(|i| (i * 1234).to_string())), "{ intervals = [10000, 50000, 100000] }");
        assert_eq!(toml("bmi", (150..400).map(|i| format!("{}.{}", i / 10, i % 10))), "{ intervals = [2, 10, 20] }");
        assert_eq!(toml("flag", ["0", "1"]), "{ suppress = true }");
        let pounds = (150..400).map(|i| format!("{}.{:02}", i * 7, i % 89));
        assert_eq!(toml("paid", pounds), "{ intervals = [100, 500, 1000], digits = 2 }");
        let computed = (150..400).map(|i| format!("{}.{:09}", i * 7, i * 1_234_567));
        assert_eq!(toml("paid", computed), "{ intervals = [100, 500, 1000] }");
    }

    #[test]
    fn codes_get_masks() {
        let zips = (0..5000).map(|i| format!("{:05}", i * 7));
        assert_eq!(toml("zip", zips), "{ mask = { length = 5, from = \"right\" } }");
        // Levels that merge next to nothing are left out: in one region all codes begin with the same two digits.
        let zips = (0..100).map(|i| format!("{:05}", 43000 + i * 7));
        assert_eq!(toml("zip", zips), "{ mask = { length = 5, from = \"right\", masked = [1, 2, 3] } }");
        // Of few codes from anywhere only the first digit puts some together.
        let zips = (0..60u64).map(|i| format!("{:05}", 10_000 + i * 7_919 * 7_919 % 89_989));
        assert_eq!(toml("zip", zips), "{ mask = { length = 5, from = \"right\", masked = [4] } }");
        let codes = (0..20).map(|i| format!("AB{i:02}"));
        assert_eq!(toml("ward", codes), "{ mask = { length = 4, from = \"right\", masked = [1, 2] } }");
    }

    #[test]
    fn dates_get_the_units_they_span_and_the_one_that_holds_them() {
        let units = |units: &[&str]| {
            let quoted: Vec<String> = units.iter().map(|unit| format!("\"{unit}\"")).collect();
            format!("{{ dates = [{}]", quoted.join(", "))
        };
        let plain = |list: &[&str]| units(list) + " }";
        assert_eq!(toml("born", ["1980-01-01", "2001-05-05"]), plain(&["month", "year", "decade"]));
        assert_eq!(toml("seen", ["2024-01-01", "2024-05-05"]), plain(&["month", "quarter", "year"]));
        assert_eq!(toml("seen", ["2024-01-01", "2024-03-05"]), plain(&["month", "year"]));
        assert_eq!(toml("seen", ["2024-01-01", "2024-01-05"]), plain(&["month"]));
        assert_eq!(toml("seen", ["2024-01-01 10:00", "2024-01-05 11:30"]), plain(&["day", "month"]));
        assert_eq!(toml("hired", ["2020-01-01", "2024-01-05"]), plain(&["month", "year", "decade"]));
        let near = units(&["month", "quarter", "year", "decade"]);
        assert_eq!(toml("seen", ["05.03.2024", "24.12.2023"]), format!("{near}, written = \"d-m-y\" }}"));
        assert_eq!(toml("seen", ["20240305", "20231224"]), format!("{near}, written = \"y-m-d\" }}"));
    }

    #[test]
    fn few_whole_numbers_are_categories() {
        assert_eq!(toml("race", (1..=9).map(|i| i.to_string())), "{ suppress = true }");
        assert_eq!(toml("grade", (0..=6).map(|i| i.to_string())), "{ suppress = true }");
        for codes in ["stage", "languageCode", "country", "Village", "alternative"] {
            assert_eq!(toml(codes, (1..=4).map(|i| i.to_string())), "{ suppress = true }", "{codes}");
        }
        for numbers in ["age", "patientAge", "AGE", "age_at_onset", "Kinder (Alter)", "household_size"] {
            assert_eq!(toml(numbers, (1..=12).map(|i| i.to_string())), "{ intervals = [5, 10] }", "{numbers}");
        }
        // Ages of a small table, and counts, are numbers.
        assert_eq!(toml("years", (20..=30).map(|i| i.to_string())), "{ intervals = [2] }");
        assert_eq!(toml("x", ["21", "35", "47", "52", "60", "88"]), "{ intervals = [5, 10, 20] }");
    }

    #[test]
    fn structure_is_seen() {
        assert_eq!(toml("diagnosis", ["I21.4", "E11.9", "J45", "F32.1"]), "{ icd10 = true }");
        assert_eq!(toml("native-country", ["Germany", "Mexico", "United-States", "Cuba"]), "{ countries = true }");
        assert_eq!(toml("nationality", ["DE", "FR", "PL"]), "{ countries = true }");
        assert_eq!(toml("state", ["CA", "DE", "IN"]), "{ suppress = true }");
        let jobs = ["Clerk-senior", "Clerk-junior", "Nurse-day", "Nurse-night", "Cook-first", "Cook-second"];
        assert_eq!(toml("job", jobs), "{ prefix = \"-\" }");
    }

    #[test]
    fn common_values_stay_and_rare_ones_are_not_named() {
        let column = Column::from_values("town", ["Ulm", "Bonn", "\"Aue\"", "Goch", "Soest"]);
        let rows = |v: &str| if v == "Ulm" || v == "\"Aue\"" { 300 } else { 3 };
        let found = guess_counted(&column, &rows);
        assert_eq!(found.toml(), "{ common = [\"\\\"Aue\\\"\", \"Ulm\"] }");
        // Nothing is common enough.
        assert_eq!(guess_counted(&column, &|_| 10).toml(), "{ suppress = true }");
    }

    #[test]
    fn words_are_suppressed() {
        assert_eq!(toml("sex", ["F", "M"]), "{ suppress = true }");
        assert_eq!(toml("none", Vec::<&str>::new()), "{ suppress = true }");
    }
}
