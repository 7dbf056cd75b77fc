//! Tables in memory that have an address, so that everything that reads a file by its name can read them.
//!
//! Policies, attacks and series name tables by texts, and some name several. A caller that holds record batches lends
//! them: [`lend`] returns a [`Lent`], whose address [`read`](crate::read()) and everything above it accepts in this
//! process for as long as the [`Lent`] exists. Nothing is copied or written to disk.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use crate::address::MEMORY;
use crate::columnar;
use crate::error::ReadError;
use crate::merge::Merger;
use crate::stream::Settings;

/// Rows per block: data frames often come as one batch, which a single thread would read.
const SLICE: usize = 1 << 16;

type Batches = Arc<(SchemaRef, Vec<RecordBatch>)>;

static LENT: Mutex<BTreeMap<u64, Batches>> = Mutex::new(BTreeMap::new());
static NEXT: AtomicU64 = AtomicU64::new(1);

/// A table in memory that can be read by its address until this is dropped.
#[derive(Debug)]
#[must_use]
pub struct Lent {
    number: u64,
}

/// Gives record batches of one schema an address.
///
/// ```
/// use std::sync::Arc;
/// use amidst_io::arrow_array::{Int64Array, RecordBatch};
///
/// let ages = RecordBatch::try_from_iter([("age", Arc::new(Int64Array::from(vec![34, 71])) as _)])?;
/// let lent = amidst_io::lend(ages.schema(), vec![ages]);
/// assert_eq!(amidst_io::read(&lent.address(), &Default::default())?.table.rows, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn lend(schema: SchemaRef, batches: Vec<RecordBatch>) -> Lent {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    lent().insert(number, Arc::new((schema, batches)));
    Lent { number }
}

impl Lent {
    /// The address to use as a source.
    pub fn address(&self) -> String {
        format!("{MEMORY}{}", self.number)
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        // What goes here may wait for a lock of the caller's, such as an interpreter's, which another thread may hold
        // while it lends a table. So the map is unlocked by then.
        let batches = lent().remove(&self.number);
        drop(batches);
    }
}

/// Ignores poisoning: insertions and removals leave the map consistent.
fn lent() -> MutexGuard<'static, BTreeMap<u64, Batches>> {
    LENT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads the table lent under `name`, the part of its address after [`MEMORY`].
pub(crate) fn read(
    place: &Path,
    name: &str,
    settings: &Settings<'_>,
    merger: &mut Merger<'_>,
) -> Result<(), ReadError> {
    let found = name.parse().ok().and_then(|number: u64| lent().get(&number).cloned());
    let Some(found) = found else {
        let reason = "no table in memory has this address; give the table itself, or a file".to_string();
        return Err(ReadError::Database { place: place.display().to_string(), reason });
    };
    let (schema, batches) = &*found;
    let total: usize = batches.iter().map(RecordBatch::num_rows).sum();
    let mut done = 0;
    let tell = |slice: &RecordBatch| {
        done += slice.num_rows();
        if let Some(progress) = settings.progress {
            progress(done as u64, Some(total as u64));
        }
    };
    let slices = |batch: &RecordBatch| {
        let (batch, rows) = (batch.clone(), batch.num_rows());
        (0..rows).step_by(SLICE).map(move |start| batch.slice(start, SLICE.min(rows - start)))
    };
    columnar::read_batches(place, schema, &mut batches.iter().flat_map(slices).inspect(tell), settings, merger)
}

#[cfg(test)]
mod tests {
    use arrow_array::{ArrayRef, Int64Array, StringArray};

    use super::*;
    use crate::{ReadOptions, read};

    fn numbers(from: i64, to: i64) -> RecordBatch {
        let texts: Vec<Option<String>> = (from..to).map(|n| (n % 7 > 0).then(|| (n % 3).to_string())).collect();
        let columns = [
            ("n", Arc::new(Int64Array::from_iter_values(from..to)) as ArrayRef),
            ("text", Arc::new(StringArray::from(texts)) as ArrayRef),
        ];
        RecordBatch::try_from_iter(columns).unwrap()
    }

    #[test]
    fn a_lent_table_is_read_like_a_file_and_no_longer_than_it_lives() {
        let rows = 2 * SLICE as i64 + 5;
        let lent = lend(numbers(0, 1).schema(), vec![numbers(0, rows), numbers(rows, rows + 3)]);
        let address = lent.address();
        for threads in [1, 3] {
            let input = read(&address, &ReadOptions { threads, ..ReadOptions::default() }).unwrap();
            assert_eq!((input.table.rows as i64, input.header.len()), (rows + 3, 2));
            assert!((0..input.table.rows).all(|row| input.table.columns[0].value(row) == row.to_string()));
            assert!(input.nulls[1].as_ref().is_some_and(|nulls| nulls.contains(7) && !nulls.contains(8)));
        }
        let told = Mutex::new(Vec::new());
        let progress = |done: u64, total: Option<u64>| told.lock().unwrap().push((done, total));
        let _ = read(&address, &ReadOptions { progress: Some(&progress), ..ReadOptions::default() }).unwrap();
        let told = told.into_inner().unwrap();
        assert!(told.len() >= 4 && told.is_sorted() && told.last() == Some(&(rows as u64 + 3, Some(rows as u64 + 3))));
        let first = ReadOptions { max_rows: Some(3), ..ReadOptions::default() };
        assert_eq!(read(&address, &first).unwrap().table.rows, 3);
        drop(lent);
        assert!(matches!(read(&address, &ReadOptions::default()), Err(ReadError::Database { .. })));
    }

    /// Memory of a caller who lends another table while this one goes.
    struct Lending;

    impl AsRef<[u8]> for Lending {
        fn as_ref(&self) -> &[u8] {
            &[0; 8]
        }
    }

    impl Drop for Lending {
        fn drop(&mut self) {
            drop(lend(numbers(0, 1).schema(), vec![numbers(0, 1)]));
        }
    }

    #[test]
    fn a_lent_table_goes_while_no_other_is_kept_from_being_lent() {
        let owned = arrow_buffer::Buffer::from(bytes::Bytes::from_owner(Lending));
        let values = arrow_buffer::ScalarBuffer::<i64>::new(owned, 0, 1);
        let column = Arc::new(Int64Array::new(values, None)) as ArrayRef;
        let batch = RecordBatch::try_from_iter([("n", column)]).unwrap();
        let lent = lend(batch.schema(), vec![batch]);
        let (done, waiting) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            drop(lent);
            done.send(()).unwrap();
        });
        assert!(waiting.recv_timeout(std::time::Duration::from_secs(20)).is_ok(), "the table waits for itself");
    }

    #[test]
    fn a_lent_table_without_rows_says_so() {
        let lent = lend(numbers(0, 1).schema(), vec![numbers(0, 0)]);
        assert!(matches!(read(&lent.address(), &ReadOptions::default()), Err(ReadError::NoRows { .. })));
    }
}
