"""Fit on one table, transform others."""

from __future__ import annotations

import os
from typing import Any

from . import _amidst
from ._errors import Error
from ._policy import Policy, policy_of
from ._progress import Control
from ._release import Release
from ._tables import given, kind_of, optional, shaped
from ._values import whole


class Recoding:
    """How a release was recoded, to be applied to further rows: the same levels, or the same cells.

    What `transform` returns is recoded, not released: nobody counts its classes or checks them. It is for a model that
    learned from the release, and not to be handed over.

    It can be pickled. What is kept then is the policy and the released table, nothing of the original one.
    """

    def __init__(self, release: Release) -> None:
        self._release: Release | None = release
        #: The policy that it was made with.
        self.policy = release.policy
        #: The level of each quasi column; None for local recodings.
        self.levels: dict[str, int] | None = release.levels
        self._classes = release.classes
        self._table = release._as_table()
        #: How many rows fitted no class, in the last call of `transform`.
        self.suppressed = 0
        #: For each row of the last call of `transform`, whether it fitted a class.
        self.fits: list[bool] = []

    @classmethod
    def fit(
        cls,
        table: Any,
        policy: Policy | str | os.PathLike[str],
        *,
        seed: int | None = None,
        threads: int = 0,
        progress: bool | None = None,
    ) -> Recoding:
        """Anonymizes a table, and keeps how."""
        stated = policy_of(policy)
        seed = None if seed is None else whole(seed, "seed")
        with Control(threads, progress, lambda: stated) as control:
            native = _amidst.anonymize(stated._stated(), optional(table, stated._reads, control.progress), seed, control)
        return cls(Release(native, stated.copy(), kind_of(table)))

    @property
    def release(self) -> Release:
        """The release that it comes from."""
        if self._release is None:
            raise Error("a recoding that was pickled knows the released table, but not the release; save() that before")
        return self._release

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: value for name, value in vars(self).items() if name not in ("_release", "_table")}
        return kept if self._release is None else {**kept, "_bytes": self._release.files["release.arrow"]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._table = _amidst.table_of(state["_bytes"])
        self._release = None

    def transform(self, table: Any, *, suppressed: str = "drop", threads: int = 0, progress: bool | None = None) -> Any:
        """Recodes further rows, in their order. `suppressed` says what becomes of rows that fit no class of the release:
        `"drop"`, or `"mask"`, which keeps them with `*` in every quasi column."""
        if suppressed not in ("drop", "mask"):
            raise ValueError('suppressed is "drop" or "mask"')
        with Control(threads, progress) as control:
            native, self.fits = _amidst.recode(
                self.policy._stated(), self._table, given(table, tell=control.progress), suppressed == "mask", control
            )
        self.suppressed = self.fits.count(False)
        return shaped(native, kind_of(table))

    def __repr__(self) -> str:
        return f"<amidst.Recoding: levels {self.levels}, {self._classes} classes>"
