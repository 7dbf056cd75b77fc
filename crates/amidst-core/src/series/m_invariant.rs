//! m-invariance: versions that can be published side by side.
//!
//! **Source.** Xiao & Tao, "m-invariance: towards privacy preserving re-publication of dynamic datasets", SIGMOD 2007,
//! Definitions 4–6 and §5.
//!
//! **Definition.** A class is m-unique when it has at least m rows, all with different sensitive values; its
//! *signature* is the set of these values. A series is m-invariant when every class of every version is m-unique, and a
//! person who is in several versions is in classes of the same signature. Then all versions together leave at least m
//! candidate values for everybody.
//!
//! **How.** *Division*: rows that were published before are put into buckets by their signature. *Balancing*: a bucket
//! needs every value of its signature equally often; what lacks is filled with new rows, or else with counterfeits,
//! which stand for no person and whose number is published. *Assignment*: the other new rows form buckets over their
//! most frequent values, so that the remaining ones can still be divided (no value in more than 1/m of them). *Split*:
//! each bucket is cut along its quasi columns into classes with one row of each value; then classes exchange rows while
//! that lowers the loss (see `regroup`). [`super::least_loss`] proves how far from the least loss the result can be.
//!
//! **Departures.** New rows first fill buckets that are there: the fewer signatures there are, the fewer counterfeits
//! it takes to balance them later. Buckets fix how many classes of each signature there are; which of the new rows of a
//! value goes to which is left open until all are cut together (see `deal`). New rows that cannot be divided among
//! themselves get the fewest counterfeits with which they can. A class that would consist of counterfeits alone is not
//! published. A row's signature outlives its absence: a person who comes back is published as before.

use std::collections::BTreeMap;

use super::deal::{SignatureAssigner, SignatureDemand};
use super::regroup::{Member, Regroup, SignedClass};
use crate::local::shape::Space;
use crate::random::Random;

/// A row, as this technique sees it.
#[derive(Debug, Clone, Copy)]
pub struct Signed<'a> {
    /// Its quasi codes.
    pub codes: &'a [u32],
    /// Its sensitive value.
    pub value: u32,
    /// The signature under which it was published before, ascending; empty for a row that never was.
    pub signature: &'a [u32],
}

/// An m-invariant version.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Invariant {
    /// The class of each row.
    pub class_of: Vec<u32>,
    /// The signature of each class, ascending.
    pub signatures: Vec<Vec<u32>>,
    /// Counterfeit rows: (class, value).
    pub counterfeits: Vec<(u32, u32)>,
}

/// Why there is no m-invariant version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvariantError {
    /// Too few values to choose from.
    #[error("m-invariance with m = {m} needs at least {m} different sensitive values, but the table has {values}")]
    TooFewValues {
        /// The m that was asked for.
        m: usize,
        /// The values there are.
        values: usize,
    },
}

/// Where the mixing of new rows starts: the same rows are always mixed alike.
const MIXING: u64 = 2007;

/// The members of each value of a signature, as many of one as of another.
type Bucket = Vec<Vec<Member>>;

