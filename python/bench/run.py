"""Processor time and memory of `audit` and `anonymize` on frames, beside the command line on the same rows as Parquet.

    python bench/run.py [--rows 1000000] [--runs 3]

Each measurement is a process of its own. The frame is read before the clock starts; what the process has in memory then (the
interpreter, its libraries and the frame) is told apart. `time` is the processor time over that of the command line, to be at
most 1.2; `memory` is the peak over that of the command line plus what was there before, to be at most 1.

Where pyCANON is installed (pip install pycanon), its k, distinct l, entropy l and t are timed on the same frame, one by one.
A measure that takes longer than `--patience` seconds is given up, and its ratio is a lower bound.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
import tempfile
from pathlib import Path

# Where the source of the package is not: what is installed is measured.
ELSEWHERE = tempfile.gettempdir()

MEASURED = r"""
import json, resource, sys, time
import amidst as am

kind, verb, file, policy = sys.argv[1:]
if kind == "pandas":
    import pandas
    frame = pandas.read_parquet(file)
elif kind == "polars":
    import polars
    frame = polars.read_parquet(file)
else:
    import pandas
    frame = pandas.read_parquet(file)[["age", "sex", "zip", "diagnosis"]]


def used():
    own = resource.getrusage(resource.RUSAGE_SELF)
    return own.ru_utime + own.ru_stime


# A figure of the process in KiB; where Linux does not tell, its peak.
def memory(key):
    try:
        with open("/proc/self/status") as told:
            return next(int(line.split()[1]) for line in told if line.startswith(key))
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


# Reading the frame took more than the frame does; the peak counts from here on.
try:
    with open("/proc/self/clear_refs", "w") as peak:
        peak.write("5")
except OSError:
    pass
before = memory("VmRSS")
cpu, wall = used(), time.monotonic()
if kind == "pycanon":
    from pycanon import anonymity
    quasi, sensitive, call = ["age", "sex", "zip"], ["diagnosis"], getattr(anonymity, verb)
    call(frame, quasi) if verb == "k_anonymity" else call(frame, quasi, sensitive)
elif verb == "audit":
    am.audit(frame, quasi=["age", "sex", "zip"], sensitive="diagnosis")
else:
    am.anonymize(frame, policy).table
print(json.dumps({
    "cpu": used() - cpu, "wall": time.monotonic() - wall, "frame_kib": before,
    "peak_kib": memory("VmHWM"),
}))
"""

MADE = r"""
import sys
import pyarrow.parquet
import amidst as am

rows, file, policy = sys.argv[1:]
pyarrow.parquet.write_table(am.sample(int(rows)).to_pyarrow(), file)
stated = am.sample_policy()
stated.set("output", "file", "release.arrow")
stated.save(policy)
"""

COMMAND = r"""
import json, resource, subprocess, sys, time
wall = time.monotonic()
done = subprocess.run(sys.argv[1:], capture_output=True)
own = resource.getrusage(resource.RUSAGE_CHILDREN)
if done.returncode not in (0, 1):
    sys.exit(done.stderr.decode())
print(json.dumps({"cpu": own.ru_utime + own.ru_stime, "wall": time.monotonic() - wall, "peak_kib": own.ru_maxrss, "frame_kib": 0}))
"""


def best(runs: int, *arguments: object, patience: float | None = None) -> dict[str, float]:
    """The run with the least processor time."""
    found = []
    for _ in range(runs):
        command = [sys.executable, "-c", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=patience, cwd=ELSEWHERE)
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        found.append(json.loads(done.stdout.splitlines()[-1]))
    return min(found, key=lambda run: run["cpu"])


MEASURES = ("k_anonymity", "l_diversity", "entropy_l_diversity", "t_closeness")


def line(name: str, run: dict[str, float], beside: dict[str, float] | None) -> None:
    ratios = f"{'':6}  {'':6}"
    if beside is not None:
        ratios = f"{run['cpu'] / beside['cpu']:6.2f}  {run['peak_kib'] / (beside['peak_kib'] + run['frame_kib']):6.2f}"
    print(
        f"{name:28} {run['cpu']:8.2f} s {run['wall']:8.2f} s  {ratios}  {run['peak_kib'] / 1024:8.0f} MiB"
        f" {run['frame_kib'] / 1024:8.0f} MiB",
        flush=True,
    )


def beside_pycanon(file: Path, runs: int, patience: float) -> None:
    """Each measure of pyCANON, and all of them, over an audit of the same frame, which has them all and more."""
    own = best(runs, MEASURED, "pandas", "audit", file, "")["cpu"]
    total, cut = 0.0, False
    for measure in MEASURES:
        try:
            took = best(1, MEASURED, "pycanon", measure, file, "", patience=patience)["cpu"]
            bound = ""
        except subprocess.TimeoutExpired:
            took, bound, cut = patience, "more than ", True
        total += took
        print(f"pyCANON, {measure:20} {bound}{took:8.2f} s, {bound}{took / own:.1f} times an audit", flush=True)
    print(f"pyCANON, all four: {'more than ' if cut else ''}{total / own:.1f} times an audit ({own:.2f} s of processor time)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--patience", type=float, default=300.0)
    wanted = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        file, policy = Path(folder, "patients.parquet"), Path(folder, "policy.toml")
        # In a process of its own: what this one has in memory, Linux counts for those that it starts.
        subprocess.run([sys.executable, "-c", MADE, str(wanted.rows), file, policy], check=True, cwd=ELSEWHERE)
        amidst = Path(sys.executable).parent / "amidst"
        print(f"{wanted.rows:,} rows, best of {wanted.runs}")
        print(f"{'':28} {'processor':>10} {'clock':>10}  {'time':>6}  {'memory':>6}  {'peak':>12} {'before':>12}")
        for verb, arguments in (
            ("audit", ["audit", file, "--qi", "age,sex,zip", "--sensitive", "diagnosis", "--json"]),
            ("anonymize", ["anonymize", policy, "--input", file, "--out", Path(folder, "out"), "--force", "--json"]),
        ):
            command = best(wanted.runs, COMMAND, amidst, *arguments)
            line(f"{verb}, command line", command, None)
            for kind in ("pandas", "polars"):
                line(f"{verb}, {kind}", best(wanted.runs, MEASURED, kind, verb, file, policy), command)
        if importlib.util.find_spec("pycanon") is None:
            print("skipped: pyCANON is not installed")
            return
        beside_pycanon(file, wanted.runs, wanted.patience)


if __name__ == "__main__":
    main()
