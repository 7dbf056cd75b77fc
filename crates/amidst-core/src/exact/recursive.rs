//! The comparison behind every recursive (c, l)-diversity: r_y < c · tail.
//!
//! Let s_y be the most frequent value that must not be disclosed (any value, without a don't-care set). Definitions 4.2
//! and 4.3 of the ℓ-diversity article remove the l − 2 most frequent of the *other* values and ask whether r_y is less
//! than c times what is left without s_y. Both cases of Definition 4.3 say just this: when s_y is among the l − 1 most
//! frequent values, removing those l − 1 removes s_y and l − 2 others; otherwise the l − 2 most frequent values are all
//! others.

use num_traits::ToPrimitive;

use super::Rational;

/// r_y and the tail it is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tail {
    /// The count of the most frequent value that must not be disclosed.
    pub most: u64,
    /// The count of all values but that one and the l − 2 most frequent others.
    pub tail: u64,
}

/// Counts kept on the stack while looking for the most frequent ones.
const STACK: usize = 16;

impl Tail {
    /// The two sides for `counts`, each with whether the value must not be disclosed; `None` when all may be disclosed.
    /// For l of at least 2.
    pub fn of(counts: impl Iterator<Item = (u64, bool)> + Clone, l: u64) -> Option<Self> {
        let (mut most, mut position, mut total) = (0, None, 0u64);
        for (i, (n, protected)) in counts.clone().enumerate() {
            total += n;
            if protected && n > most {
                (most, position) = (n, Some(i));
            }
        }
        let position = position?;
        let others = counts.enumerate().filter(|&(i, _)| i != position).map(|(_, (n, _))| n);
        let tail = total - most - sum_of_largest(others, l.saturating_sub(2));
        Some(Tail { most, tail })
    }

    /// The fewest rows that can satisfy r₁ < c · tail: one row each of the l − 1 most frequent values, and a tail of
    /// more than 1/c rows.
    pub fn least_rows(c: &Rational, l: u64) -> u64 {
        if l <= 1 {
            return 1;
        }
        let tail = c.value().recip().floor().to_integer().to_u64().unwrap_or(u64::MAX);
        l.saturating_add(tail)
    }

    /// Whether r_y < c · tail.
    pub fn below(self, c: &Rational) -> bool {
        c.compare_count(self.most, self.tail).is_lt()
    }
}

/// The sum of the `how_many` largest of `counts`.
fn sum_of_largest(counts: impl Iterator<Item = u64>, how_many: u64) -> u64 {
    match usize::try_from(how_many) {
        Ok(0) => 0,
        Ok(1) => counts.max().unwrap_or(0),
        Ok(m) if m <= STACK => {
            let mut largest = [0u64; STACK];
            for n in counts {
                if n > largest[m - 1] {
                    let at = largest[..m].partition_point(|&x| x >= n);
                    largest.copy_within(at..m - 1, at + 1);
                    largest[at] = n;
                }
            }
            largest[..m].iter().sum()
        }
        m => {
            let mut counts: Vec<u64> = counts.collect();
            counts.sort_unstable_by(|a, b| b.cmp(a));
            counts.into_iter().take(m.unwrap_or(usize::MAX)).sum()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Definition 4.3 word for word, on sorted counts with ties in favour of the don't-care value.
        #[test]
        fn the_tail_is_that_of_the_article(counts in prop::collection::vec((1u64..9, any::<bool>()), 0..24), l in 2u64..22) {
            let mut sorted = counts.clone();
            sorted.sort_by_key(|&(n, protected)| (std::cmp::Reverse(n), protected));
            let expected = sorted.iter().position(|&(_, protected)| protected).map(|i| {
                let (y, r) = (i + 1, |j: usize| sorted[j - 1].0);
                let (l, m) = (l as usize, sorted.len());
                let tail = if y < l {
                    (l..=m).map(r).sum()
                } else {
                    (l - 1..y).map(r).sum::<u64>() + (y + 1..=m).map(r).sum::<u64>()
                };
                Tail { most: r(y), tail }
            });
            prop_assert_eq!(Tail::of(counts.iter().copied(), l), expected);
        }
    }
}
