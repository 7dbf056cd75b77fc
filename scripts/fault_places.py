"""Faults beyond the single system calls of `faults.py`: disks that are full, read-only or owned by others, lack of memory, two
writers at once, a studio that is killed while it publishes, and what is synced before it is shown (torn.py has the disk that loses
the rest).

    fault_places.py AMIDST [KILLS] [SEED]

Full and read-only disks are small file systems in memory, which only root can mount; otherwise they are skipped with a message.
"""

import collections
import http.client
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

from faults import KEY, POLICY, people


class Places:
    def __init__(self, amidst, place):
        self.amidst, self.place, self.tally, self.broken = amidst, place, collections.Counter(), []

    def run(self, *arguments, cwd=None, wrap=(), **more):
        return subprocess.run([*wrap, self.amidst, *arguments], cwd=cwd or self.place, capture_output=True, text=True,
                              errors="replace", **more)

    def fresh(self, name, folder=None, rows=90):
        """A folder with a table, a policy and a key."""
        work = os.path.join(folder or self.place, name)
        shutil.rmtree(work, ignore_errors=True)
        os.makedirs(work)
        for file, text in (("people.csv", people(0, rows)), ("policy.toml", POLICY), ("key", KEY)):
            with open(os.path.join(work, file), "w") as out:
                out.write(text)
        os.chmod(os.path.join(work, "key"), 0o600)
        return work

    def expect(self, what, holds, said=""):
        self.tally[what] += 1
        if not holds:
            self.broken.append(what)
            print(f"BROKEN {what}\n  {said.strip()[:500]}")

    def refused(self, what, done, codes=(2, 3)):
        """The run must end with a message, not with a crash."""
        said = done.stderr + done.stdout
        self.expect(what, done.returncode in codes and "panicked" not in said and "error" in said, f"exit {done.returncode}: {said}")

    def hidden(self, folder):
        return [name for _, folders, files in os.walk(folder) for name in folders + files if name.startswith(".amidst-")]


def full_disks(places):
    """The disk is full after some kilobytes: nothing is partially written, and with space the same command succeeds."""
    mount = os.path.join(places.place, "disk")
    os.makedirs(mount)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", mount], capture_output=True).returncode:
        print("skipped: no file system can be mounted here, so no disk is full or read-only")
        return
    try:
        work = places.fresh("w", mount, 400)
        places.run("anonymize", "policy.toml", "--out", "kept", "--quiet", cwd=work)
        for room in (0, 4, 16, 40, 80, 120, 160, 240):
            filler = os.path.join(mount, "filler")
            free = os.statvfs(mount)
            with open(filler, "wb") as file:
                file.write(b"x" * max(0, free.f_bavail * free.f_frsize - room * 1024))
            for command in (("anonymize", "policy.toml", "--out", "out", "--quiet"),
                            ("anonymize", "policy.toml", "--out", "kept", "--quiet", "--force"),
                            ("sign", "kept", "--key", "key")):
                done = places.run(*command, cwd=work)
                if done.returncode:
                    places.refused("full disk", done, (3,))
                places.expect("full disk: what was there", places.run("verify", "kept", cwd=work).returncode == 0)
                if os.path.exists(os.path.join(work, "out")):
                    places.expect("full disk: what is new", places.run("verify", "out", cwd=work).returncode == 0)
                    shutil.rmtree(os.path.join(work, "out"))
            os.remove(filler)
        done = places.run("anonymize", "policy.toml", "--out", "kept", "--quiet", "--force", cwd=work)
        places.expect("room again", done.returncode == 0 and not places.hidden(work), done.stderr)
        subprocess.run(["mount", "-o", "remount,ro", mount], check=True)
        for command in (("anonymize", "policy.toml", "--out", "other", "--quiet"), ("sign", "kept", "--key", "key"),
                        ("series", "init", "ward", "--policy", "policy.toml", "--mode", "maintain")):
            places.refused("read-only disk", places.run(*command, cwd=work))
        places.expect("read-only disk: reading", places.run("verify", "kept", cwd=work).returncode == 0)
    finally:
        subprocess.run(["umount", "-l", mount], check=True)


