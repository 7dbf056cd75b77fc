"""A table that changes, published version by version."""

from __future__ import annotations

import json
import os
from typing import Any

from . import _amidst
from ._policy import Policy, policy_of
from ._progress import Control
from ._results import Figures
from ._tables import optional


class Series:
    """A series in its folder. `private/` is for its owner's eyes only; `versions/1`, `versions/2`, … are what was published."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        #: The folder.
        self.folder = os.fspath(folder)

    def init(
        self,
        table: Any = None,
        policy: Policy | str | os.PathLike[str] | None = None,
        *,
        mode: str | None = None,
        threads: int = 0,
    ) -> Figures:
        """Starts the series in its folder, which must not exist, and publishes version 1.

        The policy gives one column the role `key`. The mode is `maintain` or `m-invariant`;
        without one, the mode whose next version can be published is chosen.
        """
        if policy is None:
            raise TypeError("init(table, policy): the policy is missing")
        stated = policy_of(policy)
        with Control(threads, policy=lambda: stated) as control:
            done = _amidst.series_init(self.folder, stated._stated(), mode, optional(table, tell=control.progress), control)
        return Figures(json.loads(done))

    def insert(self, rows: Any, *, delete: Any = None) -> Figures:
        """Inserts rows with the columns of the first table; with `delete`, in the same batch as others go."""
        return self._apply(rows, delete)

    def delete(self, rows: Any) -> Figures:
        """Deletes rows: a table with the key column."""
        return self._apply(None, rows)

    def _apply(self, insert: Any, delete: Any) -> Figures:
        with Control(policy=lambda: self.policy) as control:
            done = _amidst.series_apply(self.folder, optional(insert), optional(delete), control)
        return Figures(json.loads(done))

    def extend(self, policy: Policy | str | os.PathLike[str]) -> Figures:
        """Lets values in that nobody had so far: a policy whose hierarchies, orders and categories have grown."""
        with Control() as control:
            return Figures(json.loads(_amidst.series_extend(self.folder, policy_of(policy)._stated(), control)))

    def undo(self) -> Figures:
        """Takes the last batch back, unless it was published."""
        with Control() as control:
            return Figures(json.loads(_amidst.series_undo(self.folder, control)))

    def plan(self) -> Figures:
        """Tells what `publish` would do now, what that would reveal, and what a safe version would cost. Nothing changes."""
        with Control() as control:
            return Figures(json.loads(_amidst.series_plan(self.folder, control)))

    def publish(self, *, safe: bool = False, allow_leak: bool = False) -> Figures:
        """Publishes the rows as they are now, as the next version.

        Raises Impossible when the versions together would leave less than the policy promises, unless
        `allow_leak`; with `safe`, a version that would leak is changed as little as makes it safe, and so
        are later ones without being asked.
        """
        with Control(policy=lambda: self.policy) as control:
            return Figures(json.loads(_amidst.series_publish(self.folder, safe, allow_leak, control)))

    def audit(self) -> Figures:
        """Tells what all versions together leave of what the policy promises."""
        with Control() as control:
            return Figures(json.loads(_amidst.series_audit(self.folder, control)))

    def log(self) -> Figures:
        """Tells what happened so far: batches and versions."""
        with Control() as control:
            return Figures(json.loads(_amidst.series_log(self.folder, control)))

    @property
    def policy(self) -> Policy:
        """The policy of the series, as its private part keeps it."""
        return Policy.read(os.path.join(self.folder, "private", "policy.toml"))

    def version(self, number: int) -> str:
        """The folder of a version."""
        return os.path.join(self.folder, "versions", str(number))

    def __repr__(self) -> str:
        return f"<amidst.Series in {self.folder!r}>"
