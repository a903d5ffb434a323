"""The whole table of methods against the refits of a plain bootstrap."""

from __future__ import annotations

import time

import numpy as np
from measure import Row, in_turns, milliseconds
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from worlds import world

from cudbound import (
    ConvexLossClassifier,
    LeastSquaresClassifier,
    Resampling,
    compare_intervals,
    compare_learners,
)

DRAWS = 500


def conditional(quick: bool) -> list[Row]:
    """All intervals for the fitted classifier with 500 draws against 500 refits by scikit-learn."""
    rows = []
    for seed in range(1 if quick else 3):
        rows += conditional_on(seed, repetitions=2 if quick else 5)
    return rows


def conditional_on(seed: int, repetitions: int) -> list[Row]:
    """Run the comparison of `conditional` on one data set."""
    n, p = 50, 5
    design, labels, _ = world(n, p, 1.0, seed)
    features = design[:, 1:]
    squares = LeastSquaresClassifier().fit(features, labels)
    logistic = LogisticRegression().fit(features, labels)
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, n, (DRAWS, n))
    drawn = drawn[[len(set(labels[rows])) == 2 for rows in drawn]]

    def refit_each(estimator: object) -> None:
        for rows in drawn:
            clone(estimator).fit(features[rows], labels[rows])

    def intervals(estimator: object, methods: str) -> None:
        compare_intervals(estimator, features, labels, methods=methods, n_resamples=DRAWS, rng=0)

    rows = []
    for name, ours, peer, aim in (
        ("LeastSquaresClassifier", squares, LinearRegression(), 3.0),
        ("LogisticRegression", logistic, LogisticRegression(), None),
    ):
        seconds = in_turns(
            {
                "conditional": lambda ours=ours: intervals(ours, "conditional"),
                "algorithm": lambda ours=ours: intervals(ours, "algorithm"),
                "refits": lambda peer=peer: refit_each(peer),
            },
            repetitions,
        )
        for methods in ("conditional", "algorithm"):
            ratio = seconds[methods] / seconds["refits"]
            wanted = aim if methods == "conditional" else None
            rows.append(
                Row(
                    f'{name}, methods="{methods}" / 500 refits of {type(peer).__name__}',
                    f"n={n} p={p} B={DRAWS} signal, data set {seed}",
                    f"{milliseconds(seconds[methods])} / {milliseconds(seconds['refits'])}",
                    f"{ratio:.2f}",
                    "reported" if wanted is None else f"<= {wanted:g}",
                    None if wanted is None else ratio <= wanted,
                )
            )
    return rows


def scaled_logistic(quick: bool) -> list[Row]:
    """The methods of the paper for what most analysts fit, and a replicate of a study with it, against plain refits."""
    n, p, n_refits = 50, 5, 1000
    design, labels, _ = world(n, p, 1.0, 0)
    features = design[:, 1:]
    pipe = make_pipeline(StandardScaler(), LogisticRegression()).fit(features, labels)
    drawn = np.random.default_rng(0).integers(0, n, (n_refits // 5 if quick else n_refits, n))
    drawn = drawn[[len(set(labels[rows])) == 2 for rows in drawn]]

    def refit_each() -> None:
        for rows in drawn:
            clone(pipe).fit(features[rows], labels[rows])

    seconds = in_turns(
        {
            "table": lambda: compare_intervals(pipe, features, labels, rng=0, methods="paper"),
            "replicate": lambda: compare_intervals(
                pipe,
                features,
                labels,
                n_resamples=200,
                rng=0,
                methods="paper",
                resampling=Resampling(inner="oob"),
            ),
            "refits": refit_each,
        },
        repetitions=1 if quick else 3,
    )
    refits = seconds["refits"] * n_refits / len(drawn)
    name = "StandardScaler, LogisticRegression"
    return [
        Row(
            f"{name}: table of the paper (51,000 fits) / {n_refits} plain refits",
            f"n={n} p={p} B=1000, 7 methods, inner draws",
            f"{milliseconds(seconds['table'])} / {milliseconds(refits)}",
            f"{seconds['table'] / refits:.2f}",
            "<= 1, and <= 3 s",
            seconds["table"] <= min(refits, 3.0),
        ),
        Row(
            f"{name}: replicate of a study",
            f'n={n} p={p} B=200, 7 methods, inner="oob"',
            milliseconds(seconds["replicate"]),
            f"{seconds['replicate'] / refits:.3f} of {n_refits} refits",
            "<= 0.05 (100 ms on an idle machine)",
            seconds["replicate"] <= 0.05 * refits,
        ),
    ]


def comparisons(quick: bool) -> list[Row]:
    """All comparisons of two learning algorithms by shared refits against as many separate runs."""
    n, p = 50, 5
    design, labels, _ = world(n, p, 1.0, 0)
    features = design[:, 1:]
    a, b = LeastSquaresClassifier(), ConvexLossClassifier("logistic", penalty=0.01)
    begun = time.perf_counter()
    table = compare_learners([a, b], features, labels, methods="all", rng=0)
    together = time.perf_counter() - begun
    begun = time.perf_counter()
    for row in table.rows:
        compare_learners([a, b], features, labels, methods=row.method, rng=0)
    apart = time.perf_counter() - begun
    return [
        Row(
            f"all {len(table.rows)} comparisons together / one by one",
            f"n={n} p={p}, least squares against logistic",
            f"{milliseconds(together)} / {milliseconds(apart)}",
            f"{together / apart:.2f}",
            "reported",
        )
    ]


CASES = (conditional, scaled_logistic, comparisons)
