#!/usr/bin/env python3
"""Packs the command into a container image, without a container engine: image.py PROGRAM VERSION FILE.

One layer: the program, the libraries that it loads with the licences of their packages, a user, /tmp and /data; no shell and no
package manager. FILE is an OCI layout that `podman load` and `docker load` read. The same program and libraries give the same
bytes. Afterwards the image is unpacked and its program run in it, where this user may change the root of a process.

    podman load --input FILE
    podman run --rm --volume "$PWD:/data" amidst:VERSION anonymize policy.toml --out release
"""

import hashlib
import io
import json
import os
import platform
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
USER = 10001
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def libraries(program):
    """The shared libraries that a program loads, and its loader, by the paths under which it looks for them."""
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    missing = re.findall(r"(\S+) => not found", listed)
    if missing:
        sys.exit(f"{program} needs {', '.join(missing)}, which are not on this machine")
    return sorted(set(re.findall(r"(?:=> |^\s*)(/\S+) \(0x", listed, re.M)))


def licences(files):
    """The licences of the Debian packages that own files, where this is Debian."""
    for file in files:
        for path in {file, os.path.realpath(file), os.path.realpath(file).removeprefix("/usr")}:
            try:
                owner = subprocess.run(["dpkg-query", "--search", path], capture_output=True, text=True, check=False).stdout
            except FileNotFoundError:
                return
            for package in re.findall(r"^([^:,\s]+)", owner, re.M):
                stated = f"/usr/share/doc/{package}/copyright"
                if os.path.isfile(stated):
                    yield stated, os.path.realpath(stated)


def layer(program):
    """The files of the image as an archive."""
    loaded = libraries(program)
    files = {path: (os.path.realpath(path), 0o755) for path in loaded}
    files |= {path: (real, 0o644) for path, real in licences(loaded)}
    files |= {f"/usr/share/doc/amidst/{name}": (ROOT / name, 0o644) for name in ("LICENSE-APACHE", "LICENSE-MIT")}
    files["/usr/local/bin/amidst"] = (program, 0o755)
    contents = {path: (Path(real).read_bytes(), mode) for path, (real, mode) in files.items()}
    contents["/etc/passwd"] = (f"amidst:x:{USER}:{USER}::/data:/sbin/nologin\n".encode(), 0o644)
    folders = {"/tmp": (0o1777, 0), "/data": (0o755, USER)}
    for path in contents:
        folders |= {str(parent): (0o755, 0) for parent in Path(path).parents if str(parent) != "/"}
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted([*folders, *contents]):
            entry = tarfile.TarInfo(path[1:])
            if path in folders:
                entry.type, (entry.mode, entry.uid) = tarfile.DIRTYPE, folders[path]
                entry.gid = entry.uid
                archive.addfile(entry)
            else:
                data, entry.mode = contents[path]
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def write(program, version, to):
    blobs = {}

    def blob(data, kind):
        digest = hashlib.sha256(data).hexdigest()
        blobs[f"blobs/sha256/{digest}"] = data
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": len(data)}

    dumped = lambda value: json.dumps(value, indent=1, sort_keys=True).encode()
    files = blob(layer(program), "layer.v1.tar")
    config = blob(dumped({
        "architecture": ARCHITECTURES.get(platform.machine(), platform.machine()),
        "os": "linux",
        "config": {"User": f"{USER}:{USER}", "WorkingDir": "/data", "Entrypoint": ["/usr/local/bin/amidst"], "Cmd": ["--help"],
                   "Labels": {"org.opencontainers.image.title": "amidst", "org.opencontainers.image.version": version,
                              "org.opencontainers.image.licenses": "MIT OR Apache-2.0"}},
        "rootfs": {"type": "layers", "diff_ids": [files["digest"]]},
    }), "config.v1+json")
    manifest = blob(dumped({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": config,
                            "layers": [files]}), "manifest.v1+json")
    name = f"amidst:{version}"
    named = {**manifest, "annotations": {"io.containerd.image.name": name, "org.opencontainers.image.ref.name": version}}
    place = lambda described: "blobs/sha256/" + described["digest"].removeprefix("sha256:")
    blobs["oci-layout"] = dumped({"imageLayoutVersion": "1.0.0"})
    blobs["index.json"] = dumped({"schemaVersion": 2, "manifests": [named]})
    # What `docker load` of before version 25 looks for.
    blobs["manifest.json"] = dumped([{"Config": place(config), "RepoTags": [name], "Layers": [place(files)]}])
    with tarfile.open(to, "w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(blobs):
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode = len(blobs[path]), 0o644
            archive.addfile(entry, io.BytesIO(blobs[path]))


def read(archive):
    """The configuration of an image and its layer, found as an engine finds them; every digest is looked at."""
    def content(described):
        data = archive.extractfile("blobs/sha256/" + described["digest"].removeprefix("sha256:")).read()
        if described != {**described, "size": len(data), "digest": "sha256:" + hashlib.sha256(data).hexdigest()}:
            sys.exit(f"{described['digest']} is not what the image says")
        return data

    manifest = json.loads(content(json.load(archive.extractfile("index.json"))["manifests"][0]))
    return json.loads(content(manifest["config"])), content(manifest["layers"][0])


def run(image, *arguments):
    """What the program of an image prints, in a root that holds nothing but the image."""
    with tarfile.open(image) as archive:
        config, files = read(archive)
    with tempfile.TemporaryDirectory() as root:
        with tarfile.open(fileobj=io.BytesIO(files)) as unpacked:
            unpacked.extractall(root, filter="fully_trusted")
        os.chmod(root, 0o755)
        stated = config["config"]

        def enter():
            os.chroot(root)
            os.chdir(stated["WorkingDir"])
            os.setgid(USER)
            os.setuid(USER)

        return subprocess.run([*stated["Entrypoint"], *arguments], preexec_fn=enter, env={}, capture_output=True, text=True, check=True).stdout


def main():
    program, version, image = sys.argv[1:]
    write(program, version, image)
    if os.geteuid() != 0:
        print(f"skipped: running {image}, which takes the right to change the root of a process")
        return
    print(run(image, "--version").strip())
    # It reads, searches and writes as its own user in its own folder.
    run(image, "sample", "--rows", "50", "--out", "patients.csv")


if __name__ == "__main__":
    main()
