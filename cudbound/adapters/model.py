"""The fitted classifier of one call: facts on its steps, its additive model, or why there is none."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.cross_decomposition import CCA, PLSSVD, PLSCanonical, PLSRegression
from sklearn.dummy import DummyClassifier
from sklearn.feature_selection import SelectorMixin, VarianceThreshold
from sklearn.frozen import FrozenEstimator
from sklearn.utils import get_tags

from cudbound.adapters import additive_model
from cudbound.adapters.parts import parameters_of, unwrap
from cudbound.basis import exceptions
from cudbound.basis.calls import warn
from cudbound.basis.sample import Sample, copied, dense
from cudbound.estimators.two_class import StumpBasis
from cudbound.problem.coordinates import design_rank
from cudbound.problem.problem import AdditiveModel
from cudbound.records import Design

#: Beyond so many values the rank is not computed: a sparse matrix of words, written out, would fill the memory.
MOST_VALUES = 20_000_000
#: Steps of scikit-learn that use the labels, whatever their tags say.
LABEL_USERS = (SelectorMixin, CCA, PLSCanonical, PLSRegression, PLSSVD)


@dataclass(frozen=True, eq=False)
class FittedFacts:
    """Facts on a fitted classifier and its training rows.

    Attributes
    ----------
    design : Design
        The matrix that reached the classifier. Its rank is nan if the classifier has no linear form, or if the matrix
        has more than `MOST_VALUES` values.
    frozen : tuple of str
        The parts that a refit does not fit again, such as ("SelectFromModel(prefit=True)",).
    chosen_by : tuple of str
        The searches that chose parameters on these rows, outermost first, such as ("GridSearchCV",).
    reads_labels : str
        The class of the first step before the classifier that uses the labels, or may; empty if none does.
    label_use : {"uses", "may use", ""}
        Whether it does, see `label_use`.
    n_columns : int
        Columns of the matrix that reaches the classifier, or that step; 0 if the classifier ignores them.
    """

    design: Design
    frozen: tuple[str, ...]
    chosen_by: tuple[str, ...]
    reads_labels: str
    label_use: str
    n_columns: int


def facts_of(estimator: Any, sample: Sample) -> FittedFacts:
    """Return facts on a fitted classifier and its training rows.

    Parameters
    ----------
    estimator : object
        Fitted classifier, alone or inside pipelines, searches, thresholds and frozen estimators.
    sample : Sample
        The rows that it was fitted to; they are not changed.

    Examples
    --------
    >>> from sklearn.feature_selection import SelectKBest
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 5.0], [2.0, 1.0]], [0, 0, 1, 1]
    >>> clf = make_pipeline(SelectKBest(k=1), LogisticRegression()).fit(X, y)
    >>> facts = facts_of(clf, Sample.of(clf, X, y))
    >>> facts.design.rank, facts.n_columns, facts.reads_labels
    (2.0, 2, 'SelectKBest')
    """
    parts, X, groups, reads_labels, use = unwrap(estimator), sample.X, sample.groups, "", ""
    reaching: Any = ()  # the step that uses the labels, or else the classifier
    for step in parts.steps:
        if not use and (use := label_use(step)):
            reads_labels, reaching = type(step).__name__, X
        if hasattr(step, "transform"):
            with warnings.catch_warnings(action="ignore"):
                X = step.transform(copied(X))
    shape = np.shape(reaching if use else X)
    ignored = len(shape) != 2 or isinstance(parts.classifier, DummyClassifier)
    frozen: list[str] = []
    for part in (part for root in parts.roots for part in parameters_of(root)):
        name = type(part).__name__
        if isinstance(part, FrozenEstimator):
            frozen.append(f"{name}({type(part.estimator).__name__})")
        elif getattr(part, "prefit", None) is True:
            frozen.append(f"{name}(prefit=True)")
        elif isinstance(cv := getattr(part, "cv", None), str) and cv == "prefit":
            frozen.append(f"{name}(cv='prefit')")
        elif isinstance(part, StumpBasis) or is_own_clone(part):
            frozen.append(name)
    n_groups = None if groups is None else groups.n_groups
    # one vector of coefficients, one row of them, or one for each class
    n_coefficients = np.shape(getattr(parts.classifier, "coef_", ()))[-1:]
    rank = np.nan  # of a classifier that is not linear in these columns
    if len(np.shape(X)) == 2 and n_coefficients == np.shape(X)[1:] and np.size(X) <= MOST_VALUES:
        rows = np.asarray(dense(X), dtype=np.float64)
        ones = np.ones((len(rows), int(getattr(parts.classifier, "fit_intercept", True))))
        rank = float(design_rank(np.column_stack([ones, rows])))
    design = Design(sample.n_samples, rank, n_groups)
    unchanged = tuple(dict.fromkeys(frozen))
    return FittedFacts(design, unchanged, parts.chosen_by, reads_labels, use, 0 if ignored else int(shape[1]))


def label_use(step: Any) -> str:
    """Return "uses" for a step that uses the labels, "may use" if that is unknown, and otherwise an empty text."""
    if step is None or isinstance(step, str | StumpBasis) or is_own_clone(step):  # no refit changes it
        return ""
    for name in ("steps", "transformers", "transformer_list"):
        if hasattr(step, name):
            return next(filter(None, (label_use(named[1]) for named in getattr(step, name))), "")
    if not type(step).__module__.startswith("sklearn."):
        return "may use"
    selects = isinstance(step, LABEL_USERS) and not isinstance(step, VarianceThreshold)
    return "uses" if selects or get_tags(step).target_tags.required else ""


def is_own_clone(part: Any) -> bool:
    """Whether cloning a part, as every refit does, returns the fitted one."""
    clone_method = getattr(type(part), "__sklearn_clone__", BaseEstimator.__sklearn_clone__)
    return clone_method is not BaseEstimator.__sklearn_clone__ and clone(part) is part


@dataclass(frozen=True, eq=False)
class Model:
    """Facts on a fitted classifier.

    Attributes
    ----------
    additive : AdditiveModel or None
        None if there is none, or if no requested method can use it.
    facts : FittedFacts
    why_none : str
        Why there is no additive model, in a few words; empty if there is one, or if it was not needed.
    cautions : tuple of CudboundWarning
        That there are many features for the rows.
    """

    additive: AdditiveModel | None
    facts: FittedFacts
    why_none: str = ""
    cautions: tuple[exceptions.CudboundWarning, ...] = ()

    @classmethod
    def of(
        cls,
        sample: Sample,
        *,
        needed: bool = False,
        named: bool = False,
        refits: bool = False,
        polish: bool = False,
        native: bool = True,
        result: str = "interval",
    ) -> Model:
        """Return facts on a classifier fitted to a training set, as far as they are used.

        The CUD bound treats the steps before the classifier, and choices inside it, as fixed. If they depend on the
        labels, the bound ignores that, so there is a model only if a method that needs it was requested by name. The
        model also shows whether the classifier was fitted to other rows.

        Parameters
        ----------
        sample : Sample
            With its fitted classifier.
        needed : bool, default=False
            Whether a method needs the additive model, or the rank of its matrix.
        named : bool, default=False
            Whether a method that needs the model was requested by name, so a missing model is an error.
        refits : bool, default=False
            Whether the classifier is refitted.
        polish : bool, default=False
        native : bool, default=True
            Whether the compiled solver will be used.
        result : {"interval", "estimate"}, default="interval"
            What the classifier is used for.

        Raises
        ------
        UnsupportedEstimatorError, UnsupportedProblemError, NotMinimizerError
            If a method that needs the model was requested by name, and there is none.

        Warns
        -----
        NotResampledWarning, NotMinimizerWarning
        """
        estimator = sample.estimator
        facts = facts_of(estimator, sample)
        without = cls(None, facts, cautions=many_features(facts, result))
        if facts.frozen and refits:
            warn(
                exceptions.NotResampledWarning(
                    f"Refits do not fit {', '.join(facts.frozen)} again: the resampling does not account for a "
                    "selection made on these rows before, and the interval may be too low. Put the unfitted step into "
                    "the pipeline."
                )
            )
        if not needed:
            return without
        n_classes = len(sample.classes)
        if n_classes > 2 and named:
            raise exceptions.UnsupportedEstimatorError(
                f"The CUD bound is for the boundary between two classes, but there are {n_classes}.",
                "For the error of all classes, drop 'cud' and 'aci' from the methods: the others support it. Or fit "
                "one classifier per class against the rest, such as clf.fit(X, y == 'a').",
            )
        unseen = ""
        if n_classes > 2:
            unseen = f"the bound needs two classes, not {n_classes}"
        elif facts.reads_labels:
            unseen = f"the bound treats {facts.reads_labels}, which {facts.label_use} the labels, as fixed"
        elif facts.chosen_by:
            unseen = f"the bound treats the choice of {' and '.join(facts.chosen_by)} on these data as fixed"
        if unseen and not named:
            return replace(without, why_none=unseen)
        try:
            model = additive_model(sample, polish=polish, native=native)
        except exceptions.StatedError as error:
            if named:
                raise
            if isinstance(error, exceptions.NotMinimizerError) and not np.isnan(error.residual):
                warn(exceptions.NotMinimizerWarning(error.residual))
            return replace(without, why_none=reason_of(error, estimator))
        if facts.reads_labels:
            warn(
                exceptions.NotResampledWarning(
                    f"{facts.reads_labels} {facts.label_use} the labels before the classifier does. The CUD bound "
                    "treats this step as fixed and ignores the selection. With 4 of 200 noise features selected, it "
                    "covered the error in 20 of 100 data sets. Use an interval based on refits, such as 'two-center'."
                )
            )
        return replace(without, additive=model)


def reason_of(error: exceptions.StatedError, estimator: Any) -> str:
    """Return why a classifier has no additive model for the search, in a few words.

    Parameters
    ----------
    error : StatedError
        The error of `cudbound.adapters.to_additive_model`.
    estimator : object
    """
    if isinstance(error, exceptions.UnsupportedProblemError):
        return error.why
    if isinstance(error, exceptions.NoMinimizerError):
        return "its loss has no minimizer on separable data"
    if isinstance(error, exceptions.NotMinimizerError):
        return f"the fit does not minimize its loss (residual {error.residual:.2g})"
    classifier = unwrap(estimator).classifier
    missing = "convex loss" if hasattr(classifier, "coef_") else "linear form"
    return f"no {missing} known for {type(classifier).__name__}"


#: Above this share of the units a rank is large: refits then differ much from the classifier fitted to all rows.
MANY = 0.5
#: What many features mean for a result.
MANY_FEATURES = {
    "interval": "do not rely on intervals that use the training error, except two-center, which allows for that",
    "estimate": "do not rely on estimates that use the training error",
    "comparison": "refits differ greatly",
}


def many_features(facts: FittedFacts, result: str = "interval") -> tuple[exceptions.CudboundWarning, ...]:
    """Return a caution if a classifier has many features for its training rows.

    Parameters
    ----------
    facts : FittedFacts
    result : {"interval", "estimate", "comparison"}, default="interval"
        What the classifier is used for.
    """
    design = facts.design
    n_units = design.n_groups or design.n_rows
    large = design.rank > MANY * n_units  # not if it is unknown
    if not large and facts.n_columns < n_units:
        return ()
    rank = f" (rank of the design {design.rank:.0f})" if large else ""
    units = f"{design.n_rows} rows" if design.n_groups is None else f"{design.n_groups} groups of rows"
    message = (
        f"The classifier has {facts.n_columns} features{rank} for {units}. They can fit many labels: "
        f"{MANY_FEATURES[result]}; use fewer features or a penalty, or report this caution with the {result}."
    )
    return (exceptions.ManyFeaturesWarning(message),)
