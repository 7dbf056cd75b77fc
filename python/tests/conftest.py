"""What tests share: synthetic patients, and a policy for them."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

import amidst as am

# A shell that runs tests in the background lets them, and what they start, ignore interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)

PYTHON = Path(__file__).parent.parent
PROJECT = PYTHON.parent


@pytest.fixture(scope="session")
def patients() -> Any:
    """Patients as pandas has them."""
    return am.sample(600).to_pandas()


@pytest.fixture
def policy() -> am.Policy:
    """A small policy for them, with few columns so that searches are quick."""
    return small_policy()


def small_policy(**changes: Any) -> am.Policy:
    settings: dict[str, Any] = {
        "quasi": {"age": am.intervals(5, 10, 20, 40), "sex": am.suppress(), "zip": am.mask(5)},
        "sensitive": "diagnosis",
        "others": "identifying",
        "columns": {"zip": {"type": "text"}},
        "require": [am.k_anonymity(5)],
        # Where no algorithm is named several compete, which takes seconds; tests that are about that say None.
        "algorithm": "optimal",
        "max_suppression": 0.05,
    }
    return am.Policy(**{**settings, **changes})


def cells(table: Any) -> list[tuple[str, ...]]:
    """The cells of any kind of table as texts, row by row; nulls as nothing."""
    import pyarrow

    if type(table).__module__.startswith("pandas"):
        table = pyarrow.Table.from_pandas(table, preserve_index=False)
    elif not isinstance(table, pyarrow.Table):
        table = pyarrow.table(table)
    columns = [["" if v is None else str(v) for v in column.to_pylist()] for column in table.columns]
    return list(zip(*columns))
