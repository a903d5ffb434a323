"""Refits that fail: in which step, with which message, and what helps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from cudbound.basis.exceptions import FailedRefitsError

#: What helps, by what the name of the step and its message match; the first one counts.
REMEDIES = (
    (r"must return", ""),  # the message itself says what helps
    (
        r"^OrdinalEncoder: .*unknown categor",
        "A training set may lack a rare level: list all levels in OrdinalEncoder(categories=[...]), or pass "
        "handle_unknown='use_encoded_value', unknown_value=-1.",
    ),
    (
        r"^CategoricalNB: .*out of bounds",
        "A training set may lack a rare level: pass CategoricalNB(min_categories=...), the numbers of levels.",
    ),
    (
        r"^MissingIndicator: ",
        "A training set may have no missing value in a column: use {step}(error_on_new=False).",
    ),
    (
        r"^QuadraticDiscriminantAnalysis: ",
        "A class may have too few distinct rows in a training set: use {step}(solver='eigen', shrinkage=0.1), or fewer "
        "features.",
    ),
    (
        r"^LinearDiscriminantAnalysis: ",
        "Columns may be collinear in a training set: use {step}(solver='lsqr', shrinkage='auto').",
    ),
    (
        r"unknown categor|unseen label|not in index",
        "A training set may lack a rare level: use an encoder that accepts unknown levels, such as "
        "OneHotEncoder(handle_unknown='ignore'), or merge rare levels before the fit.",
    ),
    (
        r"[Nn]egative values",
        "{step} needs numbers of at least 0: scale with MinMaxScaler(clip=True), and list all levels in "
        "OrdinalEncoder(categories=[...]).",
    ),
    (r"same order", "Pass the columns in the order of the fit, such as X_test[X.columns]."),
    (
        r"features, but|feature names|columns are missing",
        "Rows that lack a level have fewer columns: use OneHotEncoder(handle_unknown='ignore') instead of "
        "pandas.get_dummies, and the same columns for all rows.",
    ),
    (
        r"not fitted yet",
        "A part that was fitted in advance is not fitted in refits: use a setting of {step} that fits it, such as "
        "cv=5.",
    ),
    (
        r"'groups' parameter should not be None|routing is disabled|enable_metadata_routing",
        "Pass groups= or sample_weight=, and sklearn.set_config(enable_metadata_routing=True) before the fit, so that "
        "they reach {search}.",
    ),
    (
        r"explicitly set as requested",
        "Set for every step whether it takes them, such as {step}().set_fit_request(sample_weight=True).",
    ),
    (
        r"early_stopping|[Ll]east populated class|test_size =|train_size =",
        "{step} sets some rows aside, and a training set may have too few of a class: use early_stopping=False if it "
        "has that parameter, or fewer folds inside, such as cv=2.",
    ),
    (
        r"n_splits|-fold cross-validation|number of (splits|folds)|LeaveOneOut|test splits",
        "A training set may have fewer rows of a class, or fewer groups, than {search} has folds: use fewer, such as "
        "cv=2.",
    ),
    (
        r"(2|two|one|1) class|one label|single class",
        "A part of a training set has rows of one class only: use fewer and stratified folds in {search}, such as "
        "cv=2.",
    ),
    (
        r"Invalid classes",
        "A training set may lack a rare class: merge such classes with others, or omit their rows.",
    ),
    (
        r"n_neighbors",
        "Some training sets have fewer rows than {step} needs neighbors: use fewer, such as n_neighbors=3, or in "
        "SMOTE k_neighbors=1.",
    ),
    (
        r"NaN|missing values",
        "A column may be empty in a training set, or lack values only in test cases: put "
        "SimpleImputer(keep_empty_features=True) before {step}, in the pipeline.",
    ),
    (
        r"infinity|infs",
        "A step before {step} gives numbers that are not finite in a training set: let it give finite ones, such as "
        "numpy.log1p for numpy.log.",
    ),
    (
        r"limits of the knots",
        "Values may lie beyond those of a training set: use {step}(extrapolation='linear').",
    ),
    (
        r"feature\(s\)|No feature",
        "The steps before {step} leave no column in a training set: let them keep a fixed number, such as "
        "SelectKBest(k=3).",
    ),
    (r"n_components", "Use fewer components in {step}, such as n_components=2."),
    (
        r"[Ss]ingular|full rank|positive definite|converge|separation",
        "Use a penalty on the coefficients, such as that of LogisticRegression, fewer features, or, if the solver did "
        "not converge, standardized features and a larger max_iter.",
    ),
)
#: What is said of any other failure in rows drawn anew.
LOOK = (
    "Training sets lack some rows and may repeat others: {step} must accept that. To look into it, run "
    "sklearn.base.clone(classifier).fit(*sklearn.utils.resample(X, y))."
)


@dataclass(frozen=True)
class FailedRefit:
    """A refit that failed.

    Attributes
    ----------
    cause : Exception
    step : str
        Class of the innermost part of the classifier in which it failed.
    path : str
        Name of that part among the parameters of the classifier; empty for the classifier itself, or if several parts
        have that class.
    search : str
        Class of the part with folds of its own, the innermost around that step; empty without one.
    learner : str
        Name of the classifier among several.
    """

    cause: Exception
    step: str
    path: str = ""
    search: str = ""
    learner: str = ""

    @classmethod
    def of(cls, error: Exception, estimator: Any) -> FailedRefit:
        """Return where a fit or prediction of an estimator failed, from the traceback of the error."""
        from cudbound.adapters.parts import parameters_of

        classes = {type(part).__name__ for part in parameters_of(estimator)}
        touched = list(_objects_in(error))
        around = [part for part in touched if type(part).__name__ in classes] or touched[-1:]
        step = type(around[-1] if around else estimator).__name__
        names = [
            name for name, part in estimator.get_params(deep=True).items() if type(part).__name__ == step
        ]
        folds = [type(part).__name__ for part in around if getattr(part, "cv", "prefit") != "prefit"]
        path = names[0] if len(names) == 1 and step != type(estimator).__name__ else ""
        return cls(error, step, path, folds[-1] if folds else "")

    @property
    def message(self) -> str:
        """Where it failed, and with which error."""
        # a search whose fits all fail quotes their tracebacks
        text = str(self.cause).rstrip()
        text = text.rpartition("\n")[2] if "Traceback (most recent" in text else text
        place = f"{self.step} (step {self.path!r})" if self.path else self.step
        return f"{place} with {type(self.cause).__name__}: {' '.join(text.split()).rstrip('.')}."

    def remedy(self, otherwise: str = LOOK) -> str:
        """Return what helps, in full sentences, and `otherwise` if that is not known."""
        text = f"{self.step}: {self.cause}"
        advice = next((advice for pattern, advice in REMEDIES if re.search(pattern, text)), otherwise)
        return advice.format(step=self.step, search=self.search or "the classifier")


#: Failed refits, by number.
Failures = dict[int, FailedRefit]


def _objects_in(error: Exception) -> Iterator[Any]:
    """Yield the objects with a fit in whose methods an error arose, outermost first."""
    traceback = error.__traceback__
    while traceback is not None:
        part = traceback.tb_frame.f_locals.get("self")
        if hasattr(part, "fit"):
            yield part
        traceback = traceback.tb_next


def failed_refits_error(
    failures: Failures, n_refits: int, each: str = "split", limit: str = ""
) -> FailedRefitsError:
    """Return the error for refits that failed.

    Parameters
    ----------
    failures : dict of int to FailedRefit
        By number among all refits.
    n_refits : int
    each : {"split", "draw"}, default="split"
        What a refit is fitted to.
    limit : str, default=""
        The share that may fail, in words.
    """
    number = min(failures)
    failure = failures[number]
    kind = " on bootstrap draws" if each == "draw" else ""
    learner = f" of {failure.learner!r}" if failure.learner else ""
    where = f"the first on {each} {number + 1} in {failure.message}"
    fact = f"{len(failures)} of {n_refits} refits{kind}{learner} failed{limit}, {where}"
    return FailedRefitsError(fact, failure.remedy())


@contextmanager
def naming_the_step(estimator: Any, what: str) -> Iterator[None]:
    """Raise FailedRefitsError, with the step and what helps, if a fit or prediction of `what` fails."""
    try:
        yield
    except Warning:  # the caller has turned it into an error
        raise
    except Exception as error:
        failure = FailedRefit.of(error, estimator)
        fact = f"{what[0].upper()}{what[1:]} failed in {failure.message}"
        # a single fit to all rows is not one to rows drawn anew
        raise FailedRefitsError(fact, failure.remedy(otherwise="")) from error
