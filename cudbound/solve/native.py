"""The compiled kernel: takes checked problems, returns arrays. Only this module imports the compiled code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.calls import warn
from cudbound.basis.exceptions import CudboundWarning, UnsupportedProblemError
from cudbound.losses.surrogates import LOSSES
from cudbound.problem.coordinates import carrying_columns, design_rank
from cudbound.problem.draws import Draws
from cudbound.problem.problem import Problem

try:
    from cudbound import _solvers
except ImportError as error:
    raise ImportError(
        "The compiled part of cudbound, cudbound._solvers, cannot be imported. This happens if Python runs in a "
        "source folder that was not built: install it with 'pip install .', or for development with "
        "'pip install --no-build-isolation --editable .'. "
        f"(Python {sys.version_info.major}.{sys.version_info.minor}; the import error: {error})"
    ) from error

Array = NDArray[np.float64]

#: Nodes that no search can reach.
UNLIMITED = int(np.iinfo(np.int64).max)

#: Losses that the kernel takes with an l1 penalty.
L1_LOSSES = ("squared", "logistic")

SIDES = {"both": _solvers.Side.BOTH, "positive": _solvers.Side.POSITIVE, "negative": _solvers.Side.NEGATIVE}


@dataclass(frozen=True, eq=False)
class Minimizers:
    """Coefficients that minimize the mean loss of each draw.

    Attributes
    ----------
    coef : ndarray of float, shape (n_draws, n_coefficients)
        A minimizer; if it is not unique, one of them.
    attained : ndarray of bool, shape (n_draws,)
        False if the loss has no minimizer (separable data with a vanishing loss): the loss of `coef` is then equal to
        the infimum up to rounding.
    """

    coef: Array
    attained: NDArray[np.bool_]


def unsupported(problem: Problem) -> UnsupportedProblemError | None:
    """Return why the kernel cannot solve the problem, or None if it can."""
    loss = problem.loss.name
    slow = "Bound(solver='cvxpy'), or SearchLimits(solver='cvxpy') to solve_draws, for the slow reference solver."
    if LOSSES.get(loss) != problem.loss or (problem.has_l1_penalty and loss not in L1_LOSSES):
        l1 = " with an l1 penalty" if problem.has_l1_penalty else ""
        return UnsupportedProblemError(
            f"The native solver supports the losses {sorted(LOSSES)} with a quadratic penalty, and also {L1_LOSSES[0]} "
            f"and {L1_LOSSES[1]} loss with an l1 penalty. Got {loss!r}{l1} instead.",
            f"Pass {slow}",
            why=f"{loss} loss{l1} needs the solver cvxpy",
        )
    if carrying_columns(problem.design, problem.penalty, problem.l1_penalty) is None:
        return UnsupportedProblemError(
            "The native solver supports an l1 penalty if the columns of the design are linearly independent. Got "
            f"{problem.coef.size} columns of rank {design_rank(problem.design)} instead, intercept included.",
            f"Drop such columns, for example with OneHotEncoder(drop='first'), or pass {slow}",
            why="an l1 penalty on linearly dependent columns needs the solver cvxpy",
        )
    return None


def minimize(problem: Problem) -> Minimizers:
    """Minimize the penalized mean loss of each draw; `coef`, `localization` and `weights` of the problem do not matter.

    The problem must be native (`unsupported`).

    Warns
    -----
    CudboundWarning
        If rounding prevented some minimizations: their coefficients are the best ones found.
    """
    coef, attained, reached = _solvers.minimize(_native(problem))
    if not reached.all():
        warn(
            CudboundWarning(
                f"Because of rounding, {int((~reached).sum())} of {reached.size} minimizations of the "
                f"{problem.loss.name} loss did not reach their minimum. Standardize the features or add a penalty."
            )
        )
    return Minimizers(np.einsum("dk,jk->dj", coef, problem.basis.to_coef), attained)


def fit_stack(
    rows: Array,
    labels: Array,
    weights: Array,
    penalty: Array,
    *,
    loss: str,
    shift: Array | None = None,
    scale: Array | None = None,
    fit_intercept: bool = True,
    threads: int = 1,
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Fit a stack of linear classifiers to shared or separate rows, exactly up to rounding.

    Each minimizes sum_i weight_i loss_i + sum_j penalty_j beta_j^2.

    Parameters
    ----------
    rows : ndarray of float, shape (n_samples, n_columns) or (n_fits, n_samples, n_columns)
    labels : ndarray of float, shape (n_samples,)
        -1.0 or +1.0.
    weights : ndarray of float, shape (n_fits, n_samples)
        Non-negative.
    penalty : ndarray of float, shape (n_fits, n_coefficients)
        Non-negative, with that of the intercept first.
    loss : str
        Any but "hinge".
    shift, scale : ndarray of float, shape (n_fits, n_columns), default=None
        Each fit uses (rows - shift) * scale.
    fit_intercept : bool, default=True
    threads : int, default=1

    Returns
    -------
    scores : ndarray of float, shape (n_fits, n_samples)
    doubt : ndarray of float, shape (n_fits, n_samples)
        Bound on the rounding error of each score; 0 if the score is exactly 0.
    found : ndarray of bool, shape (n_fits,)
        False if there is no unique minimizer, up to rounding; scores and doubts are then 0.
    """
    flat = rows.reshape(-1, rows.shape[-1])
    flat, labels, weights, penalty = map(np.ascontiguousarray, (flat, labels, weights, penalty))
    shift, scale = (None if values is None else np.ascontiguousarray(values) for values in (shift, scale))
    return _solvers.fit_all(flat, labels, weights, penalty, shift, scale, loss, fit_intercept, threads)


def solve_native(
    problem: Problem,
    *,
    side: str,
    threads: int,
    nodes: float = np.inf,
    seconds: float = np.inf,
    nodes_per_draw: float = np.inf,
    ranks: Sequence[int] = (),
    previous: Draws | None = None,
    report: Callable[[int], None] | None = None,
) -> tuple[Draws, bool]:
    """Solve a native problem; return the draws and whether Ctrl-C stopped the search.

    With `ranks`, ascending and starting at 1, draws are solved only as far as the quantiles at these ranks require.
    `previous` holds what is already proved about each draw.
    """
    proved = None
    if previous is not None:
        proved = (previous.lower, previous.upper, previous.status_codes, previous.nodes, previous.witness)
    solved = _solvers.solve_draws(
        _native(problem),
        SIDES[side],
        int(min(nodes_per_draw, UNLIMITED)),
        np.inf,
        int(min(nodes, UNLIMITED)),
        seconds,
        np.array(ranks, dtype=np.int64),
        proved,
        threads,
        report,
    )
    return Draws(solved.lower, solved.upper, solved.status, solved.nodes, solved.witness), solved.interrupted


def _native(problem: Problem) -> _solvers.Problem:
    basis = problem.basis
    raw = _solvers.Raw(problem.design, problem.coef, problem.penalty, basis.to_coef, basis.exact, basis.error)
    return _solvers.Problem(
        basis.design,
        problem.labels,
        basis.anchor,
        problem.counts,
        problem.weights,
        problem.sample_weight,
        problem.draw_scale,
        problem.offset,
        basis.penalty,
        basis.anchor_penalty,
        problem.l1_penalty if problem.has_l1_penalty else None,
        problem.loss.name,
        problem.localization,
        raw,
    )
