"""Audit, init, explore, attack, verify, series, and what a release holds."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import cells, small_policy

import amidst as am


def test_a_release_tells_everything(patients: Any, policy: am.Policy) -> None:
    release = am.anonymize(patients, policy)
    assert release.rows_in == 600 and release.rows_out + release.suppressed == 600
    assert release.levels is None or set(release.levels) == {"age", "sex", "zip"}
    assert release.risk["prosecutor_max"] <= 0.2
    assert release.metrics["discernibility"] > 0
    assert release.certificate["classes"] == release.classes
    assert release.report["rows"]["published"] == release.rows_out
    assert "input" in release.internal_report["rows"]
    assert release.report.html.startswith("<!DOCTYPE html>") and "#" in release.report.markdown
    assert "iframe" in release._repr_html_() and "600 rows" in repr(release)
    assert release.table.shape[0] == release.rows_out


def test_a_saved_release_is_the_one_that_was_checked(patients: Any, policy: am.Policy, tmp_path: Any) -> None:
    release = am.anonymize(patients, policy)
    release.save(tmp_path / "out")
    assert (tmp_path / "out" / "public" / "release.arrow").read_bytes() == release.files["release.arrow"]
    verdict = am.verify(tmp_path / "out")
    assert verdict and verdict.valid and "certificate says" in verdict._repr_html_()
    verdict.check()
    with pytest.raises(am.Error, match="exists"):
        release.save(tmp_path / "out")
    release.save(tmp_path / "out", force=True)
    against = am.verify(tmp_path / "out", policy=policy, original=patients)
    assert against.valid, against.problems

    page = tmp_path / "out" / "public" / "report.html"
    page.chmod(0o644)
    page.write_text("forged")
    forged = am.verify(tmp_path / "out")
    assert not forged
    with pytest.raises(am.Violated) as caught:
        forged.check()
    assert caught.value.verdict is forged


def test_audits(patients: Any, policy: am.Policy) -> None:
    found = am.audit(patients, quasi=["age", "sex", "zip"], sensitive="diagnosis")
    assert found.rows == 600 and found["measured"]["k"] == 1
    assert found.risk["prosecutor_max"] == 1 and "iframe" in found._repr_html_()
    raw = am.audit(patients, policy)
    assert not raw.holds
    with pytest.raises(am.Violated, match="k-anonymity"):
        raw.check()
    release = am.anonymize(patients, policy)
    assert am.audit(release).holds
    assert am.audit(release.table, policy).measured == am.audit(release).measured
    sampled = am.audit(patients, policy, population=patients, sampling_fraction="1/2")
    assert "journalist" in json.dumps(sampled.risk)


def test_a_survey_of_a_table_that_nobody_described(patients: Any) -> None:
    found = am.survey(patients)
    assert found.rows == 600 and "<svg" in found._repr_html_()


def test_drafts(patients: Any, tmp_path: Any) -> None:
    policy = am.init(patients)
    text = policy.to_toml()
    assert "memory://" not in text and "#" in text
    assert policy.get("data", "input") is None
    assert "id" in policy.with_role("identifying") and "age" in policy.with_role("quasi")
    release = am.anonymize(patients, policy)
    assert all(r["holds"] for r in release.requirements)
    patients.to_csv(tmp_path / "patients.csv", index=False)
    named = am.init(tmp_path / "patients.csv")
    assert named.get("data", "input").endswith("patients.csv")
    assert cells(am.anonymize(policy=named).table) == cells(am.anonymize(named).table)


def test_explorations(patients: Any, policy: am.Policy) -> None:
    found = am.explore(patients, policy)
    assert found.complete and found.minimal and found.front
    assert "<table" in found._repr_html_() and "<svg" in found._repr_html_()
    why = am.explore(patients, policy, node={"age": 0, "sex": 0, "zip": 0})
    assert not why.valid and why.rows_to_suppress > 0
    assert "cannot be published" in why._repr_html_() and why.picture == ""
    # As many points as the front has, drawn as the report draws them.
    assert found.picture.count("<title>") == len(found.front) + 1 and found.picture in found._repr_html_()
    local = am.explore(patients, small_policy(algorithm="mondrian"))
    assert local.algorithms and "mondrian, risk" in local.picture
    with pytest.raises(am.Error, match="did you mean `age`"):
        am.explore(patients, policy, node={"agee": 0})


def test_attacks_on_tables_and_releases(patients: Any, policy: am.Policy, tmp_path: Any) -> None:
    voters = patients[["age", "sex", "zip"]]
    raw = am.attack("linkage", patients, quasi=["age", "sex", "zip"], sensitive="diagnosis", external=voters)
    release = am.anonymize(patients, policy)
    after = am.attack("linkage", release, external=voters)
    assert after.persons < raw.persons
    release.save(tmp_path / "out")
    assert am.attack("linkage", tmp_path / "out", external=voters).persons == after.persons
    with pytest.raises(am.Error, match="linkage"):
        am.attack("linkag", release)
    with pytest.raises(am.Error, match="external"):
        am.attack("linkage", release)


@pytest.mark.parametrize("mode", ["maintain", "m-invariant"])
def test_series(mode: str, patients: Any, tmp_path: Any) -> None:
    policy = am.Policy(
        quasi={"age": am.intervals(5, 10, 20, 40), "sex": am.suppress()},
        sensitive="diagnosis",
        key="id",
        others="identifying",
        require=[am.m_invariance(2)] if mode == "m-invariant" else [am.k_anonymity(3), am.distinct_l_diversity(2)],
    )
    series = am.Series(tmp_path / "clinic")
    first = series.init(patients.head(300), policy, mode=mode)
    assert first.version == 1 and am.verify(series.version(1)).valid
    assert series.insert(patients.iloc[300:320]).inserted == 20
    assert series.undo()["batch"] == 2
    assert series.insert(patients.iloc[300:340], delete=pd.DataFrame({"id": patients["id"].head(5)})).deleted == 5
    assert series.delete(pd.DataFrame({"id": patients["id"].iloc[5:8]})).deleted == 3
    planned = series.plan()
    assert planned["version"] == 2 and planned["rows_in"] == 40 and planned["rows_out"] == 8
    second = series.publish(allow_leak=mode == "maintain")
    assert second.version == 2 and am.verify(series.version(2)).valid
    assert "columns" in series.audit() or series.audit()
    assert len(series.log()["versions"]) == 2
    with pytest.raises(am.Error, match="nothing has changed"):
        series.publish()
    assert am.attack("intersection", series).attack == "intersection"
    with pytest.raises(am.Error, match="no series"):
        am.Series(tmp_path / "nowhere").publish()


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_the_whole_of_the_package_in_a_few_lines(kind: str, patients: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    named = patients.rename(columns={"diagnosis": "disease", "id": "name"})[["name", "age", "sex", "zip", "disease"]]
    table = pa.Table.from_pandas(named.astype({"zip": str}), preserve_index=False)
    df: Any = {"pandas": table.to_pandas, "polars": lambda: pl.DataFrame(table), "pyarrow": lambda: table}[kind]()
    voters = df[["name", "age", "zip"]] if kind != "pyarrow" else df.select(["name", "age", "zip"])

    audit = am.audit(df, quasi=["age", "sex", "zip"], sensitive="disease")
    assert audit.measured and audit.risk and "attacks" in audit
    policy = am.init(df)
    assert "#" in policy.to_toml()
    policy["age"].hierarchy = am.intervals(5, 10, 20)
    policy.check()
    policy = am.Policy(
        quasi={"age": am.intervals(5, 10, 20), "zip": am.mask(5)}, sensitive="disease", identifying=["name"],
        require=[am.k_anonymity(5), am.entropy_l_diversity(3, on="disease")], max_suppression=0.02)  # fmt: skip
    with pytest.raises(am.PolicyError, match="sex") as caught:
        am.anonymize(df, policy)
    assert caught.value.hint
    df = df.drop(columns="sex") if kind == "pandas" else df.drop("sex") if kind == "polars" else df.drop_columns("sex")
    release = am.anonymize(df, policy)
    assert type(release.table) is type(df) and release.certificate["classes"] == release.classes
    assert release.report.html and release.metrics and release.risk["prosecutor_max"] <= 0.2
    assert release.levels is None or set(release.levels) == {"age", "zip"}
    release.save("out")
    assert am.verify("out").valid
    assert am.explore(df, policy).front
    assert am.attack("linkage", release, external=voters).attack == "linkage"
    assert repr(am.Series("clinic")) and not (tmp_path / "clinic").exists()
    for shown in (audit, release, am.explore(df, policy), am.verify("out"), am.attack("linkage", release, external=voters), policy):
        assert "<" in shown._repr_html_()
