"""Documents and notebooks run as they stand; examples and stubs have the types they say."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import PROJECT, PYTHON

DOCUMENTS = [PROJECT / "docs" / "python.md", PYTHON / "README.md"]
NOTEBOOKS = sorted((PYTHON / "examples").glob("*.ipynb"))


def run(code: str, names: dict[str, Any], place: str) -> Any:
    """Runs a cell; returns what its last line says, as a notebook would show it."""
    tree = ast.parse(code, place)
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)  # type: ignore[attr-defined]
    exec(compile(tree, place, "exec"), names)
    return eval(compile(last, place, "eval"), names) if last is not None else None


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_block_of_a_document_runs(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", document.read_text(encoding="utf-8"), re.S | re.M)
    assert blocks
    names: dict[str, Any] = {}
    for number, block in enumerate(blocks, 1):
        run(block, names, f"{document.name}, block {number}")


def test_there_are_three_notebooks() -> None:
    assert len(NOTEBOOKS) >= 3


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_notebook_runs(notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert code and all(cell["outputs"] == [] for cell in code), "notebooks are kept without what they show"
    for number, cell in enumerate(code, 1):
        shown = run("".join(cell["source"]), names, f"{notebook.name}, cell {number}")
        page = getattr(shown, "_repr_html_", None)
        assert page is None or page()


def mypy(*arguments: str, cwd: Path) -> None:
    done = subprocess.run([sys.executable, "-m", *arguments], capture_output=True, text=True, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr


def test_types_of_the_examples(tmp_path: Path) -> None:
    for notebook in NOTEBOOKS:
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        (tmp_path / f"{notebook.stem.replace('-', '_')}.py").write_text("\n".join(code))
    for document in DOCUMENTS:
        blocks = re.findall(r"^```python\n(.*?)^```", document.read_text(encoding="utf-8"), re.S | re.M)
        (tmp_path / f"{document.stem.lower()}_md.py").write_text("\n".join(blocks))
    files = sorted(path.name for path in tmp_path.glob("*.py"))
    mypy("mypy", "--strict", "--ignore-missing-imports", "--disable-error-code=import-untyped", *files, cwd=tmp_path)


def test_types_of_a_wrong_example_are_found(tmp_path: Path) -> None:
    wrong = 'import amidst as am\nam.k_anonymity("five")\nam.intervals(5).levels\nam.audit([], quas="age")\n'
    (tmp_path / "wrong.py").write_text(wrong)
    with pytest.raises(AssertionError, match="(?s)wrong.py:2: .*wrong.py:3: .*wrong.py:4: "):
        mypy("mypy", "--strict", "wrong.py", cwd=tmp_path)


def test_a_block_that_fails_is_told_with_its_place() -> None:
    with pytest.raises(AssertionError) as caught:
        run("x = 1\nassert x == 2\n", {}, "some.md, block 3")
    assert caught.traceback[-1].path == "some.md, block 3" or "some.md, block 3" in str(caught.traceback[-1])


@pytest.mark.skipif(os.name != "posix", reason="once is enough")
def test_stubs_are_what_the_module_has(tmp_path: Path) -> None:
    mypy("mypy.stubtest", "amidst._constructors", "amidst._amidst", cwd=tmp_path)
