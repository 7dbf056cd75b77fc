#!/usr/bin/env python3
"""Checks what STYLE.md and GLOSSARY.md state about the source, as far as a program can. Called by invariants.sh.

- No file above 500 lines and no function above 80, outside tests and tables.
- Comments end at the width that rustfmt.toml states (`scripts/wrap_comments.py FILE...` wraps them).
- Registries are the only lists: no other file holds the id of a model, algorithm, metric or attack as a text of its own.
- Libraries do not know the command line: none of their texts names one of its flags or commands.
- The façade holds JSON values in `json` and `json_output` only.
- What the glossary says is in the code is there.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINES, FUNCTION, WIDTH = 500, 80, 120
CORE = ROOT / "crates/amidst-core/src"
REGISTRIES = ["model", "algorithm", "metric", "attack"]

# Files in which an id stands for a choice of the program itself, or for a second, independent definition.
MAY_NAME = {
    "crates/amidst-check/src",  # The checker knows nothing of the registries, on purpose.
    "crates/amidst-reproduce/src",  # Experiments of papers, each about the models and algorithms that it names.
    "crates/amidst/src/policy/constructors.rs",  # Typed constructors: `k_anonymity(5)`.
}
# Crates whose messages are shown at a terminal, in Python and on a page: `Remedy` says what can be done, and each front
# end words it.
LIBRARIES = ("crates/amidst/", "crates/amidst-core/", "crates/amidst-io/", "crates/amidst-check/")
FLAG = re.compile(r'(?<![\w-])--[a-z][a-z-]+|`amidst (?!verify`)[a-z]+ [^`]*--')
# Files of the façade that may hold JSON values; everywhere else they are types, which these modules convert.
FACADE, MAY_HOLD_JSON = "crates/amidst/src/", ("crates/amidst/src/json.rs", "crates/amidst/src/json_output/")
JSON_NAME = r"(?:Value|Map|Number|value|map|json|to_value|from_value)\b"
JSON_VALUE = re.compile(rf"\bserde_json::(?:{JSON_NAME}|\*|\{{[^}}]*\b{JSON_NAME})|\bserde_json as\b|\bjson!")
DEFAULTS = re.compile(r"\bconst [A-Z_]+: (?:&(?:'static )?str|\[&str; \d+\]) =")


def production(path):
    """The lines of a file before its tests, with their numbers."""
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if line == "#[cfg(test)]" or re.match(r"(pub(\([a-z]+\))? )?mod (tests|fixture) \{", line):
            return
        yield number, line


def is_test(path):
    parts = path.relative_to(ROOT).parts
    return any(part in ("tests", "benches", "fixture") for part in parts) or re.search(r"(^|_)tests?\.rs$|fixture\.rs$", path.name)


def functions(lines):
    """Name, first line and length of each function in the layout of rustfmt."""
    lines = list(lines)
    for at, (number, line) in enumerate(lines):
        found = re.match(r"^(\s*)(?:pub(?:\([^)]*\))? )?(?:const |async |unsafe )*fn (\w+)", line)
        if not found:
            continue
        for end, (last, text) in enumerate(lines[at:]):
            if text == found[1] + "}" or (end == 0 and text.rstrip().endswith(("}", ";"))) or text.strip() == ";":
                yield found[2], number, last - number + 1
                break
            if end and text.startswith(found[1]) and re.match(r"\s*(pub |fn )", text) and len(text) - len(text.lstrip()) <= len(found[1]):
                break


def ids():
    found = {}
    for registry in REGISTRIES:
        for path in (CORE / registry).glob("*.rs"):
            if path.name != "mod.rs":
                found[path.stem.replace("_", "-")] = registry
    return found


def texts(path):
    """The string literals of a file, tests and comments left out, each with the line on which it begins."""
    lines = list(production(path))
    code = "\n".join("" if re.match(r"\s*//", line) else line for _, line in lines)
    for found in re.finditer(r'r(#*)"(.*?)"\1|"((?:[^"\\]|\\.)*)"', code, re.S):
        yield code.count("\n", 0, found.start()) + 1, found[2] or found[3] or ""


def json_values(path):
    """The lines of a file, tests and comments left out, that name a JSON value, with that name."""
    code = "\n".join(re.sub(r"(^|\s)//.*", "", line) for _, line in production(path))
    for found in JSON_VALUE.finditer(code):
        yield code.count("\n", 0, found.start()) + 1, " ".join(found[0].split())


def main():
    wrong = []
    known = ids()
    for path in sorted([*ROOT.glob("crates/*/src/**/*.rs"), *ROOT.glob("python/src/**/*.rs")]):
        name = path.relative_to(ROOT).as_posix()
        text = path.read_text(encoding="utf-8")
        for number, line in enumerate(text.split("\n"), 1):
            if len(line) > WIDTH and re.match(r"\s*//", line):
                wrong.append(f"{name}:{number}: a comment wider than {WIDTH} columns")
        if is_test(path):
            continue
        if text.count("\n") > LINES:
            wrong.append(f"{name}: {text.count(chr(10))} lines")
        for function, number, length in functions(production(path)):
            if length > FUNCTION:
                wrong.append(f"{name}:{number}: `{function}` has {length} lines")
        if name.startswith(LIBRARIES):
            for number, text in texts(path):
                if flag := FLAG.search(text):
                    wrong.append(f"{name}:{number}: a text names `{flag[0]}` of the command line; use `Remedy`")
        if name.startswith(FACADE) and not name.startswith(MAY_HOLD_JSON):
            for number, text in json_values(path):
                wrong.append(f"{name}:{number}: holds JSON (`{text}`); use a type, and tell it in `json_output`")
        if any(name.startswith(place) for place in MAY_NAME) or any(name.startswith(f"crates/amidst-core/src/{r}/") for r in REGISTRIES):
            continue
        for number, line in production(path):
            if re.match(r"\s*//", line) or DEFAULTS.search(line):
                continue
            for text in re.findall(r'"([a-z0-9-]+)"', line):
                if text in known and ("-" in text or re.search(r"==|=>|matches!|find\(|contains", line)):
                    wrong.append(f"{name}:{number}: names the {known[text]} `{text}`; ask the trait, or the registry")
    sources = "\n".join(p.read_text(encoding="utf-8") for p in ROOT.glob("crates/*/src/**/*.rs"))
    for line in (ROOT / "GLOSSARY.md").read_text(encoding="utf-8").split("\n"):
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) == 6 and cells[1] not in ("word", "---"):
            for path in re.findall(r"`([^`]+)`", cells[4]):
                last = path.split("::")[-1]
                declared = rf"\b(struct|enum|fn|type|trait|const|static|mod) {re.escape(last)}\b|\bpub {re.escape(last)}:|^ +{re.escape(last)}[,({{]"
                if not re.search(declared, sources, re.M) and not (ROOT / "crates" / last).is_dir():
                    wrong.append(f"GLOSSARY.md: `{path}` of `{cells[1]}` is not in the code")
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
