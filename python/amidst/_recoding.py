"""Fit on one table, transform others."""

from __future__ import annotations

import os
from typing import Any

from . import _amidst
from ._policy import Policy, policy_of
from ._progress import Control
from ._release import Release
from ._tables import given, kind_of, optional, shaped


class Recoding:
    """How a release was recoded, to be applied to further rows: the same levels, or the same cells.

    What `transform` returns is recoded, not released: nobody counts its classes or checks them. It is for a model that
    learned from the release, and not to be handed over.
    """

    def __init__(self, release: Release) -> None:
        #: The release that it comes from.
        self.release = release
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
        with Control(threads, progress, lambda: stated) as control:
            native = _amidst.anonymize(stated._stated(), optional(table), seed, control)
        return cls(Release(native, stated.copy(), kind_of(table)))

    @property
    def levels(self) -> dict[str, int] | None:
        """The level of each quasi column; None for local recodings."""
        return self.release.levels

    def transform(self, table: Any, *, suppressed: str = "drop", threads: int = 0, progress: bool | None = None) -> Any:
        """Recodes further rows, in their order. `suppressed` says what becomes of rows that fit no class of the release:
        `"drop"`, or `"mask"`, which keeps them with `*` in every quasi column."""
        if suppressed not in ("drop", "mask"):
            raise ValueError('suppressed is "drop" or "mask"')
        with Control(threads, progress) as control:
            native, self.fits = _amidst.recode(
                self.release.policy._stated(), self.release._as_table(), given(table), suppressed == "mask", control
            )
        self.suppressed = self.fits.count(False)
        return shaped(native, kind_of(table))

    def __repr__(self) -> str:
        return f"<amidst.Recoding: levels {self.levels}, {self.release.classes} classes>"