/// Divides rows into classes that keep every signature. `values` is the number of sensitive values to choose from.
///
/// # Errors
/// When there are fewer than m values.
pub fn m_invariant(space: &Space, rows: &[Signed<'_>], values: usize, m: usize) -> Result<Invariant, InvariantError> {
    if rows.is_empty() {
        return Ok(Invariant::default());
    }
    if values < m {
        return Err(InvariantError::TooFewValues { m, values });
    }
    let mut buckets: BTreeMap<Vec<u32>, Bucket> = BTreeMap::new();
    let mut new = NewRows { by_value: vec![Vec::new(); values], m };
    for (at, row) in (0u32..).zip(rows) {
        // A value that is not in the signature has changed since: the row is as good as new.
        match row.signature.binary_search(&row.value) {
            Ok(place) => {
                let empty = || vec![Vec::new(); row.signature.len()];
                buckets.entry(row.signature.to_vec()).or_insert_with(empty)[place].push(Some(at));
            }
            Err(_) => new.by_value[row.value as usize].push(at),
        }
    }
    // Rows that came together often leave together. Mixed, every bucket loses its share of them and stays nearly
    // balanced; in the order of the table a few buckets would lose all of theirs.
    let mut random = Random::new(MIXING);
    new.by_value.iter_mut().for_each(|rows| random.shuffle(rows));
    new.allot(&mut buckets);
    Ok(classes_of(space, rows, values, buckets))
}

/// Makes classes of buckets. Those of new rows alone are cut together, the others each by itself.
fn classes_of(space: &Space, rows: &[Signed<'_>], values: usize, buckets: BTreeMap<Vec<u32>, Bucket>) -> Invariant {
    let codes = |row: u32| rows[row as usize].codes;
    let bound = |row: u32| rows[row as usize].signature.contains(&rows[row as usize].value);
    let split = Split { space, rows };
    let mut signatures = Vec::with_capacity(buckets.len());
    let mut classes = Vec::new();
    let (mut wanted, mut new) = (Vec::new(), vec![Vec::new(); values]);
    for (signature, bucket) in buckets {
        let number = signatures.len();
        if bucket.iter().flatten().flatten().any(|&row| bound(row)) {
            split.divide(bucket, number, &mut classes);
        } else {
            let counterfeits = bucket.iter().map(|members| members.iter().filter(|m| m.is_none()).count()).collect();
            wanted.push(SignatureDemand {
                signature: number,
                classes: bucket.first().map_or(0, Vec::len),
                counterfeits,
            });
            for (&value, members) in signature.iter().zip(&bucket) {
                new[value as usize].extend(members.iter().flatten());
            }
        }
        signatures.push(signature);
    }
    classes.extend(SignatureAssigner { space, codes, signatures: &signatures }.deal(wanted, new));
    Regroup { space, signatures: &signatures, codes, bound }.improve(&mut classes);
    // In the order of the signatures, as the classes of one follow each other.
    classes.sort_by_key(|class| class.signature);
    let mut version = Invariant { class_of: vec![0; rows.len()], ..Invariant::default() };
    classes.iter().for_each(|class| version.publish(&signatures[class.signature], &class.members));
    version
}

/// What a version will consist of, as far as numbers tell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Forecast {
    /// The signature of every class, each once, ascending. A class has one row of each value of its signature.
    pub signatures: Vec<Vec<u32>>,
    /// Counterfeit rows by value.
    pub counterfeits: BTreeMap<u32, u64>,
}

/// Which signatures [`m_invariant()`] will give to classes, and how many counterfeits it will take: that depends on how
/// many rows there are of each value under each signature (`known`, in the order of the signature's values) and of each
/// value among new rows (`new`), not on the rows themselves. `values` is as there.
///
/// # Errors
/// When there are fewer than m values.
pub fn forecast(
    known: &BTreeMap<Vec<u32>, Vec<u64>>,
    new: &BTreeMap<u32, u64>,
    values: usize,
    m: usize,
) -> Result<Forecast, InvariantError> {
    if values < m {
        return Err(InvariantError::TooFewValues { m, values });
    }
    // Anybody will do for a row.
    let rows = |n: u64| vec![0; usize::try_from(n).unwrap_or(0)];
    let bucket = |counts: &Vec<u64>| counts.iter().map(|&n| rows(n).into_iter().map(Some).collect()).collect();
    let mut buckets: BTreeMap<Vec<u32>, Bucket> = known.iter().map(|(s, counts)| (s.clone(), bucket(counts))).collect();
    let by_value = (0..values as u32).map(|value| rows(new.get(&value).copied().unwrap_or(0))).collect();
    NewRows { by_value, m }.allot(&mut buckets);
    let mut forecast = Forecast::default();
    for (signature, bucket) in buckets {
        for (&value, members) in signature.iter().zip(&bucket) {
            let counterfeits = members.iter().filter(|member| member.is_none()).count() as u64;
            if counterfeits > 0 {
                *forecast.counterfeits.entry(value).or_insert(0) += counterfeits;
            }
        }
        if bucket.iter().flatten().any(Option::is_some) {
            forecast.signatures.push(signature);
        }
    }
    Ok(forecast)
}

/// Rows that were never published.
struct NewRows {
    by_value: Vec<Vec<u32>>,
    m: usize,
}

impl NewRows {
    fn total(&self) -> usize {
        self.by_value.iter().map(Vec::len).sum()
    }

    /// How many counterfeits it takes until no value has more than 1/m of the rows.
    fn lacking(&self) -> usize {
        let most = self.by_value.iter().map(Vec::len).max().unwrap_or(0);
        (self.m * most).saturating_sub(self.total())
    }

    /// Puts every row into a bucket, and counterfeits where rows are lacking.
    fn allot(mut self, buckets: &mut BTreeMap<Vec<u32>, Bucket>) {
        for (signature, bucket) in &mut *buckets {
            self.balance(signature, bucket);
        }
        self.fill(buckets);
        self.assign(buckets);
    }

    fn balance(&mut self, signature: &[u32], bucket: &mut Bucket) {
        let most = bucket.iter().map(Vec::len).max().unwrap_or(0);
        for (&value, members) in signature.iter().zip(bucket) {
            while members.len() < most {
                members.push(self.spare(value));
            }
        }
    }

    /// A row of this value, if the others can do without it.
    fn spare(&mut self, value: u32) -> Member {
        let before = self.lacking();
        let row = self.by_value.get_mut(value as usize)?.pop()?;
        if self.lacking() > before {
            self.by_value[value as usize].push(row);
            return None;
        }
        Some(row)
    }

    /// Adds rows to the buckets that are there, one of each value at a time, as long as the others can do without them.
    fn fill(&mut self, buckets: &mut BTreeMap<Vec<u32>, Bucket>) {
        let mut largest: Vec<(&Vec<u32>, &mut Bucket)> = buckets.iter_mut().collect();
        largest.sort_by_key(|(_, bucket)| std::cmp::Reverse(bucket.first().map_or(0, Vec::len)));
        for (signature, bucket) in largest {
            loop {
                let before = self.lacking();
                if signature.iter().any(|&value| self.by_value[value as usize].is_empty()) {
                    break;
                }
                let taken: Vec<Member> = signature.iter().map(|&v| self.by_value[v as usize].pop()).collect();
                if self.lacking() > before {
                    for (&value, row) in signature.iter().zip(taken) {
                        self.by_value[value as usize].extend(row);
                    }
                    break;
                }
                bucket.iter_mut().zip(taken).for_each(|(members, row)| members.push(row));
            }
        }
    }

    /// Puts all remaining rows into buckets.
    fn assign(self, buckets: &mut BTreeMap<Vec<u32>, Bucket>) {
        let m = self.m;
        let lacking = self.lacking();
        let mut left: Vec<Vec<Member>> =
            self.by_value.into_iter().map(|rows| rows.into_iter().map(Some).collect()).collect();
        for _ in 0..lacking {
            // The rarest value: it stays below the most frequent one.
            if let Some(rarest) = (0..left.len()).min_by_key(|&v| left[v].len()) {
                left[rarest].push(None);
            }
        }
        loop {
            let mut order: Vec<usize> = (0..left.len()).filter(|&v| !left[v].is_empty()).collect();
            if order.is_empty() {
                return;
            }
            order.sort_by_key(|&v| (std::cmp::Reverse(left[v].len()), v));
            let counts: Vec<usize> = order.iter().map(|&v| left[v].len()).collect();
            let (width, depth) = portion(&counts, m);
            let mut signature: Vec<u32> = order[..width].iter().map(|&v| v as u32).collect();
            signature.sort_unstable();
            let bucket = buckets.entry(signature.clone()).or_insert_with(|| vec![Vec::new(); width]);
            for (&value, members) in signature.iter().zip(bucket) {
                let rows = &mut left[value as usize];
                members.extend(rows.drain(rows.len() - depth..));
            }
        }
    }
}

/// How many of the most frequent values (at least m), and how many rows of each, can be taken so that of the remaining
/// rows no value has more than 1/m. `counts` are descending, and no count is more than 1/m of their sum.
fn portion(counts: &[usize], m: usize) -> (usize, usize) {
    let total: usize = counts.iter().sum();
    for width in m..=counts.len() {
        let next = counts.get(width).copied().unwrap_or(0);
        let divisible = |depth: usize| {
            let rest = total - width * depth;
            m * (counts[0] - depth) <= rest && m * next <= rest
        };
        // More depth only makes it harder, but for the most frequent value, which is easier to divide with less of it.
        if let Some(depth) = (1..=counts[width - 1]).rev().find(|&d| divisible(d)) {
            return (width, depth);
        }
    }
    // Not reached while no count is more than 1/m of the sum: all values once always leave such counts or nothing.
    (counts.len(), counts.last().copied().unwrap_or(0).max(1))
}

struct Split<'a> {
    space: &'a Space,
    rows: &'a [Signed<'a>],
}

