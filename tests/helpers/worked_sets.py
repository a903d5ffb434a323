"""Worked numbers of the recommended interval for twelve published data sets, by a second implementation.

``python tests/helpers/worked_sets.py`` writes ``worked_sets.csv``. Of the package it takes the bootstrap draws and the
folds alone; each classifier is fitted here to the rows of each draw and of each fold, one after another, and
`cross_validated_again` computes the numbers from what they predict.
"""

from __future__ import annotations

import csv
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from cross_validated_again import Fits, Outputs, Sample, numbers
from numpy.typing import NDArray
from rule_again import Numbers
from shared_files import PUBLISHED_SETS
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, RidgeClassifierCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from cudbound import IntervalTable, Metrics, compare_intervals

METHOD = "two-center"
WORKED_SETS = Path(__file__).with_suffix(".csv")
TWO_CLASSES = ("error", "sensitivity", "specificity", "balanced-error")
WITH_SCORES = (*TWO_CLASSES, "auc")
ALL_METRICS = (*WITH_SCORES, "brier")
COSTS = {0: 1.0, 1: 4.0}
SEED = 1


def converged(**keywords: Any) -> LogisticRegression:
    """A logistic regression whose coefficients do not depend on how they are found."""
    return LogisticRegression(solver="newton-cholesky", tol=1e-12, max_iter=1000, **keywords)


@dataclass(frozen=True, eq=False)
class Case:
    """A classifier, unfitted and without random numbers, and the rows that it is fitted to."""

    classifier: Any
    X: NDArray[np.float64]
    y: NDArray[Any]
    metrics: tuple[str, ...] = ALL_METRICS
    event: Any = 1
    groups: NDArray[Any] | None = None
    weights: NDArray[np.float64] | None = None
    #: Whether it has coefficients for the columns and an intercept, whose rank then counts.
    linear: bool = False
    n_resamples: int = 30

    def table(self) -> IntervalTable:
        """The intervals of the package."""
        return compare_intervals(
            fitted(self, np.arange(len(self.y))),
            self.X,
            self.y,
            methods=METHOD,
            metric=Metrics(self.metrics, event=self.event, costs=COSTS if "cost" in self.metrics else None),
            groups=self.groups,
            sample_weight=self.weights,
            n_resamples=self.n_resamples,
            rng=SEED,
        )


@dataclass(frozen=True)
class WorkedSet:
    """Rows of a published data set that are drawn without replacement, and the classifier that is fitted to them."""

    name: str
    n: int
    classifier: Any
    metrics: tuple[str, ...] = ALL_METRICS
    linear: bool = False
    #: Some of the features; all of them if empty.
    columns: tuple[str, ...] = ()
    target: str = "target"
    event: Any = 1
    #: The column whose text up to the last underscore is the patient.
    group_column: str = ""
    weighted: bool = False

    def case(self) -> Case:
        """The rows, those with missing values left out."""
        columns = self.columns or next(
            entry["feature_columns"]
            for entry in json.loads((PUBLISHED_SETS / "MANIFEST.json").read_text())["datasets"]
            if entry["name"] == self.name
        )
        with open(PUBLISHED_SETS / f"{self.name}.csv", newline="") as file:
            complete = [row for row in csv.DictReader(file) if all(row[column] for column in columns)]
        rng = np.random.default_rng(SEED)
        rows = [complete[row] for row in rng.permutation(len(complete))[: self.n]]
        patients = [row[self.group_column].rpartition("_")[0] for row in rows] if self.group_column else None
        return Case(
            self.classifier,
            np.array([[float(row[column]) for column in columns] for row in rows]),
            np.array(
                [int(row[self.target]) if self.target == "target" else row[self.target] for row in rows]
            ),
            self.metrics,
            self.event,
            None if patients is None else np.array(patients),
            rng.integers(1, 4, self.n) + 0.5 if self.weighted else None,
            self.linear,
        )


