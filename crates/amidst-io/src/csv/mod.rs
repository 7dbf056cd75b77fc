//! Reads separated values: a header line, then one record per line, quoted as in RFC 4180 where necessary.
//!
//! [`cut`] splits the stream into blocks that end at record boundaries; all threads encode blocks: [`scan`] where there
//! are no quotes, [`record`] elsewhere.
//!
//! May use: `encode`, `error`, `limits`, `lines`, `merge`, `pipeline`, `stream`, and what those use.

pub(crate) mod cut;
mod encode;
mod record;
mod scan;
mod sniff;

use std::io::Read;
use std::path::Path;

use crate::error::ReadError;
use crate::merge::{Block, Merger};
use crate::stream::Settings;

use cut::{Cutter, TextBlock};
use encode::{BlockEncoder, Shape};

/// Reads one stream of separated values into `merger`. `separator` is guessed if absent; with `no_header` the first
/// record is data.
pub(crate) fn read(
    path: &Path,
    reader: impl Read + Send,
    separator: Option<u8>,
    no_header: bool,
    settings: &Settings<'_>,
    merger: &mut Merger<'_>,
) -> Result<(), ReadError> {
    if separator.is_some_and(|s| !s.is_ascii() || matches!(s, b'"' | b'\n' | b'\r' | 0)) {
        return Err(ReadError::BadSeparator);
    }
    let mut cutter = Cutter::open(path, reader, separator, settings)?;
    let header = cutter.header(no_header)?;
    let first_line = cutter.first_line();
    let kept = merger.begin(path, header, first_line)?;
    let shape = Shape { separator: cutter.separator(), kept };
    let encoder = |worker| BlockEncoder::new(worker, &shape);
    merge_blocks(path, cutter, settings, merger, encoder, |encoder, block| encoder.encode(block))
}

/// Encodes the blocks of a stream on all threads and merges them in order. `encoder` creates the state of one thread.
pub(crate) fn merge_blocks<E>(
    path: &Path,
    mut cutter: Cutter<'_, impl Read + Send>,
    settings: &Settings<'_>,
    merger: &mut Merger<'_>,
    encoder: impl Fn(usize) -> E + Sync,
    encode: impl Fn(&mut E, &mut TextBlock) -> Block + Sync,
) -> Result<(), ReadError> {
    let rows_before = merger.rows();
    crate::pipeline::run(
        settings.threads_for(cutter.is_small()),
        |block| cutter.next(block),
        encoder,
        encode,
        |block| {
            merger.merge(block)?;
            settings.check()?;
            Ok(merger.goes_on())
        },
    )?;
    merger.refuse_no_rows(path, rows_before)
}
