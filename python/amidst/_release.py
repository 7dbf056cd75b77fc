"""Releases in memory."""

from __future__ import annotations

import json
import os
from functools import cached_property
from typing import Any

from . import _amidst, _html
from ._policy import Policy
from ._progress import Control
from ._results import Report, Verdict
from ._tables import shaped


class Release:
    """A release that the independent checker has passed, with its certificate and its reports. It is in memory only."""

    def __init__(self, native: _amidst.Release, policy: Policy, kind: str) -> None:
        self._native = native
        self._kind = kind
        #: The policy that it was made with.
        self.policy = policy

    def _as_table(self) -> Any:
        return self._native.table()

    @cached_property
    def table(self) -> Any:
        """The released table, as the kind of frame that went in; made of the very bytes that were checked."""
        return shaped(self._native.table(), self._kind)

    @cached_property
    def _outcome(self) -> dict[str, Any]:
        return json.loads(self._native.outcome())  # type: ignore[no-any-return]

    @cached_property
    def files(self) -> dict[str, bytes]:
        """What may be handed over: the files of the public part, by name."""
        return self._native.public()

    @cached_property
    def internal_files(self) -> dict[str, bytes]:
        """What stays with the owner: the files of the internal part, by name."""
        return self._native.internal()

    @cached_property
    def certificate(self) -> dict[str, Any]:
        """What was proven."""
        return json.loads(self.files["certificate.json"])  # type: ignore[no-any-return]

    @cached_property
    def report(self) -> Report:
        """The report that may be handed over."""
        return _report(self.files)

    @cached_property
    def internal_report(self) -> Report:
        """The report with figures of the original table, which stays with the owner."""
        return _report(self.internal_files)

    @property
    def metrics(self) -> dict[str, Any]:
        """What the release costs."""
        return self._outcome["metrics"]  # type: ignore[no-any-return]

    @property
    def risk(self) -> dict[str, Any]:
        """How likely people are to be found in it."""
        return self._outcome["risk"]  # type: ignore[no-any-return]

    @property
    def levels(self) -> dict[str, int] | None:
        """The level of each quasi column; None for local recodings."""
        return self._outcome["levels"]  # type: ignore[no-any-return]

    @property
    def requirements(self) -> list[dict[str, Any]]:
        """What was required, and what was reached."""
        return self._outcome["requirements"]  # type: ignore[no-any-return]

    @property
    def rows_in(self) -> int:
        """Rows of the table."""
        return int(self._outcome["rows_in"])

    @property
    def rows_out(self) -> int:
        """Rows of the release."""
        return int(self._outcome["rows_out"])

    @property
    def suppressed(self) -> int:
        """Rows that were left out, or masked."""
        return int(self._outcome["suppressed"])

    @property
    def classes(self) -> int:
        """Groups of people whom nobody can tell apart."""
        return int(self._outcome["classes"])

    @property
    def algorithm(self) -> str:
        """The algorithm that found it."""
        return str(self._outcome["algorithm"])

    @property
    def optimal(self) -> bool:
        """Whether it is proven to be the best of its kind."""
        return bool(self._outcome["optimal"])

    @property
    def warnings(self) -> list[str]:
        """What in the policy is probably not meant."""
        return self._outcome["warnings"]  # type: ignore[no-any-return]

    def to_dict(self) -> dict[str, Any]:
        """All figures, as `amidst anonymize --json` prints them."""
        return dict(self._outcome)

    def save(
        self, folder: str | os.PathLike[str], *, file: str | None = None, force: bool = False, threads: int = 0
    ) -> None:
        """Writes the release into a folder, all of it or nothing: `public/` may be handed over, `internal/` stays.

        Args:
            folder: The folder; it must not exist unless `force` is given.
            file: A name whose ending decides the format of the table, such as `release.parquet`, `release.csv` or
                `release.jsonl`; by default what the policy says in `[output] file`, else `release.arrow`. In another
                format than Arrow the release is written anew, and the independent checker reads that file too before
                anything is saved.
            force: Whether to replace a release that is there.
            threads: How many threads to use; all cores when 0.
        """
        named = file if file is not None else self.policy.get("output", "file")
        with Control(threads) as control:
            self._native.save(os.fspath(folder), named, force, control)

    def verify(self, *, strict: bool = False) -> Verdict:
        """Lets the independent checker look at the public files once more."""
        with Control() as control:
            return Verdict(json.loads(self._native.verify(strict, control)))

    def __reduce__(self) -> Any:
        raise TypeError("a release in memory cannot be pickled; save() it into a folder")

    def __repr__(self) -> str:
        return (
            f"<amidst.Release: {self.rows_out} of {self.rows_in} rows in {self.classes} classes, by {self.algorithm}; "
            f"levels {self.levels}>"
        )

    def _repr_html_(self) -> str:
        return _html.page(self.report.html)


def _report(files: dict[str, bytes]) -> Report:
    text = {name: files[f"report.{name}"].decode() for name in ("json", "html", "md")}
    return Report(json.loads(text["json"]), text["html"], text["md"])
