#!/usr/bin/env bash
# The Python package: installs it with `pip install ./python` into an empty environment and tries it there, then installs it
# beside the libraries that its tests use and runs them.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null ||
    { echo "skipped: the Python package needs Python 3.10 or newer"; exit 0; }
# Built as the other tests are: quick to build, and with the checks of a test build. People get the release profile.
export MATURIN_PEP517_ARGS="${MATURIN_PEP517_ARGS:---locked --profile dev}"
install=(-m pip install --quiet --disable-pip-version-check)

# As a person does it on a fresh machine: nothing is there but Rust and Python.
empty=$CARGO_TARGET_DIR/python-empty
python3 -m venv --clear "$empty" || { echo "skipped: python3 -m venv does not work here"; exit 0; }
"$empty/bin/python" "${install[@]}" ./python
(cd python/tests && "$empty/bin/python" without_libraries.py)

venv=$CARGO_TARGET_DIR/python-venv
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/python" "${install[@]}" './python[test]'
# From the folder of the tests: in that of the package, Python would find its source instead of what is installed.
cd python/tests
exec "$venv/bin/pytest" --quiet --config-file ../pyproject.toml "$@" .
