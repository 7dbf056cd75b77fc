//! Privacy models: what a class must look like before it may be published.
//!
//! One model is one file of this folder, with its definition, its source and its test vectors; [`MODELS`] is the only
//! list of them. Command line, policy schema, documentation and bindings are made from it.
//!
//! May use: `class`, `exact`, `parameter`, `sensitive`, and what those use.

use std::fmt::Debug;

use crate::class::{Class, Headcount, Sizes, TableStats};
use crate::exact::Rational;
use crate::parameter::{Parameter, ParameterError, Parameters};
use crate::sensitive::SensitiveDomain;

mod average_risk;
mod bayes_optimal;
mod belief_difference;
mod beta_likeness;
mod complete_alpha_k_anonymity;
mod delta_disclosure;
mod delta_presence;
mod distinct_l_alpha_diversity;
mod distinct_l_diversity;
mod entropy_l_alpha_diversity;
mod entropy_l_diversity;
mod general_alpha_k_anonymity;
mod k_anonymity;
mod k_map;
mod level;
mod m_invariance;
mod max_risk;
pub mod named;
mod npd_recursive_c1_c2_l_diversity;
mod p_sensitive_k_anonymity;
mod pd_recursive_c_l_diversity;
mod recursive_c_l_alpha_diversity;
mod recursive_c_l_diversity;
mod release_risk;
mod sample_uniqueness;
mod simple_alpha_k_anonymity;
mod t_closeness;

pub use level::{Bound, Level, Stronger};

/// Every privacy model, in the order of the specification.
pub const MODELS: &[Entry] = &[
    k_anonymity::ENTRY,
    distinct_l_diversity::ENTRY,
    entropy_l_diversity::ENTRY,
    recursive_c_l_diversity::ENTRY,
    pd_recursive_c_l_diversity::ENTRY,
    npd_recursive_c1_c2_l_diversity::ENTRY,
    p_sensitive_k_anonymity::ENTRY,
    simple_alpha_k_anonymity::ENTRY,
    general_alpha_k_anonymity::ENTRY,
    complete_alpha_k_anonymity::ENTRY,
    distinct_l_alpha_diversity::ENTRY,
    entropy_l_alpha_diversity::ENTRY,
    recursive_c_l_alpha_diversity::ENTRY,
    t_closeness::ENTRY,
    bayes_optimal::ENTRY,
    belief_difference::ENTRY,
    delta_disclosure::ENTRY,
    beta_likeness::ENTRY,
    k_map::ENTRY,
    delta_presence::ENTRY,
    average_risk::ENTRY,
    sample_uniqueness::ENTRY,
    max_risk::ENTRY,
    m_invariance::ENTRY,
];

/// One model, as the registry knows it.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The name in policies, reports and on the command line.
    pub id: &'static str,
    /// The name in prose.
    pub title: &'static str,
    /// When a class satisfies it, in the papers' symbols.
    pub definition: &'static str,
    /// Where it is defined.
    pub citation: &'static str,
    /// What it means for one person in the table, as a part of a sentence; `{k}` stands for the parameter k, `{on}` for
    /// the sensitive columns.
    pub meaning: &'static str,
    /// What a requirement may state.
    pub parameters: &'static [Parameter],
    /// Which sensitive columns a requirement names.
    pub sensitive: Sensitive,
    /// How `amidst audit` measures it: what is kept fixed while its main parameter is measured.
    pub audit: &'static [Audit],
    /// Reads the parameters; the domain is that of the sensitive column, empty where the model has none.
    pub build: Build,
}

impl Entry {
    /// Whether this is the same model.
    pub fn is(&self, other: &Entry) -> bool {
        self.id == other.id
    }

    /// What it means for one person, with the stated parameters in their places; a parameter that is not stated is told
    /// by its name.
    pub fn meaning_with(&self, stated: impl Fn(&str) -> Option<String>) -> String {
        let mut out = String::new();
        let mut rest = self.meaning;
        while let Some((before, after)) = rest.split_once('{') {
            let (name, after) = after.split_once('}').unwrap_or((after, ""));
            out.push_str(before);
            out.push_str(&stated(name).unwrap_or_else(|| name.to_string()));
            rest = after;
        }
        out + rest
    }
}

