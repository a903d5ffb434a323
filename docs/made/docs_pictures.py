"""Draw the pictures of the documentation: ``python docs/made/docs_pictures.py docs/pictures``.

They are of the data of ``cudbound demo``, of a small study, and of what the tutorials write; each is the same on every
run. The report is seen through Chromium.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from page_session import run_page
from playwright.sync_api import sync_playwright

from cudbound import IntervalTable, LeastSquaresClassifier, compare_intervals, compare_learners
from cudbound.cli import demo
from cudbound.plotting.display import Display
from cudbound.plotting.risks import RocDisplay
from cudbound.plotting.studies import CoverageByScenarioDisplay
from cudbound.study import Scenario, Study, run_study, summarize
from cudbound.study.worlds import WORLDS

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


OF_RESULTS: dict[str, Callable[[], Display]] = {
    "intervals": intervals,
    "comparisons": comparisons,
    "roc": lambda: RocDisplay.from_table(scores()),
    "calibration": lambda: scores().calibration.plot(),
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
    yield "coverage_by_scenario", CoverageByScenarioDisplay(found.cells)


def of_the_tutorials(place: Path) -> None:
    """Keep the figure that one tutorial saves, and the top of the report that another one writes."""
    start = Path(__file__).parents[1] / "start"
    with tempfile.TemporaryDirectory() as folder:
        run_page(start / "pipeline_to_figure.md", Path(folder))
        (place / "pipeline.svg").write_text((Path(folder) / "figure.svg").read_text())
        run_page(start / "csv_to_paper.md", Path(folder))
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            page = browser.new_page(viewport={"width": 1180, "height": 1280}, device_scale_factor=0.8)
            page.goto((Path(folder) / "report.html").as_uri())
            page.screenshot(path=place / "report.png")
            browser.close()


if __name__ == "__main__":
    place = Path(sys.argv[1])
    of_the_tutorials(place)
    drawn = {name: draw() for name, draw in OF_RESULTS.items()} | dict(of_a_study())
    for name, display in drawn.items():
        (place / f"{name}.svg").write_text(f"{display.svg(name).rstrip()}\n", encoding="utf-8")
