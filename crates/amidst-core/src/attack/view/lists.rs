//! Lists of numbers, one after the other.

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
        let mut offsets = vec![0usize; count + 1];
        self.members.iter().for_each(|&member| offsets[member as usize + 1] += 1);
        (0..count).for_each(|list| offsets[list + 1] += offsets[list]);
        let mut next = offsets[..count].to_vec();
        let mut members = vec![0; self.members.len()];
        let mut order = Vec::with_capacity(count);
        for (list, own) in (0u32..).zip(self.iter()) {
            for &member in own {
                let at = &mut next[member as usize];
                if *at == offsets[member as usize] {
                    order.push(member);
                }
                members[*at] = list;
                *at += 1;
            }
        }
        (Lists { offsets, members }, order)
    }
}
