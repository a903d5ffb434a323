"""Closed forms for new cases: published numbers, another library, and tables that are drawn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm
from statsmodels.stats.proportion import samplesize_confint_proportion

from cudbound.point_estimates.auc import hanley_mcneil_size
from cudbound.study import closed_form_sample_sizes


def sizes_of(*values, **named):
    return {one.measure: one.n for one in closed_form_sample_sizes(*values, **named)}


def test_a_published_number():
    """size.ci.prop.os(alpha = .05, p = .2, w = .1) of the R package DGB prints 246; its w is the whole width."""
    assert sizes_of(0.05, accuracy=0.2) == {"accuracy": 246}


def test_a_published_number_for_the_auc():
    """pmvalsampsize(type="b", prevalence=0.018, cstatistic=0.8) in R and Stata: 4252 patients for a width of .1."""
    assert sizes_of(0.05, auc=0.8, prevalence=0.018) == {"auc": 4252}


@pytest.mark.parametrize("auc", [0.5, 0.7, 0.95])
def test_the_auc_has_that_variance_at_that_many_cases_and_not_at_one_less(auc):
    n = sizes_of(0.08, auc=auc, prevalence=0.3)["auc"]
    target = (0.08 / norm.ppf(0.975)) ** 2
    variances = [auc * (1 - auc) / hanley_mcneil_size(auc, 0.3 * cases, 0.7 * cases) for cases in (n - 1, n)]
    assert variances[1] <= target < variances[0]


@pytest.mark.parametrize("level", [0.8, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("p", [0.03, 0.5, 0.86])
def test_the_accuracy_is_that_of_statsmodels(level, p):
    for half_width in (0.02, 0.1, 0.31):
        theirs = math.ceil(samplesize_confint_proportion(p, half_width, alpha=1.0 - level))
        assert sizes_of(half_width, accuracy=p, confidence_level=level) == {"accuracy": theirs}


@pytest.mark.parametrize(
    ("se", "sp", "phi", "half_width"),
    [(0.9, 0.85, 0.2, 0.05), (0.7, 0.95, 0.5, 0.04), (0.6, 0.6, 0.35, 0.03)],
)
def test_estimates_from_that_many_new_cases_vary_as_planned(se, sp, phi, half_width):
    """Draw the four cells of the table: 1.96 standard deviations of each estimate are the half-width."""
    cells = [phi * se, phi * (1 - se), (1 - phi) * (1 - sp), (1 - phi) * sp]
    found = closed_form_sample_sizes(half_width, sensitivity=se, specificity=sp, prevalence=phi)
    assert [one.measure for one in found] == ["accuracy", "sensitivity", "specificity", "ppv", "npv"]
    for one in found:
        tp, fn, fp, tn = np.random.default_rng(0).multinomial(one.n, cells, 40_000).T
        right, of = {
            "accuracy": (tp + tn, tp + fn + fp + tn),
            "sensitivity": (tp, tp + fn),
            "specificity": (tn, tn + fp),
            "ppv": (tp, tp + fp),
            "npv": (tn, tn + fn),
        }[one.measure]
        estimates = right / of
        assert estimates.mean() == pytest.approx(one.expected, abs=0.003)
        # the number of cases that count varies too, which the formula leaves out: a few percent
        assert 1.96 * estimates.std() == pytest.approx(half_width, rel=0.05)


def test_a_share_of_0_or_1_has_no_size():
    assert sizes_of(accuracy=1.0) == sizes_of(accuracy=0.0) == {"accuracy": None}
    found = closed_form_sample_sizes(sensitivity=0.0, specificity=1.0, prevalence=0.3)
    assert {one.measure: one.n for one in found if one.measure != "npv" and one.measure != "accuracy"} == {
        "sensitivity": None,
        "specificity": None,
        "ppv": None,
    }
    assert math.isnan(found[3].expected)  # nobody is called an event
    assert (found[4].expected, found[0].expected) == (pytest.approx(0.7), pytest.approx(0.7))
