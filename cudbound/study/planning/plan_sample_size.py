"""Sample size planning: the planned study is simulated at several sizes, from a pilot or a world."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cudbound.adapters.procedure import describe_classifier
from cudbound.basis.calls import public_call
from cudbound.basis.parameter_error import ParameterError
from cudbound.basis.protocols import Features, Learner
from cudbound.basis.refittable import check_can_be_refitted
from cudbound.basis.seeds import check_seed
from cudbound.basis.validation import check_integer
from cudbound.intervals import find_methods
from cudbound.metrics.metric import METRICS
from cudbound.metrics.metrics import Metrics, as_metrics
from cudbound.resampling.resampling import Resampling, check_resampling
from cudbound.study.design.design_file import find_world
from cudbound.study.design.scenario import Scenario, Study
from cudbound.study.measure.summary import Summary, summarize_store
from cudbound.study.planning.closed_forms import ClosedFormSize, check_half_width, closed_form_sample_sizes
from cudbound.study.planning.pilot import Pilot, expected_performance, make_pilot, two_classes
from cudbound.study.planning.sample_size_plan import PlannedSize, SampleSizePlan
from cudbound.study.populations.population import Population
from cudbound.study.populations.simulated import check_share
from cudbound.study.run.replicate import alone
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
    X: Features | None = None,
    y: ArrayLike | None = None,
    *,
    world: str | Mapping[str, Any] | Population | None = None,
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
    X : array-like, shape (N, n_features), default=None
        Rows of a pilot. Samples are drawn from them with replacement, as if they were the population. The plan
        therefore inherits the chance variation of the pilot, and rows repeat: a classifier looks better on repeated
        rows than on new patients, so sizes are too small, especially those above N.
    y : array-like, shape (N,), default=None
        Labels of the rows, of two classes.
    world : str, mapping or Population, default=None
        The source of samples instead of a pilot: the name of a simulated world, such as ``"gaussians"``; its name and
        parameters as in a design file, ``{"world": "gaussians", "distance": 1.2}``; or any object with ``draw``, as in
        `cudbound.study.populations.population.Population`.
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
        Prints as a table with the answer; has ``n_samples_for``, ``to_frame``, ``plot``, ``describe`` and, for
        comparison, ``closed_forms``.

    Raises
    ------
    ValueError
        If an argument is out of range, neither or both of a pilot and a world are given, or no sample of some size
        could be analyzed.
    StudyError
        If the method needs a CUD bound and the classifier has none.

    Notes
    -----
    Samples with fewer than two rows of a class are redrawn and counted. A sample without an interval, or with one of
    width zero, counts as the interval from 0 to 1. Rows that belong together, such as those of one patient, are not
    kept together: plan with one row per patient.

    The closed forms for comparison, `cudbound.closed_form_sample_sizes`, answer a different question: how many *new*
    patients are needed to test an already fitted classifier. They use its expected sensitivity and specificity and the
    share of events from a 10-fold cross-validation of the pilot, or from 20 classifiers fitted to samples of the
    largest size.

    Examples
    --------
    >>> from cudbound import LeastSquaresClassifier, plan_sample_size
    >>> plan = plan_sample_size(
    ...     LeastSquaresClassifier(), world="gaussians", n_samples=(40, 160), n_replicates=10, n_resamples=50, rng=0
    ... )
    >>> 60 < plan.n_samples_for(half_width=0.10, probability=0.8).n < 120
    True
    """
    check_half_width(half_width)
    check_share("probability", probability)
    check_can_be_refitted(estimator)
    check_integer("n_replicates", n_replicates, MIN_REPLICATES, MAX_REPLICATES)
    methods = find_methods([method])
    if len(methods) > 1:
        raise ParameterError("method", "the name of one interval, or a pair (name, options)", method)
    metrics = as_metrics(metric, event)
    if len(metrics.names) > 1 or metrics.names[0] not in METRICS:
        raise ParameterError("metric", f"one of {[*METRICS]}", metric)
    methods = methods.that_read(metrics.kinds)
    population = _population(X, y, world, metrics)
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
    n_pilot = population.y.size if isinstance(population, Pilot) else None
    sizes = _sizes(_run(study, n_jobs), n_pilot is not None)
    return SampleSizePlan(
        sizes=sizes,
        half_width=half_width,
        probability=probability,
        method=study.methods[0],
        metric=metrics.names[0],
        confidence_level=study.confidence_level,
        source=getattr(population, "cases", population.title),
        n_pilot=n_pilot,
        classifier=describe_classifier(estimator),
        n_resamples=n_resamples,
        seed=study.seed,
        closed_forms=_closed_forms(study, half_width),
    )


