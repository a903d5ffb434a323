"""Effective sample sizes: distinct points that one resampling step trains on, and rows that count among groups."""

from __future__ import annotations

import numpy as np

from cudbound.records import Records


def effective_size_bootstrap(n_samples: float) -> float:
    """Return n* = n (1 - (1 - 1/n)^n), the expected number of distinct points in a bootstrap draw.

    References
    ----------
    Laber and Murphy (2008), section 2, footnote 1.

    Examples
    --------
    >>> round(effective_size_bootstrap(30), 3)
    19.15
    """
    return float(n_samples * (1.0 - (1.0 - 1.0 / n_samples) ** n_samples))


def effective_size_folds(n_samples: int, n_folds: int) -> float:
    """Return n* = n - n/k, the number of points that one fold's classifier is trained on.

    The footnote of the paper defines n* for any resampling; that the training points count, and not the
    tested ones, is our reading for cross-validation.

    References
    ----------
    Laber and Murphy (2008), section 2, footnote 1.

    Examples
    --------
    >>> effective_size_folds(30, 10)
    27.0
    """
    return n_samples - n_samples / n_folds


def design_effect(records: Records) -> float:
    """Return the factor by which groups of rows enlarge the variance of a mean loss.

    It is that of the out-of-bag losses: with e_ib the loss on row i of the refit on a draw b that left its group out,
    and m their mean, sum_b sum_groups (sum_i (e_ib - m))^2 / sum_b sum_i (e_ib - m)^2, the ratio of the variance of a
    mean of whole groups to that of as many independent rows. 1 without groups; infinite where the losses do not vary,
    which says nothing of how they vary together.

    Parameters
    ----------
    records : Records
        With `bootstrap`, drawn by `groups` if there are any.

    References
    ----------
    Kish, L. (1965). Survey sampling, section 8.2; linearized, so that groups may have different sizes.

    Examples
    --------
    >>> from cudbound.groups import Groups
    >>> from cudbound.records import BootstrapLosses
    >>> counts = np.array([[0, 0, 0, 0, 2, 2]])
    >>> losses = BootstrapLosses(counts, np.array([[1, 1, 0, 0, 0, 0]]), uneven=True)
    >>> design_effect(Records(bootstrap=losses, groups=Groups.of([1, 1, 2, 2, 3, 3])))
    2.0
    """
    if records.groups is None:
        return 1.0
    bootstrap = records.require("bootstrap")
    outside = np.asarray(bootstrap.counts) == 0
    losses = np.asarray(bootstrap.losses, dtype=float)
    deviations = np.where(outside, losses - losses.mean(where=outside) if outside.any() else 0.0, 0.0)
    of_rows = float((deviations**2).sum())
    return float((records.groups.sum(deviations) ** 2).sum()) / of_rows if of_rows > 0.0 else np.inf


def effective_rows(records: Records) -> float:
    """Return n / `design_effect`, at most the number of rows n and at least that of groups; n counts weighted rows.

    Examples
    --------
    >>> from cudbound.groups import Groups
    >>> from cudbound.records import BootstrapLosses
    >>> counts = np.array([[0, 0, 0, 0, 2, 2]])
    >>> losses = BootstrapLosses(counts, np.array([[1, 1, 0, 0, 0, 0]]), uneven=True)
    >>> effective_rows(Records(bootstrap=losses, groups=Groups.of([1, 1, 2, 2, 3, 3])))
    3.0
    """
    if records.groups is None:
        return records.n_effective
    found = records.n_effective / max(design_effect(records), 1.0)
    return max(found, min(float(records.groups.n_groups), records.n_effective))
