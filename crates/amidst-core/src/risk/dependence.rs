//! How far one column gives another away: what a column that is published as it is tells of one that is generalized.
//!
//! A density that stands 1:1 for a region, a code beside its label, an age beside a year of birth: generalizing the one
//! is in vain while the other is written beside it. The danger in measuring it is chance: a column of which every row
//! has its own value "determines" all others. So each row is predicted from the *other* rows with the same value, and
//! what is predicted as well without looking does not count.
//!
//! - Values: the share of rows whose value is the most frequent one among the other rows with the same `from` value,
//!   beyond what the most frequent value of all gets right (Goodman & Kruskal 1954, λ, each row left out of its own
//!   prediction).
//! - Lines, where the determined column has numbers or dates: the share of the variance that the means of the other
//!   rows explain (the correlation ratio η², left out likewise), or a straight line from one column to the other
//!   (Pearson's r²).

use crate::table::{Codes, Column};

/// Rows that are compared at most, evenly spread over the table.
const MOST_ROWS: usize = 100_000;

/// Fewer rows than this show nothing.
const FEWEST_ROWS: usize = 20;

/// What one column tells of another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dependence {
    /// The share of rows whose value is told rightly.
    pub told: f64,
    /// The same beyond what is told rightly without looking, from 0 to 1.
    pub beyond_chance: f64,
    /// The share of the variance explained, where the determined column lies on a line.
    pub explained: Option<f64>,
}

/// Where the values of a column lie on a line, by code; NaN where one does not. `None` when too few do.
pub fn line(column: &Column) -> Option<Vec<f64>> {
    if !column.kind.is_numeric() {
        return None;
    }
    let places = column.dictionary.iter().map(|v| column.kind.coordinate(v).unwrap_or(f64::NAN)).collect::<Vec<_>>();
    (places.iter().filter(|p| p.is_finite()).count() > 2).then_some(places)
}

impl Dependence {
    /// From this share on a column is as good as given away.
    pub const NEARLY: f64 = 0.95;

    /// What `from` tells of `to`; the lines of both, where they have one (see [`line()`]). `None` where there are too
    /// few rows to say.
    pub fn of(from: &Codes, to: &Codes, from_line: Option<&[f64]>, to_line: Option<&[f64]>) -> Option<Dependence> {
        let rows = from.len().min(to.len());
        if rows < FEWEST_ROWS {
            return None;
        }
        let step = rows.div_ceil(MOST_ROWS);
        let mut pairs: Vec<(u32, u32)> = (0..rows).step_by(step).map(|r| (from.get(r), to.get(r))).collect();
        pairs.sort_unstable();
        let (told, base) = (told(&pairs), told_by_chance(&pairs));
        let all = pairs.len() as f64;
        let (told, base) = (told as f64 / all, base as f64 / all);
        let beyond_chance = if base < 1.0 { ((told - base) / (1.0 - base)).max(0.0) } else { 0.0 };
        let explained = to_line.map(|to| {
            let by_mean = explained_by_means(&pairs, to);
            let by_line = from_line.map_or(0.0, |from| explained_by_line(&pairs, from, to));
            by_mean.max(by_line)
        });
        Some(Dependence { told, beyond_chance, explained })
    }

    /// Whether the column is given away, or as good as.
    pub fn gives_away(&self) -> bool {
        self.beyond_chance >= Self::NEARLY || self.explained.is_some_and(|e| e >= Self::NEARLY)
    }
}

/// Rows whose `to` is the most frequent one among the other rows of the same `from`.
fn told(pairs: &[(u32, u32)]) -> usize {
    let groups = pairs.chunk_by(|a, b| a.0 == b.0);
    groups.map(|group| group.chunk_by(|a, b| a.1 == b.1).map(<[_]>::len)).map(right).sum()
}

/// The same without looking at `from`.
fn told_by_chance(pairs: &[(u32, u32)]) -> usize {
    let mut values: Vec<u32> = pairs.iter().map(|p| p.1).collect();
    values.sort_unstable();
    right(values.chunk_by(|a, b| a == b).map(<[_]>::len))
}

/// How many of a group are told rightly by the others: those of the most frequent value, if it stays that without one.
fn right(counts: impl Iterator<Item = usize>) -> usize {
    let (mut most, mut next) = (0, 0);
    for n in counts {
        (most, next) = if n > most { (n, most) } else { (most, next.max(n)) };
    }
    if most > 1 && most > next { most } else { 0 }
}

