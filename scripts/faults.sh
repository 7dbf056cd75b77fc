#!/usr/bin/env bash
# System calls that fail and processes that are killed, one after the other; see faults.py. FAULTS, KILLS and SEED in the
# environment try more, and others: FAULTS=0 KILLS=1000 scripts/faults.sh tries every fault and a thousand kills.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

cargo build --locked --quiet --bin amidst
exec python3 scripts/faults.py "${CARGO_TARGET_DIR:-target}/debug/amidst" "${FAULTS:-60}" "${KILLS:-50}" "${SEED:-5}"
