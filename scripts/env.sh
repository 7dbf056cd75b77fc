# Sourced by the other scripts: installs what is missing and keeps one build directory outside the clone, so that
# repeated runs are quick.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# A C compiler links the binaries and builds the bundled C libraries.
if ! command -v cc >/dev/null; then
    apt-get update -qq && apt-get install -y -qq build-essential
fi
command -v cargo >/dev/null || { echo "Rust is needed: install it with rustup, then run this again" >&2; exit 2; }

# The packages that are built for tests, the same selection in every script, so that each dependency is built once, with
# all features that any of them needs. The cluster engine, which needs many more features, is built separately.
tested=(--workspace --exclude amidst-cluster)

export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/amidst/target}"
