"""The search of the draws of the CUD bound: for one quantile or completely, and its limits."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from cudbound.basis.exceptions import NotCertifiedWarning, SolveInterrupted
from cudbound.basis.quantiles import quantile_rank, within
from cudbound.basis.solved_draws import Draws, SolveStatus
from cudbound.basis.validation import check_n_jobs
from cudbound.problem.problem import Problem
from cudbound.solve.effort import default_node_budget, nodes_within
from cudbound.solve.limits import NO_LIMITS, SearchLimits
from cudbound.solve.solve_draws import solve_draws


@dataclass(frozen=True)
class Search:
    """Arguments of `cudbound.cud_interval` that control how far draws are solved, and when the search ends.

    A result keeps them, for resuming its search at another level in the same way.
    """

    all_draws: bool = False
    n_jobs: int | None = 1
    limits: SearchLimits = NO_LIMITS

    @property
    def _is_planned(self) -> bool:
        return not self.all_draws and self.limits.solver == "native" and self.limits.nodes is None

    @property
    def has_default_budget(self) -> bool:
        """Whether the search for the quantile has the default limit."""
        return self._is_planned and self.limits.seconds is None

    def _planned(self, problem: Problem) -> SearchLimits:
        """Return the limits, with the planned nodes of the search: some are reserved for narrowing the bounds."""
        seconds = self.limits.seconds
        if not self._is_planned or seconds == math.inf:
            return self.limits
        if seconds is None:
            return replace(self.limits, nodes=default_node_budget(problem))
        return replace(self.limits, nodes=nodes_within(seconds * check_n_jobs(self.n_jobs), problem))

    def run(
        self,
        problem: Problem,
        confidence_level: float,
        previous: Draws | None = None,
        rank: int | None = None,
    ) -> Draws:
        """Solve the draws as far as the quantile at this level requires, or all of them.

        A `rank` selects another order statistic than that of the level.

        Raises
        ------
        KeyboardInterrupt
            On Ctrl-C; its message has the range of the quantile.
        """
        rank = quantile_rank(problem.n_draws, confidence_level) if rank is None else rank
        try:
            return solve_draws(
                problem,
                ranks=None if self.all_draws else rank,
                n_jobs=self.n_jobs,
                limits=self._planned(problem),
                previous=previous,
            )
        except SolveInterrupted as stopped:
            raise KeyboardInterrupt(
                f"stopped with {int(stopped.draws.decided.sum())} of {problem.n_draws} draws solved; the half-width is "
                f"{within(*stopped.draws.bracket(rank))}"
            ) from None


def search_ended(search: Search, draws: Draws, lower: float, upper: float) -> NotCertifiedWarning:
    """Return a warning with the range of the quantile and, for each reason why it is not proved, what to do."""
    goes_on = "; at(limits=...) of a result of cud_interval continues the search"
    inaccurate = np.flatnonzero(draws.status == SolveStatus.INACCURATE)
    n_limited = int((~draws.decided).sum()) - inaccurate.size
    advice = [
        f"The half-width is {within(lower, upper)}; the larger value was used, which can only make the interval longer."
    ]
    if n_limited and search.has_default_budget:
        advice.append(
            f"The search stopped after {draws.nodes.sum()} nodes, with {n_limited} of {len(draws)} draws unsolved: "
            f"pass bound=Bound(limits=SearchLimits(nodes=math.inf)) to complete the search{goes_on}."
        )
    elif n_limited:
        advice.append(
            f"A limit stopped the search in {n_limited} of {len(draws)} draws: increase it in "
            f"bound=Bound(limits=SearchLimits(...)){goes_on}."
        )
    if inaccurate.size:
        advice.append(
            f"Rounding left {inaccurate.size} draws unproved: rescale the features or look for an outlier; "
            f"result.problem.select({inaccurate[0]}).save(path) saves one for a bug report."
        )
    return NotCertifiedWarning(
        " ".join(advice),
        n_limited=n_limited,
        n_inaccurate=int(inaccurate.size),
        half_width=(lower, upper),
        method="cud",
    )
