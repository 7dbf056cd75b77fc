#!/usr/bin/env python3
"""Chooses from what guided fuzzing found the inputs that fuzz/corpus keeps: scripts/fuzz_corpus.py [TARGET...]

After scripts/fuzz.sh. Of all inputs of a target, those in the tree included, it takes the one that reaches most places which
none of the chosen ones reaches, for its length, until there are KEPT of them (25 unless stated). Files whose names were given
by hand stay; the others have their digest for a name and are replaced. Inputs above LONGEST bytes (16384 unless stated) and
those that take long are left out, so that the corpus stays small and runs in CI within seconds.
"""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
KEPT = int(os.environ.get("KEPT", "25"))
LONGEST = int(os.environ.get("LONGEST", "16384"))
BY_DIGEST = re.compile(r"[0-9a-f]{12}")


def place() -> pathlib.Path:
    """Where scripts/fuzz.sh builds; see scripts/env.sh."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(os.environ.get("CARGO_TARGET_DIR") or os.path.join(cache, "amidst/target")) / "fuzz"


def program(target: str) -> pathlib.Path | None:
    """The program of a target, if it is built."""
    return next(iter(place().glob(f"*/release/{target}")), None)


def reached(target: str, inputs: list[pathlib.Path]) -> dict[pathlib.Path, set[int]]:
    """What each input reaches, as libFuzzer tells it when it merges."""
    with tempfile.TemporaryDirectory() as folder:
        given, merged, control = (pathlib.Path(folder, name) for name in ("given", "merged", "control"))
        given.mkdir()
        merged.mkdir()
        of = {}
        for number, path in enumerate(inputs):
            shutil.copyfile(path, given / str(number))
            of[str(given / str(number))] = path
        command = [program(target), "-set_cover_merge=1", f"-merge_control_file={control}", "-timeout=5", merged, given]
        subprocess.run([str(part) for part in command], check=True, capture_output=True, env={**os.environ, "TMPDIR": folder})
        lines = control.read_text().splitlines()
        files = lines[2 : 2 + int(lines[0])]
        features = (line.split()[1:] for line in lines if line.startswith("FT "))
        return {of[files[int(number)]]: {int(feature) for feature in found} for number, *found in features}


def chosen(features: dict[pathlib.Path, set[int]], known: set[int], count: int) -> list[pathlib.Path]:
    """The inputs that add most to what is known, for the logarithm of their lengths."""
    taken: list[pathlib.Path] = []
    while len(taken) < count:
        worth = {path: len(found - known) / max(path.stat().st_size, 2).bit_length() for path, found in features.items()}
        best = max(worth, key=lambda path: (worth[path], path.name), default=None)
        if best is None or worth[best] == 0:
            break
        taken.append(best)
        known |= features.pop(best)
    return taken


def choose(target: str) -> None:
    """Replaces the files of a target that have their digest for a name."""
    kept = ROOT / "fuzz/corpus" / target
    by_hand = [path for path in kept.iterdir() if not BY_DIGEST.fullmatch(path.name)]
    before = [path for path in kept.iterdir() if BY_DIGEST.fullmatch(path.name)]
    found = [path for path in (place() / "corpus" / target).iterdir() if path.stat().st_size <= LONGEST]
    features = reached(target, by_hand + before + found)
    known: set[int] = set()
    known.update(*(features.pop(path, set()) for path in by_hand))
    names = len(known)
    taken = [(hashlib.sha256(path.read_bytes()).hexdigest()[:12], path.read_bytes()) for path in chosen(features, known, KEPT)]
    for path in before:
        path.unlink()
    for name, content in taken:
        (kept / name).write_bytes(content)
    print(f"{target}: {len(before)} replaced by {len(taken)} of {len(found)}; they reach {len(known)}, those named by hand {names}")


def main() -> None:
    """Chooses for every target that has been fired at, or for those that are named."""
    for target in sys.argv[1:] or sorted(path.name for path in (place() / "corpus").iterdir()):
        if program(target):
            choose(target)


if __name__ == "__main__":
    main()
