"""Tables in and out. Whatever streams Arrow is a table, and so is whatever the command line reads."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from typing import Any, Protocol, Union, runtime_checkable

from ._errors import DataError


@runtime_checkable
class ArrowStream(Protocol):
    """Anything with the Arrow PyCapsule interface: polars, pyarrow, DuckDB relations, …"""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


#: A table: a data frame, or the path or address of one.
TableLike = Union[ArrowStream, str, "os.PathLike[str]", Any]


class Table:
    """A table in Arrow's memory format, for whatever library reads it through the Arrow PyCapsule interface."""

    def __init__(self, native: Any) -> None:
        self._native = native

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._native.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._native.__arrow_c_schema__()

    def __len__(self) -> int:
        return int(self._native.num_rows)

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return list(self._native.column_names)

    def to_pyarrow(self) -> Any:
        """The table as pyarrow has it."""
        import pyarrow

        return pyarrow.table(self)

    def to_pandas(self) -> Any:
        """The table as pandas has it. Whole numbers stay whole where some are unknown (`Int64`)."""
        import pandas
        import pyarrow

        table = self.to_pyarrow()
        frame = table.to_pandas()
        for name, column in zip(table.column_names, table.columns):
            if column.null_count and pyarrow.types.is_integer(column.type):
                # Otherwise pandas would make 1980.0 of 1980, which is not what was checked.
                whole: Any = pandas.Int64Dtype()
                frame[name] = whole.__from_arrow__(column)
        return frame

    def to_polars(self) -> Any:
        """The table as polars has it."""
        import polars

        return polars.DataFrame(self)

    def __repr__(self) -> str:
        return f"<amidst.Table: {len(self)} rows, {', '.join(self.column_names)}>"


#: The libraries whose frames a release comes back as.
_LIBRARIES = ("pandas", "polars", "pyarrow", "duckdb")


def kind_of(table: object) -> str:
    """The library that a table comes from; `"path"` for an address."""
    if isinstance(table, (str, os.PathLike)):
        return "path"
    roots = [(kind.__module__ or "").split(".")[0].lstrip("_") for kind in type(table).__mro__]
    # A subclass, such as a frame of geopandas, is what it derives from.
    return next((root for root in roots if root in _LIBRARIES), roots[0])


#: Whom to tell what is being done, and how far it is.
Tell = Callable[[str, float], None]


def given(table: Any, reads: Callable[[str], bool] | None = None, tell: Tell | None = None) -> Any:
    """What the native part takes: an address, or an Arrow stream. A stream that was made here belongs to the native part, which
    frees it as soon as the table is read. `reads` tells which columns are read at all; others need not be converted."""
    if isinstance(table, type):
        raise DataError(f"{table.__name__} is a class; give a table of this kind")
    # Of the class: a frame may have a column of this name.
    if hasattr(type(table), "_as_table"):
        return table._as_table()
    if isinstance(table, (str, os.PathLike)):
        return _address(table)
    if hasattr(table, "to_frame") and not hasattr(table, "columns"):
        raise DataError("a Series is one column; give the data frame, or series.to_frame()")
    if kind_of(table) == "pandas" and hasattr(table, "columns"):
        return _from_pandas(table, reads, tell)
    if hasattr(table, "__arrow_c_stream__"):
        return _from_polars(table, reads) if kind_of(table) == "polars" else table
    if hasattr(table, "collect"):
        raise DataError("the frame is lazy; collect() it first")
    if hasattr(table, "to_arrow_table"):
        return table.to_arrow_table()
    named = "pandas.DataFrame(…) makes one of it" if isinstance(table, (list, tuple, dict)) or hasattr(table, "dtype") else ""
    raise DataError(
        f"a table is a data frame (pandas, polars, pyarrow, DuckDB or any other with __arrow_c_stream__), or the path or "
        f"address of one, not {type(table).__name__}{named and '; ' + named}"
    )


def _address(path: str | os.PathLike[str]) -> str:
    address = os.fspath(path)
    if not isinstance(address, str):
        raise DataError("the path of a table is a text, not bytes; use os.fsdecode")
    if not address:
        raise DataError("the path of the table is empty")
    return address


def optional(table: Any, reads: Callable[[str], bool] | None = None, tell: Tell | None = None) -> Any:
    """The same for a table that may be absent."""
    return None if table is None else given(table, reads, tell)


def _from_pandas(frame: Any, reads: Callable[[str], bool] | None, tell: Tell | None) -> Any:
    try:
        import pyarrow
    except ImportError:
        raise DataError("pandas hands tables over through pyarrow; install it: pip install pyarrow") from None
    names = [str(name) for name in frame.columns]
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise DataError(f"two columns are called {twice[0]!r}; rename one")
    # The index numbers rows, or names them; it is no column until reset_index() makes it one.
    columns = []
    for at, name in enumerate(names):
        if tell is not None:
            tell("convert", at / len(names))
        if reads is None or reads(name):
            columns.append(_column(pyarrow, name, frame.iloc[:, at]))
        else:
            columns.append(pyarrow.nulls(len(frame)))
    return pyarrow.Table.from_arrays(columns, names).__arrow_c_stream__()


def _from_polars(frame: Any, reads: Callable[[str], bool] | None) -> Any:
    """A frame of polars without the columns that its streams have no form for."""
    import polars

    changed = []
    for name, kind in frame.schema.items():
        read = reads is None or reads(name)
        if kind == polars.Object and read:
            # As Arrow they are addresses in memory.
            raise DataError(f"the column {name!r} holds Python objects; convert it, e.g. to texts, or make it identifying")
        if kind == polars.Null or (not read and (kind == polars.Object or kind.is_nested())):
            changed.append(polars.lit(None, polars.Boolean).alias(name))
        elif str(kind) in ("Int128", "UInt128"):
            changed.append(polars.col(name).cast(polars.String))
    return frame.with_columns(changed) if changed else frame


def _column(pyarrow: Any, name: str, column: Any) -> Any:
    if str(column.dtype).startswith("period"):
        # Arrow has them as numbers of months or days, which mean nothing to anybody.
        raise DataError(
            f"the column {name!r} holds periods; convert it, with frame[{name!r}].dt.to_timestamp() or frame[{name!r}].astype(str)"
        )
    # What cannot be converted is told by exceptions of many kinds, even panics of other libraries, and most quote a value.
    try:
        made = pyarrow.array(column, from_pandas=True)
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException:
        made = None
    kind = getattr(made, "type", None)
    if kind is not None and pyarrow.types.is_dictionary(kind):
        kind = kind.value_type
    # Intervals are a type of their own, whose values are pairs.
    if kind is None or pyarrow.types.is_nested(getattr(kind, "storage_type", kind)):
        raise DataError(
            f"the column {name!r} holds values of several types, nested ones, intervals, or a kind that Arrow lacks; convert it, e.g. with "
            f"frame[{name!r}].astype(str)"
        ) from None
    return made


def shaped(native: Any, kind: str) -> Any:
    """A table of the native part, as the library `kind` has it."""
    table = Table(native)
    if kind == "pandas":
        return table.to_pandas()
    if kind == "polars":
        return table.to_polars()
    if kind == "pyarrow":
        return table.to_pyarrow()
    if kind == "duckdb":
        import duckdb

        try:
            return duckdb.from_arrow(table.to_pyarrow())
        except ImportError:
            # DuckDB reads Arrow through pyarrow; without it the table is as good.
            return table
    return table
