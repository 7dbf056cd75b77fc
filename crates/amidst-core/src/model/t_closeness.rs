//! t-closeness.
//!
//! **Definition.** distance(P, Q) ≤ t, with P the distribution of the sensitive values in the class and Q in the table.
//! Distances: `equal`, the earth mover's distance with equal ground distance, which is ½ Σ|p − q|; `ordered`, with
//! ground distance |i − j|/(m − 1) between ranks, m being the number of values in the column's stated order, also of
//! those that the table lacks, or else of the values present; `hierarchical`, with the height of the lowest common
//! ancestor over the height of the column's own hierarchy; `kl`, Σ p·ln(p/q); `js`, the Jensen–Shannon divergence.
//!
//! **Source.** Li, Li & Venkatasubramanian 2007, Definition 2 and §5; survey Definition 6.
//!
//! **Departures.** `kl` and `js` use natural logarithms. Q is that of the input after dropped rows while classes are
//! searched and suppressed; a release must hold against its own rows as well, so that anybody can check it.
//!
//! **Monotone**: P of a merged class is a mixture of the two, and every one of these distances is convex in P.
//!
//! **Cost**: one pass over the class for `equal` and `kl`, over the table's values for the others. The three earth
//! mover's distances are exact fractions; `kl` and `js` are decided exactly but measured to double precision.

use super::{Audit, Bound, Entry, Level, Needs, PrivacyModel, Sensitive};
use crate::class::{Class, Ranking, TableStats};
use crate::exact::earth_mover::{self, Distance, Tree};
use crate::exact::largest_part::largest;
use crate::exact::{Rational, divergence};
use crate::parameter::{Kind, Measured, Parameter, ParameterError};
use crate::sensitive::SensitiveDomain;

const DISTANCES: &[&str] = &["equal", "ordered", "hierarchical", "kl", "js"];

pub(super) const ENTRY: Entry = Entry {
    id: "t-closeness",
    title: "t-closeness",
    definition: "distance(class distribution, table distribution) ≤ t, in every class; the table is the input, and then also \
                 the release itself",
    citation: "Li, Li & Venkatasubramanian 2007, Definition 2; survey Definition 6",
    meaning: "the values of {on} in a person's class are spread as in the whole table, up to a distance of {t}, so \
              finding the class teaches little",
    parameters: &[
        Parameter::required("t", Kind::Number, "the largest distance from the table a class may have")
            .measured(Measured::From),
        Parameter::optional("distance", Kind::Choice(DISTANCES), "how distributions are compared; `equal` when absent"),
    ],
    sensitive: Sensitive::One,
    audit: &[
        Audit::of("t_equal", &[("t", "1"), ("distance", "equal")]),
        Audit::of("t_ordered", &[("t", "1"), ("distance", "ordered")]),
        Audit::of("t_hierarchical", &[("t", "1"), ("distance", "hierarchical")]),
        Audit::of("t_kl", &[("t", "1"), ("distance", "kl")]),
        Audit::of("t_js", &[("t", "1"), ("distance", "js")]),
    ],
    build: |parameters, domain| {
        let t = parameters.number_from("t", 0, false)?;
        let ground = Ground::read(parameters.choice("distance", DISTANCES)?, domain)?;
        Ok(Box::new(TCloseness { t, ground }))
    },
};

#[derive(Debug)]
enum Ground {
    Equal,
    Ordered(Ranking),
    Hierarchical(Tree),
    KullbackLeibler,
    JensenShannon,
}

