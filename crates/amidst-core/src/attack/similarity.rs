//! The similarity attack.
//!
//! **Assumes** that the adversary finds a person's class and knows what the sensitive values mean: which of them belong
//! together.
//!
//! **Succeeds** in a class whose values, though distinct, all lie within one category (the column's categories in the
//! policy), or within one node of the column's own hierarchy below its top: that much is then known about everyone in
//! it. The (l, α) paper counts such classes in §5 ("any QI-group that has all values falling in one category"); with
//! `share` below 1, those in which one category reaches the share (its 75 % in Table 6).
//!
//! With `distance`, also in a class whose numbers lie close together: the greatest and the least differ by at most that
//! share of the range of the column. A column of numbers then needs no categories (the survey's salaries in Table 3).
//!
//! A value that no category lists is a category of its own. A class of one single value lies within one category too.

use std::cmp::Ordering;

use super::{Attack, AttackError, ClassProfile, Entry, Extra, Findings, Knowledge, Target, share_or};
use crate::class::Histogram;
use crate::exact::Rational;
use crate::parameter::{Kind, Parameter, ParameterError, Parameters};
use crate::sensitive::SensitiveDomain;

pub(super) const ENTRY: Entry = Entry {
    id: "similarity",
    title: "similarity attack",
    assumes: "the quasi values of a person who is in the table, and which sensitive values are alike",
    definition: "the values of the class lie within one category, or one node of the sensitive column's hierarchy",
    citation: "Li, Li & Venkatasubramanian, ICDE 2007; Sun, Li & Wang, FGCS 2010, §2 and §5",
    needs: Knowledge::Release,
    parameters: &[
        Parameter::optional("share", Kind::Number, "the share of a class that must lie in one category; 1 when absent"),
        Parameter::optional("categories", Kind::Categories, "lists of values; the column's own when absent"),
        Parameter::optional(
            "distance",
            Kind::Number,
            "for a column of numbers: the share of its range within which the numbers of a class are alike, such as 0.25",
        ),
    ],
    attack: &Similarity,
};

#[derive(Debug)]
struct Similarity;

impl Attack for Similarity {
    fn run(&self, target: &Target<'_>, _: &Extra<'_>, parameters: &Parameters) -> Result<Findings, AttackError> {
        let share = share_or(parameters, "share", Rational::from(1))?;
        let near = near(target, parameters)?;
        let groupings = groupings(target, parameters, near.is_some())?;
        let judge = |profile: &ClassProfile, histogram: &Histogram, (hit, counts): &mut (Vec<(u64, u64)>, Vec<u64>)| {
            let mut hardest: Option<f64> = None;
            if let Some(near) = &near
                && near.holds(histogram)
            {
                let close = hit.len() - 1;
                hit[close] = (hit[close].0 + profile.classes, hit[close].1 + profile.rows);
                hardest = Some(1.0);
            }
            for (grouping, (classes, rows)) in groupings.iter().zip(hit) {
                if grouping.groups == 0 {
                    return None;
                }
                // All are zero, and are again afterwards: groups that no value of the class is in are not looked at.
                counts.resize(counts.len().max(grouping.groups), 0);
                let group = |value: u32| grouping.of.get(value as usize).filter(|g| (**g as usize) < grouping.groups);
                let mut top = 0;
                for &(value, n) in histogram {
                    if let Some(&group) = group(value) {
                        counts[group as usize] += n;
                        top = top.max(counts[group as usize]);
                    }
                }
                histogram.iter().filter_map(|c| group(c.0)).for_each(|&group| counts[group as usize] = 0);
                // A person with two values of one group is still one person.
                let top = top.min(profile.size);
                if share.compare_count(top, profile.size) != Ordering::Less {
                    *classes += profile.classes;
                    *rows += profile.rows;
                    hardest = Some(hardest.unwrap_or(0.0).max(top as f64 / profile.size as f64));
                }
            }
            hardest
        };
        let nothing = (vec![(0u64, 0u64); groupings.len() + usize::from(near.is_some())], Vec::new());
        let (mut findings, (hit, _)) = target.hits(nothing, judge, |(all, _), (more, _)| {
            all.iter_mut().zip(more).for_each(|(hit, more)| *hit = (hit.0 + more.0, hit.1 + more.1));
        });
        let names = groupings.iter().map(|grouping| grouping.name.as_str()).chain(near.iter().map(|_| "distance"));
        for (name, (classes, rows)) in names.zip(hit) {
            findings.figures.push((format!("classes_{name}"), classes as f64));
            findings.figures.push((format!("rows_{name}"), rows as f64));
        }
        Ok(findings)
    }
}

