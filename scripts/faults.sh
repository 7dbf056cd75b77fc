#!/usr/bin/env bash
# Makes system calls fail and kills processes, one after the other (faults.py); fills disks or makes them read-only,
# limits memory, starts two writers at once and kills a studio (fault_places.py); lets the power of a disk fail that loses
# what was not synced (torn.py). FAULTS, KILLS, FAILURES, STUDIO_KILLS and SEED in the environment set numbers and seed:
# FAULTS=0 KILLS=1000 scripts/faults.sh tries every fault and a thousand kills.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

cargo build --locked --quiet "${tested[@]}" --bin amidst
amidst=${CARGO_TARGET_DIR:-target}/debug/amidst
python3 scripts/faults.py "$amidst" "${FAULTS:-60}" "${KILLS:-50}" "${SEED:-5}"
python3 scripts/torn.py "$amidst" "${FAILURES:-32}" "${SEED:-5}"
python3 scripts/fault_places.py "$amidst" "${STUDIO_KILLS:-5}" "${SEED:-5}"