impl Split<'_> {
    /// Cuts a bucket in halves along the column that leaves the least loss, until a class has one row of each value.
    fn divide(&self, bucket: Bucket, signature: usize, classes: &mut Vec<SignedClass>) {
        let depth = bucket.first().map_or(0, Vec::len);
        if depth <= 1 {
            let members = bucket.iter().map(|members| members.first().copied().flatten()).collect();
            classes.push(SignedClass { signature, members });
            return;
        }
        let mut best: Option<(f64, Bucket, Bucket)> = None;
        for column in 0..self.space.width().max(1) {
            let (low, high) = self.cut(&bucket, column, depth / 2);
            let loss = self.loss(&low) + self.loss(&high);
            if best.as_ref().is_none_or(|(least, ..)| loss < *least) {
                best = Some((loss, low, high));
            }
        }
        if let Some((_, low, high)) = best {
            self.divide(low, signature, classes);
            self.divide(high, signature, classes);
        }
    }

    /// The first `depth` members of each value in the order of a column, and the others. Nobodies come last.
    fn cut(&self, bucket: &Bucket, column: usize, depth: usize) -> (Bucket, Bucket) {
        let place = |member: &Member| {
            let code = member.and_then(|row| self.rows[row as usize].codes.get(column).copied());
            let place = code.and_then(|code| self.space.places.get(column)?.get(code as usize).copied());
            place.unwrap_or(f64::INFINITY)
        };
        let halves = bucket.iter().map(|members| {
            let mut sorted = members.clone();
            sorted.sort_by(|a, b| a.is_none().cmp(&b.is_none()).then(place(a).total_cmp(&place(b))).then(a.cmp(b)));
            let high = sorted.split_off(depth.min(sorted.len()));
            (sorted, high)
        });
        halves.unzip()
    }

    fn loss(&self, bucket: &Bucket) -> f64 {
        let mut shape = self.space.empty();
        let mut rows = 0usize;
        for &row in bucket.iter().flatten().flatten() {
            let codes = self.rows[row as usize].codes;
            if rows == 0 {
                self.space.start(&mut shape, codes)
            } else {
                self.space.add(&mut shape, codes)
            }
            rows += 1;
        }
        if rows == 0 { 0.0 } else { self.space.cost(&shape) * rows as f64 }
    }
}

