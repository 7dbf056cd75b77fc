//! Has the linker hand over to `fuzz_targets/counters.rs` what the instrumented code tells libFuzzer at its beginning.

fn main() {
    for told in ["__sanitizer_cov_8bit_counters_init", "__sanitizer_cov_pcs_init"] {
        println!("cargo::rustc-link-arg-bins=-Wl,--wrap={told}");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
