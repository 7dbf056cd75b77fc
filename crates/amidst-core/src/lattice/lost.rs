//! Snapshots without the rows that are lost anyway.
//!
//! Rows that a node must suppress for a reason that no finer node can mend are suppressed in all finer nodes. For these
//! they need not be told apart: they are taken together as the last class of a finer snapshot, which fails and is
//! merged with no other. Of a table many of whose rows stand alone this leaves out most classes. Such a snapshot serves
//! nodes up to that node only.

use std::sync::Arc;

use super::key::Key;
use super::snapshot::{Classes, FAILS, LostBelow, Snapshot};
use crate::frequency::FrequencySet;
use crate::metric::full_domain::Lost;

impl<K: Key> Snapshot<K> {
    /// These classes without those that a coarser node is known to lose: `class_of` names its class of each of these,
    /// and `lost` says which of its classes are lost. `None` where fewer than one in `least` classes are.
    pub fn without(
        &self,
        set: &FrequencySet,
        coarser: &Classes,
        class_of: &[u32],
        lost: &[u32],
        least: usize,
    ) -> Option<Self> {
        let source = &self.classes;
        let count = source.lost_class().unwrap_or(source.len());
        let mut is_lost = vec![false; coarser.len()];
        lost.iter().for_each(|&class| is_lost[class as usize] = true);
        let gone = class_of[..count].iter().filter(|&&class| is_lost[class as usize]).count();
        if gone == 0 || gone * least < count {
            return None;
        }
        let last = (count - gone) as u32;
        let mut rows = source.lost.as_ref().map_or_else(Lost::default, |known| known.rows.clone());
        rows.codes.resize_with(set.width, Vec::new);
        for (codes, &domain) in rows.codes.iter_mut().zip(&set.domains) {
            codes.resize(codes.len().max(domain), 0);
        }
        let mut place = Vec::with_capacity(source.len());
        let mut kept = Vec::with_capacity(last as usize);
        for class in 0..count {
            if !is_lost[class_of[class] as usize] {
                place.push(kept.len() as u32);
                kept.push(class);
                continue;
            }
            place.push(last);
            let (own, coarse) = (source.rows[class], coarser.rows[class_of[class] as usize]);
            rows.finer_squares += u128::from(own) * u128::from(own);
            rows.coarser_squares += u128::from(own) * u128::from(coarse);
            let tuple = set.tuple(source.first[class] as usize);
            rows.codes.iter_mut().zip(tuple).for_each(|(codes, &code)| codes[code as usize] += own);
        }
        place.resize(source.len(), last);
        let all: u64 = source.rows.iter().sum();
        let mut own = Classes {
            levels: source.levels.clone(),
            first: kept.iter().map(|&c| source.first[c]).collect(),
            rows: kept.iter().map(|&c| source.rows[c]).collect(),
            views: source.views.iter().map(|view| view.roll_up(&place, kept.len() + 1)).collect(),
            class_of: Vec::new(),
            verdicts: kept.iter().map(|&c| source.verdicts[c]).collect(),
            lost: Some(Arc::new(LostBelow { node: coarser.levels.clone(), rows })),
        };
        let mut keys: Vec<K> = kept.iter().map(|&c| self.keys[c]).collect();
        keys.push(K::default());
        own.rows.push(all - own.rows.iter().sum::<u64>());
        own.first.push(source.first.first().copied().unwrap_or(0));
        own.verdicts.push(FAILS);
        Some(Snapshot { keys, classes: own })
    }
}
