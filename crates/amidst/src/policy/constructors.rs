//! Models and hierarchy builders as functions of Rust, for [`Policy::builder`](super::Policy::builder): the required
//! parameters are arguments, so that a forgotten one does not compile. Optional ones follow with `with`; what has no
//! function here is made by its id ([`require`], [`hierarchy`]).

use amidst_core::parameter::Value;

use super::build::{HierarchyPolicy, IntoValue, RequirementPolicy, hierarchy, require};

/// Intervals of these widths, each a multiple of the one before. Optional: `origin`, `bottom`, `top`.
pub fn intervals<const N: usize>(widths: [u64; N]) -> HierarchyPolicy {
    hierarchy("intervals", widths)
}

/// Ranges between these break points, a list for each level.
pub fn ranges<V: IntoValue>(levels: Vec<Vec<V>>) -> HierarchyPolicy {
    hierarchy("ranges", levels)
}

/// The last characters masked, one more at each level; of codes with this number of characters.
pub fn mask(length: u64) -> HierarchyPolicy {
    hierarchy("mask", Value::Table(vec![("length".to_string(), length.into_value())]))
}

/// Dates by these units, such as `month`, `year`, `decade`, from fine to coarse.
pub fn dates<const N: usize>(units: [&str; N]) -> HierarchyPolicy {
    hierarchy("dates", units)
}

/// An ordered list of values in groups of these sizes, one for each level.
pub fn order<const N: usize, const M: usize>(values: [&str; N], groups: [u64; M]) -> HierarchyPolicy {
    hierarchy("order", values).with("groups", groups)
}

/// A tree of values: a [`Value::Table`] of branches, whose leaves are lists.
pub fn taxonomy(tree: Value) -> HierarchyPolicy {
    hierarchy("taxonomy", tree)
}

/// A file with a line for each value, a column for each level. Optional: `separator`.
pub fn levels_file(path: &str) -> HierarchyPolicy {
    hierarchy("file", path)
}

/// These values as they are, all others in one group. Optional: `others`, the name of that group.
pub fn common<const N: usize>(values: [&str; N]) -> HierarchyPolicy {
    hierarchy("common", values)
}

/// What stands before the first of these characters.
pub fn prefix(separators: &str) -> HierarchyPolicy {
    hierarchy("prefix", separators)
}

/// Codes of ICD-10: the category, then the chapter.
pub fn icd10() -> HierarchyPolicy {
    hierarchy("icd10", true)
}

/// Countries by their English names or ISO 3166-1 codes: the continent.
pub fn countries() -> HierarchyPolicy {
    hierarchy("countries", true)
}

/// Two levels: the value, and `*`.
pub fn suppress() -> HierarchyPolicy {
    hierarchy("suppress", true)
}

/// Every class has at least `k` rows.
pub fn k_anonymity(k: u64) -> RequirementPolicy {
    require("k-anonymity").with("k", k)
}

/// Every class has at least `l` distinct sensitive values.
pub fn distinct_l_diversity(l: u64) -> RequirementPolicy {
    require("distinct-l-diversity").with("l", l)
}

/// The entropy of the sensitive values of every class is at least log `l`. Optional: `dont_care`.
pub fn entropy_l_diversity(l: impl IntoValue) -> RequirementPolicy {
    require("entropy-l-diversity").with("l", l)
}

/// In every class the most frequent sensitive value is rarer than `c` times all but the `l` − 1 most frequent
/// together.
pub fn recursive_c_l_diversity(c: impl IntoValue, l: u64) -> RequirementPolicy {
    require("recursive-c-l-diversity").with("c", c).with("l", l)
}

/// Recursive (`c`, `l`)-diversity for the most frequent value outside the optional `dont_care`.
pub fn pd_recursive_c_l_diversity(c: impl IntoValue, l: u64) -> RequirementPolicy {
    require("pd-recursive-c-l-diversity").with("c", c).with("l", l)
}

