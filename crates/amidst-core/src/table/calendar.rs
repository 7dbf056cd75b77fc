//! Dates as people write them: day, month and year in some order, by number or by the month's name.
//!
//! `03/04/2024` is two different days, so an order is always given. Separators may be points, slashes, hyphens, commas
//! or blanks, or absent where the year has four digits (`20240305`); a time of day may follow. The day may be absent
//! (`03.2024`, `2024-03`), and counts as the first then. Years of two digits are those from 1931 to 2030. Names of
//! months are those of English, German, French, Spanish, Italian, Dutch, Portuguese and Polish, whole or cut short.

use jiff::civil::Date;

/// The order in which day, month and year are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DateOrder {
    /// 2024-03-05
    YearMonthDay,
    /// 05.03.2024
    DayMonthYear,
    /// 03/05/2024
    MonthDayYear,
}

/// Every order by the name that a policy writes.
pub const DATE_ORDERS: &[(&str, DateOrder)] =
    &[("y-m-d", DateOrder::YearMonthDay), ("d-m-y", DateOrder::DayMonthYear), ("m-d-y", DateOrder::MonthDayYear)];

/// The order in which all of `values` are dates; none when there is no value. Where days and months cannot be told
/// apart, the day comes first.
pub fn date_order<'a>(values: impl IntoIterator<Item = &'a str>) -> Option<DateOrder> {
    let mut orders: Vec<DateOrder> = DATE_ORDERS.iter().map(|&(_, order)| order).collect();
    let mut any = false;
    for value in values {
        any = true;
        orders.retain(|order| order.read(value).is_some());
        if orders.is_empty() {
            return None;
        }
    }
    orders.first().copied().filter(|_| any)
}

impl DateOrder {
    /// The name that a policy writes.
    pub fn name(self) -> &'static str {
        DATE_ORDERS.iter().find(|(_, order)| *order == self).map_or("", |(name, _)| name)
    }

    /// The day of a date, counted from 1 January 1970; `None` for what is no date in this order.
    pub fn day_number(self, value: &str) -> Option<i32> {
        let since = self.read(value)?.since(Date::constant(1970, 1, 1)).ok()?;
        Some(since.get_days())
    }

    /// A whole day without a time of day, its parts apart from each other, as year-month-day; `None` for anything else.
    pub fn iso(self, value: &str) -> Option<String> {
        if Self::has_time(value) || parts(value)?.len() != 3 {
            return None;
        }
        self.read(value).map(|date| date.to_string())
    }

    /// Whether the value has a time of day, too.
    pub fn has_time(value: &str) -> bool {
        value.contains(':')
    }

    /// Reads a date written in this order.
    pub(crate) fn read(self, value: &str) -> Option<Date> {
        let parts = parts(value)?;
        let (year, month, day) = match (self, parts.as_slice()) {
            (DateOrder::YearMonthDay, [y, m, d]) => (y, m, Some(d)),
            (DateOrder::DayMonthYear, [d, m, y]) => (y, m, Some(d)),
            (DateOrder::MonthDayYear, [m, d, y]) => (y, m, Some(d)),
            (DateOrder::YearMonthDay, [y, m]) => (y, m, None),
            (DateOrder::DayMonthYear | DateOrder::MonthDayYear, [m, y]) => (y, m, None),
            (_, [compact]) => return self.compact(compact),
            _ => return None,
        };
        // A month alone needs a year that cannot be a day.
        let year = year_of(year).filter(|_| day.is_some() || year.len() == 4)?;
        let day = day.map_or(Some(1), |d| d.parse().ok().filter(|_| d.len() <= 2))?;
        Date::new(year, month_of(month)?, day).ok()
    }

    fn compact(self, digits: &str) -> Option<Date> {
        if digits.len() != 8 || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let (year, month, day) = match self {
            DateOrder::YearMonthDay => (0..4, 4..6, 6..8),
            DateOrder::DayMonthYear => (4..8, 2..4, 0..2),
            DateOrder::MonthDayYear => (4..8, 0..2, 2..4),
        };
        // Eight digits are mostly something else; a year of our time makes them a date.
        let year: i16 = digits[year].parse().ok().filter(|y| (1900..=2099).contains(y))?;
        Date::new(year, digits[month].parse().ok()?, digits[day].parse().ok()?).ok()
    }
}

/// The parts of a date, without its time of day and without words such as "de" between them.
fn parts(value: &str) -> Option<Vec<&str>> {
    let value = value.trim();
    if value.len() > 48 || !value.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    let date = match value.find(':') {
        // What stands before the hour.
        Some(colon) => value[..colon].rfind([' ', 'T', '\t', ',']).map(|at| &value[..at])?,
        None => value,
    };
    let separator = |c: char| matches!(c, '.' | '/' | '-' | ',' | ' ' | '\u{a0}' | '_');
    let parts: Vec<&str> =
        date.split(separator).filter(|p| !p.is_empty() && !matches!(*p, "de" | "di" | "of")).collect();
    let plain = parts.iter().all(|p| p.bytes().all(|b| b.is_ascii_digit()) || p.chars().all(char::is_alphabetic));
    (plain && parts.len() <= 3).then_some(parts)
}

