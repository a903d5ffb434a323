"""scikit-learn's own checks of every estimator of the package, and why some cannot pass."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn_versions import older_than

from cudbound import ConvexLossClassifier, LeastSquaresClassifier
from cudbound.estimators.two_class import StumpBasis
from cudbound.losses.surrogates import LOSSES

if older_than("1.9"):
    pytest.skip(
        "the checks, and which of them must fail, are those of newer versions", allow_module_level=True
    )

#: The checks whose data are separable: the mean logistic loss falls as the scores grow, and is least nowhere.
SEPARABLE = dict.fromkeys(
    [
        "check_classifiers_classes",
        "check_dict_unchanged",
        "check_dont_overwrite_parameters",
        "check_estimators_fit_returns_self",
        "check_estimators_overwrite_params",
        "check_estimators_pickle",
        "check_f_contiguous_array_estimator",
        "check_fit2d_1feature",
        "check_fit2d_predict1d",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
        "check_pipeline_consistency",
        "check_positive_only_tag_during_fit",
        "check_readonly_memmap_input",
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weights_not_overwritten",
        "check_sample_weights_shape",
    ],
    "the classes are separable, so this loss has no minimizer without a penalty",
)


ESTIMATORS = [
    LeastSquaresClassifier(),
    LeastSquaresClassifier(False),
    ConvexLossClassifier(),
    *(ConvexLossClassifier(loss, penalty=0.01) for loss in LOSSES),
    ConvexLossClassifier("squared"),
    ConvexLossClassifier("huber"),
    ConvexLossClassifier(penalty=0.01, basis=PolynomialFeatures(1, include_bias=False)),
    StumpBasis([0], [0.5]),
]
#: By estimator, the checks that must fail, with the reasons.
FAILURES = {
    "ConvexLossClassifier()": SEPARABLE,
}


@pytest.mark.filterwarnings("ignore:Can't check dok sparse matrix")  # of PolynomialFeatures
@parametrize_with_checks(
    ESTIMATORS, expected_failed_checks=lambda estimator: FAILURES.get(repr(estimator), {})
)
def test_contract(estimator: Any, check: Any) -> None:
    check(estimator)
