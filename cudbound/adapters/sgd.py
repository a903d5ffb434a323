"""`SGDClassifier`: several losses with an l2, l1 or elastic-net penalty, and a free intercept.

The objective is (1/n) sum_i c_i loss_i + alpha ((1 - l1_ratio) / 2 |w|^2 + l1_ratio |w|_1). Its ``squared_error`` is
(y - f)^2 / 2, half of the squared loss here. Stochastic gradient descent usually stops far from the minimum: the
optimality residual decides, regardless of averaging, early stopping or rates.
"""

from __future__ import annotations

from functools import partial

from sklearn.linear_model import SGDClassifier

from cudbound.adapters.family import Adapter
from cudbound.adapters.linear import Objective, linear_model
from cudbound.exceptions import UnsupportedEstimatorError

#: Our name of each loss, and the size of our loss in units of scikit-learn's.
LOSSES = {
    "hinge": ("hinge", 1.0),
    "log_loss": ("logistic", 1.0),
    "modified_huber": ("huber", 1.0),
    "squared_hinge": ("squared_hinge", 1.0),
    "squared_error": ("squared", 0.5),
}


def _objective(estimator: SGDClassifier, n_rows: int) -> Objective:
    if estimator.loss not in LOSSES:
        raise UnsupportedEstimatorError(
            f"SGDClassifier(loss={estimator.loss!r}) is not supported: the loss is not a surrogate with a useful "
            "minimizer, or not one that this package knows.",
            f"Use a loss out of {sorted(LOSSES)}.",
        )
    loss, unit = LOSSES[estimator.loss]
    l1_ratio = {"l2": 0.0, "l1": 1.0}.get(estimator.penalty, float(estimator.l1_ratio or 0.0))
    alpha = 0.0 if estimator.penalty is None else float(estimator.alpha) / unit
    return Objective(
        loss, alpha * (1.0 - l1_ratio) / 2.0, alpha * l1_ratio
    )  # relative to the mean, whatever n


ADAPTER = Adapter(
    supports="sklearn SGDClassifier, usually with polish=True",
    families=(SGDClassifier,),
    express=partial(linear_model, objective=_objective),
    loss=", ".join(f"{ours.replace('_', ' ')} (`{name}`)" for name, (ours, _) in LOSSES.items()),
    penalty='`alpha` / 2, `alpha` for squared; l1 and elastic net need `solver="cvxpy"`',
    weights="`class_weight`",
    intercept="free",
    objective=_objective,
)
