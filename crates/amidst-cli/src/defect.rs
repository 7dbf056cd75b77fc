//! What becomes of a panic, which is a defect of Amidst: exit code 3, and a message that says where it happened.
//!
//! What a panic says may quote a cell of the table (a text that is no number, say), so it is not shown.

use std::io::Write;
use std::panic::{UnwindSafe, catch_unwind, set_hook};

/// Runs the program; a panic anywhere in it ends it with exit code 3.
pub fn contained(run: impl FnOnce() -> u8 + UnwindSafe) -> u8 {
    set_hook(Box::new(|info| {
        let place = info.location().map(|l| format!(" ({}:{})", l.file(), l.line())).unwrap_or_default();
        // Where even this cannot be written, there is nobody to read it.
        let _ =
            writeln!(std::io::stderr(), "error: internal error{place}. This is a defect in Amidst; please report it");
    }));
    catch_unwind(run).unwrap_or(3)
}