/// Reads the parameters of a requirement into a model.
pub type Build = fn(&Parameters, &SensitiveDomain) -> Result<Box<dyn PrivacyModel>, ParameterError>;

/// One figure that an audit reports for a model.
#[derive(Debug, Clone, Copy)]
pub struct Audit {
    /// The name of the figure.
    pub key: &'static str,
    /// The parameters while it is measured; the measured one is any value that can be read.
    pub parameters: &'static [(&'static str, &'static str)],
    /// A further parameter that runs from 2 up to the number of sensitive values, a figure each.
    pub sweep: Option<&'static str>,
    /// The name of the figure of the second parameter, for models that bound two things at once.
    pub further: Option<&'static str>,
}

impl Audit {
    const fn of(key: &'static str, parameters: &'static [(&'static str, &'static str)]) -> Self {
        Audit { key, parameters, sweep: None, further: None }
    }

    const fn and(self, further: &'static str) -> Self {
        Audit { further: Some(further), ..self }
    }

    const fn swept(
        key: &'static str,
        parameters: &'static [(&'static str, &'static str)],
        sweep: &'static str,
    ) -> Self {
        Audit { key, parameters, sweep: Some(sweep), further: None }
    }
}

/// Which sensitive columns a requirement of this model names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sensitive {
    /// None: the model looks at class sizes or tuples only.
    None,
    /// One column.
    One,
    /// One column, or several together as in Definition 4.6 of the ℓ-diversity article.
    OneOrMany,
}

/// What a model looks at. The search computes no more than that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Needs {
    /// The class size.
    Size,
    /// The class's sensitive histogram.
    Histogram,
    /// The original tuples that the class covers.
    Tuples,
    /// The sizes of all classes together.
    Release,
}

/// A requirement's test of a class.
pub trait PrivacyModel: Debug + Send + Sync {
    /// What the model looks at.
    fn needs(&self) -> Needs;

    /// Whether a class merged from two satisfying classes always satisfies it.
    fn monotone(&self) -> bool;

    /// Whether a class that satisfies it still does after any further row, of whomever and with whatever value.
    /// Stronger than monotone: it also holds where merged counts are not sums, because a person has rows in both
    /// classes.
    fn preserved_by_insertion(&self) -> bool {
        false
    }

    /// The number of distinct sensitive values that every class must have at least, whatever its size.
    fn least_values(&self) -> u64 {
        1
    }

    /// No class with fewer rows satisfies it, in this table. An algorithm that builds classes need not ask about
    /// smaller ones, and begins with classes of this size. A bound that is too low costs loss, one that is too high
    /// hides classes.
    fn least_rows(&self, _table: &TableStats) -> u64 {
        1
    }

    /// No class with fewer different sensitive values satisfies it, in this table. What is proven about releases rests
    /// on it, so it must never be too high.
    fn least_different(&self, _table: &TableStats) -> u64 {
        1
    }

    /// No class in which some sensitive values are more frequent than others satisfies it with fewer different ones,
    /// whatever the table is. What is proven about releases rests on it, so it must never be too high.
    fn least_uneven(&self) -> u64 {
        1
    }

    /// Every class that satisfies it has at least this many times the rows of its most frequent sensitive value,
    /// whatever the table is. What is proven about releases rests on it, so it must never be too high.
    fn least_ratio(&self) -> u64 {
        1
    }

    /// Whether classes with the same shares get the same verdict, as long as they have [`PrivacyModel::least_rows`].
    /// Not where something is added up over rows.
    fn scales(&self) -> bool {
        true
    }

    /// How many rows, all with different sensitive values, satisfy it whatever the table is, and more of them too;
    /// `None` where no number is enough.
    fn enough_different(&self) -> Option<u64> {
        None
    }

    /// How many values it promises that everybody keeps from version to version of a series; `None` where it is about
    /// single releases.
    fn kept_values(&self) -> Option<u64> {
        None
    }

    /// Whether it bounds the share of sensitive values, so that rule 2 of the survey's (α,k) clustering can ask it
    /// about a class that is yet to be filled up.
    fn bounds_shares(&self) -> bool {
        false
    }

    /// The least share, above 0, that it allows any sensitive value, where it bounds shares.
    fn strictest_share(&self) -> Option<Rational> {
        None
    }

