//! A round number or day in the middle of a class, where no value of the class is shared by enough rows to be
//! published.
//!
//! Exact amounts and days are mostly one person's, so a class of them has no value that may stand for it. What stands
//! for it then is a multiple of a round step near its median, between its least and its greatest value: a number stays
//! a number, and a day a day. A value that some rows of the table have, but too few, is never taken.

use amidst_core::table::{ValueType, number};
use rust_decimal::Decimal;
use rustc_hash::FxHashMap;

use super::rounded::step;

/// A class is about this many steps wide.
const STEPS: i64 = 4;

/// Multiples that are tried for one step, and steps that are tried, each finer than the one before.
const TRIES: i64 = 32;
const FINER: usize = 3;

/// The values of a column, with the rows that have them, as far as they are numbers or days.
pub(super) enum Values {
    /// Numbers; whether all are whole.
    Numbers(FxHashMap<Decimal, u64>, bool),
    /// Days as year-month-day.
    Days(FxHashMap<Day, u64>),
}

/// A day; days compare as dates do.
pub(super) type Day = (i32, u32, u32);

impl Values {
    /// The values of a column of some type; nothing for texts.
    pub fn of<'a>(kind: ValueType, values: impl Iterator<Item = (&'a str, u64)>) -> Option<Values> {
        match kind {
            ValueType::Integer | ValueType::Decimal => {
                let numbers = values.filter_map(|(value, rows)| Some((number(value)?.normalize(), rows)));
                Some(Values::Numbers(added_up(numbers), kind == ValueType::Integer))
            }
            ValueType::Date => Some(Values::Days(added_up(values.filter_map(|(v, rows)| Some((day(v)?, rows)))))),
            ValueType::Text => None,
        }
    }

    /// A round value for a class whose members have `class`, which is none that fewer than `least` rows have.
    pub fn middle<'a>(&self, class: impl Iterator<Item = (&'a str, u64)>, least: u64) -> Option<String> {
        match self {
            Values::Numbers(rows, whole) => {
                let class = class.filter_map(|(value, rows)| Some((number(value)?, rows)));
                let free = |n: &Decimal| rows.get(&n.normalize()).is_none_or(|&rows| rows >= least);
                Some(middle_number(Ends::of(class)?, *whole, free)?.normalize().to_string())
            }
            Values::Days(rows) => {
                let class = class.filter_map(|(value, rows)| Some((day(value)?, rows)));
                let free = |day: &Day| rows.get(day).is_none_or(|&rows| rows >= least);
                let (year, month, day) = middle_day(Ends::of(class)?, free)?;
                Some(format!("{year:04}-{month:02}-{day:02}"))
            }
        }
    }
}

fn added_up<T: std::hash::Hash + Eq>(values: impl Iterator<Item = (T, u64)>) -> FxHashMap<T, u64> {
    let mut all = FxHashMap::default();
    values.for_each(|(value, rows)| *all.entry(value).or_default() += rows);
    all
}

/// The least value of a class, its median, and the greatest one.
#[derive(Clone, Copy)]
struct Ends<T> {
    low: T,
    median: T,
    high: T,
}

impl<T: Ord + Copy> Ends<T> {
    fn of(values: impl Iterator<Item = (T, u64)>) -> Option<Self> {
        let mut values: Vec<(T, u64)> = values.collect();
        values.sort_unstable();
        let rows: u64 = values.iter().map(|v| v.1).sum();
        let mut below = 0;
        let median = values.iter().find(|v| {
            below += v.1;
            below * 2 >= rows
        })?;
        Some(Ends { low: values.first()?.0, median: median.0, high: values.last()?.0 })
    }
}

/// The multiple of a round step nearest to the median that is free, from the least to the greatest value.
fn middle_number(ends: Ends<Decimal>, whole: bool, free: impl Fn(&Decimal) -> bool) -> Option<Decimal> {
    let Ends { low, median, high } = ends;
    let mut width = high.checked_sub(low)?.checked_div(STEPS.into())?;
    for _ in 0..FINER {
        let step = step(width)?;
        let step = if whole { step.max(Decimal::ONE) } else { step };
        let nearest = median.checked_div(step)?.round().checked_mul(step)?;
        for distance in 0..TRIES {
            for away in [distance, -distance] {
                let tried = step.checked_mul(away.into()).and_then(|away| nearest.checked_add(away))?;
                if low <= tried && tried <= high && free(&tried) {
                    return Some(tried);
                }
            }
        }
        width = step.checked_div(Decimal::TEN)?;
    }
    None
}

