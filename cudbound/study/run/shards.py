"""Shards of a study: the replicates of each of several runs."""

from __future__ import annotations

import re
from typing import Any

from cudbound.basis.parameter_error import ParameterError
from cudbound.basis.validation import check_integer

#: The number of a shard, from 1, and the number of shards.
Shard = tuple[int, int]


def read_shard(text: str) -> Shard:
    """Parse a shard such as "3/8".

    Raises
    ------
    ValueError
        If the text is not a shard.

    Examples
    --------
    >>> read_shard("3/8")
    (3, 8)
    """
    found = re.fullmatch(r"([0-9]+)/([0-9]+)", text)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise ValueError(f"{text!r} is not a shard such as 3/8, the third of eight.")
    return int(found[1]), int(found[2])


def check_shard(shard: Any) -> Shard | None:
    """Return a shard of a study; None means the whole study.

    Raises
    ------
    ValueError
        If it is not a pair of integers, or out of range.
    """
    if shard is None:
        return None
    try:
        number, n_shards = shard
        check_integer("shard", number, 1, check_integer("shard", n_shards, 1))
    except (TypeError, ValueError) as error:
        raise ParameterError("shard", "a pair (i, n) of integers with 1 <= i <= n, or None", shard) from error
    return number, n_shards


def replicates_of(shard: Shard | None, n_replicates: int) -> range:
    """Return the replicate numbers of a shard in every cell; None has all.

    Examples
    --------
    >>> list(replicates_of((3, 8), 20))
    [2, 10, 18]
    """
    number, n_shards = (1, 1) if shard is None else shard
    return range(number - 1, n_replicates, n_shards)
