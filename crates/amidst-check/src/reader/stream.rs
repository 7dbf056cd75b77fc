//! Reads text in blocks that end at record boundaries, and counts blocks in parallel while the next are read.

use std::io::Read;
use std::path::Path;
use std::sync::Mutex;

use rayon::prelude::*;

use super::tally::Tally;
use super::{Reading, limits, refused};
use crate::problem::Problem;

const BLOCK: usize = 1 << 20;

/// The record boundaries of a format, and how to count its records.
pub(crate) trait Records: Sync {
    /// The length of the complete records at the start of `bytes`; 0 when there is none.
    fn whole(&self, bytes: &[u8]) -> usize;

    /// Adds the rows of `block`, the first of which is row `first`, to `tally`.
    fn add(&self, block: &[u8], first: u64, tally: &mut Tally) -> Result<Added, Fault>;
}

/// The content of a block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Added {
    pub rows: u64,
    /// Line feeds, those in quotes included.
    pub lines: u64,
}

impl Added {
    /// A block with one line per row.
    pub(crate) fn rows(rows: u64) -> Added {
        Added { rows, lines: rows }
    }
}

/// What is wrong in a block, and the numbers of rows and lines before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub rows: u64,
    pub lines: u64,
    pub what: String,
}

impl Fault {
    /// A fault in a block with one line per row.
    pub(crate) fn row(rows: u64, what: String) -> Fault {
        Fault { rows, lines: rows, what }
    }

    fn behind(self, before: Added) -> Fault {
        Fault { rows: self.rows + before.rows, lines: self.lines + before.lines, what: self.what }
    }
}

/// The error for a row longer than the limit.
fn too_long() -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::InvalidData, "a row is longer than rows may be, or a quote is never closed")
}

/// Cuts a stream into blocks of whole records.
pub(crate) struct Blocks<'a> {
    reader: &'a mut (dyn Read + Send),
    rest: Vec<u8>,
    ended: bool,
    /// Memory of blocks that were counted.
    spare: Vec<Vec<u8>>,
}

impl<'a> Blocks<'a> {
    pub(crate) fn new(reader: &'a mut (dyn Read + Send)) -> Self {
        Blocks { reader, rest: Vec::new(), ended: false, spare: Vec::new() }
    }

    /// Reads at least one more block of bytes into the buffer, unless the stream ends.
    fn fill(&mut self) -> std::io::Result<()> {
        let wanted = self.rest.len() + BLOCK;
        let mut at = self.rest.len();
        self.rest.resize(wanted, 0);
        while at < wanted {
            match self.reader.read(&mut self.rest[at..]) {
                Ok(0) => {
                    self.ended = true;
                    break;
                }
                Ok(n) => at += n,
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        self.rest.truncate(at);
        Ok(())
    }

    /// Takes the first record off the stream by `first`, which returns `None` while it needs more bytes. Its second
    /// argument is true at the end of the stream; then `None` is final.
    pub(crate) fn head<T>(
        &mut self,
        mut first: impl FnMut(&[u8], bool) -> Option<(T, usize)>,
    ) -> std::io::Result<Option<T>> {
        loop {
            self.fill()?;
            if let Some((head, length)) = first(&self.rest, self.ended) {
                self.rest.drain(..length);
                return Ok(Some(head));
            }
            if self.ended {
                return Ok(None);
            }
            if self.rest.len() > limits::ROW {
                return Err(too_long());
            }
        }
    }

    fn next(&mut self, records: &impl Records) -> std::io::Result<Option<Vec<u8>>> {
        loop {
            if self.ended {
                return Ok(if self.rest.is_empty() { None } else { Some(std::mem::take(&mut self.rest)) });
            }
            self.fill()?;
            if self.ended {
                continue;
            }
            let length = records.whole(&self.rest);
            if length > 0 {
                let mut tail = self.spare.pop().unwrap_or_default();
                tail.clear();
                tail.extend_from_slice(&self.rest[length..]);
                let mut block = std::mem::replace(&mut self.rest, tail);
                block.truncate(length);
                return Ok(Some(block));
            }
            if self.rest.len() > limits::ROW {
                return Err(too_long());
            }
        }
    }

    fn batch(&mut self, records: &impl Records) -> std::io::Result<Vec<Vec<u8>>> {
        let most = rayon::current_num_threads() * 4;
        let mut batch = Vec::with_capacity(most);
        while batch.len() < most {
            match self.next(records)? {
                Some(block) => batch.push(block),
                None => break,
            }
        }
        Ok(batch)
    }
}

/// Counts the rest of the stream into `total`; `head` lines precede it.
pub(crate) fn count(
    path: &Path,
    mut blocks: Blocks<'_>,
    records: &impl Records,
    (reading, head): (Reading, u64),
    total: &mut Tally,
) -> Result<(), Problem> {
    let broken = |e: std::io::Error| refused(path, reading, &e.to_string());
    let mut seen = Added { rows: 0, lines: head };
    let mut batch = blocks.batch(records).map_err(broken)?;
    // Each task borrows a tally for one block. Sums do not depend on the order of blocks.
    let pool = Mutex::new(vec![total.fork()]);
    while !batch.is_empty() {
        let first = total.rows_before() + seen.rows;
        let (next, counted) = rayon::join(
            || blocks.batch(records),
            || {
                if total.needs_row_numbers() {
                    numbered(&batch, records, first, total)
                } else {
                    let shared: &Tally = total;
                    let results: Vec<Result<Added, Fault>> = batch
                        .par_iter()
                        .map(|block| {
                            let idle = pool.lock().map_or(None, |mut p| p.pop());
                            let mut mine = idle.unwrap_or_else(|| shared.fork());
                            let result = records.add(block, 0, &mut mine);
                            if let Ok(mut p) = pool.lock() {
                                p.push(mine);
                            }
                            result
                        })
                        .collect();
                    sum(results)
                }
            },
        );
        match counted {
            Ok(more) => seen = Added { rows: seen.rows + more.rows, lines: seen.lines + more.lines },
            Err(fault) => {
                let Fault { rows, lines, what } = fault.behind(seen);
                return Err(refused(path, reading, &format!("row {}, line {}: {what}", rows + 1, lines + 1)));
            }
        }
        // New memory is dear: the system clears every page of it.
        blocks.spare.append(&mut batch);
        batch = next.map_err(broken)?;
    }
    for tally in pool.into_inner().unwrap_or_default() {
        total.merge(tally).map_err(super::put_aside)?;
    }
    total.advance(seen.rows);
    Ok(())
}

/// Counts blocks one after the other, where rows are identified by their number.
fn numbered(batch: &[Vec<u8>], records: &impl Records, first: u64, total: &mut Tally) -> Result<Added, Fault> {
    let mut all = Added::default();
    for block in batch {
        let more = records.add(block, first + all.rows, total).map_err(|fault| fault.behind(all))?;
        all = Added { rows: all.rows + more.rows, lines: all.lines + more.lines };
    }
    Ok(all)
}

fn sum(results: Vec<Result<Added, Fault>>) -> Result<Added, Fault> {
    let mut all = Added::default();
    for result in results {
        let more = result.map_err(|fault| fault.behind(all))?;
        all = Added { rows: all.rows + more.rows, lines: all.lines + more.lines };
    }
    Ok(all)
}
