"""Numbers without measure, and files and saved results of any content: one line, little memory, soon."""

from __future__ import annotations

import contextlib
import json
import math
import os
import random
import shutil
from pathlib import Path

import numpy as np
import pytest
from cli_fakes import invoke
from hypothesis import given, settings
from hypothesis import strategies as st
from study_cases import tiny_study
from within_limits import within_limits

import cudbound
from cudbound import LeastSquaresClassifier, cud_interval, verify_result
from cudbound.analysis.saved_file import read_saved
from cudbound.basis.exceptions import StudyError
from cudbound.study import store as store_module
from cudbound.study.runner import run_study
from cudbound.study.store import Store

# ---- numbers without measure ----


BASE = 'n_samples = 12\nn_replicates = 2\nn_resamples = 5\nmethods = ["cud"]\n'
CSV = '[[scenario]]\ncsv = "data.csv"\ntarget = "state"\npositive = "ill"\n'
NOISE = '[[scenario]]\nworld = "noise"\n'
DATA = "age,state\n" + "".join(f"{number},{'ill' if number % 3 else 'well'}\n" for number in range(12))


def refused(*arguments: str | Path) -> str:
    """Run a command under limits; return its one line, without what it begins with."""
    with within_limits():
        result = invoke(*map(str, arguments))
    assert result.exit_code in (1, 2), result.output
    assert result.stdout == ""
    *warnings, line = result.stderr.splitlines()
    assert line.startswith("cudbound: error: ")
    assert all(warning.startswith("cudbound: warning: ") for warning in warnings)
    assert len(result.stderr) < 3_000
    return line.removeprefix("cudbound: error: ")


def interval(path: str | Path, *more: str) -> str:
    return refused("interval", path, "--target", "state", "--positive", "ill", *more)


def study(folder: Path, text: str) -> str:
    path = folder / "design.toml"
    path.write_text(text)
    return refused("study", "run", path, "--store", folder / "store.sqlite")


# --- designs

DESIGNS = [
    (BASE.replace("12", "10" + "0" * 8) + NOISE, "n_samples must be an integer of at most 100,000. Got 1000000000."),
    (BASE.replace("n_replicates = 2", f"n_replicates = {10**10}") + NOISE, "at most 10,000,000. Got 10000000000."),
    (BASE.replace("n_resamples = 5", f"n_resamples = {10**12}") + NOISE, "n_resamples must be an integer of at most"),
    (f"{BASE}[resampling]\ninner = {10**18}\n{NOISE}", "inner must be an integer of at most 100,000. Got 1000"),
    (f"{BASE}{NOISE}n_features = {10**9}\n", "n_features must be an integer of at most 10,000. Got 1000000000."),
    (f"{BASE}[resampling]\nn_splits = {10**12}\n{NOISE}", "n_splits must be an integer of at most 1,000,000."),
    (BASE.replace("12", "100000") + NOISE + "n_features = 10000\n", "have more than 10,000,000 values; use fewer"),
    (f"{BASE}{NOISE}degree = 100\n", "degree must be an integer of at most 10. Got 100."),
    (f'{BASE}{NOISE}set = {{basis = "os.system"}}\nclassifier = "convex-loss"\n', "[[scenario]] 1: "),
    (BASE + CSV + 'delimiter = "xx"\n', "--delimiter must be one character"),
    (BASE + "x = " + "[\n" * 3000 + "]\n" * 3000 + NOISE, "not a TOML file: "),
    (BASE + "seed = " + "9" * 9_000 + "\n" + NOISE, "digits"),
    (f'{BASE}name = "{"x" * 9_000}"\nmethods2 = 1\n{NOISE}', "there is no key 'methods2'"),
    (BASE.replace('["cud"]', "[" + '"x",\n' * 9_000 + "]") + NOISE, "Got 'x'"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "reason"), DESIGNS, ids=map(str, range(len(DESIGNS))))
def test_designs_without_measure(tmp_path, text, reason):
    (tmp_path / "data.csv").write_text(DATA)
    assert reason in study(tmp_path, text)


# --- options

