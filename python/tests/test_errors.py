"""What bad input gets: the named exception with the fix in its text, no person's value, and nothing written."""

from __future__ import annotations

import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import small_policy

import amidst as am

SECRET = "Zebulon-4711"


def secret_rows() -> pd.DataFrame:
    return pd.DataFrame({"age": [30, 31, 32, 33], "name": [SECRET] * 4, "disease": ["flu", "flu", "hiv", SECRET]})


def aged(ages: Any) -> pa.Table:
    return pa.table({"age": ages, "disease": ["flu"]})


def suppressing(**more: Any) -> am.Policy:
    settings: dict[str, Any] = {"quasi": {"age": am.suppress()}, "sensitive": "disease", "others": "identifying"}
    return am.Policy(**{**settings, "require": am.k_anonymity(2), "algorithm": "optimal", **more})


def test_columns_that_are_not_there(patients: Any, policy: am.Policy) -> None:
    with pytest.raises(am.PolicyError, match="age"):
        am.anonymize(patients.drop(columns="age"), policy)
    with pytest.raises(am.Error, match="agge"):
        am.audit(patients, quasi="agge", sensitive="diagnosis")


def test_columns_that_the_policy_does_not_name(patients: Any) -> None:
    with pytest.raises(am.PolicyError) as caught:
        am.anonymize(patients, small_policy(others=None))
    assert caught.value.hint


def test_a_policy_for_another_table(patients: Any) -> None:
    with pytest.raises(am.PolicyError):
        am.anonymize(patients, suppressing())


def test_nested_and_mixed_columns() -> None:
    nested = secret_rows().assign(age=[[1], [2], [3], [4]])
    for frame in (nested, pl.DataFrame(pa.Table.from_pandas(nested)), pa.Table.from_pandas(nested)):
        with pytest.raises(am.DataError, match="age"):
            am.anonymize(frame, suppressing())
    mixed = secret_rows().assign(age=[1, SECRET, 3.5, {"a": 1}])
    with pytest.raises(am.DataError, match="'age'.*astype") as caught:
        am.anonymize(mixed, suppressing())
    assert SECRET not in str(caught.value)


