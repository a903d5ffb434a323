"""Sample size planning: the planned study is simulated at several sizes, from a pilot or a world."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cudbound.adapters.procedure import describe_classifier
from cudbound.basis.calls import public_call
from cudbound.basis.exceptions import ParameterError
from cudbound.basis.feature_table import as_table
from cudbound.basis.sample import check_index
from cudbound.basis.validation import (
    MIN_ROWS_PER_CLASS,
    Features,
    Learner,
    check_can_be_refitted,
    check_integer,
    check_lengths,
    check_seed,
    check_settings,
    count_rows,
)
from cudbound.intervals import find_methods
from cudbound.metrics.metric import METRICS
from cudbound.metrics.metrics import Metrics, as_metrics
from cudbound.resampling.settings import Resampling
from cudbound.study.design.design_file import find_world
from cudbound.study.design.scenario import Scenario, Study
from cudbound.study.measure.summary import Summary, summarize_store
from cudbound.study.planning.closed_forms import check_half_width
from cudbound.study.planning.sample_size_plan import PlannedSize, SampleSizePlan
from cudbound.study.populations.population import Population, check_share
from cudbound.study.populations.real_data import RealData
from cudbound.study.run.runner import run_in_memory

#: Sizes from 20 to 200, where most of the studied cells are.
N_SAMPLES = range(20, 201, 20)
#: Standard errors and quantiles need a minimum; the rows of all samples are in memory at once.
MIN_REPLICATES, MAX_REPLICATES = 10, 100_000
#: Half-width of the uninformative interval from 0 to 1.
NOTHING = 0.5


@public_call
def plan_sample_size(
    estimator: Learner,
    X: Features | str | Population,
    y: ArrayLike | None = None,
    *,
    n_samples: Iterable[int] = N_SAMPLES,
    half_width: float = 0.10,
    probability: float = 0.8,
    method: str | tuple[str, Mapping[str, Any]] = "two-center",
    metric: str | Metrics = "error",
    event: object = None,
    confidence_level: float = 0.95,
    n_replicates: int = 100,
    n_resamples: int = 200,
    resampling: Resampling | None = None,
    rng: int | np.random.Generator | None = None,
    n_jobs: int | None = 1,
) -> SampleSizePlan:
    """Plan the number of patients for an interval of a given width, by simulating the study at several sizes.

    At each size, samples are drawn, the classifier is fitted to each, and the interval is computed as in the real
    study. The answer is the smallest number of patients for which the half-width is at most `half_width` with
    probability `probability`.

    Parameters
    ----------
    estimator : object
        Scikit-learn classifier, fitted or not; clones are fitted. It receives labels 0 and 1, where 1 is the event, or
        the second label in order.
    X : array-like, shape (N, n_features), or str, or Population
        Rows of a pilot. Samples are drawn from them with replacement, as if they were the population. The plan
        therefore inherits the chance variation of the pilot, and rows repeat: a classifier looks better on repeated
        rows than on new patients, so sizes are too small, especially those above N. Or the source of samples instead
        of a pilot: the name of a simulated world, such as ``"gaussians"``, or any object with ``name``, ``title`` and
        ``draw``, such as ``cudbound.study.worlds.Gaussians(distance=1.2)``.
    y : array-like, shape (N,), default=None
        Labels of the rows of a pilot, of two classes.
    n_samples : iterable of int, default=range(20, 201, 20)
        Numbers of patients to simulate; at least 4.
    half_width : float, default=0.10
        The target, in (0, 0.5).
    probability : float, default=0.8
        Probability that the half-width is at most `half_width`, in (0, 1).
    method : str or (str, mapping), default="two-center"
        An interval in `cudbound.available_methods`, or a pair (name, options), such as
        ``("bootstrap-percentile", {"quantile": "type-7"})``.
    metric : str or Metrics, default="error"
        "error", "sensitivity" or another metric that needs only its name.
    event : object, default=None
        Label of the event in `y`, as in `cudbound.compare_intervals`; the event of a world is 1.
    confidence_level : float, default=0.95
        In (0, 1).
    n_replicates : int, default=100
        Samples per size, 10 to 100,000. Monte Carlo errors decrease with its square root.
    n_resamples : int, default=200
        Bootstrap draws per interval. Half-widths hardly depend on it, so fewer are enough than for a reported interval.
    resampling : Resampling or None, default=None
        Only its `inner` (None means 50 for the error and "oob" for other metrics) and its `sizes` are used. Every
        sample has its own splits, and draws of one class and copies of rows are treated as `on_single_class` and
        `copies` do by default; other settings raise ValueError.
    rng : int, numpy.random.Generator or None, default=None
        Source of randomness; None uses a new one. The plan stores its seed, which reproduces it exactly.
    n_jobs : int or None, default=1
        Processes; -1 for all cores. Results do not depend on it.

    Returns
    -------
    SampleSizePlan
        Prints as a table with the answer; has ``n_samples_for``, ``to_frame``, ``plot`` and ``describe``.

    Raises
    ------
    ValueError
        If an argument is out of range, or no sample of some size could be analyzed.
    StudyError
        If the method needs a CUD bound and the classifier has none.

    Notes
    -----
    Samples with fewer than two rows of a class are redrawn and counted. A sample without an interval, or with one of
    width zero, counts as the interval from 0 to 1. Rows that belong together, such as those of one patient, are not
    kept together: plan with one row per patient.

    How many *new* patients are needed to test a classifier that is fitted already is another question, which
    `cudbound.study.closed_form_sample_sizes` answers.

    Examples
    --------
    >>> from cudbound import LeastSquaresClassifier, plan_sample_size
    >>> plan = plan_sample_size(
    ...     LeastSquaresClassifier(), "gaussians", n_samples=(40, 160), n_replicates=10, n_resamples=50, rng=0
    ... )
    >>> 60 < plan.n_samples_for(half_width=0.10, probability=0.8).n < 120
    True
    """
    check_half_width(half_width)
    check_share("probability", probability)
    check_can_be_refitted(estimator)
    check_integer("n_replicates", n_replicates, MIN_REPLICATES, MAX_REPLICATES)
    methods = find_methods([method], argument="method")
    if len(methods) > 1:
        raise ParameterError("method", "the name of one interval, or a pair (name, options)", method)
    metrics = as_metrics(metric, event)
    if len(metrics.names) > 1 or metrics.names[0] not in METRICS:
        raise ParameterError("metric", f"one of {[*METRICS]}", metric)
    methods = methods.that_read(metrics.kinds)
    population = _population(X, y, metrics)
    study = Study(
        name="plan",
        scenarios=(Scenario(population.name, population, estimator, metric=metrics.names),),
        n_samples=tuple(sorted({check_integer("n_samples", n, 4) for n in n_samples})),
        n_replicates=n_replicates,
        methods=methods.methods,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        options=methods.options,
        seed=check_seed(rng),
        **_settings(resampling),
    )
    pilot = None if y is None or not isinstance(population, RealData) else population
    return SampleSizePlan(
        sizes=_sizes(_run(study, n_jobs), pilot is not None),
        half_width=half_width,
        probability=probability,
        method=study.methods[0],
        metric=metrics.names[0],
        confidence_level=study.confidence_level,
        source=getattr(population, "cases", population.title) if pilot is None else pilot.words,
        n_pilot=None if pilot is None else pilot.n_cases,
        classifier=describe_classifier(estimator),
        n_resamples=n_resamples,
        seed=study.seed,
    )


def _settings(resampling: object) -> dict[str, Any]:
    """Return the resampling settings for a study."""
    settings = check_settings("resampling", resampling, Resampling, 'inner="oob"')
    for name in ("cv", "on_single_class", "copies"):
        if getattr(settings, name) is not None:
            raise ParameterError(name, "None: a plan has many samples", getattr(settings, name))
    return {"sizes": settings.sizes} | ({} if settings.inner is None else {"inner": settings.inner})


def _population(X: Any, y: ArrayLike | None, metrics: Metrics) -> Population:
    """Return the source of samples."""
    is_world = isinstance(X, str) or all(hasattr(X, name) for name in ("name", "title", "draw"))
    if is_world == (y is not None):
        rule = "None with a world" if is_world else "given with X, as the labels of its rows"
        raise ParameterError("y", rule, y)
    if isinstance(X, str):
        return find_world(X, {})[0]
    world: Population = X if is_world else _pilot(X, y, metrics)
    return world


def _pilot(X: Any, y: Any, metrics: Metrics) -> RealData:
    """Return the rows of a pilot as a population; class 1 is the event of the metrics."""
    check_index(X, y)
    rows, labels = as_table(X), np.asarray(y)
    check_lengths(count_rows(rows), labels.size)
    classes, counts = np.unique(labels, return_counts=True)
    if classes.size != 2 or counts.min() < MIN_ROWS_PER_CLASS:
        sizes = dict(zip(classes.tolist()[:5], counts.tolist()[:5], strict=True))
        raise ParameterError("y", f"of two classes with at least {MIN_ROWS_PER_CLASS} rows each", sizes)
    events = (labels == classes[metrics.resolve(classes.tolist()).event_class]).astype(np.int64)
    words = f"{labels.size} rows of a pilot with {events.sum()} events, drawn with replacement"
    return RealData("pilot", words, rows, events, "population")


def _run(study: Study, n_jobs: int | None) -> Summary:
    with run_in_memory(study, n_jobs=n_jobs) as store:
        for cell in store.status().cells:
            if cell.n_failed == cell.n_done:
                raise ValueError(f"No sample of {cell.n} patients could be analyzed: {cell.reason}")
        return summarize_store(store)


def _sizes(summary: Summary, is_pilot: bool) -> tuple[PlannedSize, ...]:
    """Return the results at each size; the summary has one method."""
    rows, cells, samples = summary.scores, summary.judged_cells.set_index("n"), summary.samples.set_index("n")
    informative = (rows["width"] > 0.0) & ~rows["degenerate"]
    half_widths = (rows["width"] / 2.0).where(informative, NOTHING)
    names = () if is_pilot else ("coverage", "coverage_mcse")
    return tuple(
        PlannedSize(
            n,
            half_widths[rows["n"] == n].to_numpy(),
            **{name: float(cells[name][n]) for name in names},
            n_without=int((~informative[rows["n"] == n]).sum()),
            n_redrawn=int(samples["n_redrawn"][n]),
        )
        for n in samples.index.tolist()
    )
