//! The rank order of a sensitive column, which its policy and the published values determine.
//!
//! The number of ranks divides an ordered distance, and their sequence decides which values are near each other. A rank
//! too many, or two that are exchanged, makes a distance smaller than it is. There is therefore one order only: the
//! list of the policy (its `order`, or that of a hierarchy built from a list), behind it the published values that the
//! list lacks, such as a word for "unknown"; without a list the published values, as numbers or days ascending.

use num_rational::BigRational;

use super::{ColumnSaid, Kind};
use crate::models::Domain;
use crate::number;

/// What is wrong with a stated order of the column `name`; `domain` holds the published values, where they could be
/// read.
pub(super) fn fault(
    order: &[String],
    column: &ColumnSaid,
    name: &str,
    unknown: &[String],
    domain: Option<&Domain>,
) -> Option<String> {
    let otherwise = || Some(format!("orders the values of \"{name}\" otherwise than the certificate"));
    let Some(behind) = order.strip_prefix(column.order.as_slice()) else {
        return otherwise();
    };
    let published = |value: &String| {
        let held = |domain: &Domain| domain.id(value).is_some_and(|id| domain.table[id as usize] > 0);
        domain.is_none_or(held)
    };
    if !behind.iter().all(published) {
        return Some(format!("gives fewer ranks to the values of \"{name}\" than the certificate"));
    }
    let natural = match (column.kind, column.order.is_empty()) {
        (Some(Kind::Number), _) => ascends_by_number(behind),
        (Some(Kind::Date), true) => behind.is_sorted(),
        (Some(Kind::Date), false) => behind.is_sorted_by_key(|text| (!is_day(text), text)),
        (Some(Kind::Text) | None, false) => behind.is_sorted(),
        (Some(Kind::Text), true) => behind.is_empty(),
        (None, true) => {
            let known = || behind.iter().filter(|text| !text.is_empty() && !unknown.contains(text));
            let numbers = known().all(|text| read(text).is_some()) && ascends_by_number(behind);
            numbers || (known().all(|text| is_day(text)) && behind.is_sorted())
        }
    };
    if natural { None } else { otherwise() }
}

/// Ascending by number, behind that all that is no number by its text.
fn ascends_by_number(values: &[String]) -> bool {
    values.is_sorted_by_key(|text| {
        let number = read(text);
        (number.is_none(), number, text)
    })
}

/// A number; a fraction is a text.
fn read(text: &str) -> Option<BigRational> {
    number::parse(text.trim()).ok().filter(|_| !text.contains('/'))
}

/// Whether a text begins as a day does, year first, with or without hyphens; a time of day may stand behind it.
fn is_day(text: &str) -> bool {
    let text = text.trim().as_bytes();
    let shape = |shape: &[u8]| {
        let fits = |(&byte, &sign): (&u8, &u8)| if sign == b'9' { byte.is_ascii_digit() } else { byte == sign };
        let ends = matches!(text.get(shape.len()), None | Some(b'T' | b't' | b' '));
        text.len() >= shape.len() && ends && text.iter().zip(shape).all(fits)
    };
    [&b"9999-99-99"[..], b"99999999", b"-999999-99-99", b"+999999-99-99"].into_iter().any(shape)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate::SensitiveColumn;
    use crate::policy::PolicySaid;

    /// Whether a certificate may state this order for a column with these settings and published values.
    fn fits(settings: &str, published: &[&str], order: &[&str]) -> bool {
        let policy = format!("[data]\nmissing = [\"?\", \"-\"]\n[columns.s]\nrole = \"sensitive\"\n{settings}");
        let policy = PolicySaid::parse(&policy).unwrap();
        let bare = SensitiveColumn { name: "s".into(), order: None, levels: None, categories: None, weights: None };
        let values = published.iter().map(|value| value.as_bytes().to_vec()).collect();
        let domain = Domain::new(&bare, values, vec![1; published.len()]).unwrap();
        let order: Vec<String> = order.iter().map(|text| text.to_string()).collect();
        fault(&order, policy.column("s").unwrap(), "s", &policy.missing, Some(&domain)).is_none()
    }

    #[test]
    fn a_list_is_followed_by_the_published_values_that_it_lacks_and_by_nothing_else() {
        let list = "order = [\"low\", \"mid\", \"high\"]\n";
        let within = "hierarchy = { order = [\"low\", \"mid\", \"high\"], groups = [2] }\n";
        for settings in [list, within] {
            let fits = |published: &[&str], order: &[&str]| fits(settings, published, order);
            assert!(fits(&["low", "high"], &["low", "mid", "high"]), "{settings}");
            assert!(fits(&["low", "?", "-"], &["low", "mid", "high", "-", "?"]), "{settings}");
            assert!(!fits(&["low", "?", "-"], &["low", "mid", "high", "?", "-"]), "{settings}");
            assert!(!fits(&["low", "high"], &["low", "high"]), "{settings}");
            assert!(!fits(&["low", "high"], &["high", "mid", "low"]), "{settings}");
            assert!(!fits(&["low", "high"], &["low", "mid", "high", "higher"]), "{settings}");
        }
        // The list of a hierarchy ranks its values, not the labels that are published in their place.
        let leveled = format!("{within}level = 1\n");
        assert!(!fits(&leveled, &["[low-mid]", "high"], &["low", "mid", "high", "[low-mid]"]));
        assert!(fits(&format!("{leveled}order = [\"[low-mid]\", \"high\"]\n"), &["high"], &["[low-mid]", "high"]));
        assert!(fits("hierarchy = { order = [1, 2.50] }\n", &["1"], &["1", "2.5"]));
    }

    #[test]
    fn without_a_list_the_published_values_ascend() {
        assert!(fits("", &["9", "10", "1e1", "?"], &["9", "10", "1e1", "?"]));
        assert!(fits("", &["?"], &["?"]) && fits("", &["2", "-5", "-"], &["-5", "2", "-"]));
        assert!(!fits("", &["9", "10"], &["10", "9"]));
        assert!(!fits("", &["9", "10"], &["9", "10", "11"]));
        assert!(!fits("", &["10", "20", "30"], &["0", "-", "10", "30", "20"]));
        assert!(!fits("", &["10", "20", "30", "-"], &["-", "10", "30", "20"]));
        let days = ["2020-01-01", "2020-02-01", "2020-03-01T10:00"];
        assert!(fits("", &days, &days) && fits("type = \"date\"\n", &days, &days));
        assert!(!fits("", &days, &[days[1], days[0], days[2]]));
        // What is unknown stands among days by its text.
        let all = ["-", days[0], days[1], "?"];
        assert!(fits("", &all, &all) && fits("type = \"date\"\n", &all, &all));
        assert!(!fits("", &all, &["-", days[1], days[0], "?"]));
        // Words without a list have no order, not even that of the alphabet.
        assert!(!fits("", &["a", "b"], &["a", "b"]) && !fits("", &["1/3", "1/2"], &["1/3", "1/2"]));
        assert!(!fits("type = \"text\"\n", &["1", "2"], &["1", "2"]));
        assert!(fits("type = \"decimal\"\n", &["1.5", "?"], &["1.5", "?"]));
    }
}
