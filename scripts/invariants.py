#!/usr/bin/env python3
"""Checks what STYLE.md and GLOSSARY.md state about the source, as far as a program can. Called by invariants.sh.

- No file above 500 lines and no function above 80, outside tests: in Rust, and in the Python package. What is compiled
  for tests only is told by `#[cfg(test)]`, not by names.
- Comments end at the width that rustfmt.toml states (`scripts/wrap_comments.py FILE...` wraps them).
- Registries are the only lists: no other file, those of the other registries included, holds the id of a model, algorithm,
  metric, attack or hierarchy builder as a text of its own.
- Libraries do not know the command line: none of their texts names one of its flags or commands.
- The façade holds JSON values in `json` and `json_output` only.
- Risk and attacks use neither models nor algorithms.
- What the glossary says is in the code is there.

`invariants.py --self-test` shows that each of them can fail.
"""

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINES, FUNCTION, WIDTH = 500, 80, 120
CORE = ROOT / "crates/amidst-core/src"
REGISTRIES = {"model": "model", "algorithm": "algorithm", "metric": "metric", "attack": "attack", "hierarchy/builder": "hierarchy builder"}
# Ids that are words of everyday, too: they count where they are compared or looked up.
EVERYDAY = {"belief", "difference", "height", "inference", "intersection", "loss", "optimal", "precision", "similarity"}
# Ids of builders that are other keys or values of a policy, too: they count where an id or a key of a recipe is compared with them.
OTHER_KEYS = {"file", "mask", "order", "ranges"}

# Files in which an id stands for a choice of the program itself, or for a second, independent definition.
MAY_NAME = {
    "crates/amidst-check/src",  # The checker knows nothing of the registries, on purpose.
    "crates/amidst-reproduce/src",  # Experiments of papers, each about the models and algorithms that it names.
    "crates/amidst/src/policy/constructors.rs",  # Typed constructors: `k_anonymity(5)`.
}
# Crates whose messages are shown at a terminal, in Python and on a page: `Remedy` says what can be done, and each front
# end words it.
LIBRARIES = ("crates/amidst/", "crates/amidst-core/", "crates/amidst-io/", "crates/amidst-check/")
FLAG = re.compile(r'(?<![\w(-])--[a-z][a-z-]+|`amidst (?!verify`)[a-z]+ [^`]*--')
# Files of the façade that may hold JSON values; everywhere else they are types, which these modules convert.
FACADE, MAY_HOLD_JSON = "crates/amidst/src/", ("crates/amidst/src/json.rs", "crates/amidst/src/json_output/")
JSON_NAME = r"(?:Value|Map|Number|value|map|json|to_value|from_value)\b"
JSON_VALUE = re.compile(rf"\bserde_json::(?:{JSON_NAME}|\*|\{{[^}}]*\b{JSON_NAME})|\bserde_json as\b|\bjson!")


# Comments, texts and characters of Rust; a lifetime is no character.
SPANS = re.compile(r"""//[^\n]*|/\*.*?\*/|\bb?r(#*)".*?"\1|b?"(?:[^"\\]|\\.)*"|b?'(?:[^'\\\n]|\\[^\n]{1,12}?)'""", re.S)


def blanked(text, texts=False):
    """The source without comments, and without what is in texts if they are to go, too; lines stay where they are."""
    gone = lambda found: re.sub(r"[^\n]", " ", found[0])
    return SPANS.sub(lambda found: gone(found) if texts or found[0].startswith(("//", "/*")) else found[0], text)


def end_of_item(bare, at):
    """Where the item that begins at `at` ends: with a semicolon or with its braces, outside of parentheses; a field, with
    those of its struct."""
    depth = 0
    for i in range(at, len(bare)):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(bare[i], 0)
        if depth < 0:
            return i
        if depth == 0 and bare[i] in ";}":
            return i + 1
    return len(bare)


