"""Words to paste: each metric has the title and the sources of what was computed for it, and remarks name theirs."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from cudbound import compare_intervals, compare_learners
from cudbound.basis.exceptions import SmallSampleWarning
from cudbound.basis.metric_words import COMPLEMENTS
from cudbound.metrics.metric import METRICS

RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 3))
Y = np.where(X[:, 0] + RNG.normal(size=50) > 0.2, "ill", "well")
CLF = LogisticRegression().fit(X, Y)
FEW = {"n_resamples": 40, "rng": 0}


def keys(description) -> set[str]:
    return set(re.findall(r"^@\w+\{(\w+),", description.bibtex, re.MULTILINE)) - {"cudbound"}


def words_of(metric, clf=CLF, y=Y, **more):
    return compare_intervals(clf, X, y, metric=metric, **{"methods": "two-center"} | FEW | more).describe()


def test_complements_are_those_of_the_metrics():
    assert set(COMPLEMENTS) == {name for name, metric in METRICS.items() if metric.complement}


LEARNERS = {"ridge": CLF, "tree": DecisionTreeClassifier(max_depth=2).fit(X, Y)}


def test_sources_are_those_of_what_was_computed():
    """A region of equivalence, mid-p and scores for two proportions are cited only where they are used."""
    learners = {"a": LEARNERS["ridge"], "b": LEARNERS["tree"]}

    def of(name, **options):
        return keys(compare_learners(learners, X, Y, methods=[(name, options)], **FEW).describe())

    assert of("corrected-resampled-t") == {"nadeau2003inference"}
    assert of("corrected-resampled-t", rope=0.1) == {"nadeau2003inference", "benavoli2017time"}
    assert of("mcnemar") == {"mcnemar1947note", "bonett2012adjusted"}
    assert "fagerland2013mcnemar" in of("mcnemar", form="mid-p")
    assert keys(words_of("error", methods="test-set-wilson-corrected")) == {"newcombe1998a"}


def test_an_interval_that_is_undefined_is_none():
    tree = DecisionTreeClassifier(max_depth=1).fit(X, Y)
    table = compare_intervals(tree, X, Y, methods=["two-center", "two-stage"], n_resamples=20, rng=0)
    for text in (table.describe().results, str(table["two-stage"])):
        assert "(no 95% confidence interval)" in text
    assert "(no limits)" in table.to_markdown(style="paper")
    upper = compare_intervals(tree, X, Y, methods="two-stage", alternative="less", n_resamples=20, rng=0)
    assert "(no 95% confidence limit)" in upper.describe().results
    cases = (X[:20] + 5.0, np.full(20, "well"))
    with pytest.warns(SmallSampleWarning):
        of_none = compare_intervals(
            CLF, X, Y, methods="test-set-wilson", metric="sensitivity", event="ill", new_cases=cases
        )
    assert of_none.rows[0].all_remarks() == "undefined: based on 0 events of 20 test cases"
