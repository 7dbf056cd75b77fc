#!/usr/bin/env python3
"""Checks licences, sources and Rust versions of all dependencies against deny.toml and the manifests.

Needs cargo and Python 3.11, and no network if the crates are already downloaded. Prints what is wrong and exits with 1.
"""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def alternatives(expression):
    """The alternatives of a licence expression, each a set of licences that must all be accepted."""
    # Old crates write a slash for "or".
    tokens = re.findall(r"\(|\)|[^\s()]+", expression.replace("/", " OR "))

    def one_of():
        ways = all_of()
        while tokens and tokens[0] == "OR":
            tokens.pop(0)
            ways = ways + all_of()
        return ways

    def all_of():
        ways = single()
        while tokens and tokens[0] == "AND":
            tokens.pop(0)
            more = single()
            ways = [a | b for a in ways for b in more]
        return ways

    def single():
        token = tokens.pop(0)
        if token == "(":
            ways = one_of()
            tokens.pop(0)
            return ways
        if tokens[:1] == ["WITH"]:
            tokens.pop(0)
            token += " WITH " + tokens.pop(0)
        return [frozenset([token])]

    return one_of()


def version(text):
    numbers = [int(part) for part in (text or "0").split(".")]
    return tuple(numbers + [0] * (3 - len(numbers)))


def main():
    stated = tomllib.loads((ROOT / "deny.toml").read_text(encoding="utf-8"))
    allowed = set(stated["licenses"]["allow"])
    sources = {"registry+" + url for url in stated["sources"]["allow-registry"]}
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", stated["graph"]["targets"][0]]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if found.returncode:
        sys.exit(f"cargo metadata failed: {found.stderr.strip()}")
    metadata = json.loads(found.stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    members = set(metadata["workspace_members"])
    wrong = []
    for package in packages.values():
        name = f"{package['name']} {package['version']}"
        if package["id"] not in members and package["source"] not in sources:
            wrong.append(f"{name} comes from {package['source']}, which deny.toml does not list")
        if not package["license"]:
            wrong.append(f"{name} states no licence")
        elif not any(way <= allowed for way in alternatives(package["license"])):
            wrong.append(f"{name} is under {package['license']}, which deny.toml does not allow")
        for dependency in package["dependencies"] if package["id"] in members else []:
            if dependency["req"] == "*" and not dependency.get("path"):
                wrong.append(f"{name} asks for any version of {dependency['name']}")
    # The Rust version that a crate states must not be below that of its dependencies.
    edges = {
        node["id"]: [d["pkg"] for d in node["deps"] if any(kind["kind"] in (None, "build") for kind in d["dep_kinds"])]
        for node in metadata["resolve"]["nodes"]
    }
    for member in sorted(members):
        seen, todo = set(), [member]
        while todo:
            here = todo.pop()
            if here not in seen:
                seen.add(here)
                todo.extend(edges.get(here, []))
        most = max(seen, key=lambda id: version(packages[id]["rust_version"]))
        own, needed = packages[member]["rust_version"], packages[most]["rust_version"]
        if version(own) < version(needed):
            wrong.append(f"{packages[member]['name']} says Rust {own}, but {packages[most]['name']} needs {needed}")
    for line in wrong:
        print(line, file=sys.stderr)
    print(f"{len(packages)} packages: licences, sources and Rust versions looked at, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