/// Numbers that are alike because they are close.
struct Near {
    /// The number of each value.
    numbers: Vec<f64>,
    /// How far the numbers of a class may lie apart.
    width: f64,
}

impl Near {
    fn holds(&self, histogram: &Histogram) -> bool {
        let numbers = histogram.iter().filter(|c| c.1 > 0).filter_map(|c| self.numbers.get(c.0 as usize));
        let (low, high) = numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &x| (l.min(x), h.max(x)));
        // What a double may have lost must not acquit.
        low <= high && high - low <= self.width * (1.0 + 1e-12)
    }
}

/// What `distance` says, where it is stated: the column must hold numbers.
fn near(target: &Target<'_>, parameters: &Parameters) -> Result<Option<Near>, AttackError> {
    if parameters.get("distance").is_none() {
        return Ok(None);
    }
    let share = parameters.share("distance")?.to_f64();
    let number = |value: &str| crate::table::ValueType::Decimal.coordinate(value);
    let values = target.domain().map(|domain| domain.dictionary.iter().map(number).collect::<Option<Vec<f64>>>());
    let Some(Some(numbers)) = values else {
        return Err(AttackError::Lacks {
            attack: ENTRY.id,
            what: "a sensitive column of numbers for `distance`".to_string(),
        });
    };
    let (low, high) = numbers.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &x| (l.min(x), h.max(x)));
    Ok(Some(Near { width: share * (high - low).max(0.0), numbers }))
}

/// A way to say which values belong together.
struct Grouping {
    name: String,
    /// The group of each value.
    of: Vec<u32>,
    groups: usize,
}

/// The categories, and the levels of the hierarchy between the values and the top.
fn groupings(target: &Target<'_>, parameters: &Parameters, otherwise: bool) -> Result<Vec<Grouping>, AttackError> {
    let domain = target.domain();
    let stated = match parameters.get("categories") {
        Some(value) => value.lists().ok_or_else(no_lists)?,
        None => domain.map(|d| d.categories.clone()).unwrap_or_default(),
    };
    let mut groupings = Vec::new();
    if let Some(domain) = domain {
        if !stated.is_empty() {
            groupings.push(by_category(&stated, domain));
        }
        let levels = domain.levels.as_deref().unwrap_or_default();
        let inner = 1..levels.len().saturating_sub(1);
        for (level, of) in inner.map(|l| (l, &levels[l])) {
            let groups = of.iter().map(|&g| g as usize + 1).max().unwrap_or(0);
            groupings.push(Grouping { name: format!("level_{level}"), of: of.clone(), groups });
        }
    }
    if groupings.is_empty() && !otherwise {
        let what = "categories of the sensitive column, or a hierarchy of it with a level between its values and its \
                    top; state `categories`, or `distance` for numbers"
            .to_string();
        return Err(AttackError::Lacks { attack: ENTRY.id, what });
    }
    Ok(groupings)
}

fn by_category(categories: &[Vec<String>], domain: &SensitiveDomain) -> Grouping {
    let mut groups = categories.len() as u32;
    let mut of = vec![u32::MAX; domain.dictionary.len()];
    for (category, values) in (0u32..).zip(categories) {
        for code in values.iter().filter_map(|v| domain.dictionary.code(v)) {
            if let Some(group) = of.get_mut(code as usize) {
                *group = category;
            }
        }
    }
    for group in of.iter_mut().filter(|g| **g == u32::MAX) {
        *group = groups;
        groups += 1;
    }
    Grouping { name: "category".to_string(), of, groups: groups as usize }
}

fn no_lists() -> ParameterError {
    ParameterError::new("categories", "`categories` must be lists of values, such as [[\"HIV\"], [\"Flu\", \"Cold\"]]")
}

#[cfg(test)]
mod tests {
    use super::super::view::fixture::{Fixture, figure};
    use super::*;
    use crate::parameter::Value;

