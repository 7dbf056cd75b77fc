#!/usr/bin/env python3
"""Generates the reference pages of files whose keys are the fields of types: docs/certificate.md and docs/report.md.

    python3 scripts/reference.py            fails if a page is out of date
    python3 scripts/reference.py --write    writes the pages

The meaning of a key is the comment on its field. Called by invariants.sh.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

PAGES = [
    (
        "docs/certificate.md",
        ["crates/amidst-check/src/certificate.rs"],
        "Certificate",
        "# The certificate\n\nEvery key of `certificate.json`, made from the type that the checker reads and writes "
        "(`crates/amidst-check/src/certificate.rs`); a test holds this page to it. Keys come in this order; no other key is "
        "allowed. Numbers that no JSON number says exactly are texts with a decimal or a fraction. What is proven from the "
        "release and what is only attested: [verify.md](verify.md).\n",
    ),
    (
        "docs/report.md",
        ["crates/amidst/src/report/content.rs", "crates/amidst/src/report/loss_bound.rs",
         "crates/amidst/src/report/unique_rows.rs", "crates/amidst-check/src/certificate.rs"],
        "Report",
        "# The report\n\nEvery key of `report.json`, made from the type that the pages are made from "
        "(`crates/amidst/src/report/content.rs`); a test holds this page to it. `report.html` and `report.md` tell the same "
        "figures. The public report leaves out what only the owner may know.\n",
    ),
]

WORDS = {"String": "text", "&'static str": "text", "bool": "true or false", "f64": "number", "u64": "whole number",
         "u32": "whole number", "usize": "whole number", "Map<String, Value>": "object of figures by name",
         "Figures": "object of figures by name"}


def types(source):
    """Structs and enums of a file with their comments: name -> (kind, comment, [(field, type, comment, attributes)])."""
    found = {}
    pattern = r"((?:^///[^\n]*\n)+)((?:^#\[[^\n]*\n)*)^pub (struct|enum) (\w+)(?:<[^>]*>)? \{\n(.*?)^\}"
    for comment, attributes, kind, name, body in re.findall(pattern, source, re.M | re.S):
        if "Serialize" not in attributes:
            continue
        fields, said, marks = [], [], []
        for line in body.split("\n"):
            text = line.strip()
            if text.startswith("///"):
                said.append(text[3:].strip())
            elif text.startswith("#["):
                marks.append(text)
            elif field := re.match(r"pub (\w+): (.*),$", text) if kind == "struct" else re.match(r"(\w+)(?:\((.*)\))?,$", text):
                fields.append((field[1], field[2] or "", " ".join(said), " ".join(marks)))
                said, marks = [], []
        lower = "lowercase" in attributes or "snake_case" in attributes or "kebab-case" in attributes
        found[name] = (kind, " ".join(line[3:].strip() for line in comment.strip().split("\n")), fields, lower)
    return found


def words(kind, known):
    if inner := re.fullmatch(r"Option<(.*)>", kind):
        return words(inner[1], known) + ", or null"
    if inner := re.fullmatch(r"(?:Vec<(.*)>|\[(.*); \d+\])", kind):
        return "list of " + words(inner[1] or inner[2], known)
    if inner := re.fullmatch(r"Sides<(.*)>", kind):
        return "before and after: " + words(inner[1], known)
    return WORDS.get(kind) or (f"[{kind}](#{kind.lower()})" if kind in known else f"`{kind}`")


def page(paths, root, intro):
    known = {}
    for path in reversed(paths):
        known |= types((ROOT / path).read_text(encoding="utf-8"))
    out, waiting, told = [intro], [root], set()
    while waiting:
        name = waiting.pop(0)
        if name in told:
            continue
        told.add(name)
        kind, comment, fields, lower = known[name]
        out.append(f"\n## {name}\n\n{comment}\n")
        out.append("\n| key | value | meaning |\n| --- | --- | --- |\n" if kind == "struct" else "\n| value | meaning |\n| --- | --- |\n")
        for field, of, said, marks in fields:
            said = said.replace("|", "\\|")
            if kind == "enum":
                renamed = re.search(r'rename = "([^"]+)"', marks)
                shown = f"`{renamed[1]}`" if renamed else f"`{field.lower()}`" if lower else words(of, known)
                out.append(f"| {shown} | {said} |\n")
                continue
            if "serde(skip)" in marks:
                continue
            often = " Left out where there is none." if "skip_serializing_if" in marks else ""
            if "flatten" in marks:
                field, often = "…", " Keys of their own."
            shown = words("Option<String> or list" if "as_on" in marks else of, known)
            if "as_on" in marks:
                shown = "text, list of texts, or null"
            out.append(f"| `{field}` | {shown} | {said}{often} |\n")
            waiting += [other for other in re.findall(r"\w+", of) if other in known]
    return "".join(out)


def main():
    lagging = []
    for to, paths, root, intro in PAGES:
        made, file = page(paths, root, intro), ROOT / to
        if "--write" in sys.argv[1:]:
            file.write_text(made, encoding="utf-8")
        elif not file.is_file() or file.read_text(encoding="utf-8") != made:
            lagging.append(to)
    for to in lagging:
        print(f"{to} lags behind the source: python3 scripts/reference.py --write", file=sys.stderr)
    return 1 if lagging else 0


if __name__ == "__main__":
    sys.exit(main())