SETS = (
    WorkedSet("breast_cancer_coimbra", 60, make_pipeline(StandardScaler(), converged()), linear=True),
    WorkedSet("crabs", 50, LinearDiscriminantAnalysis(), linear=True),
    WorkedSet("urine", 70, GaussianNB()),
    WorkedSet("haberman", 80, DecisionTreeClassifier(max_depth=3, random_state=0)),
    WorkedSet("ionosphere", 60, DecisionTreeClassifier(random_state=0)),
    WorkedSet("sonar", 60, make_pipeline(StandardScaler(), converged()), linear=True),
    WorkedSet("spectf", 80, make_pipeline(StandardScaler(), SVC(class_weight="balanced")), WITH_SCORES),
    WorkedSet("heart_statlog", 60, make_pipeline(StandardScaler(), RidgeClassifierCV()), WITH_SCORES, True),
    WorkedSet("parkinsons", 120, KNeighborsClassifier(5), group_column="name"),
    WorkedSet(
        "birthwt",
        90,
        converged(class_weight="balanced"),
        (*TWO_CLASSES, "cost"),
        True,
        ("age", "lwt", "smoke"),
        weighted=True,
    ),
    WorkedSet("kyphosis", 40, converged(), (*ALL_METRICS, "cost"), linear=True),
    WorkedSet("balance_scale", 75, GaussianNB(), ("error", "sensitivity"), target="class", event="L"),
)


# ---- fits ----


def fitted(case: Case, rows: NDArray[np.int64]) -> Any:
    """Return the classifier fitted to these rows, which may occur several times."""
    weights = {} if case.weights is None else {"sample_weight": case.weights[rows]}
    return clone(case.classifier).fit(case.X[rows], case.y[rows], **weights)


def outputs(case: Case, rows: NDArray[np.int64]) -> Outputs:
    """Return what the classifier fitted to these rows says of every row; a class that is alone is that of all."""
    classes = np.unique(case.y).tolist()
    if np.unique(case.y[rows]).size == 1:
        return Outputs([classes.index(case.y[rows[0]])] * len(case.y))
    classifier = fitted(case, rows)
    # equal rows get equal scores, which a product of matrices need not give them
    distinct, places = np.unique(case.X, axis=0, return_inverse=True)
    predicted = [classes.index(label) for label in classifier.predict(distinct)[places]]
    if not {"auc", "brier"} & set(case.metrics):
        return Outputs(predicted)
    at = list(classifier.classes_).index(case.event)
    probabilities = scores = None
    if hasattr(classifier, "predict_proba"):
        probabilities = scores = classifier.predict_proba(distinct)[places, at].tolist()
    if hasattr(classifier, "decision_function"):
        scores = ((2 * at - 1) * classifier.decision_function(distinct)[places]).tolist()
    return Outputs(predicted, scores, probabilities)


def fits(case: Case, counts: NDArray[np.int32], partitions: list[NDArray[np.int64]]) -> Fits:
    """Fit the classifier to all rows, to those of each draw, and to those outside each fold."""
    rows = np.arange(len(case.y))
    return Fits(
        outputs(case, rows),
        [(drawn.tolist(), outputs(case, np.repeat(rows, drawn))) for drawn in counts],
        [
            (fold.tolist(), [outputs(case, rows[fold != number]) for number in range(fold.max() + 1)])
            for fold in partitions
        ],
    )


def numbers_again(case: Case, table: IntervalTable) -> dict[str, Numbers]:
    """Return the numbers of each metric by the second implementation, on the draws and folds of a table."""
    records = table.analysis.records
    partitions = [partition.fold for partition in records.stratified_folds.partitions]
    classes = np.unique(case.y).tolist()
    groups = None if case.groups is None else np.unique(case.groups, return_inverse=True)[1].tolist()
    with_intercept = np.column_stack([np.ones(len(case.X)), case.X])
    sample = Sample(
        [classes.index(label) for label in case.y],
        classes.index(case.event),
        None if case.weights is None else case.weights.tolist(),
        groups,
        float(np.linalg.matrix_rank(with_intercept)) if case.linear else math.nan,
    )
    of_rows = fits(case, records.bootstrap.counts, partitions)
    return {metric: numbers(metric, sample, of_rows) for metric in case.metrics}


# ---- what is stored ----


def stored_numbers() -> dict[tuple[str, str], Numbers]:
    """Return the stored numbers by data set and metric."""
    with open(WORKED_SETS, newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        (row.pop("set"), row.pop("metric")): {name: float(value) for name, value in row.items()}
        for row in rows
    }


def main() -> None:
    """Write the numbers of every set."""
    lines: list[dict[str, Any]] = []
    for worked in SETS:
        case = worked.case()
        for metric, values in numbers_again(case, case.table()).items():
            lines.append({"set": worked.name, "metric": metric, **values})
    with open(WORKED_SETS, "w", newline="") as file:
        writer = csv.DictWriter(file, lines[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
    print(f"{len(lines)} lines of {len(SETS)} sets in {WORKED_SETS}")


if __name__ == "__main__":
    main()
