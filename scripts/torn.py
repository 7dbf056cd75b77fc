"""A disk that loses what was not synced. A command runs once under strace; its calls are replayed on a model of the disk,
which knows of every file and folder what is in memory and what was synced. At chosen calls the power fails: what the disk
then holds is laid into a folder, and it must be as after a kill: nothing partial, nothing lost, leftovers private and removed
by the next run. After the last call, what the command said it did must be there.

    torn.py AMIDST [FAILURES] [SEED]

Three kinds of disk: one that keeps names and loses content that was not synced (files of length 0), one that loses names,
too (only what fsync of a folder has seen), and one that keeps of everything unsynced what chance decides, a write in part.
"""

import collections
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

from faults import Anonymize, Apply, Begin, Open, Publish, Replace, Sign, Single

CALLS = ("openat,close,dup,dup2,dup3,read,readv,write,writev,pwrite64,pwritev,lseek,ftruncate,fallocate,fsync,fdatasync,sync,rename,renameat,"
         "renameat2,mkdir,mkdirat,unlink,unlinkat,rmdir,link,linkat,symlink,symlinkat,chmod,fchmod,fchmodat,copy_file_range,sendfile,fcntl")
TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"(\.\.\.)?')


class Node:
    """A file or a folder: what is in memory, and what the disk has."""

    def __init__(self, folder, mode):
        self.folder, self.mode = folder, mode
        self.now, self.synced = ({}, {}) if folder else (bytearray(), b"")
        # What was written since the last sync, to be kept in part: content before it.
        self.before = None

    def sync(self):
        self.synced, self.before = (dict(self.now), None) if self.folder else (bytes(self.now), None)


class Opened:
    def __init__(self, node, append):
        self.node, self.append, self.at = node, append, 0


