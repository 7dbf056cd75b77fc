"""Exceptions. None of them quotes a value of a table."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._results import Verdict
    from ._values import Requirement


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
    """No release satisfies the policy. The message tells why; what programs can use of it is beside it."""

    def __init__(
        self,
        message: str,
        position: int | None = None,
        parameter: str | None = None,
        possible: int | Fraction | float | None = None,
        attained: bool = True,
        least_suppression: int | None = None,
    ) -> None:
        super().__init__(message)
        #: The position of the requirement that asks too much in the policy's list, from 0; None where no single one does.
        self.position = position
        #: That requirement.
        self.requirement: Requirement | None = None
        #: The parameter of it that asks too much, such as `"k"`.
        self.parameter = parameter
        #: The strongest value of the parameter that is possible, exact where it is a fraction; None where none is.
        self.possible = possible
        #: Whether that value itself is possible; otherwise only values short of it are.
        self.attained = attained
        #: How many rows would at least have to be suppressed, where that was counted.
        self.least_suppression = least_suppression


class Violated(Error):
    """A release does not stand, or a table does not satisfy what it must."""

    def __init__(self, message: str, verdict: Verdict | None = None) -> None:
        super().__init__(message)
        #: What the checker found.
        self.verdict = verdict


class DataError(Error):
    """A table cannot be read."""
