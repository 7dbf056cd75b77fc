//! Byte streams from files, compressed files and standard input, with progress and cancellation.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use flate2::read::MultiGzDecoder;

use crate::decode::Undecodable;
use crate::error::ReadError;

/// The content of an I/O error of a JSON list: what is wrong, and with which element.
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
pub(crate) struct NotAList {
    /// The number of the element, from 1.
    pub element: u64,
    pub reason: &'static str,
}

/// A callback for the number of bytes read and the total, if known.
pub(crate) type Progress<'a> = &'a (dyn Fn(u64, Option<u64>) + Sync);

/// Settings that every reader needs.
pub(crate) struct Settings<'a> {
    pub threads: usize,
    pub block_size: usize,
    pub cancel: Option<&'a AtomicBool>,
    pub progress: Option<Progress<'a>>,
    pub total: Option<u64>,
    pub done: AtomicU64,
}

impl Settings<'_> {
    /// Fails when the caller asked to stop.
    pub fn check(&self) -> Result<(), ReadError> {
        if self.cancel.is_some_and(|c| c.load(Ordering::Relaxed)) { Err(ReadError::Cancelled) } else { Ok(()) }
    }

    /// Counts bytes read and reports progress.
    pub fn advance(&self, bytes: u64) {
        let done = self.done.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if let Some(progress) = self.progress {
            progress(done, self.total);
        }
    }

    /// One thread for small inputs, otherwise all.
    pub fn threads_for(&self, small: bool) -> usize {
        if small { 1 } else { self.threads }
    }
}

/// A reader that reports progress.
pub(crate) struct Counted<'a, R> {
    pub inner: R,
    pub settings: &'a Settings<'a>,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.settings.advance(n as u64);
        Ok(n)
    }
}

impl<R: Seek> Seek for Counted<'_, R> {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.inner.seek(to)
    }
}

/// The decompressed bytes of a gzip stream of one or many members.
pub(crate) fn gunzip<'a>(inner: impl Read + Send + 'a) -> impl Read + Send + 'a {
    MultiGzDecoder::new(std::io::BufReader::with_capacity(256 << 10, inner))
}

/// The decompressed bytes of a zstd stream of one or many frames.
pub(crate) fn unzstd<'a>(inner: impl Read + Send + 'a) -> std::io::Result<impl Read + Send + 'a> {
    zstd::stream::read::Decoder::new(inner)
}

/// Opens a file for reading.
pub(crate) fn open(path: &Path) -> Result<File, ReadError> {
    File::open(path).map_err(|e| read_error(path, e))
}

/// The error for an I/O error of the system.
pub(crate) fn read_error(path: &Path, error: std::io::Error) -> ReadError {
    let path = path.to_path_buf();
    if let Some(fault) = error.get_ref().and_then(|inner| inner.downcast_ref::<Undecodable>()) {
        return ReadError::NotEncoding { path, line: fault.line, encoding: fault.encoding.clone() };
    }
    if let Some(fault) = error.get_ref().and_then(|inner| inner.downcast_ref::<NotAList>()) {
        return ReadError::JsonElement { path, element: fault.element, reason: fault.reason.to_string() };
    }
    match error.kind() {
        ErrorKind::NotFound => ReadError::Missing { nearest: nearest(&path), path },
        ErrorKind::PermissionDenied => ReadError::PermissionDenied { path },
        ErrorKind::UnexpectedEof => ReadError::GzipEndsEarly { path },
        ErrorKind::InvalidInput | ErrorKind::InvalidData => ReadError::GzipDamaged { path },
        // The error kind with which zstd reports invalid data.
        ErrorKind::Other if error.raw_os_error().is_none() => ReadError::GzipDamaged { path },
        _ => ReadError::Io { path, source: error },
    }
}

/// The most similar file name in the same folder.
fn nearest(path: &Path) -> Option<String> {
    let wanted = path.file_name()?.to_string_lossy().into_owned();
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut best: Option<(usize, String)> = None;
    for entry in std::fs::read_dir(folder).ok()?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let distance = strsim::damerau_levenshtein(&wanted.to_lowercase(), &name.to_lowercase());
        if distance <= 1 + wanted.chars().count() / 4 {
            let candidate = (distance, name);
            if best.as_ref().is_none_or(|b| candidate < *b) {
                best = Some(candidate);
            }
        }
    }
    best.map(|(_, name)| name)
}
