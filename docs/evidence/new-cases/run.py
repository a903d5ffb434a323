# ruff: noqa: E501 - a table of settings, one per line
"""The study of `pooled`, training data and new cases in one interval: its settings, and how they are run.

    python run.py run STORE [--again SETTING ...]     one file per setting in the folder STORE; resumes
    python run.py time                                seconds per set, from three sets with another seed

registration.md has the rules. Nothing here changes once the first set has been drawn, except names that the package has
changed since then: the first sets of three settings, drawn again, have the stored numbers.
"""

from __future__ import annotations

import argparse
import json
import math
import time
import warnings
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from cudbound import LeastSquaresClassifier, compare_intervals
from cudbound.analysis.rows import rows_of_target
from cudbound.intervals import find_methods
from cudbound.metrics.views import records_for
from cudbound.study.population import draw_both_classes, fixed_cases
from cudbound.study.worlds import WORLDS, Patients

SEED, SEED_AGAIN = 20261203, 20270103
#: New cases for each training row; smaller sets of new cases are the first of the largest.
RATIOS = (0.2, 0.6, 2.0)
#: From new cases alone, by what they read.
NEW_ALONE = ("test-set-clopper-pearson", "test-set-newcombe", "test-set-t")
N_TRUTH = 20_000
CLASSES = ("error", "sensitivity", "specificity")
ALL = (*CLASSES, "auc", "brier")
#: Sets are run in so many rounds, so that a run that is stopped has about the same share of every setting.
ROUNDS = 20


@dataclass(frozen=True)
class Setting:
    """A population, a classifier and a number of training rows; `elsewhere` is the population of shifted new cases."""

    name: str
    population: Any
    classifier: Any
    n: int
    metrics: tuple[str, ...] = ALL
    sets: int = 300
    elsewhere: Any = None
    n_resamples: int = 200


def normal(distance: float, p: int, signal: int, share: float = 0.5) -> Any:
    """Return a world of two normal classes with p features, of which some differ between classes."""
    return WORLDS["gaussians"](distance=distance, n_features=p, n_signal=signal, positive_share=share)


def logistic(**parameters: Any) -> LogisticRegression:
    """Return logistic regression with enough iterations."""
    return LogisticRegression(**{"max_iter": 2000, **parameters})


def settings() -> list[Setting]:
    """Return all settings."""
    tree, chosen = DecisionTreeClassifier, make_pipeline(SelectKBest(f_classif, k=3), logistic())
    ordinary = normal(1.5, 3, 1)
    return [
        Setting("least squares, 3 features", ordinary, LeastSquaresClassifier(), 50, CLASSES),
        Setting("logistic, 5 features", normal(1.3, 5, 2), logistic(), 60),
        Setting("logistic, noise", WORLDS["noise"](n_features=3), logistic(), 60),
        Setting("logistic, 15 of 50, C = 100", normal(1.8, 15, 3), logistic(C=100), 50),
        Setting("logistic, 30 of 60", normal(2.0, 30, 4), logistic(), 60),
        Setting("tree", normal(1.6, 4, 2), tree(random_state=0), 60, CLASSES),
        Setting("tree of depth 3", normal(1.6, 4, 2), tree(max_depth=3, random_state=0), 60),
        Setting("1 neighbor", normal(1.8, 3, 2), KNeighborsClassifier(1), 60, CLASSES),
        Setting("naive Bayes", normal(1.4, 4, 2), GaussianNB(), 50),
        Setting("3 selected of 30", normal(1.6, 30, 2), chosen, 60),
        Setting("5 events of 50", normal(1.6, 2, 1, 0.1), logistic(), 50),
        Setting("5 events of 100", normal(1.9, 3, 1, 0.05), logistic(), 100),
        Setting(
            "one finding, odds ratio 2", WORLDS["binary-finding"](odds_ratio=2.0, n_noise=0), logistic(), 80
        ),
        Setting("hidden subgroup", WORLDS["hidden-subgroup"](), logistic(), 70),
        Setting("patients with 3 rows", Patients(normal(1.6, 3, 1), (3, 3)), logistic(), 90),
        Setting("shifted: classes slightly closer", ordinary, logistic(), 60, elsewhere=normal(1.2, 3, 1)),
        Setting("shifted: classes much closer", ordinary, logistic(), 60, elsewhere=normal(0.6, 3, 1)),
        Setting("shifted: no signal", ordinary, logistic(), 60, elsewhere=normal(0.0, 3, 1)),
        Setting("shifted: 20 % events", ordinary, logistic(), 60, elsewhere=normal(1.5, 3, 1, 0.2)),
    ]


def truths(setting: Setting, population: Any, fitted: Any) -> dict[str, float]:
    """Return the true values of the classifier in a population, on a large fixed sample; the error exactly if it can be."""
    X, y = fixed_cases(population, N_TRUTH)
    event = np.asarray(y) == 1
    right = np.asarray(fitted.predict(X)) == y
    values = {
        "error": float(population.true_error(fitted).value),
        "sensitivity": float(right[event].mean()),
        "specificity": float(right[~event].mean()),
    }
    if "auc" in setting.metrics:
        risk = fitted.predict_proba(X)[:, 1]
        values |= {"auc": float(roc_auc_score(event, risk)), "brier": float(np.mean((risk - event) ** 2))}
    return {metric: values[metric] for metric in setting.metrics}


