//! Judges single classes by a model, as in the papers' worked examples.

use amidst::Failure;
use amidst::core::class::{Class, TableStats};
use amidst::core::model;
use amidst::core::parameter::{Parameters, Value};
use amidst::core::requirement::SensitiveDomain;

use crate::data::health_categories;

/// A class: its values with their counts.
pub type Counts<'a> = [(&'a str, u64)];

/// Whether a class satisfies a model, and the figure that the model measures in it.
pub fn judged(id: &str, parameters: &[(&str, Value)], counts: &Counts<'_>) -> Result<(bool, f64), Failure> {
    let failed = |what: String| Failure::Io(format!("an experiment is wrong: {what}"));
    let entry = model::find(id).ok_or_else(|| failed(format!("no model {id}")))?;
    let mut domain = SensitiveDomain { categories: health_categories(), ..SensitiveDomain::default() };
    domain.categories.iter().flatten().for_each(|value| {
        domain.dictionary.intern(value);
    });
    let mut histogram: Vec<(u32, u64)> =
        counts.iter().map(|&(value, n)| (domain.dictionary.intern(value), n)).filter(|c| c.1 > 0).collect();
    histogram.sort_unstable();
    let mut stated = Parameters::default();
    parameters.iter().for_each(|(name, value)| stated.set(name, value.clone()));
    let model = (entry.build)(&stated, &domain).map_err(|e| failed(e.to_string()))?;
    let (class, table) = (Class::of(&histogram), TableStats::default());
    Ok((model.holds(&class, &table), model.measure(&class, &table).bound.to_f64()))
}

/// A parameter as a policy writes it.
pub fn text(value: &str) -> Value {
    Value::Text(value.to_string())
}

/// "holds" or "fails".
pub fn word(holds: bool) -> &'static str {
    if holds { "holds" } else { "fails" }
}
