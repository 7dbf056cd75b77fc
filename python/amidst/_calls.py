"""What the package does: the verbs of the command line."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import _amidst
from ._errors import DataError
from ._policy import Policy, policy_of
from ._progress import Control
from ._release import Release
from ._results import Attacked, Audit, Explored, Survey, Verdict
from ._series import Series
from ._tables import Table, given, kind_of, optional
from ._values import Attack, Number, plain, whole


def anonymize(
    table: Any = None,
    policy: Policy | str | os.PathLike[str] | None = None,
    *,
    seed: int | None = None,
    threads: int = 0,
    progress: bool | None = None,
) -> Release:
    """Anonymizes a table: the release satisfies the policy, and the independent checker has passed it.

    Args:
        table: A data frame, or the path or address of a table; without one, the input that the policy names.
        policy: The policy, or the path of one.
        seed: Another seed than the policy's.
        threads: How many threads to use; all cores when 0.
        progress: Whether to show a bar after a second; by default where somebody sees it.

    Raises:
        PolicyError: The policy is wrong, or does not fit the table.
        Impossible: No release satisfies the policy.
        DataError: The table cannot be read.
    """
    table, stated = _table_and_policy("anonymize", table, policy)
    seed = None if seed is None else whole(seed, "seed")
    with Control(threads, progress, lambda: stated) as control:
        native = _amidst.anonymize(stated._stated(), optional(table, stated._reads, control.progress), seed, control)
    return Release(native, stated.copy(), kind_of(table))


def _table_and_policy(verb: str, table: Any, policy: Any) -> tuple[Any, Policy]:
    """A table and a policy; a policy alone names its own table."""
    if isinstance(table, Policy):
        if policy is not None:
            raise TypeError(f"{verb}(table, policy): the table comes first")
        table, policy = None, table
    if policy is None:
        raise TypeError(f"{verb}(table, policy): the policy is missing; amidst.init(table) drafts one")
    stated = policy_of(policy)
    if table is None and stated.get("data", "input") is None:
        raise DataError(f"there is no table: {verb}(table, policy) takes a data frame or the path of a table, and the policy names none")
    return (table, stated)


def _names(named: str | Sequence[str]) -> list[str]:
    """The names of columns, of which one may stand alone."""
    names = [named] if isinstance(named, (str, int)) else list(named)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"columns have names that are texts, such as {str(name)!r}, not {name!r}")
    return names


def _roles(
    policy: Policy | str | os.PathLike[str] | None, quasi: str | Sequence[str], sensitive: str | Sequence[str]
) -> tuple[tuple[str, str | None] | None, list[str], list[str]]:
    stated = None if policy is None else policy_of(policy)._stated()
    names = [_names(named) for named in (quasi, sensitive)]
    if stated is not None and (names[0] or names[1]):
        raise TypeError("give a policy, or quasi and sensitive columns, not both")
    return (stated, names[0], names[1])


def _reads(
    policy: Policy | str | os.PathLike[str] | None, roles: tuple[object, list[str], list[str]]
) -> Callable[[str], bool] | None:
    """Which columns an audit or an attack reads; None where that cannot be told by their names."""
    if policy is None:
        return {*roles[1], *roles[2]}.__contains__
    stated = policy_of(policy)
    # There a table may have two columns, whose names the policy does not know, in the place of one.
    return None if stated.get("output", "ranges") == "bounds" else stated._reads


def audit(
    table: Any,
    policy: Policy | str | os.PathLike[str] | None = None,
    *,
    quasi: str | Sequence[str] = (),
    sensitive: str | Sequence[str] = (),
    population: Any = None,
    sampling_fraction: Number | None = None,
    threads: int = 0,
    progress: bool | None = None,
) -> Audit:
    """Tells what a table, raw or released, satisfies as it is: the strongest parameters, risks, and attacks.

    Args:
        table: The table, or a Release.
        policy: Which columns are which, and what must hold.
        quasi: Instead of a policy, the columns that others may know.
        sensitive: Instead of a policy, the columns that must not be learned.
        population: A table of the population, with the quasi columns and perhaps `count`.
        sampling_fraction: The share of the population that is in the table.
    """
    if isinstance(table, Release) and policy is None and not quasi:
        policy = table.policy
    roles = _roles(policy, quasi, sensitive)
    share = None if sampling_fraction is None else str(sampling_fraction)
    with Control(threads, progress) as control:
        figures, page = _amidst.audit(given(table, _reads(policy, roles), control.progress), roles, optional(population), share, control)
    return Audit(json.loads(figures), page)


def survey(table: Any, *, max_size: int = 3, threads: int = 0, progress: bool | None = None) -> Survey:
    """Tells what singles people out in a table that nobody has described: columns, and sets of up to `max_size`."""
    size = whole(max_size, "max_size", 1, 5)
    with Control(threads, progress) as control:
        return Survey(json.loads(_amidst.survey(given(table, tell=control.progress), size, control)))


def init(table: Any, *, progress: bool | None = None) -> Policy:
    """Drafts a commented first policy for a table: roles and hierarchies are guessed, on the safe side."""
    with Control(progress=progress) as control:
        return Policy.from_toml(_amidst.init(given(table, tell=control.progress), control))


def explore(
    table: Any = None,
    policy: Policy | str | os.PathLike[str] | None = None,
    *,
    node: Mapping[str, int] | None = None,
    threads: int = 0,
    progress: bool | None = None,
) -> Explored:
    """Looks at every generalization: the minimal ones, and the front of risk against loss.

    With `node`, a level for each quasi column, tells why that node cannot be published, or that it can.
    """
    table, stated = _table_and_policy("explore", table, policy)
    levels = [(name, whole(level, f"the level of {name!r}")) for name, level in (node or {}).items()]
    with Control(threads, progress, lambda: stated) as control:
        figures, picture = _amidst.explore(stated._stated(), optional(table, stated._reads, control.progress), levels, control)
    return Explored(json.loads(figures), picture)


class _Known:
    """The tables that an adversary knows, as the native part asks for them."""

    def __init__(self, external: Any, person: str | None, earlier: Any, population: Any, original: Any) -> None:
        self.external = _several(external)
        self.person = person
        self.earlier = _several(earlier)
        self.population = optional(population)
        self.original = optional(original)


def _several(tables: Any) -> list[Any]:
    if tables is None:
        return []
    return [given(table) for table in tables] if isinstance(tables, (list, tuple)) else [given(tables)]


def attack(
    name: str | Attack,
    table: Any,
    policy: Policy | str | os.PathLike[str] | None = None,
    *,
    quasi: str | Sequence[str] = (),
    sensitive: str | Sequence[str] = (),
    external: Any = None,
    person: str | None = None,
    earlier: Any = None,
    population: Any = None,
    original: Any = None,
    threads: int = 0,
    progress: bool | None = None,
    **parameters: Any,
) -> Attacked:
    """Attacks a table as one adversary would, and tells what is learned.

    Args:
        name: The attack: its name, or what its constructor returns, such as `amidst.similarity(share=0.75)`.
        table: The table, a Release, or the folder of a release or a series.
        policy: Which columns are which; a Release knows.
        external: For linkage, intersection and difference: a table of persons with some of the quasi columns; for several
            versions a list.
        person: The column of these tables that tells who is who.
        earlier: For intersection and difference: earlier versions of the table, the oldest first.
        population: For belief: a population with the quasi columns, the sensitive column and perhaps `count`.
        original: For minimality: the table that the release was made from.
        parameters: What else is assumed; `help()` of the attack's constructor tells.
    """
    if not isinstance(name, (str, Attack)):
        raise TypeError(f"an attack is its name, or what its constructor returns, such as amidst.linkage(); not {type(name).__name__}")
    stated = {**(name.parameters if isinstance(name, Attack) else {}), **parameters}
    if isinstance(table, Release) and policy is None and not quasi:
        policy = table.policy
    if isinstance(table, Series):
        table = table.folder
    texts = [(key.rstrip("_"), _text(plain(value))) for key, value in stated.items() if value is not None]
    known = _Known(external, person, earlier, population, original)
    id = name.id if isinstance(name, Attack) else name
    roles = _roles(policy, quasi, sensitive)
    with Control(threads, progress) as control:
        found = _amidst.attack(id, given(table, _reads(policy, roles), control.progress), roles, known, texts, control)
    return Attacked(json.loads(found))


def _text(value: Any) -> str:
    """A parameter as a command line states it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else json.dumps(value)


