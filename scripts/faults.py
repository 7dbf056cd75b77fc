"""Runs `anonymize`, `series`, `sign` and `open` under strace, which makes one system call after the other fail or kills the
process at it. Afterwards nothing is partial, nothing is lost, leftovers are private, and the next run removes them.

    faults.py AMIDST [FAULTS] [KILLS] [SEED]

FAULTS and KILLS are the numbers of faults and kills over all commands (0: all possible ones), drawn by SEED. Calls are counted
for each thread and each kind of call, in an undisturbed run.
"""

import collections
import json
import os
import random
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time

CALLS = ("openat,write,writev,pwrite64,read,pread64,fsync,fdatasync,rename,renameat,renameat2,mkdir,mkdirat,unlink,unlinkat,rmdir,"
         "chmod,fchmod,fchmodat,ftruncate,flock,statx,newfstatat,getdents64,mmap,link,linkat,lseek,fcntl")
ERRORS = {"write": ("ENOSPC", "EIO"), "pwrite64": ("ENOSPC", "EIO"), "mmap": ("ENOMEM",), "openat": ("EACCES", "EMFILE", "EIO"),
          "mkdir": ("ENOSPC", "EACCES"), "ftruncate": ("ENOSPC",), "renameat2": ("EIO", "EINVAL", "EACCES"), "flock": ("ENOLCK", "EIO")}
# Calls of Rust's runtime at its start and end, and of reading system tables, are outside our control.
FOREIGN = re.compile(r'"/(lib|usr|etc|proc|sys|dev)/')
KEY = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIArgUARK1b/npt/BPAt1hL1eNaakbZaXSwrE9PSFBKL7\n-----END PRIVATE KEY-----\n"
PUBLIC = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHZCFWckJyc+LCVEfM1AeHHGAIlmGqqYO74suwqBddBA\n"
POLICY = """[data]
input = "people.csv"
[columns.id]
role = "key"
[columns.age]
role = "quasi"
type = "integer"
generalize = "ranges"
[columns.zip]
role = "quasi"
hierarchy = { mask = { length = 4, from = "right" } }
[columns.disease]
role = "sensitive"
[[require]]
model = "k-anonymity"
k = 3
[[require]]
model = "distinct-l-diversity"
l = 2
"""


def people(first, count):
    row = lambda i: f"p{i},{20 + i * 7 % 50},{4300 + i * 13 % 60},d{i * 5 % 7}\n"
    return "id,age,zip,disease\n" + "".join(map(row, range(first, first + count)))


