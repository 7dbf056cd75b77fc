//! Checks schemas and batches against their own bytes before they are decoded.
//!
//! Arrow's decoder validates arrays (offsets ascend, text is UTF-8, keys are within the dictionary), but before that it
//! allocates memory for the stated lengths of buffers, slices the body at the stated offsets, and unwraps what a type
//! requires. Here the structure is walked once: every buffer lies within the body, every column has the nodes and
//! buffers of its type, and compressed buffers can hold what they state.

use arrow_ipc::convert::fb_to_schema;
use arrow_ipc::{Block, CompressionType, Field as Declared, RecordBatch, root_as_message};
use arrow_schema::{DataType, Field, Schema, UnionMode};

use super::super::short;
use super::CONTINUATION;
use crate::contain::contained;
use crate::limits::{
    COLUMN_LIMIT, Cells, DELTA_LIMIT, DEPTH_LIMIT, FREE_BATCH_ROWS, NAMES_LIMIT, Packing, check_unpacked,
};

fn bad<T>(reason: &str) -> Result<T, String> {
    Err(reason.to_string())
}

/// The schema, after its size has been checked.
pub(super) fn schema(declared: arrow_ipc::Schema<'_>) -> Result<Schema, String> {
    if !declared.endianness().equals_to_target_endianness() {
        return bad("it was written on a machine of the other byte order");
    }
    let Some(fields) = declared.fields() else { return bad("its schema has no columns") };
    let mut budget = Budget { fields: 4 * COLUMN_LIMIT, text: NAMES_LIMIT };
    if let Some(notes) = declared.custom_metadata() {
        for note in notes {
            budget.text(note.key())?;
            budget.text(note.value())?;
        }
    }
    for field in fields {
        budget.field(field, 0)?;
    }
    let schema = contained(|| fb_to_schema(declared)).map_err(|_| "its schema has a type that Arrow does not have")?;
    for field in schema.fields() {
        check_field(field)?;
    }
    Ok(schema)
}

/// What remains of the limits on an expanded schema: its parts may be shared in the file, so its bytes do not bound it.
struct Budget {
    fields: usize,
    text: usize,
}

impl Budget {
    fn text(&mut self, text: Option<&str>) -> Result<(), String> {
        match self.text.checked_sub(text.map_or(0, str::len) + 1) {
            Some(left) => self.text = left,
            None => return bad("the names and notes of its schema are too long"),
        }
        Ok(())
    }

    fn field(&mut self, field: Declared<'_>, depth: usize) -> Result<(), String> {
        if depth > DEPTH_LIMIT {
            return bad("its types are nested too deeply");
        }
        match self.fields.checked_sub(1) {
            Some(left) => self.fields = left,
            None => return bad("its schema has too many columns"),
        }
        if field.name().is_none() {
            return bad("a column has no name");
        }
        self.text(field.name())?;
        for note in field.custom_metadata().into_iter().flatten() {
            self.text(note.key())?;
            self.text(note.value())?;
        }
        for child in field.children().into_iter().flatten() {
            self.field(child, depth + 1)?;
        }
        Ok(())
    }
}

/// Checks the numbers in a type with which Arrow computes array sizes.
fn check_field(field: &Field) -> Result<(), String> {
    match field.data_type() {
        DataType::FixedSizeBinary(size) | DataType::FixedSizeList(_, size) if *size < 0 => {
            return bad("a type has a negative size");
        }
        DataType::Decimal32(p, s) if *p == 0 || *p > 9 || s.unsigned_abs() > *p => {
            return bad("a decimal type is none");
        }
        DataType::Decimal64(p, s) if *p == 0 || *p > 18 || s.unsigned_abs() > *p => {
            return bad("a decimal type is none");
        }
        DataType::Decimal128(p, s) if *p == 0 || *p > 38 || s.unsigned_abs() > *p => {
            return bad("a decimal type is none");
        }
        DataType::Decimal256(p, s) if *p == 0 || *p > 76 || s.unsigned_abs() > *p => {
            return bad("a decimal type is none");
        }
        _ => {}
    }
    children(field.data_type()).into_iter().try_for_each(check_field)
}

