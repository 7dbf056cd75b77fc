//! One program for all targets: `AMIDST_FUZZ_TARGET` names the one that is put under fire.

#![no_main]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::OnceLock;

use amidst_fuzz::TARGETS;
use libfuzzer_sys::fuzz_target;

/// What no input of some kilobytes has a reason to ask for in one piece.
const LARGEST: usize = 512 << 20;

/// The system's allocator, which ends the process where a single piece is asked for that only a declared size explains:
/// memory that is never written to does not count in the limit that libFuzzer has.
struct Limited;

// SAFETY: every call is passed on unchanged to the system's allocator, whose contract is the caller's.
unsafe impl GlobalAlloc for Limited {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        limited(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        limited(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        limited(size);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

fn limited(size: usize) {
    if size > LARGEST {
        // An allocator must not unwind; libFuzzer stores the input of a process that is aborted.
        eprintln!("panicked: {size} bytes were asked for in one piece");
        std::process::abort();
    }
}

#[global_allocator]
static ALLOCATOR: Limited = Limited;

static TARGET: OnceLock<fn(&[u8]) -> String> = OnceLock::new();

fuzz_target!(|bytes: &[u8]| {
    let target = TARGET.get_or_init(|| {
        let name = std::env::var("AMIDST_FUZZ_TARGET").expect("AMIDST_FUZZ_TARGET names a target");
        // A panic of a dependency that a reader contains is no finding; one that leaves the target ends the process.
        std::panic::set_hook(Box::new(|_| {}));
        TARGETS.iter().find(|(known, _)| *known == name).unwrap_or_else(|| panic!("there is no target {name}")).1
    });
    if let Err(panic) = std::panic::catch_unwind(|| target(bytes)) {
        let said = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
        eprintln!("panicked: {}", said.unwrap_or("without a word"));
        std::process::abort();
    }
});
