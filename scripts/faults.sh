#!/usr/bin/env bash
# System calls that fail and processes that are killed, one after the other (faults.py); disks that are full or read-only, memory
# that ends, a studio that is killed (fault_places.py). FAULTS, KILLS, STUDIO_KILLS and SEED in the environment try more, and others:
# FAULTS=0 KILLS=1000 scripts/faults.sh tries every fault and a thousand kills.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

cargo build --locked --quiet "${tested[@]}" --bin amidst
amidst=${CARGO_TARGET_DIR:-target}/debug/amidst
python3 scripts/faults.py "$amidst" "${FAULTS:-60}" "${KILLS:-50}" "${SEED:-5}"
python3 scripts/fault_places.py "$amidst" "${STUDIO_KILLS:-5}" "${SEED:-5}"
