#!/usr/bin/env bash
# Runs every check: format, lints, documentation, invariants, tests. Prints how long each took.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

# Most toolchains include these components; they are added where they are missing.
cargo fmt --version >/dev/null 2>&1 || rustup component add rustfmt
cargo clippy --version >/dev/null 2>&1 || rustup component add clippy

# Installs a package on Debian as root.
install() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$1"; } \
        </dev/null >/dev/null 2>&1
}

clock() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }
steps=() current='' since=0
step() {
    [ -z "$current" ] || steps+=("$(clock $((SECONDS - since)))  $current")
    current=$1 since=$SECONDS
    [ -z "$current" ] || printf '\n== %s (at %s)\n' "$current" "$(clock "$SECONDS")"
}

step "programs that tests use"
# Tests that need a browser or a database server are skipped without one.
command -v chromium chromium-browser google-chrome >/dev/null || install chromium ||
    echo "skipped: Chromium is not here and could not be installed, so reports are not looked at in a browser"
compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || install postgresql ||
    echo "skipped: PostgreSQL is not here and could not be installed, so no table of a server is read"
# A store that speaks the language of S3, in an environment of its own.
store=$CARGO_TARGET_DIR/s3-venv
[ -x "$store/bin/moto_server" ] ||
    { python3 -m venv "$store" && "$store/bin/python" -m pip install --quiet --disable-pip-version-check 'moto[server]>=5,<6'; } ||
    echo "skipped: moto could not be installed, so no table of an object store is read"
export AMIDST_S3_SERVER=$store/bin/moto_server

step "format"
cargo fmt --all --check

step "invariants"
bash scripts/invariants.sh

step "dependencies: licences, sources, Rust versions"
python3 scripts/dependencies.py
python3 scripts/supply_chain.py

step "lints"
cargo clippy --locked "${tested[@]}" --all-targets --quiet -- -D warnings

step "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --locked "${tested[@]}" --no-deps --quiet
python3 scripts/surface.py "${CARGO_TARGET_DIR:-target}/doc" amidst_core 285
python3 scripts/surface.py "${CARGO_TARGET_DIR:-target}/doc" amidst

step "tests: build"
cargo test --locked --quiet "${tested[@]}" --no-run

step "tests"
# The output of passing tests is not shown, so skipped tests are listed here.
[ -d ../shared/data ] || echo "skipped: whatever needs the tables in ../shared/data, which are not here"
cargo test --locked --quiet "${tested[@]}"

step "one file and two lines"
bash scripts/registries.sh

step "differential"
bash scripts/differential.sh

step "Python package"
bash scripts/python.sh

step "the two checkers"
bash scripts/checkers.sh

step "signatures under other tools"
bash scripts/signatures.sh

step "system calls that fail, full disks, kills"
command -v strace >/dev/null || install strace ||
    echo "skipped: strace is not here and could not be installed, so no system call is made to fail"
bash scripts/faults.sh

step "studio in a browser"
bash scripts/studio.sh

step ''
printf '\n== everything passed in %s\n' "$(clock "$SECONDS")"
printf '   %s\n' "${steps[@]}"
