"""The same call with other seeds: ranges of limits, seeds that repeat, what Ctrl-C leaves, what a pickle leaves out."""

from __future__ import annotations

import copy
import json
import math
import pickle
import re
import warnings

import numpy as np
import pytest
from interval_at_the_shell import interval_on

from cudbound import (
    LeastSquaresClassifier,
    Metrics,
    OverSeeds,
    compare_intervals,
    cud_interval,
    error_interval,
    recorded_interval,
)
from cudbound.exceptions import NotCertifiedWarning, ParameterError, SampleSizeWarning, SeedsInterrupted
from cudbound.records import SplitLosses
from cudbound.seeds import Call
from cudbound.solve.limits import SearchLimits
from cudbound.tables.table import IntervalTable

RNG = np.random.default_rng(7)
X = RNG.normal(size=(24, 2)).round(2)
Y = np.where(X[:, 0] + RNG.normal(size=24) > 0, "ill", "well")
CLF = LeastSquaresClassifier().fit(X, Y)
FEW = {"n_resamples": 20, "rng": 4}

CALLS = {
    "bound": lambda **more: cud_interval(CLF, X, Y, **FEW | more),
    "interval": lambda **more: error_interval(CLF, X, Y, groups=np.arange(24) // 2, **FEW | more),
    "table": lambda **more: compare_intervals(
        CLF,
        X,
        Y,
        methods=["two-center", "cud"],
        metric=Metrics(["error", "sensitivity"], event="ill"),
        confidence_level=0.9,
        **FEW | more,
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_each_run_is_the_same_call_with_its_seed(name):
    """The other way: the call written out again, with each of the seeds that the result names."""
    result = CALLS[name]()
    over = result.over_seeds(3)
    assert over.seeds == (4, *(int(one.generate_state(1)[0]) for one in np.random.SeedSequence(4).spawn(2)))
    assert over.runs == tuple(CALLS[name](rng=seed).intervals for seed in over.seeds)
    assert over.complete
    frame = over.to_frame()
    for place, row in enumerate(result.intervals):
        for of in ("estimate", "low", "high"):
            values = [getattr(run[place], of) for run in over.runs]
            assert frame.loc[place, f"{of}_least"] == min(values)
            assert frame.loc[place, f"{of}_most"] == max(values)
        assert (frame.loc[place, "method"], frame.loc[place, "metric"]) == (row.method, row.metric)
    assert frame["n_seeds"].tolist() == [3] * len(frame)
    assert len({run[0].high for run in over.runs}) > 1  # the seeds do something
    longer = result.over_seeds(4)
    assert longer.runs[:3] == over.runs  # and repeats to the bit


def test_another_level_of_a_bound_is_repeated_at_that_level():
    result = CALLS["bound"]().at(confidence_level=0.8)
    over = result.over_seeds(2)
    assert over.runs[1] == CALLS["bound"](rng=over.seeds[1], confidence_level=0.8).intervals


def test_without_a_seed_the_others_are_new():
    for rng in (None, np.random.default_rng(0)):
        result = CALLS["bound"](rng=rng)
        over = result.over_seeds(2)
        assert over.seeds[0] is None
        assert over.runs == (result.intervals, CALLS["bound"](rng=over.seeds[1]).intervals)
        assert str(over).startswith(f"Over 2 seeds: none, {over.seeds[1]}.")
        assert result.over_seeds(2).seeds != over.seeds


def test_what_is_printed():
    row = recorded_interval("corrected-resampled-t", SplitLosses([0.2, 0.3, 0.25, 0.15, 0.35], 90, 10))
    other = recorded_interval("corrected-resampled-t", SplitLosses([0.2, 0.2, 0.2, 0.2, 0.3], 90, 10))
    undefined = recorded_interval("corrected-resampled-t", SplitLosses([0.2, 0.2], 90, 10))
    over = OverSeeds((1, 22), ((row,), (other,)))
    # by hand, as in the test of one row in words: .25 -+ .1224, and .22 -+ 2.776 sqrt((1/5 + 10/90) .002)
    said = "estimate 0.220 to 0.250, lower limit 0.128 to 0.151, upper limit 0.289 to 0.372"
    assert repr(over) == f"Over 2 seeds: 1, 22.\ncorrected-resampled-t: {said}."
    assert over.rows[0].remarks == (f"over 2 seeds: {said}",)
    assert OverSeeds((1, 22, 3), over.runs).rows[0].remarks == (f"over 2 of 3 seeds: {said}",)
    nan = type(row)(**{**vars(undefined), "raw_interval": type(row.raw_interval)(math.nan, math.nan)})
    none = OverSeeds((1, 2), ((nan,), (nan,)))
    assert none.rows[0].remarks[-1] == "over 2 seeds: no interval"
    assert none.summary["ranges"][0]["low_least"] is None
    some = OverSeeds((1, 2), ((nan,), (row,))).to_frame()
    assert (some["n_seeds"][0], some["low_least"][0]) == (1, row.low)


@pytest.mark.parametrize(("alternative", "missing"), [("less", "lower limit"), ("greater", "upper limit")])
def test_the_limit_that_there_is_not_is_not_named(alternative, missing):
    line = error_interval(CLF, X, Y, alternative=alternative, **FEW).over_seeds(2).lines()[1]
    assert missing not in line
    assert line.count("limit") == 1


def test_what_was_said_once_is_not_said_again():
    few_X, few_y = X[:16], Y[:16]
    clf = LeastSquaresClassifier().fit(few_X, few_y)
    with pytest.warns(SampleSizeWarning):
        result = cud_interval(clf, few_X, few_y, **FEW)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result.over_seeds(2)
    assert caught == []
    with pytest.warns(NotCertifiedWarning):
        limited = cud_interval(CLF, X, Y, limits=SearchLimits(nodes_per_draw=0), **FEW)
    with pytest.warns(NotCertifiedWarning):  # of another run, with numbers of its own
        limited.over_seeds(2)


def test_ctrl_c_keeps_the_runs_that_were_made(monkeypatch):
    result = CALLS["interval"]()
    whole = result.over_seeds(4)
    asked = []

    def again(call, seed, real=Call.again):
        asked.append(seed)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return real(call, seed)

    monkeypatch.setattr(Call, "again", again)
    with pytest.raises(SeedsInterrupted, match=r"stopped after 2 of 4 seeds; pass previous=") as stopped:
        result.over_seeds(4)
    left = stopped.value.unfinished
    assert (left.seeds, left.runs, left.complete) == (whole.seeds, whole.runs[:2], False)
    assert repr(left).startswith(f"Over 2 of 4 seeds: 4, {whole.seeds[1]}.")
    done = result.over_seeds(4, previous=left)
    assert (done.seeds, done.runs) == (whole.seeds, whole.runs)
    assert asked == [whole.seeds[1], whole.seeds[2], whole.seeds[2], whole.seeds[3]]
    rule = "'previous' parameter must be what SeedsInterrupted carries"
    for other, size in ((CALLS["interval"](rng=5), 4), (result, 5)):
        with pytest.raises(ParameterError, match=rule):
            other.over_seeds(size, previous=left)


def test_a_bar_counts_the_runs(monkeypatch):
    from cudbound.bars import Progress

    told = []

    def bar(progress, real=Progress.bar, **settings):
        told.append((progress.shown, settings["total"], settings["initial"], settings["desc"]))
        return real(progress, **settings)

    result = CALLS["bound"]()
    monkeypatch.setattr(Progress, "bar", bar)
    result.over_seeds(3, progress=True)
    assert [one for one in told if one[3] == "seeds"] == [(True, 3, 1, "seeds")]


@pytest.mark.parametrize("name", CALLS)
def test_a_pickle_has_no_classifier_and_no_rows(name):
    result = CALLS[name]()
    assert result.call.arguments["X"] is X
    for other in (pickle.loads(pickle.dumps(result)), copy.copy(result)):
        assert other.call is None
        assert other.intervals == result.intervals
        with pytest.raises(ValueError, match="was pickled, copied or made by hand"):
            other.over_seeds()
    assert "call" not in repr(result)
    if name != "bound":  # whose problem holds the design
        assert X[0].tobytes() not in pickle.dumps(result)


def test_a_table_made_by_hand_cannot_be_repeated():
    with pytest.raises(ValueError, match="Make it again by the call that gave it"):
        IntervalTable(CALLS["bound"]().intervals).over_seeds()


@pytest.mark.parametrize("size", [1, 0, 1001, 2.0, "5"])
def test_the_number_of_seeds_is_checked(size):
    with pytest.raises(ParameterError, match="'n_seeds' parameter must be an integer of at"):
        CALLS["bound"]().over_seeds(size)


# ---- the command ----


@pytest.fixture
def command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return interval_on(X, Y, tmp_path, n_resamples=20, seed=4)


def expected(n_seeds=3):
    return compare_intervals(CLF, X, Y, methods=["two-center", "cud"], **FEW).over_seeds(n_seeds)


def test_the_command_says_the_ranges_in_every_form(command):
    over = expected()
    asked = ["--methods", "two-center,cud", "--seeds", "3"]
    found = command(*asked, "--format", "json")
    assert found.exit_code == 0, found.stderr
    read = json.loads(found.stdout)
    assert read["over_seeds"] == over.summary
    assert read["run"]["choices"] == "--seeds 3"
    for row, told in zip(read["intervals"], over.rows, strict=True):
        assert row["remarks"].endswith(told.remarks[-1])
    for form in ("markdown", "csv"):
        assert all(row.remarks[-1] in command(*asked, "--format", form).stdout for row in over.rows)
    alone = command("--recommend", "--seeds", "3").stdout
    assert alone.rstrip().endswith(" ".join(over.lines()[:2]))


def test_ctrl_c_at_the_shell_prints_what_is_known(command, monkeypatch, tmp_path):
    rows = expected(2).rows

    def again(call, seed, real=Call.again):
        if seed != expected_seeds[1]:
            raise KeyboardInterrupt
        return real(call, seed)

    expected_seeds = expected(3).seeds
    monkeypatch.setattr(Call, "again", again)
    found = command("--methods", "two-center,cud", "--seeds", "3", "--format", "markdown", "--output", "a.md")
    assert found.exit_code == 130
    assert "the run was stopped: the table has ranges over 2 of 3 seeds; no file was written" in found.stderr
    assert rows[0].remarks[-1].replace("over 2 seeds", "over 2 of 3 seeds") in found.stdout
    assert not (tmp_path / "a.md").exists()


def test_one_seed_is_no_range(command):
    found = command("--seeds", "1")
    assert found.exit_code == 2
    assert re.search("'--seeds': 1 is not in the range", found.stderr)
