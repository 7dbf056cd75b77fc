//! The JSON that every command shares: numbers, figures, verdicts on requirements. Numbers are JSON numbers, never NaN.
//!
//! The modules above know JSON values through this one only; what whole commands print is in `json_output`.

use amidst_core::model::{Bound, Level, Stronger};
use amidst_core::parameter;
use amidst_core::parameter::Rational;
use amidst_core::risk::Risk;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::policy::RequirePolicy;

/// A value as JSON.
pub fn of(told: &impl Serialize) -> Value {
    serde_json::to_value(told).unwrap_or_default()
}

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

/// A parameter that is written as a list in JSON; none where the text is no JSON.
pub fn listed(text: &str) -> Option<parameter::Value> {
    fn stated(value: &Value) -> parameter::Value {
        match value {
            Value::Array(items) => parameter::Value::List(items.iter().map(stated).collect()),
            Value::String(text) => parameter::Value::Text(text.clone()),
            Value::Bool(flag) => parameter::Value::Flag(*flag),
            other => {
                let text = other.to_string();
                text.parse().map_or_else(|_| parameter::Value::Text(text), parameter::Value::Number)
            }
        }
    }
    serde_json::from_str(text).ok().as_ref().map(stated)
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

/// A JSON value for people: numbers as everywhere, texts without quotes.
pub fn words(value: &Value) -> String {
    match value {
        Value::Null => "–".to_string(),
        Value::String(text) => text.clone(),
        Value::Number(n) => n.as_f64().map_or_else(|| n.to_string(), crate::words::number),
        Value::Array(items) => items.iter().map(words).collect::<Vec<_>>().join(", "),
        Value::Object(map) => map.iter().map(|(k, v)| format!("{k} = {}", words(v))).collect::<Vec<_>>().join(", "),
        Value::Bool(b) => b.to_string(),
    }
}

/// A figure that a requirement was measured to satisfy: how it is reached, and the figure itself, rounded to the side
/// that holds.
pub fn measured(model: &str, parameter: &str, value: &Value) -> (&'static str, String) {
    let declared =
        amidst_core::model::find(model).and_then(|m| m.parameters.iter().find(|p| p.name == parameter)?.measured);
    match (declared, value.as_f64()) {
        // What four places hold needs no rounding.
        (Some(kind), Some(x)) if x.to_string().split_once('.').is_none_or(|(_, places)| places.len() <= 4) => {
            (kind.sign(), words(value))
        }
        (Some(kind), Some(x)) => (kind.sign(), kind.rounded(x)),
        _ => ("=", words(value)),
    }
}

/// Those figures that a requirement was measured to satisfy which are bounds that do not hold themselves.
pub fn open_bounds(model: &str, figures: &Figures) -> Vec<String> {
    let open = |&(_, value): &(&String, &Value)| !value.is_null();
    let strict = |name: &str, value: &Value| measured(model, name, value).0 != "=";
    figures.0.iter().filter(open).filter(|(name, value)| strict(name, value)).map(|(name, _)| name.clone()).collect()
}

/// One figure or stated parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum Figure {
    /// No value holds, or every value does.
    None,
    /// A number, as near as a float is.
    Number(f64),
    /// A text, and whatever else a parameter can be, as JSON tells it.
    Text(String),
}

impl Figure {
    /// A bound: the nearest number, or none when no value holds or every value does.
    pub fn of_bound(bound: &Bound) -> Self {
        Figure::from(&self::bound(bound))
    }
}

impl From<&Value> for Figure {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Figure::None,
            Value::Number(n) => n.as_f64().map_or_else(|| Figure::Text(n.to_string()), Figure::Number),
            Value::String(text) => Figure::Text(text.clone()),
            other => Figure::Text(other.to_string()),
        }
    }
}

impl Serialize for Figure {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Figure::None => to.serialize_none(),
            Figure::Number(x) => number(*x).serialize(to),
            Figure::Text(text) => to.serialize_str(text),
        }
    }
}

/// Something told as JSON, whose figures are looked up by their places in it (JSON pointers, RFC 6901).
#[derive(Debug)]
pub struct Lookup(Value);

