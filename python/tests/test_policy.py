"""Policies as objects: what is built, read, changed and written."""

from __future__ import annotations

import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from conftest import small_policy

import amidst as am

TEXT = """# Ours.
[columns.age]   # how old
role = "quasi"
hierarchy = { intervals = [5, 10], origin = 0 }

[columns.disease]
role = "sensitive"
order = ["Flu", "Cancer"]

[[require]]
model = "k-anonymity"
k = 5

[search]
max_suppression = "1/50"
"""


def test_text_goes_through_without_loss() -> None:
    assert am.Policy.from_toml(TEXT).to_toml() == TEXT
    assert am.sample_policy().require[1].parameters == {"l": 3}


def test_changes_keep_comments() -> None:
    policy = am.Policy.from_toml(TEXT)
    policy["age"].hierarchy = am.intervals(5, 10, 20)
    policy["disease"].order = None
    policy.seed = 7
    policy.check()
    text = policy.to_toml()
    assert "# Ours." in text and "# how old" in text
    assert "[5, 10, 20]" in text and "order" not in text and "seed = 7" in text
    assert policy["age"].hierarchy == am.intervals(5, 10, 20)
    assert am.Policy.from_toml(TEXT).to_toml() == TEXT


def test_the_constructor_says_what_the_file_would() -> None:
    policy = am.Policy(
        quasi={"age": am.intervals(5, 10, 20), "zip": am.mask(5)},
        sensitive="disease",
        identifying=["name"],
        require=[am.k_anonymity(5), am.entropy_l_diversity(3, on="disease")],
        max_suppression=0.02,
    )
    assert policy.columns == ["name", "age", "zip", "disease"]
    assert policy.with_role("quasi") == ["age", "zip"]
    assert [r.id for r in policy.require] == ["k-anonymity", "entropy-l-diversity"]
    assert policy.require[1].on == ("disease",)
    assert policy.max_suppression == 0.02
    again = am.Policy.from_toml(policy.to_toml())
    assert again == policy and again.require == policy.require


def test_numbers_stay_exact() -> None:
    for number in (Fraction(1, 3), Decimal("0.1"), "1/3"):
        requirement = am.t_closeness(number, on="disease")
        policy = am.Policy(quasi={"age": am.suppress()}, sensitive="disease", require=requirement)
        assert policy.require[0].parameters["t"] == str(number)


def test_columns_behave_like_a_mapping() -> None:
    policy = small_policy()
    assert "age" in policy and "cost" not in policy and list(policy) == policy.columns and len(policy) == 4
    with pytest.raises(KeyError):
        policy["cost"]
    assert policy["zip"].type == "text" and policy["age"].weight is None
    policy["age"].weight = 2
    policy["age"].role = "insensitive"
    assert policy["age"].weight == 2 and policy.with_role("insensitive") == ["age"]


def test_columns_of_a_role_and_the_text_are_at_hand() -> None:
    policy = am.Policy(quasi=["age", "zip"], sensitive="disease", identifying="name", require=am.k_anonymity(2))
    assert (policy.quasi, policy.sensitive, policy.identifying) == (["age", "zip"], ["disease"], ["name"])
    assert str(policy) == policy.to_toml()
    with pytest.raises(AttributeError, match="cannot be assigned"):
        policy.quasi = ["age"]  # type: ignore[misc]


def test_requirements_are_a_list_that_the_policy_follows() -> None:
    policy = small_policy()
    policy.require.append(am.entropy_l_diversity(2, on="diagnosis"))
    assert "entropy-l-diversity" in policy.to_toml() and len(policy.require) == 2
    policy.require[0] = am.k_anonymity(7)
    assert policy.require == [am.k_anonymity(7), am.entropy_l_diversity(2, on="diagnosis")]
    assert repr(policy.require) == "[k_anonymity(k=7), entropy_l_diversity(on='diagnosis', l=2)]"
    policy.require += [am.t_closeness("1/3")]
    policy.require = policy.require + [am.distinct_l_diversity(2)]
    del policy.require[1]
    assert [r.id for r in policy.require] == ["k-anonymity", "t-closeness", "distinct-l-diversity"]
    policy.check()
    with pytest.raises(TypeError):
        policy.require[0].parameters["k"] = 99  # type: ignore[index]


