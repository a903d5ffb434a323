"""Families of estimators that cannot be supported, with the reason and a remedy."""

from __future__ import annotations

from cudbound.adapters.family import Refusal

_STAGEWISE = (
    "adds one tree after another and does not revise earlier ones, so that its coefficients are not the joint "
    "minimizer of its loss."
)

REFUSALS = (
    Refusal(
        family=("Perceptron", "PassiveAggressiveClassifier"),
        reason="has no convex loss with a useful minimizer: it stops at the first rule that its updates accept, and "
        "the perceptron loss is least at beta = 0, which is not a classifier.",
        remedy="Fit LinearSVC, or ConvexLossClassifier('hinge', penalty=0.01).",
    ),
    Refusal(
        family=("LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"),
        reason="takes its rule from estimated means, covariances and priors.",
        remedy="A linear one has the direction of a least-squares fit, but another intercept unless the classes are "
        "equally large, and so minimizes no convex surrogate loss. Fit LeastSquaresClassifier, which has the same "
        "direction.",
    ),
    Refusal(
        family=("AdaBoostClassifier", "GradientBoostingClassifier"),
        reason=_STAGEWISE,
        remedy="Refit on its stumps, for which its trees must have max_depth=1: "
        "ConvexLossClassifier('exponential', penalty=0.01, basis=stump_basis(model)).fit(X, y).",
    ),
    Refusal(
        family=("HistGradientBoostingClassifier",),
        reason=_STAGEWISE,
        remedy="Fit GradientBoostingClassifier(max_depth=1) and refit on its stumps: "
        "ConvexLossClassifier('exponential', penalty=0.01, basis=stump_basis(model)).fit(X, y).",
    ),
    Refusal(
        family=("ChosenThresholdClassifier",),
        reason="chose its threshold on these rows by a function, which the CUD bound would take as given.",
        remedy="For a threshold chosen beforehand fit sklearn.model_selection.FixedThresholdClassifier; the intervals "
        "from refits account for the choice.",
    ),
    Refusal(
        family=("CalibratedClassifierCV",),
        reason="averages several classifiers and transforms their scores, which is not an additive classifier "
        "with one loss.",
        remedy="Pass the classifier inside, fitted to all rows; LogisticRegression gives probabilities itself.",
    ),
)
