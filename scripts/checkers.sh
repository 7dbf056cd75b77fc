#!/usr/bin/env bash
# The two checkers, `amidst verify` and verify/verify.py, on the same releases and on tampered ones: the same verdicts.
#
# CASES and SEED in the environment try more, and others: CASES=100000 SEED=7 scripts/checkers.sh
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
    { echo "skipped: verify.py is not compared with the checker, since there is no Python 3.11"; exit 0; }

# With the features of the whole workspace, so that nothing is built a second time.
cargo build --locked --quiet "${tested[@]}" --bin amidst --example verdicts
target=${CARGO_TARGET_DIR:-target}/debug
exec python3 scripts/checkers.py "$target/amidst" "$target/examples/verdicts" "${CASES:-2500}" "${SEED:-23}"
