#!/usr/bin/env python3
"""Wraps comment lines above 120 columns in the given files: the excess moves to the next line of the paragraph.

Tables, code, link targets and lines that cannot be broken outside of code and links are unchanged.
"""

import re
import sys
from pathlib import Path

WIDTH = 120
# Starts of lines into which no previous line is wrapped.
BEGINS = re.compile(r"^\s*([-*] |[|#>]|\d+\.|```)")


def parts(line):
    """The marker of a comment and its text; `(None, "")` for other lines."""
    found = re.match(r"^(\s*//[/!]?) ?(.*)$", line)
    return (found[1], found[2]) if found else (None, "")


def place(text, room):
    """The position at which a text is broken: the last space outside of code and links."""
    at = text.rfind(" ", 0, room + 1)
    while at > 0 and (text[:at].count("`") % 2 or text[:at].count("[") > text[:at].count("]")):
        at = text.rfind(" ", 0, at)
    return at


def wrap(lines):
    code = False
    at = 0
    while at < len(lines):
        mark, text = parts(lines[at])
        if mark is None:
            code = False
        elif text.strip().startswith("```"):
            code = not code
        fixed = code or text.lstrip().startswith("|") or re.match(r"\s*\[[^\]]+\]: ", text)
        cut = place(text, WIDTH - len(mark) - 1) if mark and len(lines[at]) > WIDTH and not fixed else 0
        if cut > 20:
            item = re.match(r"^(\s*(?:[-*]|\d+\.) )", text)
            indent = " " * len(item[1]) if item else re.match(r"^\s*", text)[0]
            lines[at] = f"{mark} {text[:cut]}"
            rest = f"{mark} {indent}{text[cut:].lstrip()}"
            following, more = parts(lines[at + 1]) if at + 1 < len(lines) else (None, "")
            goes_on = following == mark and more.strip() and not BEGINS.match(more) and re.match(r"^\s*", more)[0] == indent
            if goes_on:
                lines[at + 1] = f"{rest} {more.lstrip()}"
            else:
                lines.insert(at + 1, rest)
        at += 1
    return lines


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name)
        before = path.read_text(encoding="utf-8")
        after = "\n".join(wrap(before.split("\n")))
        if after != before:
            path.write_text(after, encoding="utf-8")
