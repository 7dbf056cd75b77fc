//! A disk in memory for SQLite, so that an execution does not ask the system sixty times to open, look up, lock and
//! remove files.
//!
//! A database is read from its file when it is opened; what is written to it, to its log and to its journal stays here,
//! and ends when a database is opened again. There is one at a time, in one process, so nobody else has locks. All of
//! SQLite but its calls of the system stays as it is.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::ffi::{
    SQLITE_CANTOPEN, SQLITE_FULL, SQLITE_IOCAP_POWERSAFE_OVERWRITE, SQLITE_IOERR_SHORT_READ, SQLITE_NOTFOUND,
    SQLITE_OK, SQLITE_OPEN_MAIN_DB, sqlite3_file, sqlite3_initialize, sqlite3_io_methods, sqlite3_vfs,
    sqlite3_vfs_find, sqlite3_vfs_register,
};

/// What a database of some kilobytes has no reason to grow beyond.
const FULL: usize = 256 << 20;

/// The files of the database by the ends of their names; the last has no name, and is only open once.
const ENDS: [&[u8]; 2] = [b"-wal", b"-journal"];
const DATABASE: usize = 2;
const UNNAMED: usize = 3;

/// None: there is no such file.
type Disk = [Option<Vec<u8>>; 4];

static DISK: Mutex<Disk> = Mutex::new([const { None }; 4]);

fn disk() -> MutexGuard<'static, Disk> {
    DISK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Which file a name is of.
///
/// # Safety
/// `name` is null or a string that ends with a zero.
unsafe fn number(name: *const c_char) -> usize {
    if name.is_null() {
        return UNNAMED;
    }
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    ENDS.iter().position(|end| name.ends_with(end)).unwrap_or(DATABASE)
}

/// An open file. SQLite makes room for it and knows its first field.
#[repr(C)]
struct Open {
    base: sqlite3_file,
    number: usize,
    /// What connections share beside the log.
    shared: Vec<Box<[u64]>>,
}

/// # Safety
/// `file` was opened by [`open`] and is not closed.
unsafe fn of<'f>(file: *mut sqlite3_file) -> &'f mut Open {
    unsafe { &mut *file.cast::<Open>() }
}

unsafe extern "C" fn open(
    _: *mut sqlite3_vfs,
    name: *const c_char,
    file: *mut sqlite3_file,
    flags: c_int,
    told: *mut c_int,
) -> c_int {
    // SAFETY: SQLite passes a name or null, room for a file of the size that was registered, and where to tell the
    // flags.
    unsafe {
        let number = number(name);
        (*file).pMethods = std::ptr::null();
        let mut disk = disk();
        if flags & SQLITE_OPEN_MAIN_DB != 0 {
            let content = CStr::from_ptr(name).to_str().ok().and_then(|path| std::fs::read(path).ok());
            let Some(content) = content else { return SQLITE_CANTOPEN };
            *disk = [None, None, Some(content), None];
        } else if number == UNNAMED {
            disk[number] = Some(Vec::new());
        } else {
            disk[number].get_or_insert_default();
        }
        file.cast::<Open>().write(Open { base: sqlite3_file { pMethods: &METHODS }, number, shared: Vec::new() });
        if !told.is_null() {
            *told = flags;
        }
    }
    SQLITE_OK
}

unsafe extern "C" fn delete(_: *mut sqlite3_vfs, name: *const c_char, _: c_int) -> c_int {
    // SAFETY: SQLite passes a name.
    disk()[unsafe { number(name) }] = None;
    SQLITE_OK
}

/// An empty file counts as none, as on every other disk.
unsafe extern "C" fn access(_: *mut sqlite3_vfs, name: *const c_char, _: c_int, told: *mut c_int) -> c_int {
    // SAFETY: SQLite passes a name, and where to put the answer.
    unsafe { *told = c_int::from(disk()[number(name)].as_ref().is_some_and(|content| !content.is_empty())) };
    SQLITE_OK
}

/// Names are whole already.
unsafe extern "C" fn whole_name(_: *mut sqlite3_vfs, name: *const c_char, room: c_int, whole: *mut c_char) -> c_int {
    // SAFETY: SQLite passes a name, and room for so many bytes.
    unsafe {
        let name = CStr::from_ptr(name).to_bytes_with_nul();
        if name.len() > room as usize {
            return SQLITE_CANTOPEN;
        }
        whole.copy_from_nonoverlapping(name.as_ptr().cast(), name.len());
    }
    SQLITE_OK
}

unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    // SAFETY: it is open, and SQLite does not use it again.
    unsafe { std::ptr::drop_in_place(file.cast::<Open>()) };
    SQLITE_OK
}

unsafe extern "C" fn read(file: *mut sqlite3_file, into: *mut c_void, bytes: c_int, at: i64) -> c_int {
    // SAFETY: the file is open, and there is room for so many bytes.
    let (open, into) = unsafe { (of(file), std::slice::from_raw_parts_mut(into.cast::<u8>(), bytes as usize)) };
    let disk = disk();
    let content = disk[open.number].as_deref().unwrap_or_default();
    let content = content.get(at as usize..).unwrap_or_default();
    let there = content.len().min(into.len());
    into[..there].copy_from_slice(&content[..there]);
    into[there..].fill(0);
    if there == into.len() { SQLITE_OK } else { SQLITE_IOERR_SHORT_READ }
}

