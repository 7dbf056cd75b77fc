//! The counters of coverage, of which libFuzzer is told page by page, when something has been counted there.
//!
//! The counters of a program are one section, which the instrumented code makes known as a whole when the program
//! begins; libFuzzer then clears and searches all of it for every input: 750,000 bytes for a studio, most of them of
//! code that no request reaches. Here a page of counters is protected until something is counted on it. What an input
//! reaches for the first time is told before libFuzzer looks, so nothing is lost.

use std::os::raw::{c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// The size of a page of memory of x86-64.
const PAGE: usize = 4096;

unsafe extern "C" {
    /// The ends of the section of counters; the linker names them.
    #[link_name = "__start___sancov_cntrs"]
    static FIRST: AtomicU8;
    #[link_name = "__stop___sancov_cntrs"]
    static BEHIND: AtomicU8;
    /// The start of the section that has the place of each counter in the code, and whether a function begins there.
    #[link_name = "__start___sancov_pcs"]
    static PLACES: [usize; 2];

    // What libFuzzer has for these names; the linker gives `__wrap_…` to everybody else.
    fn __real___sanitizer_cov_8bit_counters_init(first: *const AtomicU8, behind: *const AtomicU8);
    fn __real___sanitizer_cov_pcs_init(first: *const [usize; 2], behind: *const [usize; 2]);
}

#[unsafe(no_mangle)]
extern "C" fn __wrap___sanitizer_cov_8bit_counters_init(_: *const AtomicU8, _: *const AtomicU8) {}

#[unsafe(no_mangle)]
extern "C" fn __wrap___sanitizer_cov_pcs_init(_: *const [usize; 2], _: *const [usize; 2]) {}

/// How often each instrumented place was reached since libFuzzer set the counters to 0, which it does before an input.
pub fn all() -> &'static [AtomicU8] {
    let (first, behind) = (&raw const FIRST, &raw const BEHIND);
    // SAFETY: the section is one static array of bytes, which may be written to and outlives everything. An `AtomicU8`
    // is as a byte, and is what the instrumented code, which adds without synchronization, may change meanwhile.
    unsafe { std::slice::from_raw_parts(first, behind.offset_from_unsigned(first)) }
}

/// Tells libFuzzer of some counters and of their places.
fn tell(first: usize, behind: usize) {
    let counters = &all()[first..behind];
    let place = &raw const PLACES;
    // SAFETY: both pointers are to or behind elements of a section, and the sections have as many elements.
    unsafe {
        __real___sanitizer_cov_8bit_counters_init(counters.as_ptr(), counters.as_ptr_range().end);
        __real___sanitizer_cov_pcs_init(place.add(first), place.add(behind));
    }
}

const CLOSED: u8 = 0;
const OPENED: u8 = 1;
const TOLD: u8 = 2;

/// The pages that counters alone are on.
struct Pages {
    /// The number of counters before them.
    before: usize,
    states: Vec<AtomicU8>,
    /// What was done at a fault before.
    other: libc::sigaction,
}

static PAGES: OnceLock<Pages> = OnceLock::new();

/// Whether there is a page that libFuzzer was not told of.
static NEWS: AtomicBool = AtomicBool::new(false);

/// Opens the page that was written to. Every other fault is left to libFuzzer, whose turn it is when the instruction is
/// tried again.
extern "C" fn fault(_: c_int, what: *const libc::siginfo_t, _: *const c_void) {
    let Some(pages) = PAGES.get() else { return };
    let start = all()[pages.before..].as_ptr() as usize;
    // SAFETY: the system tells a handler of this kind where the fault was; `mprotect` gets a page of counters alone,
    // which were to be written to, and `sigaction` what it gave before.
    unsafe {
        let page = ((*what).si_addr() as usize).checked_sub(start).map(|distance| distance / PAGE);
        match page.and_then(|page| Some((page, pages.states.get(page)?))) {
            Some((page, state)) => {
                libc::mprotect((start + page * PAGE) as *mut c_void, PAGE, libc::PROT_READ | libc::PROT_WRITE);
                state.store(OPENED, Ordering::Relaxed);
                NEWS.store(true, Ordering::Release);
            }
            None => drop(libc::sigaction(libc::SIGSEGV, &pages.other, std::ptr::null_mut())),
        }
    }
}

fn merges() -> bool {
    std::env::args().any(|argument| argument.starts_with("-") && argument.contains("merge"))
}

/// Tells libFuzzer of the counters that share a page with something else: it has to know of some when it begins.
/// Of all, where it merges: what it finds in one process it compares with what it finds in another.
pub fn begin() {
    let (count, before) = (all().len(), all().as_ptr().align_offset(PAGE).min(all().len()));
    if merges() {
        return tell(0, count);
    }
    tell(0, before);
    tell(before + (count - before) / PAGE * PAGE, count);
}

/// Protects all pages of counters that libFuzzer does not know, when it has begun: its own handlers are in place then.
pub fn protect() {
    if merges() {
        return;
    }
    let before = all().as_ptr().align_offset(PAGE).min(all().len());
    let pages = (all().len() - before) / PAGE;
    PAGES.get_or_init(|| {
        // SAFETY: all zeros is a valid `sigaction`; the handler has the signature that the flag asks for and touches
        // atomics alone. The pages that it looks up are stored before the first of them is protected below.
        unsafe {
            let (mut own, mut other): (libc::sigaction, libc::sigaction) = (std::mem::zeroed(), std::mem::zeroed());
            own.sa_sigaction = fault as *const () as usize;
            own.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            assert_eq!(libc::sigaction(libc::SIGSEGV, &own, &mut other), 0);
            Pages { before, states: (0..pages).map(|_| AtomicU8::new(CLOSED)).collect(), other }
        }
    });
    let start = all()[before..].as_ptr() as *mut c_void;
    // SAFETY: whole pages that hold nothing but counters.
    assert_eq!(unsafe { libc::mprotect(start, pages * PAGE, libc::PROT_READ) }, 0);
}

/// Tells libFuzzer of what was opened, between an input and its look at the counters.
pub fn tell_news() {
    let Some(pages) = PAGES.get().filter(|_| NEWS.swap(false, Ordering::Acquire)) else { return };
    for (page, state) in pages.states.iter().enumerate() {
        if state.compare_exchange(OPENED, TOLD, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            tell(pages.before + page * PAGE, pages.before + (page + 1) * PAGE);
        }
    }
}
