"""Policies: what the columns of a table are, and what a release of it must satisfy."""

from __future__ import annotations

import html
import os
from collections.abc import Iterable, Iterator, Mapping, MutableSequence, Sequence
from difflib import get_close_matches
from typing import Any, Union, overload

from ._amidst import Document, check
from ._constructors import REGISTRIES
from ._errors import DataError, PolicyError
from ._values import Algorithm, Hierarchy, LentAddress, Metric, Number, Requirement, addresses_in, plain

_HIERARCHIES = [builder["id"] for builder in REGISTRIES["hierarchies"]]

#: Columns of one role: a name, several, or names with what else is said of each.
Columns = Union[str, Sequence[str], Mapping[str, Union[Hierarchy, Mapping[str, Any], None]]]


def nearest(word: object, words: Iterable[str]) -> str:
    """What may have been meant, as the end of a message."""
    found = get_close_matches(str(word), [name for name in words if not name.startswith("_")], 1)
    return f"; did you mean {found[0]!r}?" if found else ""


class _FixedAttributes:
    """An object that takes no attributes but its own: assigning to a misspelt one is an error."""

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> None:
        try:
            object.__setattr__(self, name, value)
        except AttributeError:
            kind = type(self).__name__
            if name in dir(self):
                raise AttributeError(f"{name!r} of a {kind} cannot be assigned") from None
            raise AttributeError(f"a {kind} has no {name!r}{nearest(name, dir(self))}") from None


class Column(_FixedAttributes):
    """What a policy says about one column. What is assigned here is written into the policy."""

    __slots__ = ("_policy", "name")

    def __init__(self, policy: Policy, name: str) -> None:
        self._policy = policy
        #: The name of the column; `*` stands for all that are not named.
        self.name = name

    def _get(self, key: str) -> Any:
        return self._policy.get("columns", self.name, key)

    def _set(self, key: str, value: Any) -> None:
        self._policy.set("columns", self.name, key, value)

    @property
    def role(self) -> str:
        """identifying, quasi, sensitive, insensitive, key or consent."""
        return str(self._get("role"))

    @role.setter
    def role(self, role: str) -> None:
        self._set("role", role)

    @property
    def type(self) -> str | None:
        """text, integer, decimal or date; guessed when absent."""
        return self._get("type")  # type: ignore[no-any-return]

    @type.setter
    def type(self, type: str | None) -> None:
        self._set("type", type)

    @property
    def hierarchy(self) -> Hierarchy | None:
        """How its values are generalized."""
        value = self._get("hierarchy")
        return None if value is None else Hierarchy.from_dict(value, _HIERARCHIES)

    @hierarchy.setter
    def hierarchy(self, hierarchy: Hierarchy | Mapping[str, Any] | None) -> None:
        self._set("hierarchy", hierarchy)

    @property
    def weight(self) -> Number | None:
        """How much a loss in this column counts."""
        return self._get("weight")  # type: ignore[no-any-return]

    @weight.setter
    def weight(self, weight: Number | None) -> None:
        self._set("weight", weight)

    @property
    def order(self) -> list[str] | None:
        """The rank order of its values."""
        return self._get("order")  # type: ignore[no-any-return]

    @order.setter
    def order(self, order: Sequence[str] | None) -> None:
        self._set("order", order)

    @property
    def generalize(self) -> str | None:
        """How local recodings write its cells: hierarchy, ranges or sets."""
        return self._get("generalize")  # type: ignore[no-any-return]

    @generalize.setter
    def generalize(self, generalize: str | None) -> None:
        self._set("generalize", generalize)

    @property
    def accept(self) -> str | None:
        """Why it is published as it is, although it singles people out."""
        return self._get("accept")  # type: ignore[no-any-return]

    @accept.setter
    def accept(self, reason: str | None) -> None:
        self._set("accept", reason)

    def __repr__(self) -> str:
        return f"<column {self.name!r}: {self._policy.get('columns', self.name)}>"


