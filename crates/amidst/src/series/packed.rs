//! Numbers as the bytes of a cell of the state.

/// Numbers as bytes.
pub fn pack(numbers: impl IntoIterator<Item = u32>) -> Vec<u8> {
    numbers.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// Bytes as numbers; a damaged tail is left out.
pub fn unpack(bytes: &[u8]) -> Vec<u32> {
    numbers(bytes).collect()
}

/// Bytes as numbers, one by one.
pub fn numbers(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
}