class Disk:
    """The folder that a command runs in, and the calls that change it."""

    def __init__(self, work):
        self.work, self.root, self.opened = work, self.load(work), {}

    def load(self, path):
        node = Node(os.path.isdir(path), os.stat(path).st_mode & 0o7777)
        if node.folder:
            node.now = {name: self.load(os.path.join(path, name)) for name in os.listdir(path)}
        else:
            with open(path, "rb") as file:
                node.now = bytearray(file.read())
        node.sync()
        return node

    def find(self, base, path):
        """The folder that holds a name, and the name; None where it is outside of the model."""
        full = path if path.startswith("/") else None
        node = self.root if full is None and base is None else base
        if full is not None:
            if full != self.work and not full.startswith(self.work + "/"):
                return None
            node, path = self.root, full[len(self.work):]
        parts = [part for part in path.split("/") if part not in ("", ".")]
        if node is None or not node.folder or ".." in parts:
            return None
        for part in parts[:-1]:
            node = node.now.get(part)
            if node is None or not node.folder:
                return None
        return node, parts[-1] if parts else ""

    def at(self, place):
        if place is None:
            return None
        folder, name = place
        return folder if not name else folder.now.get(name)

    def call(self, name, line, result):
        """Carries out a call that succeeded; whether it changed what the disk may hold."""
        texts = [bytes.fromhex(m[1].replace("\\x", "")) for m in TEXT.finditer(line)]
        assert not any(m[2] for m in TEXT.finditer(line)), "a text was cut"
        numbers = line[line.index("(") + 1:].split(", ")
        handle = lambda text: None if "AT_FDCWD" in text else self.opened[int(text)].node if text.lstrip("-").isdigit() and int(text) in self.opened else Outside
        path = lambda i: texts[i].decode("utf-8", "surrogateescape")
        if name == "openat":
            base = handle(numbers[0])
            self.opened.pop(result, None)
            place = None if base is Outside else self.find(base, path(0))
            node = self.at(place)
            flags = numbers[2].split(")")[0]
            made = False
            if node is None and place and "O_CREAT" in flags:
                mode = int(numbers[3].split(")")[0], 8) & ~0o022
                node = place[0].now[place[1]] = Node(False, mode)
                made = True
            if node is not None:
                if "O_TRUNC" in flags and not node.folder and node.now:
                    node.now, made = bytearray(), True
                self.opened[result] = Opened(node, "O_APPEND" in flags)
            return made
        if name in ("mkdir", "mkdirat"):
            place = self.find(None if name == "mkdir" else handle(numbers[0]), path(0))
            if place:
                place[0].now[place[1]] = Node(True, int(re.search(r"\b0[0-7]+", line)[0], 8) & ~0o022)
            return bool(place)
        if name in ("unlink", "unlinkat", "rmdir"):
            base = handle(numbers[0]) if name == "unlinkat" else None
            place = None if base is Outside else self.find(base, path(0))
            return bool(place) and place[0].now.pop(place[1], None) is not None
        if name.startswith("rename"):
            bases = (None, None) if name == "rename" else (handle(numbers[0]), handle(numbers[2]))
            old, new = (self.find(base, path(i)) for i, base in enumerate(bases))
            if not old or not new:
                return False
            one, other = self.at(old), self.at(new)
            new[0].now[new[1]] = one
            if "RENAME_EXCHANGE" in line:
                old[0].now[old[1]] = other
            elif old != new:
                del old[0].now[old[1]]
            return True
        if name in ("link", "linkat"):
            bases = (None, None) if name == "link" else (handle(numbers[0]), handle(numbers[2]))
            old, new = (self.find(base, path(i)) for i, base in enumerate(bases))
            if new and self.at(old):
                new[0].now[new[1]] = self.at(old)
            return bool(new)
        if name in ("chmod", "fchmodat"):
            node = self.at(self.find(None, path(0)))
            if node:
                node.mode = int(re.search(r"\b0[0-7]+", line)[0], 8)
            return False
        if not numbers[0].split(")")[0].lstrip("-").isdigit():
            return False
        number = int(numbers[0].split(")")[0])
        if name == "close":
            self.opened.pop(number, None)
            return False
        if name in ("dup", "dup2", "dup3") or name == "fcntl" and "F_DUPFD" in line:
            if number in self.opened:
                self.opened[result] = self.opened[number]
            return False
        file = self.opened.get(number)
        if file is None:
            return False
        return self.of_file(name, line, result, file, texts, numbers)

    def of_file(self, name, line, result, file, texts, numbers):
        node = file.node
        last = lambda: int(numbers[-1].split(")")[0])
        if name in ("read", "readv"):
            file.at += result
        elif name == "lseek":
            file.at = result
        elif name in ("fsync", "fdatasync"):
            node.sync()
            return True
        elif name == "fchmod":
            node.mode = int(re.search(r"\b0[0-7]+", line)[0], 8)
        elif name in ("ftruncate", "fallocate"):
            node.before = bytes(node.now) if node.before is None else node.before
            size = last()
            if name == "ftruncate":
                del node.now[size:]
            node.now.extend(bytes(max(0, size - len(node.now))))
            return True
        elif name in ("write", "writev", "pwrite64", "pwritev"):
            data = b"".join(texts)[:result]
            at = len(node.now) if file.append and not name.startswith("p") else last() if name.startswith("p") else file.at
            node.before = bytes(node.now)
            node.now.extend(bytes(max(0, at - len(node.now))))
            node.now[at:at + len(data)] = data
            if not name.startswith("p"):
                file.at = at + len(data)
            return True
        else:
            assert name in ("fcntl", "copy_file_range", "sendfile"), name
            assert name == "fcntl", f"{name} is not replayed"
        return False

    def lay(self, folder, keeps):
        """Lays what the disk holds after the power failed into a folder; `keeps` decides of everything that is not synced."""
        os.makedirs(folder)

        def write(node, path):
            if node.folder:
                for name, inner in sorted(keeps(node).items()):
                    where = os.path.join(path, name)
                    if inner.folder:
                        os.mkdir(where)
                    write(inner, where)
                if path != folder:
                    os.chmod(path, node.mode)
            else:
                with open(path, "wb") as file:
                    file.write(keeps(node))
                os.chmod(path, node.mode)
        write(self.root, folder)


Outside = Node(False, 0)


def names_kept(node):
    return node.now if node.folder else node.synced


def only_synced(node):
    return node.synced