def verify(
    release: Release | str | os.PathLike[str],
    certificate: str | os.PathLike[str] | None = None,
    *,
    policy: Policy | str | os.PathLike[str] | None = None,
    original: Any = None,
    strict: bool = False,
) -> Verdict:
    """Lets the independent checker recompute every claim of a certificate from the release itself.

    Args:
        release: A Release, the folder of one, its public part, or a table with its certificate beside it.
        certificate: The certificate of a table that lies elsewhere.
        policy: The policy that the release was made with: the release is also compared with its input.
        original: The input, where the policy names none.
        strict: Whether to let nothing pass that is only attested.
    """
    if isinstance(release, Release):
        if policy is not None or original is not None:
            raise TypeError("a Release in memory is checked by itself; save() it to compare it with its input")
        return release.verify(strict=strict)
    if not isinstance(release, (str, os.PathLike)):
        raise DataError(f"verify takes a Release or the folder of one, not {type(release).__name__}")
    stated = None if policy is None else policy_of(policy)._stated()
    named = None if certificate is None else os.fspath(certificate)
    with Control() as control:
        found = _amidst.verify(os.fspath(release), named, stated, optional(original), strict, control)
    return Verdict(json.loads(found))


def sample(rows: int = 1000, *, seed: int = 1) -> Table:
    """Synthetic patients to try things on."""
    with Control() as control:
        return Table(_amidst.sample(whole(rows, "rows", 1), whole(seed, "seed"), control))


def sample_policy() -> Policy:
    """A policy for the synthetic patients."""
    policy = Policy.from_toml(_amidst.sample_policy())
    policy.set("data", "input", None)
    return policy


__all__ = [
    "anonymize", "attack", "audit", "explore", "init", "sample", "sample_policy", "survey", "verify",
]  # fmt: skip
