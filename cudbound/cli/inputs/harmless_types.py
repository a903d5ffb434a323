"""What a saved model may hold beyond what skops trusts, type by type, and what is made harmless once it is loaded.

skops makes an object of a type without calling its constructor, and sets its attributes to what the file says. So a
type is harmless if neither making an object of it nor using one, whatever the file puts into its attributes, can run
code from the file or read memory that is not its own. This was looked at for each type below, in NumPy 2, SciPy 1.17,
scikit-learn 1.9 and skops 0.16:

- ``numpy.dtype`` (`SimpleImputer`): how numbers are stored. It is read from the header of an empty array, which NumPy
  parses as a literal and with pickles switched off.
- ``BSpline`` and the ``asarray`` it keeps (`SplineTransformer`): ``asarray`` makes an array of what it is given. The
  compiled code of a spline trusts that its knots, coefficients and degree fit together, which a file need not keep to:
  `made_harmless` calls the constructor of each, which checks them.
- ``IterativeImputer`` and the triplets it keeps: an estimator like all others of scikit-learn, which skops trusts. It
  is missing there only since scikit-learn has it behind a switch.
- Splitters of `GridSearchCV` and the like: they draw numbers of rows.
- Scorers of these searches: they call a score function, which must be known itself, or `score`. A search makes its
  scorer anew, from the name of the score, when it is fitted; `made_harmless` refuses anything but names.
- Functions that score or select features: they compute numbers from rows and labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_SPLITTERS = ("KFold", "RepeatedKFold", "RepeatedStratifiedKFold", "StratifiedKFold")
_SCORES = ("accuracy_score", "balanced_accuracy_score", "brier_score_loss", "f1_score", "log_loss")
_SELECTIONS = ("chi2", "f_classif")

HARMLESS = frozenset(
    {
        "numpy.dtype",
        "scipy.interpolate._bsplines.BSpline",
        "scipy._lib.array_api_compat.numpy._aliases.asarray",
        "sklearn.impute._iterative.IterativeImputer",
        "sklearn.impute._iterative._ImputerTriplet",
        "sklearn.metrics._scorer._PassthroughScorer",
        "sklearn.metrics._scorer._Scorer",
        "sklearn.metrics._ranking.roc_auc_score",
        *(f"sklearn.model_selection._split.{name}" for name in _SPLITTERS),
        *(f"sklearn.metrics._classification.{name}" for name in _SCORES),
        *(f"sklearn.feature_selection._univariate_selection.{name}" for name in _SELECTIONS),
    }
)

#: Parameters that make a refit print, start processes, have a text evaluated by joblib, or read pickles from a folder
#: that the file names; and what they are set to.
QUIET = {"memory": None, "n_jobs": None, "pre_dispatch": "2*n_jobs", "verbose": False}


def made_harmless(estimator: Any) -> Any:
    """Return a classifier as it was loaded, checked where its types alone do not make it harmless.

    Parameters
    ----------
    estimator : object
        What `skops.io.loads` returned.

    Raises
    ------
    ValueError
        If it is no classifier, a spline does not fit together, or a search would set parameters of `QUIET`, try
        values that are not plain numbers and words, or score by anything but a name.
    """
    from scipy.interpolate import BSpline
    from sklearn.base import BaseEstimator, is_classifier
    from sklearn.model_selection import GridSearchCV, RandomizedSearchCV

    from cudbound.cli.inputs.model_parameters import MAX_STEPS, check_parameters

    if not isinstance(estimator, BaseEstimator) or not is_classifier(estimator):
        raise ValueError(f"it holds a {type(estimator).__name__}, which is not a classifier")
    for part in parts_of(estimator):
        if isinstance(part, BSpline):
            if part.axis != 0:
                raise ValueError("it holds a spline along another axis than the first")
            BSpline.__init__(part, part.t, part.c, part.k, part.extrapolate)
        if isinstance(part, GridSearchCV | RandomizedSearchCV):
            _check_search(part)
        if isinstance(part, BaseEstimator):
            own = part.get_params(deep=False)
            part.set_params(**{name: value for name, value in QUIET.items() if name in own})
            if own.get("max_iter") == -1:  # as many steps as it needs, which may be without end
                part.set_params(max_iter=MAX_STEPS)
        elif hasattr(part, "n_repeats"):  # a splitter
            check_parameters(part)
    return estimator


def parts_of(value: Any) -> Iterator[Any]:
    """Yield an object and all that it holds, each once, whatever it is held by."""
    import numpy as np

    seen: dict[int, Any] = {}  # the objects too: the number of one that is gone may become that of another
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen[id(one)] = one
        yield one
        if isinstance(one, Mapping):
            waiting.extend(one.values())
        elif isinstance(one, list | tuple | set | frozenset):
            waiting.extend(one)
        elif isinstance(one, np.ndarray) and one.dtype == object:
            waiting.extend(one.ravel().tolist())
        elif not isinstance(one, type):
            waiting.extend(getattr(one, "__dict__", {}).values())


def _check_search(search: Any) -> None:
    """Refuse a search whose refits would do more than fit its estimator with other numbers and words."""
    scoring = search.scoring
    names = scoring if isinstance(scoring, list | tuple) else [scoring]
    if not all(one is None or isinstance(one, str) for one in names):
        raise ValueError("it holds a search whose scoring is not the name of a score")
    if not isinstance(search.refit, bool | str):
        raise ValueError("it holds a search whose refit is neither true nor the name of a score")
    from cudbound.cli.inputs.model_parameters import grids_of, items

    for parameters in [*grids_of(search), *getattr(search, "cv_results_", {})["params"]]:
        for name, values in parameters.items():
            if name.rpartition("__")[2] in QUIET:
                raise ValueError(f"it holds a search over {name!r}, which is no parameter of a fit")
            if not all(map(_is_plain, items(values))):
                raise ValueError(f"it holds a search over {name!r} with values that are not numbers or words")


def _is_plain(value: Any) -> bool:
    import numpy as np

    if isinstance(value, tuple | list):  # such as the range of n-grams
        return all(map(_is_plain, value))
    return value is None or isinstance(value, bool | int | float | str | np.generic)
