//! Lists of numbers, one after the other.

use std::ops::Range;

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

    /// The same, seen from the members, which are below `count`.
    pub fn turned(&self, count: usize) -> Turned {
        let (mut place, mut order) = (vec![NOWHERE; count], Vec::with_capacity(count));
        let mut sizes: Vec<usize> = Vec::with_capacity(count);
        for &member in &self.members {
            let place = &mut place[member as usize];
            if *place == NOWHERE {
                *place = order.len() as u32;
                order.push(member);
                sizes.push(0);
            }
            sizes[*place as usize] += 1;
        }
        let mut end = 0;
        let mut next = sizes;
        next.iter_mut().for_each(|size| end += std::mem::replace(size, end));
        let offsets = next.iter().copied().chain([end]).collect();
        let mut members = vec![0; self.members.len()];
        for (list, own) in (0u32..).zip(self.iter()) {
            for &member in own {
                let at = &mut next[place[member as usize] as usize];
                members[*at] = list;
                *at += 1;
            }
        }
        Turned { order, place, lists: Lists { offsets, members } }
    }
}

/// Where a number stands that no list has.
const NOWHERE: u32 = u32::MAX;

/// Lists as their members see them. Neighbours have much in common, which is then still in the fastest memory.
#[derive(Debug, Clone, Default)]
pub(super) struct Turned {
    /// The numbers that some list has, in the order of the first that has them.
    pub order: Vec<u32>,
    /// Where each number stands in that order.
    place: Vec<u32>,
    /// For each of them, in that order, the lists that have it, ascending.
    pub lists: Lists,
}

impl Turned {
    /// The lists that have `number`.
    pub fn get(&self, number: u32) -> Range<usize> {
        match self.place.get(number as usize) {
            Some(&place) if place != NOWHERE => {
                self.lists.offsets[place as usize]..self.lists.offsets[place as usize + 1]
            }
            _ => 0..0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_see_the_lists_that_have_them() {
        let lists = Lists { offsets: vec![0, 2, 2, 5, 6], members: vec![3, 1, 1, 4, 0, 4] };
        let turned = lists.turned(6);
        assert_eq!(turned.order, [3, 1, 4, 0]);
        let by_place: Vec<&[u32]> = turned.lists.iter().collect();
        assert_eq!(by_place, [[0].as_slice(), &[0, 2], &[2, 3], &[2]]);
        let of = |number: u32| &turned.lists.members[turned.get(number)];
        assert_eq!(
            (of(1), of(4), of(2), of(5), of(9)),
            ([0, 2].as_slice(), [2, 3].as_slice(), [].as_slice(), [].as_slice(), [].as_slice())
        );
    }
}
