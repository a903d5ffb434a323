"""Saved results from anybody: nothing in them is run, and what is no result is refused in one line."""

from __future__ import annotations

import json
import math
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudbound import LeastSquaresClassifier, cud_interval, verify_result
from cudbound.saved.saved_file import read_saved

X = np.random.default_rng(0).normal(size=(20, 1))
Y = X[:, 0] + np.random.default_rng(1).normal(size=20) > 0
CLF = LeastSquaresClassifier().fit(X, Y)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("saved")


@pytest.fixture(scope="module")
def body(folder):
    path = folder / "result.json"
    cud_interval(CLF, X, Y, n_resamples=5, rng=0).save(path)
    return json.loads(path.read_text())


def test_nothing_in_a_file_is_a_path_or_is_run(body, tmp_path, monkeypatch):
    """Texts of a file reach no file system and no interpreter: only columns, classes and words are named by it."""
    monkeypatch.chdir(tmp_path)
    evil = "__import__('os').system('touch owned')"
    for place in (
        ("question", "methods"),
        ("question", "solver"),
        ("question", "metric", "event"),
        ("classifier",),
    ):
        changed = json.loads(json.dumps(body))
        inner = changed
        for name in place[:-1]:
            inner = inner[name]
        inner[place[-1]] = evil
        (tmp_path / "result.json").write_text(json.dumps(changed))
        assert one_line(lambda: verify_result("result.json", CLF, X, Y))
    assert os.listdir(tmp_path) == ["result.json"]


def one_line(check):
    """Whether a check refuses the file in one line, or finds that something in it does not hold."""
    try:
        return not check().passed
    except ValueError as error:
        said = str(error)
    assert "\n" not in said
    assert len(said) < 1_000
    return True


def places(value, at=()):
    """Every place in a body of JSON, with the containers themselves."""
    yield at
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, one in inner:
        yield from places(one, (*at, name))


WRONG = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([2**31, 10**300, -(10**400), 1e300, -1e300, 5e-324, 1e-300]),
    st.text(max_size=3),
    st.sampled_from(["inf", "classifier", "logistic", "quantile"]),
    st.sampled_from([math.inf, math.nan]),
    st.just([]),
    st.just({}),
    st.lists(st.integers(0, 2), max_size=3),
)


@given(st.data())
@settings(max_examples=50, deadline=None)
def test_any_change_is_refused_or_checked(body, folder, data):
    """Whatever stands in one place of a file with a fitting checksum: no error of another kind, no warning, no hang."""
    changed = json.loads(json.dumps(body))
    place = data.draw(
        st.sampled_from([at for at in places(body) if at and at[0] not in ("format", "checksum")])
    )
    inner = changed
    for name in place[:-1]:
        inner = inner[name]
    inner[place[-1]] = data.draw(WRONG)
    path = folder / "changed.json"

    def check():
        path.write_text(json.dumps(changed))
        path.write_text(read_saved(path)[0].to_text())  # with a checksum of its own
        return verify_result(path, CLF, X, Y, sample=2)

    one_line(check)
