# ruff: noqa: E501 - a table of cells, one per line
"""The confirmation of the interval around cross-validation and .632+: its cells, and how they are run.

    python confirm.py run STORE [--jobs 2] [--data FOLDER]     one file per cell in the folder STORE; resumes
    python confirm.py time [--data FOLDER]                     seconds per set, from three sets with other seeds
    python confirm.py list                                     the cells

registration.md has the rules. Nothing here changes once the first set has been drawn.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
import warnings
import zlib
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier, StackingClassifier
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.impute import SimpleImputer
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
)
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, TunedThresholdClassifierCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler, TargetEncoder
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from cudbound import LeastSquaresClassifier, Metrics, Resampling, compare_intervals
from cudbound.study.populations.patients import Patients
from cudbound.study.populations.population import Cases, draw_both_classes
from cudbound.study.populations.population import load_data_set
from cudbound.study.populations.truth import share_truth
from cudbound.study.populations.worlds import WORLDS
from cudbound.study.run.metric_rows import true_metrics

SEED = 20261127
#: The rule, and what stands beside it on the same fits. The form that was recommended before is taken without its cap,
#: which costs a search and can only shorten it.
RULE = "two-center-cv"
BESIDE = (("two-center", {"cap": False}), "langford-binomial", "bayle-cv", "out-of-bag-percentile")
#: Nested cross-validation, in its own 550 fits (10 repetitions), where these are made in batches and few.
NESTED, N_NESTED_REPEATS, MOST_ROWS_NESTED = "nested-cv", 10, 100
CLINICAL = ("sensitivity", "specificity", "balanced-error", "cost", "ppv", "npv")
#: Sets are run in so many rounds, so that a run that is stopped has about the same share of every cell.
ROUNDS = 20
#: Rows of the fixed sample for a truth without a formula.
N_TRUTH = 20_000


@dataclass(frozen=True)
class Cell:
    """One setting: a population, a classifier and a number of rows."""

    name: str
    population: Any
    classifier: Any
    n: int
    metrics: tuple[str, ...] = ("error",)
    sets: int = 1000
    n_resamples: int = 500
    kind: str = ""
    splits_inside: bool = False
    samples_of: str = ""


# ---- classifiers and worlds that the package does not have ----


class TunedNeighbors(ClassifierMixin, BaseEstimator):
    """k nearest neighbors, with k of 1, 5, 9, 13, 17 and 21 by the accuracy in 5 shuffled stratified folds.

    GridSearchCV of KNeighborsClassifier in numpy; of equal distances that of the earlier row counts, of equal accuracies
    the smaller k.
    """

    choices = (1, 5, 9, 13, 17, 21)

    def __init__(self, random_state=0):
        self.random_state = random_state

    def fit(self, X, y):
        """Choose k and keep the rows."""
        self.X_, self.y_ = np.asarray(X, dtype=float), np.asarray(y)
        self.classes_ = np.unique(y)
        second = (self.y_ == self.classes_[-1]).astype(float)
        squares = (self.X_**2).sum(axis=1)
        distances = squares[:, None] + squares - 2.0 * self.X_ @ self.X_.T
        right = np.zeros(len(self.choices))
        folds = StratifiedKFold(5, shuffle=True, random_state=self.random_state)
        with warnings.catch_warnings(action="ignore"):
            for train, test in folds.split(self.X_, self.y_):
                order = np.argsort(distances[np.ix_(test, train)], axis=1, kind="stable")
                for number, k in enumerate(self.choices):
                    share = second[train][order[:, : min(k, train.size)]].mean(axis=1)
                    right[number] += np.sum((share > 0.5) == (second[test] > 0.5)) / test.size
        self.k_ = min(self.choices[int(right.argmax())], len(second))
        return self

    def predict_proba(self, X):
        """Return the shares of both classes among the neighbors."""
        X = np.asarray(X, dtype=float)
        second = (self.y_ == self.classes_[-1]).astype(float)
        share = np.empty(len(X))
        for part in np.array_split(np.arange(len(X)), max(1, len(X) // 2000)):
            distances = (self.X_**2).sum(axis=1) - 2.0 * X[part] @ self.X_.T
            nearest = (
                np.argpartition(distances, self.k_ - 1, axis=1)[:, : self.k_]
                if self.k_ < len(second)
                else np.tile(np.arange(len(second)), (part.size, 1))
            )
            share[part] = second[nearest].mean(axis=1)
        return np.column_stack([1.0 - share, share])

    def predict(self, X):
        """Return the more frequent class among the neighbors."""
        if self.classes_.size == 1:
            return np.full(len(X), self.classes_[0])
        return self.classes_[(self.predict_proba(X)[:, 1] > 0.5).astype(int)]


@dataclass(frozen=True)
class Codes:
    """A normal feature that differs by `distance` between classes, and codes of many levels that say nothing."""

    distance: float = 1.0
    n_codes: int = 3
    n_levels: int = 40
    name: str = "codes"
    title: str = "one normal feature, and codes without information"

    def sample(self, n, rng):
        """Return n cases."""
        y = rng.integers(0, 2, n)
        codes = rng.integers(0, self.n_levels, (n, self.n_codes))
        return np.column_stack([rng.standard_normal(n) + self.distance * y, codes]), y

    def draw(self, n, rng):
        """Return a training set with its true errors."""
        X, y = self.sample(n, rng)
        return Cases(
            X, y, lambda classifier: share_truth(classifier.predict(_fixed(self)[0]) != _fixed(self)[1])
        )


_FIXED: dict[Any, tuple[Any, Any]] = {}


def _fixed(population: Any) -> tuple[Any, Any]:
    if population not in _FIXED:
        _FIXED[population] = population.sample(N_TRUTH, np.random.default_rng(SEED))
    return _FIXED[population]


# ---- cells ----
# fmt: off

EAB = ("error", "auc", "brier")
EA = ("error", "auc")


def logistic(**parameters: Any) -> LogisticRegression:
    """Return logistic regression with enough iterations."""
    return LogisticRegression(**{"max_iter": 2000, **parameters})


def scaled(*steps: Any) -> Any:
    """Return a pipeline after standardization."""
    return make_pipeline(StandardScaler(), *steps)


def select(k: int, classifier: Any) -> Any:
    """Return a pipeline that selects k features by F tests."""
    return make_pipeline(SelectKBest(f_classif, k=k), classifier)


def short_tree(depth: int = 3, **parameters: Any) -> DecisionTreeClassifier:
    """Return a tree of limited depth."""
    return DecisionTreeClassifier(max_depth=depth, random_state=0, **parameters)


def normal(distance: float, p: int, signal: int, share: float = 0.5, sd: float = 1.0) -> Any:
    """Return a world of two normal classes with p features, of which some differ between classes."""
    return WORLDS["gaussians"](
        distance=distance, n_features=p, n_signal=signal, positive_share=share, positive_sd=sd
    )


def simulated() -> list[Cell]:
    """Return the cells of simulated worlds with two classes and independent rows."""
    world = WORLDS
    least, ridge = LeastSquaresClassifier(), RidgeClassifier()
    tree, neighbors = DecisionTreeClassifier, KNeighborsClassifier
    regular = [
        Cell("2 features, n = 20", normal(1.5, 2, 1), logistic(), 20, EAB),
        Cell("4 features, n = 30", normal(1.2, 4, 2), logistic(), 30, EAB),
        Cell("6 features, LDA, n = 40", normal(1.8, 6, 2), LinearDiscriminantAnalysis(), 40, EAB),
        Cell("3 features, least squares, n = 60", normal(2.2, 3, 1), least, 60),
        Cell("8 features, n = 80", normal(1.4, 8, 3), logistic(), 80, EAB),
        Cell("5 features, C = 10, n = 120", normal(1.0, 5, 2), logistic(C=10), 120, EAB),
        Cell("12 features, n = 150", normal(1.6, 12, 4), logistic(), 150, EAB),
        Cell("6 features, n = 300", normal(1.3, 6, 2), logistic(), 300, EAB),
        Cell("15 features, n = 500", normal(2.0, 15, 5), logistic(), 500, EAB),
        Cell("weak signal, linear SVC", normal(0.8, 3, 1), scaled(LinearSVC()), 50),
        Cell("unequal spread", normal(1.5, 4, 2, sd=2.0), logistic(), 100, EAB),
        Cell("outliers", world["outliers"](), logistic(), 70, EAB),
        Cell("heavy tails", world["heavy-tails"](), logistic(), 60, EAB),
        Cell("quadratic", world["quadratic"](), logistic(), 80, EAB),
        Cell("donut, polynomial", world["donut"](), scaled(PolynomialFeatures(2), logistic()), 60, EAB, sets=300),
        Cell("hidden subgroup", world["hidden-subgroup"](), logistic(), 70, EAB),
        Cell("labels flipped", world["flipped-labels"](), logistic(), 40, EAB),
        Cell("nearly separable", world["near-separable"](), logistic(), 40, EAB),
        Cell("nearly separable, least squares", world["near-separable"](), least, 25),
        Cell("noise, 3 features", world["noise"](n_features=3), logistic(), 60, EAB),
        Cell("noise, 10 features", world["noise"](n_features=10), logistic(), 40, EAB),
        Cell("noise, 1 feature", world["noise"](n_features=1), least, 200),
        Cell("missing values", world["missing-values"](), make_pipeline(SimpleImputer(), logistic()), 80, EAB),
    ]
    many = [
        Cell("10 features of 40", normal(1.8, 10, 3), logistic(), 40, EAB),
        Cell("15 of 50, C = 100", normal(1.8, 15, 3), logistic(C=100), 50, EAB),
        Cell("20 of 60", normal(1.6, 20, 3), logistic(), 60, EAB),
        Cell("30 of 100, C = 10", normal(1.8, 30, 4), logistic(C=10), 100, EAB),
        Cell("50 of 100", normal(2.0, 50, 5), logistic(), 100, EAB),
        Cell("80 of 120, ridge", normal(2.0, 80, 5), ridge, 120),
        Cell("40 of 50", normal(2.0, 40, 5), logistic(), 50, EAB),
        Cell("60 of 60", normal(2.2, 60, 5), logistic(), 60, EAB),
        Cell("100 of 50, C = .1", normal(2.5, 100, 5), logistic(C=0.1), 50, EAB),
        Cell("150 of 50, ridge", normal(3.0, 150, 5), ridge, 50),
        Cell("28 of 30, least squares", world["correlated"](n_features=28), least, 30),
        Cell("95 of 100, least squares", world["correlated"](n_features=95), least, 100, sets=300),
        Cell("27 of 40, correlated", world["correlated"](), logistic(), 40, EAB),
        Cell("25 of 60, shrunk LDA", world["wide"](), LinearDiscriminantAnalysis("lsqr", shrinkage="auto"), 60, EAB, sets=300),
        Cell("25 of 70, linear SVC", world["wide"](), scaled(LinearSVC()), 70),
    ]
    chosen = [
        Cell("5 selected of 80", normal(2.0, 80, 5), select(5, logistic()), 40, EAB, sets=300),
        Cell("3 selected of 30", normal(1.6, 30, 2), select(3, logistic()), 60, EAB, sets=300),
        Cell("10 selected of 200", normal(2.2, 200, 6), select(10, logistic()), 100, EAB, sets=300),
        Cell("4 selected of 100, noise", world["noise"](n_features=100), select(4, logistic()), 50, EAB, sets=300),
        Cell("2 selected of 20, least squares", normal(1.5, 20, 2), select(2, least), 40, sets=300),
        Cell("5 components of 25", world["wide"](), scaled(PCA(5), logistic()), 50, EAB),
        Cell("LASSO, 30 of 60", normal(2.0, 30, 3), scaled(LogisticRegression(l1_ratio=1.0, solver="liblinear")), 60, EAB, sets=300),
    ]
    flexible = [
        Cell("tree, n = 80", normal(1.6, 4, 2), tree(random_state=0), 80, sets=300),
        Cell("tree of depth 3", normal(1.6, 4, 2), short_tree(), 60, EAB, 300),
        Cell("tree, 5 rows in a leaf", world["quadratic"](), tree(min_samples_leaf=5, random_state=0), 120, EAB, 300),
        Cell("tree on noise", world["noise"](n_features=3), tree(random_state=0), 50, sets=300),
        Cell("1 neighbor", normal(1.8, 3, 2), neighbors(1), 60, sets=300),
        Cell("1 neighbor on noise", world["noise"](n_features=2), neighbors(1), 40, sets=300),
        Cell("3 neighbors", normal(1.6, 4, 2), scaled(neighbors(3)), 50, EAB, 300),
        Cell("9 neighbors", world["donut"](), neighbors(9), 100, EAB, 300),
        Cell("SVC with RBF kernel", normal(1.6, 5, 2), scaled(SVC()), 55, EA, 300),
        Cell("SVC with cubic kernel", world["quadratic"](), scaled(SVC(kernel="poly")), 80, EA, 300),
        Cell("naive Bayes, n = 30", normal(1.4, 3, 2), GaussianNB(), 30, EAB, 300),
        Cell("naive Bayes, 10 features", normal(1.6, 10, 3), GaussianNB(), 80, EAB, 300),
        Cell("QDA", normal(1.6, 4, 2, sd=1.8), QuadraticDiscriminantAnalysis(), 50, EAB, 300),
        Cell("forest", normal(1.6, 5, 2), RandomForestClassifier(20, random_state=0), 60, EAB, 100, 100),
        Cell("forest on noise", world["noise"](n_features=4), RandomForestClassifier(20, random_state=0), 50, EAB, 100, 100),
        Cell("boosting", world["quadratic"](), GradientBoostingClassifier(n_estimators=20, random_state=0), 60, EAB, 100, 100),
    ]
    few = [
        Cell("5 events of 50", normal(1.6, 2, 1, 0.10), logistic(), 50, EAB),
        Cell("5 events of 100", normal(1.9, 3, 1, 0.05), logistic(), 100, EAB),
        Cell("8 events of 80, balanced", normal(1.6, 3, 1, 0.10), logistic(class_weight="balanced"), 80, EAB),
        Cell("10 events of 100, tree of depth 2", normal(1.8, 3, 1, 0.10), short_tree(2), 100, EAB, 300),
        Cell("12 events of 80, 6 features", normal(1.6, 6, 2, 0.15), logistic(), 80, EAB),
        Cell("15 events of 300, 5 features", normal(1.8, 5, 2, 0.05), logistic(), 300, EAB),
        Cell("10 events of 60, LDA", normal(1.6, 4, 2, 1 / 6), LinearDiscriminantAnalysis(), 60, EAB),
    ]
    lattices = [
        Cell("one finding, odds ratio 1.5", world["binary-finding"](odds_ratio=1.5, n_noise=0), logistic(), 300, EAB),
        Cell("one finding, odds ratio 2", world["binary-finding"](odds_ratio=2.0, n_noise=0), logistic(), 80, EAB),
        Cell("one finding, odds ratio 8", world["binary-finding"](odds_ratio=8.0, n_noise=0), least, 40),
        Cell("one finding beside 3 features", world["binary-finding"](odds_ratio=3.0, n_noise=3), logistic(), 120, EAB),
        Cell("two items of three levels", world["discrete"](n_levels=3, n_features=2, n_signal=1, signal=0.6), logistic(), 40, EAB),
        Cell("one item of five levels", world["discrete"](n_levels=5, n_features=1, n_signal=1, signal=0.5), least, 60),
        Cell("three items of four levels", world["discrete"](n_levels=4, n_features=3, n_signal=2, signal=0.5), logistic(), 200, EAB),
        Cell("five findings", world["binary"](), logistic(), 60, EAB),
        Cell("5 % on the boundary", world["three-point"](boundary_mass=0.05), least, 60),
        Cell("12 % on the boundary", world["three-point"](boundary_mass=0.12), least, 150),
        Cell("25 % on the boundary", world["three-point"](boundary_mass=0.25), least, 40),
        Cell("10 % on the boundary", world["three-point"](boundary_mass=0.10), logistic(), 400),
    ]
    families = {
        "few columns": regular, "many columns": many, "selection": chosen, "flexible": flexible,
        "few events": few, "few distinct rows": lattices,
    }
    return [replace(cell, kind=kind) for kind, cells in families.items() for cell in cells]


def grouped() -> list[Cell]:
    """Return the cells with several rows per patient."""
    cells = [
        Cell("patients with 3 rows", Patients(normal(1.6, 3, 1), (3, 3)), logistic(), 90, EAB),
        Cell("patients with 2 to 5 rows", Patients(normal(1.4, 6, 2), (2, 5)), logistic(), 150, EAB),
        Cell("patients with 3 rows, 1 neighbor", Patients(normal(1.8, 3, 1), (3, 3)), KNeighborsClassifier(1), 60, sets=300),
        Cell("patients with 2 to 6 rows, tree", Patients(normal(1.6, 4, 2), (2, 6)), short_tree(), 120, sets=300),
        Cell("12 % of the patients with 18 rows, the others with 2", Patients(normal(1.6, 3, 1), (2, 18), many_rows=0.12), logistic(), 100, EAB),
    ]
    return [replace(cell, kind="groups") for cell in cells]


def real(folder: Path) -> list[Cell]:
    """Return the cells of real data; small sets are populations, drawn from with replacement."""
    neighbors, tree = scaled(KNeighborsClassifier(5)), short_tree()
    as_population = {
        "acute_inflammations": (logistic(), 35), "crabs": (logistic(C=10), 45), "hepatitis": (logistic(), 40),
        "icu": (logistic(), 70), "birthwt": (logistic(), 80), "sonar": (logistic(), 70),
        "parkinsons": (logistic(), 60), "kyphosis": (logistic(), 45), "wpbc": (logistic(C=0.1), 50),
        "cervical_behavior_risk": (logistic(), 40), "nodal": (logistic(), 35), "urine": (logistic(), 45),
        "saheart": (logistic(), 120), "haberman": (logistic(), 40), "heart_failure": (logistic(), 80),
        "heart_statlog": (logistic(), 70), "heart_cleveland": (neighbors, 60), "liver_bupa": (logistic(), 60),
        "ionosphere": (logistic(), 60), "spectf": (logistic(C=0.1), 80), "breast_tissue": (logistic(), 40),
        "breast_cancer_coimbra": (tree, 60), "cats": (logistic(), 35), "mammographic_masses": (neighbors, 80),
    }
    of_others = {
        "spambase": (logistic(), 100), "pima": (logistic(), 90), "abalone": (logistic(), 60),
        "magic04": (tree, 80), "german_credit_numeric": (logistic(), 120), "letter": (neighbors, 80),
        "ripley_synth": (logistic(), 50), "blood_transfusion": (logistic(), 90),
    }
    cells = []
    for device, sets in (("population", as_population), ("remainder", of_others)):
        for name, (classifier, n) in sets.items():
            data = load_data_set(name, folder, device=device)
            final = scaled(classifier) if isinstance(classifier, LogisticRegression) else classifier
            one_by_one = not isinstance(classifier, LogisticRegression)
            cells.append(
                Cell(
                    name if device == "population" else f"{name}, the others",
                    data,
                    final,
                    n,
                    EAB if device == "population" else ("error",),
                    300 if one_by_one else 1000,
                    kind="real data",
                )
            )
    return cells


def splitting() -> list[Cell]:
    """Return the cells of learners that split their rows inside fit; each is run with and without copies of rows."""
    shuffled, three = (StratifiedKFold(k, shuffle=True, random_state=0) for k in (5, 3))
    clusters = WORLDS["flipped-labels"](distance=6.0, flip_rate=0.2)
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": list(TunedNeighbors.choices)}, cv=shuffled)
    encoder = make_column_transformer((TargetEncoder(cv=5, random_state=0), [1, 2, 3]), remainder="passthrough")
    depth = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3, None]}, cv=three)
    penalty = GridSearchCV(logistic(), {"C": [0.01, 0.1, 1.0, 10.0]}, cv=5)
    kernel = GridSearchCV(SVC(), {"C": [0.3, 3.0], "gamma": [0.05, 0.5]}, cv=three)
    stacked = StackingClassifier([("nb", GaussianNB()), ("lda", LinearDiscriminantAnalysis())], logistic(), cv=three)
    cells = [
        Cell("k-NN tuned, 20 % flipped", clusters, TunedNeighbors(), 100, EAB, 400, 100),
        Cell("k-NN tuned, 20 % flipped, scikit-learn's search", clusters, search, 100, EAB, 40, 100,
             samples_of="k-NN tuned, 20 % flipped"),
        Cell("k-NN tuned, normal classes", normal(1.4, 3, 1), TunedNeighbors(), 80, EAB, 400, 100),
        Cell("ridge tuned by leaving one out", normal(1.8, 20, 3), RidgeClassifierCV(), 60, ("error",), 400, 100),
        Cell("3 target-encoded codes", Codes(1.0), make_pipeline(encoder, logistic()), 100, EAB, 200, 100),
        Cell("C tuned by a search", normal(1.6, 10, 3), penalty, 60, ("error",), 400, 100),
        Cell("C tuned by LogisticRegressionCV", normal(1.6, 6, 3), LogisticRegressionCV(Cs=3, cv=three, solver="liblinear"), 45, EAB, 100, 100),
        Cell("depth of a tree tuned", WORLDS["quadratic"](), depth, 80, EAB, 100, 100),
        Cell("calibrated naive Bayes", normal(1.4, 5, 2), CalibratedClassifierCV(GaussianNB(), cv=shuffled, ensemble=False), 60, EAB, 100, 100),
        Cell("stacked naive Bayes and LDA", normal(1.6, 5, 2), stacked, 60, EAB, 100, 100),
        Cell("threshold tuned", normal(1.6, 4, 2, 0.2), TunedThresholdClassifierCV(GaussianNB(), thresholds=9, cv=three, random_state=0), 80, ("error",), 100, 100),
        Cell("early stopping", normal(1.8, 5, 2), scaled(SGDClassifier(loss="log_loss", early_stopping=True, validation_fraction=0.2, random_state=0)), 80, EAB, 400, 100),
        Cell("SVC tuned", WORLDS["donut"](), kernel, 60, EA, 100, 100),
    ]
    return [replace(cell, kind="splits inside", splits_inside=True) for cell in cells]


def clinical() -> list[Cell]:
    """Return the cells of sensitivity, specificity and the other metrics of one classification."""
    cells = [
        Cell("20 events of 40", normal(1.4, 3, 1), logistic(), 40),
        Cell("12 events of 60", normal(1.6, 4, 2, 0.2), logistic(), 60),
        Cell("20 events of 100, balanced", normal(1.4, 5, 2, 0.2), logistic(class_weight="balanced"), 100),
        Cell("10 events of 100", normal(2.0, 3, 1, 0.1), LeastSquaresClassifier(), 100),
        Cell("25 events of 50, 15 features", normal(1.8, 15, 3), logistic(), 50),
        Cell("15 events of 50, naive Bayes", normal(1.6, 4, 2, 0.3), GaussianNB(), 50, sets=300),
        Cell("24 events of 80, tree of depth 3", normal(1.8, 4, 2, 0.3), short_tree(), 80, sets=300),
        Cell("18 events of 60, 3 selected of 30", normal(1.8, 30, 2, 0.3), select(3, logistic()), 60, sets=300),
    ]
    return [replace(cell, metrics=CLINICAL, kind="one classification") for cell in cells]


def several() -> list[Cell]:
    """Return the cells of more than two classes."""
    world, lda, tree = WORLDS["several-classes"], LinearDiscriminantAnalysis(), DecisionTreeClassifier
    cells = [
        Cell("3 classes, logistic", world(n_classes=3, n_features=3, distance=1.5), logistic(), 60),
        Cell("3 classes, LDA", world(n_classes=3, n_features=4, distance=1.2), lda, 45),
        Cell("3 classes, unequal", world(n_classes=3, n_features=3, distance=1.8, ratio=0.5), logistic(), 80),
        Cell("4 classes, least rows", world(n_classes=4, n_features=4, distance=2.0), lda, 40),
        Cell("4 classes, tree", world(n_classes=4, n_features=3, distance=1.8), tree(random_state=0), 80),
        Cell("4 classes, tree of depth 3", world(n_classes=4, n_features=3, distance=1.5), short_tree(), 100),
        Cell("5 classes, naive Bayes", world(n_classes=5, n_features=4, distance=1.6), GaussianNB(), 100),
        Cell("3 classes, 1 neighbor", world(n_classes=3, n_features=3, distance=1.6), KNeighborsClassifier(1), 60),
        Cell("6 classes, 7 neighbors", world(n_classes=6, n_features=3, distance=1.6), KNeighborsClassifier(7), 120),
        Cell("3 classes, rounded", world(n_classes=3, n_features=2, distance=1.2, whole=True), lda, 90),
        Cell("3 classes, 20 features", world(n_classes=3, n_features=20, distance=2.0), logistic(), 60),
        Cell("3 classes, no signal", world(n_classes=3, n_features=3, distance=0.0), lda, 60),
    ]
    return [replace(cell, kind="several classes", sets=300) for cell in cells]


def cells(folder: Path) -> list[Cell]:
    """Return all cells."""
    made = [*simulated(), *grouped(), *real(folder), *splitting(), *clinical(), *several()]
    assert len({cell.name for cell in made}) == len(made)
    return made


# fmt: on
# ---- one set ----


def run_set(cell: Cell, number: int, seed: int = SEED) -> dict[str, Any]:
    """Draw one training set, fit, find the true values and compute all intervals."""
    begun = time.perf_counter()
    source = cell.samples_of or cell.name
    rng = np.random.default_rng([seed, zlib.crc32(source.encode()), number])
    drawn, n_redrawn = draw_both_classes(cell.population, cell.n, rng)
    row: dict[str, Any] = {"set": number, "redrawn": n_redrawn}
    try:
        fitted = clone(cell.classifier).fit(drawn.X, drawn.y)
        row["truth"] = truths(cell, fitted, drawn)
        row["intervals"] = intervals(cell, fitted, drawn, np.random.default_rng([seed, number]))
    except Exception as error:  # a failing set is data
        row["failed"] = f"{type(error).__name__}: {error}"[:500]
    return row | {"seconds": round(time.perf_counter() - begun, 3)}


def truths(cell: Cell, fitted: Any, drawn: Cases) -> dict[str, float]:
    """Return the true value of each metric."""
    if cell.metrics == CLINICAL:
        values = true_metrics(cell.population, fitted, _metrics(cell))
        return dict(zip(cell.metrics, (one.value for one in values), strict=True))
    found = {"error": drawn.true_error(fitted).value}
    if len(cell.metrics) > 1:
        all_cases = getattr(cell.population, "all_cases", None)
        X, y = _fixed(cell.population) if all_cases is None else all_cases
        event = np.asarray(y) == 1
        scores = fitted.predict_proba(X)[:, 1] if "brier" in cell.metrics else fitted.decision_function(X)
        found["auc"] = float(roc_auc_score(event, scores))
        if "brier" in cell.metrics:
            found["brier"] = float(np.mean((scores - event) ** 2))
    return found


def _metrics(cell: Cell) -> Metrics | str:
    if cell.metrics == CLINICAL:
        return Metrics(cell.metrics, costs={0: 1.0, 1: 3.0}, prevalence="sample")
    return cell.metrics[0] if len(cell.metrics) == 1 else Metrics(cell.metrics)


def intervals(cell: Cell, fitted: Any, drawn: Cases, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Return one row per method and metric; the rule is also computed with copies of rows where the learner splits."""
    forms: list[tuple[bool, tuple[Any, ...]]] = [(not cell.splits_inside, (RULE, *BESIDE))]
    if cell.splits_inside and not cell.samples_of:
        forms.append((True, (RULE, BESIDE[0])))
    seed = int(rng.integers(2**32))
    rows = []
    for copies, methods in forms:
        resampling = Resampling(inner="oob", copies=copies, n_nested_repeats=N_NESTED_REPEATS)
        for metrics, asked in _calls(cell, methods):
            table = compare_intervals(
                fitted,
                drawn.X,
                drawn.y,
                methods=asked,
                metric=metrics,
                groups=drawn.groups,
                n_resamples=cell.n_resamples,
                resampling=resampling,
                rng=seed,
            )
            rows += [_row(one, copies) for one in table]
    return rows


