"""Draw the pictures of the documentation: ``python docs/made/docs_pictures.py docs/pictures``.

The first eight are of the data of ``cudbound demo``, the others of a small study; each is the same on every run.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from sklearn.metrics import confusion_matrix

from cudbound import IntervalTable, LeastSquaresClassifier, compare_intervals, compare_learners
from cudbound.cli import demo
from cudbound.plotting.display import Display
from cudbound.plotting.risks import RiskDisplay, RocDisplay
from cudbound.plotting.studies import (
    CoverageByScenarioDisplay,
    CoverageWidthDisplay,
)
from cudbound.study import Scenario, Study, run_study, summarize
from cudbound.study.populations.worlds import WORLDS

SAMPLE, _ = demo.demo_data()
X, Y = SAMPLE.X, SAMPLE.y
CLASSIFIER = demo.CLASSIFIER().fit(X, Y)
#: Methods of the study: none that takes long.
METHODS = ("cud", "martin-beta", "langford-binomial", "corrected-resampled-t")


def intervals() -> Display:
    return compare_intervals(CLASSIFIER, X, Y, methods="recommended", rng=0).plot()


def comparisons() -> Display:
    methods = ["corrected-resampled-t", "bayle-cv", "5x2cv-t"]
    pair = {"logistic": CLASSIFIER, "majority": "majority"}
    return compare_learners(pair, X, Y, methods=methods, rng=0).plot()


def scores() -> IntervalTable:
    return compare_intervals(CLASSIFIER, X, Y, methods="two-center", metric=["auc", "brier"], rng=0)


def by_class() -> IntervalTable:
    metric = ["sensitivity", "specificity"]
    return compare_intervals(CLASSIFIER, X, Y, methods="two-center", metric=metric, rng=0)


OF_RESULTS: dict[str, Callable[[], Display]] = {
    "intervals": intervals,
    "comparisons": comparisons,
    "roc": lambda: RocDisplay.from_table(scores()),
    "risks": lambda: RiskDisplay.from_table(scores()),
    "calibration": lambda: scores().calibration.plot(),
    "confusion": lambda: by_class().confusion(confusion_matrix(Y, CLASSIFIER.predict(X))),
}


def of_a_study() -> Iterator[tuple[str, Display]]:
    """Yield the pictures of a study of four worlds at two sizes, with 100 training sets each."""
    worlds = ("gaussians", "donut", "noise", "binary")
    scenarios = tuple(Scenario(name, WORLDS[name](), LeastSquaresClassifier) for name in worlds)
    study = Study("pictures", scenarios, (30, 50), 100, METHODS, seed=0, n_resamples=200)
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "pictures.db"
        run_study(study, store)
        found = summarize(store)
    yield "coverage_width", CoverageWidthDisplay(found.cells)
    yield "coverage_by_scenario", CoverageByScenarioDisplay(found.cells)


if __name__ == "__main__":
    place = Path(sys.argv[1])
    drawn = {name: draw() for name, draw in OF_RESULTS.items()} | dict(of_a_study())
    for name, display in drawn.items():
        (place / f"{name}.svg").write_text(f"{display.svg(name).rstrip()}\n", encoding="utf-8")
