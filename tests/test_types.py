"""The package is typed: what users pass has a type that says more than Any, and a type checker sees wrong calls."""

from __future__ import annotations

import inspect
from importlib import import_module
from importlib.resources import files
from operator import attrgetter
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from sklearn.model_selection import StratifiedKFold

import cudbound
from cudbound.basis.validation import Splitter

CALLS = (
    "performance_interval",
    "clinical_report",
    "compare_intervals",
    "compare_learners",
    "estimate_error",
    "cud_interval",
    "from_records",
    "verify_result",
    "plan_sample_size",
    "study.closed_form_sample_sizes",
)

WRONG_CALLS = """
import numpy as np
import cudbound
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

X, y = np.zeros((3, 2)), ["ill", "well", "ill"]
clf = LogisticRegression().fit(X, y)
cudbound.compare_intervals(
    clf, X, y, resampling=cudbound.Resampling(cv=StratifiedKFold(3)), methods=["cud", ("aci", {"a": 1})]
)
cudbound.compare_learners({"ridge": clf, "majority": "majority"}, X, y, methods="all", reference="majority")
cudbound.cud_interval(clf, X, y, bound=cudbound.Bound(seconds=1))
cudbound.Resampling(cv=[([0, 1], [2])])
cudbound.compare_intervals("no classifier", X, y)
cudbound.Resampling(cv=5.5)
cudbound.Bound(polish="no")
cudbound.compare_learners([clf, 3], X, y)
cudbound.compare_intervals(clf, X, y, resampling={"inner": 5})
cudbound.performance_interval(clf, X, y).confidence_interval.low + "x"
"""


def test_the_marker_is_shipped():
    assert files("cudbound").joinpath("py.typed").is_file()


@pytest.mark.parametrize("name", CALLS)
def test_what_users_pass_has_a_type(name):
    call = attrgetter(name)(cudbound)
    # performance_interval imports its types when it is first called
    names = vars(import_module("cudbound.analysis.compare_intervals")) | vars(
        import_module("cudbound.analysis.table")
    )
    hints = get_type_hints(call, localns=names)
    vague = [one for one in inspect.signature(call).parameters if hints[one] is Any]
    assert not vague
    assert hints["return"] is not Any


def test_a_splitter_of_scikit_learn_is_one():
    split = inspect.signature(StratifiedKFold.split).parameters
    assert list(inspect.signature(Splitter.split).parameters) == list(split)


@pytest.mark.long
def test_a_type_checker_sees_wrong_calls(tmp_path: Path):
    from mypy import api

    script = tmp_path / "script.py"
    script.write_text(WRONG_CALLS)
    told, _, _ = api.run(
        ["--ignore-missing-imports", "--config-file=", "--cache-dir", str(tmp_path), str(script)]
    )
    lines = [int(line.split(":")[1]) for line in told.splitlines() if ": error: " in line]
    assert lines == [15, 16, 17, 18, 19, 20]
