"""The file of a saved result: what is written reads back to the bit, and nothing else is read."""

from __future__ import annotations

import copy
import hashlib
import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudbound.analysis.saved_file import (
    SavedBound,
    SavedInterval,
    SavedQuestion,
    SavedResult,
    SavedRow,
    read_saved,
)
from cudbound.basis.exceptions import SavedResultError
from cudbound.bound.cud_bound import Bound
from cudbound.metrics.metric import Metric
from cudbound.metrics.metrics import Metrics
from cudbound.resampling import Resampling

NUMBERS = st.floats()  # nan and infinite ones among them
LABELS = st.one_of(st.text(max_size=5), st.integers(-5, 5), st.booleans(), st.floats(0.5, 0.75))
COUNTS = st.lists(st.integers(0, 2**31 - 1), min_size=3, max_size=3).filter(any)


@st.composite
def saved_results(draw: st.DrawFn) -> SavedResult:
    n_draws, p = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    metric = Metric("own", shares=draw(st.sampled_from([None, (0.25, 0.75)])))

    def vector(size: int) -> np.ndarray[Any, Any]:
        return np.array(draw(st.lists(NUMBERS, min_size=size, max_size=size)))

    question = SavedQuestion(
        metric=Metrics(
            (metric, "ppv"), event=draw(LABELS), prevalence=draw(st.sampled_from([0.25, "sample"]))
        ),
        confidence_level=draw(st.floats(0.01, 0.99)),
        n_resamples=n_draws,
        bound=Bound(
            localization=draw(st.one_of(st.just("n"), st.just(math.inf), st.floats(0.0, 1e300))),
            polish=draw(st.booleans()),
            nodes=draw(st.sampled_from([None, math.inf, 12])),
        ),
        rng=draw(st.one_of(st.none(), st.integers(0, 2**200))),
        methods=draw(st.sampled_from([("cud",), ("cud", "two-center")])),
        named=draw(st.sampled_from([(), ("two-center",)])),
        options={"kohavi-normal": {"form": "wilson"}},
        resampling=Resampling(
            n_folds=5, inner=draw(st.sampled_from([None, "oob", 10])), cv=draw(st.sampled_from([None, 5]))
        ),
        passed_again=draw(st.sampled_from([(), ("cv", "new_cases")])),
    )
    bound = SavedBound(
        (SavedInterval(metric, *draw(st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS))),),
        vector(n_draws),
        vector(n_draws),
        vector(n_draws * p).reshape(n_draws, p),
    )
    return SavedResult(
        question,
        "0" * 64,
        draw(st.text(max_size=9)),
        np.array(draw(st.lists(COUNTS, min_size=n_draws, max_size=n_draws)), dtype=np.int32),
        vector(p),
        (bound,),
        (SavedRow("cud", "own", *draw(st.tuples(NUMBERS, NUMBERS, NUMBERS))),),
        versions={"python": "3", draw(st.text(max_size=5)): draw(st.text(max_size=5))},
    )


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("saved") / "result.json"


@given(saved_results())
@settings(max_examples=25, deadline=None)
def test_it_reads_back_to_the_bit(path, saved):
    text = saved.to_text()
    path.write_text(text)
    again, intact = read_saved(path)
    assert intact
    assert again.to_text() == text
    assert repr(again.question) == repr(saved.question)
    assert repr(again.rows) == repr(saved.rows)  # nan is not equal to itself
    for name in ("lower", "upper", "witness"):
        np.testing.assert_array_equal(getattr(again.bounds[0], name), getattr(saved.bounds[0], name))


def example() -> dict[str, Any]:
    metric = {"name": "error", "shares": None, "costs": [1.0, 1.0], "complement": False}
    asked = {"metric": [metric], "event": "b", "costs": None, "prevalence": None}
    return {
        "format": "cudbound result 1",
        "question": {
            "metric": {**asked, "joint": False, "stratified": None},
            "confidence_level": 0.95,
            "n_resamples": 1,
            "bound": {"localization": 3.0, "polish": False, "solver": "native"},
            "rng": 0,
        },
        "fingerprint": "0" * 64,
        "classifier": "",
        "counts": [[1, 1, 1]],
        "coefficients": [0.5, 1.0],
        "bounds": [
            {
                "intervals": [{"metric": metric, "estimate": 0.25, "q": 0.1, "low": 0.15, "high": 0.35}],
                "lower": [0.1],
                "upper": [0.1],
                "witness": [[1.0, 2.0]],
            }
        ],
    }


