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

from cudbound.audit.json_fields import write
from cudbound.audit.saved_result import (
    STATUSES,
    SavedAsked,
    SavedBound,
    SavedClassifier,
    SavedData,
    SavedLimits,
    SavedMetric,
    SavedResult,
    SavedSettings,
)
from cudbound.exceptions import SavedResultError

NUMBERS = st.floats(-1e300, 1e300, allow_nan=False)
LABELS = st.one_of(st.text(max_size=5), st.integers(-5, 5), st.booleans(), st.floats(0.5, 0.75))
COUNTS = st.lists(st.integers(0, 2**31 - 1), min_size=3, max_size=3).filter(any)


@st.composite
def saved_results(draw: st.DrawFn) -> SavedResult:
    n_draws, p = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    metric = SavedMetric("error", None, (1.0, draw(st.floats(0.0, 1.0))), False)
    classes = (draw(LABELS), draw(LABELS))

    def vector(size: int) -> np.ndarray[Any, Any]:
        return np.array(draw(st.lists(NUMBERS, min_size=size, max_size=size)))

    bound = SavedBound(
        (SavedLimits(metric, *draw(st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS))),),
        vector(n_draws),
        vector(n_draws),
        tuple(draw(st.lists(st.sampled_from(STATUSES), min_size=n_draws, max_size=n_draws))),
        vector(n_draws * p).reshape(n_draws, p),
    )
    asked = SavedAsked((metric, "ppv"), False, draw(st.sampled_from([None, 0.25, "sample"])), None)
    return SavedResult(
        {"python": "3", draw(st.text(max_size=5)): draw(st.text(max_size=5))},
        SavedData("0" * 64, 3, classes, classes[draw(st.integers(0, 1))], draw(st.booleans()), False),
        SavedSettings(
            draw(st.floats(0.01, 0.99)),
            draw(st.one_of(st.just(math.inf), st.floats(0.0, 1e300))),
            draw(st.one_of(st.none(), st.integers(0, 2**200))),
            asked,
            "quantile",
            "native",
            draw(st.booleans()),
            {"nodes": draw(st.sampled_from([None, math.inf, 12.0]))},
        ),
        np.array(draw(st.lists(COUNTS, min_size=n_draws, max_size=n_draws)), dtype=np.int32),
        SavedClassifier(
            draw(st.text(max_size=9)), "features", classes, vector(p), "squared", None, vector(p), None, 0.5
        ),
        (bound,),
        None,
        None,
    )


def bits(value: Any) -> Any:
    """Return what tells every two floating-point numbers apart, -0.0 and 0.0 too."""
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, dict):
        return {name: bits(one) for name, one in value.items()}
    return [bits(one) for one in value] if isinstance(value, list) else value


@given(saved_results())
@settings(max_examples=25)
def test_it_reads_back_to_the_bit(saved):
    text = saved.to_text()
    again, intact = SavedResult.from_bytes(text.encode())
    assert intact
    assert bits(write(again)) == bits(write(saved))
    assert again.to_text() == text
    for name in ("lower", "upper", "witness"):
        before, after = getattr(saved.bounds[0], name), getattr(again.bounds[0], name)
        assert before.tobytes() == after.tobytes()
        assert before.shape == after.shape


def example() -> dict[str, Any]:
    metric = {"name": "error", "shares": None, "costs": [1.0, 1.0], "complement": False}
    asked = {"metrics": [metric], "joint": False, "prevalence": None, "stratified": None}
    interval = {"metric": metric, "estimate": 0.25, "q": 0.1, "low": 0.15, "high": 0.35}
    bound = {
        "intervals": [interval],
        "lower": [0.1],
        "upper": [0.1],
        "status": ["optimal"],
        "witness": [[1.0, 2.0]],
    }
    return {
        "versions": {},
        "data": {
            "fingerprint": "0" * 64,
            "n_samples": 3,
            "classes": ["a", "b"],
            "event": "b",
            "grouped": False,
            "weighted": False,
        },
        "settings": {
            "confidence_level": 0.95,
            "localization": 3.0,
            "seed": 0,
            "asked": asked,
            "search": "quantile",
            "solver": "native",
            "polish": False,
            "limits": {},
        },
        "counts": [[1, 1, 1]],
        "classifier": {
            "words": "",
            "rows": "features",
            "classes": ["a", "b"],
            "coefficients": [0.5, 1.0],
            "loss": "squared",
            "penalty": None,
            "l1_penalty": None,
            "class_weights": None,
            "offset": 0.0,
        },
        "bounds": [bound],
        "table": None,
        "command": None,
    }


def content(body: dict[str, Any], **head: Any) -> bytes:
    canonical = json.dumps(body, sort_keys=True, separators=(",", ":"))
    checksum = hashlib.sha256(canonical.encode()).hexdigest()
    return json.dumps(
        {"format": "cudbound result", "version": 1, "checksum": checksum, **head, **body}
    ).encode()


