//! The ways to deal the sensitive values of a class to its parts, counted.
//!
//! A class has parts of known sizes and publishes how often each value occurs in it, not who has it. A *world* deals
//! the values to the persons; all worlds are equally likely. What is computed of them: how likely some part *fails*,
//! that is breaks a requirement, and how likely a person of a part has a value while some part fails.
//!
//! Parts are drawn one after the other as independent multinomials; given that they add up to the class, they are dealt
//! as in the worlds. All terms are positive, so nothing cancels, however rare it is to fail.

/// What the worlds of a class say.
#[derive(Debug, Clone, PartialEq)]
pub struct Worlds {
    /// The probability that some part fails.
    pub failing: f64,
    /// One for each size of part, ascending.
    pub parts: Vec<PartWorlds>,
}

/// The parts of one size.
#[derive(Debug, Clone, PartialEq)]
pub struct PartWorlds {
    /// The persons in all parts of this size.
    pub persons: u64,
    /// For each value, the probability that a person of such a part has it and some part fails.
    pub linked: Vec<f64>,
}

/// How many steps it takes to count the worlds of such a class, roughly; none where it would take far too many.
pub fn steps(sizes: &[u64], counts: &[u64]) -> Option<u64> {
    cost(&groups(sizes), counts.len(), &Space::new(counts)?)
}

/// The sizes of parts, each with the number of parts that have it.
fn groups(sizes: &[u64]) -> Vec<(u64, usize)> {
    sizes.chunk_by(|a, b| a == b).map(|g| (g[0], g.len())).collect()
}

/// Counts the worlds of a class with parts of these sizes (ascending, at least 1) and values with these counts (at
/// least 1), which add up to the same. `sound` tells whether a part with these counts satisfies the requirement.
///
/// `None` where there are far too many.
pub fn worlds(sizes: &[u64], counts: &[u64], sound: impl Fn(&[u64]) -> bool) -> Option<Worlds> {
    let groups = groups(sizes);
    let space = Space::new(counts)?;
    let total: u64 = counts.iter().sum();
    let logarithms = Logarithms::new(total, counts);
    let draws: Vec<Vec<Draw>> =
        groups.iter().map(|&(size, _)| draws(size, counts, &space, &logarithms, &sound)).collect();
    let everything = space.len() - 1;
    let dealt = logarithms.probability(total, counts);
    let mut worlds = Worlds { failing: 0.0, parts: Vec::with_capacity(groups.len()) };
    for (apart, &(size, times)) in groups.iter().enumerate() {
        // All parts but one of this size.
        let mut others = Drawn::nothing(&space);
        for (group, &(_, times)) in groups.iter().enumerate() {
            for _ in 0..times - usize::from(group == apart) {
                others = others.and(&draws[group], &space);
            }
        }
        let (mut failing, mut linked) = (0.0, vec![0.0; counts.len()]);
        for draw in &draws[apart] {
            let rest = everything - draw.at;
            let ways = draw.probability
                * if draw.fails { others.sound[rest] + others.failing[rest] } else { others.failing[rest] };
            failing += ways;
            for (sum, &n) in linked.iter_mut().zip(&draw.counts) {
                *sum += n as f64 / size as f64 * ways;
            }
        }
        worlds.failing = (failing / dealt).min(1.0);
        linked.iter_mut().for_each(|sum| *sum /= dealt);
        worlds.parts.push(PartWorlds { persons: size * times as u64, linked });
    }
    Some(worlds)
}

/// How many steps counting takes, roughly.
fn cost(groups: &[(u64, usize)], values: usize, space: &Space) -> Option<u64> {
    let parts: u64 = groups.iter().map(|g| g.1 as u64).sum();
    let mut draws = 0u64;
    for &(size, _) in groups {
        // Ways to pick `size` of `values` values: C(size + values − 1, values − 1).
        let mut ways = 1u128;
        for i in 1..values as u128 {
            ways = ways.checked_mul(u128::from(size) + i)? / i;
            if ways > u128::from(u32::MAX) {
                return None;
            }
        }
        draws = draws.max(ways as u64);
    }
    (groups.len() as u64).checked_mul(parts)?.checked_mul(space.len() as u64)?.checked_mul(draws)
}