def production(path):
    """The source of a file without comments and without what is compiled for tests only, twice: with its texts, and bare."""
    text = path.read_text(encoding="utf-8")
    code, bare = blanked(text), blanked(text, texts=True)
    for found in re.finditer(r"#\[cfg\(test\)\]", bare):
        end = end_of_item(bare, found.end())
        gone = re.sub(r"[^\n]", " ", bare[found.start() : end])
        code, bare = code[: found.start()] + gone + code[end:], bare[: found.start()] + gone + bare[end:]
    return code, bare


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def is_test(path):
    """Whether a file is compiled for tests only: it is in a folder of tests or benches, or so declared where it is named."""
    folders = path.relative_to(ROOT).parts
    if "src" not in folders or path.name in ("lib.rs", "main.rs"):
        return "src" not in folders
    module, parent = (path.parent, path.parent.parent) if path.name == "mod.rs" else (path.with_suffix(""), path.parent)
    above = [parent / name for name in ("mod.rs", "lib.rs", "main.rs")] + [parent.with_suffix(".rs")]
    declared = rf"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([a-z :]+\))? )?mod {module.name}\s*;"
    above = [file for file in above if file.is_file()]
    return any(re.search(declared, blanked(file.read_text(encoding="utf-8"))) for file in above) or any(map(is_test, above))


def functions(bare):
    """Name, first line and length of each function."""
    for found in re.finditer(r"\bfn (\w+)", bare):
        first = line_of(bare, found.start())
        yield found[1], first, line_of(bare, end_of_item(bare, found.end())) - first + 1


def ids():
    found = {}
    for folder, kind in REGISTRIES.items():
        for path in (CORE / folder).glob("*.rs"):
            if path.name != "mod.rs":
                found[path.stem.replace("_", "-")] = kind
    return found


def texts(code):
    """The texts of a source, each with the line on which it begins."""
    for found in re.finditer(r'\bb?r(#*)"(.*?)"\1|"((?:[^"\\]|\\.)*)"', code, re.S):
        yield line_of(code, found.start()), found[2] or found[3] or ""


def json_values(code):
    """The lines of a source that name a JSON value, with that name."""
    for found in JSON_VALUE.finditer(code):
        yield line_of(code, found.start()), " ".join(found[0].split())


def named_ids(code, known):
    """The lines of a source that hold the id of something in a registry as a text, with that id. Keys of JSON do not count."""
    for found in re.finditer(r'"([a-z0-9-]+)"', code):
        before, after = code[: found.start()].rstrip()[-60:], code[found.end() :].lstrip()[:20]
        compared = re.search(r"(?:[=!]=|\||: &str =|(?:find|contains|matches!)\([^;{}]*)$", before) or re.match(r"=>|\||[=!]=", after)
        if found[1] in OTHER_KEYS and not re.search(r"\b(?:id|key)(?:\.as_str\(\))? [=!]=$", before):
            continue
        if found[1] in known and not after.startswith(":") and (found[1] not in EVERYDAY or compared):
            yield line_of(code, found.start()), found[1]


def rust(path, name, known):
    """What is wrong with a file of Rust that is not for tests."""
    code, bare = production(path)
    lines = path.read_text(encoding="utf-8").count("\n")
    if lines > LINES:
        yield f"{name}: {lines} lines"
    for function, number, length in functions(bare):
        if length > FUNCTION:
            yield f"{name}:{number}: `{function}` has {length} lines"
    if name.startswith(LIBRARIES):
        for number, text in texts(code):
            if flag := FLAG.search(text):
                yield f"{name}:{number}: a text names `{flag[0]}` of the command line; use `Remedy`"
    if name.startswith(FACADE) and not name.startswith(MAY_HOLD_JSON):
        for number, text in json_values(bare):
            yield f"{name}:{number}: holds JSON (`{text}`); use a type, and tell it in `json_output`"
    if name.startswith(("crates/amidst-core/src/risk/", "crates/amidst-core/src/attack/")):
        for found in re.finditer(r"\b(?:crate|super)::(?:\{[^;]*?\b)?(model|algorithm)\b", bare):
            yield f"{name}:{line_of(bare, found.start())}: uses `{found[1]}`, which it should be able to convict"
    if not name.startswith(tuple(MAY_NAME)):
        own = {kind for folder, kind in REGISTRIES.items() if name.startswith(f"crates/amidst-core/src/{folder}/")}
        for number, text in named_ids(code, {id: kind for id, kind in known.items() if kind not in own}):
            yield f"{name}:{number}: names the {known[text]} `{text}`; ask the trait, or the registry"


def python(path, name):
    """What is wrong with a file of the Python package."""
    text = path.read_text(encoding="utf-8")
    if text.count("\n") > LINES:
        yield f"{name}: {text.count(chr(10))} lines"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.end_lineno - node.lineno + 1 > FUNCTION:
            yield f"{name}:{node.lineno}: `{node.name}` has {node.end_lineno - node.lineno + 1} lines"


