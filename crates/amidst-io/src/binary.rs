//! Reads numbers and texts at offsets of a binary file, with bounds checks.

/// A position in a file in memory.
#[derive(Clone)]
pub(crate) struct Place<'a> {
    data: &'a [u8],
    at: usize,
    big_endian: bool,
}

/// The file ends before the requested bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ends;

impl From<Ends> for String {
    fn from(_: Ends) -> Self {
        "it ends before what it says to hold".to_string()
    }
}

macro_rules! numbers {
    ($($name:ident $kind:ty;)*) => {$(
        pub fn $name(&mut self) -> Result<$kind, Ends> {
            let bytes = *self.take(size_of::<$kind>())?.first_chunk().ok_or(Ends)?;
            Ok(if self.big_endian { <$kind>::from_be_bytes(bytes) } else { <$kind>::from_le_bytes(bytes) })
        }
    )*};
}

impl<'a> Place<'a> {
    pub fn new(data: &'a [u8], at: usize, big_endian: bool) -> Self {
        Place { data, at, big_endian }
    }

    pub fn at(&self) -> usize {
        self.at
    }

    pub fn is_over(&self) -> bool {
        self.at >= self.data.len()
    }

    pub fn take(&mut self, bytes: usize) -> Result<&'a [u8], Ends> {
        let end = self.at.checked_add(bytes).ok_or(Ends)?;
        let taken = self.data.get(self.at..end).ok_or(Ends)?;
        self.at = end;
        Ok(taken)
    }

    /// Consumes `text` if it comes next.
    pub fn accept(&mut self, text: &[u8]) -> bool {
        let there = self.data.get(self.at..).is_some_and(|rest| rest.starts_with(text));
        self.at += if there { text.len() } else { 0 };
        there
    }

    /// Takes `count` chunks of `bytes` bytes; an error if the product overflows or exceeds the file.
    pub fn take_each(&mut self, count: u64, bytes: usize) -> Result<std::slice::ChunksExact<'a, u8>, Ends> {
        let all = usize::try_from(count).ok().and_then(|count| count.checked_mul(bytes)).ok_or(Ends)?;
        Ok(self.take(all)?.chunks_exact(bytes.max(1)))
    }

    numbers! { u8 u8; u16 u16; u32 u32; u64 u64; i16 i16; i32 i32; i64 i64; f32 f32; f64 f64; }
}

/// The bytes before the first zero.
pub(crate) fn before_zero(bytes: &[u8]) -> &[u8] {
    bytes.split(|b| *b == 0).next().unwrap_or_default()
}

/// The labels of a column's codes. Codes with equal labels get the code appended, so that two values never become one.
#[derive(Debug, Default, Clone)]
pub(crate) struct ValueLabels<K> {
    list: Vec<(K, String)>,
}

impl<K: PartialEq + Clone + std::fmt::Display> ValueLabels<K> {
    pub fn new(mut list: Vec<(K, String)>, order: impl Fn(&K, &K) -> std::cmp::Ordering) -> Self {
        list.retain(|(_, name)| !name.trim().is_empty());
        list.sort_by(|a, b| order(&a.0, &b.0));
        list.dedup_by(|later, first| later.0 == first.0);
        let mut seen: std::collections::HashMap<String, usize> = std::collections::HashMap::new();
        list.iter().for_each(|(_, name)| *seen.entry(name.clone()).or_default() += 1);
        for (code, name) in &mut list {
            if seen.get(name).is_some_and(|n| *n > 1) {
                *name = format!("{name} ({code})");
            }
        }
        ValueLabels { list }
    }

    pub fn get(&self, order: impl Fn(&K) -> std::cmp::Ordering) -> Option<&str> {
        self.list.binary_search_by(|(code, _)| order(code)).ok().map(|i| self.list[i].1.as_str())
    }
}

/// The date `days` days after `from`, as year-month-day; `None` outside the supported range.
pub(crate) fn day(from: jiff::civil::Date, days: f64) -> Option<String> {
    if !(-4e6..4e6).contains(&days) {
        return None;
    }
    let span = jiff::Span::new().try_days(days as i64).ok()?;
    from.checked_add(span).ok().map(|date| date.to_string())
}

/// The date and time `seconds` seconds after the start of `from`, to the second.
pub(crate) fn moment(from: jiff::civil::Date, seconds: f64) -> Option<String> {
    let days = (seconds / 86_400.0).floor();
    let rest = (seconds - days * 86_400.0).floor() as u64;
    Some(format!("{} {}", day(from, days)?, clock(rest)))
}

/// A number of seconds as hours, minutes and seconds.
pub(crate) fn clock(seconds: u64) -> String {
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::Date;

    #[test]
    fn nothing_is_read_beyond_the_end() {
        let mut place = Place::new(&[1, 0, 0, 0, 2], 0, false);
        assert_eq!((place.u32(), place.u16(), place.u8(), place.u8()), (Ok(1), Err(Ends), Ok(2), Err(Ends)));
        assert!(Place::new(&[1; 8], 0, true).take_each(u64::MAX, 16).is_err());
        assert_eq!(Place::new(&[0, 1], 0, true).u16(), Ok(1));
    }

    #[test]
    fn codes_of_one_name_stay_apart() {
        let labels = ValueLabels::new(vec![(3, "no".into()), (1, "yes".into()), (2, "yes".into())], i32::cmp);
        let name = |code: i32| labels.get(|own| own.cmp(&code));
        assert_eq!((name(1), name(2), name(3), name(4)), (Some("yes (1)"), Some("yes (2)"), Some("no"), None));
    }

    #[test]
    fn days_and_moments_are_counted() {
        let from = Date::constant(1960, 1, 1);
        assert_eq!(day(from, 23_440.0).as_deref(), Some("2024-03-05"));
        assert_eq!(moment(from, 23_440.0 * 86_400.0 + 3661.0).as_deref(), Some("2024-03-05 01:01:01"));
        assert_eq!((day(from, 1e300), day(from, f64::NAN), moment(from, f64::INFINITY)), (None, None, None));
    }
}