/// As [`pd_recursive_c_l_diversity`] with `c1`; every value of the optional `no_negative` has at least `c2`
/// percent of a class.
pub fn npd_recursive_c1_c2_l_diversity(c1: impl IntoValue, c2: impl IntoValue, l: u64) -> RequirementPolicy {
    require("npd-recursive-c1-c2-l-diversity").with("c1", c1).with("c2", c2).with("l", l)
}

/// Every class has at least `k` rows and `p` distinct sensitive values.
pub fn p_sensitive_k_anonymity(p: u64, k: u64) -> RequirementPolicy {
    require("p-sensitive-k-anonymity").with("p", p).with("k", k)
}

/// Every class has at least `k` rows, at most the share `alpha` of them with this value.
pub fn simple_alpha_k_anonymity(alpha: impl IntoValue, value: &str, k: u64) -> RequirementPolicy {
    require("simple-alpha-k-anonymity").with("alpha", alpha).with("value", value).with("k", k)
}

/// Every class has at least `k` rows, at most the share `alpha` of them with the same value.
pub fn general_alpha_k_anonymity(alpha: impl IntoValue, k: u64) -> RequirementPolicy {
    require("general-alpha-k-anonymity").with("alpha", alpha).with("k", k)
}

/// Every class has at least `k` rows, and of each value listed at most the share that is stated with it.
pub fn complete_alpha_k_anonymity<V: IntoValue, const N: usize>(alpha: [(&str, V); N], k: u64) -> RequirementPolicy {
    let bounds = alpha.into_iter().map(|(value, share)| (value.to_string(), share.into_value())).collect();
    require("complete-alpha-k-anonymity").with("alpha", Value::Table(bounds)).with("k", k)
}

/// Every class has at least `l` distinct values, whose rows weigh at least `alpha` together. Optional:
/// `categories`, `weights`.
pub fn distinct_l_alpha_diversity(l: u64, alpha: impl IntoValue) -> RequirementPolicy {
    require("distinct-l-alpha-diversity").with("l", l).with("alpha", alpha)
}

/// Distinct (`l`, `alpha`)-diversity, and the entropy of the categories of every class is at least log `l`.
pub fn entropy_l_alpha_diversity(l: impl IntoValue, alpha: impl IntoValue) -> RequirementPolicy {
    require("entropy-l-alpha-diversity").with("l", l).with("alpha", alpha)
}

/// Distinct (`l`, `alpha`)-diversity, and the categories of every class are recursive (`c`, `l`)-diverse.
pub fn recursive_c_l_alpha_diversity(c: impl IntoValue, l: u64, alpha: impl IntoValue) -> RequirementPolicy {
    require("recursive-c-l-alpha-diversity").with("c", c).with("l", l).with("alpha", alpha)
}

/// The distribution of the sensitive values of every class is within `t` of that of the table. Optional: `distance`.
pub fn t_closeness(t: impl IntoValue) -> RequirementPolicy {
    require("t-closeness").with("t", t)
}

/// No value is so much rarer or more frequent in a class than in the table that |ln(p/q)| reaches `delta`.
pub fn delta_disclosure(delta: impl IntoValue) -> RequirementPolicy {
    require("delta-disclosure").with("delta", delta)
}

/// No value is more frequent in a class than (1 + `beta`) times its share of the table. Optional: `enhanced`.
pub fn beta_likeness(beta: impl IntoValue) -> RequirementPolicy {
    require("beta-likeness").with("beta", beta)
}

/// No belief below `rho1` rises above `rho2`, and none above 1 − `rho1` falls below 1 − `rho2`, given the table of
/// a population.
pub fn bayes_optimal(rho1: impl IntoValue, rho2: impl IntoValue, population: &str) -> RequirementPolicy {
    require("bayes-optimal").with("rho1", rho1).with("rho2", rho2).with("population", population)
}

/// No belief changes by more than `max`, given the table of a population.
pub fn belief_difference(max: impl IntoValue, population: &str) -> RequirementPolicy {
    require("belief-difference").with("max", max).with("population", population)
}

/// Every class matches at least `k` people of the table of a population.
pub fn k_map(k: u64, population: &str) -> RequirementPolicy {
    require("k-map").with("k", k).with("population", population)
}

