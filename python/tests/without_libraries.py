"""What works right after `pip install ./python`: run by scripts/python.sh in an environment that holds nothing else."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tempfile
from importlib.metadata import files, requires
from pathlib import Path

import amidst as am

PYTHON = Path(__file__).parent.parent


def main() -> None:
    here = Path(am.__file__)
    assert PYTHON not in here.parents, "the installed package is tried, not its source"
    for library in ("pyarrow", "pandas", "polars", "numpy", "duckdb", "tqdm"):
        assert importlib.util.find_spec(library) is None, f"{library} is here"
    assert all("extra ==" in need for need in requires("amidst") or []), "the package needs another one"
    names = {str(file) for file in files("amidst") or []}
    assert {"amidst/py.typed", "amidst/_constructors.pyi", "amidst/_amidst.pyi"} <= names, names
    assert any("abi3" in name for name in names), "one wheel serves every Python"

    blocks = re.findall(r"^```python\n(.*?)^```", (PYTHON / "README.md").read_text(encoding="utf-8"), re.S | re.M)
    with tempfile.TemporaryDirectory() as folder:
        told: dict[str, am.Release] = {}
        for block in blocks:
            exec(block, told)
        release = told["release"]
        assert isinstance(release.table, am.Table) and len(release.table) == release.rows_out > 0
        release.save(Path(folder, "out"))
        command = Path(sys.executable).parent / "amidst"
        done = subprocess.run([command, "verify", Path(folder, "out")], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    print(f"pip install ./python: amidst {am.__version__} works without any other library, and so does the command")


if __name__ == "__main__":
    main()
