//! Attacks on people in a release, against the same attacks on people who are not in it.
//!
//! What can be said of anybody, because it is true in general, is no leak. So a seeded part of the rows, the control
//! group, is taken out of the published classes; the attacker works with what is left, and tries the same on the
//! control group and on as many people who are still in it. What succeeds more often on those in the release than on
//! the others is the risk of being in it: (rate − control rate) / (1 − control rate).
//!
//! The classes stay those of the release, which was found with the control group in it. For the owner of a table alone:
//! who is in the control group, and what they had, follows from the input.
//!
//! After Giomi et al., A Unified Framework for Quantifying Privacy Risk in Synthetic Data, PoPETs 2023, for the three
//! risks of the Article 29 Working Party, Opinion 05/2014.
//!
//! May use: `prepare`, `release`, and what those use.

use amidst_core::frequency::Groups;
use amidst_core::ids::SensitiveId;
use amidst_core::recoding::{Recoding, SUPPRESSED};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::prepare::Prepared;

/// The most people in either group.
const MOST_PEOPLE: usize = 1_000;

/// With fewer people in either group rates say nothing.
const LEAST_PEOPLE: usize = 20;

/// The share of the rows that either group may be.
const SHARE: usize = 5;

/// Classes times people up to which they are looked at.
const MOST_WORK: usize = 20_000_000;

/// The attacks, and on how many people they were tried.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ControlGroup {
    /// People of the release whom the attacks were tried on, and as many who are not in it.
    pub people: u64,
    /// The attacks.
    pub attacks: Vec<Tried>,
}

/// One attack.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tried {
    /// `singling out`, `linkability` or `inference`.
    pub risk: &'static str,
    /// The sensitive column, for inference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// What is tried, and when it succeeds.
    pub attack: String,
    /// How often it succeeds on people in the release.
    pub in_release: Rate,
    /// How often on those who are not.
    pub control: Rate,
    /// By how much being in the release makes it likelier, from 0 to 1.
    pub excess: f64,
    /// The same at the most, with 95 % confidence.
    pub excess_at_most: f64,
}

/// How often something succeeds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rate {
    /// Successes.
    pub successes: u64,
    /// Attempts.
    pub attempts: u64,
    /// Their share.
    pub share: f64,
}

impl Rate {
    fn of(successes: usize, attempts: usize) -> Rate {
        let share = if attempts == 0 { 0.0 } else { successes as f64 / attempts as f64 };
        Rate { successes: successes as u64, attempts: attempts as u64, share }
    }

    /// Wilson's interval of 95 %.
    fn interval(&self) -> (f64, f64) {
        if self.attempts == 0 {
            return (0.0, 1.0);
        }
        let (n, z) = (self.attempts as f64, 1.959_963_984_540_054);
        let centre = self.share + z * z / (2.0 * n);
        let half = z * (self.share * (1.0 - self.share) / n + z * z / (4.0 * n * n)).sqrt();
        let scale = 1.0 + z * z / n;
        (((centre - half) / scale).max(0.0), ((centre + half) / scale).min(1.0))
    }
}

impl Tried {
    fn new(risk: &'static str, column: Option<String>, attack: String, in_release: Rate, control: Rate) -> Tried {
        let over = |rate: f64, base: f64| if base < 1.0 { ((rate - base) / (1.0 - base)).clamp(0.0, 1.0) } else { 0.0 };
        let excess = over(in_release.share, control.share);
        let excess_at_most = over(in_release.interval().1, control.interval().0);
        Tried { risk, column, attack, in_release, control, excess, excess_at_most }
    }
}

/// Somebody whom the attacks are tried on.
struct Person {
    /// The classes whose cells cover them.
    classes: Vec<u32>,
    /// Their sensitive values together; none where the search left the row out.
    values: Option<SensitiveId>,
}

/// The published classes without the control group.
struct Left<'a> {
    classes: &'a Groups,
    /// The rows of the control group in each class, with each combination of sensitive values.
    gone: FxHashMap<(u32, Option<SensitiveId>), u64>,
}