def permissions(places):
    """Folders and files that the process may not write or read. Root may do everything, so it becomes the user nobody."""
    if os.geteuid() != 0:
        print("skipped: only root can run a command as somebody else")
        return
    work = places.fresh("rights")
    places.run("anonymize", "policy.toml", "--out", "kept", "--quiet", cwd=work)
    os.chmod(places.place, 0o755)
    os.chmod(work, 0o755)
    amidst = shutil.copy(places.amidst, os.path.join(places.place, "amidst"))
    os.chmod(amidst, 0o755)
    as_nobody = {"user": 65534, "group": 65534}
    for command in (("anonymize", "policy.toml", "--out", "out"), ("sign", "kept", "--key", "key"),
                    ("open", "kept", "--rows", "1", "--out", "o.json")):
        done = subprocess.run([amidst, *command], cwd=work, capture_output=True, text=True, **as_nobody)
        places.refused("somebody else's folder", done)
    done = subprocess.run([amidst, "verify", "kept/public"], cwd=work, capture_output=True, text=True, **as_nobody)
    places.expect("the public part is everybody's to read", done.returncode == 0, done.stderr)
    places.expect("the internal part is not", subprocess.run(["ls", "kept/internal"], cwd=work, capture_output=True, **as_nobody).returncode != 0)


def memory(places, dice):
    """Limited address spaces: a message and exit 3, or what was asked for; never an abort, never half of it."""
    within = lambda limit: ("sh", "-c", f'ulimit -v {limit}; exec "$0" "$@"')
    least = 20_000
    # With less than this the system cannot even load the program.
    while places.run("--version", wrap=within(least)).returncode:
        least += 2000
    kept = places.fresh("memory", rows=400)
    places.run("anonymize", "policy.toml", "--out", "kept", "--quiet", cwd=kept)
    places.run("series", "init", "ward", "--policy", "policy.toml", "--mode", "maintain", cwd=kept)
    with open(os.path.join(kept, "new.csv"), "w") as file:
        file.write(people(5000, 9))
    places.run("series", "insert", "ward", "new.csv", cwd=kept)
    commands = {
        "anonymize": (("anonymize", "policy.toml", "--out", "out", "--quiet", "--threads", "1"), "out"),
        "sign": (("sign", "kept", "--key", "key"), "kept"),
        "publish": (("series", "publish", "ward", "--allow-leak"), "ward/versions/2"),
        "begin": (("series", "init", "other", "--policy", "policy.toml", "--mode", "maintain"), "other/versions/1"),
        "verify": (("verify", "kept"), "kept"),
    }
    for name, (command, shown) in commands.items():
        work = os.path.join(places.place, "narrow")

        def tried(limit):
            shutil.rmtree(work, ignore_errors=True)
            shutil.copytree(kept, work)
            return places.run(*command, cwd=work, wrap=within(limit))

        # What the command needs is between these two; every limit on the way there is looked at, and some more.
        short, enough, limits = least, least + 160_000, []
        while enough - short > 10_000:
            middle = (short + enough) // 2
            limits.append(middle)
            short, enough = (short, middle) if tried(middle).returncode == 0 else (middle, enough)
        for limit in sorted(limits + dice.sample(range(least, enough + 500, 100), 2)):
            done = tried(limit)
            said = f"exit {done.returncode} at {limit} KiB: {done.stderr}"
            there = os.path.exists(os.path.join(work, shown))
            if done.returncode == 0:
                places.expect(f"memory: {name} is done", places.run("verify", shown, cwd=work).returncode == 0, said)
                continue
            places.expect(f"memory: {name} ends with a message and exit 3", done.returncode == 3 and "memory" in done.stderr, said)
            # A version that the state knows of is put in its place by the next run.
            whole = not there or places.run("verify", shown, cwd=work).returncode == 0
            places.expect(f"memory: {name} leaves nothing half there", whole, said)
            again = places.run(*command, *["--force"] * (name == "anonymize"), cwd=work)
            places.expect(f"memory: {name} the next time", again.returncode == 0 or there, again.stderr)
            places.expect(f"memory: {name} clears up", not places.hidden(work), str(places.hidden(work)))


