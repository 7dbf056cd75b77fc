# Sourced by the other scripts: installs what is missing and keeps one build directory outside the clone, so that
# repeated runs are quick.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# A C compiler links the binaries and builds the bundled C libraries.
if ! command -v cc >/dev/null; then
    apt-get update -qq && apt-get install -y -qq build-essential
fi
command -v cargo >/dev/null || { echo "Rust is needed: install it with rustup, then run this again" >&2; exit 2; }

# What is built for tests, the same selection in every script, so that each dependency is built once, with all features that any
# package needs: everything, with the optional clients of PostgreSQL and S3. DataFusion needs a newer compiler than the rest.
tested=(--workspace --features amidst-io/postgres,amidst-cluster/s3)
if [ "$(printf '%s\n' 1.94 "$(rustc --version | cut -d' ' -f2)" | sort -V | head -1)" != 1.94 ]; then
    echo "skipped: the engine for clusters, which needs Rust 1.94 or newer"
    tested=(--workspace --exclude amidst-cluster --features amidst-io/postgres)
fi

export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/amidst/target}"
