"""The two checkers side by side, `amidst verify` and verify.py, for checkers.py and forms.py."""

import collections
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "verify"))
import verify as second  # noqa: E402

SEED = 23


def lay(files, folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for name, data in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if data is None:
            os.symlink("/dev/null", path)
        else:
            with open(path, "wb") as file:
                file.write(data)


class Comparison:
    """Asks both checkers about folders, and notes where they differ. A context: its folder is gone afterwards.

    Made from the arguments of the command: AMIDST VERDICTS [CASES] [SEED]. With KEEP in the environment, folders on which
    the checkers differ are copied there.
    """

    def __init__(self, arguments, cases):
        self.amidst, self.verdicts = arguments[:2]
        self.cases = int(arguments[2]) if len(arguments) > 2 else cases
        self.seed = int(arguments[3]) if len(arguments) > 3 else SEED
        self.dice, self.began, self.tally, self.differences = random.Random(self.seed), time.time(), collections.Counter(), []

    def __enter__(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.place = self.temporary.name
        self.folder = os.path.join(self.place, "case")
        self.first = subprocess.Popen([self.verdicts], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        return self

    def __exit__(self, *failure):
        self.first.stdin.close()
        self.first.wait()
        self.temporary.cleanup()

    def differ(self, what, told):
        self.differences.append(what)
        print(told, flush=True)

    def compare(self, what, files=None, never=False):
        """Whether the first checker accepts the folder, or these files in it. What must `never` be accepted is a difference
        when both do."""
        if files is not None:
            lay(files, self.folder)
        self.first.stdin.write(self.folder + "\n")
        answer = json.loads(self.first.stdout.readline())
        try:
            ours = second.verify(self.folder)
        except second.Unreadable as error:
            ours = {"valid": False, "problems": [str(error)]}
        self.tally["accepted" if answer["valid"] else "refused"] += 1
        judged = lambda verdict: [r["verdict"] for r in verdict.get("requirements", [])]
        if answer["valid"] != ours["valid"] or answer["valid"] and (never or judged(answer) != judged(ours)):
            self.differ(what, f"{'both accept' if never and ours['valid'] else 'differ on'} {what}:\n"
                        f"  amidst verify: {answer['valid']} {judged(answer)} {[p['message'][:300] for p in answer['problems']]}\n"
                        f"  verify.py:     {ours['valid']} {judged(ours)} {[p[:300] for p in ours['problems']]}")
            if os.environ.get("KEEP"):
                shutil.copytree(self.folder, os.path.join(os.environ["KEEP"], str(len(self.differences))), symlinks=True)
        return answer["valid"]

    def as_released(self, releases):
        """Both checkers must accept releases as they were made."""
        for name, files in releases.items():
            if not self.compare(f"{name}, as released", files):
                self.differ(name, f"{name} is refused as it was released")

    def end(self, tried):
        """Tells what was tried, and exits with 1 where the checkers differ."""
        print(f"{tried} in {time.time() - self.began:.0f} s: {self.tally['accepted']} accepted, {self.tally['refused']} refused by "
              f"both, {len(self.differences)} differences")
        sys.exit(1 if self.differences else 0)
