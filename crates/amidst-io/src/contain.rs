//! The one place where a panic is caught: decoders of Arrow, Parquet and SQLite that other people wrote.
//!
//! Lengths and offsets are checked before they decode anything, but they assert what they expect of types, keys and
//! encodings in hundreds of places, and one of them is wrong about some damaged file. Such a panic means that the file
//! is damaged, and nothing that the decoder touched is used afterwards; so it becomes an error like any other. Code of
//! this project is never called under it where its own panic could be taken for the file's fault and hide a bug: only
//! decoding and the formatting of decoded cells.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Whether this thread is inside [`contained`], so that a panic is not reported.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

static HOOK: Once = Once::new();

/// What `work` returns, or an error when it panics.
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
    // What a panic says may quote a cell.
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
