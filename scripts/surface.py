#!/usr/bin/env python3
"""Counts the documented public items of a crate; hidden items do not count.

    python3 scripts/surface.py FOLDER_OF_PAGES CRATE [MOST]

Reads the output of `cargo doc`: items (types, traits, functions, constants) from `all.html`, methods and associated functions
from the pages of types. Fails if there are more items than MOST.
"""

import re
import sys
from pathlib import Path


def count(pages):
    items = re.findall(r'<li><a href="([^"]+)">', (pages / "all.html").read_text(encoding="utf-8"))
    methods = 0
    for item in items:
        page = (pages / item).read_text(encoding="utf-8")
        # Methods of the type itself; those of traits count for the traits.
        own = page.split('id="trait-implementations"')[0]
        methods += len(set(re.findall(r'<section id="((?:ty)?method\.[^"]+)"', own)))
    return len(items), methods


def main():
    folder, crate, most = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else None
    items, methods = count(folder / crate)
    print(f"{crate}: {items} documented items, {methods} methods")
    if most is not None and items > most:
        print(f"{crate}: {items} documented items, at most {most} are promised; hide internals", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
