//! Ends the process with a message and exit code 3 when an allocation fails, instead of an abort without a message.
//!
//! The stable standard library has no hook for failed allocations, so the global allocator does it: it wraps the
//! system's allocator and ends the process when the system has no memory left (a limit of the shell or of a container).
//! At that point nothing may be allocated, no lock may be waited for and no destructor may run, since the state of
//! other threads is unknown: the message is written with one system call, then the process exits. Files that the run
//! has staged are removed by the next run.

#[cfg(unix)]
#[allow(unsafe_code)] // The only way to learn of a failed allocation; see the proofs below.
mod reporting {
    use std::alloc::{GlobalAlloc, Layout, System};

    /// The system's allocator, which reports failed allocations and ends the process.
    struct ReportingAllocator;

    const MESSAGE: &[u8] =
        b"error: out of memory: the system gives this process no more. Raise its limit (ulimit -v, or \
that of the container), close other programs, or use fewer columns or rows. Nothing half-written is published\n";

    #[cold]
    fn out_of_memory() -> ! {
        // SAFETY: the pointer and the length are those of one constant; `write` and `_exit` may be called at any time
        // and from any thread (they are async-signal-safe), and neither allocates. The result of `write` is ignored:
        // the process ends either way.
        unsafe {
            let _ = libc::write(2, MESSAGE.as_ptr().cast(), MESSAGE.len());
            libc::_exit(3)
        }
    }

    fn or_out_of_memory(pointer: *mut u8) -> *mut u8 {
        if pointer.is_null() { out_of_memory() } else { pointer }
    }

    // SAFETY: every call is forwarded to `System` unchanged, with the same layout and pointer, and the result of
    // `System` is returned unchanged, so the contract is that of `System`. A null pointer is never returned, since the
    // process ends before; ending it is not unwinding.
    unsafe impl GlobalAlloc for ReportingAllocator {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            // SAFETY: the caller keeps the contract of `alloc`, which is that of `System`.
            or_out_of_memory(unsafe { System.alloc(layout) })
        }

        unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
            // SAFETY: as above.
            or_out_of_memory(unsafe { System.alloc_zeroed(layout) })
        }

        unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
            // SAFETY: as above; `pointer` came from `System`, since all allocations do.
            or_out_of_memory(unsafe { System.realloc(pointer, layout, size) })
        }

        unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
            // SAFETY: as above.
            unsafe { System.dealloc(pointer, layout) }
        }
    }

    #[global_allocator]
    static ALLOCATOR: ReportingAllocator = ReportingAllocator;
}

/// Address space that must be available at the start. Threads cannot report its lack, because the C library aborts the
/// process while it starts them. Larger than the greatest size at which that library changes its way of allocating.
const LEAST: usize = 33 << 20;

/// Ends the process with a message if less than [`LEAST`] bytes of address space can be allocated.
pub fn require_address_space() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(LEAST)));
}
