#!/usr/bin/env bash
# Builds the wheel of the Python package, installs it into a separate environment, and runs its tests there.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null ||
    { echo "skipped: the Python package needs Python 3.10 or newer"; exit 0; }
venv=$CARGO_TARGET_DIR/python-venv
[ -x "$venv/bin/python" ] || python3 -m venv "$venv" || { echo "skipped: python3 -m venv does not work here"; exit 0; }
pip=("$venv/bin/python" -m pip install --quiet --disable-pip-version-check)
# The packages that the tests use, as listed in python/pyproject.toml.
mapfile -t needs < <("$venv/bin/python" - <<'EOF'
import re
text = open("python/pyproject.toml", encoding="utf-8").read()
print("\n".join(re.findall(r'"([^"]+)"', re.search(r"^test = \[(.*?)^\]", text, re.S | re.M).group(1))))
EOF
)
"${pip[@]}" 'maturin>=1.9,<2' "${needs[@]}"

wheels=$CARGO_TARGET_DIR/wheels
rm -rf "$wheels"
# The profile of the other tests: quick to build, with debug assertions.
"$venv/bin/python" -m maturin build --quiet --locked --profile dev --manifest-path python/Cargo.toml \
    --interpreter "$venv/bin/python" --out "$wheels"
"${pip[@]}" --no-index --no-deps --force-reinstall "$wheels"/*.whl
# From the folder of the tests: in that of the package, Python would import the source instead of the installed package.
cd python/tests
exec "$venv/bin/pytest" --quiet --config-file ../pyproject.toml "$@" .
