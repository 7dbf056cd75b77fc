//! Counts unique rows: rows of a release that no other row equals on given columns.
//!
//! All published columns tell people apart, not only quasi columns. All rows of any number of files must be compared,
//! in memory that does not grow with their number. A row becomes a 127-bit hash under a key drawn for each run, so that
//! rows which collide cannot be prepared in advance; the probability that any two of 10^12 rows collide by chance is
//! below 10^-14. Hashes beyond a buffer are sorted and spilled to an unnamed temporary file, which holds no cell; the
//! sorted runs are merged at the end.
//!
//! Contract: [`Uniques::count`] is the number of rows whose cells in the counted columns no other row has.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::slice::ParallelSliceMut;
use siphasher::sip128::{Hasher128, SipHasher13};

/// The percentage of rows that may be unique on insensitive columns. Above it these columns single people out, and the
/// policy must give a reason for publishing them.
pub const UNIQUE_PERCENT: u64 = 1;

/// Whether `unique` of `rows` rows are more than [`UNIQUE_PERCENT`] percent.
pub fn singles_out(unique: u64, rows: u64) -> bool {
    u128::from(unique) * 100 > u128::from(rows) * u128::from(UNIQUE_PERCENT)
}

/// Hashes that one counter collects before it appends them to the shared pool.
const LOCAL: usize = 1 << 14;

/// Hashes in memory at which a pool is sorted.
const BUFFER: usize = 1 << 22;

/// The lowest bit of a hash marks that several rows have it.
const SEVERAL: u128 = 1;

/// Counts unique rows for several sets of columns at once. Counters made by [`fork`](Uniques::fork) share one result.
#[derive(Debug)]
pub(crate) struct Uniques {
    shared: Arc<SharedCounts>,
    waiting: Vec<Vec<u128>>,
}

#[derive(Debug)]
struct SharedCounts {
    key: (u64, u64),
    pools: Vec<Mutex<SetHashes>>,
}

impl Uniques {
    /// A counter for this number of sets of columns.
    pub fn new(sets: usize) -> Self {
        let random = RandomState::new();
        let key = (random.hash_one(1u8), random.hash_one(2u8));
        let shared = SharedCounts { key, pools: (0..sets).map(|_| Mutex::default()).collect() };
        Uniques { shared: Arc::new(shared), waiting: vec![Vec::new(); sets] }
    }

    /// A counter for another thread.
    pub fn fork(&self) -> Self {
        Uniques { shared: Arc::clone(&self.shared), waiting: vec![Vec::new(); self.waiting.len()] }
    }

    /// Counts a row in one set, by its cells there.
    pub fn add<'a>(&mut self, set: usize, cells: impl Iterator<Item = &'a [u8]>) -> io::Result<()> {
        let mut hasher = SipHasher13::new_with_keys(self.shared.key.0, self.shared.key.1);
        for cell in cells {
            hasher.write_usize(cell.len());
            hasher.write(cell);
        }
        let waiting = &mut self.waiting[set];
        waiting.push(u128::from(hasher.finish128()) & !SEVERAL);
        if waiting.len() >= LOCAL { self.flush(set) } else { Ok(()) }
    }

    /// Passes pending hashes to the pool. To be called on every counter before [`count`](Uniques::count).
    pub fn close(&mut self) -> io::Result<()> {
        (0..self.waiting.len()).try_for_each(|set| self.flush(set))
    }

    fn flush(&mut self, set: usize) -> io::Result<()> {
        collect(&self.shared.pools[set], &mut self.waiting[set], BUFFER)
    }

    /// How many rows are unique on one set, once all forks are closed.
    pub fn count(&self, set: usize) -> io::Result<u64> {
        self.shared.pools[set].lock().unwrap_or_else(PoisonError::into_inner).unique()
    }
}

/// The hashes of one set of columns.
#[derive(Debug, Default)]
struct SetHashes {
    fresh: Vec<u128>,
    runs: Vec<File>,
}

/// Moves hashes into a pool, which is sorted, and spilled if it stays more than half full, once it has `buffer` of
/// them.
///
/// The lock is not held while they are sorted: a thread that waits for a part of the sort may begin other work, which
/// moves hashes into the same pool.
fn collect(pool: &Mutex<SetHashes>, hashes: &mut Vec<u128>, buffer: usize) -> io::Result<()> {
    let lock = || pool.lock().unwrap_or_else(PoisonError::into_inner);
    let full = lock().take(hashes, buffer);
    let Some(sorted) = full.map(compacted) else { return Ok(()) };
    // After removing duplicates few hashes are left where many rows are equal: no need to spill.
    if sorted.len() < buffer / 2 {
        lock().fresh.extend(sorted);
    } else {
        let run = spilled(&sorted)?;
        lock().runs.push(run);
    }
    Ok(())
}

/// Sorted hashes, each once, marked if it occurred several times.
fn compacted(mut hashes: Vec<u128>) -> Vec<u128> {
    hashes.par_sort_unstable();
    hashes.dedup_by(|next, kept| {
        let same = *next & !SEVERAL == *kept & !SEVERAL;
        *kept |= if same { SEVERAL } else { 0 };
        same
    });
    hashes
}