def _calls(cell: Cell, methods: tuple[Any, ...]) -> list[tuple[Any, list[Any]]]:
    """Return the metrics of a call, and the methods for it: all metrics share their refits in one call."""
    if cell.metrics == CLINICAL:
        return [
            (_metrics(cell), [one for one in methods if one not in ("bayle-cv", "out-of-bag-percentile")])
        ]
    only_error = [one for one in methods if one != "out-of-bag-percentile"]
    calls = [(_metrics(cell), only_error if len(cell.metrics) == 1 else list(methods))]
    in_batches = isinstance(cell.classifier, LogisticRegression | LeastSquaresClassifier)
    if in_batches and cell.n <= MOST_ROWS_NESTED and cell.kind not in ("real data", "groups"):
        calls.append(("error", [NESTED]))
    return calls


def _row(one: Any, copies: bool) -> dict[str, Any]:
    number = lambda value: None if not math.isfinite(value) else round(float(value), 6)  # noqa: E731 - used thrice
    row = {
        "metric": one.metric,
        "method": one.method,
        "estimate": number(one.estimate),
        "low": number(one.confidence_interval.low),
        "high": number(one.confidence_interval.high),
    }
    if one.method in (RULE, "two-center"):
        row["details"] = {name: number(value) for name, value in one.details.items()}
    if not copies:
        row["copies"] = False
    return row