/// Of the people of a population that a class matches, a share between `min` and `max` is in the data.
pub fn delta_presence(min: impl IntoValue, max: impl IntoValue, population: &str) -> RequirementPolicy {
    require("delta-presence").with("min", min).with("max", max).with("population", population)
}

/// The mean risk of re-identification is at most `threshold`.
pub fn average_risk(threshold: impl IntoValue) -> RequirementPolicy {
    require("average-risk").with("threshold", threshold)
}

/// Nobody has a risk of re-identification above `threshold`.
pub fn max_risk(threshold: impl IntoValue) -> RequirementPolicy {
    require("max-risk").with("threshold", threshold)
}

/// At most the share `threshold` of the rows is unique by the quasi columns.
pub fn sample_uniqueness(threshold: impl IntoValue) -> RequirementPolicy {
    require("sample-uniqueness").with("threshold", threshold)
}

/// Everybody keeps the same `m` or more candidate values in all versions of a series.
pub fn m_invariance(m: u64) -> RequirementPolicy {
    require("m-invariance").with("m", m)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Policy, PolicyBuilder};

    fn base() -> PolicyBuilder {
        Policy::builder().quasi("age", intervals([5, 10])).sensitive("disease")
    }

    #[test]
    fn every_model_is_accepted_with_what_its_function_asks_for() {
        // A population must be there when a policy names it.
        let population = tempfile::NamedTempFile::new().unwrap();
        let people = population.path().to_string_lossy().into_owned();
        let made = [
            k_anonymity(2),
            distinct_l_diversity(2),
            entropy_l_diversity(1.5),
            recursive_c_l_diversity(2, 2),
            pd_recursive_c_l_diversity(2.5, 2),
            npd_recursive_c1_c2_l_diversity(2, 5, 2),
            p_sensitive_k_anonymity(2, 3),
            simple_alpha_k_anonymity(0.5, "flu", 2),
            general_alpha_k_anonymity(0.5, 2),
            complete_alpha_k_anonymity([("flu", 0.5), ("a b", 0.25)], 2),
            distinct_l_alpha_diversity(2, 1).with("categories", [["HIV"], ["flu"]]),
            entropy_l_alpha_diversity(2, 1).with("categories", [["HIV"], ["flu"]]),
            recursive_c_l_alpha_diversity(2, 2, 1).with("categories", [["HIV"], ["flu"]]),
            t_closeness(0.2).with("distance", "equal"),
            delta_disclosure(1.5),
            beta_likeness(2).with("enhanced", true),
            bayes_optimal(0.2, 0.5, &people),
            belief_difference(0.3, &people),
            k_map(5, &people),
            delta_presence(0, 0.5, &people),
            average_risk(0.1),
            max_risk(0.2),
            sample_uniqueness(0),
            m_invariance(2),
        ];
        for requirement in made {
            let policy = base().require(requirement.clone()).build();
            let policy = policy.unwrap_or_else(|errors| panic!("{requirement:?}: {errors}"));
            let entry = policy.requirements[0].model;
            let missing =
                entry.parameters.iter().find(|p| p.required && policy.requirements[0].parameters.get(p.name).is_none());
            assert!(missing.is_none(), "{}: {missing:?}", entry.id);
        }
    }

    #[test]
    fn every_hierarchy_is_accepted_with_what_its_function_asks_for() {
        let branch = Value::Table(vec![("Any".to_string(), ["a", "b"].into_value())]);
        let made = [
            intervals([5, 10]).with("origin", 0),
            ranges(vec![vec![18, 30], vec![30]]),
            mask(5),
            dates(["month", "year"]),
            order(["low", "middle", "high"], [2]),
            taxonomy(branch),
            levels_file("zip.csv").with("separator", ";"),
            common(["Married", "Single"]).with("others", "other"),
            prefix("-/"),
            icd10(),
            countries(),
            suppress(),
        ];
        for hierarchy in &made {
            let policy = Policy::builder().quasi("a", hierarchy.clone()).require(k_anonymity(2)).build();
            assert!(policy.is_ok(), "{hierarchy:?}: {}", policy.unwrap_err());
        }
    }
}
