"""The levels of the intervals of each metric: of one metric, of a family, and with one limit."""

from __future__ import annotations

import numpy as np
import pytest
from record_kinds import kinds

from cudbound.metrics.metric import MetricRows
from cudbound.metrics.metrics import Metrics
from cudbound.metrics.targets import targets_of

EVENT = np.arange(10) < 4
#: Records of a method that bounds a family as a whole, and of one that does not.
BOUND, OTHER = kinds({"losses", "bound"}), kinds({"losses", "bootstrap"})


def targets(asked: Metrics, alternative: str = "two-sided", level: float = 0.9) -> tuple[MetricRows, ...]:
    return targets_of(asked.resolve(), EVENT, None, level, alternative)


def test_metrics_by_themselves_have_the_level_each():
    found = targets(Metrics(["sensitivity", "specificity", "error"]))
    assert [one.metric.name for one in found] == ["sensitivity", "specificity", "error"]
    for one in found:
        assert one.family == (one.metric,)
        assert (one.family_level, one.level_per_interval, one.level(BOUND), one.level(OTHER)) == (
            0.9,
            0.9,
            0.9,
            0.9,
        )
        assert not one.one_sided
        assert one.remarks(frozenset()) == ()


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_a_family_divides_the_error_probability_where_it_is_not_bounded_as_a_whole(alternative):
    found = targets(
        Metrics(["sensitivity", "specificity", "error", "balanced-error"], joint=True), alternative
    )
    assert len(found) == 4
    for one in found:
        assert one.family == tuple(other.metric for other in found)
        assert one.family_level == one.level(BOUND) == 0.9
        assert one.level_per_interval == one.level(OTHER) == pytest.approx(0.975)
        assert one.one_sided == (alternative != "two-sided")
        assert one.remarks(BOUND) == ()
    assert found[1].remarks(OTHER) == (
        "together with sensitivity and error and balanced-error: each at 97.5%",
    )


def test_the_bound_of_all_class_metrics_leaves_its_share_to_the_others():
    error, sensitivity, auc = targets(Metrics(["error", "sensitivity", "auc"], joint=True), level=0.94)
    assert error.level(BOUND) == sensitivity.level(BOUND) == pytest.approx(0.96)
    assert auc.level(OTHER) == error.level(OTHER) == pytest.approx(0.98)
    assert error.remarks(BOUND) == ("together with auc: each at 96%",)
    assert auc.remarks(OTHER) == ("together with error and sensitivity: each at 98%",)