/// Every choice of counts up to those of the class. What the last value has follows from the others and the persons, so
/// it is not a dimension.
struct Space {
    counts: Vec<u64>,
    /// What one more of each value but the last adds to a position.
    strides: Vec<usize>,
    len: usize,
}

impl Space {
    const LARGEST: usize = 1 << 20;

    fn new(counts: &[u64]) -> Option<Space> {
        let mut len = 1usize;
        let mut strides = Vec::new();
        for &n in counts.split_last()?.1 {
            strides.push(len);
            len = len.checked_mul(usize::try_from(n).ok()? + 1).filter(|&l| l <= Self::LARGEST)?;
        }
        Some(Space { counts: counts.to_vec(), strides, len })
    }

    fn len(&self) -> usize {
        self.len
    }

    fn position(&self, counts: &[u64]) -> usize {
        self.strides.iter().zip(counts).map(|(stride, &n)| stride * n as usize).sum()
    }

    /// The counts at a position, of all values but the last.
    fn counts_at(&self, position: usize, out: &mut Vec<u64>) {
        out.clear();
        let dimensions = self.strides.iter().zip(&self.counts);
        out.extend(dimensions.map(|(stride, &n)| ((position / stride) as u64) % (n + 1)));
    }
}

/// One way for a part to be dealt.
struct Draw {
    counts: Vec<u64>,
    at: usize,
    probability: f64,
    fails: bool,
}

/// Every way to deal a part of `size` persons.
fn draws(
    size: u64,
    counts: &[u64],
    space: &Space,
    logarithms: &Logarithms,
    sound: &impl Fn(&[u64]) -> bool,
) -> Vec<Draw> {
    let mut found = Vec::new();
    let mut chosen = vec![0u64; counts.len()];
    choose(size, counts, 0, &mut chosen, &mut |chosen| {
        let probability = logarithms.probability(size, chosen);
        found.push(Draw { counts: chosen.to_vec(), at: space.position(chosen), probability, fails: !sound(chosen) });
    });
    found
}

/// Shows every choice of `left` persons among the values from `at` on.
fn choose(left: u64, counts: &[u64], at: usize, chosen: &mut [u64], see: &mut impl FnMut(&[u64])) {
    if at + 1 == counts.len() {
        if left <= counts[at] {
            chosen[at] = left;
            see(chosen);
        }
        return;
    }
    for n in 0..=left.min(counts[at]) {
        chosen[at] = n;
        choose(left - n, counts, at + 1, chosen, see);
    }
}

/// The probability of each position after some parts, apart by whether one of them fails.
struct Drawn {
    persons: u64,
    sound: Vec<f64>,
    failing: Vec<f64>,
}

impl Drawn {
    fn nothing(space: &Space) -> Self {
        let mut sound = vec![0.0; space.len()];
        sound[0] = 1.0;
        Drawn { persons: 0, sound, failing: vec![0.0; space.len()] }
    }

    /// With one more part.
    fn and(&self, part: &[Draw], space: &Space) -> Drawn {
        let size = part.first().map_or(0, |d| d.counts.iter().sum());
        let mut both =
            Drawn { persons: self.persons + size, sound: vec![0.0; space.len()], failing: vec![0.0; space.len()] };
        let mut used = Vec::new();
        for at in 0..space.len() {
            let (sound, failing) = (self.sound[at], self.failing[at]);
            if sound == 0.0 && failing == 0.0 {
                continue;
            }
            space.counts_at(at, &mut used);
            used.push(self.persons - used.iter().sum::<u64>().min(self.persons));
            for draw in part {
                let fits = used.iter().zip(&draw.counts).zip(&space.counts).all(|((u, d), n)| u + d <= *n);
                if !fits {
                    continue;
                }
                let to = at + draw.at;
                if draw.fails {
                    both.failing[to] += (sound + failing) * draw.probability;
                } else {
                    both.sound[to] += sound * draw.probability;
                    both.failing[to] += failing * draw.probability;
                }
            }
        }
        both
    }
}

/// ln 0!, ln 1!, … and ln of the share of each value.
struct Logarithms {
    factorial: Vec<f64>,
    share: Vec<f64>,
}

