//! The program `amidst`; what it does is in the library beside it.

mod memory;

use std::process::ExitCode;

fn main() -> ExitCode {
    amidst_cli::main(std::env::args_os()).into()
}
