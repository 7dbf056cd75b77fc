#!/usr/bin/env bash
# Builds a release by hand: release.sh FOLDER. Puts binaries, the wheel, the image, the second checker, the bill of materials and
# their digests into FOLDER, all of them or nothing. Publishes nothing and changes nothing in the repository.
#
#   1. Write the version into Cargo.toml (the Python package takes it from there), `cargo update --workspace --offline`, and a
#      section of that version into CHANGELOG.md. Certificates and reports name the version, so pin them anew:
#      `AMIDST_PIN=write cargo test -p amidst --test pinned`, in a commit that changes nothing else.
#   2. bash scripts/test.sh
#   3. bash scripts/release.sh FOLDER
#   4. Tag the commit `v` and the version, and hand over what is in FOLDER.
#
# AMIDST_CLUSTER=0 leaves out the engine for clusters, whose dependencies take most of the time. What others build from the tag
# with scripts/reproducible.sh has the same bytes, given the same compiler and system.
out=$(realpath -m -- "${1:?usage: release.sh FOLDER}")
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

fail() { echo "$1" >&2; exit 2; }
[ ! -e "$out" ] || fail "$out exists already"
[ -d "$(dirname "$out")" ] || fail "there is no folder $(dirname "$out")"
[ -z "$(git status --porcelain)" ] || fail "there are changes that are not committed"
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
grep -q "^## $version\b" CHANGELOG.md || fail "CHANGELOG.md has no section $version"
[ -z "$(git tag --list "v$version")" ] || [ "$(git rev-list -n 1 "v$version")" = "$(git rev-parse HEAD)" ] ||
    fail "v$version is the tag of another commit; write the next version into Cargo.toml"
target=$(rustc -vV | sed -n 's/^host: //p')
made=$(mktemp -d "$(dirname "$out")/.release.XXXXXX")
trap 'rm -rf "$made"' EXIT
source scripts/build_flags.sh

# Builds a program, takes it over, and has it tell its version.
program() {
    echo "== $2 $version for $target"
    cargo build --locked --release -p "$1"
    install -m 755 "$CARGO_TARGET_DIR/release/$2" "$made/$2-$version-$target"
    [ "$("$made/$2-$version-$target" --version)" = "$2 $version" ] || fail "$2 does not tell version $version"
}
program amidst-cli amidst
[ "${AMIDST_CLUSTER:-1}" != 1 ] || program amidst-cluster amidst-cluster
install -m 644 verify/verify.py "$made/verify-$version.py"
python3 scripts/supply_chain.py --sbom "$made/amidst-$version.cdx.json"
python3 scripts/image.py "$made/amidst-$version-$target" "$version" "$made/amidst-$version-$target.oci.tar"
if python3 -m maturin --version >/dev/null 2>&1; then
    python3 -m maturin build --locked --release --manifest-path python/Cargo.toml --out "$made"
else
    echo "skipped: the wheel; install maturin (pip install maturin) to build it"
fi

(cd "$made" && sha256sum -- * >SHA256SUMS && cat SHA256SUMS)
chmod 755 "$made"
mv --no-target-directory "$made" "$out"
