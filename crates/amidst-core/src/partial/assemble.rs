//! Classes within each part, and the recoding that the classes of all parts make together.

use crate::local::shape::{Shape, ShapeWord};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{DisplacedRows, DivisionRule, PartialSearch, Place, SplitRows};
use crate::algorithm::{mondrian_partition, top_down_partition};
use crate::frequency::{Entry, FrequencySet, NOBODY, add_up};
use crate::hierarchy::Cell;
use crate::ids::SensitiveId;
use crate::local::class::{Partition, World, cluster};
use crate::local::finish::suppress::{Taken, mask, omit, worst};
use crate::recoding::{Assignment, Recoding, SUPPRESSED};
use crate::search::{Search, SearchError, Suppressed};

/// A class, as far as it must be known here.
#[derive(Debug, Clone)]
pub struct PartialClass {
    /// Where it hangs in the tree of cuts, and its position in what was finished there.
    place: (Arc<Place>, u32),
    /// A tuple of it. Other classes have rows of it only where some were pulled out of children.
    pub first: Vec<u32>,
    /// Its rows by sensitive tuple, before any are left out.
    pub counts: Vec<(SensitiveId, u64)>,
    shape: Vec<ShapeWord>,
    /// Its entries, where some of them may be better left out: tuples, and the entries of each.
    held: Vec<(Vec<u32>, Vec<Entry>)>,
}

/// The classes of a part, and what is in them.
#[derive(Debug, Clone, Default)]
pub struct Finished {
    /// The classes.
    pub pieces: Vec<PartialClass>,
    /// Tuples, one after the other in their codes.
    pub tuples: Vec<u32>,
    /// The class of each of those tuples: that of all rows but those that are dealt out.
    pub of_tuple: Vec<u32>,
    /// Combinations whose rows go elsewhere.
    pub dealt: Vec<SplitRows>,
}

/// Rows that are left out or masked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Omitted {
    /// The class that they were in, by its position among all.
    pub piece: usize,
    /// Their quasi tuple.
    pub codes: Vec<u32>,
    /// Their sensitive tuple.
    pub sensitive: SensitiveId,
    /// How many.
    pub rows: u64,
}

/// All classes together.
#[derive(Debug, Clone, Default)]
pub struct Assembled {
    /// The cells of each class of the release.
    pub classes: Vec<Vec<Cell>>,
    /// The class of the release that each piece belongs to; pieces with the same cells are one.
    pub class_of: Vec<u32>,
    /// The class of masked rows.
    pub masked: Option<u32>,
    /// Rows that are left out, or masked where there is such a class. Always all rows of a tuple with a sensitive
    /// tuple.
    pub omitted: Vec<Omitted>,
    /// What people should know.
    pub notes: Vec<String>,
}

impl<'a> PartialSearch<'a> {
    /// Finishes a part that was gathered. `displaced` are rows that belong to it and were not with the others.
    ///
    /// # Errors
    /// When the search was asked to stop.
    pub fn finish(
        &self,
        part: &FrequencySet,
        displaced: &[DisplacedRows],
        place: &Arc<Place>,
    ) -> Result<Finished, SearchError> {
        let joined;
        let part = match displaced {
            [] => part,
            displaced => {
                joined = self.with(part, displaced);
                &joined
            }
        };
        let search = Search { set: part, ..self.search.clone() };
        let tuple_of = part.tuple_of_entry();
        let partition = match self.way {
            DivisionRule::Mondrian { median } => mondrian_partition(&search, &self.space, &self.judge, median)?,
            DivisionRule::TopDown => top_down_partition(&search, &self.space, &self.judge, &tuple_of, &place.stuck)?,
        };
        let world = World { set: part, tuple_of: &tuple_of, space: &self.space, judge: &self.judge };
        let mut finished = Finished::default();
        self.deal(part, &partition, displaced, &mut finished);
        for (index, parts) in partition.classes.into_iter().enumerate() {
            let cluster = world.cluster(parts);
            let entries = || cluster.parts.iter().map(|&(e, rows)| (tuple_of[e as usize], rows, world.entry(e)));
            let mut counts: Vec<(SensitiveId, u64)> =
                entries().map(|(_, rows, entry)| (entry.sensitive, rows)).collect();
            add_up(&mut counts);
            let kept = self.limit > 0
                && (self.space.covers_all(&cluster.shape) || worst(&world, &cluster, self.limit).is_some());
            let mut held: Vec<(Vec<u32>, Vec<Entry>)> = Vec::new();
            for (tuple, rows, entry) in entries().filter(|_| kept) {
                let codes = part.tuple(tuple as usize);
                match held.last_mut().filter(|(last, _)| last == codes) {
                    Some((_, of_tuple)) => of_tuple.push(Entry { rows, ..entry }),
                    None => held.push((codes.to_vec(), vec![Entry { rows, ..entry }])),
                }
            }
            let first = entries().next().map(|(tuple, ..)| part.tuple(tuple as usize).to_vec()).unwrap_or_default();
            let place = (Arc::clone(place), index as u32);
            finished.pieces.push(PartialClass { place, first, counts, shape: cluster.shape, held });
        }
        Ok(finished)
    }

