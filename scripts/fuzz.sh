#!/usr/bin/env bash
# Hours of fire, guided by coverage, on everything that reads what others wrote (crates/amidst-fuzz/src/lib.rs).
#
#   scripts/fuzz.sh [TARGET…]
#   scripts/fuzz.sh --table      (what was done so far, as a table)
#
# INPUTS executions (ten million unless stated) for each target by libFuzzer, those of earlier runs included, or SECONDS_EACH
# seconds, whichever ends first; JOBS targets side by side, each in one process whose memory is limited and where an input has
# PATIENCE seconds (20 unless stated). A stable compiler and a C++ compiler will do: what cargo-fuzz passes to the compiler is
# passed here. COMPARES=1 also lets libFuzzer see what is compared, which finds more with an execution and takes several times
# as long for one; the words in fuzz/words do without. PLAIN=1 fires by the driver in crates/amidst-testkit/src/mutants.rs
# instead, which is not guided and needs no second build; PROFILE=release builds what it needs with optimization first. BUILT=1
# fires with the programs that are there, of an earlier build.
#
# What libFuzzer finds worth keeping goes to $CARGO_TARGET_DIR/fuzz/corpus, failing inputs to $CARGO_TARGET_DIR/fuzz/failed.
# Executions are counted in fuzz/executions, which is committed, so that runs on different machines add up: a line for each
# run with target, executions, places reached, seconds and revision (with a + where the sources had changes).
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

ledger=fuzz/executions
if [ "${1:-}" = --table ]; then
    echo "| target | guided executions | places reached | executions a second |"
    echo "| --- | --- | --- | --- |"
    # Places and rate are those of the last run.
    awk '!/^#/ { sum[$1] += $2; places[$1] = $3; rate[$1] = $4 > 0 ? $2 / $4 : $2 }
        END { for (t in sum) printf "%d\t| `%s` | %d | %d | %d |\n", sum[t], t, sum[t], places[t], rate[t] }' "$ledger" |
        sort -rn | cut -f 2 | sed -E ':a; s/ ([0-9]+)([0-9]{3})( |,)/ \1,\2\3/; ta'
    exit
fi

targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(sed -n 's/^    ("\([a-z_]*\)", .*/\1/p' crates/amidst-fuzz/src/lib.rs)
inputs=${INPUTS:-10000000} seconds=${SECONDS_EACH:-3600}

if [ -n "${PLAIN:-}" ]; then
    # In the profile of the tests with the features of the whole selection, so that nothing is built for this alone.
    [ -z "${PROFILE:-}" ] || tested=(--package amidst-fuzz)
    profile=(--profile "${PROFILE:-dev}")
    cargo test --locked --quiet --no-run "${tested[@]}" "${profile[@]}" --test fuzz
    for target in "${targets[@]}"; do
        (
            # Far more than an input of some kilobytes needs; the studio's threads reserve more than they use.
            [ "$target" = studio ] || ulimit -v 4000000
            export AMIDST_FUZZ_TARGET=$target AMIDST_FUZZ=$inputs AMIDST_FUZZ_SEED=${SEED:-$RANDOM} AMIDST_FUZZ_SECONDS=$seconds
            cargo test --locked --quiet "${tested[@]}" "${profile[@]}" --test fuzz no_input -- --nocapture 2>&1 | grep -E "^$target|panic|takes|memory"
        )
    done
    exit
fi

place=$CARGO_TARGET_DIR/fuzz
mkdir -p "$place"
host=$(rustc -vV | sed -n 's/^host: //p')
if [ -z "${BUILT:-}" ]; then
    # The dependencies are those of the command; only what libFuzzer needs is added.
    [ -f fuzz/Cargo.lock ] && [ ! Cargo.lock -nt fuzz/Cargo.lock ] || cp Cargo.lock fuzz/Cargo.lock
    coverage=(-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=3 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters
        -Cllvm-args=-sanitizer-coverage-pc-table)
    [ -z "${COMPARES:-}" ] || coverage+=(-Cllvm-args=-sanitizer-coverage-trace-compares)
    revision=$(git rev-parse --short HEAD)
    [ -z "$(git status --porcelain -- crates fuzz/fuzz_targets Cargo.lock)" ] || revision+=+
    # With a target, so that build scripts and macros are told apart from what is shipped.
    AMIDST_COVERAGE="${coverage[*]}" RUSTC_WRAPPER="$PWD/scripts/fuzz_rustc.sh" RUSTFLAGS="--cfg fuzzing" CARGO_TARGET_DIR="$place" \
        cargo build --quiet --release --manifest-path fuzz/Cargo.toml --target "$host" "${targets[@]/#/--bin=}"
    for target in "${targets[@]}"; do
        echo "$revision" >"$place/$target.revision"
    done
fi

# A folder in memory, for what has to be a file.
TMPDIR=$(mktemp -d -p "$([ -d /dev/shm ] && echo /dev/shm || echo /tmp)")
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
# What one execution gives back is kept for the next, and not asked of the system page by page.
export MALLOC_TRIM_THRESHOLD_=268435456 MALLOC_MMAP_THRESHOLD_=33554432

# Fires at one target until it has had as many executions as are wanted.
fire() {
    local target=$1 log=$place/$1.log words=() earlier longest executions covered began=$SECONDS status=0 revision
    revision=$(cat "$place/$target.revision")
    mkdir -p "$place/corpus/$target" "$place/failed/$target"
    [ ! -f "fuzz/words/$target" ] || words=(-dict="fuzz/words/$target")
    earlier=$(awk -v target="$target" '$1 == target { sum += $2 } END { print sum + 0 }' "$ledger")
    [ "$earlier" -lt "$inputs" ] || return 0
    # As long as the longest file of the corpus, and somewhat longer; what is longer only takes longer.
    longest=$(($(stat -c %s "fuzz/corpus/$target"/* | sort -n | tail -1) * 5 / 4))
    [ "$longest" -ge 1024 ] || longest=1024
    # Inputs that take long (what is unpacked to much) are mutated less often. Shorter inputs do not take the place of longer ones:
    # to look for them takes a sixth of the time of an execution that reaches thousands of places.
    "$place/$host/release/$target" "$place/corpus/$target" "fuzz/corpus/$target" "${words[@]}" \
        -runs="$((inputs - earlier))" -max_total_time="$seconds" -max_len="${LONGEST:-$longest}" -rss_limit_mb=3000 \
        -entropic_scale_per_exec_time=1 -reduce_inputs=0 -timeout="${PATIENCE:-20}" -print_final_stats=1 -artifact_prefix="$place/failed/$target/" >"$log" 2>&1 || status=1
    executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -1)
    covered=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -1)
    echo "$target ${executions:-0} ${covered:-0} $((SECONDS - began)) $revision" >>"$ledger"
    echo "$target: ${executions:-0} executions after $earlier, ${covered:-0} places reached"
    grep -E "ERROR|panicked|Test unit" "$log" | sed "s/^/$target: /" || true
    return $status
}

# Ctrl-C ends the targets that run, which are counted, and begins no other; SIGTERM to this script lets those that run end.
failed=0 stopped=''
trap 'stopped=1' INT TERM
for target in "${targets[@]}"; do
    while [ -z "$stopped" ] && [ "$(jobs -rp | wc -l)" -ge "${JOBS:-1}" ]; do
        wait -n || failed=1
    done
    [ -z "$stopped" ] || break
    fire "$target" &
done
while [ -n "$(jobs -rp)" ]; do
    wait -n || failed=1
done
exit $failed
