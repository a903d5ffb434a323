"""What a call has computed so far, and how a call that was stopped is resumed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np

from cudbound.exceptions import RunInterrupted, SolveInterrupted
from cudbound.parameter_error import ParameterError
from cudbound.report.described import seed_of
from cudbound.resampling import ResamplingPlan
from cudbound.resampling.refits import Tape
from cudbound.results import Draws
from cudbound.validation import check_rng

if TYPE_CHECKING:
    from cudbound.tables.session import TrainingSet


@dataclass(frozen=True, eq=False)
class Unfinished:
    """What a run that was stopped had computed; pass it as ``previous=`` to the same call to resume.

    Attributes
    ----------
    rng : numpy.random.Generator
        The random numbers as they were at the start of the run.
    tape : Tape
        Losses of the refits that were made.
    draws : dict of str to Draws
        What was proved about the draws of the CUD bound, by the field of `cudbound.records.Records`.
    digest : str
        Names the data and the arguments, so that it is not taken for another run's.
    """

    rng: np.random.Generator = field(repr=False)
    tape: Tape = field(repr=False)
    draws: dict[str, Draws] = field(repr=False)
    digest: str = field(repr=False)

    @property
    def n_fits(self) -> int:
        """Number of refits that were made."""
        return self.tape.n_fits


class Run:
    """One run of an entry point: its random numbers and what it has computed so far.

    Parameters
    ----------
    rng : int, numpy.random.Generator or None
    previous : Unfinished or None
        Its random numbers and results are used instead of new ones.

    Attributes
    ----------
    seed : int or None
        The seed, if `rng` is one.

    Raises
    ------
    ValueError
        If one of them is none of these.
    """

    def __init__(self, rng: Any, previous: Unfinished | None):
        if previous is not None and not isinstance(previous, Unfinished):
            raise ParameterError("previous", "what RunInterrupted carries as 'unfinished', or None", previous)
        generator = check_rng(rng)
        self._previous = previous
        self._start = deepcopy(generator if previous is None else previous.rng)
        self._identity: object = None
        self.rng = generator if previous is None else deepcopy(previous.rng)
        # a resumed run has the random numbers of the stopped one, and its seed only if that is what was passed again
        known = previous is None or generator.bit_generator.state == previous.rng.bit_generator.state
        self.seed = seed_of(rng) if known else None
        self.tape = Tape(None if previous is None else previous.tape)
        self.draws = {} if previous is None else dict(previous.draws)

    def identify(self, sample: TrainingSet, plan: ResamplingPlan, *arguments: object) -> None:
        """Note the data and the arguments that decide the results.

        Raises
        ------
        ValueError
            If `previous` belongs to others.
        """
        splits = None if plan.splits is None else (plan.splits.training, plan.splits.test)
        sizes = (plan.n_inner, plan.sizes, plan.on_single_class, splits)
        groups = None if sample.groups is None else sample.groups.codes
        self._identity = (sample.X, sample.y, groups, sorted(plan.needs), sizes, arguments)
        if self._previous is not None and self._previous.digest != self._digest:
            raise ValueError(
                "The 'previous' parameter belongs to other data or other arguments. Pass those of the run that was "
                "stopped, or leave it out."
            )

    @property
    def _digest(self) -> str:
        return str(joblib.hash(self._identity))  # only a run that stops or resumes needs it

    @property
    def unfinished(self) -> Unfinished:
        """What has been computed so far."""
        return Unfinished(self._start, self.tape, dict(self.draws), self._digest)

    @contextmanager
    def stoppable(self, solving: str = "") -> Iterator[None]:
        """Turn Ctrl-C into `RunInterrupted`, which carries what has been computed so far.

        `solving` is the field of `cudbound.records.Records` whose draws are being solved, if any are.
        """
        try:
            yield
        except SolveInterrupted as stopped:
            self.draws[solving] = stopped.draws
            raise RunInterrupted(self.unfinished, stopped.proved) from stopped
        except KeyboardInterrupt as stopped:
            raise RunInterrupted(self.unfinished) from stopped