    /// A part together with rows that were not with it.
    pub(super) fn with(&self, part: &FrequencySet, displaced: &[DisplacedRows]) -> FrequencySet {
        let (mut codes, mut counts) = (Vec::new(), Vec::new());
        for (tuple, entries) in part.groups.iter().enumerate() {
            for entry in entries {
                codes.extend_from_slice(part.tuple(tuple));
                counts.push((entry.sensitive, entry.rows));
            }
        }
        for moved in displaced {
            codes.extend_from_slice(&moved.codes);
            counts.push((moved.sensitive, moved.rows));
        }
        self.part(&codes, &counts)
    }

    /// Tells the class of each tuple, and which rows go elsewhere: displaced, and entries that are not where their
    /// tuple is.
    fn deal(&self, part: &FrequencySet, partition: &Partition, displaced: &[DisplacedRows], finished: &mut Finished) {
        let mut runs: Vec<(u32, u32, u64)> = Vec::new();
        for (class, parts) in (0..).zip(&partition.classes) {
            runs.extend(parts.iter().map(|&(entry, rows)| (entry, class, rows)));
        }
        runs.sort_unstable();
        let mut displaced: Vec<(&[u32], SensitiveId)> =
            displaced.iter().map(|s| (s.codes.as_slice(), s.sensitive)).collect();
        displaced.sort_unstable();
        let mut of_entry = runs.chunk_by(|a, b| a.0 == b.0);
        for (tuple, entries) in part.groups.iter().enumerate() {
            let codes = part.tuple(tuple);
            let mut class = None;
            for entry in entries {
                let Some(own) = of_entry.next() else { break };
                let is_displaced = displaced.binary_search(&(codes, entry.sensitive)).is_ok();
                if !is_displaced && own.len() == 1 && class.is_none_or(|class| class == own[0].1) {
                    class = Some(own[0].1);
                } else {
                    let runs = own.iter().map(|&(_, class, rows)| (class, rows)).collect();
                    finished.dealt.push(SplitRows { codes: codes.to_vec(), sensitive: entry.sensitive, runs });
                }
            }
            if let Some(class) = class {
                finished.tuples.extend_from_slice(codes);
                finished.of_tuple.push(class);
            }
        }
    }

    /// A part that is a class as it is. `first` is a tuple of it, `counts` its rows by sensitive tuple.
    ///
    /// # Errors
    /// When rows of it might be better left out, which cannot be known without gathering it.
    pub fn leaf(
        &self,
        summary: &super::Summary,
        place: &Arc<Place>,
        first: Vec<u32>,
        counts: Vec<(SensitiveId, u64)>,
    ) -> Result<PartialClass, SearchError> {
        let shape = summary.shape(&self.space).unwrap_or_default();
        let rows: u64 = counts.iter().map(|c| c.1).sum();
        if self.limit > 0 && self.space.cost(&shape) * rows as f64 > self.space.width() as f64 {
            return Err(SearchError::Unsupported(
                "a class of it has more as well, of which some rows may be better left out; with `max_suppression = 0` it \
                 need not be looked at"
                    .to_string(),
            ));
        }
        Ok(PartialClass { place: (Arc::clone(place), 0), first, counts, shape, held: Vec::new() })
    }

