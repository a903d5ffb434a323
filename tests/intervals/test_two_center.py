"""The interval around two centers and what clinical software prints: worked numbers, a second implementation, cases."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, norm
from shared_files import FURTHER_EXAMPLES, shared_vectors

from cudbound import (
    LeastSquaresClassifier,
    ResamplingSizes,
    SearchLimits,
    compare_intervals,
    recorded_estimate,
    recorded_interval,
    solve_draws,
)
from cudbound.intervals.two_center import (
    TwoCenters,
    allows_cap,
    shortest_binomial_interval,
    two_center_interval,
)
from cudbound.problem.draws import draw_counts
from cudbound.records import BootstrapLosses, InnerErrors, SignedSuprema
from cudbound.resampling.bootstrap import record_bootstrap, record_inner
from cudbound.resampling.task import Task

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
        records.append(SignedSuprema(n, inputs["rank"], np.array(suprema)))
    return records, {
        "training_losses": np.array(inputs["training_losses"]),
        "positive": np.mean(np.array(inputs["labels"]) > 0),
        "predicted_positive": np.mean(np.array(inputs["predicted"]) > 0),
    }


@pytest.mark.parametrize("name", named("optimism"))
def test_the_optimism_of_the_worked_examples(name):
    vector = VECTORS[name]
    records, known = recorded(vector["inputs"])
    row = recorded_estimate("bootstrap-optimism", *records, **known)
    assert row.estimate == pytest.approx(vector["value"]["estimate"], abs=vector["tol"])
    assert row.details["optimism"] == pytest.approx(-vector["value"]["optimism"], abs=vector["tol"])


@pytest.mark.parametrize("name", named("clinical"))
def test_the_clinical_intervals_of_the_worked_examples(name):
    vector = VECTORS[name]
    records, known = recorded(vector["inputs"])
    level = vector["inputs"]["confidence_level"]
    for what, limits in vector["value"].items():
        method, center = what.split()
        row = recorded_interval(method, *records, confidence_level=level, center=CENTERS[center], **known)
        assert (row.raw_interval.low, row.raw_interval.high) == pytest.approx(limits, abs=vector["tol"]), what


@pytest.mark.parametrize("name", [name for name in named("two_center") if "zero" not in name])
def test_the_two_center_intervals_of_the_worked_examples(name):
    vector = VECTORS[name]
    records, known = recorded(vector["inputs"])
    value = vector["value"]
    row = recorded_interval(
        "two-center", *records, confidence_level=vector["inputs"]["confidence_level"], **known
    )
    assert (row.low, row.high) == pytest.approx((value["low"], value["high"]), abs=vector["tol"])
    if "optimism_center" in value:
        assert row.details["optimism_corrected"] == pytest.approx(value["optimism_center"], abs=vector["tol"])
        assert row.details["error_632_plus"] == pytest.approx(value["632plus_center"], abs=vector["tol"])
        assert row.estimate == pytest.approx((value["optimism_center"] + value["632plus_center"]) / 2)


@pytest.mark.parametrize("name", named("two_center_zero"))
def test_no_errors_at_all_leave_the_upper_limit_of_a_binomial(name):
    inputs, value = VECTORS[name]["inputs"], VECTORS[name]["value"]
    n = inputs["n"]
    found = two_center_interval(TwoCenters(0.0, 0.0), n, inputs["confidence_level"], cap=0.0)
    assert (found.low, found.high) == pytest.approx((value["low"], value["high"]), abs=1e-9)
    counts = draw_counts(n, 30, np.random.default_rng(0))
    row = recorded_interval(
        "two-center",
        BootstrapLosses(counts, np.zeros(counts.shape, dtype=bool)),
        SignedSuprema(n, inputs["rank"], np.zeros(30)),
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


def two_center_by_hand(training, counts, losses, p, q, suprema, rank, tail):
    n = len(training)
    _, _, optimism, plus, _ = centers_by_hand(training, counts, losses, p, q)
    optimism = min(max(optimism, 0.0), 1.0)
    m, most = min(optimism, plus), max(optimism, plus)
    high = upper_limit(most, n, tail)
    if suprema is not None and rank <= n / 2:
        high = min(high, max(upper_limit(m, n, tail), sum(training) / n + quantile(suprema, 1 - tail)))
    return lower_limit(m, n, tail), high


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


def call(method, case, *more, **keywords):
    return recorded_interval(
        method,
        BootstrapLosses(case["counts"], case["losses"]),
        *more,
        training_losses=case["training"],
        positive=case["p"],
        predicted_positive=case["q"],
        **keywords,
    )


SHARES = st.integers(0, 1000).map(lambda k: k / 1000)
SEEDS = {"seed": st.integers(0, 10**6), "n": st.sampled_from([6, 11, 30]), "wrong": st.floats(0.0, 1.0)}


@PROPERTY
@given(**SEEDS, level=st.floats(0.05, 0.999), rank=st.integers(1, 20), one_sided=st.booleans())
def test_two_center_agrees_with_plain_python(seed, n, wrong, level, rank, one_sided):
    case = some_losses(seed, n, wrong)
    tail = (1 - level) if one_sided else (1 - level) / 2
    plain = case["training"].tolist(), case["counts"].tolist(), case["losses"].tolist(), case["p"], case["q"]
    for suprema in (None, case["suprema"]):
        more = [] if suprema is None else [SignedSuprema(n, rank, suprema)]
        low, high = two_center_by_hand(*plain, suprema, rank, tail)
        if one_sided:
            found = [
                call("two-center", case, *more, confidence_level=level, alternative=way)
                for way in ("greater", "less")
            ]
            assert (found[0].low, found[1].high) == pytest.approx((low, high), abs=1e-9)
        else:
            row = call("two-center", case, *more, confidence_level=level)
            assert (row.low, row.high) == pytest.approx((low, high), abs=1e-9)
            assert 0.0 <= row.low < row.high <= 1.0


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
    row = call("location-shifted", case, center=center, confidence_level=level)
    assert row.raw_interval.low == pytest.approx(quantile(own, tail) + shift, abs=1e-9)
    assert row.raw_interval.high == pytest.approx(quantile(own, 1 - tail) + shift, abs=1e-9)
    combined = [a - 1.25 * d for a, d in zip(own, whole, strict=True)]
    mean, z = sum(combined) / len(combined), norm.ppf(1 - tail)
    below, above = ([w for w in combined if s * (w - mean) >= -1e-12] for s in (-1, 1))
    row = call("abcloc", case, center=center, confidence_level=level)
    for side, limit, sign in ((above, row.raw_interval.low, -1), (below, row.raw_interval.high, 1)):
        spread = math.sqrt(sum((w - mean) ** 2 for w in side) / max(len(side) - 1, 1))
        assert limit == pytest.approx(theta + sign * z * spread, abs=1e-9)


# ---- properties ----


@PROPERTY
@given(center=SHARES, other=SHARES, cap=SHARES, n=SEEDS["n"], level=st.floats(0.05, 0.999))
def test_the_limits_hold_those_of_the_smaller_center(center, other, cap, n, level):
    centers = TwoCenters(center, other)
    tail = (1 - level) / 2
    found = two_center_interval(centers, n, level, cap=cap)
    assert found.low == pytest.approx(lower_limit(centers.low, n, tail), abs=1e-9)
    assert upper_limit(centers.low, n, tail) - 1e-9 <= found.high <= upper_limit(centers.high, n, tail) + 1e-9
    assert 0.0 <= found.low < found.high <= 1.0
    assert found.high <= two_center_interval(centers, n, level).high


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


def test_the_guard_compares_the_rank_with_half_of_the_rows():
    case = some_losses(1, 30, 0.3)
    suprema = np.zeros(25)
    assert allows_cap(15, 30)
    assert not allows_cap(16, 30)
    capped, not_capped = (call("two-center", case, SignedSuprema(30, rank, suprema)) for rank in (15, 16))
    assert capped.high < not_capped.high
    assert any("lowered by the CUD bound" in remark for remark in capped.remarks)
    assert any("rank 16 above half of the 30 rows" in remark for remark in not_capped.remarks)
    asked = call("two-center", case, SignedSuprema(30, 15, suprema), cap=False)
    assert asked.confidence_interval == not_capped.confidence_interval
    with pytest.raises(ValueError, match="'cap' parameter must be True or False"):
        call("two-center", case, cap="no")


def test_open_draws_enter_with_their_upper_bounds():
    case = some_losses(1, 30, 0.3)
    exact, upper = (call("two-center", case, SignedSuprema(30, 3, np.full(25, q))) for q in (0.0, 0.2))
    assert exact.high < upper.high
    row = call("two-center", case, SignedSuprema(30, 3, np.full(25, 0.2), np.zeros(25)))
    assert row.confidence_interval == upper.confidence_interval
    assert "q_signed" not in row.details
    assert "q- between 0.000 and 0.200, upper value used" in row.remarks
    # bounds on whose two sides the limit is the same need no remark
    idle = call("two-center", case, SignedSuprema(30, 3, np.ones(25), np.full(25, 0.9)))
    assert idle.high == idle.details["uncapped_high"]
    assert idle.remarks == ()


# ---- from a fitted classifier ----


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = (X[:, 0] + rng.normal(size=30) > 0).astype(int)
    return LeastSquaresClassifier().fit(X, y), X, y


def test_the_suprema_are_those_of_the_negative_side(fitted):
    clf, X, y = fitted
    row = compare_intervals(clf, X, y, methods="two-center", n_resamples=40, rng=0)["two-center"]
    design = np.column_stack([X, np.ones(30)])
    counts = draw_counts(30, 40, np.random.default_rng(0))
    coef = np.append(clf.coef_.ravel(), clf.intercept_)
    draws = solve_draws(design, 2.0 * y - 1, coef, counts, side="negative")
    assert row.details["q_signed"] == pytest.approx(quantile(draws.upper.tolist(), 0.975), abs=1e-12)
    one_sided = compare_intervals(clf, X, y, methods="two-center", n_resamples=40, rng=0, alternative="less")[
        "two-center"
    ]
    assert one_sided.details["q_signed"] == pytest.approx(quantile(draws.upper.tolist(), 0.95), abs=1e-12)


def test_a_limit_on_the_search_can_only_lengthen(fitted):
    arguments = {"methods": "two-center", "n_resamples": 40, "rng": 0}
    whole = compare_intervals(*fitted, **arguments)["two-center"]
    with pytest.warns(UserWarning, match="quantile of the signed suprema is between"):
        limited = compare_intervals(*fitted, limits=SearchLimits(nodes=0), **arguments)["two-center"]
    assert limited.high >= whole.high
    assert limited.low == whole.low


def test_two_stage_at_632_is_the_percentile_bootstrap(fitted):
    arguments = {"n_resamples": 40, "inner": 5, "rng": 0}
    table = compare_intervals(
        *fitted,
        methods=["two-stage", "bootstrap-percentile"],
        options={"two-stage": {"center": "632"}},
        **arguments,
    )
    assert table["two-stage"].raw_interval == table["bootstrap-percentile"].raw_interval


def test_two_stage_needs_inner_draws_and_what_they_show(fitted):
    row = compare_intervals(*fitted, methods=["two-stage"], n_resamples=20, inner="oob", rng=0)["two-stage"]
    assert "pass inner=50" in row.degenerate
    case = some_losses(1, 30, 0.3)
    inner = InnerErrors(np.full(25, 0.3), 25)
    with pytest.raises(ValueError, match=r"center='optimism' needs what InnerErrors calls 'optimism'"):
        call("two-stage", case, inner)
    with pytest.raises(
        ValueError, match=r"center='632-plus' needs what BootstrapLosses calls 'no_information'"
    ):
        call("two-stage", case, inner, center="632-plus")


def test_two_stage_recomputes_the_estimate_on_every_draw(fitted):
    """The inner draws of a draw are fitted and counted here by hand."""
    _, X, y = fitted
    counts = draw_counts(30, 6, np.random.default_rng(0))
    labels = 2.0 * y - 1
    seen = []

    def refit(weights):
        seen.append(weights)
        fits = [LeastSquaresClassifier().fit(np.repeat(X, w, axis=0), np.repeat(labels, w)) for w in weights]
        return np.array([one.predict(X) != labels for one in fits])

    task = Task(refit, labels, ResamplingSizes(), on_single_class="fit", rng=np.random.default_rng(1))
    outer, inner = record_bootstrap(task, counts), record_inner(task, counts, 4)
    draws, fits = seen[1].reshape(6, 4, 30), refit(seen[1]).reshape(6, 4, 30)
    for b in range(6):
        gaps = [((counts[b] - draws[b, k]) * fits[b, k]).sum() / 30 for k in range(4)]
        assert inner.optimism[b] == pytest.approx(np.mean(gaps), abs=1e-12)
        predicted = np.where(outer.losses[b], -labels, labels)
        p, q = (counts[b] @ (values > 0) / 30 for values in (labels, predicted))
        assert outer.no_information[b] == pytest.approx(p * (1 - q) + (1 - p) * q, abs=1e-12)