def read(path, body: Any, **head: Any) -> tuple[SavedResult, bool]:
    checksum = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps({"checksum": checksum, **body, **head}))
    return read_saved(path)


def test_the_example_is_read(path):
    """With a checksum that this test computes by itself."""
    saved, intact = read(path, example())
    assert intact
    assert saved.bounds[0].witness.tolist() == [[1.0, 2.0]]
    assert not read(path, example(), checksum="0" * 64)[1]


#: Where a value is put, the value, and what the one line must say.
WRONG = [
    (("n_rows",), 1, "there is no key 'n_rows'; did you mean rows?"),
    (("fingerprint",), 3, "fingerprint must be a text. Got 3."),
    (("question", "confidence_level"), "high", "question: confidence_level must be a number. Got 'high'."),
    (
        ("question", "confidence_level"),
        "high" * 9_000,
        "question: confidence_level must be a number. Got 'high",
    ),
    (("question", "confidence_level"), math.inf, "confidence_level must be a float in the range"),
    (("question", "confidence_level"), 10**400, "too large"),
    (("question", "bound", "polish"), "no", "question: bound: polish must be true or false. Got 'no'."),
    (("question", "n_resamples"), True, "question: n_resamples must be an integer. Got True."),
    (("question", "bound"), {"nodes": -1}, "bound: nodes must be"),
    (("question", "bound"), [], "question: bound must be a table. Got []."),
    (("question", "metric", "joint"), True, "joint must be False for a single metric"),
    (("question", "bound", "localization"), -1.0, "localization must be"),
    (("question", "bound", "solver"), "abacus", "solver must be"),
    (("question", "resampling"), {"n_folds": 1}, "n_folds must be"),
    (("question", "resampling"), {"cv": "five"}, "resampling: cv must be an integer. Got 'five'."),
    (("question", "methods"), 3, "question: methods must be a text. Got 3."),
    (("question", "passed_again"), {"cv": 1}, "question: passed_again: {'cv': 1} not in"),
    (("question", "metric", "metric"), "error", "does not support 'e'"),
    (("question", "passed_again"), ["X"], "question: passed_again: X not in"),
    (("question", "options"), {"cud": 1}, "question: options must be a table. Got 1."),
    (("question", "rng"), -1, "rng must be"),
    (("counts",), 3, "counts must be a list. Got 3."),
    (("counts",), [[2**31, 0, 0]], "counts: "),
    (("counts",), [[-1, 3, 1]], "are inconsistent"),
    (("counts",), [[0, 0, 0]], "are inconsistent"),
    (("counts",), [[1, 1, 1], [3]], "counts: "),
    (("coefficients",), None, "are inconsistent"),
    (("coefficients",), [1.0], "are inconsistent"),
    (("bounds", 0, "lower"), [0.1, 0.2], "are inconsistent"),
    (("bounds", 0, "witness"), [[1.0, []]], "bounds: witness: "),
    (("bounds", 0), {}, "bounds: intervals is missing"),
]


@pytest.mark.parametrize(("place", "value", "message"), WRONG, ids=lambda value: None)
def test_what_is_wrong_is_named(place, value, message, path):
    body = copy.deepcopy(example())
    inner: Any = body
    for name in place[:-1]:
        inner = inner[name]
    inner[place[-1]] = value
    with pytest.raises(SavedResultError) as caught:
        read(path, body)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


def test_other_files_are_refused(path):
    for wrong, message in (
        (b"", "not written in JSON"),
        (b"\xff\xfe", "not written in JSON"),
        (b"[]", "its format is not 'cudbound result 1'"),
        (b"{}", "its format is not"),
        (b'{"format": "cudbound result 2"}', "its format is not"),
        (b"[" * 100_000, "not written in JSON"),
    ):
        path.write_bytes(wrong)
        with pytest.raises(SavedResultError, match=message):
            read_saved(path)


def test_what_no_file_can_hold_is_not_written(path):
    saved, _ = read(path, example())
    object.__setattr__(saved.question.metric, "event", np.datetime64("2020-01-01"))
    with pytest.raises(SavedResultError, match="labels and options must be texts, numbers, true or false"):
        saved.to_text()
