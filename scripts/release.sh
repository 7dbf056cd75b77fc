#!/usr/bin/env bash
# Builds a release by hand: release.sh FOLDER. Puts binaries, the wheel, the second checker and their digests into
# FOLDER. Publishes nothing and changes nothing in the repository.
#
#   1. Write the version into Cargo.toml (the Python package takes it from there), `cargo update --workspace --offline`, and a
#      section of that version into CHANGELOG.md. Certificates and reports name the version, so pin them anew:
#      `AMIDST_PIN=write cargo test -p amidst --test pinned`, in a commit that changes nothing else.
#   2. bash scripts/test.sh
#   3. bash scripts/release.sh FOLDER
#   4. Tag the commit `v` and the version, and hand over what is in FOLDER.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

out=${1:?usage: release.sh FOLDER}
[ ! -e "$out" ] || { echo "$out exists already" >&2; exit 2; }
[ -z "$(git status --porcelain)" ] || { echo "there are changes that are not committed" >&2; exit 2; }
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
grep -q "^## $version\b" CHANGELOG.md || { echo "CHANGELOG.md has no section $version" >&2; exit 2; }
target=$(rustc -vV | sed -n 's/^host: //p')
mkdir -p "$out"
out=$(cd "$out" && pwd)

echo "== $version for $target"
cargo build --locked --release -p amidst-cli
install -m 755 "$CARGO_TARGET_DIR/release/amidst" "$out/amidst-$version-$target"
if [ "${AMIDST_CLUSTER:-1}" = 1 ]; then
    cargo build --locked --release -p amidst-cluster
    install -m 755 "$CARGO_TARGET_DIR/release/amidst-cluster" "$out/amidst-cluster-$version-$target"
fi
install -m 644 verify/verify.py "$out/verify-$version.py"
if python3 -m maturin --version >/dev/null 2>&1; then
    python3 -m maturin build --locked --release --manifest-path python/Cargo.toml --out "$out"
else
    echo "skipped: the wheel; install maturin (pip install maturin) to build it"
fi

# The built programs run and report their version.
"$out/amidst-$version-$target" --version
(cd "$out" && sha256sum -- * >SHA256SUMS && cat SHA256SUMS)
