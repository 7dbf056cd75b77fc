//! The threads on which the engine plans and runs.

use amidst::Failure;
use tokio::runtime::{Builder, Runtime};

/// A runtime with the deep stacks that planning wants.
pub fn start() -> Result<Runtime, Failure> {
    Builder::new_multi_thread()
        .enable_all()
        .thread_stack_size(32 << 20)
        .build()
        .map_err(|e| Failure::Io(format!("cannot start threads: {e}")))
}
