# Sourced by the scripts beside it: installs what is missing and keeps one build directory outside the clone, so that
# repeated runs are quick.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# A C compiler links the binaries and builds the bundled C libraries.
if ! command -v cc >/dev/null; then
    apt-get update -qq && apt-get install -y -qq build-essential
fi
command -v cargo >/dev/null || { echo "Rust is needed: install it with rustup, then run this again" >&2; exit 2; }

# What is built for tests, in every script the same selection of packages: so each dependency is built once, with all the
# features that one of them asks for. The engine for clusters, which asks for many more, is built apart.
tested=(--workspace --exclude amidst-cluster)

export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/amidst/target}"