fn explained_by_means(pairs: &[(u32, u32)], to: &[f64]) -> f64 {
    let at = |pair: &(u32, u32)| to[pair.1 as usize];
    let known: Vec<f64> = pairs.iter().map(at).filter(|x| x.is_finite()).collect();
    let mean = known.iter().sum::<f64>() / known.len() as f64;
    let total: f64 = known.iter().map(|x| (x - mean).powi(2)).sum();
    let mut left = 0.0;
    for group in pairs.chunk_by(|a, b| a.0 == b.0) {
        let members: Vec<f64> = group.iter().map(at).filter(|x| x.is_finite()).collect();
        let (n, sum) = (members.len() as f64, members.iter().sum::<f64>());
        left += match members.len() {
            0 => 0.0,
            1 => (members[0] - mean).powi(2),
            _ => members.iter().map(|x| (x - (sum - x) / (n - 1.0)).powi(2)).sum(),
        };
    }
    if total > 0.0 { (1.0 - left / total).max(0.0) } else { 0.0 }
}

fn explained_by_line(pairs: &[(u32, u32)], from: &[f64], to: &[f64]) -> f64 {
    let at = |pair: &(u32, u32)| (from[pair.0 as usize], to[pair.1 as usize]);
    let known: Vec<(f64, f64)> = pairs.iter().map(at).filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
    if known.len() < FEWEST_ROWS || known.len() * 2 < pairs.len() {
        return 0.0;
    }
    let n = known.len() as f64;
    let (mx, my) = (known.iter().map(|p| p.0).sum::<f64>() / n, known.iter().map(|p| p.1).sum::<f64>() / n);
    let sum = |of: &dyn Fn(f64, f64) -> f64| known.iter().map(|&(x, y)| of(x - mx, y - my)).sum::<f64>();
    let (xx, yy, xy) = (sum(&|x, _| x * x), sum(&|_, y| y * y), sum(&|x, y| x * y));
    if xx > 0.0 && yy > 0.0 { xy * xy / (xx * yy) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(from: &[String], to: &[String]) -> Dependence {
        let column = |values: &[String]| Column::from_values("c", values.iter().map(String::as_str));
        let (from, to) = (column(from), column(to));
        Dependence::of(&from.codes, &to.codes, line(&from).as_deref(), line(&to).as_deref()).unwrap()
    }

    fn made(of: impl Fn(usize) -> String) -> Vec<String> {
        (0..400).map(of).collect()
    }

    #[test]
    fn a_density_stands_for_its_region() {
        let region = made(|i| ["north", "south", "east", "west"][i * 7 % 4 * (i % 3) % 4].to_string());
        let density: Vec<String> =
            region.iter().map(|r| (r.len() * 100 + r.as_bytes()[0] as usize).to_string()).collect();
        assert!(between(&density, &region).gives_away());
        // Two sexes tell little of four regions.
        assert!(!between(&made(|i| (i % 2).to_string()), &region).gives_away());
    }

    #[test]
    fn an_age_stands_for_a_year_of_birth() {
        let year = made(|i| (1930 + i * 31 % 70).to_string());
        let age: Vec<String> =
            (0..400).map(|i| (2024 - (1930 + i * 31 % 70) - usize::from(i % 3 == 0)).to_string()).collect();
        assert!(between(&age, &year).gives_away() && between(&year, &age).gives_away());
    }

    #[test]
    fn a_value_for_every_row_tells_nothing_by_chance() {
        let id = made(|i| format!("id{i}"));
        let sex = made(|i| ["f", "m"][i * i % 7 % 2].to_string());
        assert_eq!(between(&id, &sex).told, 0.0);
        // A value that nearly everybody has is told rightly without looking.
        let rare = made(|i| if i == 7 { "yes" } else { "no" }.to_string());
        assert!(!between(&sex, &rare).gives_away());
    }

    #[test]
    fn a_date_of_birth_stands_for_an_age() {
        let born: Vec<String> =
            (0..400).map(|i| format!("{}-{:02}-{:02}", 1940 + i % 60, 1 + i % 12, 1 + i % 28)).collect();
        let age: Vec<String> = (0..400).map(|i| (2024 - (1940 + i % 60)).to_string()).collect();
        assert!(between(&born, &age).gives_away());
        let few = Codes::default();
        assert!(Dependence::of(&few, &few, None, None).is_none());
    }
}
