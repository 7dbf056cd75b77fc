//! Counts rows: distinct keys (the published quasi tuples), their sizes, and for each view (a set of sensitive columns)
//! one histogram per key.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::coded::Coder;
use super::counted::{Counted, CountedView};
use super::key::{encode, intern, key_text, sorted};
use super::selection::{Cells, Layout, Selection, runs};
use super::texts::{BATCH, Texts};
use super::view_tally::ViewTally;
use crate::problem::{Problem, ProblemKind};
use crate::unique::Uniques;

/// Counts while rows are being read.
#[derive(Debug)]
pub(crate) struct Tally {
    selection: Arc<Selection>,
    tokens: Arc<FxHashSet<Vec<u8>>>,
    layout: Arc<Layout>,
    keys: FxHashMap<Box<[u8]>, u32>,
    /// Class numbers by the text of the key columns: most rows are found here, without being split into cells.
    texts: Texts,
    sizes: Vec<u64>,
    members: FxHashSet<(u32, u64)>,
    views: Vec<ViewTally>,
    uniques: Uniques,
    before: u64,
    dropped: u64,
    scratch: Vec<u8>,
}

impl Tally {
    pub(crate) fn new(selection: &Selection) -> Tally {
        let tokens = selection.missing.iter().flat_map(|m| m.tokens.iter().map(|t| t.as_bytes().to_vec())).collect();
        let uniques = Uniques::new(selection.unique_beside.len());
        Tally::with(Arc::new(selection.clone()), Arc::new(tokens), Arc::default(), uniques)
    }

    fn with(
        selection: Arc<Selection>,
        tokens: Arc<FxHashSet<Vec<u8>>>,
        layout: Arc<Layout>,
        uniques: Uniques,
    ) -> Tally {
        let views = selection.views.iter().map(|_| ViewTally::default()).collect();
        Tally {
            selection,
            tokens,
            layout,
            keys: FxHashMap::default(),
            texts: Texts::default(),
            sizes: Vec::new(),
            members: FxHashSet::default(),
            views,
            uniques,
            before: 0,
            dropped: 0,
            scratch: Vec::new(),
        }
    }

    /// An empty tally of the same shape.
    pub(crate) fn fork(&self) -> Tally {
        Tally::with(self.selection.clone(), self.tokens.clone(), self.layout.clone(), self.uniques.fork())
    }

    /// Finds the selection's columns in the header of the next file; an error when one is missing or named twice.
    pub(crate) fn open(&mut self, path: &std::path::Path, header: &[String]) -> Result<(), Problem> {
        let wrong = |what: String| Problem::violation(ProblemKind::Column, format!("{}: {what}", path.display()));
        let mut names = FxHashSet::default();
        if let Some(twice) = header.iter().find(|name| !names.insert(name.as_str())) {
            return Err(wrong(format!("the column \"{twice}\" appears twice")));
        }
        let find = |name: &String| {
            header.iter().position(|h| h == name).ok_or_else(|| wrong(format!("there is no column \"{name}\"")))
        };
        let all = |names: &[String]| names.iter().map(find).collect::<Result<Vec<usize>, Problem>>();
        let key = match &self.selection.key {
            Some(names) => all(names)?,
            None => (0..header.len()).collect(),
        };
        let beside = |out: &Vec<String>| match self.selection.view_of_unique(out, header) {
            Some(_) => Vec::new(),
            None => (0..header.len()).filter(|&c| !out.contains(&header[c])).collect(),
        };
        // Columns may have other positions in this file than in the previous one.
        self.texts.clear();
        self.layout = Arc::new(Layout {
            runs: runs(&key),
            key,
            views: self.selection.views.iter().map(|v| all(v)).collect::<Result<_, _>>()?,
            missing: self.selection.missing.as_ref().map_or(Ok(Vec::new()), |m| all(&m.columns))?,
            unique: self.selection.unique_beside.iter().map(beside).collect(),
        });
        Ok(())
    }

