//! What becomes of an allocation that fails: a message and exit code 3, instead of an abort without a word.
//!
//! The standard library lets nobody say anything there on its stable channel, so the allocator itself does: it is the
//! system's, and ends the process when the system has no memory left (a limit of the shell or of a container). Nothing
//! may be allocated any more at that point, no lock may be waited for, and no destructor may run, since the state of
//! other threads is unknown: one write, and out. What a run has staged is cleared away by the next one.

#[cfg(unix)]
#[allow(unsafe_code)] // The only way to learn of a failed allocation; see the proofs below.
mod telling {
    use std::alloc::{GlobalAlloc, Layout, System};

    /// The system's allocator, which tells when there is no memory left.
    struct Telling;

    const MESSAGE: &[u8] =
        b"error: out of memory: the system gives this process no more. Raise its limit (ulimit -v, or \
that of the container), close other programs, or use fewer columns or rows. Nothing half-written is published\n";

    #[cold]
    fn out_of_memory() -> ! {
        // SAFETY: the pointer and the length are those of one constant; `write` and `_exit` may be called at any moment
        // and from any thread (they are async-signal-safe), and neither allocates. The result of `write` is of no use:
        // the process ends either way.
        unsafe {
            let _ = libc::write(2, MESSAGE.as_ptr().cast(), MESSAGE.len());
            libc::_exit(3)
        }
    }

    fn told(pointer: *mut u8) -> *mut u8 {
        if pointer.is_null() { out_of_memory() } else { pointer }
    }

    // SAFETY: every call is handed to `System` as it came, with the same layout and pointer, and what `System` returns
    // is returned as it is. The contract of the caller is thus the contract of `System`, which keeps it. A null pointer
    // is never returned, since the process ends before; ending it is no unwinding.
    unsafe impl GlobalAlloc for Telling {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            // SAFETY: the caller keeps the contract of `alloc`, which is that of `System`.
            told(unsafe { System.alloc(layout) })
        }

        unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
            // SAFETY: as above.
            told(unsafe { System.alloc_zeroed(layout) })
        }

        unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
            // SAFETY: as above; `pointer` came from `System`, since all allocations do.
            told(unsafe { System.realloc(pointer, layout, size) })
        }

        unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
            // SAFETY: as above.
            unsafe { System.dealloc(pointer, layout) }
        }
    }

    #[global_allocator]
    static ALLOCATOR: Telling = Telling;
}

/// Address space that must be there before anything begins: threads cannot tell when they lack it, because the C
/// library ends the process while it starts them. More than the largest size that makes that library change how it
/// allocates.
const LEAST: usize = 33 << 20;

/// Ends the process with a message where nearly all of the memory that it may have is taken already.
pub fn look_for_room() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(LEAST)));
}