def glossary(sources):
    """Words of the glossary whose place in the code is not there."""
    for line in (ROOT / "GLOSSARY.md").read_text(encoding="utf-8").split("\n"):
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) == 6 and cells[1] not in ("word", "---"):
            for path in re.findall(r"`([^`]+)`", cells[4]):
                last = path.split("::")[-1]
                declared = rf"\b(struct|enum|fn|type|trait|const|static|mod) {re.escape(last)}\b|\bpub {re.escape(last)}:|^ +{re.escape(last)}[,({{]"
                if not re.search(declared, sources, re.M) and not (ROOT / "crates" / last).is_dir():
                    yield f"GLOSSARY.md: `{path}` of `{cells[1]}` is not in the code"


def self_test():
    """Files that break each rule, some of them as if by design; all must be found."""
    import tempfile

    long = "fn long() {\n" + "    work();\n" * 80 + "}\n"
    cases = {
        "`long` has 82 lines": ["#[cfg(test)]\nmod tests;\n" + long, "#[cfg(test)]\nuse a::{b, c};\n" + long, "fn f() {\n    S {\n        #[cfg(test)]\n        a: b(),\n    }\n}\n" + long, long.replace("work();\n", 'f(r"\n}\n");\n', 1).replace("    work();\n", "", 2)],
        "holds JSON": ["use serde_json::Value;\n", "use serde_json::{\n    Map, Number,\n};\n", "#[cfg(test)]\nmod t;\nfn f() { ::serde_json::json!({}) }\n"],
        "names the model": ['const WANTED: &str = "k-anonymity";\n', 'fn f(id: &str) -> bool {\n    matches!(\n        id,\n        "k-anonymity"\n    )\n}\n'],
        "names the hierarchy builder": ['const TAXONOMY: &str = "taxonomy";\n', 'fn f(key: &str) -> bool {\n    key == "mask"\n}\n', 'const FILES: [&str; 2] = ["file", "taxonomy"];\n'],
        "names the metric": ['fn f(id: &str) -> bool {\n    id\n        == "loss"\n}\n', 'const M: &str = "loss";\n'],
        "names `--out`": ['fn f() -> &str { "give --out" }\n'],
    }
    unseen = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.rs"
        for wanted, sources in cases.items():
            for source in sources:
                path.write_text(source, encoding="utf-8")
                if not any(wanted in line for line in rust(path, "crates/amidst/src/a.rs", ids())):
                    unseen.append(f"not seen ({wanted}): {source[:200]}")
        path.write_text('fn f(id: &str) -> bool {\n    id == "height" || id == "samarati"\n}\n', encoding="utf-8")
        found = [line.split("names ")[-1] for line in rust(path, "crates/amidst-core/src/algorithm/a.rs", ids())]
        if found != ["the metric `height`; ask the trait, or the registry"]:
            unseen.append(f"not seen: an algorithm that names a metric ({found})")
        path.write_text("use crate::{class, model::Entry};\n", encoding="utf-8")
        if not any("convict" in line for line in rust(path, "crates/amidst-core/src/risk/a.rs", ids())):
            unseen.append("not seen: risk that uses a model")
        path.write_text("fn short() {}\n#[cfg(test)]\nmod tests {\n" + long + 'const A: &str = "k-anonymity";\n}\n', encoding="utf-8")
        unseen += list(rust(path, "crates/amidst/src/a.rs", ids()))
    return unseen


def main():
    if "--self-test" in sys.argv:
        wrong = self_test()
    else:
        wrong, known = [], ids()
        for path in sorted([*ROOT.glob("crates/*/**/*.rs"), *ROOT.glob("python/src/**/*.rs")]):
            name = path.relative_to(ROOT).as_posix()
            for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
                if len(line) > WIDTH and re.match(r"\s*//", line):
                    wrong.append(f"{name}:{number}: a comment wider than {WIDTH} columns")
            if not is_test(path):
                wrong.extend(rust(path, name, known))
        for path in sorted(ROOT.glob("python/amidst/*.py")):
            wrong.extend(python(path, path.relative_to(ROOT).as_posix()))
        wrong.extend(glossary("\n".join(p.read_text(encoding="utf-8") for p in ROOT.glob("crates/*/src/**/*.rs"))))
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
