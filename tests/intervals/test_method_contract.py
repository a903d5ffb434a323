"""What every method keeps to, and methods of users."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from contract_cases import (
    COMPARISONS,
    INTERVALS,
    N_INNER,
    N_RESAMPLES,
    SIZES,
    edge_cases,
    exactly,
    parts_of,
    random_records,
    refitted_records,
    sample,
)
from data import fitted_sample
from direct_refits import prepare_refits
from hypothesis import given, settings
from hypothesis import strategies as st
from record_kinds import names_of
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from tiers import quick_first

from cudbound import (
    LeastSquaresClassifier,
    Resampling,
    compare_intervals,
    compare_learners,
    estimate_error,
    from_records,
)
from cudbound.basis.method_card import READS
from cudbound.basis.sample import Sample
from cudbound.intervals import METHODS, compute_interval
from cudbound.intervals.comparisons import record_own_test_sets
from cudbound.intervals.method import ALTERNATIVES, compute_comparison, own_method
from cudbound.point_estimates import ESTIMATORS, compute_estimate
from cudbound.records import Records, RepeatedFoldLosses
from cudbound.report.sentences import ERRORS
from cudbound.resampling.bootstrap import BOOTSTRAP
from cudbound.resampling.make_records import RecordingInputs, make_records
from cudbound.resampling.refits import difference
from cudbound.resampling.settings import RefitContext, Streams
from cudbound.resampling.splits import HALVINGS

# ---- what every registered method has to keep ----


#: Of two-center, on data with more columns than half of the rows.
pytestmark = pytest.mark.filterwarnings("ignore::cudbound.basis.exceptions.ManyFeaturesWarning")

REGISTERED = {**METHODS, **ESTIMATORS}
FROM_RECORDS = tuple(
    name
    for name, method in METHODS.items()
    if method.gives_interval and method.reads == "classes" and "bound" not in names_of(method.needs)
)
#: Comparisons of losses on matched splits; the others have a test set for each classifier.
MATCHED = tuple(name for name in COMPARISONS if "second_test_set" not in names_of(METHODS[name].needs))
WITH_PIVOT = tuple(name for name in COMPARISONS if METHODS[name].pivot is not None)
SEED = 3
ARGUMENTS = {"n_resamples": N_RESAMPLES, "rng": SEED}
RESAMPLING = replace(SIZES, inner=N_INNER)
PROPERTY = settings(max_examples=25, deadline=None, derandomize=True, database=None)


def of_interval(name, records, level=0.95, **keywords):
    return compute_interval(METHODS[name], records, level, **keywords)


def has_direction(name):
    """Whether a comparison has the alternatives "less" and "greater"."""
    return not METHODS[name].two_sided_only


@pytest.fixture(scope="module")
def fitted():
    X, y = sample()
    return LeastSquaresClassifier().fit(X, y), X, y


@pytest.fixture(scope="module")
def refitted(fitted):
    return refitted_records(*fitted, SEED)


@pytest.fixture(scope="module")
def intervals(fitted):
    return compare_intervals(*fitted, methods=INTERVALS, resampling=RESAMPLING, **ARGUMENTS)


# ---- what a method says of itself ----


@pytest.mark.parametrize("name", REGISTERED)
def test_a_formula_redefines_no_symbol_that_its_card_explains(name):
    card = REGISTERED[name]
    for form in (card, *card.variants.values()):
        symbols = [meaning.partition(":")[0] for meaning in form.symbols.split("; ") if ": " in meaning]
        assert not [symbol for symbol in symbols if f"; {symbol} is " in form.formula]


@pytest.mark.parametrize("name", REGISTERED)
def test_options_have_a_default_that_they_allow(name):
    method = REGISTERED[name]
    assert method.resolve_options({}) == {word: option.default for word, option in method.options.items()}
    known = r"Its options are \[" if method.options else r"It has no options\."
    with pytest.raises(ValueError, match=rf"{name} has no option 'shape'\. {known}"):
        method.resolve_options({"shape": 1})
    for word in method.options:
        with pytest.raises(ValueError, match=rf"'{word}' parameter must be"):
            method.resolve_options({word: object()})


@pytest.mark.parametrize("name", REGISTERED)
def test_missing_records_are_named(name):
    method = REGISTERED[name]
    text = rf"{name} needs .*, not recorded here: pass [A-Za-z]+"
    if method.reads != "classes":
        text = rf"{name} reads {READS[method.reads]}.*, and not {READS['classes']}"
    calls = []
    if name in ESTIMATORS:
        calls.append(lambda: compute_estimate(method, Records()))
    elif method.gives_interval:
        calls.append(lambda: compute_interval(method, Records(), 0.95))
    if name in METHODS and method.compares:
        calls.append(lambda: compute_comparison(method, Records(), 0.95))
    assert calls
    for call in calls:
        with pytest.raises(ValueError, match=text):
            call()


# ---- intervals ----


@PROPERTY
@given(
    seed=st.integers(0, 10**6), wrong=st.floats(0.02, 0.98), levels=st.tuples(*[st.floats(0.05, 0.999)] * 2)
)
def test_a_higher_level_is_wider_on_any_losses(seed, wrong, levels):
    records = random_records(seed, wrong)
    low, high = sorted(levels)
    for name in FROM_RECORDS:
        inside, outside = (of_interval(name, records, level) for level in (low, high))
        assert inside.estimate == outside.estimate
        if not math.isnan(inside.raw_interval.width):
            assert outside.raw_interval.low <= inside.raw_interval.low + 1e-12, name
            assert outside.raw_interval.high >= inside.raw_interval.high - 1e-12, name


def flagged_or_sound(row):
    """Nothing is nan or of zero width in silence, and what is flagged has a reason that is a sentence."""
    clipped = row.confidence_interval
    numbers = (row.estimate, row.raw_interval.low, row.raw_interval.high)
    if row.degenerate is None:
        assert np.isfinite(numbers).all(), row
        assert clipped.width > 0.0, row
    else:
        assert len(row.degenerate.split()) > 2, row
    if not np.isnan(numbers).any():
        assert 0.0 <= clipped.low <= clipped.high <= 1.0, row
        assert clipped == row.raw_interval.clipped(0.0, 1.0)


@PROPERTY
@given(seed=st.integers(0, 10**6), wrong=st.floats(0.0, 1.0), n=st.sampled_from([8, 12, 24]))
def test_any_losses_give_a_sound_interval_or_a_reason(seed, wrong, n):
    records = random_records(seed, wrong, n=n)
    for name in FROM_RECORDS:
        flagged_or_sound(of_interval(name, records))


@pytest.mark.parametrize("loss", [0, 1])
@pytest.mark.parametrize("name", FROM_RECORDS)
def test_equal_losses_are_flagged_or_have_width(name, loss):
    records = random_records(0, float(loss))
    row = of_interval(name, records)
    flagged_or_sound(row)
    assert row.estimate == pytest.approx(loss, abs=1e-12)
    assert "outside [0, 1]" not in str(row.degenerate)  # that would be another reason


# ---- one-sided limits ----


def limit(row):
    """Return the limit of a one-sided row, and check that the other side is open."""
    low, high = row.raw_interval.low, row.raw_interval.high
    assert (low == -math.inf) == (row.alternative == "less")
    assert (high == math.inf) == (row.alternative == "greater")
    return high if row.alternative == "less" else low


@pytest.mark.parametrize("name", INTERVALS)
def test_a_one_sided_limit_lies_within_the_two_sided_ones(name, intervals, refitted):
    both = intervals[name].raw_interval
    upper, lower = (limit(of_interval(name, refitted, alternative=way)) for way in ("less", "greater"))
    # a confidence set whose quantile is of both sides has the same limits; none is longer
    assert both.low <= lower < upper <= both.high
    assert intervals[name].alternative == "two-sided"


@PROPERTY
@given(
    seed=st.integers(0, 10**6), wrong=st.floats(0.02, 0.98), levels=st.tuples(*[st.floats(0.05, 0.999)] * 2)
)
def test_a_one_sided_limit_moves_out_with_the_level(seed, wrong, levels):
    records = random_records(seed, wrong)
    low, high = sorted(levels)
    for name in FROM_RECORDS:
        for way, sign in (("less", 1.0), ("greater", -1.0)):
            inside, outside = (of_interval(name, records, level, alternative=way) for level in (low, high))
            if inside.degenerate is None and outside.degenerate is None:
                assert sign * limit(outside) >= sign * limit(inside) - 1e-12, name


@pytest.mark.parametrize("edge", ["error 0", "error 1", "8 rows", "ties", "p > n", "no information"])
@pytest.mark.parametrize("alternative", ["less", "greater"])
def test_one_sided_limits_at_the_edge(edge, alternative):
    table = compare_intervals(
        *edge_cases()[edge],
        methods="conditional",
        alternative=alternative,
        resampling=RESAMPLING,
        **ARGUMENTS,
    )
    for row in table.rows:
        assert row.alternative == alternative
        clipped = row.confidence_interval
        if row.degenerate is None:
            assert math.isfinite(limit(row)), row
            assert clipped.width > 0.0, row
            assert (clipped.low == 0.0) if alternative == "less" else (clipped.high == 1.0), row
        else:
            assert len(row.degenerate.split()) > 2, row


# ---- samples at the edge ----

EDGES = edge_cases()


@pytest.mark.parametrize("edge", EDGES)
def test_intervals_at_the_edge(edge):
    estimator, X, y = EDGES[edge]
    table = compare_intervals(estimator, X, y, methods="all", resampling=RESAMPLING, **ARGUMENTS)
    assert tuple(row.method for row in table.rows) == INTERVALS
    for row in table.rows:
        flagged_or_sound(row)
    if edge in ("error 0", "error 1"):
        found = {row.estimate for row in table.rows if not math.isnan(row.estimate)}
        # with an error of 1 the .632+ estimate cuts Err(1) to the no-information error .5; two-center takes the mean
        cut = 0.368 + 0.632 * 0.5
        assert found == ({0.0} if edge == "error 0" else {1.0, cut, (1.0 + cut) / 2})


@pytest.mark.parametrize("edge", EDGES)
def test_point_estimates_at_the_edge(edge):
    table = estimate_error(*EDGES[edge], resampling=RESAMPLING, **ARGUMENTS)
    assert tuple(row.method for row in table.rows) == tuple(ESTIMATORS)
    for row in table.rows:
        outside = any("outside [0, 1]" in remark for remark in row.remarks)
        assert (row.degenerate is None) == (outside or 0.0 <= row.estimate <= 1.0), row
        assert row.estimand.kind in ERRORS


@pytest.mark.parametrize("other", quick_first([LeastSquaresClassifier(), DummyClassifier()]), ids=str)
@pytest.mark.parametrize("edge", EDGES)
def test_comparisons_at_the_edge(edge, other):
    estimator, X, y = EDGES[edge]
    table = compare_learners([estimator, other], X, y, methods="all", resampling=RESAMPLING, rng=SEED)
    assert tuple(row.method for row in table.rows) == COMPARISONS
    for row in table.rows:
        sound_comparison(row)


def sound_comparison(row):
    clipped = row.confidence_interval
    assert 0.0 <= row.pvalue <= 1.0, row
    if row.degenerate is None:
        assert np.isfinite((row.estimate, row.statistic)).all(), row
        assert -1.0 <= clipped.low < clipped.high <= 1.0, row
    else:
        assert len(row.degenerate.split()) > 2, row
        if row.pvalue < 1.0:  # an empty confidence set, or one outside [-1, 1], leaves out 0 too
            assert not row.raw_interval.low <= 0.0 <= row.raw_interval.high, row
            assert row.pvalue <= 1.0 - row.confidence_level + 1e-12, row


@pytest.mark.parametrize("policy", ["fit", "redraw", "drop"])
@pytest.mark.parametrize(
    "estimator", quick_first([LeastSquaresClassifier(), DecisionTreeClassifier(max_depth=1)])
)
def test_a_class_that_is_missing_in_training_sets_is_said(policy, estimator):
    """With two rows of a class a quarter of the halves hold none of them."""
    X, y = sample(16)
    y = np.repeat([0, 1], [14, 2])
    table = compare_intervals(
        estimator.fit(X, y),
        X,
        y,
        methods="all",
        resampling=replace(RESAMPLING, on_single_class=policy),
        **ARGUMENTS,
    )
    for row in table.rows:
        flagged_or_sound(row)
        if METHODS[row.method].needs & {BOOTSTRAP, HALVINGS} and not math.isnan(row.estimate):
            said = "; ".join(row.remarks)
            assert any(word in said for word in ("single-class", "to keep both classes")), row


# ---- the same from recorded losses, alone, and by several workers ----


@pytest.mark.parametrize("name", INTERVALS)
def test_recorded_losses_give_the_interval_of_refitting(name, intervals, refitted):
    assert of_interval(name, refitted) == intervals[name]
    if "bound" not in names_of(METHODS[name].needs):  # the bound is no loss
        assert intervals[name] == from_records(parts_of(refitted, METHODS[name].needs), name)


@pytest.fixture(scope="module")
def learners(fitted):
    _, X, y = fitted
    return LeastSquaresClassifier(), DecisionTreeClassifier(max_depth=2), X, y


@pytest.fixture(scope="module")
def comparisons(learners):
    a, b, X, y = learners
    return compare_learners({"a": a, "b": b}, X, y, methods="all", resampling=RESAMPLING, rng=SEED)


def test_recorded_losses_give_the_comparisons_of_refitting(learners, comparisons):
    a, b, X, y = learners
    streams = Streams(np.random.default_rng(SEED))
    labels = np.where(y == 1, 1.0, -1.0)
    one, other = (prepare_refits(each.fit(X, y), X, y) for each in (a, b))
    needs = frozenset().union(*(METHODS[name].needs for name in MATCHED))
    recording = RecordingInputs(
        sample=Sample.of(a, X, y),
        counts=np.zeros((0, len(y)), dtype=np.int32),
        streams=streams,
        given_refits=difference(one, other),
        resampling=RESAMPLING,
    )
    made = make_records(needs, recording)
    for name in MATCHED:
        found = from_records(parts_of(Records.of(**made), METHODS[name].needs), name, differences=True)
        assert found == comparisons[name]
    draws, *seeds = streams["second_test_set"].spawn(3)
    task = RefitContext(partial(one.outputs, rng=seeds[0]), labels, SIZES, "redraw", draws)
    tested = record_own_test_sets(task, partial(other.outputs, rng=seeds[1]))
    for name in set(COMPARISONS) - set(MATCHED):
        assert from_records([*tested], name, differences=True) == comparisons[name]


@pytest.mark.parametrize("name", INTERVALS)
def test_an_interval_does_not_depend_on_the_others(name, fitted, intervals):
    alone = compare_intervals(*fitted, methods=[name], resampling=RESAMPLING, **ARGUMENTS)
    assert alone.rows == (intervals[name],)


TINY = Resampling(
    n_folds=3, n_repeats=2, n_splits=2, n_halvings=2, n_replicates=2, n_nested_repeats=1, test_fraction=0.2
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "estimator",
    [LeastSquaresClassifier(), RandomForestClassifier(n_estimators=2, max_depth=2)],
    ids=["batched", "clones"],
)
def test_workers_change_nothing(estimator):
    X, y = sample(14)
    arguments = {"resampling": replace(TINY, inner=2), "rng": SEED}
    estimator.fit(X, y)
    other = DecisionTreeClassifier(max_depth=2)
    one, two = (
        (
            compare_intervals(estimator, X, y, methods="all", n_resamples=6, n_jobs=n_jobs, **arguments),
            estimate_error(estimator, X, y, n_resamples=6, n_jobs=n_jobs, **arguments),
            compare_learners([estimator, other], X, y, methods="all", n_jobs=n_jobs, **arguments),
        )
        for n_jobs in (1, 2)
    )
    for alone, shared in zip(one, two, strict=True):
        assert exactly(alone) == exactly(shared)


# ---- comparisons ----


def mirrored(interval):
    return -interval.high, -interval.low


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("name", COMPARISONS)
def test_exchanging_the_recorded_classifiers_changes_the_sign(name, alternative):
    if alternative != "two-sided" and not has_direction(name):
        return
    records = random_records(5, 0.4, differences=name in MATCHED)
    exchanged = {"two-sided": "two-sided", "less": "greater", "greater": "less"}[alternative]
    ours = compute_comparison(METHODS[name], records, 0.9, alternative)
    theirs = compute_comparison(METHODS[name], exchange(records, name), 0.9, exchanged)
    assert ours.degenerate is None
    assert theirs.estimate == pytest.approx(-ours.estimate, abs=1e-12)
    assert abs(theirs.statistic) == pytest.approx(abs(ours.statistic))
    assert theirs.pvalue == pytest.approx(ours.pvalue, rel=1e-9)
    assert (theirs.raw_interval.low, theirs.raw_interval.high) == pytest.approx(mirrored(ours.raw_interval))
    assert (ours.raw_interval.low == -math.inf) == (alternative == "less")
    assert (ours.raw_interval.high == math.inf) == (alternative == "greater")


def exchange(records, name):
    """Return the records with the roles of the two classifiers exchanged."""
    if name not in MATCHED:
        return Records(test_set=records.second_test_set, second_test_set=records.test_set)
    return Records.of(**{kind.name: negated(records.get(kind)) for kind in METHODS[name].needs})


def negated(record):
    if isinstance(record, RepeatedFoldLosses):
        return replace(record, partitions=tuple(map(negated, record.partitions)))
    turned = {"losses", "means", "inner", "outer", "full", "half", "replaced"} & set(vars(record))
    return replace(record, **{name: -getattr(record, name) for name in turned})


@PROPERTY
@given(
    seed=st.integers(0, 10**6),
    wrong=st.floats(0.05, 0.95),
    level=st.floats(0.55, 0.999),
    alternative=st.sampled_from(ALTERNATIVES),
)
def test_a_pivot_rejects_where_its_interval_leaves_out_0(seed, wrong, level, alternative):
    records = random_records(seed, wrong, differences=True)
    for name in WITH_PIVOT:
        row = compute_comparison(METHODS[name], records, level, alternative)
        sound_comparison(row)
        if row.degenerate is None and abs(row.pvalue - (1 - level)) > 1e-9:
            inside = row.raw_interval.low <= 0.0 <= row.raw_interval.high
            assert inside == (row.pvalue >= 1 - level), name


@pytest.mark.parametrize("name", COMPARISONS)
def test_alternatives_share_the_statistic_and_part_the_probability(name):
    records = random_records(10, 0.4, differences=name in MATCHED)
    rows = {
        word: compute_comparison(METHODS[name], records, 0.95, word)
        for word in (ALTERNATIVES if has_direction(name) else ALTERNATIVES[:1])
    }
    assert len({row.statistic for row in rows.values()}) == 1
    assert {row.alternative for row in rows.values()} == set(rows)
    if len(rows) > 1:
        favored = "less" if rows["less"].estimate < 0 else "greater"
        assert rows["two-sided"].statistic * rows["two-sided"].estimate > 0.0
        assert rows[favored].pvalue < 0.5
        # an exact test counts its own outcome on both sides
        assert rows["less"].pvalue + rows["greater"].pvalue >= 1.0 - 1e-12
        assert rows["two-sided"].pvalue == pytest.approx(min(1.0, 2.0 * rows[favored].pvalue))


@PROPERTY
@given(
    seed=st.integers(0, 10**6), wrong=st.floats(0.05, 0.95), levels=st.tuples(*[st.floats(0.55, 0.999)] * 2)
)
def test_a_comparison_is_wider_at_a_higher_level_and_has_one_pvalue(seed, wrong, levels):
    for name in COMPARISONS:
        records = random_records(seed, wrong, differences=name in MATCHED)
        inside, outside = (compute_comparison(METHODS[name], records, level) for level in sorted(levels))
        assert (inside.statistic, inside.pvalue) == (outside.statistic, outside.pvalue)
        sound_comparison(outside)
        if not math.isnan(inside.raw_interval.width):
            assert outside.raw_interval.low <= inside.raw_interval.low + 1e-12, name
            assert outside.raw_interval.high >= inside.raw_interval.high - 1e-12, name


@pytest.mark.parametrize("name", COMPARISONS)
def test_no_difference_rejects_nothing_and_is_flagged(name):
    row = compute_comparison(METHODS[name], random_records(0, 0.0, differences=name in MATCHED), 0.95)
    assert (row.estimate, row.statistic, row.pvalue) == (0.0, 0.0, 1.0)
    assert row.degenerate is not None


# ---- a method of the user's own beside the others ----


CLF, X, Y = fitted_sample()
FAST = {"n_resamples": 20, "rng": 0, "resampling": Resampling(inner="oob")}


def limits(model, X, y, level, rng):
    return 0.3, 0.3 - 0.2 * level, 0.3 + 0.1 * level


def test_its_row_holds_what_it_returned():
    seen = []

    def interval(model, X, y, level, rng):
        seen.append((model, np.array(X), np.array(y), level, rng.random()))
        return limits(model, X, y, level, rng)

    mine = own_method("mine", interval, title="Mine", tendency="long", cost="0")
    table = compare_intervals(CLF, X, Y, methods=[mine, "langford-binomial"], confidence_level=0.9, **FAST)
    row = table["mine"]
    assert (row.estimate, *row.confidence_interval) == pytest.approx((0.3, 0.12, 0.39))
    assert (row.confidence_level, row.degenerate, str(row.estimand)) == (0.9, None, "conditional")
    assert (mine.title, mine.tendency, mine.assumptions) == ("Mine", "long", "not stated")
    ((model, rows, labels, level, _),) = seen
    np.testing.assert_array_equal(model.coef_, CLF.coef_)
    np.testing.assert_array_equal(rows, X)
    np.testing.assert_array_equal(labels, Y)
    assert level == 0.9
    alone = compare_intervals(CLF, X, Y, methods="langford-binomial", confidence_level=0.9, **FAST)
    assert table["langford-binomial"] == alone["langford-binomial"]


class Fixed:
    """Limits of their own."""

    func = 0.3

    def __call__(self, model, X, y, level, rng):
        return self.func, 0.0, 1.0


@pytest.mark.parametrize("interval", [Fixed(), partial(Fixed())], ids=["object", "partial"])
def test_the_title_of_an_own_method_is_that_of_the_function_or_object(interval):
    mine = own_method("mine", interval)
    assert mine.title == "Limits of their own"
    assert compare_intervals(CLF, X, Y, methods=[mine], **FAST)["mine"].estimate == 0.3


def test_two_methods_in_a_tuple_are_not_a_name_with_its_options():
    for methods in (
        ("langford-binomial", limits),
        ("langford-binomial", ("bayle-cv", {"variance": "within-fold"})),
    ):
        assert len(compare_intervals(CLF, X, Y, methods=methods, **FAST)) == 2


def test_what_it_changes_stays_out_of_the_other_methods():
    clf, X, y = fitted_sample()
    before = clf.coef_.copy(), X.copy(), y.copy()

    def careless(model, X, y, level, rng):
        X[:] = rng.normal(size=X.shape)
        y[:] = rng.permutation(y)
        model.fit(X, y)
        return limits(model, X, y, level, rng)

    table = compare_intervals(clf, X, y, methods=[own_method("mine", careless), "langford-binomial"], **FAST)
    alone = compare_intervals(CLF, X, y, methods="langford-binomial", **FAST)
    assert table["langford-binomial"] == alone["langford-binomial"]
    for now, then in zip((clf.coef_, X, y), before, strict=True):
        np.testing.assert_array_equal(now, then)


def test_rows_in_groups_are_refused_unless_it_says_that_it_keeps_them():
    groups = np.repeat(np.arange(15), 2)
    with pytest.raises(ValueError, match=r"'groups' parameter is not supported by \['mine'\]"):
        compare_intervals(CLF, X, Y, methods=[own_method("mine", limits)], groups=groups, **FAST)
    kept = own_method("mine", limits, with_groups="kept")
    row = compare_intervals(CLF, X, Y, methods=[kept], groups=groups, **FAST)["mine"]
    assert row.confidence_interval.high == pytest.approx(0.395)
