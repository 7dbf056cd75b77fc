//! Classes of parts, brought together to a recoding.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::Pieces;
use crate::algorithm::{Search, SearchError, Suppressed, mondrian_partition};
use crate::frequency::{Entry, FrequencySet, NOBODY, add_up};
use crate::hierarchy::Cell;
use crate::local::omit::{Taken, mask, omit, worst};
use crate::local::{World, cluster};
use crate::recoding::{Assignment, Recoding, SUPPRESSED};

/// A class, as far as it must be known here.
#[derive(Debug, Clone)]
pub struct Piece {
    /// Where it hangs in the tree of cuts: the sides taken, and its place in what was finished there.
    place: (Arc<[u32]>, u32),
    /// A tuple of it, which no other class has.
    pub first: Vec<u32>,
    /// Its rows by sensitive tuple, before any are left out.
    pub counts: Vec<(u32, u64)>,
    shape: Vec<u64>,
    /// Its entries, where some of them may be better left out: tuples, and the entries of each.
    held: Vec<(Vec<u32>, Vec<Entry>)>,
}

/// The classes of a part, and the class of each of its tuples, by position.
#[derive(Debug, Clone, Default)]
pub struct Finished {
    /// The classes.
    pub pieces: Vec<Piece>,
    /// The class of each tuple.
    pub of_tuple: Vec<u32>,
}

/// Rows that are left out or masked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Omitted {
    /// The class that they were in, by its position among all.
    pub piece: usize,
    /// Their quasi tuple.
    pub codes: Vec<u32>,
    /// Their sensitive tuple.
    pub sensitive: u32,
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
    /// Rows that are left out, or masked where there is such a class. Always all rows of a tuple with a sensitive tuple.
    pub omitted: Vec<Omitted>,
    /// What people should know.
    pub notes: Vec<String>,
}

impl<'a> Pieces<'a> {
    /// Finishes a part that was gathered.
    ///
    /// # Errors
    /// When the search was asked to stop.
    pub fn finish(&self, part: &FrequencySet, path: &Arc<[u32]>) -> Result<Finished, SearchError> {
        let search = Search { set: part, ..self.search.clone() };
        let partition = mondrian_partition(&search, &self.space, &self.judge, self.median)?;
        let tuple_of = part.tuple_of_entry();
        let world = World { set: part, tuple_of: &tuple_of, space: &self.space, judge: &self.judge };
        let mut finished = Finished { pieces: Vec::new(), of_tuple: vec![0; part.len()] };
        for (index, parts) in partition.classes.into_iter().enumerate() {
            let cluster = world.cluster(parts);
            let entries = || cluster.parts.iter().map(|&(e, rows)| (tuple_of[e as usize], rows, world.entry(e)));
            let mut counts: Vec<(u32, u64)> = entries().map(|(_, rows, entry)| (entry.sensitive, rows)).collect();
            add_up(&mut counts);
            entries().for_each(|(tuple, ..)| finished.of_tuple[tuple as usize] = index as u32);
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
            let place = (Arc::clone(path), index as u32);
            finished.pieces.push(Piece { place, first, counts, shape: cluster.shape, held });
        }
        Ok(finished)
    }

    /// A part that is a class as it is. `first` is a tuple of it, `counts` its rows by sensitive tuple.
    ///
    /// # Errors
    /// When rows of it might be better left out, which cannot be known without gathering it.
    pub fn leaf(
        &self,
        summary: &super::Summary,
        path: &Arc<[u32]>,
        first: Vec<u32>,
        counts: Vec<(u32, u64)>,
    ) -> Result<Piece, SearchError> {
        let shape = summary.shape(&self.space).unwrap_or_default();
        let rows: u64 = counts.iter().map(|c| c.1).sum();
        if self.limit > 0 && self.space.cost(&shape) * rows as f64 > self.space.width() as f64 {
            return Err(SearchError::Unsupported(
                "a class of it has more as well, of which some rows may be better left out; with `max_suppression = 0` it \
                 need not be looked at"
                    .to_string(),
            ));
        }
        Ok(Piece { place: (Arc::clone(path), 0), first, counts, shape, held: Vec::new() })
    }

