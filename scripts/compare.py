"""Runs two builds of the command on the same paths and prints what each costs: see scripts/compare.sh."""

import os
import re
import resource
import shutil
import subprocess
import sys

POLICY = """
[data]
input = "patients.csv"
[columns.id]
role = "{id}"
[columns.age]
role = "quasi"
hierarchy = {{ intervals = [5, 10, 20, 40] }}
[columns.sex]
role = "quasi"
hierarchy = {{ suppress = true }}
[columns.zip]
role = "quasi"
hierarchy = {{ mask = {{ length = 5, from = "right", character = "*" }} }}
[columns.diagnosis]
role = "sensitive"
[columns."*"]
role = "identifying"
[[require]]
model = "k-anonymity"
k = 5
[[require]]
model = "entropy-l-diversity"
on = "diagnosis"
l = 2
[search]
algorithm = "{algorithm}"
max_suppression = {suppression}
[output]
file = "release.csv"
"""

ALGORITHMS = ["optimal", "incognito", "samarati", "mondrian", "top-down", "systematic", "k-member", "one-pass-k-means", "portfolio"]


def paths(folder):
    """Name, words of the command, and what must have been run before, for every path."""
    yield "audit", ["audit", "patients.csv", "--qi", "age,sex,zip", "--sensitive", "diagnosis"], []
    yield "check", ["check", "optimal.toml"], []
    yield "explore", ["explore", "optimal.toml"], []
    for algorithm in ALGORITHMS:
        yield f"anonymize, {algorithm}", ["anonymize", f"{algorithm}.toml", "--threads", "1", "--out", "out"], []
    yield "verify", ["verify", "out"], [["anonymize", "mondrian.toml", "--out", "out"]]
    init = ["series", "init", "kept", "--policy", "series.toml"]
    yield "series init", init, []
    yield "series insert", ["series", "insert", "kept", "more.csv"], [init]


def prepare(command, folder):
    """Patients, and a policy for each algorithm."""
    rows = os.path.join(folder, "all.csv")
    subprocess.run([command, "sample", "--rows", sys.argv[2], "--seed", "3", "--out", rows], check=True, capture_output=True)
    with open(rows, encoding="utf-8") as file:
        lines = file.readlines()
    later = len(lines) // 50
    for name, kept in (("patients.csv", lines[:-later]), ("more.csv", lines[:1] + lines[-later:])):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.writelines(kept)
    texts = {a: POLICY.format(id="identifying", algorithm=a, suppression="0" if a == "incognito" else "0.02") for a in ALGORITHMS}
    texts["series"] = POLICY.format(id="key", algorithm="mondrian", suppression="0")
    for name, text in texts.items():
        with open(os.path.join(folder, f"{name}.toml"), "w", encoding="utf-8") as file:
            file.write(text)


def clean(folder):
    for made in ("out", "kept"):
        shutil.rmtree(os.path.join(folder, made), ignore_errors=True)


def cost(command, words, before, folder, counted):
    """Instructions or processor seconds; nothing where the command refuses the path."""
    best = None
    for _ in range(1 if counted else 5):
        clean(folder)
        for step in before:
            if subprocess.run([command, *step], cwd=folder, capture_output=True).returncode != 0:
                return None
        wrapper = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"] if counted else []
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        run = subprocess.run([*wrapper, command, *words], cwd=folder, capture_output=True, text=True, env={**os.environ, "RAYON_NUM_THREADS": "1"})
        now = resource.getrusage(resource.RUSAGE_CHILDREN)
        if run.returncode != 0:
            return None
        if counted:
            return float(re.search(r"Collected\s*:\s*(\d+)", run.stderr)[1])
        seconds = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
        best = seconds if best is None else min(best, seconds)
    return best


def main():
    place = sys.argv[1]
    before, after = os.path.join(place, "before"), os.path.join(place, "after")
    counted = shutil.which("valgrind") is not None
    folder = os.path.join(place, "work")
    os.mkdir(folder)
    prepare(after, folder)
    unit = "million instructions" if counted else "processor seconds"
    print(f"| path | before, {unit} | after | ratio |\n| --- | --- | --- | --- |")
    for name, words, first in paths(folder):
        old, new = (cost(command, words, first, folder, counted) for command in (before, after))
        shown = ["–" if x is None else f"{x / 1e6:,.0f}" if counted else f"{x:.2f}" for x in (old, new)]
        ratio = f"{new / old:.2f}" if old and new is not None else "new" if new is not None else "refused"
        print(f"| {name} | {shown[0]} | {shown[1]} | {ratio} |", flush=True)
    clean(folder)


main()