/// Tries the attacks; nothing where there are too few people, somebody has several rows, or the rows are elsewhere.
/// `classes` are the published classes, `class_of_row` the class of each row.
pub fn control_group(
    prepared: &Prepared,
    recoding: &Recoding,
    classes: &Groups,
    class_of_row: &[u32],
    seed: u64,
) -> Option<ControlGroup> {
    let published: Vec<u32> = (0..class_of_row.len() as u32)
        .filter(|&row| {
            class_of_row[row as usize] != SUPPRESSED && (class_of_row[row as usize] as usize) < recoding.classes.len()
        })
        .collect();
    let affordable = MOST_WORK / (2 * recoding.classes.len().max(1));
    let people = MOST_PEOPLE.min(published.len() / SHARE).min(affordable);
    if people < LEAST_PEOPLE || prepared.weights.is_some() || prepared.set.persons {
        return None;
    }
    let drawn = drawn(published, 2 * people, seed);
    let (control, inside) = drawn.split_at(people);
    let mut left = Left { classes, gone: FxHashMap::default() };
    for &row in control {
        *left.gone.entry((class_of_row[row as usize], values(prepared, row as usize))).or_default() += 1;
    }
    let person = |&row: &u32| Person::of(prepared, recoding, row as usize);
    let groups: [Vec<Person>; 2] = [inside.iter().map(person).collect(), control.iter().map(person).collect()];
    let mut attacks = vec![singling_out(&left, &groups, people)];
    attacks.extend((prepared.generalizations.len() > 1).then(|| linkability(&left, &groups)));
    attacks.extend((0..prepared.domains.len()).map(|s| inference(prepared, &left, &groups, s)));
    Some(ControlGroup { people: people as u64, attacks })
}

/// `count` of the rows, drawn by the seed.
fn drawn(mut rows: Vec<u32>, count: usize, seed: u64) -> Vec<u32> {
    let mut random = ChaCha8Rng::seed_from_u64(seed ^ 0x00c0_ffee);
    for i in 0..count.min(rows.len()) {
        let left = (rows.len() - i) as u64;
        let other = i + (random.next_u64() % left) as usize;
        rows.swap(i, other);
    }
    rows.truncate(count);
    rows
}

impl Left<'_> {
    /// The combinations of sensitive values in a class, with their rows.
    fn counts(&self, class: u32) -> impl Iterator<Item = (SensitiveId, u64)> + '_ {
        let gone = move |values: SensitiveId| self.gone.get(&(class, Some(values))).copied().unwrap_or(0);
        let entries = self.classes.get(class as usize).iter();
        entries.map(move |e| (e.sensitive, e.rows.saturating_sub(gone(e.sensitive)))).filter(|c| c.1 > 0)
    }
}

/// The sensitive values of a row together.
fn values(prepared: &Prepared, row: usize) -> Option<SensitiveId> {
    let entry = prepared.entry_of_row.get(row).and_then(|&e| prepared.set.groups.entries.get(e.index()));
    entry.map(|entry| entry.sensitive)
}

impl Person {
    fn of(prepared: &Prepared, recoding: &Recoding, row: usize) -> Person {
        let codes: Vec<u32> = prepared.quasi.iter().map(|&c| prepared.table.columns[c].codes.get(row)).collect();
        let covers = |class: &u32| {
            let cells = &recoding.classes[*class as usize];
            cells.iter().zip(&prepared.generalizations).zip(&codes).all(|((cell, g), &code)| g.covers(cell, code))
        };
        Person { classes: (0..recoding.classes.len() as u32).filter(covers).collect(), values: values(prepared, row) }
    }
}

/// Published rows that nobody shares, each tried as a description: it singles somebody out who alone in a group fits
/// it.
fn singling_out(left: &Left, groups: &[Vec<Person>; 2], people: usize) -> Tried {
    let descriptions: Vec<(u32, Option<SensitiveId>)> = (0..left.classes.len() as u32)
        .flat_map(|class| left.counts(class).filter(|c| c.1 == 1).map(move |(values, _)| (class, Some(values))))
        .collect();
    let step = descriptions.len().div_ceil(people).max(1);
    let tried: Vec<(u32, Option<SensitiveId>)> = descriptions.into_iter().step_by(step).collect();
    let mut fitting: [FxHashMap<(u32, Option<SensitiveId>), u32>; 2] = [FxHashMap::default(), FxHashMap::default()];
    for (fitting, group) in fitting.iter_mut().zip(groups) {
        for person in group {
            person.classes.iter().for_each(|&class| *fitting.entry((class, person.values)).or_default() += 1);
        }
    }
    let alone = |group: usize| tried.iter().filter(|key| fitting[group].get(key) == Some(&1)).count();
    let attempts = tried.len();
    let attack = "a published row that no other row agrees with is taken for a description of somebody; it succeeds when \
                  exactly one person of the group fits it";
    Tried::new("singling out", None, attack.to_string(), Rate::of(alone(0), attempts), Rate::of(alone(1), attempts))
}