/// The child columns of a nested type, in the order of their nodes.
fn children(kind: &DataType) -> Vec<&Field> {
    match kind {
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _) => vec![field],
        DataType::Struct(fields) => fields.iter().map(AsRef::as_ref).collect(),
        DataType::Union(fields, _) => fields.iter().map(|(_, field)| field.as_ref()).collect(),
        DataType::RunEndEncoded(ends, values) => vec![ends, values],
        _ => Vec::new(),
    }
}

/// Checks a batch of rows with the columns of `schema`.
pub(super) fn batch(schema: &Schema, block: &Block, bytes: &[u8], cells: &mut Cells) -> Result<(), String> {
    let (head, body) = parts(block, bytes)?;
    let Ok(message) = root_as_message(head) else { return bad("the head of a batch cannot be understood") };
    if message.bodyLength() != block.bodyLength() {
        return bad("a batch and its place disagree on its length");
    }
    let Some(batch) = message.header_as_record_batch() else { return bad("what should be a batch is none") };
    let kinds: Vec<&DataType> = schema.fields().iter().map(|field| field.data_type()).collect();
    record_batch(&kinds, message.version() < arrow_ipc::MetadataVersion::V5, batch, body)?;
    cells.add(batch.length().unsigned_abs(), kinds.len(), bytes.len() as u64)
}

/// Checks a dictionary batch of a column of `schema`. `deltas` counts those that extend a dictionary.
pub(super) fn dictionary(schema: &Schema, block: &Block, bytes: &[u8], deltas: &mut usize) -> Result<(), String> {
    let (head, body) = parts(block, bytes)?;
    let Ok(message) = root_as_message(head) else { return bad("the head of a dictionary cannot be understood") };
    if message.bodyLength() != block.bodyLength() {
        return bad("a dictionary and its place disagree on its length");
    }
    let Some(dictionary) = message.header_as_dictionary_batch() else {
        return bad("what should be a dictionary is none");
    };
    let Some(batch) = dictionary.data() else { return bad("a dictionary has no values") };
    *deltas += usize::from(dictionary.isDelta());
    if *deltas > DELTA_LIMIT {
        return bad("its dictionaries grow too often; write it with one dictionary a column");
    }
    #[allow(deprecated)] // The id of a dictionary is known here only, and the decoder has no other way either.
    let fields = schema.fields_with_dict_id(dictionary.id());
    let Some(DataType::Dictionary(_, values)) = fields.first().map(|field| field.data_type()) else {
        return bad("a dictionary belongs to no column");
    };
    if matches!(**values, DataType::Dictionary(..)) {
        return bad("a dictionary is made of dictionaries");
    }
    record_batch(&[values], message.version() < arrow_ipc::MetadataVersion::V5, batch, body)
}

/// The metadata of a message: its header without the length.
pub(super) fn metadata(head: &[u8]) -> &[u8] {
    let prefix = if head.starts_with(&CONTINUATION) { 8 } else { 4 };
    head.get(prefix..).unwrap_or_default()
}

/// Header and body of a message.
fn parts<'b>(block: &Block, bytes: &'b [u8]) -> Result<(&'b [u8], &'b [u8]), String> {
    let length = usize::try_from(block.metaDataLength()).unwrap_or(usize::MAX);
    match bytes.split_at_checked(length) {
        Some((head, body)) => Ok((metadata(head), body)),
        None => bad("a batch has no head"),
    }
}

/// The nodes and buffers of a batch that are not assigned to a column yet.
struct Left {
    nodes: usize,
    buffers: usize,
    variadic: std::vec::IntoIter<i64>,
    /// Whether unions have a validity buffer, as in metadata versions before 5.
    old_unions: bool,
}

impl Left {
    fn take(&mut self, nodes: usize, buffers: usize) -> Result<(), String> {
        match self.nodes.checked_sub(nodes).zip(self.buffers.checked_sub(buffers)) {
            Some((nodes, buffers)) => (self.nodes, self.buffers) = (nodes, buffers),
            None => return bad("a batch has fewer buffers than its columns need"),
        }
        Ok(())
    }

