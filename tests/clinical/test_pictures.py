"""Pictures of a clinical report: what they are drawn from, and what they say to those who do not see them."""

from __future__ import annotations

import pytest
from data import sample
from sklearn.linear_model import LogisticRegression

from cudbound import clinical_report
from cudbound.basis.exceptions import ParameterError
from cudbound.clinical.clinical_report import pictures_of
from cudbound.plotting.refit_plots import CountsDisplay, GroupedInstabilityDisplay


@pytest.fixture(scope="module")
def report():
    X, y = sample(40, 2)
    return clinical_report(LogisticRegression().fit(X, y), X, y, n_resamples=60, rng=0).to_dict()


def test_every_picture_says_its_numbers(report):
    found = pictures_of(report)
    assert list(found) == ["measures", "intervals", "risks", "instability", "refits"]
    error = report["performance"]["measures"][0]
    assert (
        f"error {error['estimate']:.3f} ({error['low']:.3f} to {error['high']:.3f})"
        in found["measures"]["text"]
    )
    events = report["probabilities"]["risks_by_outcome"]["events"]
    assert f"events in tenths of the risk: {', '.join(map(str, events))}" in found["risks"]["text"]
    assert f"Mean {report['instability']['refit_errors']['mean']:.3f}" in found["refits"]["text"]


def test_histograms_are_drawn_from_counts():
    display = CountsDisplay([0.0, 0.1, 0.2], {"a": [2, 3]}, "x", "cases", (0.05, "mark")).plot()
    assert [bar.get_height() for bar in display.bars_[0]] == [2, 3]
    assert [bar.get_x() for bar in display.bars_[0]] == [0.0, 0.1]
    with pytest.raises(ParameterError, match="'counts' parameter must be one or two histograms"):
        CountsDisplay([0.0, 0.1], {"a": [2, 3]}, "x", "cases")


def test_groups_are_drawn_at_their_means():
    groups = [
        {"n": 5, "distance": 0.5, "mean_share": 0.2, "largest_share": 0.6},
        {"n": 6, "distance": 1.5, "mean_share": 0.0, "largest_share": 0.1},
    ]
    display = GroupedInstabilityDisplay(groups, "distance").plot()
    assert display.points_.get_xydata().tolist() == [[0.5, 0.2], [1.5, 0.0]]
    assert display.ax_.get_ylim()[1] >= 0.6
    with pytest.raises(ParameterError, match="'groups' parameter must be at least one group"):
        GroupedInstabilityDisplay([], "distance")
