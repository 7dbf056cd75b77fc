//! Decompresses the archive of a workbook once to measure its size.

use std::io::{Read, Seek};

use zip::ZipArchive;

use crate::limits::{PARTS_LIMIT, check_unpacked};

/// Fails when the parts of an archive of `length` bytes hold more than the limits allow. Stated sizes are ignored: the
/// decompressed bytes are counted.
pub(super) fn check<R: Read + Seek>(reader: R, length: u64) -> Result<(), String> {
    let mut archive = ZipArchive::new(reader).map_err(|_| "it is no zip archive, as such files are".to_string())?;
    if archive.len() > PARTS_LIMIT {
        return Err(format!("it has more than {PARTS_LIMIT} parts"));
    }
    let mut total = 0u64;
    let mut buffer = vec![0; 64 << 10];
    for position in 0..archive.len() {
        let damaged = |_| "a part of its archive is damaged".to_string();
        let mut part = archive.by_index(position).map_err(|_| "a part of its archive is damaged or encrypted")?;
        loop {
            match part.read(&mut buffer).map_err(damaged)? {
                0 => break,
                n => total += n as u64,
            }
            check_unpacked(length, total)?;
        }
    }
    Ok(())
}
