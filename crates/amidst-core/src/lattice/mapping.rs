//! The keys of a node from those of a finer one.
//!
//! What a field becomes depends on that field alone. So keys are taken apart into pieces of some fields each, what each
//! piece becomes is looked up in a table, and the answers are put together: a look-up or two for a key instead of
//! several steps for each column that changes. Fields too wide for that are mapped by themselves.

use std::borrow::Cow;

use super::key::Key;
use super::layout::Layout;

/// How keys of one node become keys of a coarser one.
#[derive(Debug)]
pub(crate) struct Mapping<'a, K> {
    /// As many of the lowest bits stay as they are.
    kept: u32,
    pieces: Vec<Piece<'a, K>>,
}

/// Some bits of a key, and what they become.
#[derive(Debug)]
struct Piece<'a, K> {
    shift: u32,
    width: u32,
    becomes: Becomes<'a, K>,
}

#[derive(Debug)]
enum Becomes<'a, K> {
    /// For each value of the bits, the bits of the new key.
    Bits(Vec<K>),
    /// For each value of a single field, its new value, which stands at this place.
    Field(Cow<'a, [u32]>, u32),
    /// The same field at this place.
    Same(u32),
}

/// No piece of several fields has more bits: its table stays in fast memory.
const WIDEST: u32 = 11;

impl<'a, K: Key> Mapping<'a, K> {
    /// The mapping of some `keys` keys from one node to a coarser one.
    pub fn new(layout: &Layout<'a>, from: &[usize], to: &[usize], keys: usize) -> Self {
        // A table that is dearer to make than the keys are to map gains nothing.
        let widest = (usize::BITS - keys.leading_zeros()).saturating_sub(3).min(WIDEST);
        let mut mapping = Mapping { kept: 0, pieces: Vec::new() };
        let (mut old, mut new) = (0, 0);
        for &column in &layout.order {
            let (a, b) = (from[column], to[column]);
            let (width, becomes) = (layout.width(column, a), layout.width(column, b));
            if a == b && mapping.kept == old {
                mapping.kept += width;
            } else if width > 0 && becomes > 0 {
                let map = (a != b).then(|| layout.map(column, a, b));
                mapping.push(old, width, new, map, widest);
            }
            old += width;
            new += becomes;
        }
        mapping
    }

    /// Adds a field at `shift` that comes to `place`.
    fn push(&mut self, shift: u32, width: u32, place: u32, map: Option<Cow<'a, [u32]>>, widest: u32) {
        if width > widest {
            let becomes = map.map_or(Becomes::Same(place), |map| Becomes::Field(map, place));
            self.pieces.push(Piece { shift, width, becomes });
            return;
        }
        let value = |value: u32| map.as_ref().map_or(value, |map| map.get(value as usize).copied().unwrap_or(0));
        let bits: Vec<K> = (0..1u32 << width).map(|v| K::default().with(place, value(v))).collect();
        if let Some(Piece { shift: first, width: before, becomes: Becomes::Bits(known) }) = self.pieces.last_mut()
            && *first + *before == shift
            && *before + width <= widest
        {
            *known = bits.iter().flat_map(|&high| known.iter().map(move |&low| low.or(high))).collect();
            *before += width;
            return;
        }
        self.pieces.push(Piece { shift, width, becomes: Becomes::Bits(bits) });
    }

    /// Maps keys, as many as there is room for.
    #[inline]
    pub fn map(&self, keys: &[K], out: &mut [K]) {
        out.iter_mut().zip(keys).for_each(|(out, key)| *out = key.low(self.kept));
        for &Piece { shift, width, ref becomes } in &self.pieces {
            let each = out.iter_mut().zip(keys);
            match becomes {
                Becomes::Bits(bits) => {
                    each.for_each(|(out, key)| *out = out.or(bits[key.field(shift, width) as usize]))
                }
                Becomes::Field(map, place) => {
                    each.for_each(|(out, key)| *out = out.with(*place, map[key.field(shift, width) as usize]));
                }
                Becomes::Same(place) => each.for_each(|(out, key)| *out = out.with(*place, key.field(shift, width))),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::key::Wide;
    use super::*;
    use crate::hierarchy::{Generalization, Hierarchy, Level};
    use crate::table::Column;

    /// A column of `values` values, each level of whose hierarchy has a third of the values of the one before.
    fn thirds(values: u32) -> Generalization {
        let texts: Vec<String> = (0..values).map(|v| format!("{v:03}")).collect();
        let column = Column::from_values("c", texts.iter().map(String::as_str));
        let mut of_leaf: Vec<u32> = (0..values).collect();
        let mut levels = Vec::new();
        while of_leaf.iter().any(|&g| g > 0) {
            of_leaf.iter_mut().for_each(|g| *g /= 3);
            let groups = of_leaf.iter().max().map_or(0, |g| g + 1);
            let depth = levels.len();
            let label = |g: u32| if groups == 1 { "*".to_string() } else { format!("{depth}-{g}") };
            levels.push(Level { labels: (0..groups).map(label).collect(), of_leaf: of_leaf.clone() });
        }
        Generalization::bind(&column, Some(&Hierarchy { leaves: column.dictionary.clone(), levels })).unwrap()
    }

    fn maps<K: Key>(columns: usize) {
        let sizes = [40, 2, 200, 7, 1];
        let generalizations: Vec<Generalization> = (0..columns).map(|c| thirds(sizes[c % sizes.len()])).collect();
        let layout = Layout::new(&generalizations);
        assert!(layout.bits(&vec![0; columns]) <= K::BITS);
        let mut state = 7u64;
        let mut below = |n: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % n
        };
        for _ in 0..300 {
            let to: Vec<usize> = layout.top().iter().map(|&top| below(top + 1)).collect();
            let from: Vec<usize> =
                to.iter().map(|&level| if below(2) == 0 { level } else { below(level + 1) }).collect();
            let tuples: Vec<Vec<usize>> =
                (0..5).map(|_| generalizations.iter().map(|g| below(g.active())).collect()).collect();
            let keys = |levels: &[usize]| -> Vec<K> {
                let key = |tuple: &Vec<usize>| {
                    let (mut key, mut shift) = (K::default(), 0);
                    for &c in &layout.order {
                        key = key.with(shift, generalizations[c].levels[levels[c]].of[tuple[c]]);
                        shift += layout.width(c, levels[c]);
                    }
                    key
                };
                tuples.iter().map(key).collect()
            };
            let (finer, coarser) = (keys(&from), keys(&to));
            for many in [0, 100, 1_000_000] {
                let mut mapped = vec![K::default(); finer.len()];
                Mapping::new(&layout, &from, &to, many).map(&finer, &mut mapped);
                assert_eq!(mapped, coarser, "{from:?} to {to:?}, tables for {many} keys");
            }
        }
    }

    #[test]
    fn mapped_keys_are_those_of_the_generalized_tuples() {
        maps::<u64>(5);
        maps::<u64>(12);
        maps::<u128>(25);
        maps::<Wide>(45);
    }
}
