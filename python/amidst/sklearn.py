"""A transformer for scikit-learn: fit recodes a table by a policy, transform recodes further rows alike."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ._errors import DataError
from ._policy import Policy
from ._recoding import Recoding


def _named(table: Any) -> None:
    """Refuses arrays: a policy speaks of columns by their names."""
    if not hasattr(table, "columns"):
        raise DataError(
            f"the anonymizer takes data frames, whose columns have names, not {type(table).__name__}; "
            "pandas.DataFrame(array, columns=[…]) gives them names"
        )


class Anonymizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Recodes frames as a release of the training data is recoded.

    Rows stay where they are: one that fits no class of the release has `*` in every quasi column, and `suppressed_` counts
    them. Columns that are not published (identifying ones, keys) are left out.

    Args:
        policy: The policy, or the path of one. Without one, the policy that `amidst.init` drafts for the training data.
    """

    def __init__(self, policy: Policy | str | None = None) -> None:
        self.policy = policy

    def fit(self, X: Any, y: Any = None) -> Anonymizer:
        """Anonymizes the training data, and keeps how."""
        from ._calls import init

        _named(X)
        validate_data(self, X, skip_check_array=True)
        policy = init(X) if self.policy is None else self.policy
        self.recoding_ = Recoding.fit(X, policy)
        return self

    def transform(self, X: Any) -> Any:
        """Recodes further rows."""
        check_is_fitted(self, "recoding_")
        _named(X)
        validate_data(self, X, skip_check_array=True, reset=False)
        recoded = self.recoding_.transform(X, suppressed="mask")
        self.suppressed_ = self.recoding_.suppressed
        if hasattr(X, "index") and hasattr(recoded, "index"):
            recoded.index = X.index
        return recoded

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """The names of the columns that `transform` returns."""
        check_is_fitted(self, "recoding_")
        published = self.recoding_._table.column_names
        return np.asarray([name for name in self.feature_names_in_ if name in published], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        return tags
