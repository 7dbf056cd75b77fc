#!/usr/bin/env bash
# What the command costs here beside another revision, path by path: instructions where valgrind counts them, else processor time.
#
#   scripts/compare.sh REVISION
#
# Builds both commands (PROFILE, release unless stated) and runs each path of the list below with each of them, on one thread, on the
# same patients. Instructions do not depend on what else the machine does; processor seconds are the least of five. A path that the
# older command does not know is said to be new.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

revision=${1:?say which revision to compare with: scripts/compare.sh REVISION}
profile=${PROFILE:-release} rows=${ROWS:-4000}
place=$(mktemp -d)
trap 'git worktree remove --force "$place/source" 2>/dev/null; rm -rf "$place"' EXIT
folder=$profile
[ "$profile" != dev ] || folder=debug

git worktree add --quiet --detach "$place/source" "$revision"
(cd "$place/source" && cargo build --locked --quiet --profile "$profile" --bin amidst)
cp "$CARGO_TARGET_DIR/$folder/amidst" "$place/before"
cargo build --locked --quiet --profile "$profile" --bin amidst
cp "$CARGO_TARGET_DIR/$folder/amidst" "$place/after"

python3 scripts/compare.py "$place" "$rows"
