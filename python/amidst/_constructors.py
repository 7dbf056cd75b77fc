"""Constructors of models, hierarchies, algorithms, metrics and attacks, all made from the registries of the library.

A model that the library gains is here with its parameters and its docstring; `_constructors.pyi` is made from the same
registries by `scripts/stubs.py`, and a test compares the two.
"""

from __future__ import annotations

import inspect
import json
import keyword
from collections.abc import Callable
from typing import Any

from ._amidst import Document, registries
from ._values import Algorithm, Attack, Hierarchy, Metric, Requirement

#: The registries, as the library has them.
REGISTRIES: dict[str, Any] = json.loads(registries())

_EMPTY = inspect.Parameter.empty
_ANY = inspect.Parameter.POSITIONAL_OR_KEYWORD
_NAMED = inspect.Parameter.KEYWORD_ONLY
_MANY = inspect.Parameter.VAR_POSITIONAL


def identifier(name: str) -> str:
    """A name of a registry as Python can say it."""
    name = name.replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


def example(builder: dict[str, Any]) -> Any:
    """What the example of a hierarchy builder gives to the builder itself."""
    return Document((f"hierarchy = {builder['example']}", None)).get(["hierarchy", builder["id"]])


def shape(builder: dict[str, Any]) -> str:
    """How a hierarchy is stated: `many` values, `named` ones, a `tree`, one `text`, or `nothing`."""
    value = example(builder)
    if isinstance(value, list):
        return "many"
    if isinstance(value, dict):
        return "tree" if any(isinstance(v, (dict, list)) for v in value.values()) else "named"
    return "nothing" if isinstance(value, bool) else "text"


def parameters_of(entry: dict[str, Any]) -> list[tuple[str, inspect.Parameter]]:
    """The parameters of a constructor with their names in policies: the required ones first."""
    ordered = sorted(entry["parameters"], key=lambda p: not p["required"])
    return [
        (p["name"], inspect.Parameter(identifier(p["name"]), _ANY, default=_EMPTY if p["required"] else None))
        for p in ordered
    ]


def _doc(entry: dict[str, Any]) -> str:
    lines = [entry.get("title") or entry["id"], "", entry["definition"]]
    if entry.get("assumes"):
        lines += ["", f"The adversary knows {entry['assumes']}."]
    if entry.get("parameters"):
        lines += ["", "Parameters:"]
        lines += [f"    {identifier(p['name'])}: {p['help']}" for p in entry["parameters"]]
    if entry.get("example"):
        lines += ["", f"In a policy: hierarchy = {entry['example']}"]
    if entry.get("citation"):
        lines += ["", f"Source: {entry['citation']}"]
    return "\n".join(lines)


def _finished(
    function: Callable[..., Any], entry: dict[str, Any], parameters: list[inspect.Parameter], kind: type
) -> Callable[..., Any]:
    name = identifier(entry["id"])
    function.__name__ = function.__qualname__ = name
    function.__module__ = "amidst"
    function.__doc__ = _doc(entry)
    function.__signature__ = inspect.Signature(parameters, return_annotation=kind)  # type: ignore[attr-defined]
    return function


def _bound(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    try:
        bound = inspect.signature(function).bind(*args, **kwargs).arguments
    except TypeError as error:
        raise TypeError(f"{function.__name__}(): {error}") from None
    return {name: value for name, value in bound.items() if value is not None}


def _model(entry: dict[str, Any]) -> Callable[..., Requirement]:
    parameters = parameters_of(entry)
    names = {p.name: name for name, p in parameters}

    def make(*args: Any, **kwargs: Any) -> Requirement:
        bound = _bound(make, args, kwargs)
        on = bound.pop("on", None)
        return Requirement(entry["id"], {names[key]: value for key, value in bound.items()}, on)

    stated = [p for _, p in parameters]
    if entry["sensitive"] != "none":
        stated.append(inspect.Parameter("on", _NAMED, default=None))
    return _finished(make, entry, stated, Requirement)


def _with_options(entry: dict[str, Any], kind: type) -> Callable[..., Any]:
    parameters = parameters_of(entry)
    names = {p.name: name for name, p in parameters}

    def make(*args: Any, **kwargs: Any) -> Any:
        return kind(entry["id"], {names[key]: value for key, value in _bound(make, args, kwargs).items()})

    return _finished(make, entry, [p for _, p in parameters], kind)


def hierarchy_parameters(builder: dict[str, Any]) -> list[inspect.Parameter]:
    """The parameters of the constructor of a hierarchy."""
    options = [inspect.Parameter(identifier(name), _NAMED, default=None) for name in builder["options"]]
    value = example(builder)
    stated = {
        "many": [inspect.Parameter("values", _MANY)],
        "tree": [inspect.Parameter("tree", _ANY)],
        "text": [inspect.Parameter("path", _ANY)],
        "nothing": [],
        "named": [inspect.Parameter(identifier(name), _ANY, default=None) for name in value]
        if isinstance(value, dict)
        else [],
    }
    return stated[shape(builder)] + options


def _hierarchy(builder: dict[str, Any]) -> Callable[..., Hierarchy]:
    id, how = builder["id"], shape(builder)
    options = {identifier(name): name for name in builder["options"]}

    def make(*args: Any, **kwargs: Any) -> Hierarchy:
        bound = _bound(make, args, kwargs)
        beside = {options[key]: bound.pop(key) for key in list(bound) if key in options}
        if how == "many":
            values = list(bound.get("values", ()))
            nested = isinstance(example(builder)[0], list)
            # A list of widths is as good as the widths.
            if len(values) == 1 and isinstance(values[0], (list, tuple)) and not nested:
                values = list(values[0])
            own: Any = values
        elif how == "named":
            own = {key.rstrip("_"): value for key, value in bound.items()}
        elif how == "nothing":
            own = True
        else:
            own = next(iter(bound.values()))
        return Hierarchy(id, {id: own, **beside})

    return _finished(make, builder, hierarchy_parameters(builder), Hierarchy)


def _all() -> dict[str, Callable[..., Any]]:
    made: dict[str, Callable[..., Any]] = {}
    for registry, make in (
        ("models", _model),
        ("hierarchies", _hierarchy),
        ("algorithms", lambda entry: _with_options(entry, Algorithm)),
        ("metrics", lambda entry: _with_options(entry, Metric)),
        ("attacks", lambda entry: _with_options(entry, Attack)),
    ):
        for entry in REGISTRIES[registry]:
            made[identifier(entry["id"])] = make(entry)
    return made


_MADE = _all()
globals().update(_MADE)
__all__ = sorted(_MADE)  # pyright: ignore[reportUnsupportedDunderAll]