/// Two halves of what is known of somebody, linked by the release.
fn linkability(left: &Left, groups: &[Vec<Person>; 2]) -> Tried {
    let rows = |class: u32| left.counts(class).map(|c| c.1).sum::<u64>();
    let linked = |person: &&Person| person.classes.iter().map(|&class| rows(class)).sum::<u64>() == 1;
    let rate = |group: &Vec<Person>| Rate::of(group.iter().filter(linked).count(), group.len());
    let attack = "one source knows half of somebody's quasi columns, another the other half; it succeeds when a single \
                  published row fits both, so that the two are known to be of one person";
    Tried::new("linkability", None, attack.to_string(), rate(&groups[0]), rate(&groups[1]))
}

/// A sensitive value, guessed from the quasi columns.
fn inference(prepared: &Prepared, left: &Left, groups: &[Vec<Person>; 2], column: usize) -> Tried {
    let value = |values: SensitiveId| prepared.set.sensitive_code(values, column);
    let guess = |person: &Person| {
        let mut counts: FxHashMap<u32, u64> = FxHashMap::default();
        for &class in &person.classes {
            left.counts(class).for_each(|(values, n)| *counts.entry(value(values)).or_default() += n);
        }
        counts.into_iter().max_by_key(|&(value, n)| (n, std::cmp::Reverse(value))).map(|(value, _)| value)
    };
    let right = |person: &&Person| guess(person) == person.values.map(value);
    let rate = |group: &Vec<Person>| Rate::of(group.iter().filter(right).count(), group.len());
    let name = prepared.domains[column].name.clone();
    let attack = format!(
        "who knows somebody's quasi columns guesses the most frequent {name} among the published rows that fit them; it \
         succeeds when that is theirs"
    );
    Tried::new("inference", Some(name), attack, rate(&groups[0]), rate(&groups[1]))
}

#[cfg(test)]
mod tests {
    use amidst_core::table::{Column, Table};

    use super::*;
    use crate::policy::Policy;
    use crate::prepare::LoadOptions;

    /// A table in which each class of `size` rows has sensitive values by `value`, published by a full-domain recoding.
    fn tried(size: usize, value: impl Fn(usize, usize) -> usize) -> ControlGroup {
        let cells: Vec<(String, String)> =
            (0..600).map(|row| ((row / size).to_string(), format!("v{}", value(row / size, row % size)))).collect();
        let column = |name: &str, at: usize| {
            Column::from_values(name, cells.iter().map(|c| if at == 0 { c.0.as_str() } else { c.1.as_str() }))
        };
        let table = Table { columns: vec![column("q", 0), column("s", 1)], rows: cells.len() };
        let text = "[columns.q]\nrole = \"quasi\"\ntype = \"text\"\n[columns.s]\nrole = \"sensitive\"\n";
        let policy = Policy::parse(text, std::path::Path::new("p.toml")).unwrap();
        let prepared = Prepared::of_table(&policy, table, &LoadOptions::default()).unwrap();
        let recoding = Recoding::full_domain(&prepared.set, &prepared.generalizations, &[0]);
        let classes = crate::release::class_of_rows(&prepared.set, &recoding.assignment, &prepared.entry_of_row);
        let (groups, _) = recoding.groups(&prepared.set);
        control_group(&prepared, &recoding, &groups, &classes, 1).unwrap()
    }

    fn of<'a>(found: &'a ControlGroup, risk: &str) -> &'a Tried {
        found.attacks.iter().find(|a| a.risk == risk).unwrap()
    }

    #[test]
    fn what_holds_for_anybody_is_no_leak() {
        // Everybody of a class has its value: guessing works on those who are not in the release as well.
        let found = tried(30, |class, _| class % 5);
        let inference = of(&found, "inference");
        assert_eq!((inference.in_release.share, inference.control.share), (1.0, 1.0));
        assert_eq!(inference.excess, 0.0);
        assert_eq!(of(&found, "singling out").in_release.successes, 0);
    }

    #[test]
    fn what_only_the_row_itself_tells_is_one() {
        // Pairs of rows with values of their own: a published person is half of the evidence about themselves.
        let found = tried(2, |class, row| 2 * class + row);
        let inference = of(&found, "inference");
        assert!(inference.control.share == 0.0 && inference.in_release.share > 0.4, "{inference:?}");
        assert!(inference.excess > 0.4 && inference.excess_at_most >= inference.excess);
        let single = of(&found, "singling out");
        assert!(single.in_release.successes > 0 && single.control.successes == 0, "{single:?}");
    }
}
