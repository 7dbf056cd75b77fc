"""The command that comes with the package, and that both give the same release."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from conftest import cells, small_policy

import amidst as am


def command(*arguments: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "amidst", *map(str, arguments)], capture_output=True, text=True)


def test_the_command_is_there() -> None:
    assert am.__version__ in command("--version").stdout
    installed = subprocess.run([Path(sys.executable).parent / "amidst", "--version"], capture_output=True, text=True)
    assert installed.stdout == command("--version").stdout
    assert command("anonymise").returncode == 2


@pytest.mark.parametrize("algorithm", [None, "optimal", "mondrian", "k-member", "top-down"])
def test_the_same_release_cell_for_cell(algorithm: str | None, tmp_path: Any) -> None:
    policy = small_policy(algorithm=algorithm, require=[am.k_anonymity(5), am.entropy_l_diversity(2)], seed=3)
    table, file = am.sample(500, seed=9).to_pandas(), tmp_path / "patients.csv"
    assert command("sample", "--rows", 500, "--seed", 9, "--out", file).returncode == 0
    stated = policy.copy()
    stated.set("output", "file", "release.csv")
    stated.save(tmp_path / "policy.toml")
    made = command("anonymize", tmp_path / "policy.toml", "--input", file, "--out", tmp_path / "out", "--json")
    assert made.returncode == 0, made.stderr
    with open(tmp_path / "out" / "public" / "release.csv", newline="") as released:
        head, *rows = csv.reader(released)
    release = am.anonymize(table, policy)
    assert list(release.table.columns) == head
    assert cells(release.table) == [tuple(row) for row in rows]
    told = json.loads(made.stdout)
    for key in ("levels", "classes", "suppressed", "metrics", "risk", "requirements"):
        assert release.to_dict()[key] == told[key], key
    assert release.certificate["classes"] == told["classes"]


@pytest.mark.parametrize("file", ["release.csv", "release.parquet", "release.arrow", "release.jsonl"])
def test_the_same_files_byte_for_byte(file: str, tmp_path: Any) -> None:
    table, source = am.sample(400, seed=5).to_pandas(), tmp_path / "patients.csv"
    assert command("sample", "--rows", 400, "--seed", 5, "--out", source).returncode == 0
    policy = small_policy(seed=3)
    policy.set("output", "file", file)
    policy.save(tmp_path / "policy.toml")
    made = command("anonymize", tmp_path / "policy.toml", "--input", source, "--out", tmp_path / "command")
    assert made.returncode == 0, made.stderr
    release = am.anonymize(table, policy)
    release.save(tmp_path / "python")
    by_command, by_python = ({p.name: p.read_bytes() for p in (tmp_path / by / "public").iterdir()} for by in ("command", "python"))
    assert by_python.keys() == by_command.keys() and file in by_python
    assert [name for name in by_python if by_python[name] != by_command[name]] == []
    # What is asked for here counts more than what the policy says.
    release.save(tmp_path / "python", file="release.jsonl", force=True)
    assert am.verify(tmp_path / "python", policy=policy, original=table).valid
    lines = (tmp_path / "python" / "public" / "release.jsonl").read_text().splitlines()
    assert len(lines) == release.rows_out
    with pytest.raises(am.Error, match="docx"):
        release.save(tmp_path / "other", file="release.docx")
    assert not (tmp_path / "other").exists()


def test_the_same_audit(tmp_path: Any) -> None:
    table, file = am.sample(300).to_pandas(), tmp_path / "patients.csv"
    table.to_csv(file, index=False)
    told = json.loads(command("audit", file, "--qi", "age,sex", "--sensitive", "diagnosis", "--json").stdout)
    found = am.audit(table, quasi=["age", "sex"], sensitive="diagnosis").to_dict()
    for both in (told, found):
        both.pop("peak_memory_bytes")
    assert found == told


def test_the_command_reads_what_python_saved(tmp_path: Any) -> None:
    release = am.anonymize(am.sample(300).to_pandas(), small_policy())
    release.save(tmp_path / "out")
    assert command("verify", tmp_path / "out").returncode == 0
    assert pd.read_feather(tmp_path / "out" / "public" / "release.arrow").shape == release.table.shape
