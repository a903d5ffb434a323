"""Made-up results of studies, as frames and as a store."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cudbound import LeastSquaresClassifier
from cudbound.basis.results import Estimand
from cudbound.study.replicate import ExpectedError, IntervalRow, Key, ReplicateRow, results_of
from cudbound.study.replicate import frames_of as frames_of_stored
from cudbound.study.scenario import Scenario, Study
from cudbound.study.store import Store
from cudbound.study.summary import Summary

METHODS = ("cud", "corrected-resampled-t", "langford-binomial")


class Coin:
    """Stands for a population: rows are made up here, and nothing is drawn from it."""

    name, title = "coin", "labels without features"


def made_up_rows(
    scenarios: Sequence[str] = ("null", "donut"),
    n_samples: Sequence[int] = (30, 50),
    n_replicates: int = 20,
    methods: Sequence[str] = METHODS,
    seed: int = 0,
) -> list[ReplicateRow]:
    """Random rows with every irregularity: failed replicates, missing and degenerate intervals."""
    rng = np.random.default_rng(seed)
    rows = []
    for scenario in scenarios:
        for n in n_samples:
            for number in range(n_replicates):
                key = Key(scenario, n, number)
                if rng.random() < 0.1:
                    failure = "Traceback (most recent call last):\nValueError: it stopped"
                    rows.append(ReplicateRow(key, None, None, None, 0, failure, (), 0.5))
                    continue
                truth = float(rng.uniform(0.05, 0.4))
                intervals = tuple(_made_up_interval(rng, method, n, truth) for method in methods)
                training_error = float(rng.binomial(n, 0.2) / n)
                redrawn, seconds = int(rng.integers(3)), float(rng.uniform(0.1, 1.0))
                aims = {Estimand.read(one.estimand).n_train_rows for one in intervals} - {None}
                expected = tuple(ExpectedError(size, float(rng.uniform(0.1, 0.4)), 0.0) for size in aims)
                rows.append(
                    ReplicateRow(
                        key, truth, 0.01, training_error, redrawn, None, intervals, seconds, expected
                    )
                )
    return rows


def _made_up_interval(rng: np.random.Generator, method: str, n: int, truth: float) -> IntervalRow:
    estimand = f"expected(n1={9 * n // 10})" if method == "corrected-resampled-t" else "conditional"
    what = rng.random()
    if what < 0.1:
        return IntervalRow(method, estimand, None, None, None, None, None, n, "undefined", "")
    center = truth + float(rng.normal(0.0, 0.08))
    half = 0.0 if what < 0.2 else float(rng.uniform(0.05, 0.2))
    low, high = center - half, center + half
    return IntervalRow(
        method,
        estimand,
        center,
        min(max(low, 0.0), 1.0),
        min(max(high, 0.0), 1.0),
        low,
        high,
        n,
        "zero width" if half == 0.0 else None,
        "",
        half / 2.0 if method == "corrected-resampled-t" else None,
    )


def frames_of(rows: Sequence[ReplicateRow]) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """The same as the three frames of a store."""
    return frames_of_stored(
        (*vars(row.key).values(), row.failure, results_of(row, ""), row.seconds) for row in rows
    )


def summary_of(
    frames: tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame], methods: Sequence[str] | None = None
) -> Summary:
    """Summarize frames; the methods are those that occur, with "cud" first, unless they are named."""
    replicates, intervals, _ = frames
    found = sorted(set(intervals["method"]), key=lambda name: (name != "cud", name))
    return Summary(
        *frames,
        0.95,
        tuple(sorted(set(replicates["scenario"]))),
        tuple(found if methods is None else methods),
        compares=bool(intervals["pvalue"].notna().any()),
    )


def store_of(path: Path, rows: Sequence[ReplicateRow] | None = None, **design: Any) -> Path:
    """Write rows to a store, made-up ones for None."""
    rows = made_up_rows(**design) if rows is None else rows
    keys = [row.key for row in rows]
    study = Study(
        "made up",
        tuple(
            Scenario(scenario, Coin(), LeastSquaresClassifier)
            for scenario in dict.fromkeys(key.scenario for key in keys)
        ),
        tuple(dict.fromkeys(key.n for key in keys)),
        1 + max(key.replicate for key in keys),
        tuple(design.get("methods", METHODS)),
    )
    with Store.resume(path, study) as store:
        store.add(rows)
    return path