/// A figure that was looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LookedUp {
    /// The figure for people.
    pub words: String,
    /// The same as JSON has it; none where it is no number.
    pub number: Option<String>,
}

impl Lookup {
    /// All figures of a value.
    pub fn of(told: &impl Serialize) -> Self {
        Lookup(of(told))
    }

    /// The figure at a place; null where there is none.
    pub fn figure(&self, at: &str) -> LookedUp {
        let value = self.value(at);
        LookedUp { words: words(value), number: digits(value) }
    }

    /// The figure at a place that a requirement was measured to satisfy, with how it is reached; see [`measured`].
    pub fn measured(&self, model: &str, parameter: &str, at: &str) -> (&'static str, LookedUp) {
        let value = self.value(at);
        let (sign, words) = measured(model, parameter, value);
        (sign, LookedUp { words, number: digits(value) })
    }

    fn value(&self, at: &str) -> &Value {
        self.0.pointer(at).unwrap_or(&Value::Null)
    }
}

/// A number as JSON has it; none where it is something else.
fn digits(value: &Value) -> Option<String> {
    value.as_number().map(ToString::to_string)
}

/// Figures or stated parameters by their names, in their order.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Figures(Map<String, Value>);

impl Figures {
    /// The names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The number with a name.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.0.get(name)?.as_f64()
    }

    /// In words: `k = 5, l = 3`.
    pub fn words(&self) -> String {
        self.0.iter().map(|(name, value)| format!("{name} = {}", words(value))).collect::<Vec<_>>().join(", ")
    }

    /// Each with its name, how it is reached and the figure itself, of what a requirement was measured to satisfy; see
    /// [`measured`]. Nothing where no value holds, or every value does.
    pub fn measured(&self, model: &str) -> impl Iterator<Item = (&str, Option<(&'static str, String)>)> {
        let model = model.to_string();
        let figure = move |name: &str, value: &Value| (!value.is_null()).then(|| measured(&model, name, value));
        self.0.iter().map(move |(name, value)| (name.as_str(), figure(name, value)))
    }

    /// The same in words: `l = 3.9999, c > 2`.
    pub fn measured_words(&self, model: &str) -> String {
        let pair = |(name, found): (&str, Option<(&str, String)>)| {
            let (sign, figure) = found.unwrap_or(("=", words(&Value::Null)));
            format!("{name} {sign} {figure}")
        };
        self.measured(model).map(pair).collect::<Vec<_>>().join(", ")
    }

    /// Each with its name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Figure)> {
        self.0.iter().map(|(name, value)| (name.as_str(), Figure::from(value)))
    }

    /// A figure, as the measured level of a parameter.
    pub fn of_level(level: &Level) -> Self {
        Figures(Map::from_iter([(level.parameter.to_string(), self::level(level))]))
    }
}

impl From<Map<String, Value>> for Figures {
    fn from(map: Map<String, Value>) -> Self {
        Figures(map)
    }
}

impl FromIterator<(String, f64)> for Figures {
    fn from_iter<I: IntoIterator<Item = (String, f64)>>(numbers: I) -> Self {
        Figures(numbers.into_iter().map(|(name, x)| (name, number(x))).collect())
    }
}

impl FromIterator<(String, String)> for Figures {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(texts: I) -> Self {
        Figures(texts.into_iter().map(|(name, text)| (name, Value::String(text))).collect())
    }
}

/// What came of one requirement, as every command tells it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RequirementVerdict {
    /// The model.
    pub model: &'static str,
    /// The sensitive columns; none where it is about none.
    #[serde(serialize_with = "as_on")]
    pub on: Vec<String>,
    /// The set of quasi columns whose classes are meant, where the policy has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quasi: Option<Vec<String>>,
    /// The stated parameters.
    pub parameters: Figures,
    /// Whether it holds.
    pub holds: bool,
    /// The strongest parameters that hold; null where there is none, or where every value holds.
    pub measured: Figures,
    /// Those of `measured` that are a bound which does not hold itself: the definition says "less than".
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<&'static str>,
    /// Those of `measured` that are null because every value holds, and not because none does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub always: Vec<&'static str>,
    /// What stands in the way of a stronger parameter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<&'static str>,
}