    /// Brings all classes together.
    ///
    /// # Errors
    /// When classes that satisfy the policy one by one fail it once their cells agree.
    pub fn assemble(&self, pieces: &[Piece]) -> Result<Assembled, SearchError> {
        let mut order: Vec<usize> = (0..pieces.len()).collect();
        order.sort_by(|&a, &b| pieces[a].place.cmp(&pieces[b].place));
        let mut shapes: Vec<&[u64]> = pieces.iter().map(|p| p.shape.as_slice()).collect();
        let mut counts: Vec<&[(u32, u64)]> = pieces.iter().map(|p| p.counts.as_slice()).collect();
        let held: Vec<usize> = order.iter().copied().filter(|&p| !pieces[p].held.is_empty()).collect();
        let changed = self.without(pieces, &held);
        for (&piece, (shape, left)) in held.iter().zip(&changed.left) {
            (shapes[piece], counts[piece]) = (shape, left);
        }
        let mut index: FxHashMap<Vec<u64>, u32> = FxHashMap::default();
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
    fn without(&self, pieces: &[Piece], held: &[usize]) -> Changed {
        if held.is_empty() {
            return Changed::default();
        }
        let mut tuples: Vec<(&[u32], usize, &[Entry])> = Vec::new();
        for (position, &piece) in held.iter().enumerate() {
            let of_piece = pieces[piece].held.iter();
            tuples.extend(of_piece.map(|(codes, entries)| (codes.as_slice(), position, entries.as_slice())));
        }
        tuples.sort_unstable_by(|a, b| a.0.cmp(b.0));
        let mut codes = Vec::new();
        let mut counts = Vec::new();
        let mut classes: Vec<Vec<(u32, u64)>> = vec![Vec::new(); held.len()];
        for &(tuple, position, entries) in &tuples {
            for entry in entries {
                classes[position].push((counts.len() as u32, entry.rows));
                codes.extend_from_slice(tuple);
                counts.push((entry.sensitive, entry.rows));
            }
        }
        let set = self.part(&codes, &counts);
        let tuple_of = set.tuple_of_entry();
        let world = World { set: &set, tuple_of: &tuple_of, space: &self.space, judge: &self.judge };
        let mut clusters: Vec<_> = classes.into_iter().map(|parts| world.cluster(parts)).collect();
        let mut taken: Taken = omit(&world, &mut clusters, self.limit);
        if self.search.suppressed == Suppressed::Mask {
            taken = mask(&world, &mut clusters, taken);
        }
        let place_of = |e: u32| tuples.partition_point(|t| t.0 < set.tuple(tuple_of[e as usize] as usize));
        let omitted = cluster::combined(&taken.into_iter().map(|t| t.1).collect::<Vec<_>>()).into_iter();
        let omitted = omitted.map(|(e, rows)| Omitted {
            piece: tuples.get(place_of(e)).map_or(0, |t| held[t.1]),
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
type Left = (Vec<u64>, Vec<(u32, u64)>);

/// What became of classes that rows were taken from.
#[derive(Default)]
struct Changed {
    omitted: Vec<Omitted>,
    left: Vec<Left>,
}

impl Assembled {
    /// The recoding of a set in which each piece is one tuple, its [first](Piece::first), with all of its rows.
    pub fn recoding(&self, set: &FrequencySet, pieces: &[Piece]) -> Recoding {
        let piece_of: FxHashMap<&[u32], usize> =
            pieces.iter().enumerate().map(|(p, piece)| (piece.first.as_slice(), p)).collect();
        let of_tuple: Vec<Option<usize>> = (0..set.len()).map(|t| piece_of.get(set.tuple(t)).copied()).collect();
        let class = |piece: &Option<usize>| piece.and_then(|p| self.class_of.get(p).copied()).unwrap_or(SUPPRESSED);
        let recoding = Recoding {
            classes: self.classes.clone(),
            assignment: Assignment::Tuples(of_tuple.iter().map(class).collect()),
            levels: None,
            masked: self.masked,
        };
        if self.omitted.is_empty() {
            return recoding;
        }
        let mut gone: FxHashMap<(usize, u32), u64> = FxHashMap::default();
        for omitted in &self.omitted {
            *gone.entry((omitted.piece, omitted.sensitive)).or_default() += omitted.rows;
        }
        let mut runs: Vec<(u32, u64)> = Vec::new();
        let mut offsets = vec![0];
        for (piece, entries) in of_tuple.iter().zip(set.groups.iter()) {
            for entry in entries {
                let without = piece.and_then(|p| gone.get(&(p, entry.sensitive)).copied()).unwrap_or(0);
                let places = [(class(piece), entry.rows - without), (self.masked.unwrap_or(SUPPRESSED), without)];
                runs.extend(places.into_iter().filter(|&(_, rows)| rows > 0));
                offsets.push(runs.len());
            }
        }
        Recoding { assignment: Assignment::Entries { offsets, runs }, ..recoding }
    }
}