fn year_of(text: &str) -> Option<i16> {
    let year: i16 = text.parse().ok()?;
    match text.len() {
        4 => (1000..=2999).contains(&year).then_some(year),
        2 => Some(if year <= 30 { 2000 + year } else { 1900 + year }),
        _ => None,
    }
}

fn month_of(text: &str) -> Option<i8> {
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return text.parse().ok().filter(|m| text.len() <= 2 && (1..=12).contains(m));
    }
    let letters: String = text.to_lowercase().chars().map(plain).collect();
    // May and Mai, mayo, maggio, maj, mei, maio; March and März, mars, marzo, maart, março, marzec.
    let begins: [&[&str]; 12] = [
        &["jan", "ene", "gen", "sty"],
        &["feb", "fev", "lut"],
        &["mar", "mrz", "maa", "mrt"],
        &["apr", "avr", "abr", "kwi"],
        &["may", "mai", "mag", "maj", "mei"],
        &["jun", "juin", "giu", "cze"],
        &["jul", "juil", "lug", "lip"],
        &["aug", "aou", "ago", "sie"],
        &["sep", "set", "wrz"],
        &["oct", "okt", "ott", "out", "paz"],
        &["nov", "lis"],
        &["dec", "dez", "des", "dic", "gru"],
    ];
    (1..).zip(begins).find(|(_, begins)| begins.iter().any(|b| letters.starts_with(b))).map(|(month, _)| month)
}

/// A letter without its mark, as far as names of months have one.
fn plain(c: char) -> char {
    match c {
        'ä' | 'á' => 'a',
        'é' | 'è' => 'e',
        'û' => 'u',
        'ç' => 'c',
        'ź' => 'z',
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(order: DateOrder, value: &str) -> Option<String> {
        order.read(value).map(|d| d.to_string())
    }

    #[test]
    fn orders_read_what_people_write() {
        use DateOrder::{DayMonthYear, MonthDayYear, YearMonthDay};
        for (order, value, date) in [
            (YearMonthDay, "2024-03-05", "2024-03-05"),
            (YearMonthDay, "2024/3/5 17:30", "2024-03-05"),
            (YearMonthDay, "20240305", "2024-03-05"),
            (YearMonthDay, "2024-03", "2024-03-01"),
            (YearMonthDay, "2024-03-05T10:00:00Z", "2024-03-05"),
            (DayMonthYear, "05.03.2024", "2024-03-05"),
            (DayMonthYear, "5/3/24, 7:05", "2024-03-05"),
            (DayMonthYear, "05-03-1931", "1931-03-05"),
            (DayMonthYear, "5. März 2024", "2024-03-05"),
            (DayMonthYear, "5 de março de 2024", "2024-03-05"),
            (DayMonthYear, "12 août 1999", "1999-08-12"),
            (DayMonthYear, "3 października 2020", "2020-10-03"),
            (DayMonthYear, "03/2024", "2024-03-01"),
            (MonthDayYear, "03/05/2024", "2024-03-05"),
            (MonthDayYear, "March 5, 2024", "2024-03-05"),
        ] {
            assert_eq!(read(order, value).as_deref(), Some(date), "{value}");
        }
    }

    #[test]
    fn what_is_no_date_is_none() {
        use DateOrder::{DayMonthYear, MonthDayYear, YearMonthDay};
        for value in ["", "12", "1.5", "31.02.2024", "hello", "3-4", "12:30", "10.0.0.1", "1234567", "52.5", "room 5 a"]
        {
            for order in [YearMonthDay, DayMonthYear, MonthDayYear] {
                assert_eq!(read(order, value), None, "{value}");
            }
        }
        assert_eq!(read(MonthDayYear, "25/12/2024"), None);
        assert_eq!(DayMonthYear.day_number("02.01.1970"), Some(1));
        assert_eq!(date_order(["03/05/2024", "12/25/2024"]), Some(MonthDayYear));
        assert_eq!(date_order(["03/05/2024", "04/05/2024"]), Some(DayMonthYear));
        assert_eq!((date_order(["03/05/2024", "x"]), date_order([])), (None, None));
        assert_eq!(DateOrder::name(MonthDayYear), "m-d-y");
        assert_eq!(DayMonthYear.iso("5. März 2024").as_deref(), Some("2024-03-05"));
        for value in ["05032024", "03.2024", "5.3.2024 10:00"] {
            assert_eq!(DayMonthYear.iso(value), None, "{value}");
        }
    }
}
