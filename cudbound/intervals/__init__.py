"""Interval methods: one file per family, one registry, one interface (`cudbound.intervals.method.Method`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from cudbound.basis.exceptions import ParameterError
from cudbound.basis.method_card import Number, RequestedMethods, find_named
from cudbound.bound.cud_bound import Bound
from cudbound.intervals.aci import ACI, BoundaryDeviations
from cudbound.intervals.at_632 import KOHAVI, LANGFORD, MARTIN, YANG
from cudbound.intervals.auc_at_estimate import AUC_ON_TEST_SET, FOR_AUC
from cudbound.intervals.auc_difference import AUC_DIFFERENCE
from cudbound.intervals.austern_zhou import AUSTERN_ZHOU, ReplacementErrors
from cudbound.intervals.bbc_cv import BBC_CV, BBC_F, TunedFolds, TunedLosses
from cudbound.intervals.bccv import BCCVP, BCCVP_BR, RemovedCaseErrors
from cudbound.intervals.bootstrap_percentile import BIAS_CORRECTED, PERCENTILE
from cudbound.intervals.corrected import ABCLOC, LOCATION_SHIFTED, TWO_STAGE
from cudbound.intervals.cud import CUD
from cudbound.intervals.efron_tibshirani import NORMAL_632, NORMAL_632_PLUS, PLUS_T_632
from cudbound.intervals.five_by_two import FIVE_BY_TWO_F, FIVE_BY_TWO_T
from cudbound.intervals.grandvalet_bengio import GRANDVALET_BENGIO, HalfFoldLosses
from cudbound.intervals.independent_test_sets import INDEPENDENT_TEST_SETS
from cudbound.intervals.k_fold import BAYLE, K_FOLD_T, REPEATED_K_FOLD_T
from cudbound.intervals.left_out import BINOMIAL, OUT_OF_BAG_PERCENTILE
from cudbound.intervals.mcnemar import MCNEMAR
from cudbound.intervals.method import Method, compute_interval
from cudbound.intervals.nested_cv import NESTED_CV, NestedLosses
from cudbound.intervals.own import OwnInterval, own_method
from cudbound.intervals.pooled import POOLED
from cudbound.intervals.resampled_t import CONSERVATIVE_Z, RANDOM_SPLITS, HalfSplitLosses, ReplicateLosses
from cudbound.intervals.test_set import ON_TEST_SET, TEST_SET_T
from cudbound.intervals.training_error import TRAINING_NORMAL
from cudbound.intervals.two_center import TWO_CENTER
from cudbound.point_estimates import ESTIMATORS

__all__ = [
    "GROUPS",
    "METHODS",
    "RECORD_KINDS",
    "BoundaryDeviations",
    "HalfFoldLosses",
    "HalfSplitLosses",
    "Method",
    "NestedLosses",
    "RemovedCaseErrors",
    "ReplacementErrors",
    "ReplicateLosses",
    "TunedFolds",
    "TunedLosses",
    "check_options_for_one",
    "compute_interval",
    "find_comparisons",
    "find_methods",
]

#: What Laber and Murphy (2008), section 5, compare.
PAPER = (CUD, PERCENTILE, BIAS_CORRECTED, KOHAVI, YANG, MARTIN, LANGFORD)

#: What software for clinical prediction models prints.
CLINICAL = (LOCATION_SHIFTED, ABCLOC, TWO_STAGE)

#: For the error of the classifier fitted to this training set.
CONDITIONAL = (
    TWO_CENTER,
    *PAPER,
    NORMAL_632,
    NORMAL_632_PLUS,
    ACI,
    *CLINICAL,
    *BINOMIAL,
    BCCVP,
    BCCVP_BR,
    *ON_TEST_SET,
)

#: For the expected error of the learning algorithm.
ALGORITHM = (
    *RANDOM_SPLITS,
    CONSERVATIVE_Z,
    FIVE_BY_TWO_T,
    FIVE_BY_TWO_F,
    K_FOLD_T,
    REPEATED_K_FOLD_T,
    GRANDVALET_BENGIO,
    BAYLE,
    NESTED_CV,
    AUSTERN_ZHOU,
)

#: For the error of tuning and fitting, from a fitted search.
TUNED = (BBC_CV, BBC_F)

#: For the AUC or the Brier score alone; some of those above serve them too.
PROBABILITY = (OUT_OF_BAG_PERCENTILE, *FOR_AUC, PLUS_T_632, *AUC_ON_TEST_SET, TEST_SET_T)

#: Of theory for many rows; in no group, because it is far too low with few.
LARGE_SAMPLES = (TRAINING_NORMAL,)

#: For training and new cases together; needs new cases.
WITH_NEW_CASES = (POOLED,)

#: Only for the difference between two errors; some of those above serve it too.
DIFFERENCE_ONLY = (MCNEMAR, INDEPENDENT_TEST_SETS, AUC_DIFFERENCE)

#: The default method for comparing two classifiers, for each metric that can be compared.
DEFAULT_COMPARISONS = {"error": REPEATED_K_FOLD_T.name, "auc": AUC_DIFFERENCE.name}

#: Every method by its name, in the order of the table.
METHODS: Mapping[str, Method] = MappingProxyType(
    {
        method.name: method
        for method in (
            *(*CONDITIONAL, *LARGE_SAMPLES, *WITH_NEW_CASES),
            *(*ALGORITHM, *TUNED, *PROBABILITY, *DIFFERENCE_ONLY),
        )
    }
)

#: Every kind of record that a method or a point estimate can read.
RECORD_KINDS = {
    kind
    for method in (*METHODS.values(), *ESTIMATORS.values())
    for card in (method, *method.variants.values())
    for kind in card.may_need
}

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
        names. If an option is only for differences of two errors.
    """
    methods_by_name = {**METHODS, **{method.name: method for method in user_methods}}

    def rule() -> str:
        names = [name for name, method in methods_by_name.items() if method.gives_interval]
        return f"one of the groups {sorted(GROUPS)} or a list of names from {names}"

    requested = find_named(methods, methods_by_name, GROUPS, rule, _of_function, argument)
    for method in requested:
        if not method.gives_interval:
            hint = f" {method.name!r} compares two classifiers; use compare_learners."
            raise ParameterError(argument, "intervals for one classifier", method.name, hint)
        check_options_for_one(method, requested.options_of(method), argument)
    return requested


def check_options_for_one(method: Method, options: Mapping[str, Any], argument: str) -> None:
    """Raise ValueError if one of the options of a method is only for differences of two errors."""
    for name, value in options.items():
        option = method.options[name]
        if isinstance(option, Number) and option.of_differences and value != option.default:
            hint = f" {name!r} is a difference of two errors; leave it out, or use compare_learners."
            raise ParameterError(argument, "intervals for one classifier", (method.name, {name: value}), hint)


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
    return find_named(
        methods, comparisons, {"all": comparisons}, lambda: f"'all' or one of {list(comparisons)}"
    )
