"""What constructors return: parts of a policy, with the words of the policy file."""

from __future__ import annotations

import datetime
import operator
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Union

from ._amidst import LentTable
from ._tables import given

#: A number in a policy. Decimals and fractions are exact; so is a text such as "1/3".
Number = Union[int, float, str, Decimal, Fraction]


def whole(number: Any, name: str, least: int = 0, most: int = 2**64 - 1) -> int:
    """A whole number that the native part has room for; numpy's are as good."""
    try:
        value = operator.index(number)
    except TypeError:
        raise TypeError(f"{name} is a whole number, not {type(number).__name__}") from None
    if not least <= value <= most:
        raise ValueError(f"{name} is a whole number from {least} on" + (f" up to {most}" if value > most else f", not {value}"))
    return value


class LentAddress(str):
    """The address of a table in memory, which stays readable for as long as this lives."""

    _lent: LentTable

    @classmethod
    def of(cls, table: Any) -> LentAddress:
        """Gives a data frame an address."""
        lent = LentTable(given(table))
        address = cls(lent.address())
        address._lent = lent
        return address

    def __reduce__(self) -> Any:
        raise TypeError("a policy that names a data frame cannot leave its process; name a file instead")


def addresses_in(value: Any) -> list[LentAddress]:
    """The tables in memory that a value of a policy names."""
    if isinstance(value, LentAddress):
        return [value]
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return [address for item in inner for address in addresses_in(item)]


def _is_frame(value: Any) -> bool:
    streams = hasattr(value, "__arrow_c_stream__") or hasattr(value, "to_arrow_table")
    return streams and (hasattr(value, "columns") or hasattr(value, "column_names"))


def plain(value: Any) -> Any:
    """A value as a policy holds it. A data frame, such as a population, becomes its address."""
    if _is_frame(value):
        return LentAddress.of(value)
    if isinstance(value, (Decimal, Fraction)):
        return str(value)
    if isinstance(value, (datetime.date, datetime.datetime)):
        return value.isoformat()
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if hasattr(value, "item") and not isinstance(value, (list, tuple)) and getattr(value, "ndim", 0) == 0:
        return value.item()
    if isinstance(value, (set, frozenset)):
        raise TypeError("a set has no order; give a list")
    if isinstance(value, Sequence) or hasattr(value, "tolist"):
        return [plain(item) for item in value]
    raise TypeError(f"a policy holds texts, numbers, truth values, lists and tables, not {type(value).__name__}")


class _Part:
    """A named part of a policy with its parameters."""

    def __init__(self, id: str, parameters: Mapping[str, Any]) -> None:
        #: The name in policies.
        self.id = id
        #: What was stated. It cannot be changed here: a policy would not learn of it.
        self.parameters: Mapping[str, Any] = MappingProxyType({key: plain(value) for key, value in parameters.items()})

    def _arguments(self) -> tuple[Any, ...]:
        return (self.id, dict(self.parameters))

    def __reduce__(self) -> Any:
        return (type(self), self._arguments())

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, _Part) and self._arguments() == other._arguments()

    def __hash__(self) -> int:
        return hash((type(self), self.id))

    def _shown(self) -> dict[str, Any]:
        return dict(self.parameters)

    def __repr__(self) -> str:
        stated = ", ".join(f"{key}={value!r}" for key, value in self._shown().items())
        return f"{self.id.replace('-', '_')}({stated})"


class Requirement(_Part):
    """What every class of a release must satisfy: a model with its parameters."""

    def __init__(self, id: str, parameters: Mapping[str, Any], on: str | Sequence[str] | None = None) -> None:
        super().__init__(id, parameters)
        #: The sensitive columns that it protects; empty where the policy has only one, or the model needs none.
        self.on: tuple[str, ...] = () if on is None else (on,) if isinstance(on, str) else tuple(on)

    def _arguments(self) -> tuple[Any, ...]:
        return (self.id, dict(self.parameters), self.on)

    def _shown(self) -> dict[str, Any]:
        return {key: value for key, value in self.to_dict().items() if key != "model"}

    def to_dict(self) -> dict[str, Any]:
        """As `[[require]]` of a policy has it."""
        on: dict[str, Any] = {} if not self.on else {"on": self.on[0] if len(self.on) == 1 else list(self.on)}
        return {"model": self.id, **on, **self.parameters}


class Hierarchy(_Part):
    """How the values of a column are generalized, level by level."""

    def to_dict(self) -> dict[str, Any]:
        """As `hierarchy` of a column has it."""
        return dict(self.parameters)

    @staticmethod
    def from_dict(value: Mapping[str, Any], ids: Sequence[str]) -> Hierarchy:
        """Of what a policy says."""
        return Hierarchy(next((key for key in value if key in ids), ""), value)


class Algorithm(_Part):
    """How a release is searched for."""


class Metric(_Part):
    """What the best release is."""


class Attack(_Part):
    """What an adversary does, and with which assumptions."""