# ---- the run ----


def run_block(cell: Cell, store: Path, numbers: range) -> int:
    """Run the sets of a block that the store does not have."""
    path = store / f"{cell.name.replace('/', ' ')}.jsonl"
    done = {json.loads(line)["set"] for line in path.open()} if path.exists() else set()
    warnings.simplefilter("ignore")
    for number in numbers:
        if number not in done:
            with threadpool_limits(1):
                line = json.dumps(run_set(cell, number)) + "\n"
            with path.open("a") as file:
                file.write(line)
    return len(numbers)


def blocks(cell: Cell) -> list[range]:
    """Return the sets of a cell, by round."""
    ends = np.linspace(0, cell.sets, ROUNDS + 1).astype(int)
    return [range(first, last) for first, last in pairwise(ends)]


def main() -> None:
    """Run a command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("run", "time", "list"))
    parser.add_argument("store", nargs="?", type=Path, default=Path("store"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("CUDBOUND_DATA", "data")))
    asked = parser.parse_args()
    made = cells(asked.data)
    if asked.command == "run":
        asked.store.mkdir(exist_ok=True)
        work = [
            (cell, part)
            for parts in zip(*map(blocks, made), strict=True)
            for cell, part in zip(made, parts, strict=True)
        ]
        Parallel(asked.jobs)(delayed(run_block)(cell, asked.store, part) for cell, part in work)
        return
    total = 0.0
    for cell in made:
        line = f"{cell.kind:20s} {cell.name:50s} n={cell.n:4d} sets={cell.sets:5d} B={cell.n_resamples} {','.join(cell.metrics)}"
        if asked.command == "time":
            warnings.simplefilter("ignore")
            rows = [run_set(cell, number, SEED + 1) for number in range(3)]
            seconds = float(np.median([row["seconds"] for row in rows]))
            total += seconds * cell.sets
            failed = next((row["failed"] for row in rows if "failed" in row), "")
            line += f" {seconds:.3f} s {seconds * cell.sets / 60:.1f} min {failed}"
        print(line, flush=True)
    if asked.command == "time":
        print(f"{total / 3600:.2f} hours of one processor")


if __name__ == "__main__":
    main()
