#!/usr/bin/env bash
# Compares the verdicts of the two checkers, `amidst verify` and verify/verify.py, on the same releases and on tampered
# ones.
#
# CASES and SEED in the environment set the number of cases and their seed: CASES=100000 SEED=7 scripts/checkers.sh
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
    { echo "skipped: verify.py is not compared with the checker, since there is no Python 3.11"; exit 0; }

# With the features of the whole workspace, so that nothing is built twice.
cargo build --locked --quiet "${tested[@]}" --bin amidst --example verdicts
target=${CARGO_TARGET_DIR:-target}/debug

# A table that was published as a single file, under another name, with its certificate next to it.
single=$(mktemp -d)
trap 'rm -rf "$single"' EXIT
"$target/amidst" -q sample --rows 500 --out "$single/patients.csv" --policy "$single/policy.toml" >/dev/null
"$target/amidst" -q anonymize "$single/policy.toml" --out "$single/own name.csv" >/dev/null
python3 verify/verify.py "$single/own name.csv" >/dev/null || { echo "verify.py refuses a single table" >&2; exit 1; }

python3 scripts/forgeries.py "$target/amidst" "$target/examples/verdicts"
python3 scripts/checkers.py "$target/amidst" "$target/examples/verdicts" "${CASES:-2500}" "${SEED:-23}"
python3 scripts/forms.py "$target/amidst" "$target/examples/verdicts" "${CASES:-1200}" "${SEED:-23}"
