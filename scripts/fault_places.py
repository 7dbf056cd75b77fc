"""Faults beyond the single system calls of `faults.py`: disks that are full, read-only or owned by others, lack of memory, a
studio that is killed while it publishes, and a disk that loses what was not synced.

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
    """Limited address spaces: a message and exit 3, or a release."""
    work = places.fresh("memory")
    enough, least = 0, 20_000
    within = lambda limit: ("sh", "-c", f'ulimit -v {limit}; exec "$0" "$@"')
    # With less than this the system cannot even load the program.
    while places.run("--version", wrap=within(least)).returncode:
        least += 2000
    for limit in sorted(dice.sample(range(least, least + 80_000, 500), 12)):
        shutil.rmtree(os.path.join(work, "out"), ignore_errors=True)
        done = places.run("anonymize", "policy.toml", "--out", "out", "--quiet", "--threads", "1", cwd=work,
                          wrap=within(limit))
        if done.returncode == 0:
            enough += 1
            places.expect("memory: a release", places.run("verify", "out", cwd=work).returncode == 0)
        else:
            said = done.stderr
            places.expect("memory: a message and exit 3", done.returncode == 3 and "memory" in said, f"exit {done.returncode} at {limit} KiB: {said}")
            places.expect("memory: nothing half there", not os.path.exists(os.path.join(work, "out")))
    places.run("anonymize", "policy.toml", "--out", "out", "--quiet", "--force", cwd=work)
    places.expect("memory: the next run clears up", not places.hidden(work), str(places.hidden(work)))
    places.tally["memory: limits that were enough"] = enough


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
        synced(places)
        studio(places, dice, kills)
    for what, many in places.tally.items():
        print(f"  {many:4} {what}")
    print(f"{sum(places.tally.values())} looked at in {time.time() - began:.0f} s; {len(places.broken)} broken")
    return 1 if places.broken else 0


if __name__ == "__main__":
    sys.exit(main())
