"""The branch and bound of Laber & Murphy (2008), section 4, with every convex subproblem solved by cvxpy.

It is slow and general: an oracle for tests of the compiled solver, with the same contract, and the solver for losses
and penalties that the compiled one does not support.
"""

from __future__ import annotations

import heapq
import itertools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.calls import warn
from cudbound.basis.exceptions import CudboundWarning
from cudbound.losses.surrogates import import_cvxpy
from cudbound.problem.draws import Draws, SolveStatus
from cudbound.problem.problem import Problem
from cudbound.solve import reference_cones

Array = NDArray[np.float64]

#: A relaxed minimizer this close to a wall, relative to its length, lies on it. Enlarges Q.
ON_WALL = 1e-11
#: A node is pruned if its bound exceeds the best value by no more than this, and that excess is added to Q.
PRUNE = 1e-12
#: With localization = inf, losses up to L(coef) + this * max(1, L(coef)) count as not above L(coef). Enlarges Q.
LEVEL = 1e-9


#: Value of a score when one sign of it counts, or both.
_SIDES: dict[str, Callable[[float], float]] = {
    "both": abs,
    "positive": lambda score: max(score, 0.0),
    "negative": lambda score: max(-score, 0.0),
}


def solve_reference(
    problem: Problem,
    *,
    side: str = "both",
    nodes: float = math.inf,
    seconds: float = math.inf,
    nodes_per_draw: float = math.inf,
    previous: Draws | None = None,
    report: Callable[[int], None] | None = None,
) -> tuple[Draws, bool]:
    """Solve every draw by the branch and bound of the CUD paper, with cvxpy for the convex subproblems.

    1. Rows with a non-zero weight are merged into hyperplanes, largest change of the score first. A node at
       depth j fixes on which side of the first j hyperplanes the classifier lies.
    2. Its relaxation is the least loss on the closed cone of these sides. The child that contains the
       minimizer of its parent inherits it. Where a loss falls to its infimum only far out, a linear program finds
       the direction, and a point far along it stands for the minimizer.
    3. A node is pruned if its cone has no interior point, which a linear program decides, or if the best
       score that is left, times g at the relaxed loss, does not exceed the best value found.
    4. Values are taken only in cells shown to be open: those that border a relaxed minimizer or the anchor.
    5. The node of largest bound comes first, so that open nodes bound Q from above when a limit is reached.

    Arguments and result are those of `cudbound.solve.native.solve_native`. Draws that are certified in `previous` are
    not solved again; of the others the tighter bounds are kept. `nodes` counts the nodes whose bound was computed.
    Seconds are checked between nodes.

    Raises
    ------
    ImportError
        If cvxpy is not installed.
    ValueError
        If the loss is neither one of `cudbound.losses.surrogates` nor a valid `cudbound.solve.CvxpyLoss`.

    Warns
    -----
    CudboundWarning
        If both solvers failed on a subproblem that decides a draw. Its loss is then bounded by that of the
        parent node, and the draw ends with lower < upper and the status ``INACCURATE``.

    Notes
    -----
    Guarantee: lower <= Q <= upper, up to the tolerances at the head of this module, of
    `cudbound.solve.reference_cones` and of `cudbound.solve.reference_cones`, each with the side on which it errs; the
    two are equal unless a limit was reached or a solver failed. The least losses of the six losses of the package are
    exact to rounding where the optimality conditions confirm it, which is nearly always; those of a
    `cudbound.solve.CvxpyLoss` are accurate to what cvxpy's solver proves, about 1e-9, and enter as lower bounds. A row
    of zeros has class sign(0) = +1 for every classifier. The number of nodes is exponential in the number of rows at
    worst.

    References
    ----------
    E. B. Laber and S. A. Murphy (2008). Small sample inference for generalization error in classification
    using the CUD bound. UAI 2008, section 4.

    Examples
    --------
    >>> import numpy as np
    >>> from cudbound.problem.problem import Problem
    >>> design = np.array([[1.0, -1.0], [1.0, -0.2], [1.0, 0.4], [1.0, 2.0]])
    >>> problem = Problem.of(design, [-1, 1, -1, 1], [-0.3, 0.8], [[2, 0, 1, 1], [1, 1, 1, 1]])
    >>> draws, _ = solve_reference(problem)
    >>> draws.upper.round(6).tolist()
    [0.25, 0.0]
    """
    cp = import_cvxpy()
    solvers = reference_cones.choose_solvers(cp, "ECOS")
    reference_cones.loss_expression(cp, problem.loss, problem.labels, cp.Variable(problem.labels.size))
    # columns of mean square 1, so that tolerances are relative to the data; Q does not depend on it
    scale = np.sqrt(np.square(problem.design).mean(axis=0))
    scale[scale == 0.0] = 1.0
    problem = reference_cones.rescaled(problem, scale)
    draws = _nothing_proved(problem) if previous is None else previous
    names = ("lower", "upper", "status", "nodes", "witness")
    proved: dict[str, Any] = {name: np.array(getattr(draws, name)) for name in names}
    end = time.monotonic() + seconds
    spent, interrupted = 0, False
    for done, draw in enumerate(np.flatnonzero(~draws.certified).tolist(), start=1):
        search, status = _Search(problem, draw, side), SolveStatus.INTERRUPTED
        try:
            if not interrupted and time.monotonic() >= end:
                status = SolveStatus.TIME_LIMIT
            elif not interrupted:
                status = search.run(
                    reference_cones.Relaxation(cp, solvers, problem, draw, search.normals),
                    min(nodes_per_draw, max(0, nodes - spent)),
                    end,
                )
                if report is not None:
                    report(done)
        except KeyboardInterrupt:
            search, interrupted = _Search(problem, draw, side), True
        spent += search.nodes
        upper = max(search.upper, search.value)
        lower = upper if status == SolveStatus.OPTIMAL else search.value
        if lower >= proved["lower"][draw]:
            proved["lower"][draw], proved["witness"][draw] = lower, search.witness() / scale
        proved["upper"][draw] = min(proved["upper"][draw], upper)
        proved["nodes"][draw] += search.nodes
        proved["status"][draw] = status
    return Draws(**proved), interrupted


