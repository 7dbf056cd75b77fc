"""Frames in and out: every library, and what frames may hold."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from conftest import cells, small_policy

import amidst as am


def kinds(frame: pd.DataFrame) -> dict[str, Any]:
    table = pa.Table.from_pandas(frame, preserve_index=False)
    return {"pandas": frame, "polars": pl.DataFrame(table), "pyarrow": table, "duckdb": duckdb.from_arrow(table)}


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "duckdb"])
def test_the_release_is_the_kind_that_went_in_and_the_same_for_all(patients: Any, policy: am.Policy, kind: str) -> None:
    table = kinds(patients)[kind]
    release = am.anonymize(table, policy)
    assert type(release.table) is type(table)
    assert cells(release.table) == cells(am.anonymize(patients, policy).table)
    assert release.rows_out == len(cells(release.table))
    assert release.verify().valid


def test_whatever_streams_arrow_is_a_table(patients: Any, policy: am.Policy) -> None:
    class Stream:
        def __init__(self) -> None:
            self.table = pa.Table.from_pandas(patients)

        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return self.table.__arrow_c_stream__(requested_schema)

    release = am.anonymize(Stream(), policy)
    assert isinstance(release.table, am.Table)
    assert cells(release.table) == cells(am.anonymize(patients, policy).table)


def test_paths_are_tables(patients: Any, policy: am.Policy, tmp_path: Any) -> None:
    patients.to_parquet(tmp_path / "p.parquet")
    patients.to_csv(tmp_path / "p.csv", index=False)
    for name in ("p.parquet", "p.csv"):
        release = am.anonymize(tmp_path / name, policy)
        assert cells(release.table) == cells(am.anonymize(patients, policy).table), name


def odd(rows: int = 40) -> dict[str, pa.Array]:
    day = datetime.date(1980, 1, 1)
    return {
        "born": pa.array([day + datetime.timedelta(days=31 * (i % 12)) for i in range(rows)], pa.date32()),
        "seen": pa.array([datetime.datetime(2024, 1, 1 + i % 3) for i in range(rows)], pa.timestamp("us")),
        "weight": pa.array([decimal.Decimal(f"{60 + i % 10}.50") for i in range(rows)], pa.decimal128(8, 2)),
        "ward": pa.array(["north", "south"] * (rows // 2)).dictionary_encode(),
        "note": pa.array([f"n{i % 2}" for i in range(rows)], pa.large_string()),
        "view": pa.array([f"v{i % 2}" for i in range(rows)], pa.string_view()),
        "ok": pa.array([i % 2 == 0 for i in range(rows)]),
        "disease": pa.array(["flu", "hiv", "cold", "flu"] * (rows // 4)),
    }


def odd_policy(name: str, hierarchy: am.Hierarchy) -> am.Policy:
    return am.Policy(
        quasi={name: hierarchy}, sensitive="disease", others="identifying", require=am.k_anonymity(3), algorithm="optimal")


@pytest.mark.parametrize(
    ("name", "hierarchy"),
    [
        ("born", am.dates("month", "year", "decade")),
        ("seen", am.suppress()),
        ("weight", am.intervals(5, 10)),
        ("ward", am.suppress()),
        ("note", am.suppress()),
        ("view", am.suppress()),
        ("ok", am.suppress()),
    ],
)
def test_values_of_every_type_go_through(name: str, hierarchy: am.Hierarchy) -> None:
    table = pa.table(odd())
    release = am.anonymize(table, odd_policy(name, hierarchy))
    assert release.table.column_names == [name, "disease"]
    assert release.rows_out == 40
    # A null here and there, in as many chunks, from every library: the same cells come out.
    holes = pa.array([i % 13 == 5 for i in range(40)])
    holed = table.set_column(table.column_names.index(name), name, pc.if_else(holes, None, plain(table[name])))
    chunked = pa.concat_tables([holed.slice(0, 1), holed.slice(1, 0), holed.slice(1)])
    policy = odd_policy(name, hierarchy)
    for rows in ("drop", "keep"):
        policy.set("data", "missing_rows", rows)
        expected = am.anonymize(holed, policy)
        assert expected.to_dict()["rows_dropped_missing"] == (3 if rows == "drop" else 0)
        tables = {
            "pandas": chunked.to_pandas(),
            "polars": pl.DataFrame(chunked),
            "pyarrow": chunked,
            "duckdb": duckdb.from_arrow(chunked),
        }
        for kind, frame in tables.items():
            released = am.anonymize(frame, policy)
            assert type(released.table) is type(frame), kind
            assert sorted(cells(released.table)) == sorted(cells(expected.table)), (kind, rows)


def plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Without a dictionary or views, of which not every function of pyarrow knows."""
    kind = column.type
    if pa.types.is_dictionary(kind) or kind == pa.string_view():
        return column.cast(pa.string())
    return column


