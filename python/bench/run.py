"""Processor time and memory of `audit` and `anonymize` on frames, beside the command line on the same rows as Parquet.

    python bench/run.py [--rows 1000000] [--runs 3]

Each measurement is a process of its own. The frame is read before the clock starts; its memory is told apart. Where pyCANON
is installed (pip install pycanon), its k, distinct l, entropy l and t are timed on the same frame.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
import tempfile
from pathlib import Path

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
    frame = pandas.read_parquet(file)


def used():
    own = resource.getrusage(resource.RUSAGE_SELF)
    return own.ru_utime + own.ru_stime


before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
cpu, wall = used(), time.monotonic()
if kind == "pycanon":
    from pycanon import anonymity
    quasi, sensitive = ["age", "sex", "zip"], ["diagnosis"]
    for measure in ("k_anonymity", "l_diversity", "entropy_l_diversity", "t_closeness"):
        call = getattr(anonymity, measure)
        call(frame, quasi) if measure == "k_anonymity" else call(frame, quasi, sensitive)
elif verb == "audit":
    am.audit(frame, quasi=["age", "sex", "zip"], sensitive="diagnosis")
else:
    am.anonymize(frame, policy).table
print(json.dumps({
    "cpu": used() - cpu, "wall": time.monotonic() - wall, "frame_kib": before,
    "peak_kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
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


def best(runs: int, *arguments: object) -> dict[str, float]:
    """The run with the least processor time."""
    found = []
    for _ in range(runs):
        done = subprocess.run([sys.executable, "-c", *map(str, arguments)], capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        found.append(json.loads(done.stdout.splitlines()[-1]))
    return min(found, key=lambda run: run["cpu"])


def line(name: str, run: dict[str, float], beside: dict[str, float] | None) -> None:
    ratio = f"{run['cpu'] / beside['cpu']:6.2f}" if beside else "      "
    print(
        f"{name:28} {run['cpu']:8.2f} s {run['wall']:8.2f} s  {ratio}  {run['peak_kib'] / 1024:8.0f} MiB"
        f"  frame {run['frame_kib'] / 1024:6.0f} MiB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3)
    wanted = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        file, policy = Path(folder, "patients.parquet"), Path(folder, "policy.toml")
        # In a process of its own: what this one has in memory, Linux counts for those that it starts.
        subprocess.run([sys.executable, "-c", MADE, str(wanted.rows), file, policy], check=True)
        amidst = Path(sys.executable).parent / "amidst"
        print(f"{wanted.rows:,} rows, best of {wanted.runs}")
        print(f"{'':28} {'processor':>10} {'clock':>10}  {'ratio':>6}  {'peak':>12}")
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
        own = best(wanted.runs, MEASURED, "pandas", "audit", file, policy)
        line("k, l, entropy l, t: pyCANON", best(1, MEASURED, "pycanon", "audit", file, policy), own)


if __name__ == "__main__":
    main()
