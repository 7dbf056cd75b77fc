#!/usr/bin/env bash
# The Python package: builds the wheel, installs it into an environment of its own, and runs its tests there.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null ||
    { echo "skipped: the Python package needs Python 3.10 or newer"; exit 0; }
venv=$CARGO_TARGET_DIR/python-venv
[ -x "$venv/bin/python" ] || python3 -m venv "$venv" || { echo "skipped: python3 -m venv does not work here"; exit 0; }
pip=("$venv/bin/python" -m pip install --quiet --disable-pip-version-check)
# What the tests use, as python/pyproject.toml lists it.
mapfile -t needs < <("$venv/bin/python" - <<'EOF'
import re
text = open("python/pyproject.toml", encoding="utf-8").read()
print("\n".join(re.findall(r'"([^"]+)"', re.search(r"^test = \[(.*?)^\]", text, re.S | re.M).group(1))))
EOF
)
"${pip[@]}" 'maturin>=1.9,<2' "${needs[@]}"

wheels=$CARGO_TARGET_DIR/wheels
rm -rf "$wheels"
# Built as the other tests are: quick to build, and with the checks of a test build.
"$venv/bin/python" -m maturin build --quiet --locked --profile dev --manifest-path python/Cargo.toml \
    --interpreter "$venv/bin/python" --out "$wheels"
"${pip[@]}" --no-index --no-deps --force-reinstall "$wheels"/*.whl
# From the folder of the tests: in that of the package, Python would find its source instead of what is installed.
cd python/tests
exec "$venv/bin/pytest" --quiet --config-file ../pyproject.toml "$@" .