    /// Whether it compares classes with the distribution of the whole table, which a checker must then know.
    fn compares_with_table(&self) -> bool {
        false
    }

    /// Whether the class satisfies the model. Always true for a model that needs the whole release.
    fn holds(&self, class: &Class<'_>, table: &TableStats) -> bool;

    /// Whether a class of `size` persons satisfies the model when it matches `people` of the population; `None` for a
    /// model that looks at anything else. Local recoding asks this: it can count people in a box of cells.
    fn holds_among(&self, _size: u64, _people: Headcount) -> Option<bool> {
        None
    }

    /// At most how many rows of a class that fails can be left when others are taken out until it satisfies the model.
    /// Asked of monotone models alone: what is published of a class, cut up however finely, satisfies them as a whole.
    fn most_kept(&self, class: &Class<'_>, _table: &TableStats) -> u64 {
        if self.preserved_by_insertion() { 0 } else { class.size }
    }

    /// The strongest parameter that the class satisfies.
    fn measure(&self, class: &Class<'_>, table: &TableStats) -> Level;

    /// The strongest value of a second parameter that the class satisfies, for models that bound two things at once.
    fn further(&self, _class: &Class<'_>, _table: &TableStats) -> Option<Level> {
        None
    }

    /// Whether the release as a whole satisfies the model; for models with [`Needs::Release`].
    fn holds_release(&self, _sizes: &Sizes) -> bool {
        true
    }

    /// The strongest parameter that the release satisfies; for models with [`Needs::Release`].
    fn measure_release(&self, _sizes: &Sizes) -> Option<Level> {
        None
    }
}

/// The model called `id`.
pub fn find(id: &str) -> Option<&'static Entry> {
    MODELS.iter().find(|e| e.id == id)
}

/// The id most like `id`, for "did you mean"; none when nothing comes close.
pub fn nearest(id: &str) -> Option<&'static str> {
    let id = id.trim().to_lowercase().replace('_', "-");
    MODELS
        .iter()
        .map(|e| (strsim::jaro_winkler(&id, e.id), e.id))
        .filter(|&(likeness, _)| likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, id)| id)
}

#[cfg(test)]
mod testing {
    //! How the models' own tests write parameters.

    use super::{Entry, PrivacyModel};
    use crate::class::{Class, Population, TableStats};
    use crate::parameter::{ParameterError, Parameters, Value};
    use crate::sensitive::SensitiveDomain;

    /// A number, as a policy writes it in quotes.
    pub fn number(text: &str) -> Value {
        Value::Number(text.parse().unwrap())
    }

    pub fn text(text: &str) -> Value {
        Value::Text(text.to_string())
    }

    pub fn texts(values: &[&str]) -> Value {
        Value::List(values.iter().map(|v| text(v)).collect())
    }

    /// A model on a column with these values.
    pub fn build_on(
        entry: &Entry,
        pairs: &[(&str, Value)],
        values: &[&str],
    ) -> Result<Box<dyn PrivacyModel>, ParameterError> {
        let domain = SensitiveDomain { dictionary: values.iter().copied().collect(), ..SensitiveDomain::default() };
        build_in(entry, pairs, &domain)
    }

    pub fn build_in(
        entry: &Entry,
        pairs: &[(&str, Value)],
        domain: &SensitiveDomain,
    ) -> Result<Box<dyn PrivacyModel>, ParameterError> {
        let mut parameters = Parameters::default();
        pairs.iter().for_each(|(key, value)| parameters.set(key, value.clone()));
        (entry.build)(&parameters, domain)
    }

    pub fn build(entry: &Entry, pairs: &[(&str, Value)]) -> Result<Box<dyn PrivacyModel>, ParameterError> {
        build_on(entry, pairs, &[])
    }

    /// A column whose values fall into categories.
    pub const DISEASES: [&str; 4] = ["HIV", "Cancer", "Hepatitis", "Flu"];

