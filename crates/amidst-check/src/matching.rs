//! Maximum matching of released rows to distinct original rows, where each released tuple covers some original tuples.
//!
//! A bipartite maximum flow between tuples with their counts, by shortest augmenting layers (Dinic; with unit counts
//! the matching of Hopcroft and Karp).

/// The maximum number of pairs. `left` and `right` are capacities; `edges[i]` lists the right indexes that left i may
/// be paired with.
pub(crate) fn most_pairs(left: &[u64], right: &[u64], edges: &[Vec<u32>]) -> u64 {
    // When no right index occurs in two lists, each left index takes min(its capacity, the sum of its rights'
    // capacities).
    let mut wanted = vec![false; right.len()];
    let overlap = edges.iter().flatten().any(|&r| std::mem::replace(&mut wanted[r as usize], true));
    if !overlap {
        let supply = |list: &Vec<u32>| list.iter().map(|&r| right[r as usize]).sum::<u64>();
        return left.iter().zip(edges).map(|(&need, list)| need.min(supply(list))).sum();
    }
    Flow::new(left, right, edges).run()
}

struct Flow<'a> {
    need: Vec<u64>,
    free: Vec<u64>,
    edges: &'a [Vec<u32>],
    /// For each left, the flow on each of its edges.
    flow: Vec<Vec<u64>>,
    /// For each right, the left ends of its edges and the place of the edge there.
    back: Vec<Vec<(u32, u32)>>,
}

const UNSEEN: u32 = u32::MAX;