def run_set(setting: Setting, number: int, seed: int) -> dict[str, Any]:
    """Draw a training set and new cases, fit, find the true values and compute all intervals."""
    begun = time.perf_counter()
    rng = np.random.default_rng([seed, zlib.crc32(setting.name.encode()), number])
    drawn, n_redrawn = draw_both_classes(setting.population, setting.n, rng)
    there = setting.elsewhere or setting.population
    new = there.sample(math.ceil(max(RATIOS) * setting.n), rng)
    row: dict[str, Any] = {"set": number, "redrawn": n_redrawn}
    try:
        fitted = clone(setting.classifier).fit(drawn.X, drawn.y)
        row["truth"] = truths(setting, setting.population, fitted)
        if setting.elsewhere is not None:
            row["truth_elsewhere"] = truths(setting, there, fitted)
        row["intervals"] = intervals(setting, fitted, drawn, new, int(rng.integers(2**32)))
    except Exception as error:  # a failing set is data
        row["failed"] = f"{type(error).__name__}: {error}"[:500]
    return row | {"seconds": round(time.perf_counter() - begun, 3)}


def intervals(setting: Setting, fitted: Any, drawn: Any, new: Any, seed: int) -> list[dict[str, Any]]:
    """Return one row per metric for the training data alone, and per metric and number of new cases for the others."""
    with_all = [name for name in NEW_ALONE if "auc" in setting.metrics or name == NEW_ALONE[0]]
    table = compare_intervals(
        fitted,
        drawn.X,
        drawn.y,
        methods=["two-center", "pooled", *with_all],
        metric=list(setting.metrics),
        event=1,
        groups=drawn.groups,
        new_cases=new,
        n_resamples=setting.n_resamples,
        rng=seed,
    )
    analysis = table.analysis
    assert analysis is not None
    question = replace(analysis.question, methods=find_methods(["pooled", *with_all]))
    rows = [_row(row, 0) for row in table.rows if row.method == "two-center"]
    for ratio in RATIOS:
        m = math.ceil(ratio * setting.n)
        records = replace(analysis.records, test_set=_first(analysis.records.test_set, m))
        of_fewer = replace(analysis, question=question, records=records)
        for target, _ in analysis.of_targets:
            rows_of_metric = rows_of_target(of_fewer, target, records_for(target, records))
            rows += [_row(row, m) for row in rows_of_metric]
    return rows


def _first(record: Any, m: int) -> Any:
    """Return the first m new cases."""
    names = ("losses", "event", "scores", "probabilities")
    kept = {name: getattr(record, name) for name in names if getattr(record, name) is not None}
    return replace(record, **{name: values[:m] for name, values in kept.items()})


def _row(interval: Any, m: int) -> dict[str, Any]:
    def number(value: float) -> float | None:
        return round(float(value), 6) if math.isfinite(value) else None

    row = {"metric": interval.metric, "method": interval.method, "m": m}
    row |= {name: number(getattr(interval, name)) for name in ("estimate", "low", "high")}
    if interval.method == "pooled":
        row["details"] = {name: number(value) for name, value in interval.details.items()}
    return row


def run_block(setting: Setting, store: Path, numbers: range, seed: int) -> None:
    """Run the sets of a block that the store does not have."""
    path = store / f"{setting.name.replace('/', ' ')}.jsonl"
    complete = [line for line in path.read_text().splitlines() if line.endswith("}")] if path.exists() else []
    done = {json.loads(line)["set"] for line in complete}
    warnings.simplefilter("ignore")
    for number in numbers:
        if number not in done:
            line = json.dumps(run_set(setting, number, seed)) + "\n"
            with path.open("a") as file:
                file.write(line)


def main() -> None:
    """Run a command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("run", "time"))
    parser.add_argument("store", nargs="?", type=Path, default=Path("store"))
    parser.add_argument(
        "--again", nargs="*", default=[], help="settings to repeat with new seeds, 3000 sets each"
    )
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    if chosen.command == "time":
        total = 0.0
        for setting in settings():
            rows = [run_set(setting, number, SEED + 1) for number in range(3)]
            seconds = float(np.median([row["seconds"] for row in rows]))
            total += seconds * setting.sets
            failed = next((row["failed"] for row in rows if "failed" in row), "")
            print(
                f"{setting.name:40s} {seconds:.3f} s {seconds * setting.sets / 60:.1f} min {failed}",
                flush=True,
            )
        print(f"{total / 3600:.2f} hours of one processor")
        return
    chosen.store.mkdir(exist_ok=True)
    work, seed = settings(), SEED
    if chosen.again:
        work = [replace(setting, sets=3000) for setting in work if setting.name in chosen.again]
        seed = SEED_AGAIN
    for share in range(ROUNDS):
        for setting in work:
            first, last = (setting.sets * part // ROUNDS for part in (share, share + 1))
            run_block(setting, chosen.store, range(first, last), seed)


if __name__ == "__main__":
    main()
