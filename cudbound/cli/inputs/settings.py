"""What the commands that compute have in common, and how the notes under a table name it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cudbound.cli.inputs.sample import make_cv

if TYPE_CHECKING:
    from cudbound.inputs.csv_columns import TrainingData
    from cudbound.resampling import ResamplingSizes


@dataclass(frozen=True, kw_only=True)
class SharedSettings:
    """Arguments of the package that every command which computes passes on, by the names that the package has for them.

    An option of a command has the name of its field: a new one is declared there and here, and nowhere else.

    Attributes
    ----------
    seed : int
        The ``rng``.
    confidence_level : float, default 0.95
    n_jobs : int, default 1
    options : mapping of str to mapping, default {}
        Options of single methods by name.
    sizes : ResamplingSizes or None, default None
    folds : int or None, default None
        Number of folds of the ``cv``; None means that the methods draw their own, or the package folds of whole groups.
    """

    seed: int
    confidence_level: float = 0.95
    n_jobs: int = 1
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    sizes: ResamplingSizes | None = None
    folds: int | None = None

    def arguments(self, sample: TrainingData) -> dict[str, Any]:
        """Return the arguments for the entry point that the command calls, with the folds made of the sample."""
        given = dict(vars(self))
        cv, groups = make_cv(sample, given.pop("folds"))
        return given | {"rng": given.pop("seed"), "cv": cv, "groups": groups}

    def choices(self, sample: TrainingData) -> list[str]:
        """Return the options of the command line that change numbers and stand nowhere else in the notes.

        They can be pasted into a command that repeats the run.
        """
        given = []
        if self.sizes is not None:
            default = vars(type(self.sizes)())
            asked = vars(self.sizes).items()
            given += [f"--size {name}={value}" for name, value in asked if value != default[name]]
        given += [
            f"--option {method}.{name}={value}"
            for method, options in self.options.items()
            for name, value in options.items()
        ]
        if self.folds is not None:
            given.append(f"--folds {self.folds}")
        if sample.group is not None:
            given.append(f"--group {shlex.quote(sample.group)}")
        return given

    def described(self, sample: TrainingData) -> dict[str, Any]:
        """Return what the notes under every table say of the data and the run, by the names of their fields."""
        events = int(sample.y.sum())
        return {
            "source": sample.source,
            "n_samples": sample.y.size,
            "n_events": events,
            "n_non_events": sample.y.size - events,
            "event": sample.event,
            "features": sample.feature_names,
            "preparation": sample.notes,
            "seed": self.seed,
            "choices": " ".join(self.choices(sample)) or None,
        }