def test_the_example_is_read():
    """With a checksum that this test computes by itself."""
    saved, intact = SavedResult.from_bytes(content(example()))
    assert intact
    assert saved.bounds[0].witness.tolist() == [[1.0, 2.0]]
    _, intact = SavedResult.from_bytes(content(example(), checksum="0" * 64))
    assert not intact


#: Where a value is put, the value, and what the one line must say.
WRONG = [
    (("data", "n_samples"), 3.0, "'data.n_samples' must be a whole number"),
    (("data", "n_samples"), True, "'data.n_samples' must be a whole number"),
    (("data", "n_samples"), 4, "'counts' must be lists of 4"),
    (("data", "event"), "c", "'data.event' must be one of the classes"),
    (("data", "classes"), ["a"], "'data.classes' must be a list of 2; it is a list of 1"),
    (("data", "name"), 1, "'data.name' must be left out"),
    (("settings", "confidence_level"), 1, "'settings.confidence_level' must be between 0 and 1"),
    (
        ("settings", "localization"),
        "wide",
        "'settings.localization' must be a number or \"inf\"",
    ),
    (("settings", "seed"), -1, "'settings.seed' must be from 0 to"),
    (("settings", "solver"), "rm -rf", "'settings.solver' must be one of native, cvxpy"),
    (("settings", "limits"), {"nodes": []}, "'settings.limits.nodes' must be a number"),
    (("counts",), [[1, 1, 1], [3]], "'counts' must be a list of lists of one length"),
    (("counts",), [[1.0, 1, 1]], "'counts' must be a list of lists of whole numbers"),
    (("counts",), [[-1, 3, 1]], "'counts' must be a list of lists of whole numbers"),
    (("counts",), [[0, 0, 0]], "'counts' must be draws of at least one row"),
    (("counts",), [[2**31, 0, 0]], "'counts' must be a list of lists of whole numbers"),
    (("classifier",), None, "it has bounds, but no classifier"),
    (("classifier", "coefficients"), [1.0], "'bounds[0].witness' must be 1 lists of 1"),
    (("classifier", "coefficients"), [1.0, "2"], "'classifier.coefficients' must be a list of numbers"),
    (("classifier", "coefficients"), [1.0, 10**400], "must be a list of numbers up to 1e+300"),
    (("classifier", "penalty"), [1.0], "'classifier.penalty' must be a list of 2 or null"),
    (("bounds", 0, "lower"), [0.1, 0.2], "'bounds[0].lower' must be a list of 1, one for each draw"),
    (("bounds", 0, "status"), ["fine"], "'bounds[0].status[0]' must be one of optimal"),
    (("bounds", 0, "witness"), [[1.0, None]], "'bounds[0].witness' must be a list of numbers"),
    (("bounds", 0, "intervals", 0, "q"), "0.1", "'bounds[0].intervals[0].q' must be a number"),
    (("versions",), {"python": 3}, "'versions.python' must be a text"),
    (("table",), {}, "'table.methods' is missing"),
]


@pytest.mark.parametrize(("place", "value", "message"), WRONG, ids=lambda value: None)
def test_what_is_wrong_is_named(place, value, message):
    body = copy.deepcopy(example())
    inner: Any = body
    for name in place[:-1]:
        inner = inner[name]
    inner[place[-1]] = value
    with pytest.raises(SavedResultError) as caught:
        SavedResult.from_bytes(content(body))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


def test_other_files_are_refused():
    for wrong, message in (
        (b"", "not written in JSON"),
        (b"\xff\xfe", "not written in JSON"),
        (b"[]", "no object"),
        (b"{}", "'format' must be"),
        (content(example(), format="other"), "'format' must be"),
        (content(example(), version=2), "it has version 2 of the format, and this cudbound reads version 1"),
        (b'{"a": 1, "a": 2}', "a field stands in it twice"),
        (b'{"a": NaN}', "NaN, which is no number"),
        (b"[" * 100_000, "not written in JSON"),
        (b'{"a": ' + b"9" * 10_000 + b"}", "not written in JSON"),
    ):
        with pytest.raises(SavedResultError, match=message):
            SavedResult.from_bytes(wrong)


def test_what_no_file_can_hold_is_not_written():
    saved, _ = SavedResult.from_bytes(content(example()))
    saved.bounds[0].witness[0, 0] = math.nan
    with pytest.raises(SavedResultError, match="not finite"):
        saved.to_text()
    saved.bounds[0].witness[0, 0] = 1.0
    object.__setattr__(saved.data, "event", np.datetime64("2020-01-01"))
    with pytest.raises(SavedResultError, match="labels are texts, numbers, or true and false"):
        saved.to_text()
