"""The interval around two centers and what clinical software prints: worked numbers, a second implementation, cases."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from data import fitted_sample
from direct_refits import Seen, task
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, norm
from shared_files import FURTHER_EXAMPLES, shared_vectors

from cudbound import (
    Bound,
    LeastSquaresClassifier,
    Problem,
    Resampling,
    SearchLimits,
    compare_intervals,
    estimate_of,
    interval_of,
    solve_draws,
)
from cudbound.analysis.from_recorded import collect_records
from cudbound.basis.groups import Groups
from cudbound.intervals import METHODS, compute_interval
from cudbound.intervals.two_center import two_center_interval
from cudbound.point_estimates.two_center_limits import shortest_binomial_interval
from cudbound.point_estimates.two_centers import TwoCenters, overfits, two_centers
from cudbound.problem.draws import draw_counts
from cudbound.records import (
    BootstrapLosses,
    Design,
    FoldLosses,
    InnerErrors,
    Records,
    RepeatedFoldLosses,
    SignedSuprema,
)
from cudbound.resampling.bootstrap import record_bootstrap, record_inner

VECTORS = shared_vectors(FURTHER_EXAMPLES)
CENTERS = {"optimism": "optimism", ".632": "632", ".632+": "632-plus"}
PROPERTY = settings(max_examples=60, deadline=None, derandomize=True, database=None)


def named(word):
    return [name for name in VECTORS if name.startswith(word)]


def recorded(inputs):
    """Return the arguments of a call on recorded losses."""
    suprema = inputs.get("signed_suprema")
    n = len(inputs["training_losses"])
    records = [BootstrapLosses(np.array(inputs["counts"]), np.array(inputs["losses"], dtype=bool))]
    if suprema is not None:
        records.append(SignedSuprema(n, np.array(suprema)))
    records.append(Design(n, rank=inputs.get("rank", math.nan), distinct_rows=n))
    return records, {
        "training_losses": np.array(inputs["training_losses"]),
        "positive": np.mean(np.array(inputs["labels"]) > 0),
        "predicted_positive": np.mean(np.array(inputs["predicted"]) > 0),
    }


@pytest.mark.parametrize("name", named("optimism"))
def test_the_optimism_of_the_worked_examples(name):
    vector = VECTORS[name]
    records, known = recorded(vector["inputs"])
    row = estimate_of([*records], "bootstrap-optimism", **known)
    assert row.estimate == pytest.approx(vector["value"]["estimate"], abs=vector["tol"])
    assert row.details["optimism"] == pytest.approx(-vector["value"]["optimism"], abs=vector["tol"])


@pytest.mark.parametrize("name", named("clinical"))
def test_the_clinical_intervals_of_the_worked_examples(name):
    vector = VECTORS[name]
    records, known = recorded(vector["inputs"])
    level = vector["inputs"]["confidence_level"]
    for what, limits in vector["value"].items():
        method, center = what.split()
        row = interval_of([*records], (method, {"center": CENTERS[center]}), confidence_level=level, **known)
        assert (row.raw_interval.low, row.raw_interval.high) == pytest.approx(limits, abs=vector["tol"]), what


@pytest.mark.parametrize("name", [name for name in named("two_center") if "zero" not in name])
def test_the_two_center_intervals_of_the_worked_examples(name):
    """They are of the interval without further centers, as it was first published."""
    vector = VECTORS[name]
    inputs, value = vector["inputs"], vector["value"]
    records, known = recorded(inputs)
    n, level = len(inputs["training_losses"]), inputs["confidence_level"]
    centers = replace(two_centers(collect_records(records, **known)), overfits=False, toward=None)
    cap = None
    if inputs.get("rank", n) <= n / 2:
        cap = centers.training_error + quantile(inputs["signed_suprema"], 0.5 + level / 2)
    found = two_center_interval(centers, n, level, cap=cap)
    assert tuple(found) == pytest.approx((value["low"], value["high"]), abs=vector["tol"])
    if "optimism_center" in value:
        assert centers.optimism_corrected == pytest.approx(value["optimism_center"], abs=vector["tol"])
        assert centers.error_632_plus == pytest.approx(value["632plus_center"], abs=vector["tol"])


@pytest.mark.parametrize("name", named("two_center_zero"))
def test_no_errors_at_all_leave_the_upper_limit_of_a_binomial(name):
    inputs, value = VECTORS[name]["inputs"], VECTORS[name]["value"]
    n = inputs["n"]
    found = two_center_interval(TwoCenters(0.0, 0.0, 0.0), n, inputs["confidence_level"], cap=0.0)
    assert (found.low, found.high) == pytest.approx((value["low"], value["high"]), abs=1e-9)
    counts = draw_counts(n, 30, np.random.default_rng(0))
    row = interval_of(
        [
            BootstrapLosses(counts, np.zeros(counts.shape, dtype=bool)),
            SignedSuprema(n, np.zeros(30)),
            Design(n, rank=inputs["rank"]),
        ],
        "two-center",
        training_losses=np.zeros(n),
        positive=0.5,
        predicted_positive=0.5,
    )
    assert (row.estimate, row.low, row.high) == pytest.approx((0.0, 0.0, 1 - 0.025 ** (1 / n)))
    assert row.degenerate is None


# ---- a second implementation, in plain Python from METHODS, sections 3 and 10 ----


def quantile(values, p):
    ordered = sorted(values)
    return ordered[min(max(1, math.ceil(len(ordered) * p - 1e-9)), len(ordered)) - 1]


def lower_limit(e, n, tail):
    return 0.0 if e <= 0 else float(beta.ppf(tail, n * e, n - n * e + 1))


def upper_limit(e, n, tail):
    return 1.0 if e >= 1 else float(beta.ppf(1 - tail, n * e + 1, n - n * e))


def centers_by_hand(training, counts, losses, p, q):
    n, draws = len(training), range(len(counts))
    t = sum(training) / n
    own = [sum(c * e for c, e in zip(counts[b], losses[b], strict=True)) / n for b in draws]
    whole = [sum(losses[b]) / n for b in draws]
    optimism = t + sum(d - a for a, d in zip(own, whole, strict=True)) / len(counts)
    out = []
    for i in range(n):
        seen = [losses[b][i] for b in draws if counts[b][i] == 0]
        if seen:
            out.append(sum(seen) / len(seen))
    err1, gamma = sum(out) / len(out), p * (1 - q) + (1 - p) * q
    cut = min(err1, gamma)
    rate = (cut - t) / (gamma - t) if cut > t else 0.0
    weight = 0.632 / (1 - 0.368 * rate)
    return own, whole, optimism, (1 - weight) * t + weight * cut, 0.368 * t + 0.632 * err1


def two_center_by_hand(
    case, tail, *, rank=math.nan, distinct=math.nan, suprema=None, folds=None, classes=False
):
    """METHODS, section 10.1, line by line, for ungrouped rows of equal weight; returns estimate and limits."""
    training, n = case["training"].tolist(), len(case["training"])
    counts, losses, p, q = case["counts"].tolist(), case["losses"].tolist(), case["p"], case["q"]
    t = sum(training) / n
    _, _, optimism, plus, x632 = centers_by_hand(training, counts, losses, p, q)
    err1, gamma = (x632 - 0.368 * t) / 0.632, p * (1 - q) + (1 - p) * q
    optimism = min(max(optimism, 0.0), 1.0)
    m = min(optimism, plus)
    most = [optimism, plus]
    trigger = rank > n / 2 or t < err1 / 3
    trigger |= (err1 - t) / (gamma - t) > 0.5 if gamma > t else err1 > t
    first = optimism
    if trigger:
        most.append(err1)
        first = err1
    if rank > 0.9 * n and folds is not None:
        most.append(sum(sum(one) / n for one in folds) / len(folds))
    low_center = m
    if t == 0 and rank <= n / 2:
        low_center = 0.0
    elif not distinct > n / 2:
        low_center = min(m, t if classes else (m + t) / 2)
    low, high = lower_limit(low_center, n, tail), upper_limit(max(most), n, tail)
    if suprema is not None and rank <= n / 3:
        high = min(high, max(upper_limit(m, n, tail), t + quantile(suprema, 1 - tail)))
    return min(max((first + plus) / 2, low), high), low, high


def some_losses(seed, n, wrong):
    rng = np.random.default_rng(seed)
    counts = draw_counts(n, 25, rng)
    return {
        "counts": counts,
        "losses": rng.random(counts.shape) < wrong,
        "training": (rng.random(n) < wrong).astype(int),
        "suprema": rng.random(25).round(2) / 2,
        "p": rng.random(),
        "q": rng.random(),
    }


def call(method, case, *more, options=None, **keywords):
    return interval_of(
        [BootstrapLosses(case["counts"], case["losses"]), *more],
        (method, options or {}),
        training_losses=case["training"],
        positive=case["p"],
        predicted_positive=case["q"],
        **keywords,
    )


def records_of(case, design=None, *, folds=None, suprema=None, **known):
    """Return records with everything that the interval reads."""
    n = len(case["training"])
    if folds is not None:
        known["stratified_folds"] = RepeatedFoldLosses([FoldLosses(one, np.arange(n) % 3) for one in folds])
    if suprema is not None:
        known["signed_suprema"] = SignedSuprema(n, suprema)
    return Records(
        losses=case["training"],
        positive=case["p"],
        predicted_positive=case["q"],
        bootstrap=BootstrapLosses(case["counts"], case["losses"]),
        design=design,
        **known,
    )


def of_records(records, level=0.95, **keywords):
    return compute_interval(METHODS["two-center"], records, level, **keywords)


SHARES = st.integers(0, 1000).map(lambda k: k / 1000)
SEEDS = {"seed": st.integers(0, 10**6), "n": st.sampled_from([6, 11, 30]), "wrong": st.floats(0.0, 1.0)}


@PROPERTY
@given(
    **SEEDS,
    level=st.floats(0.05, 0.999),
    rank=st.one_of(st.just(math.nan), st.integers(1, 31)),
    distinct=st.one_of(st.just(math.nan), st.integers(1, 30)),
    one_sided=st.booleans(),
)
def test_two_center_agrees_with_plain_python(seed, n, wrong, level, rank, distinct, one_sided):
    case = some_losses(seed, n, wrong)
    tail = (1 - level) if one_sided else (1 - level) / 2
    folds = np.random.default_rng(seed).random((5, n)) < wrong
    for suprema in (None, case["suprema"]):
        records = records_of(case, Design(n, rank, distinct), folds=folds, suprema=suprema)
        estimate, low, high = two_center_by_hand(
            case, tail, rank=rank, distinct=distinct, suprema=suprema, folds=folds.tolist()
        )
        row = of_records(records, level)
        if one_sided:
            sides = [of_records(records, level, alternative=way) for way in ("greater", "less")]
            assert (sides[0].low, sides[1].high) == pytest.approx((low, high), abs=1e-9)
        else:
            assert (row.estimate, row.low, row.high) == pytest.approx((estimate, low, high), abs=1e-9)
        assert 0.0 <= row.low <= row.estimate <= row.high <= 1.0
        assert row.low < row.high


@PROPERTY
@given(**SEEDS, level=st.floats(0.5, 0.999), center=st.sampled_from(["optimism", "632", "632-plus"]))
def test_the_clinical_intervals_agree_with_plain_python(seed, n, wrong, level, center):
    case = some_losses(seed, n, wrong)
    training = case["training"].tolist()
    own, whole, *centers = centers_by_hand(
        training, case["counts"].tolist(), case["losses"].tolist(), case["p"], case["q"]
    )
    theta = dict(zip(("optimism", "632-plus", "632"), centers, strict=True))[center]
    tail, shift = (1 - level) / 2, theta - sum(training) / n
    row = call("location-shifted", case, options={"center": center}, confidence_level=level)
    assert row.raw_interval.low == pytest.approx(quantile(own, tail) + shift, abs=1e-9)
    assert row.raw_interval.high == pytest.approx(quantile(own, 1 - tail) + shift, abs=1e-9)
    combined = [a - 1.25 * d for a, d in zip(own, whole, strict=True)]
    mean, z = sum(combined) / len(combined), norm.ppf(1 - tail)
    below, above = ([w for w in combined if s * (w - mean) >= -1e-12] for s in (-1, 1))
    row = call("abcloc", case, options={"center": center}, confidence_level=level)
    for side, limit, sign in ((above, row.raw_interval.low, -1), (below, row.raw_interval.high, 1)):
        spread = math.sqrt(sum((w - mean) ** 2 for w in side) / max(len(side) - 1, 1))
        assert limit == pytest.approx(theta + sign * z * spread, abs=1e-9)


# ---- properties ----


@PROPERTY
@given(
    shares=st.tuples(*[SHARES] * 5),
    cap=SHARES,
    n=SEEDS["n"],
    level=st.floats(0.05, 0.999),
    flags=st.booleans(),
)
def test_the_limits_hold_those_of_the_smaller_center(shares, cap, n, level, flags):
    training, center, other, left_out, toward = shares
    centers = TwoCenters(
        training, center, other, left_out, 0.5, overfits=flags, toward=toward if flags else None
    )
    tail = (1 - level) / 2
    found = two_center_interval(centers, n, level, cap=cap)
    assert found.low == pytest.approx(lower_limit(centers.low, n, tail), abs=1e-9)
    assert found.low <= lower_limit(centers.smaller, n, tail) + 1e-9
    assert upper_limit(centers.smaller, n, tail) - 1e-9 <= found.high
    assert found.high <= upper_limit(centers.high, n, tail) + 1e-9
    assert 0.0 <= found.low < found.high <= 1.0
    uncapped = two_center_interval(centers, n, level)
    assert found.high <= uncapped.high
    # what the mends add can only lengthen
    plain = two_center_interval(replace(centers, overfits=False, toward=None), n, level)
    assert uncapped.low <= plain.low
    assert plain.high <= uncapped.high


@pytest.mark.parametrize(
    ("training", "left_out", "gamma", "rank", "expected"),
    [
        (0.3, 0.35, 0.5, 15, False),
        (0.3, 0.35, 0.5, 16, True),  # rank above half of the 30 rows
        (0.2, 0.36, 0.5, 3, True),  # more than half of the way to the no-information error
        (0.2, 0.34, 0.5, 3, False),
        (0.1, 0.29, 0.5, math.nan, False),  # no linear form, no rank
        (0.1, 0.31, 0.6, math.nan, True),  # training error below a third
        (0.2, 0.25, 0.2, 3, True),  # a no-information error no larger than the training error
        (0.2, 0.2, 0.2, 3, False),
        (0.0, 0.0, 0.5, 3, False),
    ],
)
def test_the_signs_of_overfitting(training, left_out, gamma, rank, expected):
    n = 100
    losses = np.arange(n) < round(training * n)
    counts = np.vstack([np.eye(n, dtype=int) * n, np.roll(np.eye(n, dtype=int), 1, axis=1) * n])
    wrong = np.tile(np.arange(n) < round(left_out * n), (2 * n, 1))
    records = Records(
        losses=losses,
        no_information=gamma,
        bootstrap=BootstrapLosses(counts, wrong),
        design=Design(30, rank=rank),
    )
    assert overfits(records) is expected
    assert overfits(replace(records, overfits=not expected)) is not expected


def test_the_rank_is_compared_with_groups_where_there_are_groups():
    assert not Design(30, rank=12).has_many_columns
    assert Design(30, rank=12, n_groups=20).has_many_columns
    assert not Design(30, rank=27).is_nearly_full
    assert Design(30, rank=28).is_nearly_full
    assert Design(30, distinct_rows=15).has_few_distinct_rows
    assert not Design(30, distinct_rows=16).has_few_distinct_rows
    assert Design(30).has_few_distinct_rows  # not known
    assert not Design(30).has_many_columns


def test_no_training_error_of_few_columns_excludes_no_error():
    case = some_losses(3, 30, 0.2)
    case["training"] = np.zeros(30, dtype=int)
    case["p"] = case["q"] = 0.5
    case["losses"] = (case["counts"] == 0) & (np.random.default_rng(3).random(case["counts"].shape) < 0.3)
    few, unknown, many = (of_records(records_of(case, Design(30, rank, 30))) for rank in (15, math.nan, 16))
    assert few.low == 0.0
    assert few.high == unknown.high
    assert "no training error: lower limit from 0.000" in few.remarks
    assert min(unknown.low, many.low) > 0.0


def test_an_error_out_of_bag_is_at_most_1():
    """The only row that was ever left out has 15 of 16 parts of the weight, and is always wrong."""
    counts = np.array([[0, 2, 2], [0, 1, 3]])
    losses = np.array([[45 / 16, 0.0, 0.0]] * 2)
    records = Records(
        losses=np.array([0.0, 1.5 / 16, 1.5 / 16]),
        no_information=0.5,
        bootstrap=BootstrapLosses(counts, losses, uneven=True, weighed=True),
        weighed=True,
    )
    centers = two_centers(records)
    assert centers.overfits
    assert centers.out_of_bag == centers.high == 1.0
    assert centers.estimate == (1.0 + centers.error_632_plus) / 2


def test_class_averages_on_a_lattice_take_the_training_error_below():
    case = some_losses(3, 30, 0.2)
    case["training"] = (np.arange(30) < 6).astype(int)
    case["p"] = case["q"] = 0.5
    left_out = (case["counts"] == 0) & (np.random.default_rng(3).random(case["counts"].shape) < 0.4)
    case["losses"] = (case["training"] > 0) | left_out
    plain, averaged = (
        of_records(records_of(case, Design(30, 3, 10), averages_classes=flag)) for flag in (False, True)
    )
    tail = 0.025
    for row, flag in ((plain, False), (averaged, True)):
        _, low, high = two_center_by_hand(case, tail, rank=3, distinct=10, classes=flag)
        assert (row.low, row.high) == pytest.approx((low, high), abs=1e-9)
    assert averaged.low < plain.low
    assert "few distinct rows: lower limit from 0.200" in averaged.remarks


@PROPERTY
@given(errors=st.floats(0.0, 30.0), level=st.floats(0.5, 0.999))
def test_no_split_of_the_tails_is_shorter_than_the_shortest(errors, level):
    n, total = 30, 1 - level
    found = shortest_binomial_interval(errors, n, level)
    below = np.linspace(0.0, total, 201)
    widths = [
        upper_limit(errors / n, n, total - b) - (lower_limit(errors / n, n, b) if b > 0 else 0.0)
        for b in below
    ]
    assert found.width <= min(widths) + 1e-7
    assert found.low <= errors / n <= found.high


def test_the_guard_compares_the_rank_with_a_third_of_the_rows():
    case = some_losses(1, 30, 0.3)
    suprema = np.zeros(25)
    capped, not_capped = (
        of_records(records_of(case, Design(30, rank, 30), suprema=suprema, overfits=False))
        for rank in (10, 11)
    )
    assert capped.high < not_capped.high
    assert capped.details["lowered_by"] == pytest.approx(not_capped.high - capped.high)
    assert any("lowered by the CUD bound" in remark for remark in capped.remarks)
    assert any("rank 11 above a third of the 30 rows" in remark for remark in not_capped.remarks)
    asked = of_records(
        records_of(case, Design(30, 10, 30), suprema=suprema, overfits=False), options={"cap": False}
    )
    assert asked.confidence_interval == not_capped.confidence_interval
    unknown = call("two-center", case, SignedSuprema(30, suprema), Design(30, distinct_rows=30))
    assert "upper limit not capped: rank of the design not recorded" in unknown.remarks
    groups = Groups.of(np.arange(30) // 2)
    grouped = replace(records_of(case, Design(30, 8, 30), suprema=suprema, overfits=False), groups=groups)
    assert "upper limit not capped: rank 8 above a third of the 15 groups" in of_records(grouped).remarks
    with pytest.raises(ValueError, match="'cap' parameter must be True or False"):
        call("two-center", case, options={"cap": "no"})


def test_a_lower_limit_by_itself_says_how_rows_count_and_nothing_of_a_cap():
    case = some_losses(3, 30, 0.2)
    case["training"] = (np.arange(30) < 6).astype(int)
    case["p"] = case["q"] = 0.5
    left_out = (case["counts"] == 0) & (np.random.default_rng(3).random(case["counts"].shape) < 0.4)
    case["losses"] = (case["training"] > 0) | left_out
    records = replace(records_of(case, Design(30, 28, 10, n_groups=15)), groups=Groups.of(np.arange(30) // 2))
    both, lower = of_records(records), of_records(records, alternative="greater")
    center = lower.details["lower_center"]
    assert lower.remarks == both.remarks[:3]
    assert lower.remarks[1].startswith("30 rows counted as")
    assert lower.remarks[2] == f"few distinct rows: lower limit from {center:.3f}"
    assert [remark.split()[0] for remark in both.remarks[3:]] == ["the", "rank", "upper"]


def test_open_draws_enter_with_their_upper_bounds():
    case = some_losses(1, 30, 0.3)
    design = Design(30, 3, 30)
    exact, upper = (call("two-center", case, SignedSuprema(30, np.full(25, q)), design) for q in (0.0, 0.2))
    assert exact.high < upper.high
    row = call("two-center", case, SignedSuprema(30, np.full(25, 0.2), np.zeros(25)), design)
    assert row.confidence_interval == upper.confidence_interval
    assert "q_signed" not in row.details
    assert "q- between 0.000 and 0.200, upper value used" in row.remarks
    # bounds on whose two sides the limit is the same need no remark
    idle = call("two-center", case, SignedSuprema(30, np.ones(25), np.full(25, 0.9)), design)
    assert idle.high == idle.details["uncapped_high"]
    assert idle.details["lowered_by"] == 0.0
    assert not any("q-" in remark for remark in idle.remarks)


# ---- from a fitted classifier ----


@pytest.fixture(scope="module")
def fitted():
    return fitted_sample()


def test_the_suprema_are_those_of_the_negative_side(fitted):
    clf, X, y = fitted
    row = compare_intervals(clf, X, y, methods="two-center", n_resamples=40, rng=0)["two-center"]
    design = np.column_stack([X, np.ones(30)])
    counts = draw_counts(30, 40, np.random.default_rng(0))
    coef = np.append(clf.coef_.ravel(), clf.intercept_)
    draws = solve_draws(Problem.of(design, 2.0 * y - 1, coef, counts), side="negative")
    assert row.details["q_signed"] == pytest.approx(quantile(draws.upper.tolist(), 0.975), abs=1e-12)
    one_sided = compare_intervals(clf, X, y, methods="two-center", n_resamples=40, rng=0, alternative="less")[
        "two-center"
    ]
    assert one_sided.details["q_signed"] == pytest.approx(quantile(draws.upper.tolist(), 0.95), abs=1e-12)


def test_a_limit_on_the_search_can_only_lengthen(fitted):
    arguments = {"methods": "two-center", "n_resamples": 40, "rng": 0}
    whole = compare_intervals(*fitted, **arguments)["two-center"]
    with pytest.warns(UserWarning, match="quantile of the signed suprema is between"):
        limited = compare_intervals(*fitted, bound=Bound(limits=SearchLimits(nodes=0)), **arguments)[
            "two-center"
        ]
    assert limited.high >= whole.high
    assert limited.low == whole.low


def test_two_stage_at_632_is_the_percentile_bootstrap(fitted):
    arguments = {"n_resamples": 40, "resampling": Resampling(inner=5), "rng": 0}
    table = compare_intervals(
        *fitted, methods=[("two-stage", {"center": "632"}), "bootstrap-percentile"], **arguments
    )
    assert table["two-stage"].raw_interval == table["bootstrap-percentile"].raw_interval


def test_two_stage_needs_inner_draws_and_what_they_show(fitted):
    row = compare_intervals(
        *fitted, methods=["two-stage"], n_resamples=20, rng=0, resampling=Resampling(inner="oob")
    )["two-stage"]
    assert "request 50" in row.degenerate
    case = some_losses(1, 30, 0.3)
    inner = InnerErrors(np.full(25, 0.3), 25)
    with pytest.raises(ValueError, match=r"center='optimism' needs 'optimism' of InnerErrors"):
        call("two-stage", case, inner)
    with pytest.raises(ValueError, match=r"center='632-plus' needs 'no_information' of BootstrapLosses"):
        call("two-stage", case, inner, options={"center": "632-plus"})


def test_two_stage_recomputes_the_estimate_on_every_draw(fitted):
    """The inner draws of a draw are fitted and counted here by hand."""
    _, X, y = fitted
    counts = draw_counts(30, 6, np.random.default_rng(0))
    labels = 2.0 * y - 1

    def refit(weights):
        fits = [LeastSquaresClassifier().fit(np.repeat(X, w, axis=0), np.repeat(labels, w)) for w in weights]
        return np.array([one.predict(X) != labels for one in fits])

    seen = Seen(refit)
    recording = task(seen, labels, seed=1)
    outer, inner = record_bootstrap(recording, counts), record_inner(recording, counts, 4)
    draws, fits = seen.calls[1].reshape(6, 4, 30), refit(seen.calls[1]).reshape(6, 4, 30)
    for b in range(6):
        gaps = [((counts[b] - draws[b, k]) * fits[b, k]).sum() / 30 for k in range(4)]
        assert inner.optimism[b] == pytest.approx(np.mean(gaps), abs=1e-12)
        predicted = np.where(outer.losses[b], -labels, labels)
        p, q = (counts[b] @ (values > 0) / 30 for values in (labels, predicted))
        assert outer.no_information[b] == pytest.approx(p * (1 - q) + (1 - p) * q, abs=1e-12)
