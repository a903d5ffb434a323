"""Shards of a study: the replicates that each of several runs has, and a script that runs them as a Slurm job array."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

from cudbound.rounding import printable
from cudbound.validation import check_integer

#: The number of a shard, from 1 up, and how many there are.
Shard = tuple[int, int]


def read_shard(text: str) -> Shard:
    """Return the shard that a text such as "3/8" names.

    Raises
    ------
    ValueError
        If it names none.

    Examples
    --------
    >>> read_shard("3/8")
    (3, 8)
    """
    found = re.fullmatch(r"([0-9]+)/([0-9]+)", text)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise ValueError(f"{text!r} is no shard such as 3/8, the third of eight.")
    return int(found[1]), int(found[2])


def check_shard(shard: Any, n_replicates: int) -> Shard | None:
    """Return a shard of a study with so many replicates in each cell; None stands for all of it.

    Raises
    ------
    ValueError
        If it is no pair of integers, is out of range, or there are more shards than replicates.
    """
    if shard is None:
        return None
    try:
        first, second = shard
        number = check_integer("shard", first, 1)
        n_shards = check_integer("shard", second, number)
    except (TypeError, ValueError) as error:
        raise ValueError(
            "The 'shard' parameter must be a pair (i, n) of integers with 1 <= i <= n, or None. "
            f"Got {shard!r} instead."
        ) from error
    if n_shards > n_replicates:
        raise ValueError(
            f"shard {number}/{n_shards}: the study has {n_replicates} replicates of each scenario and size; make at "
            "most as many shards."
        )
    return number, n_shards


def replicates_of(shard: Shard | None, n_replicates: int) -> range:
    """Return the numbers of the replicates that a shard has in every cell; None has all.

    Examples
    --------
    >>> list(replicates_of((3, 8), 20))
    [2, 10, 18]
    """
    number, n_shards = (1, 1) if shard is None else shard
    return range(number - 1, n_replicates, n_shards)


def slurm_script(design: Path, n_shards: int) -> str:
    """Return a script for ``sbatch``, to lie beside a design file, each task of which runs one shard of the study.

    The names are quoted, so that a shell reads them as they are.
    """
    shown = printable(design.stem)
    return f"""\
#!/bin/bash
# Runs a study as a Slurm job array, each task one shard into a store of its own. In this folder, on the cluster:
#     sbatch {shown}.slurm
# When all tasks have ended, in whatever way:
#     cudbound study merge {shown}-shards/*.sqlite --store {shown}.sqlite
#     cudbound study status {shown}.sqlite --missing
# The last line that this prints names the shards that are not done. They resume where they stopped:
#     sbatch --array=3,7 {shown}.slurm
# Adapt the settings to your cluster, and activate the environment that has cudbound. The array must be 1-N for N
# shards, and the limit must end before the time does, to leave some for the last replicates.
#SBATCH --array=1-{n_shards}
#SBATCH --cpus-per-task=1
#SBATCH --mem-per-cpu=2G
#SBATCH --time=04:00:00
#SBATCH --output=%x-%a.log

set -eu
SHARDS={n_shards}
LIMIT_MINUTES=220
DESIGN={shlex.quote(design.name)}
FOLDER={shlex.quote(f"{design.stem}-shards")}

mkdir -p -- "$FOLDER"
cudbound study run "$DESIGN" --store "$FOLDER/$SLURM_ARRAY_TASK_ID.sqlite" \\
    --shard "$SLURM_ARRAY_TASK_ID/$SHARDS" --jobs "${{SLURM_CPUS_PER_TASK:-1}}" --limit-minutes "$LIMIT_MINUTES"
"""
