"""The difference of two AUCs: the definition in loops, invariances, and what the records must be."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.stats import t
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from cudbound import compare_learners
from cudbound.basis.groups import Groups
from cudbound.intervals import METHODS
from cudbound.intervals.method import compute_comparison
from cudbound.records import BootstrapScores, ScoreRecords

METHOD = METHODS["auc-difference"]


def two(seed, n=14, n_draws=12):
    """Return scores of two classifiers with ties, on draws of both classes."""
    rng = np.random.default_rng(seed)
    event = np.arange(n) < 6
    counts = rng.multinomial(n, np.full(n, 1 / n), size=n_draws)
    counts = counts[(counts[:, event].sum(axis=1) > 0) & (counts[:, ~event].sum(axis=1) > 0)]

    def one(signal, second=None):
        scores, of_draws = (
            np.round(rng.normal(size=shape) + signal * event, 1) for shape in (n, (len(counts), n))
        )
        return ScoreRecords(event, scores, BootstrapScores(counts, of_draws), second=second)

    return one(1.0, one(0.6))


def won(scores, i, j):
    return 1.0 if scores[i] > scores[j] else 0.5 if scores[i] == scores[j] else 0.0


def by_loops(records, level):
    """Return center of the out-of-bag pairs, the other center and both limits, from the formula of the card."""
    event, counts = records.event, records.bootstrap.counts
    pairs = list(product(np.flatnonzero(event), np.flatnonzero(~event)))
    both = (records, records.second)

    def matrix(value):
        return np.array([value(i, j) for i, j in pairs]).reshape(event.sum(), -1)

    def out(scores, i, j):
        shares = [won(s, i, j) for s, c in zip(scores, counts, strict=True) if c[i] == 0 == c[j]]
        return np.mean(shares) if shares else math.nan

    def variance(values):
        return np.var(values.mean(1), ddof=1) / len(values) + np.var(values.mean(0), ddof=1) / values.shape[1]

    one, other = (matrix(lambda i, j, r=r: out(r.bootstrap.scores, i, j)) for r in both)
    left_out = np.nanmean(one - other)
    apparent = np.subtract(*(matrix(lambda i, j, r=r: won(r.scores, i, j)) for r in both))
    optimism, training = [], []
    for b, c in enumerate(counts):
        on_draw = [roc_auc_score(event, r.bootstrap.scores[b], sample_weight=c) for r in both]
        on_training = [roc_auc_score(event, r.bootstrap.scores[b]) for r in both]
        training.append(on_training[0] - on_training[1])
        optimism.append(on_draw[0] - on_draw[1] - training[-1])
    corrected = apparent.mean() - np.mean(optimism)
    filled = np.where(np.isnan(one - other), left_out, one - other)
    s = math.sqrt(max(variance(filled), variance(apparent)) + np.var(training))
    reach = t.ppf(0.5 + level / 2, min(event.sum(), (~event).sum()) - 1) * s
    return left_out, corrected, min(left_out, corrected) - reach, max(left_out, corrected) + reach


@pytest.mark.parametrize("seed", range(6))
def test_it_is_its_definition_in_loops(seed):
    records = two(seed)
    found = compute_comparison(METHOD, records, 0.9)
    left_out, corrected, low, high = by_loops(records, 0.9)
    assert found.estimate == pytest.approx((left_out + corrected) / 2, abs=1e-12)
    assert tuple(found.raw_interval) == pytest.approx((low, high), abs=1e-12)
    assert found.details["difference_out_of_bag"] == pytest.approx(left_out, abs=1e-12)
    assert found.details["difference_optimism_corrected"] == pytest.approx(corrected, abs=1e-12)


def test_rows_of_a_group_vary_together():
    records = two(1)
    codes = Groups.of(np.arange(14) // 2)
    grouped = replace(records, groups=codes, second=replace(records.second, groups=codes))
    alone = replace(records, groups=Groups.of(np.arange(14)))
    widths = [compute_comparison(METHOD, one, 0.95).width for one in (grouped, alone, records)]
    assert widths[0] > widths[1] == pytest.approx(widths[2], rel=0.2)


def test_a_call_refits_all_on_the_same_draws():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 0] + rng.normal(size=60) > 0, "ill", "well")
    learners = {"weak": LogisticRegression(C=0.01), "usual": LogisticRegression(), "majority": "majority"}
    settings = {"metric": "c-statistic", "n_resamples": 60, "rng": 1}
    table = compare_learners(learners, X, y, **settings)
    assert [(row.a, row.b) for row in table] == [
        ("weak", "usual"),
        ("weak", "majority"),
        ("usual", "majority"),
    ]
    by_name = {(row.a, row.b): row.estimate for row in table}
    assert by_name["weak", "majority"] - by_name["usual", "majority"] == pytest.approx(
        by_name["weak", "usual"]
    )
    assert "AUC(a) - AUC(b)" in str(table)
    assert "error(" not in str(table)
    alone = compare_learners({name: learners[name] for name in ("weak", "usual")}, X, y, **settings)
    assert alone.estimate == by_name["weak", "usual"]
    assert "The AUCs of these classifiers were compared" in alone.describe().methods
    assert "Bootstrap methods used 60 resamples." in alone.describe().methods
    assert "Run: 60 resamples, seed 1." in str(alone)
    noise = compare_learners(["majority", LogisticRegression()], X[::-1, 1:], y, **settings)
    assert any("no evidence that LogisticRegression beats the majority" in one for one in noise.row.remarks)
