"""What tests take from scikit-learn under other names, or not at all, in its older versions."""

from __future__ import annotations

from typing import Any

import pytest
import sklearn
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.utils.fixes import parse_version


def older_than(version: str) -> bool:
    """Whether the scikit-learn that is installed is older."""
    return bool(parse_version(sklearn.__version__) < parse_version(version))


#: Discriminant analyses of older versions warn of covariances without full rank, and fit something.
KNOWS_RANK = pytest.mark.skipif(older_than("1.8"), reason="covariances without full rank are no error")


def sparse_logistic(l1_ratio: float, **options: Any) -> LogisticRegression:
    """Return a logistic regression with an l1 penalty, or in part with one."""
    if older_than("1.8"):
        options["penalty"] = "l1" if l1_ratio == 1.0 else "elasticnet"
        options["l1_ratio"] = None if l1_ratio == 1.0 else l1_ratio
        return LogisticRegression(**options)
    return LogisticRegression(l1_ratio=l1_ratio, **options)


def logistic_cv(**options: Any) -> LogisticRegressionCV:
    """Return one with an l2 penalty that is scored by accuracy; newer versions warn of defaults that will change."""
    newer = {} if older_than("1.8") else {"l1_ratios": (0.0,), "use_legacy_attributes": False}
    return LogisticRegressionCV(scoring="accuracy", **newer, **options)
