//! The program of every target: its own name tells which one is put under fire.

#![no_main]

mod counters;
mod disk;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::Ordering;
use std::sync::{Once, OnceLock};

use libfuzzer_sys::{Corpus, fuzz_target};

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

/// The target; with any other name the program is not built.
const NAME: &str = env!("CARGO_BIN_NAME");
const TARGET: fn(&[u8]) -> String = amidst_fuzz::named(NAME);

/// What an input does that is a line feed, as places and the numbers of times they were reached.
static ALWAYS: OnceLock<Vec<(usize, u8)>> = OnceLock::new();

/// Sets back the counters that count what they count for a line feed: that nearly every input reads the policy beside
/// it as often is no news, and libFuzzer, which looks up every counter that is not 0, takes half of its time for it.
fn forget_what_is_always_so() {
    let all = counters::all();
    for (place, times) in ALWAYS.get().into_iter().flatten() {
        if all[*place].load(Ordering::Relaxed) == *times {
            all[*place].store(0, Ordering::Relaxed);
        }
    }
}

fn learn_what_is_always_so() {
    // What is made once is made by the first.
    TARGET(b"\n");
    counters::all().iter().for_each(|counter| counter.store(0, Ordering::Relaxed));
    TARGET(b"\n");
    let all = counters::all().iter().map(|counter| counter.swap(0, Ordering::Relaxed)).enumerate();
    ALWAYS.get_or_init(|| all.filter(|(_, times)| *times > 0).collect());
}

fn prepare() {
    // A panic of a dependency that a reader contains is no finding; one that leaves the target ends the process.
    std::panic::set_hook(Box::new(|_| {}));
    // What is divided among threads is done here, at once: inputs are small, and counters are not shared with other
    // threads then. Only a studio divides work on threads of its own, which would wait for this one.
    if NAME != "studio" {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
        pool.build_global().expect("the first pool");
    }
    if NAME == "series_state" {
        disk::use_memory();
    }
    learn_what_is_always_so();
    counters::begin();
}

/// An input of the target that takes longer, in microseconds of processor time, is not mutated further: four bytes of
/// zstd are unpacked to 128 KiB, and what has been found to unpack to much would take nearly all of the time.
const LONG: Option<i64> = match NAME.as_bytes() {
    b"zstd" => Some(1000),
    _ => None,
};

/// The processor time of this thread, in microseconds.
fn now() -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the system writes to the place that it is given, and nothing else.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec * 1_000_000 + time.tv_nsec / 1000
}

static PROTECTED: Once = Once::new();

fuzz_target!(init: prepare(), |bytes: &[u8]| -> Corpus {
    PROTECTED.call_once(counters::protect);
    let latest = LONG.map(|long| now() + long);
    if let Err(panic) = std::panic::catch_unwind(|| TARGET(bytes)) {
        let said = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
        eprintln!("panicked: {}", said.unwrap_or("without a word"));
        std::process::abort();
    }
    forget_what_is_always_so();
    counters::tell_news();
    if latest.is_some_and(|latest| now() > latest) { Corpus::Reject } else { Corpus::Keep }
});
