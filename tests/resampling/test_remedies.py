"""A refit that fails names its step and what helps, and that does help."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.naive_bayes import CategoricalNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)

from cudbound import compare_intervals
from cudbound.basis.exceptions import FailedRefitsError

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::RuntimeWarning")

N = 60
RNG = np.random.default_rng(0)
SITES = RNG.choice(list("ABC"), N)
SITES[[5, 7, 9]] = "D", "E", "E"
PATIENTS = pd.DataFrame({"age": RNG.normal(60, 10, N), "site": SITES})
ILL = np.where(PATIENTS["age"] + RNG.normal(0, 8, N) > 60, "ill", "well")
ROWS = RNG.normal(size=(N, 3))
RARE_CLASS = np.where(np.isin(np.arange(N), [28, 29, 30, 31]), "ill", "well")  # on both sides of the middle
RARE_VALUE = np.column_stack([ROWS, np.arange(N) == 3])
ONE_MISSING = ROWS.copy()
ONE_MISSING[3, 0] = np.nan
LEVELS = [sorted(set(SITES))]

sites = partial(make_column_transformer, remainder=StandardScaler())
logistic = LogisticRegression()


def _dummies(encoder):
    return make_pipeline(make_column_transformer((encoder, ["site"]), remainder="passthrough"), logistic)


def _standardized(table):
    return (table - table.mean(axis=0)) / table.std(axis=0)


def _logarithm(table):
    return np.log(table - table.min(axis=0) + (table.std(axis=0) > 0.0))


class Centered(BaseEstimator, ClassifierMixin):
    """A classifier of the user's own, with an error that no rule knows."""

    def __init__(self, careful=False):
        self.careful = careful

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        if not self.careful and not X[:, 3].any():
            raise RuntimeError("no one\nhas the marker.")
        return self

    def predict(self, X):
        return np.where(X[:, 0] > 0.0, *self.classes_)