    fn column(&mut self, kind: &DataType) -> Result<(), String> {
        let buffers = match kind {
            DataType::Null | DataType::RunEndEncoded(..) => 0,
            DataType::Struct(_) | DataType::FixedSizeList(..) => 1,
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary | DataType::LargeBinary => 3,
            DataType::ListView(_) | DataType::LargeListView(_) => 3,
            DataType::Utf8View | DataType::BinaryView => {
                let more = self.variadic.next().and_then(|n| usize::try_from(n).ok()).filter(|&n| n <= self.buffers);
                let Some(more) = more else { return bad("a column does not tell how many buffers it has") };
                2 + more
            }
            DataType::Union(_, mode) => 1 + usize::from(*mode == UnionMode::Dense) + usize::from(self.old_unions),
            _ => 2,
        };
        self.take(1, buffers)?;
        children(kind).into_iter().try_for_each(|child| self.column(child.data_type()))
    }
}

fn record_batch(kinds: &[&DataType], old_unions: bool, batch: RecordBatch<'_>, body: &[u8]) -> Result<(), String> {
    let (Some(nodes), Some(buffers)) = (batch.nodes(), batch.buffers()) else { return bad("a batch has no buffers") };
    let packing = match batch.compression().map(|c| c.codec()) {
        None => Packing::None,
        Some(CompressionType::LZ4_FRAME) => Packing::Lz4,
        Some(CompressionType::ZSTD) => Packing::Zstd,
        Some(_) => return bad("a batch is compressed in an unknown way"),
    };
    let mut unpacked = 0u64;
    for buffer in buffers {
        let place = usize::try_from(buffer.offset()).ok().zip(usize::try_from(buffer.length()).ok());
        let bytes = place.and_then(|(from, length)| body.get(from..from.checked_add(length)?));
        let Some(bytes) = bytes else { return bad("a buffer lies outside its batch") };
        unpacked = unpacked.saturating_add(held(packing, bytes)?);
    }
    // Overlapping buffers may add up to more than the body.
    check_unpacked(body.len() as u64, unpacked)?;
    let Ok(rows) = u64::try_from(batch.length()) else { return bad("a batch has a negative number of rows") };
    if rows > unpacked.saturating_mul(8).saturating_add(FREE_BATCH_ROWS) {
        return Err(short(&format!("a batch is said to have {rows} rows, more than its bytes can hold")));
    }
    if nodes.iter().any(|node| node.length() < 0 || node.null_count() < 0 || node.null_count() > node.length()) {
        return bad("a column has more nulls than cells");
    }
    let variadic: Vec<i64> = batch.variadicBufferCounts().into_iter().flatten().collect();
    let mut left = Left { nodes: nodes.len(), buffers: buffers.len(), variadic: variadic.into_iter(), old_unions };
    for kind in kinds {
        let node = nodes.len() - left.nodes;
        if left.nodes == 0 || nodes.get(node).length() != batch.length() {
            return bad("a column has not as many cells as its batch has rows");
        }
        left.column(kind)?;
    }
    if left.nodes > 0 || left.variadic.next().is_some() {
        return bad("a batch has more columns than its schema");
    }
    Ok(())
}

/// The decompressed length of a buffer.
fn held(packing: Packing, bytes: &[u8]) -> Result<u64, String> {
    if bytes.is_empty() || matches!(packing, Packing::None) {
        return Ok(bytes.len() as u64);
    }
    let Some((length, rest)) = bytes.split_first_chunk::<8>() else { return bad("a compressed buffer has no length") };
    match i64::from_le_bytes(*length) {
        // -1: not compressed.
        -1 => Ok(rest.len() as u64),
        length => {
            let Ok(length) = u64::try_from(length) else { return bad("a compressed buffer has a negative length") };
            packing.check(rest.len() as u64, length)?;
            Ok(length)
        }
    }
}
