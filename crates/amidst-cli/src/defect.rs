//! Turns a panic, which is a defect of Amidst, into exit code 3 and a message with the place in the source.
//!
//! The panic message itself may quote a cell of the table (such as a text that is not a number), so it is not shown.
//! One kind of panic is not a defect: libraries panic when the system refuses a thread, under limits of memory or
//! processes.

use std::io::Write;
use std::panic::{UnwindSafe, catch_unwind, set_hook};

const NO_THREADS: &str = "error: the system gives this process no more threads, for lack of memory or by a limit. Raise its \
limits (ulimit -v, ulimit -u, or those of the container), or close other programs. Nothing half-written is published";

/// Whether a panic message says that a thread could not be started, in the wording of rayon or of the standard library.
fn lacks_threads(said: &str) -> bool {
    said.contains("ThreadPoolBuildError") || said.starts_with("failed to spawn thread")
}

/// Runs the program; a panic in it is exit code 3.
pub fn contained(run: impl FnOnce() -> u8 + UnwindSafe) -> u8 {
    set_hook(Box::new(|info| {
        let payload = info.payload();
        let said = payload.downcast_ref::<String>().map(String::as_str).or(payload.downcast_ref::<&str>().copied());
        if said.is_some_and(lacks_threads) {
            let _ = writeln!(std::io::stderr(), "{NO_THREADS}");
            return;
        }
        let place = info.location().map(|l| format!(" ({}:{})", l.file(), l.line())).unwrap_or_default();
        // If standard error cannot be written, there is no other place for the message.
        let _ =
            writeln!(std::io::stderr(), "error: internal error{place}. This is a defect in Amidst; please report it");
    }));
    catch_unwind(run).unwrap_or(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lack_of_threads_is_no_defect() {
        let rayon =
            "The global thread pool has not been initialized.: ThreadPoolBuildError { kind: IOError(Os { code: 11 }) }";
        assert!(lacks_threads(rayon));
        assert!(lacks_threads("failed to spawn thread: Os { code: 11, kind: WouldBlock }"));
        assert!(!lacks_threads("index out of bounds: the len is 3 but the index is 3"));
    }
}
