//! Lists of numbers, one after the other.

use rayon::prelude::*;

/// From so many members on, several tasks turn lists.
const MEMBERS: usize = 1 << 15;

/// Lists of numbers, one after the other.
#[derive(Debug, Clone)]
pub(super) struct Lists {
    /// List `l` holds the members from `offsets[l]` to `offsets[l + 1]`.
    pub offsets: Vec<usize>,
    pub members: Vec<u32>,
}

impl Default for Lists {
    fn default() -> Self {
        Lists { offsets: vec![0], members: Vec::new() }
    }
}

impl Lists {
    /// How many lists there are.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    pub fn get(&self, list: usize) -> &[u32] {
        match (self.offsets.get(list), self.offsets.get(list + 1)) {
            (Some(&start), Some(&end)) => &self.members[start..end],
            _ => &[],
        }
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        self.offsets.windows(2).map(|ends| &self.members[ends[0]..ends[1]])
    }

    /// The members of each of `count` lists, from (list, member) pairs; members keep the order of the pairs.
    pub fn collect(count: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Lists {
        let mut offsets = vec![0usize; count + 1];
        pairs.clone().for_each(|(list, _)| offsets[list as usize + 1] += 1);
        (0..count).for_each(|list| offsets[list + 1] += offsets[list]);
        let mut next = offsets.clone();
        let mut members = vec![0; offsets[count]];
        for (list, member) in pairs {
            let at = &mut next[list as usize];
            members[*at] = member;
            *at += 1;
        }
        Lists { offsets, members }
    }

    /// For each of `count` numbers the lists that have it, ascending; and the numbers that some list has, in the order of
    /// the first list that has them.
    pub fn turned(&self, count: usize) -> (Lists, Vec<u32>) {
        // Each task sees all members and takes those of some numbers: what it writes stays in its own fast memory.
        let tasks = if self.members.len() < MEMBERS { 1 } else { rayon::current_num_threads() };
        let size = count.div_ceil(tasks).max(1);
        let mut offsets = vec![0usize; count + 1];
        offsets[1..].par_chunks_mut(size).enumerate().for_each(|(task, own)| {
            let first = (task * size) as u32;
            for &member in &self.members {
                if let Some(number) = own.get_mut(member.wrapping_sub(first) as usize) {
                    *number += 1;
                }
            }
        });
        (0..count).for_each(|list| offsets[list + 1] += offsets[list]);
        let mut members = vec![0; self.members.len()];
        let mut parts = Vec::new();
        let mut left = members.as_mut_slice();
        for first in (0..count).step_by(size) {
            let end = (first + size).min(count);
            let (own, others) = left.split_at_mut(offsets[end] - offsets[first]);
            parts.push((&offsets[first..end], first as u32, own));
            left = others;
        }
        let orders: Vec<Vec<(u32, u32)>> = parts
            .into_par_iter()
            .map(|(starts, first, places)| {
                let before = starts.first().copied().unwrap_or(0);
                let mut next: Vec<usize> = starts.iter().map(|start| start - before).collect();
                let mut order = Vec::with_capacity(starts.len());
                for (list, own) in (0u32..).zip(self.iter()) {
                    for &member in own {
                        let number = member.wrapping_sub(first) as usize;
                        let Some(at) = next.get_mut(number) else { continue };
                        if *at == starts[number] - before {
                            order.push((list, member));
                        }
                        places[*at] = list;
                        *at += 1;
                    }
                }
                order
            })
            .collect();
        let mut order = orders.concat();
        // As many sorted runs as there were tasks; within one list, its members keep their order.
        order.sort_by_key(|&(list, _)| list);
        (Lists { offsets, members }, order.into_iter().map(|(_, member)| member).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_lists_are_turned_by_several_tasks_as_by_one() {
        let count = 1000u32;
        let mut lists = Lists::default();
        for list in 0..40_000u32 {
            lists.members.extend((0..list % 4).map(|n| list.wrapping_mul(7919).wrapping_add(n * 333) % count));
            lists.offsets.push(lists.members.len());
        }
        assert!(lists.members.len() > 2 * MEMBERS / 3);
        let expected: Vec<Vec<u32>> =
            (0..count).map(|n| (0..40_000).filter(|&list| lists.get(list as usize).contains(&n)).collect()).collect();
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let (turned, order) = pool.install(|| lists.turned(count as usize));
            assert!(turned.iter().eq(expected.iter().map(Vec::as_slice)));
            let first = |n: &u32| expected[*n as usize].first().copied();
            assert!(order.is_sorted_by_key(first) && order.len() == expected.iter().filter(|e| !e.is_empty()).count());
        }
    }
}