class Trial:
    """A command, its initial folder, and what must hold afterwards."""

    def __init__(self, amidst, place):
        self.amidst, self.place = amidst, place

    def run(self, *arguments, wrap=()):
        done = subprocess.run([*wrap, self.amidst, *arguments], cwd=self.work, capture_output=True, text=True, errors="replace")
        return done

    def expect(self, code, *arguments):
        done = self.run(*arguments)
        assert done.returncode == code, f"{' '.join(arguments)}: exit {done.returncode}: {done.stderr}{done.stdout}"
        return done

    def begin(self):
        """Makes a new copy of the command's initial folder."""
        self.work = os.path.join(self.place, "work")
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.copytree(os.path.join(self.place, self.name), self.work, symlinks=True)

    def prepare(self):
        self.work = os.path.join(self.place, self.name)
        os.makedirs(self.work)
        with open(os.path.join(self.work, "people.csv"), "w") as file:
            file.write(people(0, 90))
        with open(os.path.join(self.work, "policy.toml"), "w") as file:
            file.write(POLICY)
        with open(os.open(os.path.join(self.work, "key"), os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write(KEY)
        with open(os.path.join(self.work, "public"), "w") as file:
            file.write(PUBLIC)
        self.make()

    def make(self):
        pass

    def names(self):
        return {name for name in os.listdir(self.work)}

    def leftovers(self):
        found = []
        for folder, folders, files in os.walk(self.work):
            found += [os.path.join(folder, name) for name in folders + files if name.startswith(".amidst-")]
        return found

    def private(self):
        """What a killed process left must be readable by its owner only."""
        for top in self.leftovers():
            mode = stat.S_IMODE(os.lstat(top).st_mode)
            assert mode & 0o077 == 0, f"{top} has mode {mode:o}"


class Anonymize(Trial):
    name, arguments = "anonymize", ("anonymize", "policy.toml", "--out", "out", "--quiet")

    def after(self, done, ended):
        self.private()
        if os.path.exists(os.path.join(self.work, "out")):
            self.expect(0, "verify", "out")
            assert not os.path.exists(os.path.join(self.work, "out", "internal")) or all(
                stat.S_IMODE(os.stat(os.path.join(self.work, "out", "internal", f)).st_mode) == 0o600
                for f in os.listdir(os.path.join(self.work, "out", "internal")))
        else:
            assert done != 0, "it says that it went well, and there is no release"
        self.expect(0, *self.arguments, "--force")
        self.expect(0, "verify", "out")
        assert not self.leftovers(), self.leftovers()


class Replace(Anonymize):
    name, arguments = "replace", ("anonymize", "policy.toml", "--out", "out", "--quiet", "--force")

    def make(self):
        self.expect(0, "anonymize", "policy.toml", "--out", "out", "--quiet")
        with open(os.path.join(self.work, "people.csv"), "w") as file:
            file.write(people(0, 120))

    def after(self, done, ended):
        self.private()
        # The next run, which fails immediately here, restores what a kill in between had moved aside.
        self.run("anonymize", "policy.toml", "--out", "out", "--quiet")
        self.expect(0, "verify", "out")
        self.expect(0, *self.arguments)
        self.expect(0, "verify", "out")
        assert not self.leftovers(), self.leftovers()


class Single(Trial):
    name, arguments = "single", ("anonymize", "policy.toml", "--out", "out.csv", "--quiet")

    def after(self, done, ended):
        self.private()
        self.run("anonymize", "policy.toml", "--out", "other.csv", "--quiet")
        if os.path.exists(os.path.join(self.work, "out.csv")):
            self.expect(0, "verify", "out.csv")
        self.run(*self.arguments, "--force")
        self.expect(0, "verify", "out.csv")
        assert not self.leftovers(), self.leftovers()


class Sign(Trial):
    name, arguments = "sign", ("sign", "out", "--key", "key")

    def make(self):
        self.expect(0, "anonymize", "policy.toml", "--out", "out", "--quiet")

    def after(self, done, ended):
        self.private()
        self.expect(0, "verify", "out")
        there = os.path.exists(os.path.join(self.work, "out", "public", "release.intoto.jsonl"))
        assert done != 0 or there, "it says that it signed, and there is no signature"
        self.expect(0, *self.arguments)
        self.expect(0, "verify", "out", "--signer", "public")
        assert not self.leftovers(), self.leftovers()


class Publish(Trial):
    name, arguments = "publish", ("series", "publish", "ward", "--allow-leak")

    def make(self):
        self.expect(0, "series", "init", "ward", "--policy", "policy.toml", "--mode", "maintain")
        with open(os.path.join(self.work, "new.csv"), "w") as file:
            file.write(people(200, 9))
        self.expect(0, "series", "insert", "ward", "new.csv")

    def after(self, done, ended):
        private = os.path.join(self.work, "ward", "private")
        assert stat.S_IMODE(os.stat(private).st_mode) == 0o700
        log = json.loads(self.expect(0, "series", "log", "ward", "--json").stdout)
        assert len(log["batches"]) == 2 and len(log["versions"]) in (1, 2), log
        if len(log["versions"]) == 1:
            assert done != 0, "it says that it published, and there is no version"
            self.expect(0, *self.arguments)
        else:
            # A version that is complete but not in place is moved there by the next publisher.
            self.run(*self.arguments)
        for number in (1, 2):
            self.expect(0, "verify", f"ward/versions/{number}")
        assert sorted(os.listdir(os.path.join(self.work, "ward", "versions"))) == ["1", "2"]
        assert not os.path.exists(os.path.join(private, "staged"))
        chain = json.loads(self.run("series", "audit", "ward", "--json").stdout)["chain"]
        assert chain["linked"] == 2 and not chain["problems"], chain


class Apply(Trial):
    """A batch that replaces rows."""
    name, arguments = "apply", ("series", "apply", "ward", "--insert", "new.csv", "--delete", "gone.csv")

    def make(self):
        self.expect(0, "series", "init", "ward", "--policy", "policy.toml", "--mode", "maintain", "--commit")
        for name, text in (("new.csv", people(200, 9)), ("gone.csv", "id\np3\np4\n")):
            with open(os.path.join(self.work, name), "w") as file:
                file.write(text)

    def after(self, done, ended):
        log = json.loads(self.expect(0, "series", "log", "ward", "--check", "--json").stdout)
        batches = len(log["batches"])
        assert batches in (1, 2) and (done != 0 or batches == 2), log
        if batches == 1:
            self.expect(0, *self.arguments)
        self.expect(0, "series", "undo", "ward")
        self.expect(0, *self.arguments)
        self.expect(0, "series", "publish", "ward", "--allow-leak", "--commit")
        self.expect(0, "verify", "ward/versions/2")


class Begin(Trial):
    """The first version of a series, with a commitment."""
    name, arguments = "begin", ("series", "init", "ward", "--policy", "policy.toml", "--mode", "maintain", "--commit")

    def after(self, done, ended):
        self.private()
        if not os.path.exists(os.path.join(self.work, "ward")):
            assert done != 0, "it says that it began, and there is no series"
            self.expect(0, *self.arguments)
        self.expect(0, "verify", "ward/versions/1")
        self.expect(0, "open", "ward/versions/1", "--key", "p3", "--out", "opened.json")
        self.expect(0, "verify", "ward/versions/1", "--opening", "opened.json")
        # Leftovers beside the series are removed by the next run into the same folder.
        self.expect(0, "anonymize", "policy.toml", "--out", "next", "--quiet")
        assert not self.leftovers(), self.leftovers()


class Open(Trial):
    """Rows that are shown to an auditor: a private file, whole or not at all."""
    name, arguments = "open", ("open", "out", "--rows", "3,4", "--out", "opened.json")

    def make(self):
        self.expect(0, "anonymize", "policy.toml", "--out", "out", "--quiet", "--commit")

    def after(self, done, ended):
        self.private()
        path = os.path.join(self.work, "opened.json")
        if os.path.exists(path):
            assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
            self.expect(0, "verify", "out", "--opening", "opened.json")
        else:
            assert done != 0, "it says that it opened rows, and there is no file"
        self.expect(0, *self.arguments, "--force")
        self.expect(0, "verify", "out", "--opening", "opened.json")


def points(trial):
    """The calls of an undisturbed run: how many of each kind its first thread makes, and which are outside our control."""
    trial.begin()
    trace = os.path.join(trial.place, "trace")
    done = trial.run(*trial.arguments, wrap=("strace", "-f", "-o", trace, "-e", f"trace={CALLS}"))
    assert done.returncode == 0, done.stderr
    counts, foreign, first, begun = collections.Counter(), set(), None, False
    with open(trace, errors="replace") as file:
        for line in file:
            process, rest = line.split(" ", 1)
            first, call = first or process, re.match(r"\s*([a-z0-9_]+)\(", rest)
            if call and process == first:
                counts[call[1]] += 1
                begun = begun or re.search(r'"(policy\.toml|out|ward|key)', rest) is not None
                if FOREIGN.search(rest) or not begun:
                    foreign.add((call[1], counts[call[1]]))
    return [(call, n) for call, many in sorted(counts.items()) for n in range(1, many + 1)], foreign


def main():
    amidst = os.path.realpath(sys.argv[1])
    faults, kills, seed = (int(sys.argv[i]) if len(sys.argv) > i else default for i, default in ((2, 150), (3, 50), (4, 5)))
    if not shutil.which("strace") or subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True).returncode:
        print("skipped: strace is not here, or may not trace, so no system call is made to fail")
        return 0
    dice, began, tally, broken = random.Random(seed), time.time(), collections.Counter(), []
    with tempfile.TemporaryDirectory() as place:
        cases = []
        for kind in (Anonymize, Replace, Single, Sign, Publish, Apply, Begin, Open):
            trial = kind(amidst, place)
            trial.prepare()
            found, foreign = points(trial)
            ways = [(trial, call, n, error) for call, n in found if (call, n) not in foreign for error in ERRORS.get(call, ("EIO",))]
            deaths = [(trial, call, n, None) for call, n in found]
            tally[f"points of {trial.name}"] = len(found)
            cases.append((ways, deaths))
        drawn = lambda lists, many: [case for one in lists for case in (one if not many else dice.sample(one, min(len(one), many // len(lists))))]
        for trial, call, n, error in drawn([c[0] for c in cases], faults) + drawn([c[1] for c in cases], kills):
            trial.begin()
            end = f"error={error}" if error else "signal=SIGKILL"
            # File systems without and with the atomic exchange of folders.
            plain = ["-e", "inject=renameat2:error=EINVAL"] if call != "renameat2" and dice.random() < 0.3 else []
            done = trial.run(*trial.arguments, wrap=("strace", "-f", "-o", "/dev/null", "-e", f"trace={CALLS}", *plain,
                                                     "-e", f"inject={call}:{end}:when={n}"))
            tally["faults" if error else "kills"] += 1
            tally["ended by it"] += done.returncode != 0
            what = f"{trial.name}, {call} {n}, {end}{' without exchange' if plain else ''}: exit {done.returncode}"
            try:
                if "error while loading shared libraries" in done.stderr:
                    continue  # It had not begun.
                expected = (0, 1, 2, 3) if error else (0, 1, 2, 3, -9, 137)
                assert done.returncode in expected, done.stderr
                assert "panicked" not in done.stderr, done.stderr
                trial.after(done.returncode, error is None)
            except (AssertionError, OSError, ValueError) as failure:
                broken.append(what)
                print(f"BROKEN {what}\n  {failure}\n  it said: {done.stderr.strip()[:500]}")
    figures = ", ".join(f"{many} {what}" for what, many in tally.items())
    print(f"{figures} in {time.time() - began:.0f} s; {len(broken)} broken")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
