"""Rows in groups: effective rows, records of whole groups by plain loops, what cannot keep groups, and searches."""

from __future__ import annotations

import numpy as np
import pytest
from record_kinds import kinds

from cudbound import LeastSquaresClassifier, Resampling, compare_intervals, from_records, performance_interval
from cudbound.basis.groups import Groups
from cudbound.basis.proportions import inverted_binomial_interval
from cudbound.basis.sample import Sample
from cudbound.point_estimates.bootstrap_632 import design_effect, effective_rows
from cudbound.problem.draws import draw_counts
from cudbound.records import BootstrapLosses, Design, Records, no_information_error
from cudbound.resampling.make_records import RecordingInputs, make_records
from cudbound.resampling.settings import Streams

# nine groups are few
pytestmark = pytest.mark.filterwarnings("ignore::cudbound.basis.exceptions.SmallSampleWarning")

CODES = np.repeat(np.arange(9), [1, 2, 3, 4, 1, 2, 3, 4, 4])
N = CODES.size
RNG = np.random.default_rng(11)
OF_PATIENT = np.array([0, 1, 0, 1, 1, 0, 0, 1, 0])
Y = OF_PATIENT[CODES]
X = RNG.normal(size=(9, 2))[CODES] + 0.3 * RNG.normal(size=(N, 2)) + 0.8 * Y[:, None]
CLF = LeastSquaresClassifier().fit(X, Y)
GROUPS = Groups.of(CODES)


def record(*needs, n_resamples=40, n_inner=5, policy=None):
    rng = np.random.default_rng(3)
    counts = draw_counts(N, n_resamples, rng, GROUPS)
    recording = RecordingInputs(
        sample=Sample(X, Y, CLF.classes_, np.where(Y == 1, 1.0, -1.0), GROUPS, estimator=CLF),
        counts=counts,
        streams=Streams(rng),
        resampling=Resampling(inner="oob" if n_inner is None else n_inner, on_single_class=policy),
    )
    return counts, make_records(kinds(needs), recording)


def losses_of(rows):
    """Losses on all rows of a classifier fitted to the rows with these numbers, by a fit of its own."""
    if len(set(Y[rows].tolist())) == 1:
        return (Y[rows[0]] != Y).astype(float)
    return (LeastSquaresClassifier().fit(X[rows], Y[rows]).predict(X) != Y).astype(float)


def test_design_effect_by_plain_loops():
    counts, made = record("bootstrap")
    records = Records(bootstrap=made["bootstrap"], groups=GROUPS)
    pairs = [
        (draw, row, float(made["bootstrap"].losses[draw, row]))
        for draw in range(len(counts))
        for row in range(N)
        if counts[draw, row] == 0
    ]
    mean = sum(loss for _, _, loss in pairs) / len(pairs)
    sums: dict[tuple[int, int], float] = {}
    for draw, row, loss in pairs:
        key = (draw, int(CODES[row]))
        sums[key] = sums.get(key, 0.0) + loss - mean
    squares = sum((loss - mean) ** 2 for _, _, loss in pairs)
    expected = sum(one**2 for one in sums.values()) / squares
    assert design_effect(records) == pytest.approx(expected, rel=1e-12)
    as_even = N**2 / sum(size**2 for size in (1, 2, 3, 4, 1, 2, 3, 4, 4))
    assert effective_rows(records) == pytest.approx(min(max(N / expected, as_even), N))


@pytest.mark.parametrize(
    ("losses", "expected"),
    [
        ([0, 0, 1, 1, 0, 0, 1, 1], 5.0),  # groups of two equal losses: each group counts once
        (
            [0, 1, 1, 0, 0, 1, 1, 0],
            10.0,
        ),  # one error in each group: more even than independence, cut to the rows
        ([0, 0, 0, 0, 0, 0, 0, 0], 5.0),  # no error shows nothing of how errors go together
        ([0, 0, 1, 1, 0, 1, 0, 1], 10.0),  # two groups agree, two do not: design effect 1
        ([0, 0, 0, 1, 0, 0, 1, 1], 10 / (2.75 / 1.875)),  # mean 3/8, sums -.75, .25, -.75, 1.25
    ],
)
def test_effective_rows_by_hand(losses, expected):
    # one draw that holds only the last of five groups, five times
    groups = Groups.of([1, 1, 2, 2, 3, 3, 4, 4, 5, 5])
    drawn = BootstrapLosses([[0] * 8 + [5, 5]], [[*losses, 0, 0]])
    assert effective_rows(Records(bootstrap=drawn, groups=groups)) == pytest.approx(expected)