    /// Brings all classes together.
    ///
    /// # Errors
    /// When classes that satisfy the policy one by one fail it once their cells agree.
    pub fn assemble(&self, pieces: &[PartialClass]) -> Result<Assembled, SearchError> {
        let mut order: Vec<usize> = (0..pieces.len()).collect();
        order.sort_by(|&a, &b| {
            let place = |p: usize| (&pieces[p].place.0.sides, pieces[p].place.1);
            place(a).cmp(&place(b))
        });
        let mut shapes: Vec<&Shape> = pieces.iter().map(|p| p.shape.as_slice()).collect();
        let mut counts: Vec<&[(SensitiveId, u64)]> = pieces.iter().map(|p| p.counts.as_slice()).collect();
        let held: Vec<usize> = order.iter().copied().filter(|&p| !pieces[p].held.is_empty()).collect();
        let changed = self.without(pieces, &held);
        for (&piece, (shape, left)) in held.iter().zip(&changed.left) {
            (shapes[piece], counts[piece]) = (shape, left);
        }
        let mut index: FxHashMap<Vec<ShapeWord>, u32> = FxHashMap::default();
        let mut assembled = Assembled { class_of: vec![SUPPRESSED; pieces.len()], ..Assembled::default() };
        for &piece in order.iter().filter(|&&p| !counts[p].is_empty()) {
            let classes = &mut assembled.classes;
            assembled.class_of[piece] = *index.entry(self.space.canonical(shapes[piece])).or_insert_with(|| {
                classes.push(self.space.cells(shapes[piece]));
                classes.len() as u32 - 1
            });
        }
        if !self.judge.monotone {
            let mut merged: Vec<Vec<Entry>> = vec![Vec::new(); assembled.classes.len()];
            for &piece in order.iter().filter(|&&p| !counts[p].is_empty()) {
                let entries = counts[piece].iter().map(|&(sensitive, rows)| Entry { sensitive, person: NOBODY, rows });
                merged[assembled.class_of[piece] as usize].extend(entries);
            }
            if !merged.into_iter().all(|entries| self.judge.holds(&self.judge.tally(entries))) {
                return Err(SearchError::Unsupported(
                    "classes that satisfy the policy one by one fail it once they share a generalized tuple; use a \
                     policy that stays satisfied when classes merge"
                        .to_string(),
                ));
            }
        }
        let rows: u64 = changed.omitted.iter().map(|o| o.rows).sum();
        if rows > 0 {
            let masks = self.search.suppressed == Suppressed::Mask;
            let how = if masks { "masked" } else { "suppressed" };
            assembled.notes.push(format!("{rows} rows {how} because without them the others lose less"));
            if masks {
                assembled.masked = Some(assembled.classes.len() as u32);
                assembled.classes.push(self.space.tops());
            }
        }
        assembled.omitted = changed.omitted;
        Ok(assembled)
    }

    /// Takes out the rows that are better left out. No other class than those that were held has any.
    fn without(&self, pieces: &[PartialClass], held: &[usize]) -> Changed {
        if held.is_empty() {
            return Changed::default();
        }
        let mut entries: Vec<(&[u32], SensitiveId, usize, u64)> = Vec::new();
        for (position, &piece) in held.iter().enumerate() {
            for (codes, of_tuple) in &pieces[piece].held {
                entries.extend(of_tuple.iter().map(|e| (codes.as_slice(), e.sensitive, position, e.rows)));
            }
        }
        entries.sort_unstable();
        let mut codes = Vec::new();
        let mut counts = Vec::new();
        let mut classes: Vec<Vec<(u32, u64)>> = vec![Vec::new(); held.len()];
        for &(tuple, sensitive, position, rows) in &entries {
            classes[position].push((counts.len() as u32, rows));
            codes.extend_from_slice(tuple);
            counts.push((sensitive, rows));
        }
        let set = self.part(&codes, &counts);
        let tuple_of = set.tuple_of_entry();
        let world = World { set: &set, tuple_of: &tuple_of, space: &self.space, judge: &self.judge };
        let mut clusters: Vec<_> = classes.into_iter().map(|parts| world.cluster(parts)).collect();
        let mut taken: Taken = omit(&world, &mut clusters, self.limit);
        if self.search.suppressed == Suppressed::Mask {
            taken = mask(&world, &mut clusters, taken);
        }
        let mut omitted: Vec<((usize, u32), u64)> = taken.into_iter().map(|(c, (e, rows))| ((c, e), rows)).collect();
        add_up(&mut omitted);
        let omitted = omitted.into_iter().map(|((c, e), rows)| Omitted {
            piece: held[c],
            codes: set.tuple(tuple_of[e as usize] as usize).to_vec(),
            sensitive: world.entry(e).sensitive,
            rows,
        });
        let left = |cluster: &cluster::Cluster| {
            let mut counts = cluster.parts.iter().map(|&(e, rows)| (world.entry(e).sensitive, rows)).collect();
            add_up(&mut counts);
            (cluster.shape.clone(), counts)
        };
        Changed { omitted: omitted.collect(), left: clusters.iter().map(left).collect() }
    }
}