def by_chance(dice):
    """Ordered or not, whole or in part: whatever a disk may do with what it was not told to sync."""
    chosen = {}

    def keep(node):
        if id(node) not in chosen:
            if node.folder:
                # Each name for itself, as it was or as it is; one that is new or gone in both ways.
                names = {}
                for name in {**node.synced, **node.now}:
                    found = dice.choice([node.synced, node.now]).get(name)
                    if found is not None:
                        names[name] = found
                chosen[id(node)] = names
            else:
                whole, before = bytes(node.now), node.before
                torn = whole if before is None else before[:len(before)] + whole[len(before):len(before) + dice.randrange(1 + max(0, len(whole) - len(before)))]
                chosen[id(node)] = dice.choice([node.synced, whole, torn])
        return chosen[id(node)]
    return keep


def calls(path):
    """The calls of a trace that succeeded, in the order in which they ended."""
    pending = {}
    with open(path, errors="replace") as file:
        for line in file:
            process, rest = line.rstrip("\n").split(" ", 1)
            rest = rest.lstrip()
            if rest.endswith("<unfinished ...>"):
                pending[process] = rest.removesuffix("<unfinished ...>").rstrip()
                continue
            if resumed := re.match(r"<\.\.\. \w+ resumed>(.*)", rest):
                rest = pending.pop(process, "") + resumed[1]
            found = re.match(r"(\w+)\(.*\)\s+= (-?\d+)", rest)
            if found and int(found[2]) >= 0:
                yield found[1], rest[:rest.rindex(")") + 1], int(found[2])


def main():
    amidst = os.path.realpath(sys.argv[1])
    failures, seed = (int(sys.argv[i]) if len(sys.argv) > i else default for i, default in ((2, 60), (3, 5)))
    if not shutil.which("strace") or subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True).returncode:
        print("skipped: strace is not here, or may not trace, so no disk loses what was not synced")
        return 0
    dice, began, tally, broken = random.Random(seed), time.time(), collections.Counter(), []
    kinds = (Anonymize, Replace, Single, Sign, Publish, Apply, Begin, Open)
    for kind in kinds:
        with tempfile.TemporaryDirectory() as place:
            place = os.path.realpath(place)
            trial = kind(amidst, place)
            trial.prepare()
            trial.begin()
            disk, trace = Disk(trial.work), os.path.join(place, "trace")
            done = trial.run(*trial.arguments, wrap=("strace", "-f", "-xx", "-s", "50000000", "-o", trace, "-e", f"trace={CALLS}"))
            assert done.returncode == 0, done.stderr
            steps = list(calls(trace))
            # The same calls again and again: the model is replayed up to each point.
            replay, changing = Disk(os.path.join(place, kind.name)), []
            replay.work = trial.work
            changing = [n for n, step in enumerate(steps) if replay.call(*step)]
            tally[f"changes of {trial.name}"] = len(changing)
            many = max(2, failures // len(kinds))
            chosen = sorted(dice.sample(changing, min(len(changing), many - 1)) + [len(steps) - 1])
            for point in chosen:
                disk = Disk(os.path.join(place, kind.name))
                disk.work = trial.work
                for step in steps[:point + 1]:
                    disk.call(*step)
                said = 0 if point == len(steps) - 1 else -9
                for way, keeps in (("names kept", names_kept), ("only what is synced", only_synced), ("by chance", by_chance(dice))):
                    shutil.rmtree(trial.work)
                    disk.lay(trial.work, keeps)
                    tally["failures"] += 1
                    what = f"{trial.name}, power fails after call {point + 1} of {len(steps)} ({steps[point][0]}), {way}"
                    try:
                        trial.after(said, True)
                    except (AssertionError, OSError, ValueError, KeyError) as failure:
                        broken.append(what)
                        print(f"BROKEN {what}\n  {str(failure)[:600]}", flush=True)
                        if os.environ.get("KEEP"):
                            disk.lay(os.path.join(os.environ["KEEP"], str(len(broken))), keeps)
    figures = ", ".join(f"{many} {what}" for what, many in tally.items())
    print(f"{figures} in {time.time() - began:.0f} s; {len(broken)} broken")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
