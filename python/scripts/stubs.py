"""Makes `amidst/_constructors.pyi` from the registries of the installed package: python scripts/stubs.py [--check]."""

from __future__ import annotations

import inspect
import sys
import textwrap
from pathlib import Path
from typing import Any

from amidst import _constructors as made

STUB = Path(__file__).parent.parent / "amidst" / "_constructors.pyi"

HEAD = '''"""Constructors of models, hierarchies, algorithms, metrics and attacks.

Made from the registries by scripts/stubs.py; do not edit.
"""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ._values import Algorithm, Attack, Hierarchy, Metric, Number, Requirement

REGISTRIES: dict[str, Any]

def identifier(name: str) -> str: ...
def example(builder: dict[str, Any]) -> Any: ...
def shape(builder: dict[str, Any]) -> str: ...
def parameters_of(entry: dict[str, Any]) -> list[tuple[str, inspect.Parameter]]: ...
def hierarchy_parameters(builder: dict[str, Any]) -> list[inspect.Parameter]: ...
'''

TYPES = {
    "count": "int",
    "counts": "int | Sequence[int]",
    "number": "Number",
    "flag": "bool",
    "value": "str",
    "values": "Sequence[str]",
    "bounds": "Mapping[str, Number]",
    "categories": "Sequence[Sequence[str]]",
    "weights": "str | Mapping[str, Number] | Sequence[Number]",
    "population": "Any",
}


def type_of(parameter: dict[str, Any]) -> str:
    if parameter["kind"] == "choice":
        return f"Literal[{', '.join(repr(word) for word in parameter['choices'])}]"
    return TYPES[parameter["kind"]]


def type_like(value: Any) -> str:
    """The type of an option of a hierarchy, by its example."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, (int, float)):
        return "Number"
    if isinstance(value, list):
        return f"Sequence[{type_like(value[0])}]"
    return "str"


def stated(name: str, kind: str, default: Any) -> str:
    return f"{name}: {kind}" if default is inspect.Parameter.empty else f"{name}: {kind} | None = None"


def function(entry: dict[str, Any], arguments: list[str], kind: str) -> str:
    name = made.identifier(entry["id"])
    lines = [f"def {name}({', '.join(arguments)}) -> {kind}:"]
    doc = inspect.getdoc(getattr(made, name)) or ""
    if "\\" in doc or '"""' in doc:
        raise ValueError(f"the docstring of {name} needs escapes")
    lines.append(textwrap.indent(f'"""{doc}\n"""', "    "))
    return "\n".join(lines) + "\n"


def with_parameters(entry: dict[str, Any], kind: str) -> str:
    by_name = {p["name"]: p for p in entry["parameters"]}
    arguments = [stated(p.name, type_of(by_name[name]), p.default) for name, p in made.parameters_of(entry)]
    if entry.get("sensitive", "none") != "none":
        arguments += ["*", "on: str | Sequence[str] | None = None"]
    return function(entry, arguments, kind)


def hierarchy(builder: dict[str, Any]) -> str:
    from amidst._amidst import Document

    whole = Document((f"hierarchy = {builder['example']}", None)).get(["hierarchy"])
    own = whole[builder["id"]]
    arguments = []
    for parameter in made.hierarchy_parameters(builder):
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            element = type_like(own[0])
            arguments.append(f"*values: {element}" if isinstance(own[0], list) else f"*values: {element} | Sequence[{element}]")
            continue
        key = parameter.name.rstrip("_")
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            if not any(a.startswith("*") for a in arguments):
                arguments.append("*")
            value = whole.get(key, "")
        else:
            value = own.get(key, own) if isinstance(own, dict) else own
        kind = "Mapping[str, Any] | str" if isinstance(value, dict) else type_like(value)
        arguments.append(stated(parameter.name, kind, parameter.default))
    return function(builder, arguments, "Hierarchy")


def stub() -> str:
    parts = [HEAD]
    for registry, kind in (
        ("models", "Requirement"), ("hierarchies", "Hierarchy"), ("algorithms", "Algorithm"), ("metrics", "Metric"),
        ("attacks", "Attack"),
    ):  # fmt: skip
        for entry in made.REGISTRIES[registry]:
            parts.append(hierarchy(entry) if registry == "hierarchies" else with_parameters(entry, kind))
    names = "".join(f"    {name!r},\n" for name in made.__all__).replace("'", '"')
    parts.append(f"__all__ = [\n{names}]\n")
    return "\n".join(parts)


def main() -> None:
    text = stub()
    if "--check" in sys.argv:
        if STUB.read_text(encoding="utf-8") != text:
            sys.exit(f"{STUB.name} does not fit the registries; run python scripts/stubs.py")
    else:
        STUB.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
