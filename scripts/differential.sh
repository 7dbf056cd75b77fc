#!/usr/bin/env bash
# Compares the checker with other readers on the same files: they see the same rows and cells, or the checker refuses.
#
# Python's csv and json are always available; pyarrow, Polars and DuckDB are installed into a separate environment if
# pip can download them, and otherwise skipped with a message.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

command -v python3 >/dev/null || { echo "skipped: there is no Python to compare the checker with"; exit 0; }

# With the features of the whole workspace, so that nothing is built twice.
cargo build --locked --quiet "${tested[@]}" --example rows
target=${CARGO_TARGET_DIR:-target}
python=python3
venv=$target/differential-venv
if [ ! -x "$venv/bin/python" ]; then
    python3 -m venv "$venv" >/dev/null 2>&1 || rm -rf "$venv"
fi
if [ -x "$venv/bin/python" ]; then
    python=$venv/bin/python
    "$python" -m pip install --quiet --disable-pip-version-check --timeout 20 pyarrow polars duckdb >/dev/null 2>&1 ||
        echo "skipped: pip does not reach all of pyarrow, polars and duckdb; what is there is compared with"
fi
exec "$python" scripts/differential.py "$target/debug/examples/rows"
