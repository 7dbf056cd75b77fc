"""Checks the dependencies of the shipped command: licences, sources, unsafe code, and a bill of materials.

    supply_chain.py [--sbom FILE] [--unsafe]

Reads `cargo metadata --locked` of the default build (no network). Fails if a package has a licence that deny.toml does
not accept, or does not come from crates.io. `--sbom` writes CycloneDX 1.5, the same bytes for the same Cargo.lock. `--unsafe`
counts the word in the sources of each package: a rough indication of where to look.
"""

import json
import os
import re
import subprocess
import sys
import tomllib

with open("deny.toml", "rb") as file:
    ALLOWED = set(tomllib.load(file)["licenses"]["allow"])
SOURCE = "registry+https://github.com/rust-lang/crates.io-index"


def permitted(expression):
    """Whether a licence expression can be met with licences of the list."""
    expression = (expression or "").replace("/", " OR ")
    words = re.findall(r"\(|\)|\bAND\b|\bOR\b|[^\s()]+(?: WITH [^\s()]+)?", expression)
    # The lowest precedence first; parentheses by evaluation of the whole as a Boolean expression.
    terms = [w if w in "()" else w.lower() if w in ("AND", "OR") else str(w in ALLOWED) for w in words]
    return bool(terms) and eval(" ".join(terms), {"__builtins__": {}})  # Only the words true, false, and, or and parentheses.


def shipped(metadata, root):
    """The packages of a binary with its default features, without those of tests and benches."""
    tree = subprocess.run(["cargo", "tree", "--locked", "-p", root, "-e", "normal,build", "--prefix", "none", "--format", "{p}"],
                          capture_output=True, text=True, check=True).stdout
    named = {tuple(line.split()[:2]) for line in tree.splitlines() if line.strip()}
    found = [package for package in metadata["packages"] if (package["name"], "v" + package["version"]) in named]
    return sorted(found, key=lambda package: (package["name"], package["version"]))


def component(package, checksums):
    purl = f"pkg:cargo/{package['name']}@{package['version']}"
    found = {"type": "library", "bom-ref": purl, "name": package["name"], "version": package["version"], "purl": purl,
             "licenses": [{"expression": (package["license"] or "NOASSERTION").replace("/", " OR ")}]}
    checksum = checksums.get((package["name"], package["version"]))
    return {**found, "hashes": [{"alg": "SHA-256", "content": checksum}]} if checksum else found


def checksums_of(lock):
    with open(lock) as file:
        blocks = file.read().split("[[package]]")[1:]
    field = lambda block, name: (re.search(rf'^{name} = "(.*)"$', block, re.M) or [None, None])[1]
    return {(field(b, "name"), field(b, "version")): field(b, "checksum") for b in blocks if field(b, "checksum")}


def unsafe_words(package):
    count, folder = 0, os.path.dirname(package["manifest_path"])
    for place, folders, files in os.walk(os.path.join(folder, "src")):
        for name in files:
            if name.endswith(".rs"):
                with open(os.path.join(place, name), errors="replace") as file:
                    count += sum(len(re.findall(r"\bunsafe\b(?!_)", line.split("//")[0])) for line in file)
    return count


def main():
    arguments = sys.argv[1:]
    target = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout.split("host: ")[1].split()[0]
    metadata = json.loads(subprocess.run(["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target],
                                         capture_output=True, check=True).stdout)
    packages = shipped(metadata, "amidst-cli")
    foreign = [p for p in packages if p["source"] not in (None, SOURCE)]
    unlicensed = [p for p in packages if not permitted(p["license"])]
    own = [p for p in packages if p["source"] is None]
    print(f"{len(packages)} packages in the shipped command, {len(own)} of them of this project; {len(foreign)} from elsewhere than "
          f"crates.io; {len(unlicensed)} with a licence that is not on the list")
    for package in foreign + unlicensed:
        print(f"  {package['name']} {package['version']}: {package['license']}, {package['source']}")
    if "--unsafe" in arguments:
        counts = sorted(((unsafe_words(p), p["name"], p["version"]) for p in packages), reverse=True)
        print(f"the word unsafe: {sum(c for c, _, _ in counts)} times in {sum(c > 0 for c, _, _ in counts)} packages; "
              f"in this project's own: {sum(unsafe_words(p) for p in own)}")
        for count, name, version in counts[:12]:
            print(f"  {count:5} {name} {version}")
    if "--sbom" in arguments:
        path = arguments[arguments.index("--sbom") + 1]
        checksums = checksums_of("Cargo.lock")
        version = next(p["version"] for p in own if p["name"] == "amidst-cli")
        bom = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
               "metadata": {"component": {"type": "application", "bom-ref": "amidst", "name": "amidst", "version": version}},
               "components": [component(p, checksums) for p in packages]}
        with open(path, "w") as file:
            json.dump(bom, file, indent=1)
            file.write("\n")
        print(f"{path}: {len(packages)} components")
    return 1 if foreign or unlicensed else 0


if __name__ == "__main__":
    sys.exit(main())