unsafe extern "C" fn write(file: *mut sqlite3_file, from: *const c_void, bytes: c_int, at: i64) -> c_int {
    // SAFETY: the file is open, and there are so many bytes.
    let (open, from) = unsafe { (of(file), std::slice::from_raw_parts(from.cast::<u8>(), bytes as usize)) };
    let (at, mut disk) = (at as usize, disk());
    let content = disk[open.number].get_or_insert_default();
    let end = at.saturating_add(from.len());
    if end > FULL {
        return SQLITE_FULL;
    }
    if end > content.len() {
        content.resize(end, 0);
    }
    content[at..end].copy_from_slice(from);
    SQLITE_OK
}

unsafe extern "C" fn truncate(file: *mut sqlite3_file, size: i64) -> c_int {
    // SAFETY: the file is open.
    let number = unsafe { of(file) }.number;
    if size as usize > FULL {
        return SQLITE_FULL;
    }
    disk()[number].get_or_insert_default().resize(size as usize, 0);
    SQLITE_OK
}

unsafe extern "C" fn size(file: *mut sqlite3_file, told: *mut i64) -> c_int {
    // SAFETY: the file is open, and SQLite passes where to put the answer.
    unsafe { *told = disk()[of(file).number].as_ref().map_or(0, Vec::len) as i64 };
    SQLITE_OK
}

unsafe extern "C" fn reserved(_: *mut sqlite3_file, told: *mut c_int) -> c_int {
    // SAFETY: SQLite passes where to put the answer.
    unsafe { *told = 0 };
    SQLITE_OK
}

unsafe extern "C" fn nothing(_: *mut sqlite3_file, _: c_int) -> c_int {
    SQLITE_OK
}

unsafe extern "C" fn control(_: *mut sqlite3_file, _: c_int, _: *mut c_void) -> c_int {
    SQLITE_NOTFOUND
}

unsafe extern "C" fn sector(_: *mut sqlite3_file) -> c_int {
    4096
}

unsafe extern "C" fn device(_: *mut sqlite3_file) -> c_int {
    SQLITE_IOCAP_POWERSAFE_OVERWRITE
}

unsafe extern "C" fn map(
    file: *mut sqlite3_file,
    part: c_int,
    bytes: c_int,
    extend: c_int,
    told: *mut *mut c_void,
) -> c_int {
    // SAFETY: the file is open, and SQLite passes where to put the answer. A part stays where it is until all are
    // dropped.
    unsafe {
        let (shared, part) = (&mut of(file).shared, part as usize);
        while extend != 0 && shared.len() <= part {
            shared.push(vec![0; (bytes as usize).div_ceil(8)].into_boxed_slice());
        }
        *told = shared.get_mut(part).map_or(std::ptr::null_mut(), |part| part.as_mut_ptr().cast());
    }
    SQLITE_OK
}

unsafe extern "C" fn lock_shared(_: *mut sqlite3_file, _: c_int, _: c_int, _: c_int) -> c_int {
    SQLITE_OK
}

unsafe extern "C" fn barrier(_: *mut sqlite3_file) {}

unsafe extern "C" fn unmap(file: *mut sqlite3_file, _: c_int) -> c_int {
    // SAFETY: the file is open, and SQLite does not use the parts again.
    unsafe { of(file) }.shared.clear();
    SQLITE_OK
}

static METHODS: sqlite3_io_methods = sqlite3_io_methods {
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(nothing),
    xFileSize: Some(size),
    xLock: Some(nothing),
    xUnlock: Some(nothing),
    xCheckReservedLock: Some(reserved),
    xFileControl: Some(control),
    xSectorSize: Some(sector),
    xDeviceCharacteristics: Some(device),
    xShmMap: Some(map),
    xShmLock: Some(lock_shared),
    xShmBarrier: Some(barrier),
    xShmUnmap: Some(unmap),
    xFetch: None,
    xUnfetch: None,
};

/// From now on SQLite uses this disk. Time and randomness stay those of the system.
pub fn use_memory() {
    // SAFETY: SQLite is initialized, so it has a file system; the changed copy of it is never dropped, and its
    // functions are those that it asks for, with a file of the size that is given.
    unsafe {
        assert_eq!(sqlite3_initialize(), SQLITE_OK);
        let mut own = *sqlite3_vfs_find(std::ptr::null());
        own.szOsFile = size_of::<Open>() as c_int;
        own.pNext = std::ptr::null_mut();
        own.zName = c"memory".as_ptr();
        own.xOpen = Some(open);
        own.xDelete = Some(delete);
        own.xAccess = Some(access);
        own.xFullPathname = Some(whole_name);
        assert_eq!(sqlite3_vfs_register(Box::leak(Box::new(own)), 1), SQLITE_OK);
    }
}
