//! A policy made in code is the same as one in a file, and says so in TOML.

#![allow(clippy::print_stdout)] // An example shows what it does.

use std::path::Path;

use amidst::policy::{ColumnPolicy, Role, hierarchy, require};
use amidst::prelude::*;

fn main() -> Result<(), Failure> {
    let policy = Policy::builder()
        .quasi("age", intervals([5, 10, 20]).with("origin", 0u64))
        .quasi("admitted", hierarchy("dates", ["month", "quarter", "year"]))
        .quasi("sex", suppress())
        .sensitive("diagnosis")
        .column(ColumnPolicy::new("patient", Role::Key))
        .leave_out_others()
        .require(k_anonymity(5))
        // Every model of the registry goes by its name and the names of its parameters.
        .require(require("entropy-l-diversity").with("l", 2.5).on("diagnosis"))
        .algorithm("mondrian")
        .max_suppression(Rational::ratio(1, 50))
        .build()?;
    let text = policy.to_toml();
    println!("{text}");
    assert_eq!(Policy::parse(&text, Path::new("policy.toml"))?, policy);

    // Mistakes are told as they are told for files: where, what, and what was probably meant.
    let mistaken = Policy::builder().sensitive("diagnosis").require(require("k-anonimity").with("k", 5u64)).build();
    println!("{}", mistaken.expect_err("there is no such model"));
    Ok(())
}
