"""How many patients: the study to come is simulated at several sizes, from a pilot or a world."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cudbound.adapters.procedure import describe_classifier
from cudbound.basis.calls import public_call
from cudbound.basis.parameter_error import ParameterError
from cudbound.basis.protocols import Features, Learner
from cudbound.basis.seeds import check_seed
from cudbound.basis.validation import check_integer, check_n_jobs, check_no_results
from cudbound.intervals import find_methods
from cudbound.metrics.metric import METRICS
from cudbound.metrics.metrics import Metrics, as_metrics
from cudbound.resampling.resampling import Resampling, check_resampling
from cudbound.study.design.design_file import find_world
from cudbound.study.design.scenario import Scenario, Study
from cudbound.study.measure.summary import Summary, summarize_store
from cudbound.study.planning.closed_forms import ClosedFormSize, check_half_width, closed_form_sample_sizes
from cudbound.study.planning.performance import expected_performance
from cudbound.study.planning.pilot import Pilot, make_pilot, two_classes
from cudbound.study.planning.plan_forecast import PlanForecast
from cudbound.study.planning.sample_size_plan import PlannedSize, SampleSizePlan
from cudbound.study.populations.population import Population
from cudbound.study.populations.simulated import check_share
from cudbound.study.run.replicate import alone
from cudbound.study.run.runner import run_in_memory

#: Sizes from 20 to 200, on which the intervals of this package were studied.
N_SAMPLES = range(20, 201, 20)
#: A standard error, and a quantile, need some; the rows of all are in memory at once.
MIN_REPLICATES, MAX_REPLICATES = 10, 100_000
#: Half of the interval from 0 to 1, that says nothing.
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
    confidence_level: float = 0.95,
    n_replicates: int = 100,
    n_resamples: int = 200,
    resampling: Resampling | None = None,
    rng: int | np.random.Generator | None = None,
    n_jobs: int | None = 1,
) -> SampleSizePlan:
    """Plan how many patients an interval of a target width takes, by simulating the study at several sizes.

    At each size samples are drawn, the classifier is fitted to each, and the interval is computed as it will be. The
    half-widths give the answer: the smallest number of patients with which the half-width is at most `half_width` with
    probability `probability`.

    Parameters
    ----------
    estimator : object
        Classifier of scikit-learn, fitted or not: clones of it are fitted. Labels are coded 0 and 1 for it, 1 being the
        event, or the second of the two in order.
    X : array-like, shape (N, n_features), default=None
        Rows of a pilot. Samples are drawn from them with replacement, as if they were the population. That takes over
        whatever chance put into the pilot, and repeats rows: a classifier looks better on repeated rows than on new
        patients, so that sizes come out too small, above all those above N.
    y : array-like, shape (N,), default=None
        Their labels, of two classes.
    world : str, mapping or Population, default=None
        What is drawn from in place of a pilot: the name of a simulated world, such as ``"gaussians"``, or its name and
        parameters as in a design file, ``{"world": "gaussians", "distance": 1.2}``, or any object with ``draw`` as in
        `cudbound.study.populations.population.Population`.
    n_samples : iterable of int, default=range(20, 201, 20)
        Numbers of patients to simulate; at least 4.
    half_width : float, default=0.10
        The target, in (0, 0.5).
    probability : float, default=0.8
        Of keeping to it, in (0, 1).
    method : str or (str, mapping), default="two-center"
        An interval of `cudbound.available_methods`, or a pair of its name and its options, such as
        ``("two-center", {"cap": False})``.
    metric : str or Metrics, default="error"
        "error", "sensitivity" or another that needs nothing but its name; `cudbound.Metrics` says which label is the
        event.
    confidence_level : float, default=0.95
        In (0, 1).
    n_replicates : int, default=100
        Samples of each size, 10 to 100,000. The Monte Carlo errors fall with its root.
    n_resamples : int, default=200
        Bootstrap draws for each interval. More than for an interval that is reported: half-widths hardly depend on it.
    resampling : Resampling or None, default=None
        Its `inner`, of which None means 50, and "oob" for any metric but the error, and its `sizes`. Every sample has
        splits of its own, and its draws of one class are treated as `on_single_class` does by default: other settings
        are refused.
    rng : int, numpy.random.Generator or None, default=None
        Source of randomness; None takes a fresh one. The plan knows its seed, which repeats it to the bit.
    n_jobs : int or None, default=1
        Processes; -1 for all cores. Results do not depend on it.

    Returns
    -------
    SampleSizePlan
        Prints as a table with the answer; has ``n_samples_for``, ``to_frame``, ``plot``, ``describe``, and, for
        comparison, ``closed_forms``.

    Raises
    ------
    ValueError
        If an argument is out of range, there is neither a pilot nor a world, or both, or no sample of some size
        could be analyzed.
    StudyError
        If the method needs a CUD bound and the classifier has none.

    Notes
    -----
    Samples with fewer than two rows of a class are drawn again, and counted. A sample without an interval, or with one
    of width zero, counts as one whose interval is that from 0 to 1. Rows that belong together, such as those of one
    patient, are not kept together: plan from one row of each patient.

    The closed forms beside it, `cudbound.closed_form_sample_sizes`, are for the other question: on how many *new*
    patients to test a classifier that is fitted already. They take its expected sensitivity, specificity and the share
    of events from a 10-fold cross-validation of the pilot, or from 20 classifiers fitted to samples of the largest
    size.

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
    check_no_results(estimator)
    check_integer("n_replicates", n_replicates, MIN_REPLICATES, MAX_REPLICATES)
    grid = tuple(sorted({check_integer("n_samples", n, 4) for n in n_samples}))
    asked = find_methods([method])
    if len(asked) > 1:
        raise ParameterError("method", "the name of one interval, or a pair (name, options)", method)
    metrics = as_metrics(metric)
    if len(metrics.names) > 1 or metrics.names[0] not in METRICS:
        raise ParameterError("metric", f"one of {[*METRICS]}", metric)
    asked = asked.that_read(metrics.kinds)
    population = _population(X, y, world, metrics)
    study = Study(
        name="plan",
        scenarios=(Scenario(population.name, population, estimator, metric=metrics.names),),
        n_samples=grid,
        n_replicates=n_replicates,
        methods=asked.methods,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        options=asked.options,
        seed=check_seed(rng),
        **_settings(resampling),
    )
    sizes = _sizes(_run(study, n_jobs), isinstance(population, Pilot))
    closed_forms = _closed_forms(population, estimator, study, half_width)
    return SampleSizePlan(
        sizes=sizes,
        half_width=half_width,
        probability=probability,
        method=study.methods[0],
        metric=metrics.names[0],
        confidence_level=study.confidence_level,
        source=getattr(population, "cases", population.title),
        n_pilot=population.y.size if isinstance(population, Pilot) else None,
        classifier=describe_classifier(estimator),
        n_resamples=n_resamples,
        seed=study.seed,
        closed_forms=closed_forms,
    )


