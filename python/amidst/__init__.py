"""Publishes tables about people without publishing anyone.

A data frame and a policy go in, a release in which every person stands amidst others comes out, as the same kind of frame,
with a certificate that an outsider can check:

    import amidst as am

    policy = am.Policy(
        quasi={"age": am.intervals(5, 10, 20), "zip": am.mask(5)}, sensitive="disease", identifying=["name"],
        require=[am.k_anonymity(5), am.entropy_l_diversity(3, on="disease")], max_suppression=0.02)
    release = am.anonymize(df, policy)
    release.table
"""

from . import _constructors
from ._amidst import __version__ as __version__
from ._calls import anonymize, attack, audit, explore, init, sample, sample_policy, survey, verify
from ._constructors import *  # noqa: F403
from ._errors import DataError, Error, Impossible, PolicyError, Violated
from ._policy import Column, Policy, Requirements
from ._recoding import Recoding
from ._release import Release
from ._results import Attacked, Audit, Explored, Figures, Report, Survey, Verdict
from ._series import Series
from ._tables import Table
from ._values import Algorithm, Attack, Hierarchy, Metric, Requirement

__all__ = [
    "Algorithm", "Attack", "Attacked", "Audit", "Column", "DataError", "Error", "Explored", "Figures", "Hierarchy",
    "Impossible", "Metric", "Policy", "PolicyError", "Recoding", "Release", "Report", "Requirement", "Requirements", "Series",
    "Survey", "Table", "Verdict", "Violated", "__version__", "anonymize", "attack", "audit", "explore", "init", "sample",
    "sample_policy", "survey", "verify",
]  # fmt: skip
__all__ += _constructors.__all__
