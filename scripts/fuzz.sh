#!/usr/bin/env bash
# Hours of fire on everything that reads what others wrote (fuzz/src/targets.rs).
#
#   scripts/fuzz.sh [TARGET…]
#
# With cargo-fuzz (`cargo install cargo-fuzz`) it is guided by coverage, for SECONDS_EACH seconds a target; a stable compiler
# will do. Without it, INPUTS mutants of the corpus for each target are tried by the driver in crates/amidst/tests/fuzz.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(sed -n 's/^    ("\([a-z_]*\)", .*/\1/p' fuzz/src/targets.rs)

if ! command -v cargo-fuzz >/dev/null; then
    echo "cargo-fuzz is not here: mutants without guidance"
    for target in "${targets[@]}"; do
        AMIDST_FUZZ_TARGET=$target AMIDST_FUZZ=${INPUTS:-1000000} AMIDST_FUZZ_SEED=${SEED:-$RANDOM} \
            cargo test --locked --quiet -p amidst --test fuzz -- --ignored --nocapture | grep "^$target"
    done
    exit
fi

export RUSTC_BOOTSTRAP=1
cd fuzz
cargo fuzz build --release any
for target in "${targets[@]}"; do
    mkdir -p "artifacts/$target" "target/corpus/$target"
    # New inputs go beside the corpus that is checked in; what fails goes to artifacts and becomes a test.
    AMIDST_FUZZ_TARGET=$target cargo fuzz run any "target/corpus/$target" "corpus/$target" -- \
        -max_total_time="${SECONDS_EACH:-3600}" -max_len=65536 -rss_limit_mb=3000 -timeout=20 -print_final_stats=1 \
        -artifact_prefix="artifacts/$target/" 2>&1 | grep -E "stat::|ERROR|panicked|Test unit|artifact_prefix" | sed "s/^/$target: /"
done
