//! The amidst command.
fn main() {}
