"""Exceptions. None of them quotes a value of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._results import Verdict


class Error(Exception):
    """Something failed; nothing was written. The base of all exceptions of this package."""


class PolicyError(Error):
    """A policy is wrong, or does not fit its table. The message shows every error with its place in the policy."""

    def __init__(
        self,
        message: str,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        #: The file of the policy; None for a policy made in code.
        self.file = file
        #: The line of the first error in the text of the policy, from 1.
        self.line = line
        #: Its column, from 1.
        self.column = column
        #: How to mend it.
        self.hint = hint


class Impossible(Error):
    """No release satisfies the policy."""

    def __init__(self, message: str, requirement: str | None = None, possible: str | None = None) -> None:
        super().__init__(message)
        #: The requirement that asks too much, where a single one does.
        self.requirement = requirement
        #: The most that is possible.
        self.possible = possible


class Violated(Error):
    """A release does not stand, or a table does not satisfy what it must."""

    def __init__(self, message: str, verdict: Verdict | None = None) -> None:
        super().__init__(message)
        #: What the checker found.
        self.verdict = verdict


class DataError(Error):
    """A table cannot be read."""