#: Of each: what fails, rows, labels, the step that is named, its message, the remedy, and what the remedy makes of it.
CASES = {
    "an unseen level": (
        make_pipeline(sites((OneHotEncoder(), ["site"])), logistic),
        (PATIENTS, ILL),
        "OneHotEncoder (step 'columntransformer__onehotencoder') with ValueError: Found unknown categories ['",
        "OneHotEncoder(handle_unknown='ignore')",
        make_pipeline(sites((OneHotEncoder(handle_unknown="ignore"), ["site"])), logistic),
    ),
    "an unseen level in order": (
        make_pipeline(OrdinalEncoder(), logistic),
        (PATIENTS[["site"]], ILL),
        "OrdinalEncoder (step 'ordinalencoder') with ValueError: Found unknown categories ['",
        "OrdinalEncoder(categories=[...])",
        make_pipeline(OrdinalEncoder(categories=LEVELS), logistic),
    ),
    "a level without a number": (
        make_pipeline(OrdinalEncoder(categories=LEVELS), CategoricalNB()),
        (PATIENTS[["site"]], ILL),
        "CategoricalNB (step 'categoricalnb') with IndexError: index 4 is out of bounds for axis",
        "CategoricalNB(min_categories=...)",
        make_pipeline(OrdinalEncoder(categories=LEVELS), CategoricalNB(min_categories=5)),
    ),
    "a column of its own per level": (
        _dummies(FunctionTransformer(pd.get_dummies)),
        (PATIENTS, ILL),
        "LogisticRegression (step 'logisticregression') with ValueError: X has ",
        "OneHotEncoder(handle_unknown='ignore') instead of pandas.get_dummies",
        _dummies(OneHotEncoder(handle_unknown="ignore")),
    ),
    "fewer rows of a class than folds": (
        CalibratedClassifierCV(logistic, cv=4),
        (ROWS, RARE_CLASS),
        "CalibratedClassifierCV with ValueError: Requesting 4-fold cross-validation",
        "for the folds of CalibratedClassifierCV or the rows that",
        CalibratedClassifierCV(logistic, cv=2),
    ),
    "a fold without a class": (
        make_pipeline(StandardScaler(), CalibratedClassifierCV(logistic, cv=KFold(2))),
        (ROWS, RARE_CLASS),
        "LogisticRegression (step 'calibratedclassifiercv__estimator') with ValueError: ",
        "use fewer and stratified folds, such as cv=2",
        make_pipeline(StandardScaler(), CalibratedClassifierCV(logistic, cv=2)),
    ),
    "rows set aside": (
        SGDClassifier(early_stopping=True, random_state=0),
        (ROWS, np.where(np.arange(N) < 3, "ill", "well")),
        "SGDClassifier with ValueError: The least populated class",
        "or the rows that SGDClassifier sets aside",
        SGDClassifier(early_stopping=False, random_state=0),
    ),
    "a search whose fits all fail": (
        GridSearchCV(SGDClassifier(early_stopping=True, random_state=0), {"alpha": [0.01]}, cv=2),
        (ROWS, RARE_CLASS),
        "GridSearchCV with ValueError: ValueError: The least populated class",
        "early_stopping=False",
        GridSearchCV(SGDClassifier(early_stopping=False, random_state=0), {"alpha": [0.01]}, cv=2),
    ),
    "a division by zero": (
        make_pipeline(FunctionTransformer(_standardized), logistic),
        (RARE_VALUE, ILL),
        "LogisticRegression (step 'logisticregression') with ValueError: Input X contains NaN",
        "put SimpleImputer(keep_empty_features=True) before LogisticRegression, in the pipeline",
        make_pipeline(FunctionTransformer(_standardized), SimpleImputer(keep_empty_features=True), logistic),
    ),
    "the logarithm of zero": (
        make_pipeline(FunctionTransformer(_logarithm), logistic),
        (RARE_VALUE, ILL),
        "LogisticRegression (step 'logisticregression') with ValueError: Input X contains infinity",
        "numpy.log1p for numpy.log",
        make_pipeline(FunctionTransformer(np.arcsinh), logistic),
    ),
    "collinear columns": (
        make_pipeline(StandardScaler(), LinearDiscriminantAnalysis(solver="eigen")),
        (RARE_VALUE, ILL),
        "LinearDiscriminantAnalysis (step 'lineardiscriminantanalysis') with LinAlgError: ",
        "LinearDiscriminantAnalysis(solver='lsqr', shrinkage='auto')",
        make_pipeline(StandardScaler(), LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")),
    ),
    "no column left": (
        make_pipeline(VarianceThreshold(), KNeighborsClassifier()),
        (RARE_VALUE[:, 3:], ILL),
        "VarianceThreshold (step 'variancethreshold') with ValueError: No feature in X meets the variance thr",
        "let them keep a fixed number",
        make_pipeline(MinMaxScaler(), KNeighborsClassifier()),
    ),
    "an error of the user's own": (
        Centered(),
        (RARE_VALUE, ILL),
        "Centered with RuntimeError: no one has the marker. Training sets lack some rows",
        "sklearn.base.clone(classifier).fit(*sklearn.utils.resample(X, y))",
        Centered(careful=True),
    ),
}
CALL = {"methods": "bootstrap-percentile", "n_resamples": 40, "rng": 0}


@pytest.mark.parametrize(
    "name",
    [
        name if place % 8 == 0 else pytest.param(name, marks=pytest.mark.slow)
        for place, name in enumerate(CASES)
    ],
)
def test_what_fails_is_named_with_a_remedy_that_helps(name):
    failing, (X, y), message, remedy, cured = CASES[name]
    with pytest.raises(FailedRefitsError, match=r"^\d+ of 40 refits on bootstrap draws failed") as caught:
        compare_intervals(clone(failing).fit(X, y), X, y, **CALL)
    assert message in str(caught.value)
    assert remedy in caught.value.remedy
    assert "\n" not in str(caught.value)
    table = compare_intervals(clone(cured).fit(X, y), X, y, **CALL)
    assert not table.rows[0].degenerate
