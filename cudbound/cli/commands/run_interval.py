"""What `cudbound interval` does once the command line is understood; nothing here parses or prints."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from cudbound.cli.inputs.fitted import FittedClassifier
from cudbound.cli.inputs.metric_options import make_metrics
from cudbound.cli.inputs.settings import SharedSettings
from cudbound.cli.output.advice import INTERVAL_OPTIONS, advice_of_the_command, collected_warnings
from cudbound.cli.output.outcome import CommandOutcome
from cudbound.cli.output.seed_ranges import SeedRanges
from cudbound.exceptions import NotCertifiedWarning

if TYPE_CHECKING:
    from cudbound.audit.saved_result import SavedCommand
    from cudbound.inputs.csv_columns import TrainingData
    from cudbound.metrics.asked import Metrics
    from cudbound.report.tables import RunDescription
    from cudbound.tables.table import IntervalTable


@dataclass(frozen=True, kw_only=True)
class Settings(SharedSettings):
    """How the intervals are computed: further arguments of `cudbound.compare_intervals`."""

    methods: str | tuple[str, ...] = "recommended"
    metric: tuple[str, ...] = ("error",)
    joint: bool = False
    costs: Mapping[str, float] = field(default_factory=dict)
    prevalence: float | str | None = None
    alternative: str = "two-sided"
    n_resamples: int = 1000
    localization: str | float = "n"
    node_limit: int | None = None
    total_node_limit: float | None = None
    total_time_limit: float | None = None
    inner: int | str | None = None
    fallback: bool = False
    polish: bool = False
    solver: str = "native"
    n_seeds: int | None = None

    def arguments(self, sample: TrainingData) -> dict[str, Any]:
        """Return the arguments for `cudbound.compare_intervals`, with the limits of the search in one."""
        from cudbound.solve.limits import SearchLimits

        given = super().arguments(sample)
        # of metrics one argument is made, and other seeds are other calls
        for name in ("metric", "joint", "costs", "prevalence", "n_seeds"):
            given.pop(name)
        limits = SearchLimits(
            nodes=given.pop("total_node_limit"),
            seconds=given.pop("total_time_limit"),
            nodes_per_draw=given.pop("node_limit"),
        )
        weights = {} if sample.weights is None else {"sample_weight": sample.weights}
        return given | {"limits": limits} | weights

    def choices(self, sample: TrainingData) -> list[str]:
        """Return the options of the command line that change numbers and stand nowhere else in the notes."""
        given = [*super().choices(sample), *(["--fallback"] if self.fallback else [])]
        if sample.weight is not None:
            given.append(f"--weight {shlex.quote(sample.weight)}")
        if self.metric != ("error",):
            given.append(f"--metric {','.join(self.metric)}")
        given += [f"--cost {shlex.quote(f'{value}={cost:g}')}" for value, cost in self.costs.items()]
        if self.prevalence is not None:
            given.append(f"--prevalence {self.prevalence}")
        if self.n_seeds is not None:
            given.append(f"--seeds {self.n_seeds}")
        return [*given, *(["--joint"] if self.joint else [])]

    @property
    def names_metrics(self) -> bool:
        """Whether anything was said of metrics."""
        return self.metric != ("error",) or self.joint or bool(self.costs) or self.prevalence is not None

    def metrics(self, fitted: FittedClassifier) -> Metrics:
        """Return what is bounded, in the labels of the classifier."""
        return make_metrics(fitted, self.metric, self.costs, self.prevalence, self.joint)


def compute(fitted: FittedClassifier, settings: Settings) -> CommandOutcome:
    """Compute the intervals for the error of a fitted classifier, with several seeds if that is asked.

    Raises
    ------
    ValueError
        If the CUD bound is requested and is unavailable for this classifier; the message says how to continue.
    """
    from cudbound.seeds import over_seeds
    from cudbound.tables.compare_intervals import compare_intervals

    arguments = settings.arguments(fitted.sample)
    if settings.names_metrics:
        arguments["metric"] = settings.metrics(fitted)
    tables = []

    def table_of(rng: int) -> IntervalTable:
        tables.append(compare_intervals(fitted.estimator, fitted.X, fitted.y, **arguments | {"rng": rng}))
        return tables[-1]

    over = None
    with (
        collected_warnings("some of the refits", INTERVAL_OPTIONS) as collected,
        advice_of_the_command(saved=fitted.saved),
    ):
        if settings.n_seeds is None:
            table_of(arguments["rng"])
        else:
            over = SeedRanges.of(over_seeds(table_of, settings.n_seeds, arguments["rng"]))
    table = tables[0]
    messages = [
        not_certified(one, settings) if isinstance(one, NotCertifiedWarning) else str(one)
        for one in collected
    ]
    certified = not any(isinstance(one, NotCertifiedWarning) for one in collected)
    warnings = tuple(dict.fromkeys((*fitted.warnings, *messages)))
    if over is not None:
        said = zip(table.rows, over.words, strict=True)
        rows = (
            replace(row, remarks=(*row.remarks, f"over {len(over.seeds)} seeds: {words}"))
            for row, words in said
        )
        table = replace(table, rows=tuple(rows))
    run = replace(describe(fitted, settings), cautions=() if table.run is None else table.run.cautions)
    return CommandOutcome(table, run, warnings, certified, over)


def save(outcome: CommandOutcome, command: SavedCommand) -> str:
    """Return the text of the file for ``cudbound verify``."""
    from cudbound.exceptions import SavedResultError
    from cudbound.tables.saved_table import save_table
    from cudbound.tables.table import IntervalTable

    table = outcome.table
    assert isinstance(table, IntervalTable), "no other command saves"
    try:
        return replace(save_table(table.rows, table.source), command=command).to_text()
    except SavedResultError as error:
        raise ValueError(f"--save: {error}") from error


def not_certified(event: NotCertifiedWarning, settings: Settings) -> str:
    """Word the warning for the command line, which has other ways to continue than Python has."""
    from cudbound.quantiles import within

    known, remedy = "aci: bounds were used", "raise --node-limit"
    if event.half_width is not None:
        q = "q" if event.method == "cud" else "q-"
        known = f"{event.method}: {q} is {within(*event.half_width)}; the larger value was used"
        if settings.node_limit is None:
            remedy = (
                "give the search more time with --time-limit SECONDS, or let it end by itself with "
                "--total-node-limit none"
            )
    messages = [f"{known}, which can only make the interval longer."]
    limited = f"{event.n_limited} of {settings.n_resamples} draws"
    if event.n_limited:
        messages.append(f"A limit left {limited} open: {remedy}.")
    if event.n_inaccurate:
        messages.append(
            f"Rounding left {event.n_inaccurate} draws open: rescale the features or look for an outlying value."
        )
    return " ".join(messages)


def describe(fitted: FittedClassifier, settings: Settings) -> RunDescription:
    """Return what the notes under the table say of the data, the classifier and the run."""
    from cudbound.report.described import weighted_share
    from cudbound.report.tables import RunDescription

    return RunDescription(
        **settings.described(fitted.sample),
        n_resamples=settings.n_resamples,
        localization=settings.localization,
        classifier=fitted.description,
        weighted_share=weighted_share(fitted.sample.y == 1, fitted.sample.weights),
    )
