"""Tables as text fit a terminal of 80 columns: every group of methods, with all that stands around it."""

from __future__ import annotations

import numpy as np
import pytest

from cudbound import LeastSquaresClassifier, compare_intervals

RNG = np.random.default_rng(4)
X = RNG.normal(size=(45, 2))
Y = (X[:, 0] + RNG.normal(size=45) > 0).astype(int)

pytestmark = pytest.mark.filterwarnings("ignore::cudbound.basis.exceptions.CudboundWarning")


def longest_line(text: str) -> int:
    return max(map(len, text.splitlines()))


@pytest.mark.parametrize("group", ["recommended", "paper", "conditional", "algorithm", "clinical"])
def test_intervals_fit_80_columns(group):
    classifier = LeastSquaresClassifier().fit(X, Y)
    table = compare_intervals(classifier, X, Y, methods=group, n_resamples=40, rng=0)
    assert 60 < longest_line(str(table)) <= 80
    assert longest_line(table.to_text(style="paper")) <= 80
    assert all(row.method in str(table) for row in table.rows)
    assert all(row.estimand.kind in str(table) for row in table.rows)
