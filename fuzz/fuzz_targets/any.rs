//! One program for all targets: `AMIDST_FUZZ_TARGET` names the one that is put under fire.

#![no_main]

use std::sync::OnceLock;

use amidst_fuzz::TARGETS;
use libfuzzer_sys::fuzz_target;

static TARGET: OnceLock<fn(&[u8]) -> String> = OnceLock::new();

fuzz_target!(|bytes: &[u8]| {
    let target = TARGET.get_or_init(|| {
        let name = std::env::var("AMIDST_FUZZ_TARGET").expect("AMIDST_FUZZ_TARGET names a target");
        TARGETS.iter().find(|(known, _)| *known == name).unwrap_or_else(|| panic!("there is no target {name}")).1
    });
    drop(target(bytes));
});