def test_two_center_counts_effective_rows():
    row = performance_interval(CLF, X, Y, groups=CODES, n_resamples=60, rng=3).row
    _, made = record("bootstrap", "stratified_folds", n_resamples=60)
    wrong = CLF.predict(X) != Y
    size = effective_rows(Records(bootstrap=made["bootstrap"], groups=GROUPS))
    limits = [
        inverted_binomial_interval(row.details[f"{side}_center"] * size, size, 0.95)
        for side in ("lower", "upper")
    ]
    assert row.low == pytest.approx(limits[0].low)
    assert row.high == pytest.approx(limits[1].high)
    assert row.details["lower_size"] == row.details["upper_size"] == pytest.approx(size)
    assert f"{N} rows counted as {size:.1f}" in row.all_remarks()
    by_hand = from_records(
        Records(
            losses=wrong,
            no_information=no_information_error(Y.mean(), CLF.predict(X).mean()),
            bootstrap=made["bootstrap"],
            stratified_folds=made["stratified_folds"],
            groups=GROUPS,
            design=Design(N, rank=1 + X.shape[1]),
        ),
        "two-center",
    )
    assert (by_hand.low, by_hand.high) == (row.low, row.high)


def test_bootstrap_losses_are_those_of_drawn_groups():
    counts, made = record("bootstrap", policy="fit")
    assert (made["bootstrap"].counts == counts).all()
    for draw in range(10):
        rows = np.repeat(np.arange(N), counts[draw])
        assert (made["bootstrap"].losses[draw] == losses_of(rows)).all()
        held = counts[draw] @ made["bootstrap"].losses[draw] / rows.size
        assert made["bootstrap"].resubstitution[draw] == pytest.approx(held)


@pytest.mark.parametrize("policy", ["redraw", "drop"])
def test_draws_that_are_drawn_again_hold_whole_groups(policy):
    _, made = record("bootstrap", n_inner=None, policy=policy)
    for counts in made["bootstrap"].counts:
        assert (counts == counts[GROUPS.first_rows][CODES]).all()
        assert counts[GROUPS.first_rows].sum() == 9
        assert (counts == 0).any()
        assert 0 < counts @ Y < counts.sum()


def test_leaving_out_one_group():
    _, made = record("leave_one_out")
    found = made["leave_one_out"]
    assert (found.fold == CODES).all()
    for group in range(9):
        rows = np.flatnonzero(group != CODES)
        assert (found.losses[group == CODES] == losses_of(rows)[group == CODES]).all()


def test_inner_draws_take_the_groups_of_the_draw():
    # Err(1) of a draw and its optimism, with the inner draws replayed from the stream of the record
    counts, made = record("bootstrap", "inner", n_resamples=4, n_inner=3, policy="fit")
    rng = np.random.default_rng(3)
    draw_counts(N, 4, rng, GROUPS)
    stream, _ = Streams(rng)["inner"].spawn(2)
    draws, _ = stream.spawn(2)
    places = (draws.random((4, 3, 9)) * 9).astype(int)
    for outer in range(4):
        members = np.repeat(np.arange(9), counts[outer][GROUPS.first_rows])
        sums, times, optimism = np.zeros((9, N)), np.zeros(9), []
        for inner in range(3):
            drawn = [members[place] for place in places[outer, inner]]
            rows = np.concatenate([np.flatnonzero(group == CODES) for group in drawn])
            losses = losses_of(rows)
            optimism.append(counts[outer] @ losses / counts[outer].sum() - losses[rows].mean())
            for place in set(range(9)) - set(places[outer, inner].tolist()):
                times[place] += 1
                sums[place] += losses
        held = [
            (sums[place, row] / times[place])
            for place in range(9)
            if times[place]
            for row in np.flatnonzero(members[place] == CODES)
        ]
        assert made["inner"].errors[outer] == pytest.approx(np.mean(held))
        assert made["inner"].optimism[outer] == pytest.approx(np.mean(optimism))


@pytest.mark.parametrize(
    "method", ["training-normal", "out-of-bag-wilson", "out-of-bag-clopper-pearson", "leave-one-out-binomial"]
)
def test_limits_that_count_the_rows_of_groups_say_so(method):
    row = compare_intervals(CLF, X, Y, methods=method, groups=CODES, n_resamples=20, rng=0)[method]
    assert row.remarks[-1] == "limits as if the rows of a group were independent"
    if method == "out-of-bag-clopper-pearson":
        limits = inverted_binomial_interval(row.estimate * N, N, 0.95)
        assert row.confidence_interval == pytest.approx(limits)
