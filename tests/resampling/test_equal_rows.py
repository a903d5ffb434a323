"""Training rows among the cases of a test set: found, counted, warned of."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from cudbound import LeastSquaresClassifier, compare_intervals
from cudbound.basis.exceptions import RepeatedRowsWarning
from cudbound.basis.feature_table import count_equal_rows

RNG = np.random.default_rng(1)
X = RNG.normal(size=(40, 2))
Y = (X[:, 0] + RNG.normal(size=40) > 0).astype(int)
NEW = RNG.normal(size=(30, 2)), RNG.integers(0, 2, 30)
MIXED = np.r_[NEW[0], X[:7]], np.r_[NEW[1], Y[:7]]


@pytest.mark.parametrize(
    ("tested", "trained", "count"),
    [
        (([[1.0, 2.0], [1.0, 3.0]], [0, 0]), ([[1, 2], [5, 6]], [0, 0]), 1),
        (([[1.0, 2.0]], [1]), ([[1.0, 2.0]], [0]), 0),
        (([[0.0, np.nan]], [0]), ([[-0.0, np.nan]], [0]), 1),
        ((pd.DataFrame({"age": pd.array([50, None], dtype="Int64")}), [0, 0]), ([[50.0], [np.nan]], [0, 0]), 2),
        (([[1.0, 2.0]] * 3, [0] * 3), ([[1.0, 2.0]], [0]), 3),
        ((pd.DataFrame({"sex": ["m", "f"], "age": [50, 60]}), ["a", "b"]),
         (pd.DataFrame({"sex": ["m", "m"], "age": [50, 60]}), ["a", "b"]), 1),
        ((csr_array([[1.0, 0.0]]), [0]), (csr_array([[1.0, 0.0], [0.0, 0.0]]), [0, 0]), 1),
        ((["a text", "another"], [0, 1]), (["a text"], [0]), 1),
        (([], []), ([[1.0]], [0]), 0),
        (([[2**60], [2**60 + 1]], [0, 0]), ([[2**60 + 1], [2**60 + 2]], [0, 0]), 1),
        ((pd.DataFrame({"id": [2**60], "sex": ["m"]}), [0]),
         (pd.DataFrame({"id": [2**60 + 1], "sex": ["m"]}), [0]), 0),
        ((pd.DataFrame({"n": [1.0, None], "sex": ["m", "f"]}), [0, 0]),
         (pd.DataFrame({"n": [1, 2], "sex": ["m", "f"]}), [0, 0]), 1),
        ((np.array([[1, 2.5]], dtype=object), [0]), ([[1.0, 2.5]], [0]), 1),
    ],
    ids=["numbers", "label", "missing and zero", "nullable", "repeated", "frame", "sparse", "texts", "none",
         "long integers", "long integers in a frame", "whole numbers in a frame", "objects"],
)  # fmt: skip
def test_equal_rows_are_counted(tested, trained, count):
    assert count_equal_rows(*tested, *trained) == count


def test_training_rows_in_a_test_set_are_warned_of_and_counted():
    clf = LeastSquaresClassifier().fit(X, Y)
    with pytest.warns(
        RepeatedRowsWarning, match=r"^7 of 37 test cases equal training rows, in every feature"
    ) as caught:
        table = compare_intervals(
            clf, X, Y, methods=["test-set-wilson", "langford-binomial"], new_cases=MIXED, rng=0
        )
    assert (caught[0].message.n_equal, caught[0].message.n_tested) == (7, 37)
    assert caught[0].filename == __file__
    assert table["test-set-wilson"].remarks[1:] == ("7 of 37 test cases equal training rows",)
    assert "7 of 37 test cases equal training rows" not in table["langford-binomial"].remarks
