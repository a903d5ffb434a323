"""Interval methods: one file per family, one registry, one interface (`cudbound.intervals.method.Method`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from cudbound.basis.exceptions import ParameterError
from cudbound.basis.method_card import RequestedMethods, find_named
from cudbound.bound.cud_bound import Bound
from cudbound.intervals.at_632 import AT_632, NORMAL_632, NORMAL_632_PLUS, PLUS_T_632
from cudbound.intervals.auc_at_estimate import AUC_ON_TEST_SET, FOR_AUC
from cudbound.intervals.binomial import LEFT_OUT, ON_TEST_SET, TEST_SET_T, TRAINING_NORMAL
from cudbound.intervals.bootstrap_cv import (
    BBC_CV,
    BBC_F,
    BCCVP,
    BCCVP_BR,
    RemovedCaseErrors,
    TunedFolds,
    TunedLosses,
)
from cudbound.intervals.bootstrap_percentile import (
    BIAS_CORRECTED,
    CLINICAL,
    OUT_OF_BAG_PERCENTILE,
    PERCENTILE,
)
from cudbound.intervals.comparisons import AUC_DIFFERENCE, INDEPENDENT_TEST_SETS, MCNEMAR
from cudbound.intervals.cross_validation import (
    AUSTERN_ZHOU,
    NESTED_CV,
    OF_FOLDS,
    REPEATED_K_FOLD_T,
    NestedLosses,
    ReplacementErrors,
)
from cudbound.intervals.laber_murphy import ACI, CUD, BoundaryDeviations
from cudbound.intervals.method import Method, OwnInterval, compute_interval, own_method
from cudbound.intervals.random_splits import OF_SPLITS, HalfSplitLosses, ReplicateLosses
from cudbound.intervals.two_center import POOLED, TWO_CENTER

__all__ = [
    "GROUPS",
    "METHODS",
    "BoundaryDeviations",
    "HalfSplitLosses",
    "Method",
    "NestedLosses",
    "RemovedCaseErrors",
    "ReplacementErrors",
    "ReplicateLosses",
    "TunedFolds",
    "TunedLosses",
    "compute_interval",
    "find_comparisons",
    "find_methods",
]

#: What Laber and Murphy (2008), section 5, compare.
PAPER = (CUD, PERCENTILE, BIAS_CORRECTED, *AT_632)

#: For the error of the classifier fitted to this training set.
CONDITIONAL = (
    *(TWO_CENTER, *PAPER, NORMAL_632, NORMAL_632_PLUS, ACI, *CLINICAL),
    *(*LEFT_OUT, BCCVP, BCCVP_BR, *ON_TEST_SET),
)

#: For the expected error of the learning algorithm.
ALGORITHM = (*OF_SPLITS, *OF_FOLDS, NESTED_CV, AUSTERN_ZHOU)

#: For the error of tuning and fitting, from a fitted search.
TUNED = (BBC_CV, BBC_F)

#: For the AUC or the Brier score alone; some of those above serve them too.
PROBABILITY = (OUT_OF_BAG_PERCENTILE, *FOR_AUC, PLUS_T_632, *AUC_ON_TEST_SET, TEST_SET_T)

#: The default method for comparing two classifiers, for each metric that can be compared.
DEFAULT_COMPARISONS = {"error": REPEATED_K_FOLD_T.name, "auc": AUC_DIFFERENCE.name}

#: Every method by its name, in the order of the table. The normal interval on the training error is in no group: it is
#: far too low with few rows.
METHODS: Mapping[str, Method] = MappingProxyType(
    {
        method.name: method
        for method in (
            *(*CONDITIONAL, TRAINING_NORMAL, POOLED, *ALGORITHM, *TUNED, *PROBABILITY),
            *(
                MCNEMAR,
                INDEPENDENT_TEST_SETS,
                AUC_DIFFERENCE,
            ),  # only for a difference, as are some of those above
        )
    }
)

#: Names that stand for several intervals. "recommended": the interval to use, the bound beside it, and the interval at
#: the .632 estimate that most often reaches its level; for the AUC and the Brier score, out-of-bag
#: percentiles. Members that do not support the metric are left out.
GROUPS: dict[str, tuple[str, ...]] = {
    "recommended": ("two-center", "cud", "langford-binomial", "out-of-bag-percentile"),
    "new-cases": ("two-center", "test-set-clopper-pearson", "test-set-newcombe", "test-set-t", "pooled"),
} | {
    group: tuple(method.name for method in methods)
    for group, methods in {
        "paper": PAPER,
        "clinical": CLINICAL,
        "conditional": CONDITIONAL,
        "algorithm": ALGORITHM,
        "tuned": TUNED,
        "probability": PROBABILITY,
        "all": (*CONDITIONAL, *ALGORITHM, *PROBABILITY),
    }.items()
}

#: A method or a group of methods, with or without options; or a user-defined function.
AskedMethod: TypeAlias = str | Method | OwnInterval | tuple[str | Method, Mapping[str, Any] | Bound]


def find_methods(
    methods: Any, user_methods: Iterable[Method] = (), argument: str = "methods"
) -> RequestedMethods[Method]:
    """Return the requested interval methods, see `cudbound.basis.method_card.find_named`.

    `user_methods` are user-defined methods, which can also be requested by name; messages name the `argument`.

    Raises
    ------
    ValueError
        If a name is not registered, belongs to a test without an interval, or the list is empty; the message lists the
        names.
    """
    methods_by_name = {**METHODS, **{method.name: method for method in user_methods}}

    names = [name for name, method in methods_by_name.items() if method.gives_interval]
    rule = f"one of the groups {sorted(GROUPS)} or a list of names from {names}"
    requested = find_named(methods, methods_by_name, GROUPS, rule, _of_function, argument)
    for method in requested.methods:
        if not method.gives_interval:
            hint = f" {method.name!r} compares two classifiers; use compare_learners."
            raise ParameterError(argument, "intervals for one classifier", method.name, hint)
    return requested


def _of_function(interval: OwnInterval) -> Method:
    return own_method(getattr(interval, "__name__", type(interval).__name__), interval)


def find_comparisons(methods: Any, user_methods: Iterable[Method] = ()) -> RequestedMethods[Method]:
    """Return the requested comparison methods, as `find_methods` does for intervals.

    Raises
    ------
    ValueError
        If a name is not registered, belongs to a method that gives only an interval, or the list is empty; the message
        lists the names.
    """
    every = (*METHODS.values(), *user_methods)
    comparisons = {method.name: method for method in every if method.compares}
    return find_named(methods, comparisons, {"all": comparisons}, f"'all' or one of {list(comparisons)}")
