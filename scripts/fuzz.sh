#!/usr/bin/env bash
# Hours of fire on everything that reads what others wrote (crates/amidst-fuzz/src/lib.rs, and the studio's requests).
#
#   scripts/fuzz.sh [TARGET…]
#
# INPUTS mutants (ten million unless stated) or SECONDS_EACH seconds for each target, whichever ends first, by the driver in
# crates/amidst-testkit/src/mutants.rs, in a process whose memory is limited. With AMIDST_LIBFUZZER=1 and cargo-fuzz (`cargo install cargo-fuzz`) it is guided by
# coverage instead; a stable compiler will do. PROFILE=release is several times faster, once it is built.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(sed -n 's/^    ("\([a-z_]*\)", .*/\1/p' crates/amidst-fuzz/src/lib.rs; echo studio)

if [ -z "${AMIDST_LIBFUZZER:-}" ]; then
    profile=(--profile "${PROFILE:-dev}")
    # With the features of the whole selection, so that nothing is built for this alone.
    cargo test --locked --quiet --no-run "${tested[@]}" "${profile[@]}" --test fuzz --test requests
    for target in "${targets[@]}"; do
        # Two gigabytes are far more than an input of some kilobytes needs; the studio's threads reserve more than they
        # use.
        [ "$target" = studio ] && suite=requests limit=unlimited || suite=fuzz limit=4000000
        (
            ulimit -v "$limit"
            export AMIDST_FUZZ_TARGET=$target AMIDST_FUZZ=${INPUTS:-10000000} AMIDST_FUZZ_SEED=${SEED:-$RANDOM}
            export AMIDST_FUZZ_SECONDS=${SECONDS_EACH:-3600}
            cargo test --locked --quiet "${tested[@]}" "${profile[@]}" --test "$suite" -- --nocapture 2>&1 | grep -E "^$target|panic|takes|memory"
        )
    done
    exit
fi

export RUSTC_BOOTSTRAP=1
cd fuzz
cargo fuzz build --release any
for target in "${targets[@]}"; do
    [ "$target" != studio ] || continue
    mkdir -p "artifacts/$target" "target/corpus/$target"
    # New inputs are stored outside the checked-in corpus; failing inputs go to artifacts and become tests.
    AMIDST_FUZZ_TARGET=$target cargo fuzz run any "target/corpus/$target" "corpus/$target" -- \
        -max_total_time="${SECONDS_EACH:-3600}" -max_len=65536 -rss_limit_mb=3000 -timeout=20 -print_final_stats=1 \
        -artifact_prefix="artifacts/$target/" 2>&1 | grep -E "stat::|ERROR|panicked|Test unit|artifact_prefix" | sed "s/^/$target: /"
done