def _settings(resampling: object) -> dict[str, Any]:
    """Return what a study takes of the settings of the resampling."""
    given = check_resampling(resampling)
    for name in ("cv", "on_single_class"):
        if getattr(given, name) is not None:
            raise ParameterError(name, "None: a plan has many samples", getattr(given, name))
    return {"sizes": given.sizes} | ({} if given.inner is None else {"inner": given.inner})


def _population(
    X: Features | None,
    y: ArrayLike | None,
    world: str | Mapping[str, Any] | Population | None,
    metrics: Metrics,
) -> Population:
    """Return what samples are drawn from."""
    if (X is None) != (y is None):
        raise ParameterError("y", "given with X, the labels of its rows", y)
    if (X is None) == (world is None):
        raise ParameterError("world", "given, or X and y of a pilot, and not both", world)
    if world is None:
        classes = two_classes(y)
        return make_pilot(X, y, classes[metrics.resolve(classes).event_class])
    if isinstance(world, str):
        return find_world(world, {})[0]
    if isinstance(world, Mapping):
        if not isinstance(world.get("world"), str):
            raise ParameterError("world", "a mapping with a key 'world', the name, and parameters", world)
        return find_world(world["world"], {key: value for key, value in world.items() if key != "world"})[0]
    if not all(hasattr(world, name) for name in ("name", "title", "draw")):
        raise ParameterError(
            "world", "the name of a world, a mapping, or an object with name, title and draw", world
        )
    return world


def _run(study: Study, n_jobs: int | None) -> Summary:
    """Return what the study shows.

    Raises
    ------
    ValueError
        If every sample of some size failed.
    """
    forecast = PlanForecast(study.n_samples, study.n_replicates, check_n_jobs(n_jobs))
    with run_in_memory(study, n_jobs=n_jobs, heard=forecast) as store:
        for cell in store.status().cells:
            if cell.first_failure is not None and cell.n_failed == cell.n_done:
                raise ValueError(
                    f"No sample of {cell.n} patients could be analyzed: {cell.first_failure.reason}"
                )
        return summarize_store(store)


def _sizes(summary: Summary, is_pilot: bool) -> tuple[PlannedSize, ...]:
    """Return what was found at each size; the summary has one method."""
    rows = summary.scores.rows
    told = (rows["width"] > 0.0) & ~rows["degenerate"]
    half_widths = (rows["width"] / 2.0).where(told, NOTHING)
    cells, n_redrawn = summary.judged_cells, summary.samples["n_redrawn"].tolist()
    names = () if is_pilot else ("coverage", "coverage_mcse")
    found = []
    for line, n in enumerate(cells["n"].tolist()):
        own = rows["line"] == line
        coverage = {name: float(cells[name][line]) for name in names}
        n_without = int((~told[own]).sum())
        found.append(
            PlannedSize(
                n, half_widths[own].to_numpy(), **coverage, n_without=n_without, n_redrawn=n_redrawn[line]
            )
        )
    return tuple(found)


def _closed_forms(
    population: Population, learner: Any, study: Study, half_width: float
) -> tuple[ClosedFormSize, ...]:
    with alone():
        auc = study.scenarios[0].metric == ("auc",)
        expected = expected_performance(population, learner, study.n_samples[-1], study.seed % 2**32, auc=auc)
    return closed_form_sample_sizes(half_width, **expected, confidence_level=study.confidence_level)