OPTIONS = [
    (["--resampling", f"inner={10**18}"], "The 'inner' parameter must be"),
    (["--resampling", "inner=9" * 5000], "The 'inner' parameter must be"),
    (["--resamples", str(10**12)], "--resamples must be"),
    (["--resamples", "9" * 5000], "Invalid value for '--resamples'"),
    (["--resampling", f"n_splits={10**12}"], "n_splits"),
    (["--resampling", "n_folds=" + "9" * 5000], "n_folds"),
    (["--set", "basis=os.system", "--classifier", "convex-loss"], "--set"),
    (["--delimiter", "xx"], "--delimiter must be one character"),
    (["--confidence-level", "1e400"], "inf is not in the range 0<x<1"),
]


@pytest.mark.parametrize(("arguments", "reason"), OPTIONS, ids=map(str, range(len(OPTIONS))))
def test_options_without_measure(tmp_path, arguments, reason):
    path = tmp_path / "data.csv"
    path.write_text(DATA)
    assert reason in interval(path, *arguments)


# --- arguments

X = np.array([[1.0, 3.0], [2.0, 0.0], [3.0, 2.0], [4.0, 1.0], [5.0, 4.0], [6.0, 0.0], [7.0, 5.0], [8.0, 2.0]])
Y = np.array([0, 0, 1, 0, 1, 1, 0, 1])
FITTED = LeastSquaresClassifier().fit(X, Y)
DRAWING = [
    cudbound.performance_interval,
    cudbound.compare_intervals,
    cudbound.estimate_error,
    cudbound.cud_interval,
]


@pytest.mark.parametrize("function", DRAWING)
@pytest.mark.parametrize("number", [10**7, 10**12, 10**30, 10**400])
def test_more_draws_than_memory_holds(function, number):
    rule = "The 'n_resamples' parameter must be an integer of at most 1,000,000. Got 1000"
    with within_limits(), pytest.raises(ValueError, match=rule):
        function(FITTED, X, Y, n_resamples=number, rng=1)


# --- anything at all

CELLS = st.one_of(
    st.sampled_from(["ill", "well", "1", "", "nan", "1e999", "-", '"', '""', "a,b", "\r", "\t", "\u2028", "=1"]),
    st.text(max_size=8),
)  # fmt: skip
LINES = st.lists(st.lists(CELLS, min_size=1, max_size=5).map(",".join), max_size=12)


def read_anything(folder: Path, content: bytes) -> None:
    path = folder / "any.csv"
    path.write_bytes(content)
    with within_limits():
        result = invoke(
            *["interval", str(path), "--target", "state", "--positive", "ill", "--seed", "1"],
            *["--methods", "cud", "--resamples", "3"],
        )
    assert result.exit_code in (0, 1, 3), result.output
    if result.exit_code == 1:
        assert result.stderr.splitlines()[-1].startswith("cudbound: error: ")
        assert result.stderr.replace("\n", "").isprintable()


@settings(max_examples=60, deadline=None)
@given(lines=LINES, end=st.sampled_from(["\n", "\r\n", "\r"]))
def test_any_table_is_read_or_refused(tmp_path_factory, lines, end):
    read_anything(
        tmp_path_factory.getbasetemp(), end.join(["age,state", *lines]).encode("utf-8", "surrogatepass")
    )


