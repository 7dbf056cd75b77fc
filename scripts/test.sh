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
# The client of PostgreSQL is built apart, too. Its crates are small, but with them those of the formats are built once more: nine
# minutes of a processor, so tests that start a server are run where AMIDST_POSTGRES=1 asks for them; it must always compile.
step "PostgreSQL"
cargo clippy --locked --all-targets --quiet -p amidst-io --features postgres -- -D warnings
if [ -n "${AMIDST_POSTGRES:-}" ]; then
    compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || echo "skipped: tables of a server, since PostgreSQL is not installed"
    cargo test --locked --quiet -p amidst-io --features postgres -- postgres tls
else
    echo "skipped: tests with a PostgreSQL server; AMIDST_POSTGRES=1 runs them"
fi

# The engine for clusters is built apart: its dependencies are many. AMIDST_SKIP_CLUSTER=1 leaves it out.
if [ -z "${AMIDST_SKIP_CLUSTER:-}" ]; then
    step "cluster"
    cargo clippy --locked --all-targets --quiet -p amidst-cluster -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps --quiet -p amidst-cluster
    cargo test --locked --quiet -p amidst-cluster -- --test-threads 1
fi