def _settings(resampling: object) -> dict[str, Any]:
    """Return the resampling settings for a study."""
    settings = check_resampling(resampling)
    for name in ("cv", "on_single_class", "copies"):
        if getattr(settings, name) is not None:
            raise ParameterError(name, "None: a plan has many samples", getattr(settings, name))
    return {"sizes": settings.sizes} | ({} if settings.inner is None else {"inner": settings.inner})


def _population(
    X: Features | None,
    y: ArrayLike | None,
    world: str | Mapping[str, Any] | Population | None,
    metrics: Metrics,
) -> Population:
    """Return the source of samples."""
    if (X is None) != (y is None):
        raise ParameterError("y", "given with X, as the labels of its rows", y)
    if (X is None) == (world is None):
        raise ParameterError("world", "given, or X and y of a pilot, but not both", world)
    if world is None:
        classes = two_classes(y)
        return make_pilot(X, y, classes[metrics.resolve(classes).event_class])
    if not isinstance(world, str | Mapping):
        if not all(hasattr(world, name) for name in ("name", "title", "draw")):
            rule = "the name of a world, a mapping, or an object with name, title and draw"
            raise ParameterError("world", rule, world)
        return world
    parameters = {"world": world} if isinstance(world, str) else dict(world)
    name = parameters.pop("world", None)
    if not isinstance(name, str):
        raise ParameterError("world", "a mapping with a key 'world', the name, and parameters", world)
    return find_world(name, parameters)[0]


def _run(study: Study, n_jobs: int | None) -> Summary:
    """Return the summary of the study.

    Raises
    ------
    ValueError
        If every sample of some size failed.
    """
    with run_in_memory(study, n_jobs=n_jobs) as store:
        for cell in store.status().cells:
            if cell.n_failed == cell.n_done:
                raise ValueError(f"No sample of {cell.n} patients could be analyzed: {cell.reason}")
        return summarize_store(store)


def _sizes(summary: Summary, is_pilot: bool) -> tuple[PlannedSize, ...]:
    """Return the results at each size; the summary has one method."""
    rows = summary.scores.rows
    informative = (rows["width"] > 0.0) & ~rows["degenerate"]
    half_widths = (rows["width"] / 2.0).where(informative, NOTHING).groupby(rows["line"])
    n_without = (~informative).groupby(rows["line"]).sum().tolist()
    cells, n_redrawn = summary.judged_cells, summary.samples["n_redrawn"].tolist()
    names = () if is_pilot else ("coverage", "coverage_mcse")
    return tuple(
        PlannedSize(
            int(cells["n"][line]),
            values.to_numpy(),
            **{name: float(cells[name][line]) for name in names},
            n_without=n_without[line],
            n_redrawn=n_redrawn[line],
        )
        for line, (_, values) in enumerate(half_widths)
    )


def _closed_forms(study: Study, half_width: float) -> tuple[ClosedFormSize, ...]:
    (scenario,), seed = study.scenarios, study.seed % 2**32
    with alone():
        expected = expected_performance(
            scenario.population,
            scenario.classifier,
            max(study.n_samples),
            seed,
            auc=scenario.metric == ("auc",),
        )
    return closed_form_sample_sizes(half_width, **expected, confidence_level=study.confidence_level)
