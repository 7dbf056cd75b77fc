//! Tables of databases as files: the independent checker reads files only.
//!
//! The rows are those of the original, so they must not stay anywhere. Where the system has files in memory, the
//! checker gets the name of one, and nothing is written to a disk. Elsewhere the file is for its owner's eyes only, in
//! a folder that goes with the process or, after a kill, with the next sweep.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use amidst_io::{Conventions, Format, Input, ReadOptions, WriteOptions};

use crate::policy::Policy;
use crate::prepare::{PrepareError, read_beside};
use crate::scratch::Scratch;
use crate::{Failure, files};

/// A table as files that the checker can read.
#[derive(Debug, Default)]
pub(crate) struct Checkable {
    /// The files.
    pub files: Vec<PathBuf>,
    /// What cells that are null say in these files, where it is not for the files to say.
    pub null: Option<String>,
    /// The names of all columns.
    pub header: Vec<String>,
    /// What keeps a copy until it has been read.
    _copy: Option<(File, Scratch)>,
}

/// A table that a release is held against.
pub(crate) enum Original<'a> {
    /// The one that a policy is for.
    Table(&'a str),
    /// One that stands beside it.
    Population(&'a str),
}

impl Original<'_> {
    fn name(&self) -> &str {
        match self {
            Original::Table(name) | Original::Population(name) => name,
        }
    }

    fn read(&self, policy: &Policy, options: &ReadOptions<'_>) -> Result<Input, PrepareError> {
        match self {
            Original::Table(name) => {
                let conventions = Some(&policy.data.conventions);
                Ok(amidst_io::read(name, &ReadOptions { conventions, ..*options })?)
            }
            Original::Population(name) => read_beside(policy, name, options),
        }
    }
}

impl Checkable {
    /// The files that `source` names; for a database, and for a file that it cannot read itself, a copy of its columns
    /// that `keep` chooses, `without` rows that have a null there.
    pub fn of(
        policy: &Policy,
        source: &Original<'_>,
        keep: &dyn Fn(&str) -> bool,
        without: bool,
    ) -> Result<Checkable, Failure> {
        if !amidst_io::is_database(source.name()) && policy.data.conventions == Conventions::default() {
            let first = ReadOptions { max_rows: Some(1), threads: 1, ..ReadOptions::default() };
            let input = source.read(policy, &first)?;
            if is_plain(&input) {
                return Ok(Checkable { files: input.files, header: input.header, ..Checkable::default() });
            }
        }
        let mut input = source.read(policy, &ReadOptions { keep: Some(keep), ..ReadOptions::default() })?;
        let order = without.then(|| {
            let known = |row: &u32| !input.nulls.iter().flatten().any(|nulls| nulls.contains(*row as usize));
            (0..input.table.rows as u32).filter(known).collect::<Vec<u32>>()
        });
        let null = name_nulls(&mut input);
        let failed = |e: &dyn std::fmt::Display| Failure::Io(format!("cannot copy the table for the checker: {e}"));
        let scratch = Scratch::new_in(&std::env::temp_dir()).map_err(|e| failed(&e))?;
        let name = scratch.path().join("table.csv");
        let file = in_memory(&name).or_else(|_| files::create_private(&name)).map_err(|e| failed(&e))?;
        let mut out = BufWriter::with_capacity(1 << 20, &file);
        let options = WriteOptions::default();
        amidst_io::write_to(&input.table, order.as_deref(), &mut out, Format::Csv, &options).map_err(|e| failed(&e))?;
        out.flush().map_err(|e| failed(&e))?;
        drop(out);
        Ok(Checkable { files: vec![name], null, header: input.header, _copy: Some((file, scratch)) })
    }
}

/// Whether the checker reads the files by itself: formats that releases have, in UTF-8, every column with a name.
fn is_plain(input: &Input) -> bool {
    let marked = |path: &PathBuf| {
        let mut start = [0; 2];
        let read = File::open(path).and_then(|mut file| io::Read::read_exact(&mut file, &mut start));
        read.is_ok() && matches!(start, [0xff, 0xfe] | [0xfe, 0xff])
    };
    let written = |path: &PathBuf| Format::of_path(path).is_ok_and(Format::is_written);
    let named = input.header.first().is_none_or(|name| name.trim_end_matches('_') != amidst_io::ROW_NUMBER);
    named && input.files.iter().all(|path| written(path) && !marked(path))
}

/// A file that is on no disk. For as long as it is open, `name` leads to it.
#[cfg(target_os = "linux")]
fn in_memory(name: &Path) -> io::Result<File> {
    use std::os::fd::AsRawFd;
    let file = File::from(rustix::fs::memfd_create("table", rustix::fs::MemfdFlags::CLOEXEC)?);
    let own = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    // Without the process file system there is no way to name it.
    File::open(&own)?;
    std::os::unix::fs::symlink(&own, name)?;
    Ok(file)
}

#[cfg(not(target_os = "linux"))]
fn in_memory(_name: &Path) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Gives cells that are null a text that no other cell has; `None` when there are none.
fn name_nulls(input: &mut Input) -> Option<String> {
    if input.nulls.iter().all(Option::is_none) {
        return None;
    }
    let mut name = "null".to_string();
    while input.table.columns.iter().any(|c| c.dictionary.code(&name).is_some()) {
        name.push('*');
    }
    for (column, nulls) in input.table.columns.iter_mut().zip(&input.nulls) {
        let Some(nulls) = nulls else { continue };
        let code = column.dictionary.intern(&name);
        let mut codes = amidst_core::table::Codes::for_distinct(column.dictionary.len(), column.codes.len());
        let mut row = 0;
        column.codes.for_each(|own| {
            codes.push(if nulls.contains(row) { code } else { own });
            row += 1;
        });
        column.codes = codes;
    }
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_of_a_database_are_copied_to_no_disk() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("clinic.db");
        let database = rusqlite::Connection::open(&path).unwrap();
        database
            .execute_batch("CREATE TABLE visit (age, name); INSERT INTO visit VALUES (31, 'Ada'), (42, 'Bo')")
            .unwrap();
        let source = format!("sqlite://{}?table=visit", path.display());
        let copy = Checkable::of(&Policy::default(), &Original::Table(&source), &|_| true, false).unwrap();
        // As often as it is asked for, and from the beginning.
        for _ in 0..2 {
            assert_eq!(std::fs::read_to_string(&copy.files[0]).unwrap(), "age,name\n31,Ada\n42,Bo\n");
        }
        let folder = files::parent(&copy.files[0]).to_path_buf();
        if cfg!(target_os = "linux") {
            let kept = files::inventory(&folder).unwrap();
            let on_disk = |name: &PathBuf| std::fs::symlink_metadata(folder.join(name)).unwrap().is_file();
            assert_eq!(kept.keys().filter(|name| on_disk(name)).collect::<Vec<_>>(), [Path::new("lock")]);
        }
        drop(copy);
        assert!(!folder.exists());
    }
}
