"""The question of a call: the one place where methods, metrics, level and settings are checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic

import numpy as np

from cudbound.basis.exceptions import (
    ParameterError,
)
from cudbound.basis.method_card import Card, RequestedMethods
from cudbound.basis.validation import (
    check_choice,
    check_confidence_level,
    check_flag,
    check_n_jobs,
    check_rng,
    check_settings,
    seed_of,
)
from cudbound.bound.cud_bound import Bound
from cudbound.intervals.method import ALTERNATIVES
from cudbound.metrics.metrics import Metrics, as_metrics
from cudbound.problem.draws import check_resamples
from cudbound.resampling.settings import Resampling, spawn_streams
from cudbound.solve.search import Search


@dataclass(frozen=True, eq=False, kw_only=True)
class Question(Generic[Card]):
    """The question about a training set, without the data.

    Attributes
    ----------
    methods : RequestedMethods
        With their options.
    metrics : Metrics
    confidence_level : float
    alternative : {"two-sided", "less", "greater"}
        About the metrics.
    n_resamples : int
    resampling : Resampling
    bound : Bound
    all_draws : bool
        Whether all draws of the bound are solved completely.
    rng : numpy.random.Generator
    streams : mapping of str to numpy.random.Generator
        One per record, from `rng`.
    seed : int or None
        Seed of `rng`, if known.
    n_jobs : int
    """

    methods: RequestedMethods[Card]
    metrics: Metrics = field(default_factory=lambda: Metrics("error"))
    confidence_level: float = 0.95
    alternative: str = "two-sided"
    n_resamples: int = 1000
    resampling: Resampling = field(default_factory=Resampling)
    bound: Bound = field(default_factory=Bound)
    all_draws: bool = False
    rng: np.random.Generator = field(repr=False)
    streams: Mapping[str, np.random.Generator] = field(repr=False)
    seed: int | None = None
    n_jobs: int = 1

    @classmethod
    def of(
        cls,
        methods: RequestedMethods[Card],
        *,
        metric: Any = "error",
        event: object = None,
        resampling: object = None,
        bound: object = None,
        rng: object = None,
        n_jobs: object = 1,
        **further: Any,
    ) -> Question[Card]:
        """Return a question from the arguments of a call; `further` are those named like attributes.

        Raises
        ------
        ValueError
            If an argument is out of range.
        """
        metrics = as_metrics(metric, event)
        generator = check_rng(rng)
        question = cls(
            methods=methods.that_read(metrics.kinds),
            metrics=metrics,
            resampling=check_settings("resampling", resampling, Resampling, 'inner="oob"'),
            bound=check_settings("bound", bound, Bound, "polish=True"),
            rng=generator,
            streams=spawn_streams(generator),
            seed=seed_of(rng),
            n_jobs=check_n_jobs(n_jobs),
            **further,
        )
        check_flag("all_draws", question.all_draws)
        check_resamples(question.n_resamples, 1)
        check_confidence_level(question.confidence_level)
        check_choice("alternative", question.alternative, ALTERNATIVES)
        return question

    @property
    def search(self) -> Search:
        """How far the draws of the bound are solved."""
        return Search(self.all_draws, n_jobs=self.n_jobs, limits=self.bound.limits)

    @property
    def readings(self) -> tuple[Card, ...]:
        """The methods for what the metrics evaluate: classes, scores or probabilities."""
        return self.methods.reading(self.metrics.kinds)

    @property
    def choices(self) -> str | None:
        """The options of single methods, in words; None without options."""
        texts = (
            f"{method}.{name}={value}"
            for method, options in self.methods.options.items()
            for name, value in options.items()
        )
        return ", ".join(texts) or None

    def check_one_linear_metric(self, metric: object) -> None:
        """Raise ParameterError unless a single metric that is linear in the losses is requested."""
        names = self.metrics.names
        if len(names) > 1 or set(names) & {"ppv", "npv"}:
            rule = "one metric that is linear in the losses; compare_intervals accepts several, and predictive values"
            raise ParameterError("metric", rule, metric)