/// The first day of a year, of a month, or any day, whichever the class has several of, nearest to the median and free.
fn middle_day(ends: Ends<Day>, free: impl Fn(&Day) -> bool) -> Option<Day> {
    let Ends { low, median, high } = ends;
    let months = || (low.0..=high.0).flat_map(|year| (1..=12).map(move |month| (year, month)));
    let units: [Vec<Day>; 3] = [
        (low.0..=high.0).map(|year| (year, 1, 1)).collect(),
        months().map(|(year, month)| (year, month, 1)).collect(),
        // Every month has these days.
        match high.0 - low.0 {
            0..=1 => months().flat_map(|(year, month)| (1..=28).map(move |day| (year, month, day))).collect(),
            _ => Vec::new(),
        },
    ];
    // Exact enough to tell which of two days is nearer.
    let number = |(year, month, day): Day| i64::from(year) * 372 + i64::from(month) * 31 + i64::from(day);
    let inside = |days: &[Day]| -> Vec<Day> { days.iter().copied().filter(|day| (low..=high).contains(day)).collect() };
    units.iter().enumerate().find_map(|(i, unit)| {
        let inside = inside(unit);
        let several = inside.len() as i64 > STEPS || i + 1 == units.len();
        let free = inside.into_iter().filter(|day| several && free(day));
        free.min_by_key(|&day| ((number(day) - number(median)).abs(), day))
    })
}

/// A day that is written year-month-day.
fn day(text: &str) -> Option<Day> {
    let mut parts = text.splitn(3, '-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    (year.len() == 4 && month.len() == 2 && day.len() == 2)
        .then(|| Some((year.parse().ok()?, month.parse().ok()?, day.parse().ok()?)))
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The middle of a class of `class`, one row each, in a table that has `others` as well.
    fn middle(kind: ValueType, class: &[&str], others: &[&str], least: u64) -> Option<String> {
        let ones = |values: &[&'static str]| values.iter().map(|v| (*v, 1)).collect::<Vec<_>>();
        let leak = |values: &[&str]| values.iter().map(|v| &*v.to_string().leak()).collect::<Vec<&'static str>>();
        let (class, others) = (leak(class), leak(others));
        let all = [ones(&class), ones(&others)].concat();
        Values::of(kind, all.into_iter())?.middle(ones(&class).into_iter(), least)
    }

    #[test]
    fn a_round_number_near_the_median_stands_for_the_class() {
        let amounts = ["43891.63", "45000.01", "46217.5", "48000.2", "50646.2"];
        assert_eq!(middle(ValueType::Decimal, &amounts, &[], 2).as_deref(), Some("46000"));
        // Somebody has it: the next one is taken; where enough rows have it, it may stand.
        assert_eq!(middle(ValueType::Decimal, &amounts, &["46000.0"], 2).as_deref(), Some("47000"));
        assert_eq!(middle(ValueType::Decimal, &amounts, &["46000", "46000.00"], 2).as_deref(), Some("46000"));
        assert_eq!(middle(ValueType::Integer, &["23", "31", "37"], &["30", "32"], 2).as_deref(), Some("34"));
        assert_eq!(middle(ValueType::Integer, &["-7", "-4", "3"], &[], 2).as_deref(), Some("-2"));
        // Nothing lies between.
        assert_eq!(middle(ValueType::Integer, &["7", "8"], &[], 2), None);
        assert_eq!(middle(ValueType::Decimal, &["7.25"], &[], 2), None);
        assert_eq!(middle(ValueType::Text, &["a", "b"], &[], 2), None);
    }

    #[test]
    fn a_first_of_a_year_or_month_stands_for_days() {
        let born = ["1942-03-05", "1950-11-30", "1958-02-17", "1961-07-07"];
        assert_eq!(middle(ValueType::Date, &born, &[], 2).as_deref(), Some("1951-01-01"));
        assert_eq!(middle(ValueType::Date, &born, &["1951-01-01"], 2).as_deref(), Some("1950-01-01"));
        let seen = ["2024-02-05", "2024-05-20", "2024-11-30"];
        assert_eq!(middle(ValueType::Date, &seen, &[], 2).as_deref(), Some("2024-06-01"));
        let near = ["2024-02-05", "2024-02-09", "2024-02-12"];
        assert_eq!(middle(ValueType::Date, &near, &[], 2).as_deref(), Some("2024-02-08"));
    }

    #[test]
    fn what_stands_for_a_class_lies_in_it_and_is_nobodys() {
        let mut random = amidst_core::internal::random::Random::new(11);
        let mut found = 0;
        for _ in 0..500 {
            let scale = random.below(4) as u32;
            let mut one = || Decimal::new(random.below(40_000) as i64 - 10_000, scale).to_string();
            let class: Vec<String> = (0..5).map(|_| one()).collect();
            let texts: Vec<&str> = class.iter().map(String::as_str).collect();
            let kind = if scale == 0 { ValueType::Integer } else { ValueType::Decimal };
            let Some(text) = middle(kind, &texts, &[], 2) else { continue };
            let (middle, all) = (number(&text).unwrap(), class.iter().filter_map(|v| number(v)).collect::<Vec<_>>());
            assert!(all.iter().min() <= Some(&middle) && Some(&middle) <= all.iter().max(), "{text} of {class:?}");
            assert!(!all.contains(&middle), "{text} of {class:?}");
            found += 1;
        }
        assert!(found > 450, "{found}");
    }
}
