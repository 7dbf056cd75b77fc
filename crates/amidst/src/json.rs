//! The JSON that every command shares. Numbers are JSON numbers, never NaN.

use amidst_core::exact::Rational;
use amidst_core::model::{Bound, Level, Stronger};
use amidst_core::parameter;
use amidst_core::risk::Risk;
use serde_json::{Map, Value, json};

use crate::policy::RequirePolicy;

/// A number; null where it is not finite. Whole numbers print without a fraction.
pub fn number(x: f64) -> Value {
    if !x.is_finite() {
        Value::Null
    } else if x.fract() == 0.0 && x.abs() < 9e15 {
        json!(x as i64)
    } else {
        json!(x)
    }
}

/// An exact number: a JSON number when one says it exactly, else the number as a text.
pub fn rational(r: &Rational) -> Value {
    let text = r.to_string();
    let near = text.parse::<f64>().map_or(Value::Null, number);
    let exact = near.to_string().parse::<Rational>().is_ok_and(|read| read == *r);
    if exact { near } else { json!(text) }
}

/// A parameter as it was stated.
pub fn parameter(value: &parameter::Value) -> Value {
    match value {
        parameter::Value::Number(n) => rational(n),
        parameter::Value::Text(t) => json!(amidst_io::without_password(t)),
        parameter::Value::Flag(b) => json!(b),
        parameter::Value::List(items) => Value::Array(items.iter().map(parameter).collect()),
        parameter::Value::Table(pairs) => Value::Object(pairs.iter().map(|(k, v)| (k.clone(), parameter(v))).collect()),
    }
}

/// A measured level: the nearest number, never a whole one that fails, or null when no value holds or every value does.
pub fn level(level: &Level) -> Value {
    match (&level.bound, level.stronger) {
        // A real number next to a whole one may be told as that one, which is more than holds.
        (Bound::Real(x), Stronger::Larger) if x.fract() == 0.0 => number(x.next_down()),
        (Bound::Real(x), Stronger::Smaller) if x.fract() == 0.0 => number(x.next_up()),
        (bound, _) => self::bound(bound),
    }
}

/// A bound: the nearest number, or null when no value holds or every value does.
pub fn bound(bound: &Bound) -> Value {
    match bound {
        Bound::Exact(r) => number(r.to_f64()),
        Bound::Real(x) => number(*x),
        Bound::Always | Bound::Never => Value::Null,
    }
}

/// The sensitive columns of a requirement: null, one name, or a list.
pub fn on(columns: &[String]) -> Value {
    match columns {
        [] => Value::Null,
        [one] => json!(one),
        many => json!(many),
    }
}

/// One requirement with its verdict.
pub fn requirement<'a>(stated: &RequirePolicy, holds: bool, levels: impl IntoIterator<Item = &'a Level>) -> Value {
    let parameters: Map<String, Value> = stated.parameters.iter().map(|(k, v)| (k.to_string(), parameter(v))).collect();
    let (mut measured, mut open, mut always, mut obstacles) = (Map::new(), Vec::new(), Vec::new(), Vec::new());
    for level in levels {
        measured.insert(level.parameter.to_string(), self::level(level));
        if level.sign() != "=" {
            open.push(level.parameter);
        }
        if level.bound == Bound::Always {
            always.push(level.parameter);
        }
        obstacles.extend(level.obstacle);
    }
    let mut object = json!({
        "model": stated.model.id,
        "on": on(&stated.on),
        "parameters": parameters,
        "holds": holds,
        "measured": measured,
    });
    if !open.is_empty() {
        // The definition says "less than": the figure itself is just too strong.
        object["open"] = json!(open);
    }
    if !always.is_empty() {
        // Null, because every value holds and not because none does.
        object["always"] = json!(always);
    }
    if let Some(obstacle) = obstacles.first() {
        object["obstacle"] = json!(obstacle);
    }
    object
}

/// Re-identification risk.
pub fn risk(risk: &Risk) -> Value {
    let [strict, lenient] = amidst_core::risk::thresholds().map(|t| risk.above(&t));
    json!({
        "prosecutor_max": number(risk.prosecutor_max),
        "prosecutor_avg": number(risk.prosecutor_avg),
        "marketer": number(risk.marketer),
        "above_threshold": strict.persons,
        "above_threshold_share": number(strict.share),
        "above_one_in_eleven": lenient.persons,
        "above_one_in_eleven_share": number(lenient.share),
        "sample_uniques": risk.sample_uniques,
        "smallest_class": risk.smallest,
        "largest_class": risk.largest,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_never_nan() {
        assert_eq!(number(f64::NAN), Value::Null);
        assert_eq!(number(f64::INFINITY), Value::Null);
        assert_eq!(number(5.0).to_string(), "5");
        assert_eq!(rational(&"1/3".parse().unwrap()).to_string(), "\"1/3\"");
        assert_eq!(rational(&"0.02".parse().unwrap()).to_string(), "0.02");
        let long = "0.12345678901234567890123";
        let fraction = "12345678901234567890123/100000000000000000000000";
        assert_eq!(rational(&long.parse().unwrap()), json!(fraction), "no digit is lost");
    }
}
