#!/usr/bin/env bash
# Tests that two builds of the shipped command in two folders give the same bytes.
#
# Builds everything twice from scratch, which takes long. PROFILE (default: release), PACKAGE (default: amidst-cli) and
# BINARY (default: amidst) can be set; the engine for clusters is PACKAGE=amidst-cluster BINARY=amidst-cluster.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

profile=${PROFILE:-release} package=${PACKAGE:-amidst-cli} binary=${BINARY:-amidst}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
# Both of one revision, whatever is committed here meanwhile.
revision=$(git rev-parse HEAD)
echo "revision $revision"
for turn in one two; do
    git clone --quiet . "$place/$turn-source"
    git -C "$place/$turn-source" checkout --quiet --detach "$revision"
    (
        cd "$place/$turn-source"
        export CARGO_TARGET_DIR="$place/$turn"
        source scripts/build_flags.sh
        cargo build --locked --quiet --profile "$profile" -p "$package"
    )
done
folder=$profile
[ "$profile" != dev ] || folder=debug
sha256sum "$place/one/$folder/$binary" "$place/two/$folder/$binary"
cmp "$place/one/$folder/$binary" "$place/two/$folder/$binary"
echo "the two builds are the same, byte for byte"
