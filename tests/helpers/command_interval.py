"""``cudbound interval`` on two features and the labels "ill" and "well", of which "well" is the event."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from click.testing import CliRunner, Result
from numpy.typing import NDArray

from cudbound.cli.group import main


def interval_on(
    X: NDArray[np.float64], y: NDArray[np.str_], folder: Path, *, n_resamples: int, seed: int
) -> Callable[..., Result]:
    """Write the rows into a file, and return the command on it, which takes further options."""
    file = folder / "patients.csv"
    lines = [f"{a},{b},{label}" for (a, b), label in zip(X, y, strict=True)]
    file.write_text("\n".join(["age,dose,state", *lines]) + "\n")
    read = ["interval", str(file), "--target", "state", "--positive", "well"]
    fixed = [*read, "--classifier", "least-squares", "--resamples", str(n_resamples), "--seed", str(seed)]
    return lambda *more: CliRunner().invoke(main, [*fixed, *more])
