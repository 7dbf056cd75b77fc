//! How many values of a column the slots of another have, counted in one pass.

/// The values of a column over slots, in memory that is used again and again.
#[derive(Debug, Default)]
pub(crate) struct SetValues {
    /// How many values the slots up to each one have, and those from each one on.
    pub before: Vec<u32>,
    pub from: Vec<u32>,
    /// How many each slot has, and how many all the others. Only where that was asked for.
    pub own: Vec<u32>,
    pub others: Vec<u32>,
    /// The first and the last slot of each code, or `NOWHERE`.
    places: Vec<(u32, u32)>,
    /// The codes that occur.
    codes: Vec<u32>,
    pairs: Vec<u64>,
}

const NOWHERE: u32 = u32::MAX;

impl SetValues {
    /// Counts for so many slots what `each` tells: slots and codes that rows of them have.
    pub fn count(&mut self, slots: usize, each: impl FnOnce(&mut dyn FnMut(u32, u32))) {
        let SetValues { before, from, places, codes, .. } = self;
        codes.clear();
        each(&mut |slot, code| {
            if places.len() <= code as usize {
                places.resize(code as usize + 1, (NOWHERE, 0));
            }
            let place = &mut places[code as usize];
            if place.0 == NOWHERE {
                codes.push(code);
            }
            *place = (place.0.min(slot), place.1.max(slot));
        });
        for counts in [&mut *before, &mut *from] {
            counts.clear();
            counts.resize(slots, 0);
        }
        for &code in &*codes {
            let (first, last) = places[code as usize];
            before[first as usize] += 1;
            from[last as usize] += 1;
        }
        for slot in 1..slots {
            before[slot] += before[slot - 1];
            from[slots - 1 - slot] += from[slots - slot];
        }
        self.forget();
    }

    /// The same for each slot alone and all the others.
    pub fn count_each(&mut self, slots: usize, each: impl FnOnce(&mut dyn FnMut(u32, u32))) {
        let SetValues { own, others, pairs, .. } = self;
        pairs.clear();
        each(&mut |slot, code| pairs.push(u64::from(code) << 32 | u64::from(slot)));
        pairs.sort_unstable();
        pairs.dedup();
        own.clear();
        own.resize(slots, 0);
        let (mut alone, mut values) = (vec![0; slots], 0);
        for same in pairs.chunk_by(|a, b| a >> 32 == b >> 32) {
            same.iter().for_each(|pair| own[*pair as u32 as usize] += 1);
            if let [only] = same {
                alone[*only as u32 as usize] += 1;
            }
            values += 1;
        }
        others.clear();
        others.extend(alone.iter().map(|alone| values - alone));
    }

    fn forget(&mut self) {
        self.codes.iter().for_each(|&code| self.places[code as usize] = (NOWHERE, 0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn counts_are_those_of_sets() {
        let mut values = SetValues::default();
        let mut random = Random::new(1);
        for _ in 0..200 {
            let (slots, rows, codes) = (2 + random.below(9), 1 + random.below(40), 1 + random.below(12));
            let rows: Vec<(u32, u32)> =
                (0..rows).map(|_| (random.below(slots) as u32, random.below(codes) as u32)).collect();
            let distinct = |chosen: &dyn Fn(usize) -> bool| {
                let mut codes: Vec<u32> = rows.iter().filter(|r| chosen(r.0 as usize)).map(|r| r.1).collect();
                codes.sort_unstable();
                codes.dedup();
                codes.len() as u32
            };
            values.count(slots, |visit| rows.iter().for_each(|&(slot, code)| visit(slot, code)));
            values.count_each(slots, |visit| rows.iter().for_each(|&(slot, code)| visit(slot, code)));
            for slot in 0..slots {
                assert_eq!(values.before[slot], distinct(&|s| s <= slot));
                assert_eq!(values.from[slot], distinct(&|s| s >= slot));
                assert_eq!(values.own[slot], distinct(&|s| s == slot));
                assert_eq!(values.others[slot], distinct(&|s| s != slot));
            }
        }
    }
}
