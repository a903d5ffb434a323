"""Refits without a plan: what the tests of single records call."""

from __future__ import annotations

from typing import Any

import numpy as np

from cudbound.resampling.refits import Refit, Tape, prepare_refits


def choose_refit(estimator: Any, X: Any, y: Any, rng: np.random.Generator) -> tuple[Refit, bool]:
    """Return how to refit a fitted estimator on its rows, recorded nowhere, and whether that is in batches.

    `rng` seeds the ``random_state`` parameters that are None.
    """
    refits = prepare_refits(estimator, X, y)
    return refits.recorded(rng, Tape()), refits.batched