    /// The columns of the file that are used, ascending.
    pub(crate) fn needed(&self) -> Vec<usize> {
        let layout = &self.layout;
        let mut columns: Vec<usize> = layout
            .key
            .iter()
            .chain(layout.views.iter().chain(&layout.unique).flatten())
            .chain(&layout.missing)
            .copied()
            .collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// Numbers for the cells of a file with this many columns. What is known of the texts of other files is forgotten:
    /// the same numbers mean other cells there.
    pub(super) fn coder(&mut self, columns: usize) -> Coder {
        self.texts.clear();
        let layout = &self.layout;
        let coded: Vec<usize> =
            layout.key.iter().chain(layout.views.iter().flatten()).chain(&layout.missing).copied().collect();
        Coder::new(columns, &coded)
    }

    /// Whether rows must be added with their numbers: waived rows and persons are given by row number.
    pub(crate) fn needs_row_numbers(&self) -> bool {
        !self.selection.waived.is_empty() || self.selection.persons.is_some()
    }

    /// Number of rows in the files already read.
    pub(crate) fn rows_before(&self) -> u64 {
        self.before
    }

    /// Records that a file of `rows` rows has been read.
    pub(crate) fn advance(&mut self, rows: u64) {
        self.before += rows;
    }

    /// Counts one row.
    pub(crate) fn add(&mut self, row: u64, cells: &impl Cells) -> Result<(), String> {
        self.compare(cells)?;
        self.classify(row, cells)
    }

    /// Adds a row to the counts of unique rows.
    fn compare(&mut self, cells: &impl Cells) -> Result<(), String> {
        for (set, columns) in self.layout.unique.iter().enumerate().filter(|(_, columns)| !columns.is_empty()) {
            let cells = columns.iter().map(|&c| cells.cell(c));
            self.uniques.add(set, cells).map_err(|e| format!("cannot put hashes of rows aside: {e}"))?;
        }
        Ok(())
    }

    /// Counts one row in its class.
    fn classify(&mut self, row: u64, cells: &impl Cells) -> Result<(), String> {
        let Tally { selection, tokens, layout, keys, texts, sizes, members, views, scratch, .. } = self;
        let missing = |&c: &usize| cells.is_null(c) || (!tokens.is_empty() && tokens.contains(cells.cell(c)));
        if layout.missing.iter().any(missing) {
            self.dropped += 1;
            return Ok(());
        }
        let waived = !selection.waived.is_empty() && selection.waived.binary_search(&row).is_ok();
        let person = match &selection.persons {
            None => None,
            Some(ids) => {
                let id = usize::try_from(row).ok().and_then(|r| ids.get(r).copied());
                Some(id.ok_or("there are more rows than person ids")?)
            }
        };
        let class = if waived {
            None
        } else {
            let class = match key_text(&layout.runs, cells, scratch).map(|text| texts.get(text)) {
                Some(Some(class)) => class,
                known => {
                    encode(scratch, &layout.key, cells);
                    let class = intern(keys, scratch)?;
                    if known.is_some()
                        && let Some(text) = key_text(&layout.runs, cells, scratch)
                    {
                        texts.insert(text, class);
                    }
                    class
                }
            };
            if class as usize == sizes.len() {
                sizes.push(0);
            }
            if selection.counts_sizes() {
                sizes[class as usize] += u64::from(person.is_none_or(|person| members.insert((class, person))));
            }
            Some(class)
        };
        for (view, columns) in views.iter_mut().zip(&layout.views) {
            let value = view.value(columns, cells, scratch)?;
            if let Some(class) = class {
                let new = person.is_none_or(|person| view.persons.insert((class, value, person)));
                view.add(class, value, u64::from(new));
            }
        }
        Ok(())
    }

    /// Counts rows, the first of which has the number `first`. An error gives the number of rows before the faulty one.
    pub(crate) fn add_all(&mut self, first: u64, rows: &[impl Cells]) -> Result<(), (u64, String)> {
        // Rows of known classes may still be left out for a cell of another column, and null is unknown without tokens.
        let one_by_one = !self.layout.missing.is_empty() || self.needs_row_numbers();
        let run = match self.layout.runs[..] {
            [run] if !one_by_one => Some(run),
            _ => None,
        };
        let mut before = 0;
        for batch in rows.chunks(BATCH) {
            for (at, row) in (0u64..).zip(batch) {
                self.compare(row).map_err(|what| (before + at, what))?;
            }
            let mut classes = [None; BATCH];
            if let Some((from, to)) = run {
                self.texts.get_all(batch.iter().map(|row| row.span(from, to)), &mut classes);
            }
            let known = || batch.iter().zip(classes).filter_map(|(row, class)| Some((row, class?)));
            if self.selection.counts_sizes() {
                known().for_each(|(_, class)| self.sizes[class as usize] += 1);
            }
            for (view, columns) in self.views.iter_mut().zip(&self.layout.views) {
                // All values before all counts: the cache misses of the counts then overlap.
                let mut values = [0u32; BATCH];
                for (value, (row, _)) in values.iter_mut().zip(known()) {
                    *value = view.value(columns, row, &mut self.scratch).map_err(|what| (before, what))?;
                }
                known().zip(values).for_each(|((_, class), value)| view.add(class, value, 1));
            }
            for (at, row) in (0u64..).zip(batch).filter(|&(at, _)| classes[at as usize].is_none()) {
                self.classify(first + before + at, row).map_err(|what| (before + at, what))?;
            }
            before += batch.len() as u64;
        }
        Ok(())
    }

    /// Adds the counts of another tally over other rows. Persons are not merged: a tally that needs row numbers is
    /// never split.
    pub(crate) fn merge(&mut self, mut other: Tally) -> std::io::Result<()> {
        other.uniques.close()?;
        self.before += other.before;
        self.dropped += other.dropped;
        if self.keys.is_empty() && self.views.iter().all(|v| v.values.is_empty()) {
            (self.keys, self.sizes, self.members, self.views) = (other.keys, other.sizes, other.members, other.views);
            self.texts = other.texts;
            return Ok(());
        }
        let mut classes = vec![0u32; other.sizes.len()];
        for (key, class) in other.keys {
            let next = self.sizes.len() as u32;
            let mine = *self.keys.entry(key).or_insert(next);
            if mine == next {
                self.sizes.push(0);
            }
            self.sizes[mine as usize] += other.sizes[class as usize];
            classes[class as usize] = mine;
        }
        for (mine, theirs) in self.views.iter_mut().zip(other.views) {
            let mut values = vec![0u32; theirs.values.len()];
            for (text, &value) in &theirs.values {
                let next = mine.values.len() as u32;
                values[value as usize] = match mine.values.get(text) {
                    Some(&known) => known,
                    None => {
                        mine.values.insert(text.clone(), next);
                        next
                    }
                };
            }
            theirs.drain(|class, value, count| mine.add(classes[class as usize], values[value as usize], count));
        }
        Ok(())
    }

    /// The counts in an order that does not depend on the order of counting.
    pub(crate) fn finish(mut self, selection: &Selection, columns: Vec<String>) -> std::io::Result<Counted> {
        self.uniques.close()?;
        let hashed = (0..selection.unique_beside.len()).map(|set| self.uniques.count(set));
        let hashed: Vec<u64> = hashed.collect::<Result<_, _>>()?;
        let (keys, places) = sorted(self.keys);
        let mut sizes = vec![0u64; keys.len()];
        for (class, size) in self.sizes.into_iter().enumerate() {
            sizes[places[class] as usize] = size;
        }
        let views: Vec<CountedView> = self
            .views
            .into_iter()
            .zip(&selection.views)
            .map(|(mut view, names)| {
                let (values, value_places) = sorted(std::mem::take(&mut view.values));
                let mut histograms: Vec<Vec<(u32, u64)>> = vec![Vec::new(); keys.len()];
                let persons = std::mem::take(&mut view.persons);
                view.drain(|class, value, count| {
                    histograms[places[class as usize] as usize].push((value_places[value as usize], count));
                });
                for histogram in &mut histograms {
                    histogram.sort_unstable();
                    histogram.dedup_by(|next, kept| {
                        let same = next.0 == kept.0;
                        kept.1 += if same { next.1 } else { 0 };
                        same
                    });
                }
                let mut members = Vec::new();
                if names.len() > 1 {
                    let place = |&(class, value, person): &(u32, u32, u64)| {
                        (places[class as usize], value_places[value as usize], person)
                    };
                    members = persons.iter().map(place).collect();
                    members.sort_unstable();
                }
                let mut totals = vec![0u64; values.len()];
                if selection.persons.is_some() {
                    // A person who has a value in two classes counts once.
                    let once: FxHashSet<(u32, u64)> =
                        persons.iter().map(|&(_, value, person)| (value, person)).collect();
                    once.iter().for_each(|&(value, _)| totals[value_places[value as usize] as usize] += 1);
                } else {
                    histograms.iter().flatten().for_each(|&(value, count)| totals[value as usize] += count);
                }
                CountedView { columns: names.clone(), values, totals, histograms, members }
            })
            .collect();
        if !selection.counts_sizes()
            && let Some(view) = views.first()
        {
            let histograms = view.histograms.iter();
            sizes = histograms.map(|histogram| histogram.iter().map(|&(_, count)| count).sum()).collect();
        }
        let alone = |view: &CountedView| view.histograms.iter().flatten().filter(|pair| pair.1 == 1).count() as u64;
        let told = |out: &Vec<String>| selection.view_of_unique(out, &columns).and_then(|view| views.get(view));
        let sets = selection.unique_beside.iter().zip(hashed);
        let unique = sets.map(|(out, hashed)| told(out).map_or(hashed, alone)).collect();
        Ok(Counted { columns, rows: self.before, dropped: self.dropped, keys, sizes, views, unique })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::key::cells;

    struct Row(&'static str);

    impl Cells for Row {
        fn cell(&self, column: usize) -> &[u8] {
            self.0.split(',').nth(column).unwrap().as_bytes()
        }
    }

    #[test]
    fn counts_outgrow_small_numbers_and_merge() {
        let names = |list: &[&str]| list.iter().map(|n| n.to_string()).collect::<Vec<_>>();
        let selection = Selection { key: Some(names(&["q"])), views: vec![names(&["s"])], ..Selection::default() };
        let mut total = Tally::new(&selection);
        total.open(std::path::Path::new("t"), &names(&["q", "s"])).unwrap();
        total.add(0, &Row("long,x")).unwrap();
        let mut other = total.fork();
        for row in ["b,y", "long,y", "b,x", "b,x"] {
            other.add(0, &Row(row)).unwrap();
        }
        other.views[0].add(0, 1, u64::from(u32::MAX));
        total.merge(other).unwrap();
        let counted = total.finish(&selection, Vec::new()).unwrap();
        assert_eq!(cells(&counted.keys[0]), [b"b"]);
        assert_eq!(counted.sizes, [u64::from(u32::MAX) + 3, 2]);
        assert_eq!(counted.views[0].histograms[0], [(0, u64::from(u32::MAX) + 2), (1, 1)]);
        assert_eq!(counted.views[0].histograms[1], [(0, 1), (1, 1)]);
    }
}
