#!/usr/bin/env bash
# Runs the main commands on synthetic patients with a ready policy; the checked release is in ./demo.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

cargo build --release --quiet --bin amidst
amidst="$CARGO_TARGET_DIR/release/amidst"

mkdir -p demo
"$amidst" sample --rows 20000 --seed 1 --out demo/patients.csv --policy demo/policy.toml --force
"$amidst" anonymize demo/policy.toml --out demo/release --force
"$amidst" verify demo/release