/// The shape of a class, and its rows by sensitive tuple.
type Left = (Vec<ShapeWord>, Vec<(SensitiveId, u64)>);

/// What became of classes that rows were taken from.
#[derive(Default)]
struct Changed {
    omitted: Vec<Omitted>,
    left: Vec<Left>,
}

impl Assembled {
    /// The recoding of a set in which each piece is one tuple, its [first](Piece::first), with all of its rows. Pieces
    /// that have their first in common share the tuple.
    pub fn recoding(&self, set: &FrequencySet, pieces: &[PartialClass]) -> Recoding {
        let mut pieces_of: FxHashMap<&[u32], Vec<usize>> = FxHashMap::default();
        for (p, piece) in pieces.iter().enumerate() {
            pieces_of.entry(piece.first.as_slice()).or_default().push(p);
        }
        let of_tuple: Vec<&[usize]> =
            (0..set.len()).map(|t| pieces_of.get(set.tuple(t)).map_or(&[][..], Vec::as_slice)).collect();
        let class = |piece: usize| self.class_of.get(piece).copied().unwrap_or(SUPPRESSED);
        let only = |of: &&[usize]| of.first().map_or(SUPPRESSED, |&piece| class(piece));
        let recoding = Recoding {
            classes: self.classes.clone(),
            assignment: Assignment::Tuples(of_tuple.iter().map(only).collect()),
            levels: None,
            masked: self.masked,
            shown: None,
        };
        if self.omitted.is_empty() && of_tuple.iter().all(|of| of.len() == 1) {
            return recoding;
        }
        let mut gone: FxHashMap<(usize, SensitiveId), u64> = FxHashMap::default();
        for omitted in &self.omitted {
            *gone.entry((omitted.piece, omitted.sensitive)).or_default() += omitted.rows;
        }
        let mut runs: Vec<(u32, u64)> = Vec::new();
        let mut offsets = vec![0];
        for (of, entries) in of_tuple.iter().zip(set.groups.iter()) {
            for entry in entries {
                let mut own: Vec<(u32, u64)> = Vec::new();
                for &piece in *of {
                    let counts = pieces.get(piece).map_or(&[][..], |p| &p.counts);
                    let at = counts.binary_search_by_key(&entry.sensitive, |c| c.0);
                    let rows = at.map_or(0, |at| counts[at].1);
                    let without = gone.get(&(piece, entry.sensitive)).copied().unwrap_or(0);
                    own.push((class(piece), rows.saturating_sub(without)));
                    own.push((self.masked.unwrap_or(SUPPRESSED), without));
                }
                own.retain(|run| run.1 > 0);
                add_up(&mut own);
                runs.append(&mut own);
                offsets.push(runs.len());
            }
        }
        Recoding { assignment: Assignment::Entries { offsets, runs }, ..recoding }
    }
}

impl Assembled {
    /// Where the rows of dealt combinations go in the release, those left out aside.
    pub fn dealt(&self, dealt: &[SplitRows]) -> Vec<SplitRows> {
        let mut gone: FxHashMap<(&[u32], SensitiveId, usize), u64> = FxHashMap::default();
        for omitted in &self.omitted {
            *gone.entry((&omitted.codes, omitted.sensitive, omitted.piece)).or_default() += omitted.rows;
        }
        let of_class = |dealt: &SplitRows| {
            let mut runs: Vec<(u32, u64)> = Vec::new();
            for &(piece, rows) in &dealt.runs {
                let without = gone.get(&(&dealt.codes, dealt.sensitive, piece as usize)).copied().unwrap_or(0);
                let class = self.class_of.get(piece as usize).copied().unwrap_or(SUPPRESSED);
                runs.push((class, rows.saturating_sub(without)));
                runs.extend(self.masked.map(|masked| (masked, without)));
            }
            runs.retain(|run| run.0 != SUPPRESSED && run.1 > 0);
            add_up(&mut runs);
            SplitRows { runs, ..dealt.clone() }
        };
        dealt.iter().map(of_class).collect()
    }
}