impl Logarithms {
    fn new(total: u64, counts: &[u64]) -> Self {
        let mut factorial = vec![0.0; total as usize + 1];
        for i in 1..factorial.len() {
            factorial[i] = factorial[i - 1] + (i as f64).ln();
        }
        Logarithms { factorial, share: counts.iter().map(|&n| (n as f64 / total as f64).ln()).collect() }
    }

    /// The multinomial probability that `size` persons have these counts.
    fn probability(&self, size: u64, counts: &[u64]) -> f64 {
        let of = |(&n, share): (&u64, &f64)| n as f64 * share - self.factorial[n as usize];
        (self.factorial[size as usize] + counts.iter().zip(&self.share).map(of).sum::<f64>()).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Deals the values to the persons in every way, one world after the other.
    fn walk(sizes: &[u64], counts: &[u64], sound: impl Fn(&[u64]) -> bool) -> (f64, Vec<Vec<f64>>) {
        let part_of: Vec<usize> = sizes.iter().enumerate().flat_map(|(p, &m)| vec![p; m as usize]).collect();
        let values = counts.len();
        let (mut all, mut failing) = (0u64, 0u64);
        let mut linked = vec![vec![0u64; values]; sizes.len()];
        let mut world = vec![0usize; part_of.len()];
        loop {
            let mut used = vec![0u64; values];
            world.iter().for_each(|&v| used[v] += 1);
            if used == counts {
                all += 1;
                let mut of_part = vec![vec![0u64; values]; sizes.len()];
                world.iter().zip(&part_of).for_each(|(&v, &p)| of_part[p][v] += 1);
                if of_part.iter().any(|part| !sound(part)) {
                    failing += 1;
                    for (sums, part) in linked.iter_mut().zip(&of_part) {
                        sums.iter_mut().zip(part).for_each(|(sum, n)| *sum += n);
                    }
                }
            }
            let Some(next) = world.iter().position(|&v| v + 1 < values) else { break };
            world[..next].fill(0);
            world[next] += 1;
        }
        let share = |(sums, &m): (&Vec<u64>, &u64)| sums.iter().map(|&s| s as f64 / m as f64 / all as f64).collect();
        (failing as f64 / all as f64, linked.iter().zip(sizes).map(share).collect())
    }

    proptest! {
        #[test]
        fn counting_agrees_with_a_walk_over_all_worlds(
            sizes in prop::collection::vec(1u64..4, 2..4),
            cuts in prop::collection::vec(0u64..9, 0..3),
            rule in 0u8..3,
        ) {
            let mut sizes = sizes;
            sizes.sort_unstable();
            let total: u64 = sizes.iter().sum();
            let mut ends: Vec<u64> = cuts.iter().map(|c| c % total).filter(|&c| c > 0).chain([0, total]).collect();
            ends.sort_unstable();
            ends.dedup();
            let counts: Vec<u64> = ends.windows(2).map(|w| w[1] - w[0]).collect();
            let sound = |part: &[u64]| match rule {
                0 => part.iter().all(|n| n * 2 <= part.iter().sum()),
                1 => part.iter().filter(|n| **n > 0).count() >= 2,
                _ => part[0] == 0,
            };
            let (failing, linked) = walk(&sizes, &counts, sound);
            prop_assert!(steps(&sizes, &counts).is_some());
            let found = worlds(&sizes, &counts, sound).unwrap();
            prop_assert!((found.failing - failing).abs() < 1e-9);
            let mut distinct = sizes.clone();
            distinct.dedup();
            for (part, size) in found.parts.iter().zip(distinct) {
                let one = sizes.iter().position(|&m| m == size).unwrap();
                for (a, b) in part.linked.iter().zip(&linked[one]) {
                    prop_assert!((a - b).abs() < 1e-9, "{a} against {b}");
                }
            }
        }
    }

    #[test]
    fn what_takes_long_is_known_before() {
        assert_eq!(worlds(&[1, 1], &[1, 1], |_| true).unwrap().failing, 0.0);
        assert!(steps(&[1, 1], &[1, 1]).is_some_and(|steps| steps < 1000));
        assert!(steps(&[50, 50], &[20; 5]).is_none_or(|steps| steps > 1_000_000_000));
        assert_eq!((steps(&[500, 500], &[200; 5]), worlds(&[500, 500], &[200; 5], |_| true)), (None, None));
    }
}
