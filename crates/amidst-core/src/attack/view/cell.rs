//! What a published cell may mean, read from its label alone.
//!
//! An adversary has no hierarchy at hand, only the text: a value; `*`; a range `[20-29]`, `(25-26)`, `[0.1, 0.2[` or
//! `20-29` of numbers or dates; a set `{a,b}` with backslash escapes; masked text `14**`; a comparison `<30`, `>=40`; a
//! part of the calendar `2020-05`, `2020-Q2`, `2020-W07`, `2020`, `2020s`. Labels that say nothing by themselves
//! (`America`) are read with the help of [`Covers`]. A label can have several readings; it may mean any of them.

mod values;

use std::str::FromStr;

use jiff::civil::{Date, ISOWeekDate, Weekday};
use rust_decimal::Decimal;

use super::external::Covers;
use crate::table::number;

pub(in crate::attack) use values::{Runs, Values};

/// A label with all its readings.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    readings: Vec<Reading>,
}

/// A place on the line of numbers or of days.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
enum Point {
    Number(Decimal),
    Day(Date),
}

/// One value, with its place on the line where it has one.
type Value = (String, Option<Point>);

/// An end of a range, and whether it belongs to the range.
type End = Option<(Point, bool)>;

#[derive(Debug, Clone, PartialEq)]
enum Reading {
    Any,
    Exact(Value),
    Range {
        low: End,
        high: End,
    },
    Set(Vec<Value>),
    /// One character a place; `None` is masked.
    Mask(Vec<Option<char>>),
}

impl Cell {
    /// Reads a label; `covers` tells what hierarchy labels mean, where it is known.
    pub fn parse(label: &str, covers: Option<&Covers>) -> Cell {
        let label = label.trim();
        if label == "*" {
            return Cell { readings: vec![Reading::Any] };
        }
        let mut readings = vec![Reading::Exact(value(label))];
        if let Some(values) = covers.and_then(|c| c.get(label)) {
            readings.push(Reading::Set(values.iter().map(|v| value(v)).collect()));
        }
        readings.extend(comparison(label).or_else(|| range(label)).or_else(|| set(label)).or_else(|| calendar(label)));
        if label.contains('*') {
            // A text of stars alone hides as many characters, which may be any.
            readings.push(Reading::Mask(label.chars().map(|c| (c != '*').then_some(c)).collect()));
        }
        Cell { readings }
    }

    /// Whether some value fits both cells. For the cell of a plain value: whether the other covers it.
    pub fn meets(&self, other: &Cell) -> bool {
        self.readings.iter().any(|a| other.readings.iter().any(|b| a.meets(b)))
    }
}

impl Reading {
    fn meets(&self, other: &Reading) -> bool {
        use Reading::{Any, Exact, Mask, Range, Set};
        match (self, other) {
            (Any, _) | (_, Any) => true,
            (Exact(a), Exact(b)) => same(a, b),
            (Exact(v), Range { low, high }) | (Range { low, high }, Exact(v)) => within(v.1, low, high),
            (Exact(v), Set(members)) | (Set(members), Exact(v)) => members.iter().any(|m| same(m, v)),
            (Exact(v), Mask(mask)) | (Mask(mask), Exact(v)) => fits(&v.0, mask),
            (Range { low, high }, Range { low: l, high: h }) => {
                alike(&[low, high, l, h]) && reaches(low, h) && reaches(l, high)
            }
            (Range { low, high }, Set(members)) | (Set(members), Range { low, high }) => {
                members.iter().any(|m| within(m.1, low, high))
            }
            (range @ Range { .. }, Mask(mask)) | (Mask(mask), range @ Range { .. }) => {
                // Masked digits lie between all zeros and all nines.
                let filled = |digit: char| value(&mask.iter().map(|c| c.unwrap_or(digit)).collect::<String>()).1;
                let end = |digit: char| filled(digit).map(|point| (point, true));
                let (low, high) = (end('0'), end('9'));
                low.is_some() && high.is_some() && range.meets(&Range { low, high })
            }
            (Set(a), Set(b)) => a.iter().any(|x| b.iter().any(|y| same(x, y))),
            (Set(members), Mask(mask)) | (Mask(mask), Set(members)) => members.iter().any(|m| fits(&m.0, mask)),
            (Mask(a), Mask(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.is_none() || y.is_none() || x == y)
            }
        }
    }
}

fn same(a: &Value, b: &Value) -> bool {
    a.0 == b.0 || (a.1.is_some() && a.1 == b.1)
}

fn fits(text: &str, mask: &[Option<char>]) -> bool {
    let mut places = mask.iter();
    text.chars().all(|c| places.next().is_some_and(|place| place.is_none_or(|m| m == c))) && places.next().is_none()
}

/// Whether the low end `low` does not lie beyond the high end `high`.
fn reaches(low: &End, high: &End) -> bool {
    match (low, high) {
        (Some((l, l_in)), Some((h, h_in))) => l < h || (l == h && *l_in && *h_in),
        _ => true,
    }
}