class Requirements(MutableSequence[Requirement]):
    """The requirements of a policy. What is changed here is written into the policy."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    def _list(self) -> list[Requirement]:
        made = []
        for stated in self._policy.get("require") or []:
            stated = dict(stated)
            made.append(Requirement(stated.pop("model", ""), on=stated.pop("on", None), parameters=stated))
        return made

    @overload
    def __getitem__(self, at: int) -> Requirement: ...
    @overload
    def __getitem__(self, at: slice) -> list[Requirement]: ...
    def __getitem__(self, at: int | slice) -> Requirement | list[Requirement]:
        return self._list()[at]

    def __setitem__(self, at: Any, value: Any) -> None:
        changed = self._list()
        changed[at] = value
        self._policy.require = changed

    def __delitem__(self, at: int | slice) -> None:
        changed = self._list()
        del changed[at]
        self._policy.require = changed

    def insert(self, at: int, value: Requirement) -> None:
        """Adds a requirement."""
        changed = self._list()
        changed.insert(at, value)
        self._policy.require = changed

    def reverse(self) -> None:
        """Turns the order round, at once: comments go with their requirements."""
        self._policy.require = self._list()[::-1]

    def __len__(self) -> int:
        return len(self._policy.get("require") or [])

    def __add__(self, other: Iterable[Requirement]) -> list[Requirement]:
        return [*self._list(), *other]

    def __radd__(self, other: Iterable[Requirement]) -> list[Requirement]:
        return [*other, *self._list()]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (list, tuple, Requirements)) and self._list() == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._list())


class Policy(_FixedAttributes):
    """What the columns of a table are, and what a release of it must satisfy: the policy file, as an object.

    Args:
        quasi: What others may know of people. With a hierarchy for each; names alone need a local algorithm.
        sensitive: What must not be learned of anybody.
        identifying: What names people; it is not even read.
        insensitive: What is published as it is.
        key: The column that tells persons apart where they have several rows, or over versions.
        others: The role of columns that are not named; without it such columns are an error.
        require: What every class of a release must satisfy.
        algorithm: How a release is searched for; the best of several when absent.
        metric: What the best release is.
        max_suppression: The share of the rows that may be left out.
        suppressed: `"drop"` or `"mask"`.
        seed: Where randomness starts.
        missing: Texts that mean "unknown". Nulls always do.
        missing_rows: What becomes of rows with an unknown cell: `"drop"` or `"keep"`.
        input: The table, where none is given with the policy.
        columns: Whatever else is to be said of columns, by name.

    Raises:
        PolicyError: When something in it is wrong.
    """

    __slots__ = ("__weakref__", "_crlf", "_document", "_lent", "_path")

    _path: str | None
    #: Whether the lines of its text end as those of Windows do, which the document does not keep.
    _crlf: bool
    _document: Document
    _lent: list[LentAddress]

    def __init__(
        self,
        quasi: Columns = (),
        sensitive: Columns = (),
        identifying: Columns = (),
        insensitive: Columns = (),
        key: str | None = None,
        others: str | None = None,
        require: Requirement | Iterable[Requirement] = (),
        *,
        algorithm: str | Algorithm | None = None,
        metric: str | Metric | None = None,
        max_suppression: Number | None = None,
        suppressed: str | None = None,
        seed: int | None = None,
        missing: Sequence[str] | None = None,
        missing_rows: str | None = None,
        input: str | os.PathLike[str] | None = None,
        columns: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self._path = None
        self._crlf = False
        self._document = Document(("", None))
        self._lent = []
        if isinstance(quasi, (str, os.PathLike)) and os.fspath(quasi).endswith(".toml"):
            raise TypeError("amidst.Policy.read(path) reads the file of a policy; quasi is for columns that others may know")
        if input is not None:
            self.set("data", "input", os.fspath(input))
        self.set("data", "missing", missing)
        self.set("data", "missing_rows", missing_rows)
        roles: list[tuple[str, Columns]] = [
            ("identifying", identifying), ("key", key or ()), ("quasi", quasi), ("sensitive", sensitive),
            ("insensitive", insensitive),
        ]  # fmt: skip
        for role, named in roles:
            self._add(role, named)
        if others is not None:
            self.set("columns", "*", "role", others)
        for name, settings in (columns or {}).items():
            if not isinstance(settings, Mapping):
                raise TypeError(f"columns[{name!r}] is a mapping such as {{'type': 'text'}}, not {type(settings).__name__}")
            for setting, value in settings.items():
                self.set("columns", name, setting, value)
        self.require = require
        self._search(algorithm, metric)
        if max_suppression is not None:
            self.max_suppression = max_suppression
        self.set("search", "suppressed", suppressed)
        self.set("search", "seed", seed)
        self.check()

    def _add(self, role: str, named: Columns) -> None:
        names = [named] if isinstance(named, str) else list(named)
        for name in names:
            if not isinstance(name, str):
                raise TypeError(f"columns have names that are texts, not {type(name).__name__}")
            before = self.get("columns", name, "role")
            if before is not None:
                raise PolicyError(f"the column {name!r} is named as {before} and as {role}; a column has one role")
            said = named[name] if isinstance(named, Mapping) else None
            self.set("columns", name, "role", role)
            if isinstance(said, Hierarchy):
                self.set("columns", name, "hierarchy", said)
            elif isinstance(said, Mapping):
                for setting, value in said.items():
                    self.set("columns", name, setting, value)
            elif said is not None:
                raise TypeError(
                    f"{role}[{name!r}] is a hierarchy such as amidst.intervals(5, 10) or amidst.suppress(), a mapping of what "
                    f"else is said of the column, or None; not {type(said).__name__}"
                )

    def _search(self, algorithm: str | Algorithm | None, metric: str | Metric | None) -> None:
        named = algorithm.id if isinstance(algorithm, Algorithm) else algorithm
        if isinstance(algorithm, Algorithm) or named != self.algorithm:
            # Options belong to the algorithm that they were stated with.
            self.set("search", "options", None)
        if isinstance(algorithm, Algorithm):
            self.set("search", "algorithm", algorithm.id)
            for option, value in algorithm.parameters.items():
                self.set("search", "options", option, value)
        else:
            self.set("search", "algorithm", algorithm)
        self.set("search", "metric", metric.id if isinstance(metric, Metric) else metric)

    @classmethod
    def from_toml(cls, text: str, path: str | os.PathLike[str] | None = None) -> Policy:
        """Reads the text of a policy. Relative paths in it start from the folder of `path`, or from here without one."""
        if not isinstance(text, str):
            raise TypeError(f"from_toml takes the text of a policy, not {type(text).__name__}; amidst.Policy.read(path) reads a file")
        policy = cls.__new__(cls)
        policy._path = None if path is None else os.fspath(path)
        policy._lent = []
        policy._crlf = 0 < text.count("\n") == text.count("\r\n")
        check((text, policy._path))
        policy._document = Document((text, policy._path))
        return policy

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Policy:
        """Reads a policy file."""
        try:
            # Ends of lines stay as they are.
            with open(path, encoding="utf-8", newline="") as file:
                return cls.from_toml(file.read(), path)
        except (OSError, UnicodeDecodeError) as error:
            why = "no such file" if isinstance(error, FileNotFoundError) else type(error).__name__
            raise DataError(f"{os.fspath(path)}: cannot read the policy: {why}") from None

    def to_toml(self) -> str:
        """The text of the policy, with its comments."""
        text = self._document.text()
        return text.replace("\n", "\r\n") if self._crlf else text

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the policy into a file that must not exist."""
        with open(path, "x", encoding="utf-8", newline="") as file:
            file.write(self.to_toml())

    def check(self) -> None:
        """Raises PolicyError with whatever is wrong with the policy by itself."""
        check(self._stated())

    def _stated(self) -> tuple[str, str | None]:
        return (self.to_toml(), self._path)

    def get(self, *keys: str) -> Any:
        """What the policy says at these keys, such as `policy.get("search", "seed")`; None where it says nothing."""
        return self._document.get(list(keys))

    def set(self, *keys_and_value: Any) -> None:
        """Writes the last argument at the keys before it; None takes out what is there."""
        *keys, value = keys_and_value
        if value is None:
            self._document.remove(keys)
        else:
            if isinstance(value, Hierarchy):
                value = value.to_dict()
            value = plain(value)
            self._lent += addresses_in(value)
            self._document.set(keys, value)

    @property
    def columns(self) -> list[str]:
        """The names of the columns that the policy speaks of."""
        return [name for name in self._document.names(["columns"]) if name != "*"]

    def __getitem__(self, name: str) -> Column:
        if self.get("columns", name) is None:
            raise KeyError(f"the policy says nothing of a column {name!r}{nearest(name, self.columns)}")
        return Column(self, name)

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def with_role(self, role: str) -> list[str]:
        """The names of the columns with a role."""
        return [name for name in self.columns if self.get("columns", name, "role") == role]

    @property
    def quasi(self) -> list[str]:
        """The columns that others may know."""
        return self.with_role("quasi")

    @property
    def sensitive(self) -> list[str]:
        """The columns that must not be learned of anybody."""
        return self.with_role("sensitive")

    @property
    def identifying(self) -> list[str]:
        """The columns that name people."""
        return self.with_role("identifying")

    def _reads(self, name: str) -> bool:
        """Whether a column of this name is read at all: those that name people are not."""
        said = self.get("columns", name) or self.get("columns", "*") or {}
        return said.get("role") != "identifying"

    @property
    def require(self) -> Requirements:
        """What every class of a release must satisfy: a list, whose changes are written into the policy."""
        return Requirements(self)

    @require.setter
    def require(self, requirements: Requirement | Iterable[Requirement]) -> None:
        several = isinstance(requirements, Iterable) and not isinstance(requirements, (str, Mapping))
        listed: list[Any] = list(requirements) if several else [requirements]  # type: ignore[arg-type]
        for each in listed:
            if not isinstance(each, Requirement):
                name = getattr(each, "__name__", "k_anonymity")
                raise TypeError(
                    f"a requirement is what amidst.{name}(…) and the like return, such as amidst.k_anonymity(5); "
                    f"not {type(each).__name__}"
                )
        self.set("require", [r.to_dict() for r in listed] or None)

    @property
    def algorithm(self) -> str | None:
        """How a release is searched for."""
        return self.get("search", "algorithm")  # type: ignore[no-any-return]

    @algorithm.setter
    def algorithm(self, algorithm: str | Algorithm | None) -> None:
        self._search(algorithm, self.metric)

    @property
    def metric(self) -> str | None:
        """What the best release is."""
        return self.get("search", "metric")  # type: ignore[no-any-return]

    @metric.setter
    def metric(self, metric: str | Metric | None) -> None:
        self.set("search", "metric", metric.id if isinstance(metric, Metric) else metric)

    @property
    def max_suppression(self) -> Number | None:
        """The share of the rows that may be left out."""
        return self.get("search", "max_suppression")  # type: ignore[no-any-return]

    @max_suppression.setter
    def max_suppression(self, share: Number | None) -> None:
        self.set("search", "max_suppression", share)

    @property
    def seed(self) -> int | None:
        """Where randomness starts."""
        return self.get("search", "seed")  # type: ignore[no-any-return]

    @seed.setter
    def seed(self, seed: int | None) -> None:
        self.set("search", "seed", seed)

    def copy(self) -> Policy:
        """A policy that says the same and can be changed apart."""
        copy = Policy.__new__(Policy)
        copy._path = self._path
        copy._crlf = self._crlf
        copy._lent = list(self._lent)
        copy._document = Document(self._stated())
        return copy

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Policy) and self.to_toml() == other.to_toml()

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        if self._lent:
            raise TypeError("a policy that names a data frame cannot leave its process; name a file instead")
        return (Policy.from_toml, self._stated())

    def __repr__(self) -> str:
        return f"<amidst.Policy: {len(self)} columns, requires {self.require}>"

    def __str__(self) -> str:
        return self.to_toml()

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.to_toml())}</pre>"


def policy_of(policy: Any) -> Policy:
    """A policy, or the path of one."""
    if isinstance(policy, Policy):
        return policy
    if isinstance(policy, str) and "\n" in policy:
        raise TypeError("this is the text of a policy, not its path; amidst.Policy.from_toml(text) reads it")
    if isinstance(policy, (str, os.PathLike)):
        return Policy.read(policy)
    raise TypeError(
        f"a policy is an amidst.Policy or the path of a policy file, not {type(policy).__name__}; amidst.Policy(quasi=…, "
        "sensitive=…, require=…) makes one, and amidst.init(table) drafts one"
    )