    /// A model with these numbers on [`DISEASES`], of which the first two are one category and each other is its own.
    pub fn build_on_diseases(entry: &Entry, numbers: &[(&str, &str)]) -> Box<dyn PrivacyModel> {
        let categories = Value::List(vec![texts(&["HIV", "Cancer"]), texts(&["Hepatitis"]), texts(&["Flu"])]);
        let mut pairs: Vec<(&str, Value)> = numbers.iter().map(|&(key, n)| (key, number(n))).collect();
        pairs.push(("categories", categories));
        build_on(entry, &pairs, &DISEASES).unwrap()
    }

    /// The table of Figures 5 and 6 of the ℓ-diversity article, with its classes: q1, q2, and both joined.
    pub fn figures_5_and_6() -> (TableStats, [Class<'static>; 3]) {
        let population = Some(Population::of_figure_5().into());
        let table = TableStats { size: 52, population, tuple_sizes: vec![2, 50], ..TableStats::default() };
        let q1 = Class { size: 2, histogram: &[(0, 1), (1, 1)], tuples: &[0] };
        let q2 = Class { size: 50, histogram: &[(0, 35), (1, 15)], tuples: &[1] };
        let both = Class { size: 52, histogram: &[(0, 36), (1, 16)], tuples: &[0, 1] };
        (table, [q1, q2, both])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_never_say_more_than_holds() {
        let below = f64::from_bits(4f64.to_bits() - 1);
        assert_eq!(Level::largest("l", Bound::Real(below)).figure(), "3.9999");
        assert_eq!(Level::largest("l", Bound::Exact(4.into())).figure(), "4");
        assert_eq!(Level::largest("l", Bound::Real(8f64.sqrt())).figure(), "2.8284");
        assert_eq!(Level::smallest("t", Bound::ratio(1, 3)).figure(), "0.3334");
        assert_eq!(Level::smallest("t", Bound::Real(1e-9)).figure(), "0.0001");
        assert_eq!(Level::smallest("alpha", Bound::ratio(1, 2)).figure(), "0.5000");
        let open = Level::smallest("c", Bound::Exact(2.into())).open();
        assert_eq!((open.sign(), open.figure()), (">", "2".to_string()));
    }

    /// Classes of different values, of the size that is said to be enough and larger ones.
    #[test]
    fn enough_different_values_are_enough() {
        let stated = [
            ("k-anonymity", vec![("k", "4")], 4),
            ("distinct-l-diversity", vec![("l", "3")], 3),
            ("entropy-l-diversity", vec![("l", "3.5")], 4),
            ("entropy-l-diversity", vec![("l", "3")], 3),
            ("p-sensitive-k-anonymity", vec![("p", "2"), ("k", "5")], 5),
            ("m-invariance", vec![("m", "4")], 4),
        ];
        for (id, parameters, enough) in stated {
            let pairs: Vec<(&str, crate::parameter::Value)> =
                parameters.iter().map(|&(k, v)| (k, testing::number(v))).collect();
            let model = testing::build(find(id).unwrap(), &pairs).unwrap();
            assert_eq!(model.enough_different(), Some(enough), "{id}");
            assert_eq!(model.kept_values(), (id == "m-invariance").then_some(4), "{id}");
            for rows in enough..enough + 9 {
                let counts: Vec<(u32, u64)> = (0..rows as u32).map(|value| (value, 1)).collect();
                assert!(model.holds(&Class::of(&counts), &TableStats::default()), "{id} {rows}");
            }
        }
    }

    #[test]
    fn slips_of_the_pen_find_their_model() {
        assert_eq!(nearest("k-anonimity"), Some("k-anonymity"));
        assert_eq!(nearest("T_Closeness"), Some("t-closeness"));
        assert_eq!(nearest("entropy-diversity"), Some("entropy-l-diversity"));
        assert_eq!(nearest("xyzzy"), None);
    }
}

#[cfg(test)]
mod meaning_tests {
    use super::*;

    #[test]
    fn meanings_name_parameters_that_there_are() {
        for entry in MODELS {
            let known = |name: &str| match name {
                "on" => entry.sensitive != Sensitive::None,
                name => entry.parameters.iter().any(|p| p.name == name),
            };
            let text = entry.meaning_with(|name| {
                assert!(known(name), "{}: {name}", entry.id);
                Some("7".to_string())
            });
            assert!(!text.is_empty() && !text.contains(['{', '}']), "{}: {text}", entry.id);
        }
    }
}
