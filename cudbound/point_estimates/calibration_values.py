"""Calibration of predicted risks: intercept and slope of logistic regressions of the event on their logits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from cudbound.basis.validation import Array
from cudbound.point_estimates.auc import Bools, order_codes

#: Predicted risks are clipped to [CLIP, 1 - CLIP]: 0 and 1 have no logit.
CLIP = 1e-6
#: Numbers in memory at once for one block of fits.
CHUNK = 1_000_000
_ITERATIONS, _HALVINGS = 100, 30


def calibration_values(probabilities: Array, event: Bools, weights: NDArray[Any]) -> Array:
    """Return intercept and slope of each fit on weighted rows; nan if they do not exist.

    The intercept is calibration-in-the-large, from the regression with the logit as an offset. The slope comes from the
    regression with a free intercept. They do not exist if one class is missing, if the risks separate the classes, with
    or without ties between them, or if all risks are equal.

    Parameters
    ----------
    probabilities : ndarray of float, shape (n_fits, n_samples)
        Probabilities of the event.
    event : ndarray of bool, shape (n_samples,)
    weights : ndarray, shape (n_fits, n_samples) or (n_samples,)
        How often each row counts.

    Returns
    -------
    ndarray of float, shape (n_fits, 2)

    References
    ----------
    Cox, D. R. (1958). Two further applications of a model for binary regression. Biometrika 45, 562-565; Van Calster,
    B. et al. (2019). Calibration: the Achilles heel of predictive analytics. BMC Medicine 17, 230.

    Examples
    --------
    >>> event = np.array([True, False, True, False])
    >>> calibration_values(np.array([[0.8, 0.8, 0.2, 0.2]]), event, np.ones(4)).round(6) + 0.0
    array([[0., 0.]])
    """
    logits = logit(np.clip(probabilities, CLIP, 1.0 - CLIP))
    weights = np.broadcast_to(weights, logits.shape)
    values = np.full((len(logits), 2), np.nan)
    overlapping = np.flatnonzero(_overlap(order_codes(logits), event, weights > 0))
    size = max(1, CHUNK // event.size)
    for start in range(0, overlapping.size, size):
        at = overlapping[start : start + size]
        x, w = logits[at], weights[at].astype(np.float64)
        values[at, 0] = _fit(np.ones((len(x), 1, event.size)), x, event, w)[:, 0]
        middle = x - x.mean(axis=1, keepdims=True)
        values[at, 1] = _fit(np.stack([np.ones_like(x), middle], axis=1), np.zeros_like(x), event, w)[:, 1]
    return values


def calibration_curves(probabilities: Array, event: Bools, risks: Array) -> Array:
    """Return the share of events at each of `risks` by the logistic regression of the event on the logit of the risk.

    Parameters
    ----------
    probabilities : ndarray of float, shape (n_fits, n_samples)
        Probabilities of the event.
    event : ndarray of bool, shape (n_samples,)
    risks : ndarray of float, shape (n_risks,)
        In (0, 1).

    Returns
    -------
    ndarray of float, shape (n_fits, n_risks)
        nan for a fit whose slope does not exist, see `calibration_values`.

    Examples
    --------
    >>> event = np.array([True, False, True, False])
    >>> calibration_curves(np.array([[0.8, 0.8, 0.2, 0.2]]), event, np.array([0.2, 0.8])).round(6)
    array([[0.5, 0.5]])
    """
    x = logit(np.clip(probabilities, CLIP, 1.0 - CLIP))
    curves = np.full((len(x), risks.size), np.nan)
    at = _overlap(order_codes(x), event, np.ones(x.shape, dtype=bool))
    center = x[at].mean(axis=1, keepdims=True)
    design = np.stack([np.ones_like(x[at]), x[at] - center], axis=1)
    intercept, slope = _fit(design, np.zeros_like(x[at]), event, np.ones_like(x[at])).T[:, :, None]
    curves[at] = expit(intercept + slope * (logit(risks) - center))
    return curves


def _overlap(codes: NDArray[np.int64], event: Bools, present: Bools) -> Bools:
    """Return which fits have an event below a non-event and one above, so that both numbers exist."""
    n = event.size
    lowest = [np.where(present & rows, codes, n).min(axis=1) for rows in (event, ~event)]
    highest = [np.where(present & rows, codes, -1).max(axis=1) for rows in (event, ~event)]
    return np.asarray((lowest[0] < highest[1]) & (lowest[1] < highest[0]))


def _fit(design: Array, offset: Array, event: Bools, weights: Array) -> Array:
    """Return coefficients of weighted logistic regressions, shape (n_fits, n_columns), by Newton's method.

    A step that lowers the likelihood is halved.
    """
    coef = np.zeros((len(design), design.shape[1]))

    def linear(coefficients: Array) -> Array:
        return np.asarray(offset + (coefficients[:, None] @ design)[:, 0])

    def loss(eta: Array) -> Array:
        return np.asarray((weights * np.logaddexp(0.0, np.where(event, -eta, eta))).sum(axis=1))

    eta = linear(coef)
    now = loss(eta)
    for _ in range(_ITERATIONS):
        risk = expit(eta)
        gradient = design @ (weights * (event - risk))[:, :, None]
        information = (design * (weights * risk * (1.0 - risk))[:, None]) @ design.transpose(0, 2, 1)
        ridge = 1e-12 * np.trace(information, axis1=1, axis2=2)[:, None, None] + np.finfo(float).tiny
        step = np.linalg.solve(information + ridge * np.eye(coef.shape[1]), gradient)[:, :, 0]
        for _ in range(_HALVINGS):
            worse = loss(linear(coef + step)) > now * (1.0 + 1e-14)
            if not worse.any():
                break
            step[worse] /= 2.0
        coef = coef + step
        eta = linear(coef)
        now = loss(eta)
        if np.abs(step).max(initial=0.0) < 1e-10 * (1.0 + np.abs(coef).max(initial=0.0)):
            break
    return coef
