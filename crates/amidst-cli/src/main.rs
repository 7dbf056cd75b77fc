//! The program `amidst`; what it does is in the library beside it.

mod memory;

use std::process::ExitCode;

fn main() -> ExitCode {
    memory::look_for_room();
    amidst_cli::main(std::env::args_os()).into()
}