/// Sorted hashes in an unnamed file.
fn spilled(sorted: &[u128]) -> io::Result<File> {
    let mut out = BufWriter::with_capacity(1 << 18, tempfile::tempfile()?);
    for hash in sorted {
        out.write_all(&hash.to_le_bytes())?;
    }
    let mut file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(file)
}

impl SetHashes {
    /// Takes hashes in; returns all that are in memory once they are at least as many as `buffer`.
    fn take(&mut self, hashes: &mut Vec<u128>, buffer: usize) -> Option<Vec<u128>> {
        self.fresh.append(hashes);
        (self.fresh.len() >= buffer).then(|| std::mem::take(&mut self.fresh))
    }

    fn unique(&mut self) -> io::Result<u64> {
        let sorted = compacted(std::mem::take(&mut self.fresh));
        if self.runs.is_empty() {
            let unique = sorted.iter().filter(|&&hash| hash & SEVERAL == 0).count() as u64;
            self.fresh = sorted;
            return Ok(unique);
        }
        self.runs.push(spilled(&sorted)?);
        let mut runs: Vec<BufReader<File>> = Vec::new();
        for mut file in self.runs.drain(..) {
            file.seek(SeekFrom::Start(0))?;
            runs.push(BufReader::with_capacity(1 << 16, file));
        }
        let mut heads = BinaryHeap::new();
        for (run, reader) in runs.iter_mut().enumerate() {
            heads.extend(next(reader)?.map(|hash| Reverse((hash, run))));
        }
        let (mut unique, mut last) = (0, None::<u128>);
        while let Some(Reverse((hash, run))) = heads.pop() {
            heads.extend(next(&mut runs[run])?.map(|hash| Reverse((hash, run))));
            last = Some(match last {
                Some(kept) if kept & !SEVERAL == hash & !SEVERAL => kept | SEVERAL,
                other => {
                    unique += u64::from(other.is_some_and(|kept| kept & SEVERAL == 0));
                    hash
                }
            });
        }
        Ok(unique + u64::from(last.is_some_and(|kept| kept & SEVERAL == 0)))
    }
}

/// The next hash of a run.
fn next(reader: &mut impl Read) -> io::Result<Option<u128>> {
    let mut bytes = [0; 16];
    match reader.read_exact(&mut bytes) {
        Ok(()) => Ok(Some(u128::from_le_bytes(bytes))),
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(e) => Err(e),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn brute(hashes: &[u128]) -> u64 {
        hashes.iter().filter(|a| hashes.iter().filter(|b| a == b).count() == 1).count() as u64
    }

    #[test]
    fn runs_and_memory_count_the_same() {
        for seed in 0..40u128 {
            let hashes: Vec<u128> = (0..200).map(|i| ((i * i * 7919 + seed * 31) % (20 + 9 * seed)) << 1).collect();
            for buffer in [8, 64, 1 << 10] {
                let pool = Mutex::<SetHashes>::default();
                for part in hashes.chunks(5) {
                    collect(&pool, &mut part.to_vec(), buffer).unwrap();
                }
                let unique = pool.lock().unwrap().unique().unwrap();
                assert_eq!(unique, brute(&hashes), "{seed} {buffer}");
            }
        }
    }

    #[test]
    fn tasks_that_share_a_pool_do_not_wait_for_each_other() {
        // Long enough for a sort to be divided among threads, one of which may begin another of these tasks meanwhile.
        let rows = 9_000u128;
        for threads in [1, 2, 4] {
            let pool = Mutex::<SetHashes>::default();
            let work = || {
                use rayon::prelude::*;
                (0..60u128).into_par_iter().try_for_each(|task| {
                    let mut hashes: Vec<u128> = (0..rows).map(|i| (task / 2 * rows + i * 7919 % rows) << 1).collect();
                    collect(&pool, &mut hashes, 8_000)
                })
            };
            rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work).unwrap();
            assert_eq!(pool.lock().unwrap().unique().unwrap(), 0);
        }
    }

    #[test]
    fn cells_are_told_apart() {
        let mut uniques = Uniques::new(1);
        let rows: [[&[u8]; 2]; 4] = [[b"a", b"bc"], [b"ab", b"c"], [b"x", b""], [b"x", b""]];
        let mut fork = uniques.fork();
        for (at, row) in rows.into_iter().enumerate() {
            let counter = if at % 2 == 0 { &mut uniques } else { &mut fork };
            counter.add(0, row.into_iter()).unwrap();
        }
        uniques.close().unwrap();
        fork.close().unwrap();
        assert_eq!(uniques.count(0).unwrap(), 2);
    }

    #[test]
    fn the_share_is_more_than_one_in_a_hundred() {
        assert!(!singles_out(0, 0) && !singles_out(1, 100) && singles_out(2, 199) && singles_out(1, 1));
        assert!(!singles_out(u64::MAX / 100, u64::MAX) && singles_out(u64::MAX, u64::MAX));
    }
}