def _nothing_proved(problem: Problem) -> Draws:
    n_draws, p = problem.n_draws, problem.coef.size
    status = np.full(n_draws, SolveStatus.INTERRUPTED, dtype=np.int32)
    nodes = np.zeros(n_draws, dtype=np.int64)
    return Draws(np.zeros(n_draws), np.full(n_draws, np.inf), status, nodes, np.zeros((n_draws, p)))


@dataclass(frozen=True, order=True)
class _Node:
    """A cone of the first ``len(signs)`` hyperplanes; the largest bound comes out first, then the deepest."""

    key: tuple[float, int, int]
    signs: NDArray[np.int8] = field(compare=False)
    minimum: reference_cones.Minimum = field(compare=False)
    interior: Array = field(compare=False)


class _Search:
    """The search of one draw: the heap of open nodes and the best cell found."""

    def __init__(self, problem: Problem, draw: int, side: str):
        self._problem, self._draw = problem, draw
        self._worth = _SIDES[side]
        self._planes = reference_cones.merge_rows(problem, draw)
        self.normals = self._planes.normals
        self._anchor_loss = problem.mean_loss(draw, problem.coef)
        # the largest and smallest score that the hyperplanes from k on can add, for k = 0..m
        sides = self._planes.scores[::-1]
        self._most = np.concatenate([[0.0], np.cumsum(sides.max(axis=1))])[::-1]
        self._least = np.concatenate([[0.0], np.cumsum(sides.min(axis=1))])[::-1]
        # a direction in general position, along which points on a wall are moved off it
        self._generic: Array = np.random.default_rng(0).normal(size=(problem.design.shape[1],))
        self._counter = itertools.count()
        self._heap: list[_Node] = []
        self.nodes = 0
        # until a cell is shown open, 0 is a lower bound of Q anywhere
        self.value, self._beta, self._inside = 0.0, self._generic, self._generic
        self._found = False
        self.upper = self._bound(np.zeros(0, dtype=np.int8), -math.inf)

    def run(self, relaxation: reference_cones.Relaxation, node_limit: float, deadline: float) -> SolveStatus:
        """Search until the best value is proved, a limit is reached, or no solver solves the remaining subproblems."""
        self._relaxation = relaxation
        start = np.zeros(0, dtype=np.int8)
        self._offer(self._problem.coef, self._generic, start, self._anchor_loss)
        if node_limit < 1:
            return SolveStatus.NODE_LIMIT
        self.upper, unresolved = 0.0, False
        self._consider(start, reference_cones.Minimum(-math.inf, None), self._generic)
        while self._heap and -self._heap[0].key[0] > self.value + PRUNE:
            no_nodes_left = self.nodes + 2 > node_limit
            if no_nodes_left or time.monotonic() >= deadline:
                self.upper = max(self.upper, -self._heap[0].key[0])
                return SolveStatus.NODE_LIMIT if no_nodes_left else SolveStatus.TIME_LIMIT
            node = heapq.heappop(self._heap)
            if node.signs.size == len(self.normals):
                # its value is known unless its subproblem failed
                self.upper, unresolved = max(self.upper, -node.key[0]), True
                continue
            for sign in (1, -1):
                self._branch(node, sign)
        if self._heap:
            self.upper = max(self.upper, -self._heap[0].key[0])
        if unresolved and self.upper > self.value + PRUNE:
            warn(
                CudboundWarning(
                    f"No cvxpy solver could solve a subproblem of draw {self._draw}; Q is between "
                    f"{self.value} and {self.upper}."
                )
            )
            return SolveStatus.INACCURATE
        return SolveStatus.OPTIMAL

    def witness(self) -> Array:
        """Move from the closure of the best cell into it, by a step that hardly changes the value."""
        problem, beta = self._problem, self._beta
        steepness = problem.localization * float(np.abs(problem.score_weights(self._draw)).sum())
        allowed = 1e-7 / max(1.0, steepness) if math.isfinite(problem.localization) else 1e-9
        length = max(1.0, float(np.abs(beta).max()))
        loss = problem.mean_loss(self._draw, beta)
        with np.errstate(over="ignore"):  # an infinite loss is above what is allowed
            for power in range(25):
                moved = beta + 10.0**-power * length * self._inside
                if problem.mean_loss(self._draw, moved) <= loss + allowed:
                    break
        return np.asarray(moved, dtype=float)

    def _g(self, loss: float) -> float:
        localization, anchor = self._problem.localization, self._anchor_loss
        if localization == 0.0:
            return 1.0
        if math.isinf(localization):
            return float(loss <= anchor + LEVEL * max(1.0, anchor))
        return min(max(1.0 + localization * (anchor - loss), 0.0), 1.0)

    def _bound(self, signs: NDArray[np.int8], loss: float) -> float:
        fixed = self._planes.score(signs)
        most, least = fixed + self._most[signs.size], fixed + self._least[signs.size]
        return max(self._worth(most), self._worth(least)) * self._g(loss)

    def _branch(self, node: _Node, sign: int) -> None:
        """Consider one child, unless its cone has no interior point or its parent's loss rules it out."""
        depth = node.signs.size
        signs = np.append(node.signs, np.int8(sign))
        bound = self._bound(signs, node.minimum.loss)
        if bound <= self.value + PRUNE:
            self.nodes += 1
            self.upper = max(self.upper, bound)
            return
        interior: Array | None = node.interior
        if sign * float(self.normals[depth] @ node.interior) <= 1e-6:
            interior = reference_cones.interior_point(signs[:, None] * self.normals[: depth + 1])
        if interior is None:
            self.nodes += 1
            return
        self._consider(signs, node.minimum, interior)

    def _consider(self, signs: NDArray[np.int8], parent: reference_cones.Minimum, interior: Array) -> None:
        """Solve the relaxation of an open cone, try the cell next to its minimizer, and keep or prune it."""
        self.nodes += 1
        minimum = parent
        if parent.beta is None or (
            signs[-1] * float(self.normals[signs.size - 1] @ parent.beta)
            < -ON_WALL * float(np.abs(parent.beta).max())
        ):
            minimum = self._relaxation.minimum(signs, parent)
        if minimum.beta is not None:
            self._offer(minimum.beta, interior, signs, minimum.loss)
        bound = self._bound(signs, minimum.loss)
        if bound <= self.value + PRUNE:
            self.upper = max(self.upper, bound)
        else:
            key = (-bound, -signs.size, next(self._counter))
            heapq.heappush(self._heap, _Node(key, signs, minimum, interior))

    def _offer(self, beta: Array, interior: Array, fixed: NDArray[np.int8], loss: float) -> None:
        """Take the cell of beta + t * interior, t -> 0, as the best one if it is better and open."""
        normals = self.normals
        products = normals @ beta
        on_wall = np.abs(products) <= ON_WALL * float(np.abs(beta).max())
        signs = np.where(np.where(on_wall, normals @ interior, products) >= 0.0, 1, -1).astype(np.int8)
        signs[: fixed.size] = fixed
        value = self._worth(self._planes.score(signs)) * self._g(loss)
        if self._found and value <= self.value:
            return
        inside = reference_cones.interior_point(signs[:, None] * normals)
        if inside is not None:
            self.value, self._beta, self._inside, self._found = value, beta, inside, True
