//! Encodes the cells of a row as one key: each cell after its length, so that different cells have different keys.

use rustc_hash::FxHashMap;

use super::selection::Cells;

pub(super) fn sorted(map: FxHashMap<Box<[u8]>, u32>) -> (Vec<Box<[u8]>>, Vec<u32>) {
    let mut entries: Vec<(Box<[u8]>, u32)> = map.into_iter().collect();
    // By the cells, not by the bytes of the key, which begin with a length.
    entries.sort_unstable_by(|a, b| parts(&a.0).cmp(parts(&b.0)));
    let mut places = vec![0u32; entries.len()];
    for (place, (_, id)) in entries.iter().enumerate() {
        places[*id as usize] = place as u32;
    }
    (entries.into_iter().map(|(key, _)| key).collect(), places)
}

pub(super) fn intern(map: &mut FxHashMap<Box<[u8]>, u32>, bytes: &[u8]) -> Result<u32, String> {
    if let Some(&id) = map.get(bytes) {
        return Ok(id);
    }
    let id = u32::try_from(map.len()).map_err(|_| "more than four thousand million distinct keys")?;
    map.insert(bytes.into(), id);
    Ok(id)
}

/// The text of the key columns, where equal texts imply equal keys; joined in `scratch` when the columns are not
/// adjacent. `None` when the row has no such text.
pub(super) fn key_text<'a>(
    runs: &[(usize, usize)],
    cells: &'a impl Cells,
    scratch: &'a mut Vec<u8>,
) -> Option<&'a [u8]> {
    if let [(first, last)] = *runs {
        return cells.span(first, last);
    }
    scratch.clear();
    for &(first, last) in runs {
        scratch.extend_from_slice(cells.span(first, last)?);
        // A span of text contains no line feed, so it separates the spans; spans of numbers have one length for each
        // run.
        scratch.push(b'\n');
    }
    Some(scratch)
}

/// Encodes the cells of `columns` as one key in `out`.
pub(super) fn encode(out: &mut Vec<u8>, columns: &[usize], cells: &impl Cells) {
    out.clear();
    for &column in columns {
        push(out, cells.cell(column));
    }
}

pub(super) fn push(out: &mut Vec<u8>, cell: &[u8]) {
    match u8::try_from(cell.len()) {
        Ok(length) if length < 255 => out.push(length),
        _ => {
            out.push(255);
            out.extend_from_slice(&(cell.len() as u64).to_le_bytes());
        }
    }
    out.extend_from_slice(cell);
}

/// The key of these cells.
pub(crate) fn key_of<'a>(cells: impl IntoIterator<Item = &'a [u8]>) -> Box<[u8]> {
    let mut out = Vec::new();
    for cell in cells {
        push(&mut out, cell);
    }
    out.into_boxed_slice()
}

/// Splits a key into its cells.
pub(crate) fn cells(key: &[u8]) -> Vec<&[u8]> {
    parts(key).collect()
}

pub(super) fn parts(key: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = key;
    std::iter::from_fn(move || {
        let (&first, after) = rest.split_first()?;
        let (length, after) = match first {
            255 => after.split_first_chunk::<8>().map(|(n, after)| (u64::from_le_bytes(*n) as usize, after))?,
            short => (usize::from(short), after),
        };
        let (cell, after) = after.split_at_checked(length)?;
        rest = after;
        Some(cell)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_apart_again() {
        let long = vec![b'x'; 300];
        let parts: Vec<&[u8]> = vec![b"", b"a", &long, b"\xff\x00", b""];
        assert_eq!(cells(&key_of(parts.iter().copied())), parts);
        assert_ne!(key_of([&b"a"[..], b"bc"]), key_of([&b"ab"[..], b"c"]));
    }
}
