//! The program `amidst`; see the library of this crate.

mod memory;

use std::process::ExitCode;

fn main() -> ExitCode {
    memory::require_address_space();
    amidst_cli::main(std::env::args_os()).into()
}