def test_values_that_arrow_has_no_kind_for_are_not_quoted() -> None:
    broken = secret_rows().assign(disease=pd.Series([f"{SECRET}\ud800"] * 4, dtype=object))
    sparse = secret_rows().assign(age=pd.arrays.SparseArray([1, 0, 0, 1]))
    for frame, column in ((broken, "disease"), (sparse, "age"), (secret_rows().assign(age=[1j, 2j, 3j, 4j]), "age")):
        with pytest.raises(am.DataError, match=f"'{column}'.*astype") as caught:
            am.anonymize(frame, suppressing())
        told: BaseException | None = caught.value
        while told is not None:
            assert SECRET not in str(told) and told.__suppress_context__
            told = told.__cause__


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ([1, 2], "not list; pandas.DataFrame"),
        ({"age": [1]}, "not dict; pandas.DataFrame"),
        (np.zeros((2, 2)), "not ndarray; pandas.DataFrame"),
        ((row for row in [1]), "not generator"),
        (None, "there is no table"),
        ("", "path of the table is empty"),
        (pd.DataFrame, "DataFrame is a class"),
        (pd.Series([1]), "to_frame"),
        (pl.Series([1]), "to_frame"),
        (secret_rows().groupby("age"), "not DataFrameGroupBy"),
        (pl.LazyFrame({"a": [1]}), "collect"),
        (pd.DataFrame(), "no columns"),
        (secret_rows().iloc[:0], "no rows"),
        (pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["age", "age"]), "two columns are called"),
        (pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["age", ""]), "has no name"),
        (secret_rows().assign(age=[b"\xff\xfe"] * 4), 'row 1 of the column "age".*identifying'),
        (secret_rows().assign(age=[f"{SECRET}\0"] * 4), 'row 1 of the column "age".*identifying'),
        (secret_rows().assign(age=[{1, 2}] * 4), "age"),
        (secret_rows().assign(age=[object()] * 4), "'age'.*astype"),
        (secret_rows().assign(age=pd.period_range("1980-01", periods=4, freq="M")), "'age'.*to_timestamp"),
        (secret_rows().assign(age=pd.interval_range(0, 4)), "'age'.*intervals.*astype"),
        (secret_rows().assign(age=pd.cut(pd.Series([1, 2, 3, 4]), 2)), "'age'.*intervals.*astype"),
        (pd.DataFrame(index=range(4)), "no columns"),
        (pa.table({}), "no columns"),
        (aged(pa.array([2**62], pa.timestamp("s"))), '"age" holds dates or times that no calendar has'),
        (aged(pa.array([1], pa.timestamp("s", "Nowhere/City"))), '"age".*time zone that nobody knows'),
        (aged(pa.RunEndEncodedArray.from_arrays([1], ["a"])), '"age".*run_end_decode'),
        (aged(pa.array([[SECRET]])), '"age" holds lists.*flatten it'),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_what_is_wrong_with_a_table_is_told_with_the_way_to_mend_it(wrong: Any, told: str, tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(am.DataError, match=told) as caught:
        am.anonymize(wrong, suppressing())
    assert SECRET not in str(caught.value) and list(tmp_path.iterdir()) == []


def test_a_stream_that_breaks_off_is_refused_without_a_word_of_it() -> None:
    table = pa.Table.from_pandas(secret_rows())

    def rows() -> Any:
        yield table.to_batches()[0]
        raise ValueError(SECRET)

    with pytest.raises(am.DataError, match="broke off") as caught:
        am.anonymize(pa.RecordBatchReader.from_batches(table.schema, rows()), suppressing())
    assert SECRET not in str(caught.value) and caught.value.__cause__ is None


def test_errors_name_the_text_of_a_policy_made_in_code_and_its_arguments(patients: Any) -> None:
    with pytest.raises(am.PolicyError) as caught:
        am.anonymize(patients, small_policy(others=None))
    assert "policy.to_toml():" in str(caught.value) and caught.value.file is None
    assert 'others="identifying"' in (caught.value.hint or "")
    with pytest.raises(am.PolicyError, match="require=.amidst.k_anonymity"):
        am.anonymize(patients, small_policy(require=[]))
    with pytest.raises(am.PolicyError, match="'age' is named as quasi and as sensitive"):
        am.Policy(quasi="age", sensitive="age")


def test_arguments_that_were_meant_otherwise(patients: Any, policy: am.Policy) -> None:
    with pytest.raises(TypeError, match="the table comes first"):
        am.anonymize(policy, patients)
    with pytest.raises(TypeError, match="from_toml"):
        am.anonymize(patients, policy.to_toml())
    with pytest.raises(TypeError, match="Policy.read"):
        am.Policy("policy.toml")
    with pytest.raises(TypeError, match="Policy.read.path.*"):
        am.Policy.from_toml(5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"amidst.linkage\(\)"):
        am.attack(am.linkage, patients, policy)  # type: ignore[arg-type]
    with pytest.raises(am.Error, match="sampling_fraction"):
        am.audit(patients, policy, sampling_fraction=3)
    with pytest.raises(am.Error, match=r"Series\(.*\).init"):
        am.Series("nowhere").publish()


def test_numbers_and_names_of_the_wrong_kind(patients: Any, policy: am.Policy) -> None:
    with pytest.raises(ValueError, match="seed is a whole number from 0 on"):
        am.anonymize(patients, policy, seed=-1)
    with pytest.raises(TypeError, match="seed is a whole number, not str"):
        am.anonymize(patients, policy, seed="1")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="up to"):
        am.anonymize(patients, policy, seed=2**70)
    with pytest.raises(ValueError, match="rows is a whole number from 1 on"):
        am.sample(0)
    with pytest.raises(ValueError, match="the level of 'age'"):
        am.explore(patients, policy, node={"age": -1, "sex": 0, "zip": 0})
    for wrong in (1, [1]):
        with pytest.raises(TypeError, match="such as '1'"):
            am.audit(patients, quasi=wrong)  # type: ignore[arg-type]


def test_a_text_where_a_number_belongs() -> None:
    frame = secret_rows().assign(age=["30", SECRET, "32", "33"])
    with pytest.raises(am.PolicyError) as caught:
        am.anonymize(frame, suppressing(quasi={"age": am.intervals(5)}))
    assert SECRET not in str(caught.value) and SECRET not in str(caught.value.hint)


def test_a_file_that_is_no_table(tmp_path: Any, policy: am.Policy) -> None:
    (tmp_path / "t.parquet").write_bytes(b"no parquet at all")
    (tmp_path / "t.xlsx").write_bytes(b"no table")
    for name in ("t.parquet", "t.xlsx", "absent.csv"):
        with pytest.raises(am.DataError, match=name):
            am.anonymize(tmp_path / name, policy)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["t.parquet", "t.xlsx"]


@pytest.mark.parametrize("wrong", [None, 5, [1, 2], {"a": [1]}, object(), pd.Series([1]), pl.LazyFrame({"a": [1]})])
def test_what_is_no_table(wrong: Any, policy: am.Policy) -> None:
    expected: tuple[type[Exception], ...] = (am.DataError, am.PolicyError)
    with pytest.raises(expected):
        am.anonymize(wrong, policy)


def test_a_frame_whose_stream_fails(policy: am.Policy) -> None:
    class Broken:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            raise ValueError(SECRET)

    with pytest.raises(am.DataError) as caught:
        am.anonymize(Broken(), policy)
    assert SECRET not in str(caught.value)

    class Wrong:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return SECRET

    with pytest.raises(am.DataError) as caught:
        am.anonymize(Wrong(), policy)
    assert SECRET not in str(caught.value)


