"""Q by visiting all flats: an oracle for more rows than enumeration of all cells can take, in few dimensions.

The least point of a strictly convex loss on the closure of a cell is the unconstrained minimizer on some flat
{x_j'beta = 0, j in T} with at most p - 1 independent rows in T, or beta = 0. Rows in T may take either class, as
all of these cells border the flat. Every open cell has a ray of some line among the flats on its border, so the
rays that point away from the minimum give the scores at beta = 0. This needs rows in general position, a loss
with one minimizer on the drawn rows, and at least p rows with a weight; all three are asserted.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cudbound.problem.problem import Problem

Array = NDArray[np.float64]

CHUNK = 20_000
#: Rows off a flat must be further from its minimizer than this, relative to it, or the position is not general.
ON_FLAT = 1e-11


@dataclass(frozen=True)
class Flats:
    """Largest and smallest score that borders the least point of each flat, and the loss there."""

    high: Array
    low: Array
    losses: Array
    anchor_loss: float

    def q_at(self, alpha: float) -> tuple[float, float, float]:
        """Return (Q, sup of +S g, sup of -S g), the last two at least 0."""
        if np.isinf(alpha):
            g = (self.losses <= self.anchor_loss).astype(float)
        else:
            g = np.clip(1.0 + alpha * (self.anchor_loss - self.losses), 0.0, 1.0)
        plus, minus = max(float((self.high * g).max()), 0.0), max(float((-self.low * g).max()), 0.0)
        return max(plus, minus), plus, minus


def visit_flats(problem: Problem, draw: int) -> Flats:
    """Visit every flat of one draw, squared loss."""
    n, p = problem.design.shape
    assert problem.loss.name == "squared"
    for name in ("penalty", "l1_penalty", "sample_weight", "offset"):
        assert getattr(problem, name) is None, f"flats of problems with '{name}' are not known"
    weights = problem.score_weights(draw)
    active = np.flatnonzero(weights)
    assert active.size >= p, "cells need lines on their border"
    rows, w, y = problem.design[active], weights[active], problem.labels[active]
    drawn = problem.counts[draw] / n
    gram = (problem.design * drawn[:, None]).T @ problem.design
    assert np.linalg.cond(gram) < 1e8, "the loss must have one minimizer"
    least = np.linalg.solve(gram, problem.design.T @ (drawn * problem.labels))
    root = np.linalg.cholesky(gram).T  # loss = least loss + |root (beta - least)|^2
    normals, at_least = np.linalg.solve(root.T, rows.T).T, rows @ least
    least_loss, apex_loss = problem.mean_loss(draw, least), problem.mean_loss(draw, np.zeros(p))
    wrong_if_positive, wrong_if_negative = w * (y < 0), w * (y > 0)
    gain, loss_of = np.maximum(w, 0.0), np.minimum(w, 0.0)

    high: list[Array] = []
    low: list[Array] = []
    losses: list[Array] = []

    def record(products: Array, ties: NDArray[np.intp], loss: Array) -> None:
        size = np.abs(products).max(axis=1, keepdims=True)
        off = np.ones_like(products, dtype=bool)
        np.put_along_axis(off, ties, False, axis=1)
        assert (np.abs(products) > ON_FLAT * size)[off].all(), "rows are not in general position"
        side = np.where(products > 0, wrong_if_positive, wrong_if_negative)
        score = np.where(off, side, 0.0).sum(axis=1)
        high.append(score + gain[ties].sum(axis=1))
        low.append(score + loss_of[ties].sum(axis=1))
        losses.append(loss)

    for t in range(p):
        subsets = itertools.combinations(range(active.size), t)
        while chosen := list(itertools.islice(subsets, CHUNK)):
            ties = np.array(chosen, dtype=np.intp).reshape(len(chosen), t)
            step = np.zeros((len(chosen), p))
            if t:
                tight = normals[ties]
                multipliers = np.linalg.solve(tight @ tight.transpose(0, 2, 1), -at_least[ties][..., None])
                step = (tight.transpose(0, 2, 1) @ multipliers)[..., 0]
            products = step @ normals.T + at_least
            record(products, ties, least_loss + np.square(step).sum(axis=1))
            if t == p - 1:
                record(-products, ties, np.full(len(chosen), apex_loss))
    return Flats(
        np.concatenate(high),
        np.concatenate(low),
        np.concatenate(losses),
        problem.mean_loss(draw, problem.coef),
    )