    /// Table 5 of the (l, α) paper: 2-diverse, its classes by age.
    const TABLE_5: [(&str, &str); 12] = [
        ("<30", "HIV"),
        ("<30", "HIV"),
        ("<30", "Cancer"),
        ("<30", "Cancer"),
        (">40", "Hepatitis"),
        (">40", "Phthisis"),
        (">40", "Asthma"),
        (">40", "Obesity"),
        ("3*", "Flu"),
        ("3*", "Flu"),
        ("3*", "Flu"),
        ("3*", "Indigestion"),
    ];

    fn categories() -> Value {
        let lists = [["HIV", "Cancer"], ["Phthisis", "Hepatitis"], ["Obesity", "Asthma"], ["Flu", "Indigestion"]];
        Value::List(lists.map(|l| Value::List(l.map(|v| Value::Text(v.into())).to_vec())).to_vec())
    }

    #[test]
    fn numbers_are_alike_when_they_are_close() {
        // The salaries of the survey's Table 3, in thousands: those of the first class lie within 2 of a range of 8.
        let rows = [
            ("2*", "3"),
            ("2*", "4"),
            ("2*", "5"),
            (">=40", "6"),
            (">=40", "11"),
            (">=40", "8"),
            ("3*", "7"),
            ("3*", "9"),
        ];
        let fixture = Fixture::new(&rows);
        let at = |distance: &str| {
            let parameters = Parameters::from_pairs([("distance", Value::Text(distance.into()))]);
            ENTRY.run(&fixture.target(), &Extra::default(), &parameters).unwrap()
        };
        assert_eq!((at("0.25").classes, at("0.25").rows), (2, 5));
        assert_eq!(figure(&at("0.25"), "rows_distance"), 5.0);
        assert_eq!(at("0.24").classes, 0);
        assert_eq!(at("1").classes, 3);
        let words = Fixture::new(&[("q", "flu"), ("q", "cold")]);
        let parameters = Parameters::from_pairs([("distance", Value::Text("0.5".into()))]);
        assert!(ENTRY.run(&words.target(), &Extra::default(), &parameters).is_err());
    }

    #[test]
    fn table_5_has_two_classes_within_one_category() {
        let fixture = Fixture::new(&TABLE_5);
        let parameters = Parameters::from_pairs([("categories", categories())]);
        let findings = ENTRY.run(&fixture.target(), &Extra::default(), &parameters).unwrap();
        assert_eq!((findings.classes, findings.rows), (2, 8));
        assert_eq!(figure(&findings, "rows_category"), 8.0);
    }

    #[test]
    fn table_6_gives_away_a_top_secret_at_75_percent() {
        let fixture = Fixture::new(&[("a", "HIV"), ("a", "HIV"), ("a", "Cancer"), ("a", "Flu")]);
        let mut parameters = Parameters::from_pairs([("categories", categories())]);
        let run = |p: &Parameters| ENTRY.run(&fixture.target(), &Extra::default(), p).unwrap().rows;
        assert_eq!(run(&parameters), 0);
        parameters.set("share", Value::Text("0.75".into()));
        assert_eq!(run(&parameters), 4);
    }

    #[test]
    fn nodes_below_the_top_of_a_hierarchy_count() {
        let mut fixture = Fixture::new(&TABLE_5);
        // Infections against the rest, below one top.
        let infections = ["HIV", "Hepatitis", "Phthisis", "Flu"].map(|v| fixture.code(v));
        let level_1: Vec<u32> = (0..8).map(|c| u32::from(infections.contains(&c))).collect();
        fixture.domains[0].levels = Some(vec![(0..8).collect(), level_1, vec![0; 8]]);
        let findings = ENTRY.run(&fixture.target(), &Extra::default(), &Parameters::default()).unwrap();
        assert_eq!((findings.classes, figure(&findings, "classes_level_1")), (0, 0.0));
        let mut alike = Fixture::new(&[("a", "HIV"), ("a", "Flu"), ("b", "Flu"), ("b", "Gout")]);
        alike.domains[0].levels = Some(vec![vec![0, 1, 2], vec![0, 1, 0], vec![0, 0, 0]]);
        let findings = ENTRY.run(&alike.target(), &Extra::default(), &Parameters::default()).unwrap();
        assert_eq!((findings.worst, findings.rows), (vec![0], 2));
    }

    #[test]
    fn values_without_meaning_have_no_similarity() {
        let fixture = Fixture::new(&TABLE_5);
        let error = ENTRY.run(&fixture.target(), &Extra::default(), &Parameters::default()).unwrap_err();
        assert!(error.to_string().contains("needs categories"), "{error}");
    }
}