fn within(point: Option<Point>, low: &End, high: &End) -> bool {
    let Some(point) = point else { return false };
    let here = Some((point, true));
    alike(&[low, high, &here]) && reaches(low, &here) && reaches(&here, high)
}

/// Whether the ends are all numbers or all days.
fn alike(ends: &[&End]) -> bool {
    let mut kinds = ends.iter().copied().flatten().map(|(point, _)| std::mem::discriminant(point));
    let first = kinds.next();
    kinds.all(|kind| Some(kind) == first)
}

fn point(text: &str) -> Option<Point> {
    let text = text.trim();
    number(text).map(Point::Number).or_else(|| Date::from_str(text).ok().map(Point::Day))
}

fn value(text: &str) -> Value {
    (text.to_string(), point(text))
}

fn comparison(label: &str) -> Option<Reading> {
    let signs = [("<=", false, true), (">=", true, true), ("≤", false, true), ("≥", true, true)];
    let signs = signs.into_iter().chain([("<", false, false), (">", true, false)]);
    for (sign, from, included) in signs {
        if let Some(rest) = label.strip_prefix(sign) {
            let end = Some((point(rest)?, included));
            let (low, high) = if from { (end, None) } else { (None, end) };
            return Some(Reading::Range { low, high });
        }
    }
    None
}

fn range(label: &str) -> Option<Reading> {
    let opened = label.strip_prefix(['[', '(', ']']);
    let inner = opened.and_then(|rest| rest.strip_suffix([']', ')', '[']));
    if let Some(inner) = inner
        && let Some((low, high)) = inner.split_once([',', ';'])
    {
        // Written with a comma the brackets tell which ends belong to it, in either of the two usual ways.
        return ends(point(low)?, label.starts_with('['), point(high)?, label.ends_with(']'));
    }
    // A hyphen also stands in dates and before negative numbers: any that leaves a point on both sides will do. What
    // bears no brackets must be two plain numbers, since many names contain a hyphen.
    let text = inner.unwrap_or(label);
    let splits = text.char_indices().filter(|&(at, c)| at > 0 && (c == '-' || c == '–'));
    for (at, c) in splits {
        let (low, high) = (&text[..at], &text[at + c.len_utf8()..]);
        let plain = |side: &str| side.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        if inner.is_none() && !(plain(low) && plain(high)) {
            continue;
        }
        if let (Some(from), Some(to)) = (point(low), point(high))
            && from <= to
        {
            return ends_rounded_down((low, from), (high, to)).or_else(|| ends(from, true, to, true));
        }
    }
    None
}

/// A range of decimals, both ends with this number of digits: it holds what is between them when rounded down to as
/// many, so `[60.0-79.9]` ends before 80.
fn ends_rounded_down((low, from): (&str, Point), (high, to): (&str, Point)) -> Option<Reading> {
    let digits = |text: &str| text.split_once('.').and_then(|(_, fraction)| u32::try_from(fraction.len()).ok());
    let digits =
        digits(low).filter(|count| digits(high) == Some(*count) && (1..=Decimal::MAX_SCALE).contains(count))?;
    match to {
        Point::Number(to) => ends(from, true, Point::Number(to.checked_add(Decimal::new(1, digits))?), false),
        Point::Day(_) => None,
    }
}

fn ends(low: Point, low_in: bool, high: Point, high_in: bool) -> Option<Reading> {
    // Points of two kinds do not compare.
    (low <= high).then_some(Reading::Range { low: Some((low, low_in)), high: Some((high, high_in)) })
}

fn set(label: &str) -> Option<Reading> {
    let inner = label.strip_prefix('{')?.strip_suffix('}')?;
    let mut members = vec![String::new()];
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => members.last_mut()?.extend(chars.next()),
            ',' => members.push(String::new()),
            c => members.last_mut()?.push(c),
        }
    }
    Some(Reading::Set(members.iter().map(|m| value(m)).collect()))
}