impl Ground {
    fn read(word: &str, domain: &SensitiveDomain) -> Result<Self, ParameterError> {
        let error = |message: String| Err(ParameterError::new("distance", message));
        match word {
            "ordered" if !domain.ordered => error(format!(
                "`ordered` needs an order of the values of `{}`: write `order = [...]` on the column, or use `equal`",
                domain.name
            )),
            "ordered" => Ok(Ground::Ordered(domain.ranking.clone())),
            "hierarchical" => match &domain.levels {
                None => error(format!(
                    "`hierarchical` needs a hierarchy of `{}` itself: write `hierarchy = ...` on the column, or use `equal`",
                    domain.name
                )),
                Some(levels) => match Tree::new(levels) {
                    Some(tree) => Ok(Ground::Hierarchical(tree)),
                    None => error(format!(
                        "the hierarchy of `{}` is not a tree with a single top: mend it, or use `equal`",
                        domain.name
                    )),
                },
            },
            "kl" => Ok(Ground::KullbackLeibler),
            "js" => Ok(Ground::JensenShannon),
            _ => Ok(Ground::Equal),
        }
    }
}

#[derive(Debug)]
struct TCloseness {
    t: Rational,
    ground: Ground,
}

impl TCloseness {
    /// The earth mover's distance; `None` for the divergences.
    fn distance(&self, class: &Class<'_>, table: &TableStats) -> Option<Distance> {
        match &self.ground {
            Ground::Equal => Some(earth_mover::equal(class.histogram, table)),
            Ground::Ordered(ranking) => Some(earth_mover::ordered(class.histogram, table, ranking)),
            Ground::Hierarchical(tree) => Some(earth_mover::hierarchical(class.histogram, table, tree)),
            Ground::KullbackLeibler | Ground::JensenShannon => None,
        }
    }
}

impl PrivacyModel for TCloseness {
    fn needs(&self) -> Needs {
        Needs::Histogram
    }

    fn monotone(&self) -> bool {
        true
    }

    fn least_rows(&self, table: &TableStats) -> u64 {
        // n rows have at most n values, at best the most frequent ones of the table, with the share s of it: then the
        // distance is at least 1 − s, and the divergence of the class from the table −ln s. A hair less, against
        // rounding.
        let share = match &self.ground {
            Ground::Equal => 1.0 - self.t.to_f64(),
            Ground::KullbackLeibler => (-self.t.to_f64()).exp(),
            Ground::Ordered(_) | Ground::Hierarchical(_) | Ground::JensenShannon => return 1,
        };
        table.values_covering(share)
    }

    fn least_different(&self, table: &TableStats) -> u64 {
        // This number of rows is needed for the sake of their values.
        self.least_rows(table)
    }

    fn compares_with_table(&self) -> bool {
        true
    }

    fn holds(&self, class: &Class<'_>, table: &TableStats) -> bool {
        let order = match (self.distance(class, table), &self.ground) {
            (Some(distance), _) => distance.compare(&self.t),
            (None, Ground::JensenShannon) => divergence::compare_js(class.histogram, table, &self.t),
            (None, _) => divergence::compare_kl(class.histogram, table, &self.t),
        };
        order.is_le()
    }

    fn most_kept(&self, class: &Class<'_>, table: &TableStats) -> u64 {
        if !matches!(self.ground, Ground::Equal) {
            return class.size;
        }
        // ½ Σ|p − q| ≤ t says that Σ min(nᵢ, qᵢ·T) ≥ (1 − t)·T, T being the rows of the part; no part has more of a
        // value than the class. The left side less the right is concave in T, so that what satisfies it ends at one T.
        // The slack is far above what doubles may lose: the answer is never too low.
        let total = table.size.max(1) as f64;
        let share = 1.0 - self.t.to_f64();
        let fits = |rows: u64| {
            let rows = rows as f64;
            let common: f64 =
                class.histogram.iter().map(|&(s, n)| (n as f64).min(table.count(s) as f64 / total * rows)).sum();
            common >= share * rows - 1e-9 * rows
        };
        largest(class.size, fits)
    }

