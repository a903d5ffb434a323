"""Losses of 20 rows as another software would have recorded them: no classifier, no data."""

from __future__ import annotations

from typing import Any

import numpy as np

from cudbound.records import BootstrapLosses, FoldLosses, InnerErrors, Records, TestSetLosses


def random_losses(seed: int = 0, n_resamples: int = 40, share: float = 0.3) -> Records:
    """Return losses that are 1 with a probability of `share`."""
    n, rng = 20, np.random.default_rng(seed)
    counts = rng.multinomial(n, np.full(n, 1 / n), size=n_resamples)
    return Records(
        losses=rng.random(n) < share,
        no_information=0.55 * 0.6 + 0.45 * 0.4,
        bootstrap=BootstrapLosses(counts, rng.random((n_resamples, n)) < share),
        inner=InnerErrors(rng.random(n_resamples) * 2 * share, 50 * n_resamples),
        folds=FoldLosses(rng.random(n) < share, np.arange(n) % 10),
        leave_one_out=FoldLosses(rng.random(n) < share, np.arange(n)),
        test_set=TestSetLosses(rng.random(n) < share, n),
    )


def equal_losses(value: Any) -> Records:
    """Return losses that are all `value`."""
    n, n_resamples = 20, 60
    counts = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=n_resamples)
    return Records(
        losses=np.full(n, value),
        no_information=0.55 * 0.6 + 0.45 * 0.4,
        bootstrap=BootstrapLosses(counts, np.full((n_resamples, n), value)),
        inner=InnerErrors(np.full(n_resamples, float(value)), 0),
        folds=FoldLosses(np.full(n, value), np.arange(n) % 10),
        leave_one_out=FoldLosses(np.full(n, value), np.arange(n)),
        test_set=TestSetLosses(np.full(n, value), n),
    )