impl Invariant {
    fn publish(&mut self, signature: &[u32], members: &[Member]) {
        if members.iter().all(Option::is_none) {
            return;
        }
        let class = self.signatures.len() as u32;
        self.signatures.push(signature.to_vec());
        for (&value, member) in signature.iter().zip(members) {
            match member {
                Some(row) => self.class_of[*row as usize] = class,
                None => self.counterfeits.push((class, value)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_remains_can_always_be_divided() {
        proptest!(|(counts in prop::collection::vec(1usize..9, 1..9), m in 1usize..5)| {
            let mut counts = counts;
            counts.sort_unstable_by(|a, b| b.cmp(a));
            while m * counts[0] > counts.iter().sum::<usize>() {
                counts.push(1);
            }
            while !counts.is_empty() {
                let (width, depth) = portion(&counts, m);
                prop_assert!(width >= m && depth >= 1 && counts[width - 1] >= depth, "{:?} {} {}", counts, width, depth);
                counts[..width].iter_mut().for_each(|c| *c -= depth);
                counts.retain(|&c| c > 0);
                counts.sort_unstable_by(|a, b| b.cmp(a));
                let total: usize = counts.iter().sum();
                prop_assert!(counts.is_empty() || m * counts[0] <= total);
            }
        });
    }
}