    fn measure(&self, class: &Class<'_>, table: &TableStats) -> Level {
        let zero = Rational::from(0);
        let real = |order: std::cmp::Ordering, value: f64| match order {
            _ if value.is_infinite() => Bound::Never,
            std::cmp::Ordering::Greater => Bound::Real(value.max(f64::MIN_POSITIVE)),
            _ => Bound::Exact(0.into()),
        };
        let bound = match (self.distance(class, table), &self.ground) {
            (Some(distance), _) => Bound::Exact(distance.to_rational()),
            (None, Ground::JensenShannon) => real(
                divergence::compare_js(class.histogram, table, &zero),
                divergence::js(class.histogram, table).value,
            ),
            (None, _) => real(
                divergence::compare_kl(class.histogram, table, &zero),
                divergence::kl(class.histogram, table).value,
            ),
        };
        Level::smallest("t", bound)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{build_in, number, text};
    use super::*;

    fn domain() -> SensitiveDomain {
        SensitiveDomain {
            name: "salary".into(),
            ordered: true,
            levels: Some(vec![vec![0, 1, 2, 3], vec![0, 0, 1, 1], vec![0, 0, 0, 0]]),
            ..SensitiveDomain::default()
        }
    }

    fn holds(t: &str, distance: &str, histogram: &[(u32, u64)]) -> bool {
        let model = build_in(&ENTRY, &[("t", number(t)), ("distance", text(distance))], &domain()).unwrap();
        let table = TableStats { size: 4, histogram: vec![(0, 1), (1, 1), (2, 1), (3, 1)], ..TableStats::default() };
        model.holds(&Class::of(histogram), &table)
    }

    #[test]
    fn each_distance_holds_at_its_bound() {
        // P = (½, ½, 0, 0) against a uniform Q.
        let class = [(0, 5), (1, 5)];
        assert!(holds("0.5", "equal", &class) && !holds("0.4999", "equal", &class));
        // Cumulated differences ¼, ½, ¼ over 3.
        assert!(holds("1/3", "ordered", &class) && !holds("0.3333", "ordered", &class));
        // Half of the mass crosses the top.
        assert!(holds("0.5", "hierarchical", &class) && !holds("0.4999", "hierarchical", &class));
        // P = (½, 0, ½, 0): a quarter moves within each group, at half the cost.
        assert!(holds("0.25", "hierarchical", &[(0, 1), (2, 1)]));
        // ln 2 = 0.693147…
        assert!(holds("0.6931471805599454", "kl", &class) && !holds("0.6931471805599453", "kl", &class));
        assert!(holds("0.2158", "js", &class) && !holds("0.2157", "js", &class));
        assert!(holds("0", "js", &[(0, 3), (1, 3), (2, 3), (3, 3)]));
    }

    #[test]
    fn ranks_of_absent_values_count() {
        // The order lists five values; the table has the first, the fourth and one that is not listed: six ranks.
        let ranking = Ranking { listed: vec![0, 3], ranks: 5 };
        let domain = SensitiveDomain { ranking, ordered: true, ..domain() };
        let holds = |t: &str| {
            let model = build_in(&ENTRY, &[("t", number(t)), ("distance", text("ordered"))], &domain).unwrap();
            let table = TableStats { size: 3, histogram: vec![(0, 1), (1, 1), (2, 1)], ..TableStats::default() };
            model.holds(&Class::of(&[(0, 7)]), &table)
        };
        // Two thirds go over three ranks, one third over two: 8/3 of five.
        assert!(holds("8/15") && !holds("0.5333"));
    }

    #[test]
    fn distances_say_what_they_need() {
        let bare = SensitiveDomain { name: "salary".into(), ..SensitiveDomain::default() };
        let error = |distance: &str| {
            build_in(&ENTRY, &[("t", number("0.1")), ("distance", text(distance))], &bare).unwrap_err().message
        };
        assert!(error("ordered").contains("`order = [...]`"));
        assert!(error("hierarchical").contains("`hierarchy = ...`"));
        assert!(error("euclid").contains("equal, ordered, hierarchical, kl, js, not `euclid`"));
        assert!(build_in(&ENTRY, &[("t", number("0.1"))], &bare).is_ok());
        assert!(build_in(&ENTRY, &[("t", number("-0.1"))], &bare).is_err());
    }
}