def test_what_is_no_policy(patients: Any, tmp_path: Any) -> None:
    with pytest.raises(TypeError, match="policy"):
        am.anonymize(patients)
    with pytest.raises(TypeError, match="int"):
        am.anonymize(patients, 5)  # type: ignore[arg-type]
    with pytest.raises(am.DataError, match="absent"):
        am.anonymize(patients, tmp_path / "absent.toml")
    with pytest.raises(TypeError, match="both"):
        am.audit(patients, small_policy(), quasi="age")


@pytest.mark.parametrize("algorithm", [None, "optimal", "mondrian", "cell-suppression"])
def test_what_is_impossible(algorithm: str | None, patients: Any) -> None:
    asked = [am.k_anonymity(2), am.k_anonymity(100_000)]
    with pytest.raises(am.Impossible) as caught:
        am.anonymize(patients, small_policy(require=asked, max_suppression=0, algorithm=algorithm))
    error = caught.value
    assert error.position == 1 and error.requirement == asked[1]
    assert error.parameter == "k" and error.possible == 600 and error.attained
    # What is called possible is.
    assert am.anonymize(patients, small_policy(require=am.k_anonymity(600), max_suppression=0)).classes == 1


def test_the_most_that_is_possible_is_exact(patients: Any) -> None:
    shares = patients["diagnosis"].value_counts()
    with pytest.raises(am.Impossible) as caught:
        am.anonymize(patients, small_policy(require=am.simple_alpha_k_anonymity("1/600", shares.index[0], 2), max_suppression=0))
    error = caught.value
    assert error.parameter == "alpha" and error.possible == Fraction(int(shares.iloc[0]), 600)
    copied = pickle.loads(pickle.dumps(error))
    assert copied.possible == error.possible and copied.requirement == error.requirement and str(copied) == str(error)


def test_suppression_that_would_be_needed_is_counted(patients: Any) -> None:
    counts = patients["diagnosis"].value_counts()
    asked = am.simple_alpha_k_anonymity(Fraction(int(counts.iloc[0]) - 1, 600), counts.index[0], 2)
    with pytest.raises(am.Impossible) as caught:
        am.anonymize(patients, small_policy(require=asked, max_suppression=0, algorithm="optimal"))
    least = caught.value.least_suppression
    assert least is not None and 0 < least < 600
    enough = small_policy(require=asked, max_suppression=Fraction(least, 600), algorithm="optimal")
    assert am.anonymize(patients, enough).suppressed == least
    with pytest.raises(am.Impossible):
        am.anonymize(patients, small_policy(require=asked, max_suppression=Fraction(least - 1, 600), algorithm="optimal"))


def test_a_series_that_cannot_go_on_says_why(patients: Any, tmp_path: Any) -> None:
    policy = am.Policy(
        quasi={"age": am.intervals(5, 10, 20, 40)}, sensitive="diagnosis", key="id", others="identifying",
        require=am.k_anonymity(50))  # fmt: skip
    series = am.Series(tmp_path / "clinic")
    series.init(patients.head(60), policy, mode="maintain")
    assert series.policy.require == [am.k_anonymity(50)]
    # Rows that are to be deleted are; of those left only a safe version can be made.
    series.delete(pd.DataFrame({"id": patients["id"].head(20)}))
    with pytest.raises(am.Impossible, match="k-anonymity in no way"):
        series.publish()
    with pytest.raises(am.Impossible) as caught:
        am.Series(tmp_path / "other").init(patients.head(40), policy, mode="maintain")
    assert caught.value.requirement == am.k_anonymity(50) and caught.value.possible == 40


def test_no_message_names_a_person(tmp_path: Any) -> None:
    frame = pd.concat([secret_rows()] * 10, ignore_index=True)
    frame["note"] = [f"{SECRET} {n}" for n in range(len(frame))]
    messages = []
    for policy in (
        suppressing(require=am.k_anonymity(50)),
        suppressing(quasi={"name": am.intervals(5)}),
        suppressing(quasi={"name": am.taxonomy({"Any": {"A": ["x"]}})}),
        suppressing(quasi={"name": am.dates("year")}),
        suppressing(insensitive="note"),
    ):
        with pytest.raises(am.Error) as caught:
            am.anonymize(frame, policy)
        messages.append(str(caught.value))
    assert len(messages) == 5 and not any(SECRET in message for message in messages), messages


def test_the_tree_of_exceptions() -> None:
    for kind in (am.PolicyError, am.Impossible, am.Violated, am.DataError):
        assert issubclass(kind, am.Error) and issubclass(kind, Exception)
        assert str(pickle.loads(pickle.dumps(kind("said")))) == "said"
