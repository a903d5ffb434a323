"""Pictures of a clinical report: what they are drawn from, and what they say to those who do not see them."""

from __future__ import annotations

import pytest
from data import sample
from sklearn.linear_model import LogisticRegression

from cudbound import clinical_report
from cudbound.clinical.clinical_report import pictures_of


@pytest.fixture(scope="module")
def report():
    X, y = sample(40, 2)
    return clinical_report(LogisticRegression().fit(X, y), X, y, n_resamples=60, rng=0).to_dict()


def test_every_picture_says_its_numbers(report):
    found = pictures_of(report)
    assert list(found) == ["measures", "intervals", "risks", "instability", "risk_instability", "refits"]
    error = report["performance"]["measures"][0]
    assert (
        f"error {error['estimate']:.3f} ({error['low']:.3f} to {error['high']:.3f})"
        in found["measures"]["text"]
    )
    events = report["probabilities"]["risks_by_outcome"]["events"]
    assert f"events in tenths of the risk: {', '.join(map(str, events))}" in found["risks"]["text"]
    assert f"Mean {report['instability']['refit_errors']['mean']:.3f}" in found["refits"]["text"]
