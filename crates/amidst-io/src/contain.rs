//! Catches panics of external decoders (Arrow, Parquet, SQLite); the only place where panics are caught.
//!
//! Lengths and offsets are checked before decoding, but the decoders assert what they expect of types, keys and
//! encodings in hundreds of places, and some damaged files violate such an assertion. A panic then means that the file
//! is damaged, and nothing that the decoder touched is used afterwards, so it becomes an ordinary error. Code of this
//! project must not run under it, because a bug would be reported as a damaged file: only decoding and the formatting
//! of decoded cells.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Whether this thread is inside [`contained`], so that the panic hook stays silent.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

static HOOK: Once = Once::new();

/// The result of `work`, or an error when it panics.
pub(crate) fn contained<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| {
            if !QUIET.get() {
                before(info);
            }
        }));
    });
    let outer = QUIET.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    QUIET.set(outer);
    // The panic message may quote a cell.
    result.map_err(|_| "its parts contradict each other".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error() {
        assert_eq!(contained(|| 3), Ok(3));
        let list: Vec<u8> = Vec::new();
        assert!(contained(|| list[std::hint::black_box(4)]).is_err());
        assert!(!QUIET.get());
    }
}