def two_writers(places, rounds=4):
    """Two processes that want the same place at once: what is there afterwards is one of the two, whole."""
    for turn in range(rounds):
        work = places.fresh("two", rows=400)
        start = lambda *command: subprocess.Popen([places.amidst, *command], cwd=work, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

        def both(what, one, other, shown, codes):
            running = [start(*one), start(*other)]
            ended = [(process, *process.communicate()) for process in running]
            told = " | ".join(f"exit {process.returncode}: {said.strip()}" for process, _, said in ended)
            fits = sorted(process.returncode for process, _, _ in ended)
            places.expect(f"two writers: {what}", fits in codes and "panicked" not in told, told)
            places.expect(f"two writers: {what}: whole", all(places.run("verify", one, cwd=work).returncode == 0 for one in shown), told)
            places.expect(f"two writers: {what}: nothing left over", not places.hidden(work), str(places.hidden(work)))

        # Who comes second finds the place taken, or takes the place of the first where it may.
        release = ("anonymize", "policy.toml", "--out", "out", "--quiet")
        both("releases", release, release, ["out"], ([0, 2],))
        both("replaced releases", (*release, "--force"), (*release, "--force"), ["out"], ([0, 0], [0, 2], [0, 3]))
        both("signatures", ("sign", "out", "--key", "key"), ("sign", "out", "--key", "key"), ["out"], ([0, 0], [0, 2], [0, 3]))
        begin = ("series", "init", "ward", "--policy", "policy.toml", "--mode", "maintain")
        both("series", begin, begin, ["ward/versions/1"], ([0, 2],))
        with open(os.path.join(work, "new.csv"), "w") as file:
            file.write(people(1000, 9))
        # A series has one writer at a time: the other one waits or is told so.
        insert = ("series", "insert", "ward", "new.csv")
        both("batches", insert, insert, ["ward/versions/1"], ([0, 2], [0, 3]))
        publish = ("series", "publish", "ward", "--allow-leak")
        both("versions", publish, publish, ["ward/versions/1", "ward/versions/2"], ([0, 2], [0, 1], [0, 3]))
        log = json.loads(places.run("series", "log", "ward", "--check", "--json", cwd=work).stdout or "{}")
        places.expect("two writers: one batch and one version", (len(log.get("batches", [])), len(log.get("versions", []))) == (2, 2), str(log))


def studio(places, dice, kills):
    """The studio is killed while it publishes."""
    for turn in range(kills):
        work = places.fresh("studio", rows=400)
        process = subprocess.Popen([places.amidst, "studio", "policy.toml", "--no-browser"], cwd=work, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        address = None
        for line in process.stdout:
            if found := re.search(r"http://([\d.]+:\d+)/open\?token=(\S+)", line):
                address = found
                break
        if not address:
            process.wait()
            places.expect("studio: it starts", False, f"exit {process.returncode}")
            return
        host = address[1]
        door = http.client.HTTPConnection(host, timeout=20)
        door.request("GET", f"/open?token={address[2]}")
        cookie = door.getresponse().headers["Set-Cookie"].split(";")[0]

        def post(path, body):
            headers = {"Cookie": cookie, "Origin": f"http://{host}", "Content-Type": "application/json"}
            request = urllib.request.Request(f"http://{host}{path}", json.dumps(body).encode(), headers)
            return urllib.request.urlopen(request, timeout=20).read()

        try:
            post("/edit", {"op": "set", "path": ["search", "seed"], "kind": "number", "value": str(turn + 1)})
            post("/run/publish", {"out": "out"})
        except OSError as refusal:
            places.expect("studio: it answers", False, str(refusal))
        time.sleep(0.4 * dice.random() ** 2)
        process.send_signal(signal.SIGKILL)
        process.wait()
        with open(os.path.join(work, "policy.toml"), "rb") as file:
            import tomllib
            places.expect("studio: the policy is whole", "columns" in tomllib.load(file))
        if os.path.exists(os.path.join(work, "out")):
            places.tally["studio: published before the kill"] += 1
            places.expect("studio: what is there verifies", places.run("verify", "out", cwd=work).returncode == 0)
        done = places.run("anonymize", "policy.toml", "--out", "out", "--quiet", "--force", cwd=work)
        places.expect("studio: the next run clears up", done.returncode == 0 and not places.hidden(work),
                      done.stderr + str(places.hidden(work)))
        places.tally["studio: kills"] += 1


def synced(places):
    """Checks in the system calls of a run that every file of a release is synced after its last write and before the rename that
    publishes it, and the folder with its name after that: a disk may lose what was not synced."""
    if subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True).returncode:
        print("skipped: strace may not trace, so it is not seen what is synced")
        return
    for name, command, shown in (
            ("release", ("anonymize", "policy.toml", "--out", "out", "--quiet"), "out"),
            ("table", ("anonymize", "policy.toml", "--out", "out.csv", "--quiet"), "out.csv"),
            ("signature", ("sign", "kept", "--key", "key"), "release.intoto.jsonl")):
        work = places.fresh("synced")
        places.run("anonymize", "policy.toml", "--out", "kept", "--quiet", cwd=work)
        trace = os.path.join(places.place, "trace")
        calls = "write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,linkat"
        done = places.run(*command, cwd=work, wrap=("strace", "-f", "-y", "-o", trace, "-e", f"trace={calls}"))
        dirty, renamed, after, left = set(), False, False, None
        with open(trace, errors="replace") as file:
            for line in file:
                if written := re.search(r"(?:write|pwrite64)\(\d+<(/[^>]*\.amidst-[^>]*)>", line):
                    dirty.add(written[1])
                elif flushed := re.search(r"f(?:data)?sync\(\d+<(/[^>]*)>", line):
                    dirty.discard(flushed[1])
                    after = after or renamed and os.path.isdir(flushed[1])
                elif moved := re.search(r'rename.*"(/[^"]*\.amidst-[^"]*)".*"(/[^"]*\.amidst-[^"]*)"', line):
                    old, new = os.path.normpath(moved[1]), os.path.normpath(moved[2])
                    dirty = {new if path == old else path for path in dirty}
                elif re.search(r"rename", line) and shown in line and not renamed:
                    renamed, left = True, {path for path in dirty if not path.endswith("lock")}
        places.expect(f"synced before it is shown: {name}", done.returncode == 0 and renamed and not left, f"{renamed} {left}")
        places.expect(f"its name is synced: {name}", after)


def main():
    amidst = os.path.realpath(sys.argv[1])
    kills, seed = (int(sys.argv[i]) if len(sys.argv) > i else default for i, default in ((2, 8), (3, 5)))
    dice, began = random.Random(seed), time.time()
    with tempfile.TemporaryDirectory() as place:
        places = Places(amidst, place)
        full_disks(places)
        permissions(places)
        memory(places, dice)
        two_writers(places)
        synced(places)
        studio(places, dice, kills)
    for what, many in places.tally.items():
        print(f"  {many:4} {what}")
    print(f"{sum(places.tally.values())} looked at in {time.time() - began:.0f} s; {len(places.broken)} broken")
    return 1 if places.broken else 0


if __name__ == "__main__":
    sys.exit(main())