def test_what_is_misspelt_is_told_and_changes_nothing() -> None:
    policy = small_policy()
    before = policy.to_toml()
    with pytest.raises(AttributeError, match="did you mean 'max_suppression'"):
        policy.max_supression = 0.5  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="did you mean 'hierarchy'"):
        policy["age"].hierachy = am.intervals(10)  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="cannot be assigned"):
        policy.columns = []  # type: ignore[misc]
    with pytest.raises(KeyError, match="did you mean 'age'"):
        policy["agee"]
    assert policy.to_toml() == before


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"require": "k-anonymity"}, "amidst.k_anonymity"),
        ({"require": am.t_closeness}, "amidst.t_closeness"),
        ({"require": [5]}, "not int"),
        ({"quasi": {"age": am.suppress}}, "amidst.suppress()"),
        ({"quasi": {"age": [5, 10]}}, "amidst.intervals"),
        ({"columns": {"zip": "text"}}, "mapping"),
        ({"quasi": [1, 2]}, "texts"),
    ],
)
def test_what_is_no_part_of_a_policy_is_a_type_error(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(TypeError, match=told.replace("(", r"\(").replace(")", r"\)")):
        small_policy(**wrong)


def test_options_go_with_their_algorithm() -> None:
    policy = small_policy(algorithm=am.mondrian(cut="median"))
    assert policy.get("search", "options") == {"cut": "median"}
    policy.algorithm = "optimal"
    policy.check()
    assert policy.get("search", "options") is None


def test_copies_and_pickles_are_apart() -> None:
    policy = small_policy()
    copy = policy.copy()
    copy.seed = 99
    assert policy.seed is None and pickle.loads(pickle.dumps(copy)) == copy


def test_files(tmp_path: Any) -> None:
    policy = small_policy()
    policy.save(tmp_path / "policy.toml")
    assert am.Policy.read(tmp_path / "policy.toml") == policy
    with pytest.raises(FileExistsError):
        policy.save(tmp_path / "policy.toml")
    with pytest.raises(am.DataError, match="nowhere"):
        am.Policy.read(tmp_path / "nowhere.toml")


def test_errors_have_a_place_and_a_hint() -> None:
    with pytest.raises(am.PolicyError) as caught:
        am.Policy.from_toml('[columns.age]\nrole = "quasy"\n', "p.toml")
    error = caught.value
    assert (error.file, error.line) == ("p.toml", 2) and error.column is not None
    assert "quasi" in str(error)
    with pytest.raises(am.PolicyError) as caught:
        am.Policy.from_toml("columns = [")
    assert caught.value.line == 1
    with pytest.raises(am.PolicyError, match="k-anonymity"):
        am.Policy.from_toml('[[require]]\nmodel = "k-anonimity"\nk = 5\n')


@pytest.mark.parametrize("wrong", ["five", -1, 0, 2.5])
def test_a_text_where_a_number_belongs(wrong: Any) -> None:
    with pytest.raises(am.PolicyError, match="`k`"):
        am.Policy(quasi={"age": am.suppress()}, require=am.k_anonymity(wrong))


def test_pages() -> None:
    assert "<pre>" in small_policy()._repr_html_()


COMMENTED = """# Ours.
[columns.age]   # how old
role = "quasi"
# In years.
hierarchy = { intervals = [5, 10] }   # by fives

[columns."home town"]
role = "sensitive"

# At least five.
[[require]]
model = "k-anonymity"
# Agreed in May.
k = 5   # not four

# And two illnesses.
[[require]]
on = "home town"   # which one
model = "distinct-l-diversity"
l = 2

[search]
# One in fifty.
max_suppression = "1/50"
"""


def test_comments_stay_beside_what_is_changed() -> None:
    policy = am.Policy.from_toml(COMMENTED)
    policy["age"].hierarchy = am.intervals(5, 10, 20)
    policy.max_suppression = "1/20"
    policy.require[0] = am.k_anonymity(7)
    changed = COMMENTED.replace("intervals = [5, 10]", "intervals = [5, 10, 20]").replace("1/50", "1/20").replace("k = 5 ", "k = 7 ")
    assert policy.to_toml() == changed


def test_requirements_that_stay_keep_their_comments_and_their_place() -> None:
    policy = am.Policy.from_toml(COMMENTED)
    policy.require.append(am.t_closeness("1/3", on="home town"))
    text = policy.to_toml()
    assert text.replace('\n[[require]]\nmodel = "t-closeness"\non = "home town"\nt = "1/3"\n', "") == COMMENTED
    assert text.index("l = 2") < text.index("t-closeness") < text.index("[search]")
    policy.require.insert(0, policy.require.pop())
    assert [r.id for r in policy.require] == ["t-closeness", "k-anonymity", "distinct-l-diversity"]
    assert am.Policy.from_toml(policy.to_toml()).require == policy.require
    del policy.require[0]
    assert policy.to_toml() == COMMENTED
    policy.require.reverse()
    assert [r.id for r in am.Policy.from_toml(policy.to_toml()).require] == ["distinct-l-diversity", "k-anonymity"]
    for comment in ("# At least five.", "# Agreed in May.", "# not four", "# And two illnesses.", "# which one"):
        assert comment in policy.to_toml()


def test_a_file_of_windows_goes_through_without_loss(tmp_path: Any) -> None:
    file = tmp_path / "policy.toml"
    file.write_bytes(COMMENTED.replace("\n", "\r\n").encode())
    policy = am.Policy.read(file)
    policy.save(tmp_path / "again.toml")
    assert (tmp_path / "again.toml").read_bytes() == file.read_bytes()
    with pytest.raises(am.PolicyError) as caught:
        am.Policy.from_toml(COMMENTED.replace("\n", "\r\n").replace('"k-anonymity"', '"k-anonimity"'))
    assert caught.value.line == 12
