"""Refits that fail: in which step, with which message, and what helps."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from cudbound.basis.exceptions import FailedRefitsError

#: What helps, by what the name of the step and its message match; the first one counts.
REMEDIES = (
    (r"must return", ""),  # the message itself says what helps
    (
        r"unknown categor|unseen label|not in index|CategoricalNB: .*out of bounds|Invalid classes",
        "A training set may lack a rare level or class: use an encoder that accepts unknown levels, such as "
        "OneHotEncoder(handle_unknown='ignore'), list all levels in OrdinalEncoder(categories=[...]), tell a "
        "classifier of numbered levels how many there are, as in CategoricalNB(min_categories=...), or merge rare "
        "levels before the fit.",
    ),
    (r"same order", "Pass the columns in the order of the fit, such as X_test[X.columns]."),
    (
        r"features, but|feature names|columns are missing",
        "Rows that lack a level have fewer columns: use OneHotEncoder(handle_unknown='ignore') instead of "
        "pandas.get_dummies, and the same columns for all rows.",
    ),
    (
        r"'groups' parameter should not be None|routing is disabled|enable_metadata_routing|set as requested",
        "Pass groups= or sample_weight=, and before the fit sklearn.set_config(enable_metadata_routing=True), so that "
        "they reach {search}, and let every step request them or not: {step}().set_fit_request(sample_weight=True).",
    ),
    (
        r"early_stopping|[Ll]east populated class|test_size =|train_size =|n_splits|-fold cross-validation"
        r"|number of (splits|folds)|LeaveOneOut|test splits|(2|two|one|1) class|one label|single class",
        "A training set may have too few rows of a class, or too few groups, for the folds of {search} or the rows "
        "that {step} sets aside: use fewer and stratified folds, such as cv=2, and early_stopping=False.",
    ),
    (
        r"NaN|missing values",
        "A column may be empty in a training set, or lack values only in test cases: put "
        "SimpleImputer(keep_empty_features=True) before {step}, in the pipeline.",
    ),
    (
        r"infinity|infs",
        "Use steps before {step} that give finite numbers, such as numpy.log1p for numpy.log.",
    ),
    (
        r"feature\(s\)|No feature|n_components",
        "The steps before {step} may leave too few columns in a training set: let them keep a fixed number, such as "
        "SelectKBest(k=3), and use fewer components.",
    ),
    (
        r"[Ss]ingular|full rank|positive definite|converge|separation",
        "Columns may be collinear in a training set, or a class may have too few distinct rows: use fewer features, or "
        "a penalty or shrinkage, such as that of LogisticRegression or of LinearDiscriminantAnalysis(solver='lsqr', "
        "shrinkage='auto'); if the solver did not converge, also standardize the features.",
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
        # the objects with a fit in whose methods the error arose, outermost first
        selves = (frame.f_locals.get("self") for frame, _ in traceback.walk_tb(error.__traceback__))
        touched = [part for part in selves if hasattr(part, "fit")]
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