impl RequirementVerdict {
    /// The same of a set of quasi columns, where the policy has several.
    pub fn of_set(self, columns: Option<Vec<String>>) -> Self {
        RequirementVerdict { quasi: columns, ..self }
    }

    /// The verdict on a stated requirement, with what was measured.
    pub fn of<'a>(stated: &RequirePolicy, holds: bool, levels: impl IntoIterator<Item = &'a Level>) -> Self {
        let (mut measured, mut open, mut always, mut obstacle) = (Map::new(), Vec::new(), Vec::new(), None);
        for level in levels {
            measured.insert(level.parameter.to_string(), self::level(level));
            if level.sign() != "=" {
                open.push(level.parameter);
            }
            if level.bound == Bound::Always {
                always.push(level.parameter);
            }
            obstacle = obstacle.or(level.obstacle);
        }
        RequirementVerdict {
            model: stated.model.id,
            on: stated.on.clone(),
            quasi: None,
            parameters: Figures(stated.parameters.iter().map(|(k, v)| (k.to_string(), parameter(v))).collect()),
            holds,
            measured: Figures(measured),
            open,
            always,
            obstacle,
        }
    }
}

/// Writes sensitive columns as JSON has them: null, one name, or a list.
pub(crate) fn as_on<S: Serializer>(columns: &[String], to: S) -> Result<S::Ok, S::Error> {
    on(columns).serialize(to)
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
    fn values_are_told_in_words() {
        assert_eq!(words(&json!({"k": 5, "on": ["a", "b"]})), "k = 5, on = a, b");
        let figures = Figures::from(Map::from_iter([("k".to_string(), json!(5)), ("t".to_string(), Value::Null)]));
        assert_eq!(figures.words(), "k = 5, t = –");
        assert!(figures.iter().eq([("k", Figure::Number(5.0)), ("t", Figure::None)]));
    }

    #[test]
    fn measured_figures_are_rounded_to_the_side_that_holds() {
        let below = json!(f64::from_bits(4f64.to_bits() - 1));
        assert_eq!(measured("entropy-l-diversity", "l", &below), ("=", "3.9999".to_string()));
        assert_eq!(measured("recursive-c-l-diversity", "c", &json!(2)), (">", "2".to_string()));
        assert_eq!(measured("t-closeness", "t", &json!(1.0 / 3.0)), ("=", "0.3334".to_string()));
        let of_class = Figures::from(Map::from_iter([("c".to_string(), json!(2.5)), ("l".to_string(), Value::Null)]));
        assert_eq!(of_class.measured_words("recursive-c-l-diversity"), "c > 2.5000, l = –");
    }

    #[test]
    fn figures_are_found_by_their_places() {
        let lookup = Lookup::of(&json!({"rows": [{"k": 5, "t": 1.0 / 3.0}], "title": "a"}));
        let number = |words: &str, number: &str| LookedUp { words: words.into(), number: Some(number.into()) };
        let text = |words: &str| LookedUp { words: words.into(), number: None };
        assert_eq!(lookup.figure("/rows/0/k"), number("5", "5"));
        let t = lookup.measured("t-closeness", "t", "/rows/0/t");
        assert_eq!(t, ("=", number("0.3334", &(1.0 / 3.0).to_string())));
        assert_eq!((lookup.figure("/title"), lookup.figure("/rows/1/k")), (text("a"), text("–")));
    }

    #[test]
    fn single_figures_print_as_the_numbers_they_are() {
        let bounds = [Bound::Exact("2".parse().unwrap()), Bound::Real(0.5), Bound::Always, Bound::Never];
        for bound in bounds {
            assert_eq!(of(&Figure::of_bound(&bound)), self::bound(&bound), "{bound:?}");
        }
        assert_eq!(of(&Figure::Text("a".to_string())), json!("a"));
    }

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
