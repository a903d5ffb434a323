"""What `cudbound interval` does once the command line is understood; nothing here parses or prints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cudbound.cli.advice import OF_INTERVAL, advice_of_the_command, collected_warnings
from cudbound.cli.fitted import Fitted
from cudbound.cli.sample import Sample, make_cv
from cudbound.cli.settings import SharedSettings

if TYPE_CHECKING:
    from cudbound.exceptions import NotCertifiedWarning
    from cudbound.report.tables import RunDescription
    from cudbound.results import IntervalTable


@dataclass(frozen=True, kw_only=True)
class Settings(SharedSettings):
    """How the intervals are computed: further arguments of `cudbound.compare_intervals`."""

    methods: str | tuple[str, ...] = "paper"
    n_resamples: int = 1000
    alpha: str | float = "n"
    node_limit: int | None = None
    inner: int | str | None = None
    fallback: bool = False
    polish: bool = False
    solver: str = "native"

    def choices(self, sample: Sample) -> str | None:
        """Return the options of the command line that change numbers and stand nowhere else in the notes."""
        given = [super().choices(sample) or "", "--fallback" if self.fallback else ""]
        return " ".join(filter(None, given)) or None


@dataclass(frozen=True)
class Outcome:
    """A finished table with its description, the package's warnings, and whether every draw was solved."""

    table: IntervalTable
    run: RunDescription
    warnings: tuple[str, ...]
    certified: bool


def compute(fitted: Fitted, settings: Settings, *, progress: bool = False) -> Outcome:
    """Compute the intervals for the error of a fitted classifier.

    Raises
    ------
    ValueError
        If the CUD bound is asked for and cannot be had for this classifier; the message has the way out.
    """
    from cudbound import compare_intervals
    from cudbound.exceptions import NotCertifiedWarning

    cv, groups = make_cv(fitted.sample, settings.folds)
    with (
        collected_warnings("some of the refits", OF_INTERVAL) as collected,
        advice_of_the_command(saved=fitted.saved),
    ):
        table = compare_intervals(
            fitted.estimator,
            fitted.X,
            fitted.y,
            methods=settings.methods,
            confidence_level=settings.confidence_level,
            n_resamples=settings.n_resamples,
            alpha=settings.alpha,
            inner=settings.inner,
            options=settings.options,
            sizes=settings.sizes,
            cv=cv,
            groups=groups,
            fallback=settings.fallback,
            polish=settings.polish,
            solver=settings.solver,
            rng=settings.seed,
            n_jobs=settings.n_jobs,
            node_limit=settings.node_limit,
            progress=progress,
        )
    said = [
        not_certified(warning, settings) if isinstance(warning, NotCertifiedWarning) else str(warning)
        for warning in collected
    ]
    return Outcome(
        table,
        describe(fitted, settings),
        tuple(dict.fromkeys((*fitted.warnings, *said))),
        not any(isinstance(warning, NotCertifiedWarning) for warning in collected),
    )


def not_certified(event: NotCertifiedWarning, settings: Settings) -> str:
    """Word the warning for the command line, which has other means to go on than Python has."""
    reasons = []
    if event.n_limited:
        reasons.append(f"{event.n_limited} by the limit on nodes: raise --node-limit or leave it out")
    if event.n_inaccurate:
        reasons.append(
            f"{event.n_inaccurate} because of rounding: rescale the features or look for an outlying value"
        )
    return (
        f"{event.n_limited + event.n_inaccurate} of {settings.n_resamples} draws were not solved to the end, "
        f"{'; '.join(reasons)}. Their upper bounds were used, which can only make the interval longer."
    )


def describe(fitted: Fitted, settings: Settings) -> RunDescription:
    """Return what the notes under the table say of the data, the classifier and the run."""
    from cudbound.report.tables import RunDescription

    sample = fitted.sample
    return RunDescription(
        **sample.described(),
        n_resamples=settings.n_resamples,
        alpha=settings.alpha,
        seed=settings.seed,
        classifier=fitted.description,
        choices=settings.choices(sample),
    )
