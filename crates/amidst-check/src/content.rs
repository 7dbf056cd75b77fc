//! Where the checker reads from: files of a folder, or bytes in memory.
//!
//! Releases in memory are read by the same code as files, so they are held to the same form. Names that lead out of the
//! folder, links and special files cannot occur there.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};
use std::ops::Deref;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use parquet::errors::Result as ParquetResult;
use parquet::file::reader::{ChunkReader, Length};

/// Where the files of a release are.
#[derive(Debug, Clone)]
pub enum Location {
    /// A folder, or the one file of a release.
    Path(PathBuf),
    /// Contents by their names, as the certificate lists them.
    Memory(BTreeMap<String, Bytes>),
}

impl From<&Path> for Location {
    fn from(path: &Path) -> Self {
        Location::Path(path.to_path_buf())
    }
}

impl From<&PathBuf> for Location {
    fn from(path: &PathBuf) -> Self {
        Location::Path(path.clone())
    }
}

impl From<BTreeMap<String, Bytes>> for Location {
    fn from(contents: BTreeMap<String, Bytes>) -> Self {
        Location::Memory(contents)
    }
}

/// One readable content, with the path that messages name it by.
#[derive(Debug, Clone)]
pub(crate) struct Content {
    path: PathBuf,
    bytes: Option<Bytes>,
}

impl Content {
    pub(crate) fn file(path: impl Into<PathBuf>) -> Self {
        Content { path: path.into(), bytes: None }
    }

    pub(crate) fn files(paths: &[PathBuf]) -> Vec<Self> {
        paths.iter().map(Content::file).collect()
    }

    pub(crate) fn memory(name: &str, bytes: Bytes) -> Self {
        Content { path: name.into(), bytes: Some(bytes) }
    }

    pub(crate) fn open(&self) -> io::Result<Opened> {
        Ok(match &self.bytes {
            Some(bytes) => Opened::Memory(Cursor::new(bytes.clone())),
            None => Opened::File(File::open(&self.path)?),
        })
    }
}

impl Deref for Content {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.path
    }
}

/// An open content.
pub(crate) enum Opened {
    File(File),
    Memory(Cursor<Bytes>),
}

impl Opened {
    pub(crate) fn length(&self) -> io::Result<u64> {
        match self {
            Opened::File(file) => Ok(file.metadata()?.len()),
            Opened::Memory(cursor) => Ok(cursor.get_ref().len() as u64),
        }
    }
}

impl Read for Opened {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Opened::File(file) => file.read(buffer),
            Opened::Memory(cursor) => cursor.read(buffer),
        }
    }
}

impl Seek for Opened {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Opened::File(file) => file.seek(to),
            Opened::Memory(cursor) => cursor.seek(to),
        }
    }
}

impl Length for Opened {
    fn len(&self) -> u64 {
        self.length().unwrap_or_default()
    }
}

impl ChunkReader for Opened {
    type T = Box<dyn Read>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        Ok(match self {
            Opened::File(file) => {
                let mut own = file.try_clone()?;
                own.seek(SeekFrom::Start(start))?;
                Box::new(BufReader::new(own))
            }
            Opened::Memory(cursor) => Box::new(cursor.get_ref().get_read(start)?),
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        match self {
            Opened::File(file) => file.get_bytes(start, length),
            Opened::Memory(cursor) => cursor.get_ref().get_bytes(start, length),
        }
    }
}
