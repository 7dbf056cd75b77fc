//! How figures are said in words and written for people.

/// `1 time in 3`, `33 times in 100`: how often something of this share happens, as people say it.
pub fn times(share: f64) -> String {
    let share = share.clamp(0.0, 1.0);
    if share >= 1.0 {
        return "every time".to_string();
    }
    let one_in = 1.0 / share;
    // "1 in n" is kind to the reader, but must not promise more than is true: never less often than it happens.
    let n = (one_in + 1e-9).floor();
    if share > 0.0 && one_in < n * 1.05 && (2.0..1e6).contains(&n) {
        return format!("1 time in {}", grouped(n as u64));
    }
    let hundred = share * 100.0;
    if hundred < 0.95 {
        return "less than 1 time in 100".to_string();
    }
    // Rounded up, because it is said of the most that can happen; but "100 times in 100" would claim a certainty that
    // is not there.
    let up = |of: f64| (share * of - 1e-6).ceil() as u64;
    match (up(100.0), up(1000.0)) {
        (n @ ..=99, _) => format!("{n} times in 100"),
        (_, n @ ..=999) => format!("{n} times in 1,000"),
        _ => "nearly every time".to_string(),
    }
}

/// 45222 → `45,222`.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, d) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(d);
    }
    out
}

/// `1 row`, `2 rows`, `1,000 rows`.
pub fn counted(n: u64, what: &str) -> String {
    let plural = match what {
        "class" => "classes".to_string(),
        other => format!("{other}s"),
    };
    if n == 1 { format!("1 {what}") } else { format!("{} {plural}", grouped(n)) }
}

/// `6.1 %`: a share, never rounded to all or nothing.
pub fn percent(part: u64, whole: u64) -> String {
    let share = if whole == 0 { 0.0 } else { part as f64 / whole as f64 * 100.0 };
    match share {
        _ if part == 0 => "0 %".to_string(),
        _ if part == whole => "100 %".to_string(),
        few if few < 0.05 => "less than 0.1 %".to_string(),
        some if some < 9.95 => format!("{} %", format!("{some:.1}").trim_end_matches(".0")),
        most => format!("{} %", (most.round() as u64).min(99)),
    }
}

/// `age, sex and zip`.
pub fn named<T: AsRef<str>>(names: &[T]) -> String {
    match names {
        [] => String::new(),
        [one] => one.as_ref().to_string(),
        [first @ .., last] => {
            let first: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", first.join(", "), last.as_ref())
        }
    }
}

/// More names of columns than this are not all listed in a sentence.
const MANY_COLUMNS: usize = 10;

/// The names that stand for those of many columns.
const SOME_COLUMNS: usize = 6;

/// `age, sex and zip`; of very many columns the first, and how many more there are.
pub fn columns<T: AsRef<str>>(names: &[T]) -> String {
    if names.len() <= MANY_COLUMNS {
        return named(names);
    }
    let first: Vec<&str> = names[..SOME_COLUMNS].iter().map(AsRef::as_ref).collect();
    format!("{} and {} more columns", first.join(", "), names.len() - SOME_COLUMNS)
}

/// A number as it is written everywhere in a report: whole numbers grouped, others with four decimals.
pub fn number(x: f64) -> String {
    if !x.is_finite() {
        return "–".to_string();
    }
    if x.fract() == 0.0 && x.abs() < 9e15 {
        let sign = if x < 0.0 { "−" } else { "" };
        return format!("{sign}{}", grouped(x.abs() as u64));
    }
    if x.abs() >= 0.0001 { format!("{x:.4}") } else { format!("{x:.1e}") }
}

/// `1 row`, `2 rows`.
pub fn count(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(n), if n == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_said_as_people_say_them() {
        let said = [1.0 / 3.0, 0.25, 0.5, 2.0 / 3.0, 0.6612, 0.99, 0.9955, 0.9999, 1.0, 0.001, 0.0].map(times);
        let expected = [
            "1 time in 3",
            "1 time in 4",
            "1 time in 2",
            "67 times in 100",
            "67 times in 100",
            "99 times in 100",
            "996 times in 1,000",
            "nearly every time",
            "every time",
            "1 time in 1,000",
            "less than 1 time in 100",
        ];
        assert_eq!(said, expected);
    }

    #[test]
    fn numbers_are_grouped_and_short() {
        assert_eq!([number(45222.0), number(0.25), number(-3.0), number(f64::NAN)], ["45,222", "0.2500", "−3", "–"]);
        assert_eq!([count(1, "row", "rows"), count(0, "row", "rows")], ["1 row", "0 rows"]);
        let shares = [(0, 5), (5, 5), (1203, 19617), (1, 100), (1, 3000), (999, 1000), (33, 100), (0, 0)];
        let said = shares.map(|(part, whole)| percent(part, whole));
        assert_eq!(said, ["0 %", "100 %", "6.1 %", "1 %", "less than 0.1 %", "99 %", "33 %", "0 %"]);
        assert_eq!([named(&["a"]), named(&["a", "b"]), named(&["a", "b", "c"])], ["a", "a and b", "a, b and c"]);
    }
}