def test_whole_numbers_stay_whole_beside_unknown_ones() -> None:
    frame = pd.DataFrame({"age": [30, None, 31, None] * 5, "disease": ["flu", "cold"] * 10}).astype({"age": "Int64"})
    policy = am.Policy(
        quasi={"age": am.intervals(5)}, sensitive="disease", require=am.k_anonymity(5), missing_rows="keep", algorithm="optimal")
    released = am.anonymize(frame, policy).table
    assert str(released["age"].dtype) == "Int64" and set(released["age"].dropna()) == {30, 31}
    assert released["age"].isna().sum() == 10


def test_types_of_a_release_are_those_of_the_writer(patients: Any) -> None:
    policy = small_policy(quasi={"age": am.intervals(5), "sex": am.suppress()}, require=am.k_anonymity(1), columns=None)
    table = am.anonymize(pa.Table.from_pandas(patients), policy).table
    assert pa.types.is_integer(table.schema.field("age").type)
    assert not pa.types.is_integer(table.schema.field("sex").type)


def test_nulls_are_unknown(patients: Any, policy: am.Policy) -> None:
    frame = patients.copy()
    frame.loc[:9, "sex"] = None
    release = am.anonymize(frame, policy)
    assert release.to_dict()["rows_dropped_missing"] == 10
    kept = policy.copy()
    kept.set("data", "missing_rows", "keep")
    assert am.anonymize(frame, kept).to_dict()["rows_dropped_missing"] == 0


def test_chunks_do_not_matter(patients: Any, policy: am.Policy) -> None:
    table = pa.Table.from_pandas(patients)
    chunked = pa.concat_tables([table.slice(0, 7), table.slice(7, 0), table.slice(7, 300), table.slice(307)])
    assert cells(am.anonymize(chunked, policy).table) == cells(am.anonymize(table, policy).table)


def test_categories_of_pandas_and_polars(patients: Any, policy: am.Policy) -> None:
    frame = patients.astype({"sex": "category", "diagnosis": "category"})
    assert cells(am.anonymize(frame, policy).table) == cells(am.anonymize(patients, policy).table)
    polars = pl.DataFrame(pa.Table.from_pandas(patients)).with_columns(pl.col("sex", "diagnosis").cast(pl.Categorical))
    assert cells(am.anonymize(polars, policy).table) == cells(am.anonymize(patients, policy).table)


def test_an_index_is_no_column(patients: Any, policy: am.Policy) -> None:
    named = patients.set_index("id", drop=False).rename_axis("person")
    release = am.anonymize(named, policy)
    assert list(release.table.columns) == ["age", "sex", "zip", "diagnosis"]
    assert list(release.table.index) == list(range(release.rows_out))


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "duckdb"])
def test_a_frame_without_rows_is_refused(patients: Any, policy: am.Policy, kind: str) -> None:
    with pytest.raises(am.DataError, match="no rows"):
        am.anonymize(kinds(patients.iloc[:0])[kind], policy)


def test_names_that_occur_twice_are_refused(policy: am.Policy) -> None:
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["age", "age"])
    with pytest.raises(am.DataError, match="two columns are called"):
        am.anonymize(table, policy)
    frame = pd.DataFrame([[1, 2]], columns=["age", "age"])
    with pytest.raises(am.DataError, match="age"):
        am.anonymize(frame, policy)