@settings(max_examples=60, deadline=None)
@given(content=st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(tmp_path_factory, content):
    read_anything(tmp_path_factory.getbasetemp(), content)


#: Small ones and those beyond every limit: a design is fitted as it is read, and a large one takes its time.
INTEGERS = st.one_of(st.integers(-9, 5), st.integers(10**8, 10**20), st.integers(-(10**20), -(10**8)))
VALUES = st.one_of(
    INTEGERS.map(str),
    st.sampled_from(
        ['"cud"', '"all"', "[]", "{}", "true", "nan", "inf", "-0.0", '""', "[[]]", '["x"]', "1979-05-27"]
    ),
)
KEYS = st.sampled_from(
    [
        "n_samples",
        "n_replicates",
        "n_resamples",
        "methods",
        "inner",
        "confidence_level",
        "localization",
        "seed",
        "name",
    ]
)


def design_of_anything(folder: Path, settings_: dict[str, str], scenario: dict[str, str]) -> None:
    plain = {"n_samples": "12", "n_replicates": "1", "n_resamples": "2", "methods": '["cud"]'} | settings_
    text = "".join(f"{key} = {value}\n" for key, value in plain.items())
    text += NOISE + "".join(f"{key} = {value}\n" for key, value in scenario.items())
    path = folder / "any.toml"
    path.write_text(text)
    from cudbound.study.design_file import read_design

    with within_limits(), contextlib.suppress(ValueError):
        read_design(path)


SCENARIO = st.dictionaries(
    st.sampled_from(["n_features", "classifier", "set", "scale", "components", "degree", "name", "world2"]),
    VALUES,
    max_size=2,
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(settings_=st.dictionaries(KEYS, VALUES, max_size=3), scenario=SCENARIO)
def test_any_design_is_read_or_refused(tmp_path_factory, settings_, scenario):
    design_of_anything(tmp_path_factory.getbasetemp(), settings_, scenario)


# ---- saved results from anybody ----


ROWS = np.random.default_rng(0).normal(size=(20, 1))
LABELS = ROWS[:, 0] + np.random.default_rng(1).normal(size=20) > 0
CLASSIFIER = LeastSquaresClassifier().fit(ROWS, LABELS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("saved")


@pytest.fixture(scope="module")
def body(folder):
    path = folder / "result.json"
    cud_interval(CLASSIFIER, ROWS, LABELS, n_resamples=5, rng=0).save(path)
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
        assert one_line(lambda: verify_result("result.json", CLASSIFIER, ROWS, LABELS))
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
        return verify_result(path, CLASSIFIER, ROWS, LABELS)

    one_line(check)


# ---- stores that something has damaged ----


STUDY = tiny_study(n_replicates=2)
READINGS = (
    ["status", "s"],
    ["status", "s", "--missing"],
    ["report", "s", "--output", "r.csv"],
    ["merge", "s", "--store", "merged"],
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "s"
    run_study(STUDY, path)
    return path


@pytest.fixture
def place(tmp_path, monkeypatch, whole) -> Path:
    """A copy of the store, alone in the current folder."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(whole, "s")
    return Path("s")


def test_pages_that_were_overwritten(place, whole):
    """SQLite notices a page that is none; which bytes of a row are wrong, nobody can notice."""
    size = whole.stat().st_size
    for seed in range(20):
        rng = random.Random(seed)
        content = bytearray(whole.read_bytes())
        first = rng.randrange(0, size, 4096)
        content[first : first + 4096] = rng.randbytes(4096)
        if seed % 5 == 0:
            del content[rng.randrange(len(content)) :]
        place.write_bytes(content)
        for command in rng.sample(READINGS, 2):
            with within_limits():
                result = invoke("study", *command)
            assert isinstance(result.exception, SystemExit | None), (seed, command)
            if result.exit_code:
                assert (result.exit_code, result.stdout) == (1, "")
                assert result.stderr.startswith("cudbound: error: store 's': it ")
                assert result.stderr.count("\n") == 1
        assert place.read_bytes() == content


# --- its lock


def test_the_lock_of_a_run_that_was_killed_is_taken_over(place):
    Path("s-lock").touch()
    with Store.open(place) as store:
        assert not store.status().running
    Path("s-lock").touch()
    assert run_study(STUDY, place).n_done == 8
    assert os.listdir() == ["s"]


def test_whoever_waits_for_a_lock_that_is_removed_begins_anew(place, monkeypatch):
    """B waits with the old file open while A ends and C begins: B must not get the lock that nobody sees."""
    first, other = store_module.writer_lock(place, 0.05), store_module.writer_lock(place, 0.05)
    first.__enter__()
    waiting = os.open("s-lock", os.O_RDWR)
    locked = os.open
    opened: list[int] = []

    def open_old(path, *arguments, **named):
        """The file that B opened before A removed it, once."""
        if os.fspath(path).endswith("s-lock") and not opened:
            opened.append(waiting)
            return os.dup(waiting)
        return locked(path, *arguments, **named)

    first.__exit__(None, None, None)
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", open_old)
        other.__enter__()
    os.close(waiting)
    assert opened
    assert store_module.is_locked(place)
    with (
        pytest.raises(StudyError, match="another run is writing to it"),
        store_module.writer_lock(place, 0.05),
    ):
        pass
    other.__exit__(None, None, None)
    assert os.listdir() == ["s"]