/// Weeks, months, quarters, years and decades, as the days they hold.
fn calendar(label: &str) -> Option<Reading> {
    let digits = |text: &str, many: usize| text.len() == many && text.bytes().all(|b| b.is_ascii_digit());
    let (year, rest) = (label.get(..4).filter(|y| digits(y, 4))?, label.get(4..)?);
    let first: i16 = year.parse().ok()?;
    let month = |year: i16, month: i8| Date::new(year, month, 1).ok();
    let last = |of: Date| of.last_of_month();
    let (low, high) = match rest {
        "" => (month(first, 1)?, last(month(first, 12)?)),
        "s" => (month(first, 1)?, last(month(first.checked_add(9)?, 12)?)),
        _ => {
            let part = rest.strip_prefix('-')?;
            if let Some(quarter) = part.strip_prefix('Q').filter(|q| digits(q, 1)) {
                let start = quarter.parse::<i8>().ok()?.checked_sub(1)?.checked_mul(3)?.checked_add(1)?;
                (month(first, start)?, last(month(first, start.checked_add(2)?)?))
            } else if let Some(week) = part.strip_prefix('W').filter(|w| digits(w, 2)) {
                let day = |weekday| Some(ISOWeekDate::new(first, week.parse().ok()?, weekday).ok()?.date());
                (day(Weekday::Monday)?, day(Weekday::Sunday)?)
            } else if digits(part, 2) {
                let start = month(first, part.parse().ok()?)?;
                (start, last(start))
            } else {
                return None;
            }
        }
    };
    Some(Reading::Range { low: Some((Point::Day(low), true)), high: Some((Point::Day(high), true)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meets(a: &str, b: &str) -> bool {
        let (x, y) = (Cell::parse(a, None), Cell::parse(b, None));
        assert_eq!(x.meets(&y), y.meets(&x), "{a} and {b}");
        x.meets(&y)
    }

    #[test]
    fn labels_cover_the_values_they_were_made_from() {
        for (label, inside, outside) in [
            ("[20-29]", vec!["20", "25", "29"], vec!["19", "30", "x", "2020-01-01"]),
            ("(25-26)", vec!["25", "26"], vec!["24", "27"]),
            ("20-29", vec!["20", "29"], vec!["30"]),
            ("[-5--1]", vec!["-5", "-1"], vec!["-6", "0"]),
            ("[0.1, 0.2[", vec!["0.1", "0.15"], vec!["0.2", "0.09"]),
            ("[60.0-79.9]", vec!["60", "79.9", "79.95"], vec!["80", "59.99"]),
            ("[-20.00--10.01]", vec!["-20", "-10.005"], vec!["-10", "-20.001"]),
            ("[43.5-50.25]", vec!["43.5", "50.25"], vec!["50.251"]),
            ("(1, 2]", vec!["2"], vec!["1"]),
            ("[2020-01-15-2020-03-01]", vec!["2020-01-15", "2020-02-29"], vec!["2020-03-02", "2020"]),
            ("<=40", vec!["40", "-3"], vec!["41", "forty"]),
            (">=40", vec!["40"], vec!["39"]),
            ("<30", vec!["29.9"], vec!["30"]),
            (">40", vec!["41"], vec!["40"]),
            ("3*", vec!["30", "39"], vec!["3", "300", "40"]),
            ("142**", vec!["14248"], vec!["14148", "1424"]),
            ("**248", vec!["14248"], vec!["14249"]),
            ("{a,b}", vec!["a", "b"], vec!["c", "a,b"]),
            (r"{a\,b,c\}\\}", vec!["a,b", r"c}\"], vec!["a", "b"]),
            ("2020-05", vec!["2020-05-01", "2020-05-31"], vec!["2020-06-01"]),
            ("2020-Q2", vec!["2020-04-01", "2020-06-30"], vec!["2020-07-01"]),
            ("2020-W07", vec!["2020-02-10", "2020-02-16"], vec!["2020-02-17"]),
            ("2020s", vec!["2029-12-31"], vec!["2030-01-01"]),
            ("2020", vec!["2020", "2020-07-07"], vec!["2021-01-01"]),
            ("*", vec!["anything", ""], vec![]),
            ("1.50", vec!["1.5"], vec!["1.51"]),
            ("Jean-Luc", vec!["Jean-Luc"], vec!["Jean"]),
        ] {
            for value in inside {
                assert!(meets(label, value), "{label} should cover {value}");
            }
            for value in outside {
                // A plain year covers its dates, and so meets ranges of them.
                assert!(value == "2020" || !meets(label, value), "{label} should not cover {value}");
            }
        }
    }

    #[test]
    fn generalized_cells_meet_where_they_overlap() {
        for (a, b, expected) in [
            ("[20-29]", "[29-40]", true),
            ("[20-29]", "[30-40]", false),
            ("[0, 1[", "[1, 2[", false),
            ("[0.0-0.9]", "[1.0-1.9]", false),
            ("<30", ">=30", false),
            ("<=30", ">=30", true),
            ("3*", "[35-50]", true),
            ("3*", ">=40", false),
            ("14***", "142**", true),
            ("13***", "142**", false),
            ("{a,b}", "{b,c}", true),
            ("{1,5}", "[6-9]", false),
            ("{14248}", "142**", true),
            // A number that may be a year is still no day beyond a number.
            ("1000", ">5000", false),
            ("1000", ">0999-12-31", true),
        ] {
            assert_eq!(meets(a, b), expected, "{a} and {b}");
        }
    }

    #[test]
    fn a_hierarchy_label_needs_help() {
        let mut covers = Covers::default();
        covers.add("America", "USA");
        let usa = Cell::parse("USA", None);
        assert!(!Cell::parse("America", None).meets(&usa));
        assert!(Cell::parse("America", Some(&covers)).meets(&usa));
        assert!(!Cell::parse("America", Some(&covers)).meets(&Cell::parse("India", None)));
    }

    #[test]
    fn broken_labels_are_plain_text() {
        for label in ["[", "{", "}", "[-]", "<", "-", "[5-1]", "{a\\", "2020-Q9", "2020-W60", "2020-13", "[a-b]"] {
            assert!(meets(label, label), "{label}");
            assert!(!meets(label, "3"), "{label}");
        }
    }
}