def test_columns_that_name_people_are_not_even_converted(patients: Any, policy: am.Policy) -> None:
    odd = patients.assign(photo=[{"nested": n} for n in range(len(patients))], note=[1, "two", 3.0] * (len(patients) // 3))
    assert cells(am.anonymize(odd, policy).table) == cells(am.anonymize(patients, policy).table)
    assert am.audit(odd, policy).measured == am.audit(patients, policy).measured
    named = am.audit(odd, quasi=["age", "sex"], sensitive="diagnosis")
    assert named.measured == am.audit(patients, quasi=["age", "sex"], sensitive="diagnosis").measured
    with pytest.raises(am.DataError, match="photo"):
        am.init(odd.drop(columns="note"))


def test_two_bounds_of_a_released_frame_are_read_although_the_policy_names_neither(patients: Any) -> None:
    policy = small_policy()
    policy.set("output", "ranges", "bounds")
    released = am.anonymize(patients, policy).table
    assert am.audit(released, policy).holds


def test_categories_that_no_row_has_are_not_released(patients: Any, policy: am.Policy) -> None:
    kinds = [*patients["diagnosis"].unique(), "Plague"]
    frame = patients.assign(diagnosis=pd.Categorical(patients["diagnosis"], categories=kinds))
    release = am.anonymize(frame, policy)
    assert not any(b"Plague" in file for file in release.files.values())
    assert "Plague" not in release.table["diagnosis"].cat.categories


def test_dates_with_a_time_zone_are_dates() -> None:
    days = pd.date_range("1980-01-01", periods=40, freq="31D")
    frame = pd.DataFrame({"born": days, "disease": ["flu", "hiv", "cold", "flu"] * 10})
    policy = odd_policy("born", am.dates("month", "year", "decade"))
    zoned = frame.assign(born=days.tz_localize("Europe/Berlin"))
    assert cells(am.anonymize(zoned, policy).table) == cells(am.anonymize(frame, policy).table)


@pytest.mark.parametrize("make", ["batch", "reader", "chunks"])
def test_other_tables_of_pyarrow(make: str, patients: Any, policy: am.Policy) -> None:
    table = pa.Table.from_pandas(patients)
    given = {"batch": lambda: table.combine_chunks().to_batches()[0], "reader": table.to_reader, "chunks": lambda: table}[make]()
    release = am.anonymize(given, policy)
    assert isinstance(release.table, pa.Table) and cells(release.table) == cells(am.anonymize(patients, policy).table)


def test_a_table_without_a_library_is_still_one(policy: am.Policy) -> None:
    table = am.sample(200)
    assert len(table) == 200 and table.column_names[1] == "age"
    release = am.anonymize(table, policy)
    assert isinstance(release.table, am.Table)
    assert release.table.to_pandas().shape == (release.rows_out, 4)


def test_a_frame_of_a_subclass_is_a_frame_of_its_library(patients: Any, policy: am.Policy) -> None:
    class Places(pd.DataFrame):
        """As geopandas has them: pandas' frame with more to it."""

        @property
        def _constructor(self) -> Any:
            return Places

    frame = Places(patients).set_index("id", drop=False)
    assert "__index_level_0__" not in am.init(frame).columns
    release = am.anonymize(frame, policy)
    assert isinstance(release.table, pd.DataFrame) and cells(release.table) == cells(am.anonymize(patients, policy).table)


def test_columns_may_have_any_name(policy: am.Policy) -> None:
    names = ["_as_table", "columns", "to_frame", "__arrow_c_stream__", "collect", "index", "*x", "a.b", 'quo"te', "a b", "ä", "[x]"]
    frame = pd.DataFrame({name: [1, 2] * 10 for name in names})
    for table in kinds(frame).values():
        made = am.Policy(quasi={name: am.suppress() for name in names}, require=am.k_anonymity(2), algorithm="optimal")
        release = am.anonymize(table, made)
        assert list(release.table.columns if hasattr(release.table, "iloc") else pa.table(release.table).column_names) == names
        assert am.Policy.from_toml(made.to_toml()).quasi == names


def test_columns_of_polars_that_its_streams_have_no_form_for() -> None:
    rows = 20
    frame = pl.DataFrame(
        {
            "age": pl.Series([30, 31] * 10, dtype=pl.Int128),
            "nothing": [None] * rows,
            "things": pl.Series([object()] * rows, dtype=pl.Object),
            "nested": [{"a": 1}] * rows,
            "disease": ["flu", "cold"] * 10,
        }
    )
    policy = am.Policy(
        quasi={"age": am.intervals(5)}, sensitive="disease", others="identifying", require=am.k_anonymity(5), algorithm="optimal")
    release = am.anonymize(frame, policy)
    assert release.rows_out == rows and sorted(set(release.table["age"])) == [30, 31]
    assert am.init(frame.drop("things", "nested")).columns == ["age", "nothing", "disease"]
    with pytest.raises(am.DataError, match="'things' holds Python objects"):
        am.audit(frame, quasi="things")
    with pytest.raises(am.DataError, match="no rows"):
        am.anonymize(pl.DataFrame({"age": [], "disease": []}), policy)