impl<'a> Flow<'a> {
    fn new(left: &[u64], right: &[u64], edges: &'a [Vec<u32>]) -> Flow<'a> {
        let mut back = vec![Vec::new(); right.len()];
        for (l, list) in edges.iter().enumerate() {
            for (place, &r) in list.iter().enumerate() {
                back[r as usize].push((l as u32, place as u32));
            }
        }
        let flow = edges.iter().map(|list| vec![0; list.len()]).collect();
        Flow { need: left.to_vec(), free: right.to_vec(), edges, flow, back }
    }

    fn run(mut self) -> u64 {
        let mut total = 0;
        // Indexes with the fewest edges first: a good greedy start leaves few paths to augment.
        let mut order: Vec<usize> = (0..self.edges.len()).collect();
        order.sort_by_key(|&l| self.edges[l].len());
        for l in order {
            for (place, &r) in self.edges[l].iter().enumerate() {
                let amount = self.need[l].min(self.free[r as usize]);
                self.need[l] -= amount;
                self.free[r as usize] -= amount;
                self.flow[l][place] += amount;
                total += amount;
            }
        }
        while let Some((left_depth, right_depth)) = self.layers() {
            let mut at_left = vec![0usize; self.edges.len()];
            let mut at_right = vec![0usize; self.back.len()];
            for l in 0..self.edges.len() {
                while self.need[l] > 0 {
                    let sent = self.push(l, &left_depth, &right_depth, &mut at_left, &mut at_right);
                    if sent == 0 {
                        break;
                    }
                    self.need[l] -= sent;
                    total += sent;
                }
            }
        }
        total
    }

    /// Distances from the left indexes with remaining capacity, up to the first free right; `None` when none can be
    /// reached.
    fn layers(&self) -> Option<(Vec<u32>, Vec<u32>)> {
        let mut left = vec![UNSEEN; self.edges.len()];
        let mut right = vec![UNSEEN; self.back.len()];
        let mut now: Vec<u32> = (0..self.edges.len() as u32).filter(|&l| self.need[l as usize] > 0).collect();
        now.iter().for_each(|&l| left[l as usize] = 0);
        let (mut depth, mut found) = (0, false);
        while !now.is_empty() && !found {
            let mut next = Vec::new();
            for &l in &now {
                for &r in &self.edges[l as usize] {
                    if right[r as usize] == UNSEEN {
                        right[r as usize] = depth + 1;
                        found |= self.free[r as usize] > 0;
                        for &(other, place) in &self.back[r as usize] {
                            if left[other as usize] == UNSEEN && self.flow[other as usize][place as usize] > 0 {
                                left[other as usize] = depth + 2;
                                next.push(other);
                            }
                        }
                    }
                }
            }
            now = next;
            depth += 2;
        }
        found.then_some((left, right))
    }

    /// Sends the flow of one augmenting path from `start`. The path is an explicit list, not recursion: it can be as
    /// long as the table.
    fn push(
        &mut self,
        start: usize,
        left_depth: &[u32],
        right_depth: &[u32],
        at_left: &mut [usize],
        at_right: &mut [usize],
    ) -> u64 {
        // Steps alternate: a forward edge (left, place in `edges`), then a backward edge (right, place in `back`).
        let mut forward: Vec<(usize, usize)> = Vec::new();
        let mut backward: Vec<(usize, usize)> = Vec::new();
        let mut l = start;
        loop {
            let edge = self.edges[l].get(at_left[l]).map(|&r| r as usize);
            let Some(r) = edge else {
                // Dead end: go back over both edges that led here.
                let (Some((right, _)), Some((previous, _))) = (backward.pop(), forward.pop()) else { return 0 };
                at_right[right] += 1;
                l = previous;
                continue;
            };
            if right_depth[r] != left_depth[l].saturating_add(1) {
                at_left[l] += 1;
                continue;
            }
            if self.free[r] > 0 {
                forward.push((l, at_left[l]));
                return self.send(start, r, &forward, &backward);
            }
            let carrying = |&&(other, place): &&(u32, u32)| {
                left_depth[other as usize] == right_depth[r] + 1 && self.flow[other as usize][place as usize] > 0
            };
            let step = self.back[r][at_right[r]..].iter().position(|e| carrying(&e));
            match step {
                None => {
                    at_right[r] = self.back[r].len();
                    at_left[l] += 1;
                }
                Some(skip) => {
                    at_right[r] += skip;
                    forward.push((l, at_left[l]));
                    backward.push((r, at_right[r]));
                    l = self.back[r][at_right[r]].0 as usize;
                }
            }
        }
    }

    fn send(&mut self, start: usize, end: usize, forward: &[(usize, usize)], backward: &[(usize, usize)]) -> u64 {
        let mut amount = self.need[start].min(self.free[end]);
        for &(r, at) in backward {
            let (other, place) = self.back[r][at];
            amount = amount.min(self.flow[other as usize][place as usize]);
        }
        for &(l, place) in forward {
            self.flow[l][place] += amount;
        }
        for &(r, at) in backward {
            let (other, place) = self.back[r][at];
            self.flow[other as usize][place as usize] -= amount;
        }
        self.free[end] -= amount;
        amount
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Hall's theorem, over all subsets of the left units.
    fn brute(left: &[u64], right: &[u64], edges: &[Vec<u32>]) -> u64 {
        let total: u64 = left.iter().sum();
        let mut least = total;
        for subset in 0u32..1 << left.len() {
            let inside = |l: usize| subset >> l & 1 == 1;
            let need: u64 = (0..left.len()).filter(|&l| inside(l)).map(|l| left[l]).sum();
            let supply: u64 = (0..right.len())
                .filter(|&r| (0..left.len()).any(|l| inside(l) && edges[l].contains(&(r as u32))))
                .map(|r| right[r])
                .sum();
            least = least.min(total - need + supply);
        }
        least
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]
        #[test]
        fn as_many_as_brute_force(
            left in proptest::collection::vec(0u64..5, 1..8),
            right in proptest::collection::vec(0u64..5, 1..8),
            bits in proptest::collection::vec(any::<u8>(), 8),
        ) {
            let edges: Vec<Vec<u32>> = (0..left.len())
                .map(|l| (0..right.len() as u32).filter(|r| bits[l] >> r & 1 == 1).collect())
                .collect();
            prop_assert_eq!(most_pairs(&left, &right, &edges), brute(&left, &right, &edges));
        }
    }

    #[test]
    fn long_chains_are_augmented() {
        // Left i covers right i and i + 1, and the last left covers only the first right of all: everything must shift.
        let n = 3000u32;
        let mut edges: Vec<Vec<u32>> = (0..n).map(|i| vec![i, i + 1]).collect();
        edges.push(vec![0]);
        assert_eq!(most_pairs(&vec![1; n as usize + 1], &vec![1; n as usize + 1], &edges), u64::from(n) + 1);
    }
}
