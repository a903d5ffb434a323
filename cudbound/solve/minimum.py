"""The exact minimum of a model's loss: check whether the fitted coefficients reach it, and compute it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.exceptions import NoMinimizerError, NotMinimizerError
from cudbound.problem.problem import AdditiveModel, Polish, Problem
from cudbound.solve.native import Minimizers, minimize, unsupported

Array = NDArray[np.float64]

#: Largest accepted optimality residual: on the training set itself it changes g at the default rate by at most this. On
#: 40 rows of ten data sets scikit-learn's fits with default settings have at most 2e-3 on standardized features, and on
#: raw ones at most 8e-3, except for SVC (1e-1) and where the solver warned that it had not converged (up to 30). On
#: three of them least-squares and logistic fits have 5e-2 or more with one label changed. With one row left out they
#: have 7e-3 to 6e-2 in the median, and little where that row hardly influenced the fit: then they nearly minimize the
#: remaining loss.
RESIDUAL_TOLERANCE = 1e-2


def draws_problem(
    model: AdditiveModel,
    counts: NDArray[np.int32],
    localization: float | None = None,
    weights: Array | None = None,
) -> Problem:
    """Return the optimization problems of draws from the training set of a model.

    `weights` are those of misclassified rows, shape (n_draws, n_samples); None means those of the plain error. Draws of
    whole groups can have more or fewer rows than the training set: their mean loss is over the rows in the draw.
    """
    totals = counts.sum(axis=1)
    unequal = (totals != model.labels.size).any()
    return Problem.of(
        model.design,
        model.labels,
        model.coef,
        counts,
        localization=localization,
        weights=weights,
        draw_scale=model.labels.size / totals if unequal else None,
        loss=model.loss,
        penalty=model.penalty,
        l1_penalty=model.l1_penalty,
        sample_weight=model.sample_weight,
        offset=model.offset or None,
    )


def training_problem(model: AdditiveModel) -> Problem:
    """Return the problem of the training set itself, as one draw."""
    return draws_problem(model, np.ones((1, model.labels.size), dtype=np.int32))


def least_loss(problem: Problem) -> Minimizers:
    """Minimize the penalized mean loss of each draw, exactly or, if the kernel does not support it, by cvxpy."""
    if unsupported(problem) is None:
        return minimize(problem)
    from cudbound.solve.reference_cones import minimize_by_cvxpy

    coef = np.array([minimize_by_cvxpy(problem, draw) for draw in range(problem.n_draws)])
    return Minimizers(coef, np.ones(problem.n_draws, dtype=bool))


def optimality_residual(model: AdditiveModel) -> float:
    """Excess of the loss of the fitted coefficients over its minimum, in units of g; 0 at the minimizer.

    It is n (L(beta-hat) - min L) with the penalized mean loss L of the training set, on which a residual of 0.01
    changes g at the default rate localization = n by at most 0.01.

    Raises
    ------
    NoMinimizerError
        If the loss has no minimizer on these rows.
    """
    return _minimum(model)[1]


def check_minimizer(model: AdditiveModel) -> float:
    """Return the optimality residual if the fitted coefficients minimize the loss on these rows.

    Raises
    ------
    NoMinimizerError
        If the loss has no minimizer on these rows.
    NotMinimizerError
        If the optimality residual is above `RESIDUAL_TOLERANCE`.
    """
    _, residual = _minimum(model)
    if not residual <= RESIDUAL_TOLERANCE:
        raise NotMinimizerError(
            f"The fitted coefficients do not minimize the mean {model.loss.name} loss on these X and y: optimality "
            f"residual {residual:.2e}, allowed {RESIDUAL_TOLERANCE:.0e}.",
            "If the classifier was fitted to other rows or with sample weights, pass its X and y, or refit it on "
            "them. If its solver stopped early, fit it with a smaller tol (SGDClassifier: tol=None) and a larger "
            "max_iter, or pass Bound(polish=True), see cudbound.Bound, for the interval of the exact minimizer.",
            residual=residual,
        )
    return residual


def polish(model: AdditiveModel) -> AdditiveModel:
    """Replace the fitted coefficients by the exact minimizer of the loss, and record how far they moved.

    Raises
    ------
    NoMinimizerError
        If the loss has no minimizer on these rows.
    """
    coef, residual = _minimum(model)
    polished = replace(model, coef=coef)
    before, after = model.design @ model.coef, model.design @ coef
    length = float(np.linalg.norm(model.coef))
    moved = float(np.linalg.norm(coef - model.coef))
    report = Polish(
        residual=residual,
        coef_change=moved / length if length > 0.0 else np.inf if moved > 0.0 else 0.0,
        score_change=float(np.abs(after - before).max()),
        n_changed_predictions=int((model.training_errors != polished.training_errors).sum()),
    )
    return replace(polished, polish=report)


def no_minimizer(loss: str) -> NoMinimizerError:
    """Return the error for data on which a loss has no minimizer, with remedies."""
    return NoMinimizerError(
        f"The classes are separable, so the mean {loss} loss without a penalty has no minimizer: it decreases "
        "toward its infimum as the coefficients grow.",
        "Add a penalty, for example LogisticRegression(C=1.0) or ConvexLossClassifier(penalty=0.01), or use a loss "
        "with a minimizer, for example LeastSquaresClassifier().",
    )


def _minimum(model: AdditiveModel) -> tuple[Array, float]:
    """Return the minimizer of the loss on the training set, and the optimality residual of the fitted coefficients."""
    problem = training_problem(model)
    minimum = least_loss(problem)
    if not minimum.attained[0]:
        raise no_minimizer(model.loss.name)
    coef = minimum.coef[0]
    # the absolute value: a false minimum must not pass for agreement
    excess = abs(problem.mean_loss(0, model.coef) - problem.mean_loss(0, coef))
    return coef, excess * model.labels.size
