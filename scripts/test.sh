#!/usr/bin/env bash
# Every check there is: format, lints, documentation, invariants, tests.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

# Cargo's components come with the toolchain on most machines; add them where they do not.
cargo fmt --version >/dev/null 2>&1 || rustup component add rustfmt
cargo clippy --version >/dev/null 2>&1 || rustup component add clippy

# The report is looked at in a browser where there is one. Root on Debian can have one; without it, that test skips.
if ! command -v chromium chromium-browser google-chrome >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium; } \
        >/dev/null 2>&1 || echo "skipped: Chromium could not be installed, so reports are not looked at in a browser"
fi

step() { printf '\n== %s\n' "$1"; }

step "format"
cargo fmt --all --check

step "invariants"
bash scripts/invariants.sh

step "lints"
cargo clippy --locked --all-targets --quiet -- -D warnings

step "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps --quiet

step "tests"
# What a passing test prints is not shown, so what is left out is said here.
[ -d ../shared/data ] || echo "skipped: whatever needs the tables in ../shared/data, which are not here"
cargo test --locked --quiet

step "differential"
bash scripts/differential.sh

# What is built apart, because its dependencies are many or make those of the formats be built once more. Each is left out,
# with a word, unless its variable asks for it (CONTRIBUTING.md).
if [ -n "${AMIDST_POSTGRES:-}" ]; then
    step "PostgreSQL"
    cargo clippy --locked --all-targets --quiet -p amidst-io --features postgres -- -D warnings
    compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || echo "skipped: tables of a server, since PostgreSQL is not installed"
    cargo test --locked --quiet -p amidst-io --features postgres -- postgres tls
else
    echo "skipped: the client of PostgreSQL; AMIDST_POSTGRES=1 builds and tests it"
fi
if [ -n "${AMIDST_CLUSTER:-}" ]; then
    step "cluster"
    cargo clippy --locked --all-targets --quiet -p amidst-cluster -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps --quiet -p amidst-cluster
    cargo test --locked --quiet -p amidst-cluster -- --test-threads 1
else
    echo "skipped: the engine for clusters; AMIDST_CLUSTER=1 builds and tests it"
fi
