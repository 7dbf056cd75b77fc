"""Fit and transform, alone and in scikit-learn."""

from __future__ import annotations

import pickle
from typing import Any

import pandas as pd
import pytest
from conftest import cells, small_policy

import amidst as am


@pytest.mark.parametrize("algorithm", ["optimal", "mondrian", "k-member"])
def test_further_rows_get_cells_of_the_release(algorithm: str, patients: Any) -> None:
    train, test = patients.head(400), patients.tail(200)
    recoding = am.Recoding.fit(train, small_policy(algorithm=algorithm))
    recoded = recoding.transform(test)
    quasi = {row[:3] for row in cells(recoding.release.table)}
    assert {row[:3] for row in cells(recoded)} <= quasi
    assert len(recoded) + recoding.suppressed == 200 and recoding.fits.count(True) == len(recoded)
    assert list(recoded["diagnosis"]) == list(test["diagnosis"][recoding.fits])
    assert (recoding.levels is None) == (algorithm != "optimal")


def test_rows_of_the_release_are_recoded_as_in_it(patients: Any) -> None:
    policy = small_policy(max_suppression=0)
    recoding = am.Recoding.fit(patients, policy)
    again = recoding.transform(patients)
    assert recoding.suppressed == 0
    assert sorted(cells(again)) == sorted(cells(recoding.release.table))


def test_strangers_are_suppressed_or_masked(patients: Any) -> None:
    recoding = am.Recoding.fit(patients, small_policy(columns={"zip": {"type": "text"}}))
    stranger = patients.head(3).assign(sex=["F", "M", None], age=[5000, 30, 30])
    assert len(recoding.transform(stranger)) + recoding.suppressed == 3 and recoding.suppressed >= 2
    masked = recoding.transform(stranger, suppressed="mask")
    assert len(masked) == 3 and cells(masked)[0][:3] == ("*", "*", "*")
    with pytest.raises(ValueError, match="mask"):
        recoding.transform(stranger, suppressed="keep")
    with pytest.raises(am.Error, match="zip"):
        recoding.transform(patients.drop(columns="zip"))


def test_a_recoding_can_be_pickled_without_the_rows_it_was_fitted_on(patients: Any) -> None:
    named = patients.assign(id=[f"Canary-{n}" for n in range(len(patients))])
    for algorithm in ("optimal", "mondrian"):
        recoding = am.Recoding.fit(named.head(400), small_policy(algorithm=algorithm))
        expected = cells(recoding.transform(named.tail(200)))
        pickled = pickle.dumps(recoding)
        assert b"Canary" not in pickled
        again = pickle.loads(pickled)
        assert cells(again.transform(named.tail(200))) == expected and again.levels == recoding.levels
        with pytest.raises(am.Error, match="save"):
            again.release
        with pytest.raises(TypeError, match="save"):
            pickle.dumps(recoding.release)


def test_kinds_of_frames(patients: Any) -> None:
    import polars as pl
    import pyarrow as pa

    recoding = am.Recoding.fit(patients, small_policy())
    table = pa.Table.from_pandas(patients)
    assert isinstance(recoding.transform(pl.DataFrame(table)), pl.DataFrame)
    assert isinstance(recoding.transform(table), pa.Table)


def test_the_transformer(patients: Any) -> None:
    from sklearn.base import clone
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.exceptions import NotFittedError
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    from amidst.sklearn import Anonymizer

    policy = am.Policy(
        quasi={"age": am.intervals(5, 10, 20, 40), "sex": am.suppress()}, others="identifying", require=am.k_anonymity(5)
    )
    features, target = patients[["id", "age", "sex"]], patients["cost"] > patients["cost"].median()
    anonymizer = Anonymizer(policy)
    assert clone(anonymizer).get_params()["policy"] == policy
    with pytest.raises(NotFittedError):
        anonymizer.transform(features)
    recoded = anonymizer.fit(features.head(400)).transform(features.tail(200))
    assert list(recoded.columns) == ["age", "sex"] == list(anonymizer.get_feature_names_out())
    assert list(recoded.index) == list(features.tail(200).index) and anonymizer.suppressed_ >= 0
    assert anonymizer.fit_transform(features).shape == (600, 2)
    model = make_pipeline(Anonymizer(policy), OneHotEncoder(handle_unknown="ignore"), RandomForestClassifier(n_estimators=5))
    model.fit(features.head(400), target.head(400))
    assert model.score(features.tail(200), target.tail(200)) > 0.3
    assert "Anonymizer" in repr(anonymizer)


def test_the_checks_of_scikit_learn_that_apply(patients: Any) -> None:
    """Those that give arrays of numbers do not: the transformer takes frames with names."""
    from sklearn.utils import estimator_checks as checks

    from amidst.sklearn import Anonymizer

    for check in (
        checks.check_estimator_cloneable,
        checks.check_no_attributes_set_in_init,
        checks.check_parameters_default_constructible,
        checks.check_get_params_invariance,
        checks.check_set_params,
        checks.check_estimator_repr,
        checks.check_estimator_tags_renamed,
        checks.check_valid_tag_types,
        checks.check_mixin_order,
        checks.check_estimators_unfitted,
        checks.check_dataframe_column_names_consistency,
        checks.check_set_output_transform,
        checks.check_set_output_transform_pandas,
        checks.check_set_output_transform_polars,
        checks.check_global_output_transform_pandas,
        checks.check_transformer_get_feature_names_out_pandas,
    ):
        check("Anonymizer", Anonymizer())
    fitted = Anonymizer(small_policy(sensitive=(), require=am.k_anonymity(2))).fit(patients)
    before = {key: value for key, value in vars(fitted).items() if not key.endswith("_")}
    frame = patients.copy()
    fitted.transform(patients)
    pd.testing.assert_frame_equal(frame, patients)
    assert before == {key: value for key, value in vars(fitted).items() if not key.endswith("_")}
    assert fitted.n_features_in_ == len(patients.columns)


def test_what_the_checks_ask_of_arrays_holds_for_frames(patients: Any) -> None:
    """Other columns than at the fit, arrays without names, outputs of another kind, and models that are put aside."""
    import polars as pl

    from amidst.sklearn import Anonymizer

    policy = small_policy(sensitive=(), require=am.k_anonymity(2))
    fitted = Anonymizer(policy).fit(patients)
    assert list(fitted.feature_names_in_) == list(patients.columns)
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.transform(patients.rename(columns={"age": "years"}))
    with pytest.raises(am.DataError, match="whose columns have names"):
        fitted.transform(patients.to_numpy())
    with pytest.raises(am.DataError, match="whose columns have names"):
        Anonymizer(policy).fit(patients.to_numpy())
    expected = fitted.transform(patients.head(50))
    assert cells(fitted.transform(patients))[:50] == cells(expected)
    assert isinstance(fitted.transform(pl.from_pandas(patients)), pl.DataFrame)
    again = pickle.loads(pickle.dumps(fitted))
    pd.testing.assert_frame_equal(again.transform(patients.head(50)), expected)
    as_polars = Anonymizer(policy).set_output(transform="polars").fit(patients).transform(patients.head(50))
    assert isinstance(as_polars, pl.DataFrame) and cells(as_polars) == cells(expected)
